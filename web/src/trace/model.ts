// SPDX-License-Identifier: Apache-2.0
// model.ts - one transaction, laid out as time (across) by depth (down).
//
// Calls are columns of numbers, not objects: there may be a hundred thousand.  A lane is one depth of one part
// (what one thread did); its items lie in order of their begin, so what is in view is found by halving.

export const THREW = 64, NEVER = 128, RUNS = 256, UNMET = 512; // flags of calls and parts
export const CONDITIONAL = 1; // flag of names

export interface TracePart {
	part: number;
	from: number; // the part that handed the work over; itself for the root
	call: number; // ... in this call of it, + 1
	tid: number;
	thread: string;
	submitted_ns: number;
	begin_ns: number;
	end_ns: number;
	flags: number;
	calls: number[][]; // [name, parent + 1, begin_ns, elapsed_ns, flags]
}

export interface TraceData {
	id: string;
	at_ms: number;
	elapsed_ns: number;
	names: [string, number][];
	parts: TracePart[];
	data: Record<string, string>;
	facts: Record<string, Record<string, string>>; // by number of the call
	missed: number;
}

export interface Part extends TracePart {
	first: number; // of its calls
	count: number;
	lanes: number; // its deepest call + 1
	fromPart: number; // index, or -1
	fromCall: number; // index, or -1
}

export interface Fold { call: number; last: number; count: number; end: number; sum: number; threw: boolean }

export class Trace {
	readonly names: [string, number][];
	readonly parts: Part[] = [];
	readonly n: number;
	readonly end: number; // of the last part
	readonly name: Uint32Array;
	readonly parent: Int32Array;
	readonly depth: Int32Array;
	readonly part: Int32Array;
	readonly flags: Uint32Array;
	readonly begin: Float64Array;
	readonly elapsed: Float64Array;
	readonly self: Float64Array;

	constructor(readonly data: TraceData) {
		this.names = data.names;
		const n = data.parts.reduce((sum, p) => sum + p.calls.length, 0);
		this.n = n;
		this.name = new Uint32Array(n);
		this.parent = new Int32Array(n);
		this.depth = new Int32Array(n);
		this.part = new Int32Array(n);
		this.flags = new Uint32Array(n);
		this.begin = new Float64Array(n);
		this.elapsed = new Float64Array(n);
		let first = 0;
		data.parts.forEach((p, k) => {
			this.parts.push({ ...p, first, count: p.calls.length, lanes: this.take(p, k, first),
				fromPart: -1, fromCall: -1 });
			first += p.calls.length;
		});
		for (const p of this.parts) this.join(p);
		this.self = this.selfTimes();
		this.end = Math.max(1, data.elapsed_ns, ...this.parts.map((p) => p.end_ns));
	}

	private take(p: TracePart, k: number, first: number): number {
		let lanes = 1;
		p.calls.forEach((c, i) => {
			const at = first + i, up = c[1]! > 0 && c[1]! <= i ? first + c[1]! - 1 : -1;
			const hidden = (c[4]! & UNMET) !== 0;
			this.name[at] = c[0]!;
			this.parent[at] = up;
			this.begin[at] = c[2]!;
			this.elapsed[at] = c[3]!;
			this.flags[at] = c[4]!;
			this.part[at] = k;
			this.depth[at] = (up < 0 ? 0 : this.depth[up]! + (this.flags[up]! & UNMET ? 0 : 1));
			if (!hidden) lanes = Math.max(lanes, this.depth[at]! + 1);
		});
		return lanes;
	}

	private join(p: Part): void {
		p.fromPart = this.parts.findIndex((q) => q.part === p.from && q !== p);
		const giver = this.parts[p.fromPart];
		if (giver && p.call > 0 && p.call <= giver.count) p.fromCall = giver.first + p.call - 1;
	}

	private selfTimes(): Float64Array {
		const self = Float64Array.from(this.elapsed);
		for (let i = 0; i < this.n; i++) if (this.parent[i]! >= 0) self[this.parent[i]!]! -= this.elapsed[i]!;
		return self.map((t) => Math.max(0, t));
	}

	nameOf(i: number): string {
		return this.names[this.name[i]!]?.[0] ?? "?";
	}

	conditional(i: number): boolean {
		return ((this.names[this.name[i]!]?.[1] ?? 0) & CONDITIONAL) !== 0;
	}

