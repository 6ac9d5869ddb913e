// SPDX-License-Identifier: Apache-2.0
// components.tsx - what calls what.  A box hooks and unhooks; what has no data yet is in italics and cannot be
// chosen; its callees are looked up in the byte code when it is opened.
import { useMemo, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { api } from "../api/client";
import type { Callee, Plan } from "../api/types";
import { brief, count, ns, share } from "../base/format";
import { useLoad } from "../base/load";
import { Empty, Meter, Name, Panel, say } from "../base/parts";
import { put, route } from "../base/route";
import { hooks, readable, ruleOf, sequence, target, type Level } from "../base/rule";
import { ABSTRACT, CONDITIONAL, DATA, FOUND, HOOKED, NATIVE, nodesOf, NO_TREE, type Nodes } from "../tree/nodes";
import { Tree } from "../tree/tree";
import { app, attempt, instance, mayChange } from "../state";
import { InstancePicker, NoApplication, Trouble, useInstances } from "./shared";
import { RulePanel } from "./rulepanel";

// How a box hooks: the same for all until it is changed; the sequence by node.
export const level = signal<Level>("timed");
const lengths = signal<Map<number, number>>(new Map());

export function Components() {
	if (!app.value) return <><h1>Components</h1><Panel><NoApplication /></Panel></>;
	return <OneTree key={app.value + "|" + instance.value} />;
}

function OneTree() {
	const name = app.value, instances = useInstances();
	const tree = useLoad(name, (s) => api.tree(name, { instance: instance.value }, s), 5000);
	const plan = useLoad(name, (s) => api.plan(name, s), 0, "status");
	const [found, setFound] = useState<Map<string, Callee[]>>(new Map()), [turn, setTurn] = useState(0);
	const [open] = useState<Set<number>>(() => new Set()), [chosen, setChosen] = useState(0);
	const answer = tree.data ?? NO_TREE;
	const nodes = useMemo(() => {
		const made = nodesOf(answer, found);
		if (open.size === 0) for (let i = 0; i < made.forest.n; i++) if (made.forest.depth[i]! < 3 && made.forest.hasChildren(i)) open.add(made.id[i]!);
		reopen(made, open);
		return made;
	}, [answer, found]);
	const find = (route.value.query.find ?? "").toLowerCase();
	const visible = useMemo(() => {
		if (!find) return nodes.forest.visible();
		const hit = nodes.methods.map((m) => m.toLowerCase().includes(find));
		return nodes.forest.visible((i) => hit[nodes.method[i]!]!);
	}, [nodes, find, turn]);
	const at = chosen ? nodes.id.indexOf(chosen) : -1;
	const twist = (i: number) => {
		const k = nodes.id[i]!, opening = !nodes.forest.open[i];
		nodes.forest.open[i] = opening ? 1 : 0;
		if (opening) open.add(k);
		else open.delete(k);
		setTurn(turn + 1);
		if (opening && !nodes.forest.hasChildren(i)) void discover(name, nodes.methods[nodes.method[i]!]!, found, setFound);
	};
	const openAll = (depth: number) => {
		nodes.forest.openTo(depth);
		open.clear();
		for (let i = 0; i < nodes.forest.n; i++) if (nodes.forest.open[i]) open.add(nodes.id[i]!);
		setTurn(turn + 1);
	};
	const hook = (i: number) => void toggle(name, nodes, i, plan.data, plan.again, tree.again);
	return <>
		<header><h1>Components</h1><InstancePicker instances={instances} />
			<label class="row"><span class="faint">Find</span><input type="search" data-search value={route.value.query.find ?? ""}
				placeholder="class or method" onInput={(e) => put({ find: e.currentTarget.value }, true)} /></label>
			<div class="row"><button onClick={() => openAll(1 << 20)}>Open all</button><button onClick={() => openAll(1)}>Close all</button></div>
			<label class="row right"><span class="faint">A box hooks</span><LevelPicker value={level.value} onValue={(l) => { level.value = l; }} /></label>
		</header>
		<Trouble text={tree.error || plan.error} />
		<div class="split">
			<Panel class="flush">
				{nodes.forest.n === 0 ? <NothingHooked loading={tree.loading} /> :
					<Tree forest={nodes.forest} rows={visible} label={"Components of " + name} chosen={at} head={<Head />}
						selectable={(i) => (nodes.flags[i]! & DATA) !== 0} onChoose={(i) => setChosen(nodes.id[i]!)}
						onTwist={twist} onSpace={hook} canOpen={(i) => nodes.forest.hasChildren(i) || canLook(nodes, i, found)}
						checked={(i) => state(nodes, i, plan.data)} nodeClass={(i) => nodes.flags[i]! & DATA ? "" : "nodata"}
						who={(i) => <Who nodes={nodes} i={i} plan={plan.data} onHook={() => hook(i)} />}
						cells={(i) => <Cells nodes={nodes} i={i} />} />}
			</Panel>
			<RulePanel key={chosen} nodes={nodes} at={at} plan={plan.data} again={() => { plan.again(); tree.again(); }} />
		</div>
		<p class="faint">{count(nodes.forest.n)} nodes{tree.data?.omitted ? ", " + count(tree.data.omitted) + " smaller ones left out" : ""}.
			Italics: discovered, but no data yet. Open a node to look for what it calls; a box hooks it in {name.slice(0, 60)} while it runs.</p>
	</>;
}

// Opens what was open.  Most nodes are leaves or closed: the low bits of ids that are open tell that without a look into the set.
function reopen(nodes: Nodes, open: Set<number>): void {
	const { forest, id } = nodes, may = new Uint8Array(65536);
	for (const k of open) may[k >>> 0 & 65535] = 1;
	for (let i = 0; i < forest.n; i++) forest.open[i] = forest.end[i]! > i + 1 && may[id[i]! >>> 0 & 65535] && open.has(id[i]!) ? 1 : 0;
}

function NothingHooked(props: { loading: boolean }) {
	const [text, setText] = useState("");
	const send = async (e: Event) => {
		e.preventDefault();
		await attempt(api.changeRules(app.value, { hook: [text.trim().startsWith("hook ") ? text.trim() : "hook " + text.trim()] }), "hooked");
	};
	if (props.loading) return <Empty><p class="working">Asking the manager</p></Empty>;
	return <Empty><p>Nothing that is hooked has been called yet in the running instances.</p>
		<form class="row center" onSubmit={send}><label class="row"><span>Hook</span><input class="mono" size={40} value={text} spellcheck={false}
			placeholder="com.shop.**::*" onInput={(e) => setText(e.currentTarget.value)} /></label>
		<button class="primary" disabled={!text.trim() || !mayChange.value}>Hook</button></form></Empty>;
}

function Head() {
	return <div class="treehead" aria-hidden="true"><span>Component</span><span class="num">Calls</span><span class="num">Average</span>
		<span class="num">Total</span><span class="num">Self</span><span class="num">Errors</span><span class="num">Sequence</span></div>;
}

export function LevelPicker(props: { value: Level; onValue: (l: Level) => void }) {
	return <select value={props.value} onChange={(e) => props.onValue(e.currentTarget.value as Level)}>
		<option value="light">light (count)</option><option value="timed">timed</option><option value="full">full (with data)</option>
	</select>;
}

// ---- one node ------------------------------------------------------------------------------------------------

function canLook(nodes: Nodes, i: number, found: Map<string, Callee[]>): boolean {
	return (nodes.flags[i]! & (ABSTRACT | NATIVE)) === 0 && !found.has(nodes.methods[nodes.method[i]!]!);
}

export function exactRules(plan: Plan | undefined, method: string): string[] {
	return (plan?.rules ?? []).map((r) => r.text).filter((t) => hooks(t, method));
}

// On how many of the instances is a rule in force?
export function inForce(plan: Plan | undefined, text: string): [number, number] {
	const all = plan?.status ?? [];
	return [all.filter((s) => s.rules.some((r) => r.text === text && r.state === "in_force")).length, all.length];
}

function state(nodes: Nodes, i: number, plan: Plan | undefined): boolean | "mixed" {
	const own = exactRules(plan, nodes.methods[nodes.method[i]!]!);
	if (!own.length) return (nodes.flags[i]! & HOOKED) !== 0;
	const waits = own.some((t) => {
		const [on, all] = inForce(plan, t);
		return on < all;
	});
	return waits ? "mixed" : true;
}

function Who(props: { nodes: Nodes; i: number; plan: Plan | undefined; onHook: () => void }) {
	const { nodes, i } = props, method = nodes.methods[nodes.method[i]!]!, own = exactRules(props.plan, method);
	const is = state(nodes, i, props.plan), [on, all] = own.length ? inForce(props.plan, own[0]!) : [0, 0];
	return <>
		<input type="checkbox" tabIndex={-1} aria-label={"hook " + readable(brief(method)).slice(0, 120)} checked={is !== false}
			ref={(e) => { if (e) e.indeterminate = is === "mixed"; }} disabled={!mayChange.value}
			onClick={(e) => { e.stopPropagation(); e.preventDefault(); props.onHook(); }} />
		<span><Name text={readable(brief(method))} title={method} limit={300} /></span>
		{nodes.flags[i]! & CONDITIONAL ? <i class="tag on" title="hooked only in a sequence of callers or under a condition">if</i> : null}
		{nodes.flags[i]! & ABSTRACT ? <i class="tag">abstract</i> : null}{nodes.flags[i]! & NATIVE ? <i class="tag">native</i> : null}
		{own.length > 0 && all > 0 && <i class={"tag " + (on < all ? "warn" : "")} title="instances where the rule is in force">{on}/{all}</i>}
	</>;
}

function Cells({ nodes, i }: { nodes: Nodes; i: number }) {
	const calls = nodes.calls[i]!, has = (nodes.flags[i]! & DATA) !== 0, part = nodes.total[i]! / nodes.whole;
	const key = nodes.id[i]!, depth = nodes.forest.depth[i]!;
	return <>
		<span class="num">{has ? count(calls) : ""}</span>
		<span class="num">{has && calls && nodes.total[i]! ? ns(nodes.total[i]! / calls) : has ? "-" : ""}</span>
		<span class="share">{has && nodes.total[i]! ? <>{ns(nodes.total[i])}<Meter part={part} label={share(part)} /></> : ""}</span>
		<span class="num">{has && nodes.total[i]! ? ns(nodes.self[i]) : ""}</span>
		<span class={"num " + (nodes.errors[i] ? "bad" : "")}>{has ? count(nodes.errors[i]) : ""}</span>
		<span class="num"><select tabIndex={-1} aria-label="sequence length" value={lengths.value.get(key) ?? 1} disabled={depth === 0}
			onClick={(e) => e.stopPropagation()} onChange={(e) => {
				lengths.value = new Map(lengths.value).set(key, Number(e.currentTarget.value));
			}}>
			<option value={1}>any</option>
			{Array.from({ length: Math.min(depth, 15) }, (_, k) => <option key={k} value={k + 2}>{k + 2}</option>)}
		</select></span>
	</>;
}

// ---- hooking -------------------------------------------------------------------------------------------------

async function discover(name: string, method: string, found: Map<string, Callee[]>,
	setFound: (f: Map<string, Callee[]>) => void): Promise<void> {
	const answer = await attempt(api.callees(name, method, instance.value));
	if (!answer) return;
	setFound(new Map(found).set(method, answer.callees));
	if (!answer.callees.length) say(readable(brief(method)) + " calls nothing that could be hooked.");
}

export function pathOf(nodes: Nodes, i: number): string[] {
	return nodes.forest.path(i).map((k) => nodes.methods[nodes.method[k]!]!);
}

async function toggle(name: string, nodes: Nodes, i: number, plan: Plan | undefined, ...again: (() => void)[]): Promise<void> {
	const method = nodes.methods[nodes.method[i]!]!, own = exactRules(plan, method), skip = "skip " + target(method);
	if (!mayChange.value) return;
	if (nodes.flags[i]! & ABSTRACT && !own.length) {
		say(readable(brief(method)) + " has no code; hook what implements it.");
		return;
	}
	if (own.length) {
		await attempt(api.changeRules(name, { unhook: own, comment: "component tree" }), "unhooked " + readable(brief(method)));
	} else if (nodes.flags[i]! & HOOKED && !(nodes.flags[i]! & FOUND && !plan)) { // by a rule about more
		await attempt(api.changeRules(name, { hook: [skip], comment: "component tree" }), "left out " + readable(brief(method)));
	} else {
		const path = pathOf(nodes, i), long = lengths.value.get(nodes.id[i]!) ?? 1;
		const rule = ruleOf({ method, callers: sequence(path, long), direct: false, condition: "", level: level.value, limit: "" });
		const skipped = (plan?.rules ?? []).filter((r) => r.text === skip).map((r) => r.text);
		await attempt(api.changeRules(name, { hook: [rule], unhook: skipped, comment: "component tree" }), "hooked " + readable(brief(method)));
	}
	for (const f of again) f();
}
