// SPDX-License-Identifier: Apache-2.0
// top.tsx - which functions and threads take the time, now: one look after the other, the last seconds of them shown.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../api/client";
import { brief, count, share } from "../base/format";
import { Empty, Figure, Meter, Name, Panel } from "../base/parts";
import { go, link, put, route } from "../base/route";
import { KIND } from "../flame/model";
import { frameName, ordered, samplesOf, STATES, top, type Order, type Samples, type State, type TopRow } from "../flame/samples";
import { mayChange } from "../state";
import { keep, WORDS } from "./samples";
import { alive, HotTabs, InstancePicker, Trouble, useInstances } from "./shared";

const LOOK_S = 2, ROWS = 50, REST_MS = 3000;

interface Looks { list: Samples[]; error: string }

// Looks again and again at one process, while the page can be seen.  What is older than `span` seconds goes.
function useLooks(instance: string, mode: "cpu" | "wall", span: number): Looks & { clear: () => void } {
	const [state, set] = useState<Looks>({ list: [], error: "" });
	useEffect(() => {
		set({ list: [], error: "" });
		if (!instance) return;
		const stop = new AbortController();
		const pause = (ms: number) => new Promise((next) => setTimeout(next, ms));
		void (async () => {
			while (!stop.signal.aborted) {
				if (document.hidden) {
					await pause(500);
					continue;
				}
				try {
					const one = samplesOf(await api.stacks(instance, { seconds: LOOK_S, mode }, stop.signal), Date.now());
					if (!stop.signal.aborted) set((s) => ({ list: [...s.list, one].slice(-Math.ceil(span / LOOK_S)), error: "" }));
				} catch (e) {
					if (stop.signal.aborted) return;
					set((s) => ({ list: s.list, error: (e as Error).message }));
					await pause(REST_MS);
				}
			}
		})();
		return () => stop.abort();
	}, [instance, mode, span]);
	return { ...state, clear: () => set({ list: [], error: "" }) };
}

export function Live() {
	const instances = useInstances().filter(alive), q = route.value.query, chosen = q.instance || instances[0]?.id || "";
	const mode = q.mode === "wall" ? "wall" : "cpu", by = q.by === "threads" ? "threads" : "functions";
	const order: Order = q.sort === "total" || q.sort === "name" ? q.sort : "self", find = q.find ?? "", thread = q.thread ?? "";
	const [span, setSpan] = useState(10), [states, setStates] = useState<State[]>([]), [held, setHeld] = useState<Samples[] | null>(null);
	const looks = useLooks(mayChange.value ? chosen : "", mode, span), list = held ?? looks.list;
	const figures = useMemo(() => top(only(list, thread), by, (s) => states.length === 0 || states.includes(s.state)), [list, by, states, thread]);
	const rows = ordered(figures.rows, order, find), flip = () => setHeld(held ? null : looks.list);
	usePauseKey(flip);
	return <>
		<header><h1>Hot spots</h1><HotTabs live={true} /><InstancePicker instances={instances} need />
			<select aria-label="Threads" value={mode} onChange={(e) => put({ mode: e.currentTarget.value === "wall" ? "wall" : "" })}>
				<option value="cpu">threads that run</option><option value="wall">all threads, by the clock</option></select>
			<select aria-label="Rows are" value={by} onChange={(e) => put({ by: e.currentTarget.value === "threads" ? "threads" : "" })}>
				<option value="functions">functions</option><option value="threads">threads</option></select>
			<select aria-label="Over" value={span} onChange={(e) => setSpan(Number(e.currentTarget.value))}>
				{[5, 10, 30].map((s) => <option key={s} value={s}>last {s} seconds</option>)}</select>
			<button aria-pressed={held != null} onClick={flip} title="p">{held ? "Go on" : "Pause"}</button>
			<button onClick={looks.clear} disabled={held != null}>Begin anew</button>
			<button class="right" disabled={!list.length} onClick={() => {
				keep(joined(list));
				go("hot");
			}}>As flame graph</button>
		</header>
		<Trouble text={looks.error} />
		{!mayChange.value ? <Panel><Empty><p>To sample a process one has to be allowed to change it.</p></Empty></Panel> : <>
			<Vitals f={figures} mode={mode} list={list} held={held != null} />
			<Panel class="flush">
				<div class="head bar">
					<input type="search" data-search aria-label={"Find " + by} placeholder={"find " + by} value={find}
						onInput={(e) => put({ find: e.currentTarget.value }, true)} />
					{mode === "wall" && STATES.map((s) => <button key={s} aria-pressed={states.includes(s)} onClick={() =>
						setStates(states.includes(s) ? states.filter((x) => x !== s) : [...states, s])}>{WORDS[s]}</button>)}
					{thread && <button aria-pressed={true} onClick={() => put({ thread: "" })}>only thread <Name text={thread} limit={60} /> ✕</button>}
					<span class="faint right">{count(rows.length)} {by}</span>
				</div>
				{rows.length === 0 ? <Empty><p class={list.length ? "" : "working"}>{!chosen ? "No instance of this application is connected."
					: list.length ? mode === "cpu" ? "Nothing ran in this time." : "No thread was seen that is wanted here." : "Taking the first look"}</p></Empty>
					: <Table rows={rows.slice(0, ROWS)} all={figures.all} by={by} order={order} />}
			</Panel></>}
	</>;
}

