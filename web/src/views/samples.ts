// SPDX-License-Identifier: Apache-2.0
// samples.ts - looks at processes that were taken on this page: they stay while it is open.
import { signal } from "@preact/signals";
import { api, Refusal } from "../api/client";
import { clock, ns } from "../base/format";
import { samplesOf, samplesOfFrames, type Samples, type State } from "../flame/samples";
import { attempt } from "../state";

export const WORDS: Record<State, string> = { running: "running", calls: "in system calls", blocked: "blocked", waiting: "waiting", parked: "parked",
	sleeping: "sleeping" };

const KEPT = 20;
export const kept = signal<Samples[]>([]); // the newest first

export function keep(s: Samples): void {
	kept.value = [s, ...kept.value].slice(0, KEPT);
}

// An agent that may not sample (a filter of system calls) looks at safepoints instead.
async function take(instance: string, seconds: number, mode: "cpu" | "wall"): Promise<Samples> {
	try {
		return samplesOf(await api.stacks(instance, { seconds, mode }), Date.now());
	} catch (e) {
		if (!(e instanceof Refusal) || e.status !== 400) throw e;
		return samplesOfFrames(await api.hotspots(instance, seconds), Date.now());
	}
}

export const look = (instance: string, seconds: number, mode: "cpu" | "wall") => attempt(take(instance, seconds, mode));

export function nameOfLook(s: Samples, instances: { id: string; pid?: number }[]): string {
	const pid = instances.find((i) => i.id === s.instance)?.pid;
	return clock(s.at_ms) + ", " + (pid ? "pid " + pid : s.instance.slice(0, 30)) + ", " + ns(s.wall_ns);
}
