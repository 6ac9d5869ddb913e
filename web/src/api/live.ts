// SPDX-License-Identifier: Apache-2.0
// live.ts - the manager's stream of news.  Views listen for a topic, and ask again when there is something new.
import { signal } from "@preact/signals";
import { api } from "./client";

export type Link = "live" | "connecting" | "away";

export const link = signal<Link>("connecting");

const TOPICS = ["instance", "figures", "plan", "status", "traces", "dig", "alert"];
const listeners = new Map<string, Set<() => void>>();

export function arrivals(topic: string, told: () => void): () => void {
	let all = listeners.get(topic);
	if (!all) listeners.set(topic, all = new Set());
	all.add(told);
	return () => { all.delete(told); };
}

function spread(topic: string): void {
	for (const told of listeners.get(topic) ?? []) told();
}

let source: EventSource | null = null, wait = 500, greeted = false;

export function follow(): void {
	source?.close();
	source = new EventSource(api.events);
	source.addEventListener("hello", () => {
		link.value = "live";
		wait = 500;
		if (greeted) for (const topic of listeners.keys()) spread(topic); // after a break all may be old
		greeted = true;
	});
	for (const topic of TOPICS) source.addEventListener(topic, () => spread(topic));
	source.onerror = () => {
		link.value = source?.readyState === EventSource.CLOSED ? "away" : "connecting";
		if (source?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
		setTimeout(follow, wait);
		wait = Math.min(wait * 2, 15000);
	};
}

// The lines of a dig, from its beginning.
export function followDig(id: string, line: (n: number, text: string) => void, done: () => void): () => void {
	const stream = new EventSource(api.digEvents(id));
	stream.addEventListener("line", (e) => {
		const { n, text } = JSON.parse((e as MessageEvent<string>).data) as { n: number; text: string };
		line(n, text);
	});
	stream.addEventListener("done", () => {
		stream.close();
		done();
	});
	return () => stream.close();
}
