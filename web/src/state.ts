// SPDX-License-Identifier: Apache-2.0
// state.ts - what all views share: which application is looked at, over which time, and what Sonde costs.
import { computed, signal } from "@preact/signals";
import { api, Refusal } from "./api/client";
import type { Application, Manager, Overhead } from "./api/types";
import { route } from "./base/route";
import { say } from "./base/parts";

export const manager = signal<Manager | null>(null);
export const applications = signal<Application[] | null>(null);
export const overhead = signal<Overhead | null>(null);
export const trouble = signal("");

// The chosen application, or the only one.
export const app = computed(() => route.value.query.app ||
	(applications.value?.length === 1 ? applications.value[0]!.name : ""));
export const instance = computed(() => route.value.query.instance ?? "");
export const mayChange = computed(() => manager.value?.role !== "view");

export async function refresh(): Promise<void> {
	try {
		const [m, a, o] = await Promise.all([api.manager(), api.applications(), api.overhead()]);
		manager.value = m;
		applications.value = a.applications;
		overhead.value = o;
		trouble.value = "";
	} catch (e) {
		trouble.value = (e as Error).message;
	}
}

// The greatest share that Sonde takes in one process of the application (or of all).
export const cost = computed(() => {
	const rows = (overhead.value?.instances ?? []).filter((i) => !app.value || i.application === app.value);
	const known = rows.map((r) => r.share).filter((s): s is number => typeof s === "number");
	return known.length ? Math.max(...known) : null;
});

// ---- the time that is looked at ------------------------------------------------------------------------------

export const SPANS: [string, string, number][] = [["5m", "5 minutes", 300e3], ["15m", "15 minutes", 900e3],
	["1h", "1 hour", 3600e3], ["6h", "6 hours", 21600e3], ["24h", "24 hours", 86400e3], ["7d", "7 days", 604800e3]];

export interface Range { from_ms: number; to_ms: number; fixed: boolean }

export function range(now = Date.now()): Range {
	const q = route.value.query, from = Number(q.from), to = Number(q.to);
	if (from > 0 && to > from) return { from_ms: from, to_ms: to, fixed: true };
	const span = SPANS.find(([name]) => name === q.span)?.[2] ?? 900e3;
	return { from_ms: now - span, to_ms: now, fixed: false };
}

export const rangeKey = () => [route.value.query.span, route.value.query.from, route.value.query.to].join("|");

// Does something that the manager may refuse, and says what became of it.  Undefined: refused.
export async function attempt<R>(what: Promise<R>, done?: string): Promise<R | undefined> {
	try {
		const answer = await what;
		if (done) say(done);
		return answer;
	} catch (e) {
		const more = e instanceof Refusal ? e.problems.map((p) => p.text + (p.hint ? " (" + p.hint + ")" : "")) : [];
		say([(e as Error).message, ...more].join(" "));
		return undefined;
	}
}
