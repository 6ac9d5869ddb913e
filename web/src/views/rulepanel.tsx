// SPDX-License-Identifier: Apache-2.0
// rulepanel.tsx - the chosen component: its figures, and the editor that makes a rule of level, sequence and
// condition.  The rule is checked by the manager while one types, and stands beside the controls as text.
import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../api/client";
import type { Plan, RulesCheck } from "../api/types";
import { brief, count, ns, share } from "../base/format";
import { Figure, Name, Panel } from "../base/parts";
import { link } from "../base/route";
import { completions, parametersOf, readable, ruleOf, sequence, type Level } from "../base/rule";
import type { Nodes } from "../tree/nodes";
import { app, attempt, mayChange } from "../state";
import { exactRules, inForce, LevelPicker, level, pathOf } from "./components";

export function RulePanel(props: { nodes: Nodes; at: number; plan: Plan | undefined; again: () => void }) {
	const { nodes, at } = props;
	if (at < 0) return <Panel title="Component"><p class="faint">Choose a component that has data to see its figures and to
		say when it is to be hooked: in which sequence of callers, under which condition.</p></Panel>;
	const path = pathOf(nodes, at), method = path[path.length - 1]!, calls = nodes.calls[at]!;
	return <Panel title="Component" class="stack">
		<h1><Name text={readable(brief(method))} title={method} limit={300} /></h1>
		<p class="faint"><Name text={path.slice(0, -1).map((m) => brief(m)).join(" › ")} limit={600} /></p>
		<div class="figures">
			<Figure value={count(calls)} label="calls" /><Figure value={calls ? ns(nodes.total[at]! / calls) : "-"} label="average" />
			<Figure value={share(nodes.total[at]! / nodes.whole)} label="of all time" /><Figure value={ns(nodes.self[at])} label="self" />
		</div>
		<div class="row"><a href={link("overview", "", { method })}>Curves</a><a href={link("traces", "", { root: brief(path[0]!) })}>Traces</a>
			<a href={link("why", "", { method })}>Why is it slow?</a></div>
		<Editor key={method} path={path} plan={props.plan} again={props.again} />
		<Explain method={method} />
	</Panel>;
}

function Editor(props: { path: string[]; plan: Plan | undefined; again: () => void }) {
	const method = props.path[props.path.length - 1]!, own = exactRules(props.plan, method);
	const [long, setLong] = useState(1), [direct, setDirect] = useState(false), [condition, setCondition] = useState("");
	const [how, setHow] = useState<Level>(level.value), [limit, setLimit] = useState(""), [check, setCheck] = useState<RulesCheck>();
	const rule = ruleOf({ method, callers: sequence(props.path, long), direct, condition, level: how, limit });
	useEffect(() => {
		const stop = new AbortController(), timer = setTimeout(() => {
			api.check(rule, stop.signal).then(setCheck, () => setCheck(undefined));
		}, 300);
		return () => {
			stop.abort();
			clearTimeout(timer);
		};
	}, [rule]);
	const wrong = check && !check.ok;
	const send = async () => {
		if (await attempt(api.changeRules(app.value, { hook: [rule], unhook: own.filter((o) => o !== rule), comment: "condition editor" }),
			"in force on the next visit of each instance")) props.again();
	};
	return <div class="stack">
		<div class="row">
			<label class="field"><span>Level</span><LevelPicker value={how} onValue={setHow} /></label>
			<label class="field"><span>Sequence length</span><select value={long} onChange={(e) => setLong(Number(e.currentTarget.value))}>
				<option value={1}>1, wherever called</option>
				{props.path.slice(0, -1).slice(-15).map((_, k) => <option key={k} value={k + 2}>{k + 2}</option>)}</select></label>
			<label class="field"><span>Leaves</span><select value={limit} onChange={(e) => setLimit(e.currentTarget.value)}>
				<option value="">when unhooked</option><option value="for 10m">after 10 minutes</option><option value="for 1h">after an hour</option>
				<option value="calls 1000">after 1,000 calls</option><option value="good 5m">when good for 5 minutes</option></select></label>
		</div>
		{long > 1 && <label class="check"><input type="checkbox" checked={direct} onChange={(e) => setDirect(e.currentTarget.checked)} />
			called directly by the last of them</label>}
		<Condition value={condition} onValue={setCondition} method={method} />
		<div><h2>The rule</h2><pre class="rule" aria-live="polite">{rule}</pre></div>
		{wrong && <p class="error" role="alert">{(check.problems ?? []).map((p) => <Name key={p.text} text={p.text + (p.hint ? ": " + p.hint : "")} />)}</p>}
		<div class="row"><button class="primary" disabled={!mayChange.value || wrong} onClick={send}>{own.length ? "Change the hook" : "Hook"}</button>
			{own.length > 0 && <button disabled={!mayChange.value} onClick={async () => {
				if (await attempt(api.changeRules(app.value, { unhook: own, comment: "condition editor" }), "unhooked")) props.again();
			}}>Unhook</button>}</div>
		{own.map((o) => <InForce key={o} plan={props.plan} text={o} />)}
	</div>;
}

