// SPDX-License-Identifier: Apache-2.0
// plans.tsx - what should be hooked, where it is in force, who changed it when; and the way back.
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api/client";
import type { Plan, RulesCheck, Version } from "../api/types";
import { ago, count, moment } from "../base/format";
import { diffLines } from "../base/diff";
import { useLoad } from "../base/load";
import { Empty, Name, Panel } from "../base/parts";
import { put, route } from "../base/route";
import { app, attempt, mayChange } from "../state";
import { NoApplication, Trouble } from "./shared";

export function Plans() {
	if (!app.value) return <><h1>Plans</h1><Panel><NoApplication /></Panel></>;
	return <OnePlan key={app.value} name={app.value} />;
}

const textOf = (p: Plan | undefined) => (p?.rules ?? []).map((r) => r.text).join("\n");

function OnePlan({ name }: { name: string }) {
	const plan = useLoad(name, (s) => api.plan(name, s), 0, "plan"), status = useLoad(name, (s) => api.plan(name, s), 0, "status");
	const history = useLoad(name, (s) => api.history(name, s), 0, "plan");
	const [editing, setEditing] = useState(false), p = plan.data;
	const again = () => { plan.again(); history.again(); };
	return <>
		<header><h1>Plan of <Name text={name} limit={80} /></h1>{p && <span class="tag on">version {p.version}</span>}
			{p?.changed_ms ? <span class="faint">changed {ago(p.changed_ms)} by <Name text={p.by ?? "?"} limit={60} /></span> : null}
			<button class="right" disabled={!mayChange.value || !p} onClick={() => setEditing(!editing)}>{editing ? "Do not edit" : "Edit as text"}</button></header>
		<Trouble text={plan.error || history.error} />
		{editing && p ? <TextEditor plan={p} done={() => { setEditing(false); again(); }} /> : p && <Rules plan={{ ...p, status: status.data?.status ?? p.status }} again={again} />}
		<History name={name} versions={history.data?.versions ?? []} current={p?.version ?? 0} again={again} />
	</>;
}

// ---- the rules -----------------------------------------------------------------------------------------------

function Rules({ plan, again }: { plan: Plan; again: () => void }) {
	const remove = async (text: string) => {
		if (await attempt(api.changeRules(plan.application, { unhook: [text], comment: "plan page" }), "unhooked")) again();
	};
	if (!plan.rules.length) return <Panel><Empty><p>Nothing is to be hooked in this application.</p></Empty></Panel>;
	return <Panel title="Rules" class="scroll"><table>
		<thead><tr><th scope="col">Rule</th><th scope="col">From</th><th scope="col">In force</th><th scope="col" class="num">Methods</th>
			<th scope="col" class="num">Calls</th><th scope="col"><span class="hidden">Unhook</span></th></tr></thead>
		<tbody>{plan.rules.map((r) => <tr key={r.text}><td><code><Name text={r.text} /></code><Why plan={plan} text={r.text} /></td>
			<td>{r.origin ?? ""}</td><td><Force plan={plan} text={r.text} /></td>
			<td class="num">{count(sum(plan, r.text, "methods"))}</td><td class="num">{count(sum(plan, r.text, "calls"))}</td>
			<td><button class="quiet" disabled={!mayChange.value} aria-label={"unhook " + r.text.slice(0, 100)} onClick={() => remove(r.text)}>Unhook</button></td></tr>)}</tbody>
	</table></Panel>;
}

function states(plan: Plan, text: string) {
	return (plan.status ?? []).flatMap((s) => s.rules.filter((r) => r.text === text));
}

function sum(plan: Plan, text: string, what: "methods" | "calls"): number {
	return states(plan, text).reduce((n, r) => n + (r[what] ?? 0), 0);
}

const CLASS: Record<string, string> = { in_force: "on", refused: "bad", waiting: "warn", pending: "warn" };
const WORD: Record<string, string> = { in_force: "in force", waiting: "no method yet", refused: "refused", pending: "on its way", gone: "has left" };

function Force({ plan, text }: { plan: Plan; text: string }) {
	const by = new Map<string, number>();
	for (const r of states(plan, text)) by.set(r.state, (by.get(r.state) ?? 0) + 1);
	return <>{[...by].map(([s, n]) => <span class={"tag " + (CLASS[s] ?? "")} key={s}>{WORD[s] ?? s}: {n}</span>)}</>;
}

function Why({ plan, text }: { plan: Plan; text: string }) {
	const whys = [...new Set(states(plan, text).map((r) => r.why ?? "").filter(Boolean))].slice(0, 3);
	return <>{whys.map((w) => <div class="faint" key={w}><Name text={w} limit={500} /></div>)}</>;
}

// ---- as text -------------------------------------------------------------------------------------------------

