// SPDX-License-Identifier: Apache-2.0
// traces.tsx - transactions that were kept: filters, heat map, list.
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client";
import type { TraceRow } from "../api/types";
import { brief, count, moment, ns, parseTime } from "../base/format";
import { useLoad } from "../base/load";
import { Empty, Meter, Name, Panel, Typed } from "../base/parts";
import { go, link, put, route } from "../base/route";
import { readable } from "../base/rule";
import { app, attempt, instance, mayChange, range } from "../state";
import { wordsOf } from "./filter";
import { HeatView, type Chosen } from "../trace/heatview";
import { InstancePicker, NoApplication, SpanPicker, Trouble, useInstances } from "./shared";

export function Traces() {
	if (!app.value) return <><h1>Traces</h1><Panel><NoApplication /></Panel></>;
	return <Listed key={app.value} />;
}

function Listed() {
	const q = route.value.query, r = range(), instances = useInstances();
	const words = { application: app.value, instance: instance.value, ...wordsOf(q) };
	const key = JSON.stringify([words, q.span, q.from, q.to]);
	const time = { from: Math.floor(r.from_ms), to: Math.ceil(r.to_ms) };
	const list = useLoad(key, (s) => api.traces({ ...words, ...time, limit: 200 }, s), r.fixed ? 0 : 5000, r.fixed ? "" : "traces");
	const heat = useLoad(key, (s) => api.heatmap({ ...words, ...time, columns: 120, rows: 32 }, s), r.fixed ? 0 : 5000);
	const [more, setMore] = useState<TraceRow[]>([]), [next, setNext] = useState<string>();
	useEffect(() => { setMore([]); setNext(undefined); }, [key]);
	const rows = [...(list.data?.traces ?? []), ...more], after = next ?? list.data?.next;
	const onward = async () => {
		const answer = await attempt(api.traces({ ...words, ...time, limit: 200, before: after }));
		if (!answer) return;
		setMore([...more, ...answer.traces]);
		setNext(answer.next ?? "");
	};
	const choose = (c: Chosen) => put({ from: String(Math.floor(c.from_ms)), to: String(Math.ceil(c.to_ms)),
		min: c.min_ns > 0 ? Math.round(c.min_ns) + "ns" : "", max: Number.isFinite(c.max_ns) ? Math.round(c.max_ns) + "ns" : "" });
	return <>
		<header><h1>Traces</h1><SpanPicker /><InstancePicker instances={instances} /><div class="right"><Keeping /></div></header>
		<Panel><Filters /></Panel>
		<Trouble text={list.error || heat.error} />
		{heat.data && heat.data.total > 0 && <Panel title={count(heat.data.total) + " transactions by time and duration"}
			head={<span class="faint">drag to choose a part</span>}><HeatView heat={heat.data} onChoose={choose} /></Panel>}
		<List rows={rows} loading={list.loading} />
		{after && <div><button onClick={onward}>Older ones</button></div>}
	</>;
}

function Filters() {
	const q = route.value.query, any = ["root", "min", "max", "q", "data", "failed", "slow", "from", "to"].some((k) => q[k]);
	const wrong = (k: string) => !!q[k] && Number.isNaN(parseTime(q[k]!));
	const field = (k: string) => ({ value: q[k] ?? "", onValue: (v: string) => put({ [k]: v }) });
	return <div class="filters">
		<Typed label="Root method has" placeholder="checkout" {...field("root")} />
		<Typed label="At least" placeholder="20ms" wrong={wrong("min")} {...field("min")} />
		<Typed label="At most" placeholder="1s" wrong={wrong("max")} {...field("max")} />
		<Typed label="Captured data" placeholder="user=alice, shop=7" class="wide" {...field("data")} />
		<Typed label="Text anywhere" search {...field("q")} />
		<label class="check"><input type="checkbox" checked={!!q.failed} onChange={(e) => put({ failed: e.currentTarget.checked ? "1" : "" })} />failed</label>
		<label class="check"><input type="checkbox" checked={!!q.slow} onChange={(e) => put({ slow: e.currentTarget.checked ? "1" : "" })} />slow</label>
		{any && <button onClick={() => put({ root: "", min: "", max: "", q: "", data: "", failed: "", slow: "", from: "", to: "" })}>Clear</button>}
	</div>;
}

// Whether transactions are collected is part of the plan.
function Keeping() {
	const plan = useLoad(app.value, (s) => api.plan(app.value, s), 0, "plan"), p = plan.data;
	if (!p) return null;
	const keeps = p.traces?.keep !== false;
	const change = async () => {
		if (await attempt(api.putPlan(app.value, { version: p.version, rules: p.rules, traces: { ...p.traces, keep: !keeps },
			comment: keeps ? "stop collecting transactions" : "collect transactions" }))) plan.again();
	};
	return <label class="check"><input type="checkbox" checked={keeps} disabled={!mayChange.value} onChange={change} />collect transactions</label>;
}

function List(props: { rows: TraceRow[]; loading: boolean }) {
	const [pair, setPair] = useState<string[]>([]), most = Math.max(1, ...props.rows.map((r) => r.elapsed_ns));
	if (!props.rows.length) return <Panel><Empty>{props.loading ? <p class="working">Asking the manager</p>
		: <><p>No transaction fits.</p><p>Kept are those that are slow or fail, and a sample of the others, of methods that are hooked timed or full.</p></>}</Empty></Panel>;
	const mark = (id: string) => setPair(pair.includes(id) ? pair.filter((p) => p !== id) : [...pair, id].slice(-2));
	return <Panel class="scroll" title="Transactions" head={<button class="right" disabled={pair.length !== 2}
		onClick={() => go("traces", pair[0]!, { with: pair[1]! })}>Compare the two chosen</button>}>
		<table>
			<thead><tr><th scope="col"><span class="hidden">Compare</span></th><th scope="col">Time</th><th scope="col">Took</th>
				<th scope="col">Root</th><th scope="col" class="num">Calls</th><th scope="col">Thread</th><th scope="col">Data</th></tr></thead>
			<tbody>{props.rows.map((t) => <tr key={t.id}>
				<td><input type="checkbox" aria-label={"compare " + t.id} checked={pair.includes(t.id)} onChange={() => mark(t.id)} /></td>
				<td class="time">{moment(t.when_ms)}</td>
				<td><a href={link("traces", t.id)}>{ns(t.elapsed_ns)}</a><Meter part={t.elapsed_ns / most} /></td>
				<td><Name text={readable(brief(t.root))} title={t.root} limit={200} /> {t.failed && <span class="tag bad">failed</span>}
					{t.slow && <span class="tag warn">slow</span>}</td>
				<td class="num">{count(t.calls)}{(t.parts ?? 1) > 1 && <span class="faint"> in {t.parts}</span>}</td>
				<td><Name text={t.thread ?? ""} limit={60} /></td>
				<td>{Object.entries(t.data ?? {}).slice(0, 8).map(([k, v]) => <span class="tag" key={k}>
					<Name text={k.slice(0, 40) + "=" + String(v)} limit={80} title={String(v)} /></span>)}</td></tr>)}</tbody>
		</table>
	</Panel>;
}