function InForce(props: { plan: Plan | undefined; text: string }) {
	const [on, all] = inForce(props.plan, props.text);
	const refused = (props.plan?.status ?? []).flatMap((s) => s.rules.filter((r) => r.text === props.text && r.state === "refused"));
	return <div class="note stack"><code><Name text={props.text} /></code>
		<span class={on < all ? "warn" : "good"}>in force on {on} of {all} {all === 1 ? "instance" : "instances"}</span>
		{refused.slice(0, 3).map((r) => <span class="bad" key={r.why}>refused: <Name text={r.why ?? ""} limit={400} /></span>)}</div>;
}

function Condition(props: { value: string; onValue: (v: string) => void; method: string }) {
	const box = useRef<HTMLTextAreaElement>(null), [at, setAt] = useState(-1);
	const parameters = parametersOf(props.method);
	const proposals = at < 0 ? [] : completions(props.value, at, parameters, []).slice(0, 14);
	const take = (text: string) => {
		const before = props.value.slice(0, at).replace(/[$\w.]*$/, ""), next = before + text + " ";
		props.onValue(next + props.value.slice(at));
		setAt(next.length);
		box.current?.focus();
	};
	return <div class="stack">
		<label class="field"><span>Only if</span>
			<textarea ref={box} rows={2} value={props.value} spellcheck={false} placeholder={"$1.type == \"GIFT\" and $this.stock < 10"}
				onInput={(e) => { props.onValue(e.currentTarget.value); setAt(e.currentTarget.selectionStart); }}
				onFocus={(e) => setAt(e.currentTarget.selectionStart)} onKeyUp={(e) => setAt(e.currentTarget.selectionStart)}
				onKeyDown={(e) => {
					if (e.key !== "Tab" || e.shiftKey || !proposals.length || !/[$\w]$/.test(props.value.slice(0, at))) return;
					e.preventDefault();
					take(proposals[0]!);
				}} /></label>
		{proposals.length > 0 && <ul class="proposals" aria-label="can come next">{proposals.map((t) =>
			<li key={t}><button type="button" onClick={() => take(t)} title={meaning(t, parameters)}>{t}</button></li>)}</ul>}
	</div>;
}

function meaning(word: string, parameters: string[]): string | undefined {
	const n = /^\$(\d+)$/.exec(word);
	return n ? "argument " + n[1] + ": " + parameters[Number(n[1]) - 1] : word === "$return" ? "the result; tested on exit" : undefined;
}

function Explain(props: { method: string }) {
	const [text, setText] = useState("");
	return <div class="stack"><div><button class="quiet" onClick={async () => {
		const answer = await attempt(api.explain(app.value, props.method));
		if (answer) setText(answer.texts.join("\n"));
	}}>Why is it hooked, or not?</button></div>
	{text && <pre class="rule">{text}</pre>}</div>;
}
