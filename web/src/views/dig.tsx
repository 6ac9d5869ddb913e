// SPDX-License-Identifier: Apache-2.0
// dig.tsx - "why is it slow?": ask, watch the reasoning as it comes, read the answer, keep or share it.
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client";
import { followDig } from "../api/live";
import type { Dig } from "../api/types";
import { brief, clock, moment, ns, rate, share } from "../base/format";
import { useLoad } from "../base/load";
import { Figure, Name, Panel, say } from "../base/parts";
import { go, link, route } from "../base/route";
import { readable, target } from "../base/rule";
import { app, attempt, mayChange } from "../state";
import { alive, Command, InstancePicker, NoApplication, Trouble, useInstances } from "./shared";
import { reportOf } from "./digreport";

export function Digs({ id }: { id: string }) {
	if (id) return <OneDig key={id} id={id} />;
	if (!app.value) return <><h1>Why is it slow?</h1><Panel><NoApplication /></Panel></>;
	return <><h1>Why is it slow?</h1><Ask /><Earlier /></>;
}

const STATE: Record<Dig["state"], [string, string]> = { running: ["on", "looking"], slow: ["warn", "cause found"], nothing: ["", "nothing is slow"],
	failed: ["bad", "failed"], cancelled: ["", "stopped"] };

function Ask() {
	const instances = useInstances().filter(alive), chosen = route.value.query.instance || instances[0]?.id || "";
	const given = route.value.query.method ?? "", [method, setMethod] = useState(given ? target(given) : "");
	const [long, setLong] = useState(55), [budget, setBudget] = useState(0.01), [busy, setBusy] = useState(false);
	useEffect(() => { setMethod(given ? target(given) : ""); }, [given]);
	const start = async (e: Event) => {
		e.preventDefault();
		setBusy(true);
		const dig = await attempt(api.startDig({ instance: chosen, method: method.trim() || undefined, for_ms: long * 1000, budget }));
		setBusy(false);
		if (dig) go("why", dig.id);
	};
	return <Panel>
		<form class="why" onSubmit={start}>
			<label class="field"><span>In</span><InstancePicker instances={instances} need /></label>
			<label class="field"><span>Method, if you know one</span><input class="mono" size={44} data-search value={method} spellcheck={false}
				placeholder="any: Sonde looks for what is slow" onInput={(e) => setMethod(e.currentTarget.value)} /></label>
			<label class="field"><span>For at most</span><select value={long} onChange={(e) => setLong(Number(e.currentTarget.value))}>
				{[30, 55, 120, 300].map((s) => <option key={s} value={s}>{s} s</option>)}</select></label>
			<label class="field"><span>It may cost</span><select value={budget} onChange={(e) => setBudget(Number(e.currentTarget.value))}>
				{[0.005, 0.01, 0.02, 0.05].map((b) => <option key={b} value={b}>{b * 100} % of a processor</option>)}</select></label>
			<button class="primary" disabled={!chosen || busy || !mayChange.value}>Why?</button>
		</form>
		<p class="faint">Sonde samples stacks, hooks the few methods that matter in the running program, measures them, compares slow calls
			with fast ones, and takes its hooks out again. Half a minute is usual.</p>
		<Command>sonde dig {route.value.query.instance ? "PID" : ""} {method}</Command>
	</Panel>;
}

function Earlier() {
	const digs = useLoad(app.value, (s) => api.digs(app.value, s), 10000, "dig"), rows = digs.data?.digs ?? [];
	if (!rows.length) return <Trouble text={digs.error} />;
	return <Panel title="Asked before"><table>
		<thead><tr><th scope="col">When</th><th scope="col">By</th><th scope="col">Outcome</th><th scope="col">Answer</th></tr></thead>
		<tbody>{rows.map((d) => <tr key={d.id}><td class="time"><a href={link("why", d.id)}>{moment(d.started_ms ?? 0)}</a></td>
			<td><Name text={d.by ?? ""} limit={60} /></td><td><span class={"tag " + STATE[d.state][0]}>{STATE[d.state][1]}</span></td>
			<td><Name text={firstLine(d)} limit={240} /></td></tr>)}</tbody></table></Panel>;
}

function firstLine(d: Dig): string {
	return String(d.answer?.text ?? d.why ?? d.method ?? "").replace(/\s+/g, " ");
}

// ---- one -----------------------------------------------------------------------------------------------------

