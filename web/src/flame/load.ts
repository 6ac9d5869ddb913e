// SPDX-License-Identifier: Apache-2.0
// load.ts - from the manager's sampled frames to stacks; which states of threads count is the reader's choice.
import type { HotFrame } from "../api/types";
import { KIND, type Stacks } from "./model";

export const STATES = ["running", "in_native", "blocked", "waiting", "parked", "sleeping"] as const;
export type State = typeof STATES[number];

export function stacksOf(frames: HotFrame[], states: State[]): Stacks {
	const at = new Map<string, number>(), names: string[] = [], kinds: number[] = [];
	const name = frames.map((f) => {
		let i = at.get(f.method);
		if (i === undefined) {
			at.set(f.method, i = names.push(f.method) - 1);
			kinds.push(f.native ? KIND.native : KIND.java);
		}
		return i;
	});
	return { names, kinds, name, depth: frames.map((f) => f.depth),
		self: frames.map((f) => states.reduce((sum, s) => sum + (f[s] ?? 0), 0)) };
}
