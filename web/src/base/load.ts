// SPDX-License-Identifier: Apache-2.0
// load.ts - what a view asks of the manager, asked again when it changes or some seconds have passed.
import { useEffect, useRef, useState } from "preact/hooks";
import { arrivals } from "../api/live";

export interface Loaded<T> { data: T | undefined; error: string; again: () => void; loading: boolean }

// key: what the answer depends on; "" = do not ask.  every: ms, 0 = once.  topic: of live news that make it old.
export function useLoad<T>(key: string, ask: (signal: AbortSignal) => Promise<T>, every = 0, topic = ""): Loaded<T> {
	const [state, set] = useState<{ key: string; data?: T; error: string }>({ key: "", error: "" });
	const [turn, setTurn] = useState(0), latest = useRef(ask), busy = useRef(false), ended = useRef(0);
	latest.current = ask;
	useEffect(() => {
		if (!key) return;
		const stop = new AbortController();
		let timer = 0;
		const run = async () => {
			busy.current = true;
			try {
				const data = await latest.current(stop.signal);
				if (!stop.signal.aborted) set({ key, data, error: "" });
			} catch (e) {
				if (!stop.signal.aborted)
					set((old) => ({ key, data: old.key === key ? old.data : undefined, error: (e as Error).message }));
			}
			busy.current = false;
			ended.current = Date.now();
			if (every && !stop.signal.aborted) timer = window.setTimeout(run, document.hidden ? every * 4 : every);
		};
		void run();
		let soon = 0; // news may come many a second; they are followed every two
		const news = () => {
			soon ||= window.setTimeout(() => {
				soon = 0;
				if (busy.current) news();
				else setTurn((t) => t + 1);
			}, busy.current ? 2000 : Math.max(0, ended.current + 2000 - Date.now()));
		};
		const leave = topic ? arrivals(topic, news) : undefined;
		return () => {
			stop.abort();
			clearTimeout(timer);
			clearTimeout(soon);
			leave?.();
		};
	}, [key, every, topic, turn]);
	return { data: state.data, error: state.error, again: () => setTurn((t) => t + 1),
		loading: state.key !== key || (!state.data && !state.error) };
}
