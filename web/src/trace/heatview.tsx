// SPDX-License-Identifier: Apache-2.0
// heatview.tsx - transactions by time and duration.  Dragging over a part chooses it.
import { useRef, useState } from "preact/hooks";
import type { Heatmap } from "../api/types";
import { ink } from "../base/colour";
import { clock, count, ns } from "../base/format";
import { Tip, useCanvas } from "../base/parts";

export interface Chosen { from_ms: number; to_ms: number; min_ns: number; max_ns: number }

// Powers of ten between the bounds of rows, and how far up each is, 0 to 1.
export function decades(bounds: number[]): [number, number][] {
	const out: [number, number][] = [];
	for (let t = 1; t <= 1e13; t *= 10) {
		const r = bounds.findIndex((b) => b >= t), low = bounds[r - 1], high = bounds[r]!;
		if (r < 0 || (low === undefined && high !== t)) continue;
		const part = low === undefined ? 0 : Math.log(t / Math.max(1, low)) / Math.log(high / Math.max(1, low));
		out.push([t, (Math.max(0, r - 1) + part) / (bounds.length - 1)]);
	}
	return out;
}

const LEFT = 64, BELOW = 20; // for the axes, at the usual size of text

export function HeatView(p: { heat: Heatmap; onChoose: (c: Chosen) => void }) {
	const h = p.heat, rows = h.cells.length, columns = h.cells[0]?.length ?? 0;
	const most = Math.max(1, ...h.cells.map((r) => Math.max(0, ...r)));
	const box = useRef({ width: 1, height: 1, left: LEFT, below: BELOW }), held = useRef<{ x: number; y: number } | null>(null);
	const [band, setBand] = useState<[number, number, number, number] | null>(null);
	const [tip, setTip] = useState<{ x: number; y: number; row: number; column: number } | null>(null);
	const { ref } = useCanvas((d) => {
		const { pen } = d, c = ink.value, letter = parseFloat(c.font) / 12;
		const left = LEFT * letter, below = BELOW * letter, width = d.width - left, height = d.height - below;
		box.current = { width, height, left, below };
		pen.fillStyle = c.raised;
		pen.fillRect(0, 0, d.width, d.height);
		pen.fillStyle = c.line;
		for (const [, up] of decades(h.bounds_ns)) pen.fillRect(left - 4, Math.round(height - up * height), d.width, 1);
		pen.fillStyle = c.accent;
		for (let r = 0; r < rows; r++) for (let k = 0; k < columns; k++) {
			const n = h.cells[r]![k]!;
			if (!n) continue;
			pen.globalAlpha = 0.18 + 0.82 * Math.log1p(n) / Math.log1p(most);
			const x = left + k * width / columns, y = height - (r + 1) * height / rows;
			pen.fillRect(x, y, Math.max(1, width / columns - 0.5), Math.max(1, height / rows - 0.5));
		}
		pen.globalAlpha = 1;
		pen.font = c.font;
		pen.fillStyle = c.faint;
		pen.textBaseline = "middle";
		for (const [t, up] of decades(h.bounds_ns)) {
			pen.fillText(ns(t), 2, Math.max(7 * letter, Math.min(height - 4, height - up * height)));
		}
		for (let k = 0; k <= 6; k++) {
			const at = h.from_ms + (h.to_ms - h.from_ms) * k / 6, text = clock(at), wide = pen.measureText(text).width;
			pen.fillText(text, Math.max(left, Math.min(d.width - wide - 2, left + width * k / 6 - wide / 2)), d.height - below / 2);
		}
		if (band) {
			pen.strokeStyle = c.warn;
			pen.lineWidth = 2;
			pen.strokeRect(band[0], band[1], band[2] - band[0], band[3] - band[1]);
		}
	});
	const cell = (x: number, y: number) => {
		const b = box.current;
		return { column: Math.max(0, Math.min(columns - 1, Math.floor((x - b.left) / b.width * columns))),
			row: Math.max(0, Math.min(rows - 1, Math.floor((b.height - y) / b.height * rows))) };
	};
	const choose = (x0: number, y0: number, x1: number, y1: number) => {
		const a = cell(Math.min(x0, x1), Math.max(y0, y1)), b = cell(Math.max(x0, x1), Math.min(y0, y1));
		const step = (h.to_ms - h.from_ms) / columns;
		p.onChoose({ from_ms: h.from_ms + a.column * step, to_ms: h.from_ms + (b.column + 1) * step,
			min_ns: a.row === 0 ? 0 : h.bounds_ns[a.row] ?? 0, max_ns: b.row === rows - 1 ? Infinity : h.bounds_ns[b.row + 1] ?? Infinity });
	};
	return <div class="heat">
		<canvas ref={ref} role="img" data-heat aria-label={"Heat map: " + count(h.total) + " transactions by time and duration. The filters above choose the same."}
			onPointerDown={(e) => {
				held.current = { x: e.offsetX, y: e.offsetY };
				(e.currentTarget as Element).setPointerCapture(e.pointerId);
			}}
			onPointerMove={(e) => {
				const at = held.current;
				if (at) setBand([Math.min(at.x, e.offsetX), Math.min(at.y, e.offsetY), Math.max(at.x, e.offsetX), Math.max(at.y, e.offsetY)]);
				else setTip({ x: e.clientX, y: e.clientY, ...cell(e.offsetX, e.offsetY) });
			}}
			onPointerUp={(e) => {
				const at = held.current;
				held.current = null;
				setBand(null);
				if (at) choose(at.x, at.y, e.offsetX, e.offsetY);
			}}
			onPointerLeave={() => setTip(null)} />
		{tip && !band && (h.cells[tip.row]?.[tip.column] ?? 0) > 0 && <Tip x={tip.x} y={tip.y}>
			<b>{count(h.cells[tip.row]![tip.column]!)} transactions</b>
			<div>{ns(h.bounds_ns[tip.row])} to {ns(h.bounds_ns[tip.row + 1])}</div>
			<div class="faint">{clock(h.from_ms + tip.column * (h.to_ms - h.from_ms) / columns)}; drag to choose a part</div></Tip>}
	</div>;
}
