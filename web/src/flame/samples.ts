// SPDX-License-Identifier: Apache-2.0
// samples.ts - stacks that were sampled in one process: by thread, by what the thread did, Java and native frames in one.
import type { Hotspots, StacksAnswer } from "../api/types";
import { brief } from "../base/format";
import { readable } from "../base/rule";
import { grown, KIND, type Stacks } from "./model";

export const STATES = ["running", "calls", "blocked", "waiting", "parked", "sleeping"] as const;
export type State = typeof STATES[number];

export interface Sample { thread: number; state: State; weight: number; frames: number[] } // the outermost first

// One look at a process.  Weights are ns, or samples where the agent knows no more.
export interface Samples {
	at_ms: number;
	instance: string;
	wall_ns: number;
	cpu_ns: number;
	own_ns: number; // of the agent itself
	samples: number;
	broken: number;
	timed: boolean;
	engine: string;
	names: string[];
	kinds: number[]; // by name: one of KIND
	runBy: string[]; // by name: what ran it
	threads: string[];
	list: Sample[];
}

const JAVA = new Set(["interpreted", "C1", "C2", "inlined", "JNI"]);

function kindOf(kind: string): number {
	return JAVA.has(kind) ? KIND.java : kind === "native" ? KIND.native : kind === "kernel" ? KIND.kernel : KIND.jvm;
}

class Table {
	readonly names: string[] = [];
	private readonly at = new Map<string, number>();

	of(name: string): [number, boolean] {
		const known = this.at.get(name);
		if (known !== undefined) return [known, false];
		const i = this.names.push(name) - 1;
		this.at.set(name, i);
		return [i, true];
	}
}

// The JVM does not tell how a thread waits that parks, sleeps or does something else; the innermost method's name does.
function waits(name: string | undefined): State {
	if (name === undefined) return "calls";
	return name.startsWith("java.lang.Thread.sleep") ? "sleeping" : name.startsWith("jdk.internal.misc.Unsafe.park") ? "parked" : "waiting";
}

// Of a thread that waits: frames down to the innermost Java method; how a wait is done inside of the JVM tells nothing.
function telling(frames: number[], kinds: number[], state: State): number[] {
	let java = frames.length;
	while (java > 0 && kinds[frames[java - 1]!] !== KIND.java) java--;
	return state === "running" || (state === "calls" && java > 0) ? frames : frames.slice(0, java);
}

export function samplesOf(a: StacksAnswer, at_ms: number): Samples {
	const table = new Table(), kinds: number[] = [], runBy: string[] = [], place = new Map<number, number>();
	const count: Map<string, number>[] = [];
	for (const p of a.places) {
		const [i, fresh] = table.of(p.name);
		if (fresh) kinds.push(kindOf(p.kind));
		place.set(p.id, i);
	}
	const kindAt = new Map(a.places.map((p): [number, string] => [p.id, p.kind]));
	const threads = new Table(), number = new Map(a.threads.map((t): [number, number] => [t.id, threads.of(t.name + ", " + t.id)[0]]));
	const list: Sample[] = [], wall = a.mode === "wall", period = a.period_ns || 0;
	let broken = 0;
	for (const s of a.stacks) {
		const all = s.places.map((id) => place.get(id) ?? -1).filter((i) => i >= 0).reverse();
		const inner = all.filter((i) => kinds[i] === KIND.java).pop();
		const state = s.state === "parked" ? waits(inner === undefined ? undefined : table.names[inner]) : s.state;
		const frames = telling(all, kinds, state), weight = wall ? s.ns : period ? s.count * period : s.count;
		if (s.broken) broken += s.count;
		for (const id of s.places) {
			const i = place.get(id);
			if (i === undefined) continue;
			const by = count[i] ??= new Map(), kind = kindAt.get(id)!;
			by.set(kind, (by.get(kind) ?? 0) + s.count);
		}
		if (frames.length) list.push({ thread: number.get(s.thread) ?? threads.of("thread " + s.thread)[0], state, weight, frames });
	}
	for (let i = 0; i < table.names.length; i++)
		runBy.push([...count[i] ?? []].sort((x, y) => y[1] - x[1])[0]?.[0] ?? "");
	return { at_ms, instance: a.instance, wall_ns: a.wall_ns, cpu_ns: a.cpu_ns, own_ns: a.own_ns, samples: a.samples, broken, engine: a.engine,
		timed: wall || period > 0, names: table.names, kinds, runBy, threads: threads.names, list };
}

// The same of what the JVM tells at safepoints: for agents that cannot sample otherwise.
export function samplesOfFrames(h: Hotspots, at_ms: number): Samples {
	const table = new Table(), kinds: number[] = [], path: number[] = [], list: Sample[] = [];
	const columns: [State, keyof Hotspots["frames"][number]][] = [["running", "running"], ["calls", "in_native"], ["blocked", "blocked"],
		["waiting", "waiting"], ["parked", "parked"], ["sleeping", "sleeping"]];
	for (const f of h.frames) {
		const [i, fresh] = table.of(f.method);
		if (fresh) kinds.push(f.native ? KIND.native : KIND.java);
		path.length = f.depth;
		path.push(i);
		for (const [state, key] of columns) {
			const weight = Number(f[key] ?? 0);
			if (weight) list.push({ thread: 0, state, weight, frames: path.slice() });
		}
	}
	return { at_ms, instance: h.instance, wall_ns: (h.seconds ?? 0) * 1e9, cpu_ns: 0, own_ns: 0, samples: h.samples ?? 0, broken: 0, timed: false,
		engine: "safepoints", names: table.names, kinds, runBy: kinds.map(() => ""), threads: ["all threads"], list };
}