	// The methods above a call, outermost first, and the call's own; work handed over goes on in its giver.
	path(i: number): number[] {
		const out: number[] = [];
		for (let at = i; at >= 0 && out.length < 4096;) {
			out.push(at);
			at = this.parent[at]! >= 0 ? this.parent[at]! : this.parts[this.part[at]!]!.fromCall;
		}
		return out.reverse();
	}
}

// ---- folding -------------------------------------------------------------------------------------------------

// Runs of at least `least` calls of one method, one after the other under the same parent.
export function folds(t: Trace, least = 4): Fold[] {
	const found: Fold[] = [], open = new Map<number, Fold>();
	for (let i = 0; i < t.n; i++) {
		if (t.flags[i]! & UNMET) continue;
		const key = t.parent[i]! >= 0 ? t.parent[i]! : -1 - t.part[i]!;
		const run = open.get(key), end = t.begin[i]! + t.elapsed[i]!;
		if (run && t.name[run.call] === t.name[i]) {
			run.count++;
			run.last = i;
			run.end = Math.max(run.end, end);
			run.sum += t.elapsed[i]!;
			run.threw ||= (t.flags[i]! & THREW) !== 0;
			continue;
		}
		if (run && run.count >= least) found.push(run);
		open.set(key, { call: i, last: i, count: 1, end, sum: t.elapsed[i]!,
			threw: (t.flags[i]! & THREW) !== 0 });
	}
	for (const run of open.values()) if (run.count >= least) found.push(run);
	return found.sort((a, b) => a.call - b.call);
}

// ---- lanes ---------------------------------------------------------------------------------------------------

export interface Lane {
	part: number;
	depth: number;
	begin: Float64Array;
	end: Float64Array;
	call: Int32Array; // of a folded run: its first
	run: (Fold | undefined)[] | null; // null: nothing folded in here
}

// `folded`: runs to be drawn as one; what their calls called is not drawn.
export function lanesOf(t: Trace, folded: Fold[] = []): Lane[][] {
	const runOf = new Int32Array(t.n).fill(-1);
	folded.forEach((f, k) => {
		for (let i = f.call; i <= f.last; i++)
			if (t.parent[i] === t.parent[f.call] && t.part[i] === t.part[f.call]) runOf[i] = k;
	});
	const gone = new Uint8Array(t.n);
	const rows: number[][][] = t.parts.map((p) => Array.from({ length: p.lanes }, () => []));
	for (let i = 0; i < t.n; i++) {
		const up = t.parent[i]!;
		if (up >= 0 && (gone[up] || runOf[up]! >= 0)) gone[i] = 1;
		if (gone[i] || t.flags[i]! & UNMET) continue;
		if (runOf[i]! >= 0 && folded[runOf[i]!]!.call !== i) continue;
		rows[t.part[i]!]![t.depth[i]!]!.push(i);
	}
	return rows.map((depths, part) => {
		while (depths.length > 1 && !depths[depths.length - 1]!.length) depths.pop();
		return depths.map((calls, depth) => lane(t, part, depth, calls, runOf, folded));
	});
}

function lane(t: Trace, part: number, depth: number, calls: number[], runOf: Int32Array, folded: Fold[]): Lane {
	const run = calls.some((i) => runOf[i]! >= 0) ? calls.map((i) => folded[runOf[i]!]) : null;
	return { part, depth, run, call: Int32Array.from(calls),
		begin: Float64Array.from(calls, (i) => t.begin[i]!),
		end: Float64Array.from(calls, (i, k) => run?.[k]?.end ?? t.begin[i]! + t.elapsed[i]!) };
}

// The first item of a lane that ends after `ns`.
export function firstAfter(l: Lane, ns: number): number {
	let low = 0, high = l.end.length;
	while (low < high) {
		const mid = (low + high) >> 1;
		if (l.end[mid]! <= ns) low = mid + 1;
		else high = mid;
	}
	return low;
}

// ---- the critical path ---------------------------------------------------------------------------------------

export interface Stretch { call: number; from: number; to: number }

