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
}

export const KIND = { java: 0, native: 1, kernel: 2, jvm: 3 };

export class Flame {
	readonly forest: Forest;
	readonly total: Float64Array;
	readonly left: Float64Array; // samples to the left of it
	readonly all: number;
	readonly deepest: number;

	constructor(readonly of: Stacks) {
		this.forest = new Forest(of.depth);
		const n = this.forest.n;
		this.total = Float64Array.from(of.self);
		this.left = new Float64Array(n);
		for (let i = n - 1; i >= 0; i--)
			if (this.forest.parent[i]! >= 0) this.total[this.forest.parent[i]!]! += this.total[i]!;
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

	// Per function: samples on top, and samples anywhere on the stack (recursion once).
	table(): { name: number; self: number; total: number }[] {
		const rows = new Map<number, { name: number; self: number; total: number }>();
		const on = new Int32Array(this.of.names.length), stack: number[] = [];
		for (let i = 0; i < this.forest.n; i++) {
			while (stack.length && this.forest.end[stack[stack.length - 1]!]! <= i) on[this.of.name[stack.pop()!]!]!--;
			const name = this.of.name[i]!;
			let row = rows.get(name);
			if (!row) rows.set(name, row = { name, self: 0, total: 0 });
			row.self += this.of.self[i]!;
			if (on[name] === 0) row.total += this.total[i]!;
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

interface Grown { name: number; self: number; below: Map<number, Grown> }

function into(at: Grown, name: number): Grown {
	let next = at.below.get(name);
	if (!next) at.below.set(name, next = { name, self: 0, below: new Map() });
	return next;
}

function flatten(root: Grown, of: Stacks): Flame {
	const depth: number[] = [], name: number[] = [], self: number[] = [];
	const weigh = (g: Grown): number => g.self + [...g.below.values()].reduce((sum, b) => sum + weigh(b), 0);
	const visit = (g: Grown, d: number) => {
		depth.push(d);
		name.push(g.name);
		self.push(g.self);
		[...g.below.values()].sort((a, b) => weigh(b) - weigh(a)).forEach((b) => visit(b, d + 1));
	};
	for (const g of root.below.values()) visit(g, 0);
	return new Flame({ names: of.names, kinds: of.kinds, depth, name, self });
}

// Outermost calls of a function: all that happened below them, added up.
export function calleesOf(f: Flame, name: number): Flame {
	const root: Grown = { name: -1, self: 0, below: new Map() };
	for (let i = 0; i < f.forest.n; i++) {
		if (f.of.name[i] !== name) continue;
		const at: Grown[] = [root], from = f.forest.depth[i]!, end = f.forest.end[i]!;
		for (let k = i; k < end; k++) {
			const d = f.forest.depth[k]! - from, g = into(at[d]!, f.of.name[k]!);
			g.self += f.of.self[k]!;
			at[d + 1] = g;
		}
		i = end - 1;
	}
	return flatten(root, f.of);
}

// The stacks that led to it, turned round: the function, who called it, who called that one.
export function callersOf(f: Flame, name: number): Flame {
	const root: Grown = { name: -1, self: 0, below: new Map() };
	for (let i = 0; i < f.forest.n; i++) {
		if (f.of.name[i] !== name) continue;
		let at = into(root, name);
		for (let p = f.forest.parent[i]!; p >= 0; p = f.forest.parent[p]!) at = into(at, f.of.name[p]!);
		at.self += f.total[i]!;
		i = f.forest.end[i]! - 1; // what is called again below it is in there
	}
	return flatten(root, f.of);
}
