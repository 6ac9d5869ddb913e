// SPDX-License-Identifier: Apache-2.0
// findings.ts - what has changed, in words: the figures of a span of time against those of the span before it.
import { brief, ns, share } from "./format";

export interface Row {
	method: string;
	calls?: number;
	errors?: number;
	mean_ns?: number;
	total_ns?: number;
	stalls?: number;
}

export interface Finding { method: string; text: string; weight: number }

const ENOUGH = 20; // calls, to say anything of a method

// `span`: how the time before is called, "15 minutes".
export function findings(now: Row[], before: Row[], span: string): Finding[] {
	const old = new Map(before.map((r) => [r.method, r])), found: Finding[] = [];
	const all = Math.max(1, ...now.map((r) => r.total_ns ?? 0));
	for (const r of now) {
		const was = old.get(r.method);
		const add = (text: string, weight: number) => found.push({ method: r.method, text: brief(r.method) + " " + text, weight });
		const part = (r.total_ns ?? 0) / all;
		if (r.stalls) add("has " + r.stalls + (r.stalls === 1 ? " call" : " calls") + " running for 30 s or more.", 10);
		if (!was || (r.calls ?? 0) < ENOUGH || (was.calls ?? 0) < ENOUGH) continue;
		const ratio = (r.mean_ns ?? 0) / (was.mean_ns || Infinity);
		if (ratio >= 1.5 && part > 0.02)
			add("got " + ratio.toFixed(1) + " times slower: " + ns(r.mean_ns) + " on average, " + ns(was.mean_ns) +
				" in the " + span + " before.", ratio * part * 5);
		if (ratio > 0 && ratio <= 1 / 1.5 && part > 0.02)
			add("got " + (1 / ratio).toFixed(1) + " times faster: " + ns(r.mean_ns) + " on average, " + ns(was.mean_ns) +
				" in the " + span + " before.", part);
		const fail = (r.errors ?? 0) / r.calls!, failed = (was.errors ?? 0) / was.calls!;
		if (fail > 0.01 && fail > 2 * failed)
			add("fails more often: " + share(fail) + " of the calls end by exception, " + share(failed) + " before.", 3 + fail);
	}
	return found.sort((a, b) => b.weight - a.weight).slice(0, 4);
}