// What the transaction waited for, from its end backwards: in each call the child, or the part that it handed
// over, that ended last; between them the call itself.
export function criticalPath(t: Trace): Stretch[] {
	const root = t.parts.findIndex((p) => p.fromPart < 0 && p.count > 0);
	if (root < 0) return [];
	const below = children(t), out: Stretch[] = [];
	const top = t.parts[root]!.first;
	const todo: { call: number; until: number; next: number }[] = [];
	const enter = (call: number, until: number) => {
		todo.push({ call, until: Math.min(until, t.begin[call]! + t.elapsed[call]!),
			next: (below.at[call + 1]! - below.at[call]!) - 1 });
	};
	enter(top, Infinity);
	while (todo.length) {
		const here = todo[todo.length - 1]!;
		let child = -1;
		while (here.next >= 0 && child < 0) {
			const c = below.list[below.at[here.call]! + here.next--]!;
			if (t.begin[c]! < here.until && below.end[c]! <= here.until) child = c;
		}
		if (child < 0) {
			if (here.until > t.begin[here.call]!) out.push({ call: here.call, from: t.begin[here.call]!, to: here.until });
			todo.pop();
			continue;
		}
		if (below.end[child]! < here.until) out.push({ call: here.call, from: below.end[child]!, to: here.until });
		here.until = Math.max(t.begin[child]!, t.begin[here.call]!);
		enter(child, below.end[child]!);
	}
	return out.filter((s) => s.to > s.from).reverse();
}

// For each call those that it waited for, in order of their end: its own calls, and the outermost calls of parts
// whose end it saw.
function children(t: Trace): { at: Int32Array; list: Int32Array; end: Float64Array } {
	const owner = new Int32Array(t.n).fill(-1), end = new Float64Array(t.n);
	const at = new Int32Array(t.n + 1);
	for (let i = 0; i < t.n; i++) {
		end[i] = t.begin[i]! + t.elapsed[i]!;
		owner[i] = t.parent[i]! >= 0 ? t.parent[i]! : waiter(t, t.parts[t.part[i]!]!);
		if (owner[i]! >= 0) at[owner[i]! + 1]!++;
	}
	for (let i = 0; i < t.n; i++) at[i + 1]! += at[i]!;
	const list = new Int32Array(at[t.n]!), filled = at.slice();
	for (let i = 0; i < t.n; i++) if (owner[i]! >= 0) list[filled[owner[i]!]!++] = i;
	for (let i = 0; i < t.n; i++)
		if (at[i + 1]! - at[i]! > 1) list.subarray(at[i]!, at[i + 1]!).sort((a, b) => end[a]! - end[b]!);
	return { at, list, end };
}

// The call that ended after a handed-over part did: it may have waited for it.
function waiter(t: Trace, p: Part): number {
	let call = p.fromCall;
	while (call >= 0 && t.begin[call]! + t.elapsed[call]! < p.end_ns) call = t.parent[call]!;
	return call;
}

// ---- sums ----------------------------------------------------------------------------------------------------

export interface Sum { method: string; calls: number; total: number; self: number; max: number; threw: number }

// Per method what of it lies between two points of time; a recursive call's time counts once.
export function sums(t: Trace, from = 0, to = Infinity): Sum[] {
	const by = new Map<number, Sum>();
	for (let i = 0; i < t.n; i++) {
		if (t.flags[i]! & UNMET) continue;
		const begin = Math.max(from, t.begin[i]!), end = Math.min(to, t.begin[i]! + t.elapsed[i]!);
		if (end < begin || (end === begin && t.elapsed[i]! > 0)) continue;
		let s = by.get(t.name[i]!);
		if (!s) by.set(t.name[i]!, s = { method: t.nameOf(i), calls: 0, total: 0, self: 0, max: 0, threw: 0 });
		const whole = t.elapsed[i]! > 0 ? (end - begin) / t.elapsed[i]! : 1;
		s.calls++;
		s.self += t.self[i]! * whole;
		s.max = Math.max(s.max, t.elapsed[i]!);
		if (t.flags[i]! & THREW) s.threw++;
		if (!recursive(t, i)) s.total += end - begin;
	}
	return [...by.values()].sort((a, b) => b.self - a.self);
}

function recursive(t: Trace, i: number): boolean {
	for (let p = t.parent[i]!; p >= 0; p = t.parent[p]!) if (t.name[p] === t.name[i]) return true;
	return false;
}

export interface Difference { method: string; a?: Sum; b?: Sum; more: number }

// Two transactions method by method, the largest change of self time first.
export function compare(a: Trace, b: Trace): Difference[] {
	const rows = new Map<string, Difference>();
	for (const s of sums(a)) rows.set(s.method, { method: s.method, a: s, more: -s.self });
	for (const s of sums(b)) {
		const row = rows.get(s.method);
		if (row) Object.assign(row, { b: s, more: s.self + row.more });
		else rows.set(s.method, { method: s.method, b: s, more: s.self });
	}
	return [...rows.values()].sort((x, y) => Math.abs(y.more) - Math.abs(x.more));
}
