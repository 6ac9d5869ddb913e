// SPDX-License-Identifier: Apache-2.0
// client.ts - asks the manager.  An answer that is no success becomes a Refusal with the manager's own words.
import { signal } from "@preact/signals";
import type * as T from "./types";

const BASE = "api/v1";

// Set when the manager wants a token: the frame asks for it.
export const locked = signal(false);

export class Refusal extends Error {
	constructor(readonly status: number, readonly code: string, text: string, readonly problems: T.Problem[] = []) {
		super(text);
	}
}

async function refusal(answer: Response): Promise<Refusal> {
	let code = "", text = "", problems: T.Problem[] = [];
	try {
		const error = (await answer.json()).error;
		code = String(error.code ?? "");
		text = String(error.text ?? "");
		problems = Array.isArray(error.problems) ? error.problems : [];
	} catch { /* no JSON: the status has to do */ }
	if (answer.status === 401) locked.value = true;
	return new Refusal(answer.status, code, text || "the manager answered " + answer.status + " " + answer.statusText,
		problems);
}

async function ask<R>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<R> {
	let answer: Response;
	try {
		answer = await fetch(BASE + path, { method, signal, credentials: "same-origin", cache: "no-store",
			headers: method === "GET" ? {} : { "Content-Type": "application/json" },
			body: method === "GET" ? undefined : JSON.stringify(body ?? {}) });
	} catch (e) {
		if (signal?.aborted) throw e;
		throw new Refusal(0, "away", "the manager does not answer; is sonded running?");
	}
	if (!answer.ok) throw await refusal(answer);
	return answer.status === 204 ? undefined as R : await answer.json() as R;
}

type Words = Record<string, string | number | undefined>;

function query(words: Words): string {
	const pairs = Object.entries(words).filter(([, v]) => v !== undefined && v !== "")
		.map(([k, v]) => encodeURIComponent(k) + "=" + encodeURIComponent(String(v)));
	return pairs.length ? "?" + pairs.join("&") : "";
}

const app = (name: string) => "/applications/" + encodeURIComponent(name);
const get = <R>(path: string, signal?: AbortSignal) => ask<R>("GET", path, undefined, signal);

export const api = {
	manager: (s?: AbortSignal) => get<T.Manager>("/", s),
	login: (token: string) => ask<void>("POST", "/login", { token }),
	applications: (s?: AbortSignal) => get<{ applications: T.Application[] }>("/applications", s),
	application: (name: string, s?: AbortSignal) => get<T.Application>(app(name), s),
	overhead: (s?: AbortSignal) => get<T.Overhead>("/overhead", s),
	methods: (name: string, words: Words, s?: AbortSignal) =>
		get<{ methods: T.MethodRow[] }>(app(name) + "/methods" + query(words), s),
	series: (name: string, words: Words, s?: AbortSignal) => get<T.Series>(app(name) + "/series" + query(words), s),
	tree: (name: string, words: Words, s?: AbortSignal) =>
		get<T.TreeAnswer>(app(name) + "/tree" + query({ ...words, format: "columns" }), s),
	callees: (name: string, method: string, instance: string, s?: AbortSignal) =>
		get<{ callees: T.Callee[]; warnings?: string[] }>(app(name) + "/callees" + query({ method, instance }), s),
	explain: (name: string, method: string, s?: AbortSignal) =>
		get<{ texts: string[] }>(app(name) + "/explain" + query({ method }), s),
	plan: (name: string, s?: AbortSignal) => get<T.Plan>(app(name) + "/plan", s),
	putPlan: (name: string, change: { version: number; rules: T.PlanRule[]; traces?: T.Plan["traces"]; comment: string }) =>
		ask<T.Plan>("PUT", app(name) + "/plan", change),
	changeRules: (name: string, change: { hook?: string[]; unhook?: string[]; comment?: string }) =>
		ask<T.Plan>("POST", app(name) + "/plan/rules", change),
	history: (name: string, s?: AbortSignal) => get<{ versions: T.Version[] }>(app(name) + "/plan/history", s),
	version: (name: string, version: number, s?: AbortSignal) => get<T.Plan>(app(name) + "/plan/history/" + version, s),
	undo: (name: string, version?: number) => ask<T.Plan>("POST", app(name) + "/plan/undo", version == null ? {} : { version }),
	check: (rules: string, s?: AbortSignal) => ask<T.RulesCheck>("POST", "/rules/check", { rules }, s),
	traces: (words: Words, s?: AbortSignal) => get<{ traces: T.TraceRow[]; next?: string }>("/traces" + query(words), s),
	heatmap: (words: Words, s?: AbortSignal) => get<T.Heatmap>("/traces/heatmap" + query(words), s),
	trace: (id: string, s?: AbortSignal) => get<T.TraceAnswer>("/traces/" + encodeURIComponent(id), s),
	perfetto: (id: string) => BASE + "/traces/" + encodeURIComponent(id) + "/perfetto",
	hotspots: (instance: string, seconds: number, s?: AbortSignal) =>
		get<T.Hotspots>("/instances/" + encodeURIComponent(instance) + "/hotspots" + query({ seconds }), s),
	stacks: (instance: string, words: { seconds: number; mode: "cpu" | "wall" }, s?: AbortSignal) =>
		get<T.StacksAnswer>("/instances/" + encodeURIComponent(instance) + "/stacks" + query(words), s),
	digs: (name: string, s?: AbortSignal) => get<{ digs: T.Dig[] }>("/digs" + query({ application: name, limit: 30 }), s),
	alerts: (name: string, s?: AbortSignal) => get<{ alerts: T.Alert[] }>("/alerts" + query({ application: name, limit: 10 }), s),
	dig: (id: string, s?: AbortSignal) => get<T.Dig>("/digs/" + encodeURIComponent(id), s),
	startDig: (change: { instance: string; method?: string; for_ms?: number; budget?: number }) => ask<T.Dig>("POST", "/digs", change),
	cancelDig: (id: string) => ask<void>("DELETE", "/digs/" + encodeURIComponent(id)),
	pushDig: (id: string) => ask<T.Plan>("POST", "/digs/" + encodeURIComponent(id) + "/push"),
	digEvents: (id: string) => BASE + "/digs/" + encodeURIComponent(id) + "/events",
	events: BASE + "/events",
};
