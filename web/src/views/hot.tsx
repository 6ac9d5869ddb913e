// SPDX-License-Identifier: Apache-2.0
// hot.tsx - where threads are: sampled stacks as a flame graph, a table, both sides of one function, and what has changed
// between two looks or between two processes.
import { useMemo, useState } from "preact/hooks";
import { brief, count, ns, points, share } from "../base/format";
import { Empty, Meter, Name, Panel } from "../base/parts";
import { link, put, route } from "../base/route";
import { calleesOf, callersOf, Flame, KIND } from "../flame/model";
import { frameName, stacksOf, STATES, type Samples, type State } from "../flame/samples";
import { FlameGraph } from "../flame/view";
import { app } from "../state";
import { kept, keep, look, nameOfLook, WORDS } from "./samples";
import { alive, HotTabs, InstancePicker, NoApplication, useInstances } from "./shared";
import { Live } from "./top";

export function Hot({ item }: { item: string }) {
	if (!app.value) return <><h1>Hot spots</h1><Panel><NoApplication /></Panel></>;
	return item === "live" ? <Live key={app.value} /> : <Sampled key={app.value} />;
}

function Sampled() {
	const all = useInstances(), instances = all.filter(alive), chosen = route.value.query.instance || instances[0]?.id || "";
	const [seconds, setSeconds] = useState(4), [busy, setBusy] = useState(false), [mode, setMode] = useState<"cpu" | "wall">("cpu");
	const [at, setAt] = useState(0), [base, setBase] = useState(0), [states, setStates] = useState<State[]>(["running", "calls", "blocked"]);
	const looks = kept.value, now = looks[at], before = looks.find((k) => k.at_ms === base && k !== now);
	const take = async () => {
		setBusy(true);
		const taken = await look(chosen, seconds, mode);
		setBusy(false);
		if (!taken) return;
		keep(taken);
		setAt(0);
	};
	return <>
		<header><h1>Hot spots</h1><HotTabs live={false} /><InstancePicker instances={instances} need />
			<select aria-label="Threads" value={mode} onChange={(e) => setMode(e.currentTarget.value === "wall" ? "wall" : "cpu")}>
				<option value="cpu">threads that run</option><option value="wall">all threads, by the clock</option></select>
			<label class="row"><span class="faint">for</span><select aria-label="Sample for" value={seconds} onChange={(e) => setSeconds(Number(e.currentTarget.value))}>
				{[2, 4, 10, 30].map((s) => <option key={s} value={s}>{s} seconds</option>)}</select></label>
			<button class="primary" disabled={!chosen || busy} onClick={take}>{busy ? <span class="working">Sampling</span> : "Sample"}</button>
			{looks.length > 0 && <div class="row right"><label class="row"><span class="faint">Show</span><select aria-label="Show" value={at} onChange={(e) => setAt(Number(e.currentTarget.value))}>
				{looks.map((k, i) => <option key={k.at_ms} value={i}>{nameOfLook(k, all)}</option>)}</select></label>
			<label class="row"><span class="faint">compared with</span><select aria-label="compared with" value={before ? base : 0} disabled={looks.length < 2}
				onChange={(e) => setBase(Number(e.currentTarget.value))}><option value={0}>nothing</option>
				{looks.filter((k) => k !== now).map((k) => <option key={k.at_ms} value={k.at_ms}>{nameOfLook(k, all)}</option>)}</select></label></div>}
		</header>
		{!now ? <Panel><Empty><p>{chosen ? "Press “Sample”: the stacks of its threads are looked at for some seconds; nothing is hooked."
			: "No instance of this application is connected."}</p>
			{chosen && <p>Sample twice, or two instances, and they can be compared.</p>}</Empty></Panel>
			: <Shown key={now.at_ms + "|" + (before?.at_ms ?? "")} now={now} before={before} states={states} onStates={setStates} />}
	</>;
}

