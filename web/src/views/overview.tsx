// SPDX-License-Identifier: Apache-2.0
// overview.tsx - how the applications are: what was found, in words, and the curves behind it.
import { useMemo } from "preact/hooks";
import { api } from "../api/client";
import type { Application, Instance, MethodRow, Series } from "../api/types";
import { Chart, type Curve } from "../base/chart";
import { findings } from "../base/findings";
import { ago, brief, bytes, clock, count, ns, rate, share } from "../base/format";
import { useLoad } from "../base/load";
import { Empty, Figure, Meter, Name, Panel } from "../base/parts";
import { link, put, route } from "../base/route";
import { readable } from "../base/rule";
import { app, applications, instance, overhead, range, rangeKey, SPANS } from "../state";
import { Alerts } from "./alerts";
import { alive, InstancePicker, instanceName, NoApplication, setSpan, SpanPicker, Trouble } from "./shared";

export function Overview() {
	return <>{app.value ? <OneApplication /> : <AllApplications />}<Alerts /></>;
}

// ---- all applications ----------------------------------------------------------------------------------------

function AllApplications() {
	const all = applications.value;
	if (!all?.length) return <><h1>Applications</h1><Panel><NoApplication /></Panel></>;
	return <><h1>Applications</h1><div class="cards">{all.map((a) => <Card key={a.name} a={a} />)}</div></>;
}

function Card({ a }: { a: Application }) {
	const failing = (a.errors_rate ?? 0) > 0;
	return <a class="panel card" href={"#/overview?app=" + encodeURIComponent(a.name)}>
		<div class="head"><h2><Name text={a.name} /></h2>
			<span class={"tag right " + (a.connected ? "on" : "")}>{a.connected ?? 0} of {a.known ?? a.connected ?? 0} running</span></div>
		<div class="figures">
			<Figure value={ns(a.mean_ns)} label="average" /><Figure value={rate(a.rate)} label="calls" />
			<Figure value={<span class={failing ? "bad" : ""}>{rate(a.errors_rate ?? 0)}</span>} label="errors" />
			<Figure value={share(a.overhead_share)} label="Sonde costs" />
		</div>
		{!a.connected && <p class="faint">last seen {ago(a.last_seen_ms ?? 0)}</p>}
	</a>;
}

// ---- one -----------------------------------------------------------------------------------------------------

function OneApplication() {
	const name = app.value, r = range(), key = name + "|" + instance.value + "|" + rangeKey();
	const words = { instance: instance.value, from: Math.round(r.from_ms), to: Math.round(r.to_ms) };
	const one = useLoad(name, (s) => api.application(name, s), 10000, "instance");
	const now = useLoad(key, (s) => api.methods(name, { ...words, limit: 500 }, s), 10000);
	const before = useLoad(key, (s) => api.methods(name, { ...words, from: Math.round(2 * r.from_ms - r.to_ms),
		to: Math.round(r.from_ms), limit: 500 }, s), 60000);
	const live = useLoad(key, (s) => api.methods(name, { instance: instance.value, limit: 500 }, s), 10000);
	const rows = useMemo(() => rated(now.data?.methods ?? [], live.data?.methods ?? []), [now.data, live.data]), instances = one.data?.instances ?? [];
	const method = route.value.query.method || heaviest(rows);
	return <>
		<header><h1><Name text={name} /></h1><SpanPicker /><InstancePicker instances={instances} />
			<a class="button primary right" href={link("why")}>Why is it slow?</a></header>
		<Trouble text={now.error || one.error} />
		<Findings now={rows} before={before.data?.methods ?? []} />
		<Curves name={name} method={method} rows={rows} words={words} />
		<Methods rows={rows} loading={now.loading} method={method} />
		<Instances instances={instances} />
	</>;
}

// The stored figures with what only the running processes know: calls a second, and in how many of them.
function rated(rows: MethodRow[], live: MethodRow[]): MethodRow[] {
	const by = new Map(live.map((r) => [r.method, r]));
	return rows.map((r) => ({ ...r, rate: by.get(r.method)?.rate, instances: by.get(r.method)?.instances }));
}

