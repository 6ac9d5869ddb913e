// SPDX-License-Identifier: Apache-2.0
// trace.tsx - one transaction, or two one above the other.
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api/client";
import { brief, count, moment, ns } from "../base/format";
import { useLoad } from "../base/load";
import { Figure, Name, Panel, say } from "../base/parts";
import { link, put, route } from "../base/route";
import { readable } from "../base/rule";
import { compare, criticalPath, folds, sums, type Fold, type Trace } from "../trace/model";
import { traceOf } from "../trace/load";
import { describe, MiniMap, TraceView, type Span } from "../trace/view";
import { Trouble } from "./shared";

export function TracePage({ id }: { id: string }) {
	const other = route.value.query.with ?? "";
	const one = useLoad(id, (s) => api.trace(id, s)), two = useLoad(other, (s) => api.trace(other, s));
	const a = useMemo(() => one.data && traceOf(one.data), [one.data]);
	const b = useMemo(() => two.data && traceOf(two.data), [two.data]);
	if (!a || !one.data) return <><h1>Transaction</h1><Panel>{one.error ? <Trouble text={one.error} />
		: <p class="working">Asking the manager</p>}</Panel></>;
	const t = one.data;
	return <>
		<header><h1><Name text={readable(brief(t.root))} title={t.root} limit={200} /></h1>
			{t.failed && <span class="tag bad">failed</span>}{t.slow && <span class="tag warn">slow</span>}
			<span class="faint">{moment(t.when_ms)}, <Name text={t.thread ?? ""} limit={80} /></span>
			<div class="row right"><button onClick={copyLink}>Copy link</button>
				<a class="button" href={api.perfetto(id)} download={"sonde-" + id + ".pftrace"}>Perfetto</a>
				<a class="button" href={link("traces")}>All traces</a></div></header>
		<Panel><div class="figures"><Figure value={ns(t.elapsed_ns)} label="took" /><Figure value={count(a.n)} label="calls" />
			<Figure value={a.parts.length} label={a.parts.length === 1 ? "thread" : "parts in threads"} />
			{a.data.missed > 0 && <Figure value={count(a.data.missed)} label="calls are missing" />}
			{Object.entries(t.data ?? {}).slice(0, 12).map(([k, v]) => <Figure key={k} value={<Name text={String(v)} limit={200} />} label={k.slice(0, 60)} />)}
		</div></Panel>
		<Trouble text={two.error} />
		{b && two.data ? <Two a={a} b={b} /> : <One t={a} />}
	</>;
}

function copyLink(): void {
	const text = location.href;
	if (!navigator.clipboard) {
		say("The address of this page is the link.");
		return;
	}
	navigator.clipboard.writeText(text).then(() => say("The link is copied."), () => say("The address of this page is the link."));
}

// The part in view is in the address, for links.
function useSpan(t: Trace): [Span, (s: Span) => void] {
	const given = (route.value.query.at ?? "").split("-").map(Number);
	const [span, set] = useState<Span>(() => given.length === 2 && given[1]! > given[0]! ? { from: given[0]!, to: given[1]! }
		: { from: 0, to: t.end });
	useEffect(() => {
		const all = span.from <= 0 && span.to >= t.end;
		const timer = setTimeout(() => put({ at: all ? "" : Math.round(span.from) + "-" + Math.round(span.to) }, true), 400);
		return () => clearTimeout(timer);
	}, [span]);
	return [span, set];
}

function One({ t }: { t: Trace }) {
	const [span, setSpan] = useSpan(t), [chosen, setChosen] = useState(() => Number(route.value.query.call ?? -1));
	const [find, setFind] = useState(""), [critical, setCritical] = useState(false), [fold, setFold] = useState(t.n > 300);
	const [unfolded, setUnfolded] = useState<Set<number>>(new Set());
	const runs = useMemo(() => folds(t), [t]), path = useMemo(() => critical ? criticalPath(t) : [], [t, critical]);
	const folded = useMemo(() => fold ? runs.filter((f) => !unfolded.has(f.call)) : [], [runs, fold, unfolded]);
	const choose = (call: number) => {
		setChosen(call);
		put({ call: call >= 0 ? String(call) : "" }, true);
	};
	return <>
		<Panel class="flush">
			<div class="head" style={{ padding: "0.5rem 0.75rem", marginBottom: 0 }}>
				<input type="search" data-search aria-label="Find calls" placeholder="find calls" value={find} onInput={(e) => setFind(e.currentTarget.value)} />
				<button aria-pressed={fold} onClick={() => { setFold(!fold); setUnfolded(new Set()); }}>Fold repeated calls ({count(runs.length)})</button>
				<button aria-pressed={critical} onClick={() => setCritical(!critical)}>Critical path</button>
				<button onClick={() => setSpan({ from: 0, to: t.end })}>All</button>
				<span class="faint right">{ns(span.to - span.from)} in view from {ns(span.from)}</span>
			</div>
			<MiniMap trace={t} span={span} onSpan={setSpan} />
			<TraceView trace={t} folded={folded} path={path} find={find} span={span} onSpan={setSpan} chosen={chosen} onChoose={choose}
				onUnfold={(f: Fold) => setUnfolded(new Set(unfolded).add(f.call))} label={"Transaction of " + ns(t.end) + ", " + count(t.n) + " calls"} />
		</Panel>
		{chosen >= 0 && chosen < t.n && <Panel title="The call">
			<p><b><Name text={readable(t.nameOf(chosen))} limit={1000} /></b></p><p>{describe(t, chosen).split(", ").slice(1).join(", ")}</p>
			<p class="faint"><Name text={t.path(chosen).slice(0, -1).map((c) => brief(t.nameOf(c))).join(" › ")} limit={1500} /></p>
			<p><a href={link("components", "", { find: brief(t.nameOf(chosen)).split("(")[0]! })}>In the component tree</a></p></Panel>}
		<Sums t={t} span={span} critical={path.length ? path : null} />
	</>;
}