// Of these looks what one thread did.
function only(list: Samples[], thread: string): Samples[] {
	if (!thread) return list;
	return list.map((l) => {
		const n = l.threads.indexOf(thread);
		return { ...l, list: l.list.filter((s) => s.thread === n) };
	});
}

// "p" holds the picture, as in sonde top.
function usePauseKey(flip: () => void): void {
	const latest = useRef(flip);
	latest.current = flip;
	useEffect(() => {
		const key = (e: KeyboardEvent) => {
			if (e.key !== "p" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test((e.target as HTMLElement).tagName)) return;
			latest.current();
		};
		addEventListener("keydown", key);
		return () => removeEventListener("keydown", key);
	}, []);
}

// One look of several, with the tables of names put together.
function joined(list: Samples[]): Samples {
	const names = new Map<string, number>(), threads = new Map<string, number>(), last = list[list.length - 1]!;
	const out: Samples = { ...last, wall_ns: 0, cpu_ns: 0, own_ns: 0, samples: 0, broken: 0, names: [], kinds: [], runBy: [], threads: [], list: [] };
	for (const l of list) {
		for (const key of ["wall_ns", "cpu_ns", "own_ns", "samples", "broken"] as const) out[key] += l[key];
		const name = l.names.map((n, i) => {
			if (!names.has(n)) {
				names.set(n, out.names.push(n) - 1);
				out.kinds.push(l.kinds[i]!);
				out.runBy.push(l.runBy[i]!);
			}
			return names.get(n)!;
		});
		const thread = l.threads.map((t) => {
			if (!threads.has(t)) threads.set(t, out.threads.push(t) - 1);
			return threads.get(t)!;
		});
		for (const s of l.list) out.list.push({ ...s, thread: thread[s.thread]!, frames: s.frames.map((i) => name[i]!) });
	}
	return out;
}

function Vitals(props: { f: ReturnType<typeof top>; mode: string; list: Samples[]; held: boolean }) {
	const { f, list } = props, last = list[list.length - 1];
	return <Panel><div class="figures">
		<Figure value={f.wall_ns ? (f.cpu_ns / f.wall_ns).toFixed(2) : "–"} label="processors in use" />
		<Figure value={count(f.threads)} label={props.mode === "wall" ? "threads seen" : "threads that ran"} />
		<Figure value={count(f.samples)} label="samples" title={last ? "by " + last.engine : undefined} />
		<Figure value={f.samples ? share(f.broken / f.samples) : "–"} label="stacks not whole" />
		<Figure value={f.wall_ns ? share(f.own_ns / f.wall_ns) : "–"} label="of one processor for sampling" />
		{props.held && <span class="tag warn">held</span>}
	</div></Panel>;
}

const COLUMNS: [Order, string][] = [["self", "Itself"], ["total", "With what it calls"]];

function Sort(props: { order: Order; by: Order; text: string }) {
	return <th scope="col" aria-sort={props.order === props.by ? props.by === "name" ? "ascending" : "descending" : undefined}>
		<button class="quiet" onClick={() => put({ sort: props.by === "self" ? "" : props.by })}>{props.text}{props.order === props.by ? props.by === "name" ? " ▴" : " ▾" : ""}</button></th>;
}

function Table(props: { rows: TopRow[]; all: number; by: "functions" | "threads"; order: Order }) {
	const { by, order } = props, all = props.all || 1, threads = by === "threads";
	return <div class="scroll"><table class="top-table">
		<thead><tr><Sort order={order} by="name" text={threads ? "Thread" : "Function"} />
			{(threads ? COLUMNS.slice(0, 1) : COLUMNS).map(([o, text]) => <Sort key={o} order={order} by={o} text={threads ? "Share" : text} />)}
			<th scope="col">{threads ? "State" : "Run by"}</th><th scope="col">{threads ? "Most in" : "Most in thread"}</th>
			<th scope="col"><span class="hidden">Ask</span></th></tr></thead>
		<tbody>{props.rows.map((r) => <Line key={r.name} r={r} all={all} threads={threads} />)}</tbody></table></div>;
}

function Line({ r, all, threads }: { r: TopRow; all: number; threads: boolean }) {
	const text = threads ? r.name : frameName(r.name, r.kind);
	return <tr>
		<td>{threads ? <a href={link("hot", "live", { thread: r.name, mode: route.value.query.mode ?? "" })}><Name text={text} limit={120} /></a>
			: <Name text={text} title={r.name} limit={160} />}</td>
		<td class="share">{share(r.self / all)}<Meter part={r.self / all} /></td>
		{!threads && <td class="share">{share(r.total / all)}<Meter part={r.total / all} /></td>}
		<td>{threads ? r.state && WORDS[r.state] : r.runBy}</td>
		<td class="most"><Name text={threads ? frameName(r.most, r.mostKind) : r.most} title={r.most} limit={120} /></td>
		<td>{!threads && r.kind === KIND.java && <a href={link("why", "", { method: r.name })}
			aria-label={"Why is " + brief(r.name).slice(0, 120) + " slow?"}>why?</a>}</td></tr>;
}
