// SPDX-License-Identifier: Apache-2.0
// shared.tsx - what several views have at their head.
import type { ComponentChildren } from "preact";
import { link, put, route } from "../base/route";
import { clock, moment } from "../base/format";
import { Empty, Name } from "../base/parts";
import { useLoad } from "../base/load";
import { api } from "../api/client";
import type { Instance } from "../api/types";
import { app, applications, range, SPANS } from "../state";

export function SpanPicker() {
	const r = range(), sameDay = new Date(r.from_ms).toDateString() === new Date(r.to_ms).toDateString();
	return <label><span class="hidden">Time</span>
		<select value={r.fixed ? "fixed" : route.value.query.span || "15m"}
			onChange={(e) => put({ span: e.currentTarget.value, from: "", to: "" })}>
			{r.fixed && <option value="fixed">{moment(r.from_ms)} – {sameDay ? clock(r.to_ms) : moment(r.to_ms)}</option>}
			{SPANS.map(([name, text]) => <option key={name} value={name}>last {text}</option>)}
		</select></label>;
}

export function setSpan(from_ms: number, to_ms: number): void {
	put({ from: String(Math.floor(from_ms)), to: String(Math.ceil(to_ms)) });
}

export function useInstances(): Instance[] {
	return useLoad(app.value, (s) => api.application(app.value, s), 10000, "instance").data?.instances ?? [];
}

export function InstancePicker(props: { instances: Instance[]; need?: boolean }) {
	return <label><span class="hidden">Instance</span>
		<select value={route.value.query.instance || (props.need ? props.instances[0]?.id : "")} onChange={(e) => put({ instance: e.currentTarget.value })}>
			{!props.need && <option value="">all instances</option>}
			{props.instances.map((i) => <option key={i.id} value={i.id}>{instanceName(i)}</option>)}
		</select></label>;
}

export function instanceName(i: Instance): string {
	return (i.pid ? "pid " + i.pid : i.id) + (i.host ? " on " + i.host.slice(0, 40) : "") + (alive(i) ? "" : " (" + i.state + ")");
}

export function alive(i: Instance): boolean {
	return i.state === "connected";
}

// Shown by views that need one application while none is chosen.
export function NoApplication() {
	const all = applications.value;
	if (!all) return <Empty><p class="working">Asking the manager</p></Empty>;
	if (all.length > 0) return <Empty><p>Choose an application at the top.</p></Empty>;
	return <Empty>
		<p>No application has been seen yet.</p>
		<p>Put the agent into a running JVM: <code>sonde attach PID</code>, or start one with it: <code>sonde run -- java ...</code></p>
	</Empty>;
}

export function Trouble(props: { text: string }) {
	return props.text ? <p class="error" role="alert"><Name text={props.text} /></p> : null;
}

export function Command(props: { children: ComponentChildren }) {
	return <p class="faint">On the command line: <code class="plain">{props.children}</code></p>;
}

export function HotTabs(props: { live: boolean }) {
	return <nav class="tabs" aria-label="Ways to look">
		<a href={link("hot")} aria-current={props.live ? undefined : "page"}>Flame graph</a>
		<a href={link("hot", "live")} aria-current={props.live ? "page" : undefined}>Live</a></nav>;
}