function heaviest(rows: MethodRow[]): string {
	return rows.reduce<MethodRow | null>((most, r) => (r.total_ns ?? 0) > (most?.total_ns ?? -1) ? r : most, null)?.method ?? "";
}

function Findings(props: { now: MethodRow[]; before: MethodRow[] }) {
	const digs = useLoad(app.value, (s) => api.digs(app.value, s), 15000, "dig").data?.digs ?? [];
	const span = SPANS.find(([n]) => n === (route.value.query.span || "15m"))?.[1] ?? "span";
	const changes = useMemo(() => findings(props.now, props.before, span), [props.now, props.before, span]);
	const told = digs.filter((d) => d.state === "slow" && d.answer).slice(0, 3);
	return <Panel title="Findings">
		{changes.length + told.length === 0 && <p class="faint">Nothing has become slower or fails more often than before.
			Press “Why is it slow?” to have the running program looked into.</p>}
		<ul class="findings">
			{changes.map((f) => <li key={f.method + f.text}><span class="tag warn">changed</span>
				<div><Name text={f.text} /> <a href={link("components", "", { find: brief(f.method) })}>show</a>{" "}
					<a href={link("why", "", { method: f.method })}>why?</a></div></li>)}
			{told.map((d) => <li key={d.id}><time>{clock(d.ended_ms ?? d.started_ms ?? 0)}</time>
				<div><Name text={String(d.answer?.text ?? "").replace(/\s+/g, " ")} limit={600} />{" "}
					<a href={link("why", d.id)}>how it was found</a></div></li>)}
		</ul>
	</Panel>;
}

// ---- curves --------------------------------------------------------------------------------------------------

function perSecond(s: Series, column: (number | null)[]): (number | null)[] {
	return column.map((v) => v == null ? null : v / (s.step_ms / 1000));
}

function Curves(props: { name: string; method: string; rows: MethodRow[]; words: { instance: string; from: number; to: number } }) {
	const { name, method } = props, r = range();
	const key = [name, method, rangeKey(), instance.value].join("|");
	const series = useLoad(method ? key : "", (s) => api.series(name, { ...props.words, method, points: 240 }, s), 10000, "figures");
	const s = series.data;
	const curves = useMemo(() => s ? chartsOf(s) : [], [s]);
	const listed = props.rows.slice().sort((a, b) => (b.total_ns ?? 0) - (a.total_ns ?? 0)).slice(0, 100);
	return <>
		<div class="row"><label class="row"><span class="faint">Curves of</span>
			<select value={method} onChange={(e) => put({ method: e.currentTarget.value })}>
				{!listed.some((m) => m.method === method) && <option value={method}>{brief(method) || "–"}</option>}
				{listed.map((m) => <option key={m.method} value={m.method}>{readable(brief(m.method)).slice(0, 80)}</option>)}
			</select></label>
			{r.fixed && <button onClick={() => put({ from: "", to: "" })}>Back to now</button>}
			<span class="faint">Drag over a curve to look at a part of the time.</span></div>
		<Trouble text={series.error} />
		<div class="grid">{curves.map((c) => <Chart key={c.title} {...c} times={s!.t_ms} from_ms={r.from_ms} to_ms={r.to_ms}
			onSpan={setSpan} />)}</div>
	</>;
}

function last(column: (number | null)[]): number | null {
	for (let i = column.length - 1; i >= 0; i--) if (column[i] != null) return column[i]!;
	return null;
}

