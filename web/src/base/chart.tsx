// SPDX-License-Identifier: Apache-2.0
// chart.tsx - curves over time.  All charts of a page share the cursor, and dragging over one of them sets the
// time for all.
import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import { ink } from "./colour";
import { clock, moment } from "./format";
import { Panel } from "./parts";

export interface Curve { label: string; values: (number | null)[]; colour: "accent" | "warn" | "bad" | "faint" | "good"; fill?: boolean }

export function Chart(props: { title: string; times: number[]; curves: Curve[]; unit: (v: number | null) => string;
	onSpan?: (from_ms: number, to_ms: number) => void; from_ms: number; to_ms: number; words?: string }) {
	const box = useRef<HTMLDivElement>(null), plot = useRef<uPlot | null>(null);
	const latest = useRef(props);
	latest.current = props;
	const colours = ink.value, labels = props.curves.map((c) => c.label).join("\0");
	useEffect(() => {
		const at = box.current!;
		const made = new uPlot(options(at, latest), data(latest.current), at);
		plot.current = made;
		const watch = new ResizeObserver(() => {
			if (at.clientWidth > 0 && at.clientWidth !== made.width) made.setSize({ width: at.clientWidth, height: 150 });
		});
		watch.observe(at);
		return () => {
			watch.disconnect();
			made.destroy();
			plot.current = null;
		};
	}, [colours, labels]);
	useEffect(() => { plot.current?.setData(data(props), true); }, [props.times, props.curves, props.from_ms, props.to_ms]);
	return <Panel title={props.title}>
		<div class="chart" ref={box} role="img" aria-label={props.title + ": " + (props.words ?? "")} />
	</Panel>;
}

function data(p: { times: number[]; curves: Curve[] }): uPlot.AlignedData {
	return [p.times.map((t) => t / 1000), ...p.curves.map((c) => c.values)] as uPlot.AlignedData;
}

interface Latest { current: { curves: Curve[]; unit: (v: number | null) => string; from_ms: number; to_ms: number;
	onSpan?: (from_ms: number, to_ms: number) => void } }

function timeLabel(ms: number, p: { from_ms: number; to_ms: number }): string {
	const text = moment(ms), long = p.to_ms - p.from_ms;
	return long > 2 * 86400e3 ? text.slice(5, 10) : long > 300e3 ? text.slice(11, 16) : text.slice(11);
}

function options(at: HTMLElement, latest: Latest): uPlot.Options {
	const c = ink.value, axis = { stroke: c.faint, grid: { stroke: c.line, width: 1 }, ticks: { show: false },
		font: c.font };
	const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
	return {
		width: Math.max(100, at.clientWidth), height: 150, padding: [8, 22, 0, 0],
		cursor: { sync: { key: "sonde" }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
		scales: { x: { time: true, range: () => [latest.current.from_ms / 1000, latest.current.to_ms / 1000] },
			y: { range: (_u, _low, high) => [0, high > 0 ? high * 1.12 : 1] } },
		axes: [{ ...axis, size: size * 1.6, space: size * 4.5, values: (_u, at) => at.map((t) => timeLabel(t * 1000, latest.current)) }, { ...axis, size: size * 4.4, space: size * 2.2,
			values: (_u, splits) => splits.map((v) => latest.current.unit(v)) }],
		series: [{ value: (_u, v) => v == null ? "" : clock(v * 1000) }, ...latest.current.curves.map((curve) => ({
			label: curve.label, stroke: c[curve.colour], width: 1.75, points: { show: false }, spanGaps: false,
			fill: curve.fill ? c[curve.colour].replace("rgb(", "rgba(").replace(")", ", 0.14)") : undefined,
			value: (_u: uPlot, v: number | null) => v == null ? "-" : latest.current.unit(v),
		}))],
		hooks: { setSelect: [(u) => {
			if (u.select.width < 4) return;
			const from = u.posToVal(u.select.left, "x") * 1000, to = u.posToVal(u.select.left + u.select.width, "x") * 1000;
			u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
			latest.current.onSpan?.(from, to);
		}] },
	};
}