function Sums(props: { t: Trace; span: Span; critical: { call: number; from: number; to: number }[] | null }) {
	const { t, span } = props, [shown, setShown] = useState(span);
	useEffect(() => { // not at every step of a movement
		const timer = setTimeout(() => setShown(span), 150);
		return () => clearTimeout(timer);
	}, [span]);
	const rows = useMemo(() => sums(t, shown.from, shown.to).slice(0, 100), [t, shown]);
	const waited = useMemo(() => {
		const by = new Map<string, number>();
		for (const s of props.critical ?? []) by.set(t.nameOf(s.call), (by.get(t.nameOf(s.call)) ?? 0) + s.to - s.from);
		return by;
	}, [props.critical, t]);
	const { critical } = props;
	const table = useMemo(() => <table>
		<thead><tr><th scope="col">Method</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Self</th>
			<th scope="col" class="num">Total</th><th scope="col" class="num">Longest</th>{critical && <th scope="col" class="num">On the critical path</th>}
			<th scope="col" class="num">Exceptions</th></tr></thead>
		<tbody>{rows.map((r) => <tr key={r.method}><td><Name text={readable(brief(r.method))} title={r.method} limit={200} /></td>
			<td class="num">{count(r.calls)}</td><td class="num">{ns(r.self)}</td><td class="num">{ns(r.total)}</td><td class="num">{ns(r.max)}</td>
			{critical && <td class="num">{ns(waited.get(r.method) ?? 0)}</td>}
			<td class={"num " + (r.threw ? "bad" : "")}>{r.threw}</td></tr>)}</tbody>
	</table>, [rows, waited, critical]);
	return <Panel title="What is in view, by method" class="scroll">{table}</Panel>;
}

function Two({ a, b }: { a: Trace; b: Trace }) {
	const end = Math.max(a.end, b.end), [span, setSpan] = useState<Span>({ from: 0, to: end });
	const [chosenA, setA] = useState(-1), [chosenB, setB] = useState(-1), [fold, setFold] = useState(true);
	const foldA = useMemo(() => fold ? folds(a) : [], [a, fold]), foldB = useMemo(() => fold ? folds(b) : [], [b, fold]);
	const rows = useMemo(() => compare(a, b).slice(0, 100), [a, b]);
	const none = () => setFold(false), shared = { path: [], find: "", span, onSpan: setSpan, onUnfold: none, end, class: "half" };
	return <>
		<Panel class="flush">
			<div class="head" style={{ padding: "0.5rem 0.75rem", marginBottom: 0 }}><h2>First: {ns(a.end)}, {count(a.n)} calls</h2>
				<button aria-pressed={fold} onClick={() => setFold(!fold)}>Fold repeated calls</button>
				<button onClick={() => setSpan({ from: 0, to: end })}>All</button>
				<button class="right" onClick={() => put({ with: "" })}>No comparison</button></div>
			<TraceView {...shared} trace={a} folded={foldA} chosen={chosenA} onChoose={setA} label="First transaction" />
		</Panel>
		<Panel class="flush"><div class="head" style={{ padding: "0.5rem 0.75rem", marginBottom: 0 }}><h2>Second: {ns(b.end)}, {count(b.n)} calls</h2></div>
			<TraceView {...shared} trace={b} folded={foldB} chosen={chosenB} onChoose={setB} label="Second transaction" /></Panel>
		<Panel title="What makes the difference" class="scroll"><table>
			<thead><tr><th scope="col">Method</th><th scope="col" class="num">Calls, first</th><th scope="col" class="num">second</th>
				<th scope="col" class="num">Self, first</th><th scope="col" class="num">second</th><th scope="col" class="num">Second minus first</th></tr></thead>
			<tbody>{rows.map((r) => <tr key={r.method}><td><Name text={readable(brief(r.method))} title={r.method} limit={200} /></td>
				<td class="num">{count(r.a?.calls ?? 0)}</td><td class="num">{count(r.b?.calls ?? 0)}</td><td class="num">{ns(r.a?.self ?? 0)}</td>
				<td class="num">{ns(r.b?.self ?? 0)}</td><td class={"num " + (r.more > 0 ? "bad" : "good")}>{r.more > 0 ? "+" : ""}{ns(r.more)}</td></tr>)}</tbody>
		</table></Panel>
	</>;
}