function chartsOf(s: Series): { title: string; curves: Curve[]; unit: (v: number | null) => string; words: string }[] {
	const calls = perSecond(s, s.calls), errors = perSecond(s, s.errors);
	return [
		{ title: "Response time", unit: ns, words: "last average " + ns(last(s.mean_ns)) + ", 99th percentile " + ns(last(s.p99_ns)),
			curves: [{ label: "99 %", values: s.p99_ns, colour: "warn" }, { label: "90 %", values: s.p90_ns, colour: "faint" },
				{ label: "average", values: s.mean_ns, colour: "accent", fill: true }] },
		{ title: "Calls", unit: rate, words: "last " + rate(last(calls)),
			curves: [{ label: "calls", values: calls, colour: "accent", fill: true }] },
		{ title: "Errors", unit: rate, words: "last " + rate(last(errors)),
			curves: [{ label: "errors", values: errors, colour: "bad", fill: true }] },
		{ title: "At once", unit: count, words: "last " + count(last(s.active_peak)),
			curves: [{ label: "running at once", values: s.active_peak, colour: "accent", fill: true },
				{ label: "stalled", values: s.stalls, colour: "bad" }] },
	];
}

// ---- tables --------------------------------------------------------------------------------------------------

function Methods(props: { rows: MethodRow[]; loading: boolean; method: string }) {
	const rows = props.rows.slice().sort((a, b) => (b.total_ns ?? 0) - (a.total_ns ?? 0)).slice(0, 25);
	const most = rows[0]?.total_ns || 1;
	if (!rows.length) return <Panel title="Methods"><Empty>{props.loading ? <p class="working">Asking the manager</p>
		: <><p>No hooked method was called in this time.</p><p><a href={link("components")}>Hook some</a>, or ask <a
			href={link("why")}>why it is slow</a>.</p></>}</Empty></Panel>;
	return <Panel title="Methods" class="scroll">
		<table>
			<thead><tr><th scope="col">Method</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Rate</th>
				<th scope="col" class="num">Average</th><th scope="col" class="num">p99</th><th scope="col">Total</th>
				<th scope="col" class="num">Errors</th><th scope="col" class="num">Instances</th></tr></thead>
			<tbody>{rows.map((m) => <tr key={m.method}>
				<td><a href={link("overview", "", { method: m.method })} aria-current={m.method === props.method || undefined}>
					<Name text={readable(brief(m.method))} title={m.method} limit={160} /></a></td>
				<td class="num">{count(m.calls)}</td><td class="num">{rate(m.rate)}</td><td class="num">{ns(m.mean_ns)}</td>
				<td class="num">{ns(m.p99_ns)}</td>
				<td>{ns(m.total_ns)}<Meter part={(m.total_ns ?? 0) / most} /></td>
				<td class={"num " + (m.errors ? "bad" : "")}>{count(m.errors)}</td><td class="num">{m.instances ?? "-"}</td></tr>)}
			</tbody>
		</table>
	</Panel>;
}

function Instances(props: { instances: Instance[] }) {
	const shares = new Map((overhead.value?.instances ?? []).map((o) => [o.instance, o]));
	const rows = props.instances.slice().sort((a, b) => Number(alive(b)) - Number(alive(a)) || (b.last_seen_ms ?? 0) - (a.last_seen_ms ?? 0));
	return <Panel title="Instances" class="scroll">
		<table>
			<thead><tr><th scope="col">Instance</th><th scope="col">State</th><th scope="col">JVM</th>
				<th scope="col" class="num">Hooked methods</th><th scope="col" class="num">Agent memory</th>
				<th scope="col" class="num">Sonde costs</th></tr></thead>
			<tbody>{rows.slice(0, 200).map((i) => {
				const c = shares.get(i.id);
				return <tr key={i.id}><td><Name text={instanceName({ ...i, state: "connected" })} title={i.id} /></td>
					<td><i class={"dot " + (alive(i) ? "good" : "")} />{i.state}
						{i.why && <> <Name text={i.why} limit={200} /></>}{!alive(i) && i.last_seen_ms ? ", " + ago(i.last_seen_ms) : ""}</td>
					<td><Name text={i.jvm ?? ""} limit={80} /></td><td class="num">{count(i.methods)}</td>
					<td class="num">{i.memory == null ? "-" : bytes(i.memory)}</td>
					<td class="num" title={c ? "hooks " + share(c.hooks_share) + ", agent " + share(c.agent_share) : undefined}>
						{share(c?.share ?? i.overhead?.share)}</td></tr>;
			})}</tbody>
		</table>
	</Panel>;
}
