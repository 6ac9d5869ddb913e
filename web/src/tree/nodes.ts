// SPDX-License-Identifier: Apache-2.0
// nodes.ts - the component tree as columns: what was measured, and below it what was discovered in byte code but
// has no data yet.
import type { Callee, TreeAnswer } from "../api/types";
import { Forest } from "./model";

export const HOOKED = 1, DATA = 2, CONDITIONAL = 4, FOUND = 8, ABSTRACT = 16, NATIVE = 32;

export interface Nodes {
	forest: Forest;
	id: Float64Array; // of the methods on the path: the same when the tree is read again
	methods: string[];
	method: Int32Array;
	calls: Float64Array;
	errors: Float64Array;
	total: Float64Array;
	self: Float64Array;
	flags: Uint8Array;
	whole: number; // ns of all roots
}

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

// 53 bits: enough that a million nodes hardly ever share one.
function step(parent: number, method: number): number {
	const low = Math.imul((parent >>> 0) ^ method, 0x9e3779b1) >>> 0;
	const high = (Math.imul(Math.floor(parent / 4294967296) + method, 0x85ebca6b) ^ low >>> 7) >>> 11;
	return high * 4294967296 + low;
}

export const NO_TREE: TreeAnswer = { methods: [], columns: { depth: [], method: [], calls: [], errors: [], total_ns: [], self_ns: [],
	flags: [] } };

// `found`: callees by the method in which they were looked up; they hang below each place of it.
export function nodesOf(answer: TreeAnswer, found: Map<string, Callee[]>): Nodes {
	const c = answer.columns, known = c.depth.length, methods = answer.methods.slice();
	const number = new Map(found.size ? methods.map((m, i): [string, number] => [m, i]) : []);
	const callees = new Map<number, { method: number; flags: number }[]>();
	for (const [method, list] of found) {
		const at = number.get(method);
		if (at !== undefined) callees.set(at, list.map((l) => ({ method: numberOf(l.method), flags: FOUND | (l.hooked ? HOOKED : 0) |
			(l.abstract ? ABSTRACT : 0) | (l.native ? NATIVE : 0) })));
	}
	function numberOf(method: string): number {
		let at = number.get(method);
		if (at === undefined) number.set(method, at = methods.push(method) - 1);
		return at;
	}
	let n = known;
	if (callees.size) for (let i = 0; i < known; i++) n += callees.get(c.method[i]!)?.length ?? 0;
	const made: Nodes = { forest: new Forest([]), id: new Float64Array(n), methods, method: new Int32Array(n), calls: new Float64Array(n),
		errors: new Float64Array(n), total: new Float64Array(n), self: new Float64Array(n), flags: new Uint8Array(n), whole: 1 };
	const hashes = methods.map(hash), depth = new Int32Array(n), above: number[] = [0];
	let m = 0, whole = 0;
	const put = (d: number, method: number, flags: number) => {
		depth[m] = d;
		made.method[m] = method;
		made.flags[m] = flags;
		made.id[m] = above[d + 1] = step(above[d] ?? 0, hashes[method] ?? 0);
		return m++;
	};
	for (let i = 0; i < known; i++) {
		const d = c.depth[i]!, k = put(d, c.method[i]!, c.flags[i]!);
		made.calls[k] = c.calls[i]!;
		made.errors[k] = c.errors[i]!;
		made.total[k] = c.total_ns[i]!;
		made.self[k] = c.self_ns[i]!;
		if (d === 0) whole += made.total[k]!;
		const list = callees.get(c.method[i]!);
		if (!list) continue;
		const there = childrenOf(c.depth, c.method, i);
		for (const l of list) if (!there.has(l.method)) put(d + 1, l.method, l.flags);
	}
	return { ...made, forest: new Forest(depth.subarray(0, m)), id: made.id.subarray(0, m), whole: whole || 1 };
}

function childrenOf(depth: number[], method: number[], i: number): Set<number> {
	const there = new Set<number>(), below = depth[i]! + 1;
	for (let k = i + 1; k < depth.length && depth[k]! >= below; k++) if (depth[k] === below) there.add(method[k]!);
	return there;
}
