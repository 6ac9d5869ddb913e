// SPDX-License-Identifier: Apache-2.0
// hot.tsx - where threads are: sampled stacks as a flame graph, a table, and both sides of one function.
import { useMemo, useState } from "preact/hooks";
import { api } from "../api/client";
import type { Hotspots } from "../api/types";
import { brief, clock, count, share } from "../base/format";
import { Empty, Meter, Name, Panel } from "../base/parts";
import { link, put, route } from "../base/route";
import { readable } from "../base/rule";
import { calleesOf, callersOf, Flame } from "../flame/model";
import { stacksOf, STATES, type State } from "../flame/load";
import { FlameGraph } from "../flame/view";
import { app, attempt } from "../state";
import { alive, InstancePicker, NoApplication, useInstances } from "./shared";

interface Taken { at_ms: number; hot: Hotspots }

export function Hot() {
	if (!app.value) return <><h1>Hot spots</h1><Panel><NoApplication /></Panel></>;
	return <Sampled key={app.value} />;
}

const WORDS: Record<State, string> = { running: "running", in_native: "native", blocked: "blocked", waiting: "waiting", parked: "parked",
	sleeping: "sleeping" };

function Sampled() {
	const instances = useInstances().filter(alive), chosen = route.value.query.instance || instances[0]?.id || "";
	const [seconds, setSeconds] = useState(4), [busy, setBusy] = useState(false), [kept, setKept] = useState<Taken[]>([]);
	const [at, setAt] = useState(0), [states, setStates] = useState<State[]>(["running", "in_native"]);
	const take = async () => {
		setBusy(true);
		const hot = await attempt(api.hotspots(chosen, seconds));
		setBusy(false);
		if (!hot) return;
		setKept([{ at_ms: Date.now(), hot }, ...kept].slice(0, 20));
		setAt(0);
	};
	const now = kept[at];
	return <>
		<header><h1>Hot spots</h1><InstancePicker instances={instances} need />
			<label class="row"><span class="faint">for</span><select value={seconds} onChange={(e) => setSeconds(Number(e.currentTarget.value))}>
				{[2, 4, 10, 30].map((s) => <option key={s} value={s}>{s} seconds</option>)}</select></label>
			<button class="primary" disabled={!chosen || busy} onClick={take}>{busy ? <span class="working">Sampling</span> : "Sample"}</button>
			{kept.length > 0 && <label class="row right"><span class="faint">Taken at</span><select value={at} onChange={(e) => setAt(Number(e.currentTarget.value))}>
				{kept.map((k, i) => <option key={k.at_ms} value={i}>{clock(k.at_ms)}, {count(k.hot.samples)} samples</option>)}</select></label>}
		</header>
		{!now ? <Panel><Empty><p>{chosen ? "Press “Sample”: the stacks of all threads are looked at for some seconds; nothing is hooked."
			: "No instance of this application is connected."}</p></Empty></Panel>
			: <Shown key={now.at_ms} hot={now.hot} states={states} onStates={setStates} />}
	</>;
}

function Shown(props: { hot: Hotspots; states: State[]; onStates: (s: State[]) => void }) {
	const { hot, states } = props, [upward, setUpward] = useState(true), [chosen, setChosen] = useState(-1), [pinned, setPinned] = useState(-1);
	const flame = useMemo(() => new Flame(stacksOf(hot.frames, states)), [hot, states]);
	const find = route.value.query.find ?? "", wanted = find.toLowerCase();
	const hits = useMemo(() => flame.of.names.map((n) => wanted !== "" && n.toLowerCase().includes(wanted)), [flame, wanted]);
	const name = pinned, sides = useMemo(() => name < 0 ? null : { up: callersOf(flame, name), down: calleesOf(flame, name) }, [flame, name]);
	const has = STATES.filter((s) => hot.frames.some((f) => (f[s] ?? 0) > 0));
	const flip = (s: State) => props.onStates(states.includes(s) ? states.filter((x) => x !== s) : [...states, s]);
	const graph = { find, chosen: -1, onChoose: () => { /* only looked at */ } };
	return <>
		<Panel class="flush">
			<div class="head" style={{ padding: "0.5rem 0.75rem", marginBottom: 0 }}>
				<input type="search" data-search aria-label="Find functions" placeholder="find functions" value={find}
					onInput={(e) => put({ find: e.currentTarget.value }, true)} />
				{wanted && <span class="faint">on {share(flame.shareOf((n) => hits[n]!))} of the stacks</span>}
				{has.map((s) => <button key={s} aria-pressed={states.includes(s)} onClick={() => flip(s)}>{WORDS[s]}</button>)}
				<button class="right" aria-pressed={!upward} onClick={() => setUpward(!upward)}>Icicle</button>
				<button disabled={chosen < 0 && pinned < 0} aria-pressed={pinned >= 0}
					onClick={() => setPinned(pinned >= 0 ? -1 : flame.of.name[chosen]!)}>Sandwich</button>
			</div>
			{flame.all === 0 ? <Empty><p>No thread was seen in these states.</p></Empty>
				: sides ? <>
					<h2 style={{ padding: "0.25rem 0.75rem" }}>Callers of <Name text={readable(brief(flame.of.names[name]!))} limit={160} /></h2>
					<FlameGraph {...graph} flame={sides.up} upward={true} class="half" label="Callers" />
					<h2 style={{ padding: "0.25rem 0.75rem" }}>What it calls</h2>
					<FlameGraph {...graph} flame={sides.down} upward={false} class="half" label="Callees" />
				</> : <FlameGraph flame={flame} find={find} upward={upward} chosen={chosen} onChoose={setChosen}
					label={"Flame graph of " + count(flame.all) + " samples"} />}
		</Panel>
		<Functions flame={flame} wanted={wanted} onPick={setPinned} pinned={pinned} />
	</>;
}

function Functions(props: { flame: Flame; wanted: string; pinned: number; onPick: (name: number) => void }) {
	const { flame } = props, rows = useMemo(() => flame.table(), [flame]);
	const shown = rows.filter((r) => !props.wanted || flame.of.names[r.name]!.toLowerCase().includes(props.wanted)).slice(0, 60);
	return <Panel title="Functions" class="scroll"><table>
		<thead><tr><th scope="col">Function</th><th scope="col">Itself</th><th scope="col">With what it calls</th><th scope="col" /></tr></thead>
		<tbody>{shown.map((r) => <tr key={r.name}>
			<td><button class="quiet" aria-pressed={props.pinned === r.name} onClick={() => props.onPick(props.pinned === r.name ? -1 : r.name)}>
				<Name text={readable(brief(flame.of.names[r.name]!))} title={flame.of.names[r.name]} limit={200} /></button></td>
			<td>{share(r.self / flame.all)}<Meter part={r.self / flame.all} /></td><td>{share(r.total / flame.all)}<Meter part={r.total / flame.all} /></td>
			<td><a href={link("why", "", { method: flame.of.names[r.name]! })}>why?</a></td></tr>)}</tbody>
	</table></Panel>;
}