function Shown(props: { now: Samples; before: Samples | undefined; states: State[]; onStates: (s: State[]) => void }) {
	const { now, before, states } = props, [upward, setUpward] = useState(true), [chosen, setChosen] = useState(-1);
	const [pinned, setPinned] = useState(-1), [swapped, setSwapped] = useState(false);
	const flame = useMemo(() => {
		const made = new Flame(stacksOf([now], (s) => states.includes(s.state), before));
		return swapped ? made.swapped() : made;
	}, [now, before, states, swapped]);
	const find = route.value.query.find ?? "", wanted = find.toLowerCase();
	const hits = useMemo(() => flame.of.names.map((n) => wanted !== "" && n.toLowerCase().includes(wanted)), [flame, wanted]);
	const name = pinned, sides = useMemo(() => name < 0 ? null : { up: callersOf(flame, name), down: calleesOf(flame, name) }, [flame, name]);
	const has = STATES.filter((s) => now.list.some((l) => l.state === s) || before?.list.some((l) => l.state === s));
	const flip = (s: State) => {
		setChosen(-1);
		setPinned(-1);
		props.onStates(states.includes(s) ? states.filter((x) => x !== s) : [...states, s]);
	};
	const unit = now.timed ? ns : (v: number) => count(v) + " samples";
	const graph = { find, chosen: -1, onChoose: () => { /* only looked at */ }, unit };
	return <>
		<Panel class="flush">
			<div class="head bar">
				<input type="search" data-search aria-label="Find functions" placeholder="find functions" value={find}
					onInput={(e) => put({ find: e.currentTarget.value }, true)} />
				{wanted && <span class="faint">on {share(flame.shareOf((n) => hits[n]!))} of the stacks</span>}
				{has.length > 1 && has.map((s) => <button key={s} aria-pressed={states.includes(s)} onClick={() => flip(s)}>{WORDS[s]}</button>)}
				{before && <button aria-pressed={swapped} onClick={() => setSwapped(!swapped)}>Widths from before</button>}
				<button class="right" aria-pressed={!upward} onClick={() => setUpward(!upward)}>Icicle</button>
				<button disabled={chosen < 0 && pinned < 0} aria-pressed={pinned >= 0}
					onClick={() => setPinned(pinned >= 0 ? -1 : flame.of.name[chosen]!)}>Sandwich</button>
			</div>
			{before && <p class="faint bar"><span class="swatch more" /> more than before <span class="swatch less" /> less; shares of the {
				unit(flame.all)} that were seen{swapped ? " before; colours the other way round" : ""}.</p>}
			{flame.all === 0 ? <Empty><p>No thread was seen in these states.</p></Empty>
				: sides ? <>
					<h2 class="bar">Callers of <Name text={frameName(flame.of.names[name]!, flame.of.kinds[name]!)} limit={160} /></h2>
					<FlameGraph {...graph} flame={sides.up} upward={true} class="half" label="Callers" />
					<h2 class="bar">What it calls</h2>
					<FlameGraph {...graph} flame={sides.down} upward={false} class="half" label="Callees" />
				</> : <FlameGraph flame={flame} find={find} upward={upward} chosen={chosen} onChoose={setChosen} unit={unit}
					label={(before ? "Differential flame graph of " : "Flame graph of ") + unit(flame.all)} />}
		</Panel>
		<Functions flame={flame} wanted={wanted} onPick={setPinned} pinned={pinned} />
	</>;
}

function Functions(props: { flame: Flame; wanted: string; pinned: number; onPick: (name: number) => void }) {
	const { flame } = props, all = flame.all || 1, diff = flame.before != null;
	const rows = useMemo(() => {
		const list = flame.table();
		return diff ? list.sort((a, b) => Math.abs(b.self - b.before) - Math.abs(a.self - a.before)) : list;
	}, [flame]);
	const shown = rows.filter((r) => !props.wanted || flame.of.names[r.name]!.toLowerCase().includes(props.wanted)).slice(0, 60);
	return <Panel title={diff ? "What has changed" : "Functions"} class="scroll"><table>
		<thead><tr><th scope="col">Function</th>{diff && <><th scope="col" class="num">Change</th><th scope="col" class="num">Itself before</th></>}
			<th scope="col">Itself</th><th scope="col">With what it calls</th><th scope="col"><span class="hidden">Ask</span></th></tr></thead>
		<tbody>{shown.map((r) => <tr key={r.name}>
			<td><button class="quiet" aria-pressed={props.pinned === r.name} onClick={() => props.onPick(props.pinned === r.name ? -1 : r.name)}>
				<Name text={frameName(flame.of.names[r.name]!, flame.of.kinds[r.name]!)} title={flame.of.names[r.name]} limit={200} /></button></td>
			{diff && <><td class={"num " + (r.self > r.before ? "bad" : "")}>{points((r.self - r.before) / all)}</td><td class="num">{share(r.before / all)}</td></>}
			<td>{share(r.self / all)}<Meter part={r.self / all} /></td><td>{share(r.total / all)}<Meter part={r.total / all} /></td>
			<td>{flame.of.kinds[r.name] === KIND.java && <a href={link("why", "", { method: flame.of.names[r.name]! })}
				aria-label={"Why is " + brief(flame.of.names[r.name]!).slice(0, 120) + " slow?"}>why?</a>}</td></tr>)}</tbody>
	</table></Panel>;
}