export type Wanted = (s: Sample) => boolean;

// Several looks as one tree; `before`: what it is compared with, as shares of what is shown.
export function stacksOf(now: Samples[], wanted: Wanted, before?: Samples): Stacks {
	const table = new Table(), kinds: number[] = [], tree = grown(-1);
	const add = (s: Samples, put: (frames: number[], weight: number) => void) => {
		const number = s.names.map((n, i) => {
			const [k, fresh] = table.of(n);
			if (fresh) kinds.push(s.kinds[i]!);
			return k;
		});
		for (const one of s.list) if (wanted(one)) put(one.frames.map((i) => number[i]!), one.weight);
	};
	let all = 0, was = 0;
	for (const s of now) add(s, (frames, weight) => {
		tree.add(frames, weight, 0);
		all += weight;
	});
	if (!before) return tree.stacks(table.names, kinds);
	const old: [number[], number][] = [];
	add(before, (frames, weight) => {
		old.push([frames, weight]);
		was += weight;
	});
	for (const [frames, weight] of old) tree.add(frames, 0, was ? weight / was * (all || 1) : 0);
	return tree.stacks(table.names, kinds);
}

// As people read it: of Java the class and the method, of native code all that is known.
export function frameName(name: string, kind: number): string {
	return kind === KIND.java ? readable(brief(name)) : name;
}

// ---- tables ----------------------------------------------------------------------------------------------------

export interface TopRow { name: string; kind: number; runBy: string; self: number; total: number; state: State | ""; most: string; mostKind: number }

export interface TopFigures { all: number; rows: TopRow[]; wall_ns: number; cpu_ns: number; own_ns: number; samples: number; broken: number; threads: number }

interface Sum { row: TopRow; by: Map<string, number>; states: Map<State, number> }

function bump<K>(map: Map<K, number>, key: K, by: number): void {
	map.set(key, (map.get(key) ?? 0) + by);
}

function most<K>(map: Map<K, number>): K | undefined {
	let best: K | undefined, weight = -1;
	for (const [k, w] of map) if (w > weight) [best, weight] = [k, w];
	return best;
}

// What functions, or threads, took of the time of these looks.
export function top(looks: Samples[], by: "functions" | "threads", wanted: Wanted): TopFigures {
	const sums = new Map<string, Sum>(), seen = new Set<string>(), kinds = new Map<string, number>();
	const out: TopFigures = { all: 0, rows: [], wall_ns: 0, cpu_ns: 0, own_ns: 0, samples: 0, broken: 0, threads: 0 };
	for (const l of looks) {
		out.wall_ns += l.wall_ns;
		out.cpu_ns += l.cpu_ns;
		out.own_ns += l.own_ns;
		out.samples += l.samples;
		out.broken += l.broken;
		for (const s of l.list) {
			if (!wanted(s)) continue;
			out.all += s.weight;
			seen.add(l.threads[s.thread]!);
			const leaf = s.frames[s.frames.length - 1]!;
			const count = (name: string, i: number, self: boolean) => {
				let sum = sums.get(name);
				if (!sum) sums.set(name, sum = { row: { name, kind: i < 0 ? -1 : l.kinds[i]!, runBy: i < 0 ? "" : l.runBy[i]!, self: 0,
					total: 0, state: "", most: "", mostKind: -1 }, by: new Map(), states: new Map() });
				sum.row.total += s.weight;
				if (self) sum.row.self += s.weight;
				bump(sum.states, s.state, s.weight);
				bump(sum.by, i < 0 ? l.names[leaf]! : l.threads[s.thread]!, s.weight);
				if (i < 0) kinds.set(l.names[leaf]!, l.kinds[leaf]!);
			};
			if (by === "threads") count(l.threads[s.thread]!, -1, true);
			else for (const i of new Set(s.frames)) count(l.names[i]!, i, i === leaf);
		}
	}
	out.threads = seen.size;
	out.rows = [...sums.values()].map((s) => {
		const by = most(s.by) ?? "";
		return { ...s.row, state: most(s.states) ?? "", most: by, mostKind: kinds.get(by) ?? -1 };
	});
	return out;
}

export type Order = "self" | "total" | "name";

export function ordered(rows: TopRow[], order: Order, find: string): TopRow[] {
	const wanted = find.toLowerCase(), text = (r: TopRow) => frameName(r.name, r.kind);
	return rows.filter((r) => !wanted || r.name.toLowerCase().includes(wanted))
		.sort((a, b) => order === "name" ? text(a).localeCompare(text(b)) : b[order] - a[order] || b.self - a.self);
}