function TextEditor({ plan, done }: { plan: Plan; done: () => void }) {
	const [text, setText] = useState(() => textOf(plan) + "\n"), [comment, setComment] = useState(""), [check, setCheck] = useState<RulesCheck>();
	const was = useMemo(() => textOf(plan), []), [base] = useState(plan.version), moved = plan.version !== base;
	useEffect(() => {
		const stop = new AbortController(), timer = setTimeout(() => {
			api.check(text, stop.signal).then(setCheck, () => setCheck(undefined));
		}, 300);
		return () => {
			stop.abort();
			clearTimeout(timer);
		};
	}, [text]);
	const save = async () => {
		if (!check?.rules) return;
		const old = new Map(plan.rules.map((r) => [r.text, r]));
		const rules = check.rules.map((t) => old.get(t) ?? { text: t, origin: "person" });
		if (await attempt(api.putPlan(plan.application, { version: base, rules, traces: plan.traces, comment }), "the plan is changed")) done();
	};
	return <Panel title="The plan as text" class="stack">
		{moved && <p class="error" role="alert">Somebody else has changed the plan meanwhile (version {plan.version}). Copy what you
			need and begin anew; saving will be refused.</p>}
		<textarea rows={Math.min(24, Math.max(8, text.split("\n").length + 1))} value={text} spellcheck={false} aria-label="rules"
			onInput={(e) => setText(e.currentTarget.value)} />
		{(check?.problems ?? []).slice(0, 8).map((p, k) => <p class="error" role="alert" key={k}>
			{p.line ? "line " + p.line + (p.column ? ":" + p.column : "") + ": " : ""}<Name text={p.text + (p.hint ? " (" + p.hint + ")" : "")} limit={500} /></p>)}
		<Diff from={was} to={text} />
		<div class="row"><label class="row"><span class="faint">Why</span><input value={comment} onInput={(e) => setComment(e.currentTarget.value)} /></label>
			<button class="primary" disabled={!check?.ok} onClick={save}>Save as version {base + 1}</button></div>
	</Panel>;
}

function Diff(props: { from: string; to: string }) {
	const lines = useMemo(() => diffLines(props.from, props.to), [props.from, props.to]);
	if (!lines.some((l) => l.sign !== " ")) return <p class="faint">No difference.</p>;
	return <div class="diff" role="group" aria-label="difference">{lines.map((l, k) => <div key={k} class={l.sign === "+" ? "add" : l.sign === "-" ? "del" : ""}>
		{l.sign} <Name text={l.text} /></div>)}</div>;
}

// ---- history -------------------------------------------------------------------------------------------------

function History(props: { name: string; versions: Version[]; current: number; again: () => void }) {
	const shown = Number(route.value.query.version ?? 0);
	const rows = props.versions.slice().sort((a, b) => b.version - a.version);
	const undo = async (version?: number) => {
		if (await attempt(api.undo(props.name, version), version == null ? "undone" : "back to version " + version)) props.again();
	};
	if (!rows.length) return null;
	return <Panel title="History" head={<button class="right" disabled={!mayChange.value || rows.length < 2} onClick={() => undo()}>Undo the last change</button>}>
		<table><thead><tr><th scope="col">Version</th><th scope="col">When</th><th scope="col">Who</th><th scope="col">Why</th>
			<th scope="col">What</th><th scope="col"><span class="hidden">Back</span></th></tr></thead>
		<tbody>{rows.slice(0, 200).map((v) => <><tr key={v.version}>
			<td><button class="quiet" aria-expanded={shown === v.version} onClick={() => put({ version: shown === v.version ? "" : String(v.version) })}>{v.version}</button></td>
			<td class="time">{moment(v.changed_ms)}</td><td><Name text={v.by} limit={60} /></td><td><Name text={v.comment ?? ""} limit={200} /></td>
			<td><span class="good">+{v.added.length}</span> <span class="bad">−{v.removed.length}</span></td>
			<td>{v.version !== props.current && <button class="quiet" disabled={!mayChange.value} onClick={() => undo(v.version)}>Back to this</button>}</td></tr>
		{shown === v.version && <tr key={"d" + v.version}><td colSpan={6}><Change name={props.name} version={v.version} current={props.current} /></td></tr>}</>)}</tbody></table>
	</Panel>;
}

function Change(props: { name: string; version: number; current: number }) {
	const { name, version } = props;
	const then = useLoad(name + version, (s) => api.version(name, version, s));
	const before = useLoad(version > 1 ? name + (version - 1) : "", (s) => api.version(name, version - 1, s));
	if (!then.data) return <p class="working">{then.error || "Asking the manager"}</p>;
	return <Diff from={textOf(before.data)} to={textOf(then.data)} />;
}