function OneDig({ id }: { id: string }) {
	const loaded = useLoad(id, (s) => api.dig(id, s)), [lines, setLines] = useState<string[]>([]), d = loaded.data;
	useEffect(() => followDig(id, (n, text) => setLines((old) => {
		const next = old.slice();
		next[n] = text;
		return next;
	}), loaded.again), [id]);
	const told = lines.length ? lines : d?.lines ?? [];
	if (!d) return <><h1>Why?</h1><Panel>{loaded.error ? <Trouble text={loaded.error} /> : <p class="working">Asking the manager</p>}</Panel></>;
	const running = d.state === "running", [tag, word] = STATE[d.state];
	return <>
		<header><h1>Why {d.method ? <>is <Name text={readable(brief(d.method))} limit={160} /> slow</> : "is it slow"}?</h1>
			<span class={"tag " + tag}>{word}</span><span class="faint">{clock(d.started_ms ?? 0)}{d.by ? ", " + d.by.slice(0, 60) : ""}</span>
			<div class="row right">{running && <button disabled={!mayChange.value} onClick={() => void attempt(api.cancelDig(id), "stopped")}>Stop</button>}
				{!running && <button onClick={() => download(d, told)}>Share as one file</button>}
				<a class="button" href={link("why")}>Ask again</a></div></header>
		{d.answer && <Answer d={d} />}
		{d.why && <p class="error"><Name text={d.why} limit={1000} /></p>}
		<Panel title="The reasoning" head={running ? <span class="working" role="status">looking</span> : undefined}>
			<ol class="log" aria-live="polite">{told.filter((l) => l != null).map((l, n) => <li key={n}><Name text={l} /></li>)}</ol>
		</Panel>
		{(d.rules?.length ?? 0) > 0 && <Keep d={d} again={loaded.again} />}
	</>;
}

interface Cause { method?: string; kind?: string; share?: { value?: number; margin?: number }; ns_per_call?: { value?: number; margin?: number };
	path?: string[]; contexts?: { callers?: string[] | string; slow?: boolean; ns_per_call?: number; calls?: number }[]; condition?: string }

function Answer({ d }: { d: Dig }) {
	const a = d.answer as { text?: string; root?: string; root_mean_ns?: number; root_p50_ns?: number; root_p99_ns?: number; root_rate?: number;
		cost?: number; cause?: Cause };
	const c = a.cause;
	return <Panel title="The answer" class="stack">
		<p class="answer"><Name text={flowing(String(a.text ?? ""))} /></p>
		<div class="figures">
			{a.root_mean_ns != null && <Figure value={ns(a.root_mean_ns)} label="the root on average" />}
			{a.root_p50_ns != null && <Figure value={ns(a.root_p50_ns)} label="usually" />}
			{a.root_p99_ns != null && <Figure value={ns(a.root_p99_ns)} label="99 % within" />}
			{a.root_rate != null && <Figure value={rate(a.root_rate)} label="calls" />}
			{c?.share?.value != null && <Figure value={share(c.share.value)} label="of the time is the cause's" />}
			{a.cost != null && <Figure value={share(a.cost)} label="of a processor was its price" />}
		</div>
		{c?.method && <div class="row"><span class="faint">Cause:</span><b><Name text={readable(c.method)} limit={400} /></b>
			{c.kind && <span class="tag">{c.kind}</span>}<a href={link("components", "", { app: d.application, find: brief(c.method).split("(")[0]! })}>in the tree</a></div>}
		{c?.condition && <div><span class="faint">When</span><pre class="rule">{c.condition}</pre></div>}
		{(c?.contexts?.length ?? 0) > 1 && <table><thead><tr><th scope="col">Called by</th><th scope="col" class="num">A call takes</th>
			<th scope="col" class="num">Calls</th></tr></thead><tbody>{c!.contexts!.slice(0, 12).map((x, k) => <tr key={k}>
			<td class={x.slow ? "bad" : ""}><Name text={Array.isArray(x.callers) ? x.callers.map(brief).join(" › ") : String(x.callers ?? "")} limit={300} /></td>
			<td class="num">{ns(x.ns_per_call)}</td><td class="num">{x.calls}</td></tr>)}</tbody></table>}
	</Panel>;
}

// The lines of the terminal, put together again to sentences.
export function flowing(text: string): string {
	return text.replace(/\n +/g, " ").replace(/ {2,}/g, " ");
}

function Keep({ d, again }: { d: Dig; again: () => void }) {
	const push = async () => {
		if (await attempt(api.pushDig(d.id), "hooked in all instances of the application")) again();
	};
	return <Panel title="Rules that watch it" class="stack">
		<pre class="rule">{(d.rules ?? []).join("\n")}</pre>
		<div class="row">{d.pushed_version ? <span>In the plan since version {d.pushed_version}. <a href={link("plans")}>Plans</a></span>
			: <button class="primary" disabled={!mayChange.value} onClick={push}>Hook this in all instances</button>}
		<span class="faint">Only what was slow is hooked, under the condition that was found.</span></div></Panel>;
}

function download(d: Dig, lines: string[]): void {
	const a = document.createElement("a");
	a.href = URL.createObjectURL(new Blob([reportOf(d, lines)], { type: "text/html" }));
	a.download = "sonde-" + d.id.replace(/[^\w.-]/g, "") + ".html";
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 10000);
	say("Saved: the file needs nothing but a browser.");
}
