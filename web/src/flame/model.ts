// SPDX-License-Identifier: Apache-2.0
// model.ts - stacks that were sampled, as a tree in pre-order; and the two trees of the sandwich view: who calls
// a function, and whom it calls.
import { Forest } from "../tree/model";

export interface Stacks {
	names: string[];
	kinds: number[]; // by name: one of KIND
	depth: ArrayLike<number>;
	name: ArrayLike<number>;
	self: ArrayLike<number>; // samples that ended here
	before?: ArrayLike<number>; // the same at another time, or in another process, as shares of all that is shown
}

export const KIND = { java: 0, native: 1, kernel: 2, jvm: 3 };

export interface FunctionRow { name: number; self: number; total: number; before: number; totalBefore: number } // before: as self

export class Flame {
	readonly forest: Forest;
	readonly total: Float64Array;
	readonly before: Float64Array | null; // as total
	readonly left: Float64Array; // samples to the left of it
	readonly all: number;
	readonly deepest: number;

	constructor(readonly of: Stacks) {
		this.forest = new Forest(of.depth);
		const n = this.forest.n;
		this.total = Float64Array.from(of.self);
		this.before = of.before ? Float64Array.from(of.before) : null;
		this.left = new Float64Array(n);
		for (let i = n - 1; i >= 0; i--) {
			const up = this.forest.parent[i]!;
			if (up < 0) continue;
			this.total[up]! += this.total[i]!;
			if (this.before) this.before[up]! += this.before[i]!;
		}
		const used = new Float64Array(n);
		let all = 0, deepest = 0;
		for (let i = 0; i < n; i++) {
			const up = this.forest.parent[i]!;
			this.left[i] = up >= 0 ? this.left[up]! + used[up]! : all;
			if (up >= 0) used[up]! += this.total[i]!;
			else all += this.total[i]!;
			deepest = Math.max(deepest, this.forest.depth[i]!);
		}
		this.all = all;
		this.deepest = deepest;
	}

	nameOf(i: number): string {
		return this.of.names[this.of.name[i]!] ?? "?";
	}

	// Widths and what they are compared with, the other way round.
	swapped(): Flame {
		const b = this.of.before;
		return b ? new Flame({ ...this.of, self: b, before: this.of.self }) : this;
	}

	// How much more of all is in a node than before, -1 to 1; 0 where nothing is compared.
	change(i: number): number {
		return this.before && this.all ? (this.total[i]! - this.before[i]!) / this.all : 0;
	}

	// Per function: samples on top, and samples anywhere on the stack (recursion once).
	table(): FunctionRow[] {
		const rows = new Map<number, FunctionRow>();
		const on = new Int32Array(this.of.names.length), stack: number[] = [];
		for (let i = 0; i < this.forest.n; i++) {
			while (stack.length && this.forest.end[stack[stack.length - 1]!]! <= i) on[this.of.name[stack.pop()!]!]!--;
			const name = this.of.name[i]!;
			let row = rows.get(name);
			if (!row) rows.set(name, row = { name, self: 0, total: 0, before: 0, totalBefore: 0 });
			row.self += this.of.self[i]!;
			row.before += this.of.before?.[i] ?? 0;
			if (on[name] === 0) {
				row.total += this.total[i]!;
				row.totalBefore += this.before?.[i] ?? 0;
			}
			on[name]!++;
			stack.push(i);
		}
		return [...rows.values()].sort((a, b) => b.self - a.self || b.total - a.total);
	}

	// The share of samples with a function on their stack that `wanted` names.
	shareOf(wanted: (name: number) => boolean): number {
		let sum = 0;
		for (let i = 0; i < this.forest.n; i = wanted(this.of.name[i]!) ? this.forest.end[i]! : i + 1)
			if (wanted(this.of.name[i]!)) sum += this.total[i]!;
		return this.all ? sum / this.all : 0;
	}
}

// ---- the sandwich --------------------------------------------------------------------------------------------

// A tree that grows by stacks.
class Grown {
	self = 0;
	before = 0;
	readonly below = new Map<number, Grown>();

	constructor(readonly name: number) {}

	into(name: number): Grown {
		let next = this.below.get(name);
		if (!next) this.below.set(name, next = new Grown(name));
		return next;
	}

	add(frames: number[], weight: number, before: number): void {
		let at: Grown = this;
		for (const f of frames) at = at.into(f);
		at.self += weight;
		at.before += before;
	}

	// In pre-order, the heaviest first.
	stacks(names: string[], kinds: number[]): Stacks {
		const depth: number[] = [], name: number[] = [], self: number[] = [], before: number[] = [], sums = new Map<Grown, number>();
		const weigh = (g: Grown): number => {
			let sum = g.self + g.before;
			for (const b of g.below.values()) sum += weigh(b);
			sums.set(g, sum);
			return sum;
		};
		const visit = (g: Grown, d: number) => {
			depth.push(d);
			name.push(g.name);
			self.push(g.self);
			before.push(g.before);
			for (const b of [...g.below.values()].sort((a, b) => sums.get(b)! - sums.get(a)!)) visit(b, d + 1);
		};
		weigh(this);
		for (const g of [...this.below.values()].sort((a, b) => sums.get(b)! - sums.get(a)!)) visit(g, 0);
		return { names, kinds, depth, name, self, before: before.some((b) => b > 0) ? before : undefined };
	}
}

export const grown = (name: number) => new Grown(name);

// Outermost calls of a function: all that happened below them, added up.
export function calleesOf(f: Flame, name: number): Flame {
	const root = grown(-1);
	for (let i = 0; i < f.forest.n; i++) {
		if (f.of.name[i] !== name) continue;
		const at: Grown[] = [root], from = f.forest.depth[i]!, end = f.forest.end[i]!;
		for (let k = i; k < end; k++) {
			const d = f.forest.depth[k]! - from, g = at[d]!.into(f.of.name[k]!);
			g.self += f.of.self[k]!;
			g.before += f.of.before?.[k] ?? 0;
			at[d + 1] = g;
		}
		i = end - 1;
	}
	return new Flame(root.stacks(f.of.names, f.of.kinds));
}

// The stacks that led to it, turned round: the function, who called it, who called that one.
export function callersOf(f: Flame, name: number): Flame {
	const root = grown(-1);
	for (let i = 0; i < f.forest.n; i++) {
		if (f.of.name[i] !== name) continue;
		let at = root.into(name);
		for (let p = f.forest.parent[i]!; p >= 0; p = f.forest.parent[p]!) at = at.into(f.of.name[p]!);
		at.self += f.total[i]!;
		at.before += f.before?.[i] ?? 0;
		i = f.forest.end[i]! - 1; // what is called again below it is in there
	}
	return new Flame(root.stacks(f.of.names, f.of.kinds));
}
