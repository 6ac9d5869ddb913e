// SPDX-License-Identifier: Apache-2.0
// view.tsx - a transaction on a canvas: wheel and w/s zoom, drag and a/d move, arrows go from call to call.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ink } from "../base/colour";
import { brief, ns } from "../base/format";
import { Name, tell, Tip, useCanvas } from "../base/parts";
import { readable } from "../base/rule";
import { bounded, itemAt, key, layOut, Painter, ticks, type Layout, type Marks, type View } from "./paint";
import { firstAfter, lanesOf, RUNS, THREW, type Fold, type Lane, type Stretch, type Trace } from "./model";

export interface Span { from: number; to: number }

interface Props {
	trace: Trace;
	folded: Fold[];
	path: Stretch[];
	find: string;
	span: Span;
	onSpan: (s: Span) => void;
	chosen: number;
	onChoose: (call: number) => void;
	onUnfold: (f: Fold) => void;
	end?: number; // of the scale; that of the trace if not given
	label: string;
	class?: string;
}

function found(t: Trace, find: string): Uint8Array | null {
	if (!find) return null;
	const wanted = find.toLowerCase();
	return Uint8Array.from(t.names, ([n]) => n.toLowerCase().includes(wanted) ? 1 : 0);
}

interface Held { x: number; y: number; span: Span; top: number; moved: boolean; select: boolean }

export function TraceView(p: Props) {
	const rowHeight = Math.round(1.25 * parseFloat(getComputedStyle(document.documentElement).fontSize));
	const layout = useMemo(() => layOut(lanesOf(p.trace, p.folded), rowHeight), [p.trace, p.folded, rowHeight]);
	const hits = useMemo(() => found(p.trace, p.find), [p.trace, p.find]);
	const [tip, setTip] = useState<{ x: number; y: number; lane: Lane; item: number } | null>(null);
	const view = useRef<View>({ from: 0, to: 1, top: 0, width: 1, height: 1 }), held = useRef<Held | null>(null);
	const painter = useRef<{ of: Trace; ink: object; p: Painter } | null>(null), band = useRef<Span | null>(null);
	const live = useRef(p);
	live.current = p;
	const { ref, paint } = useCanvas((d) => {
		const v = view.current, marks: Marks = { chosen: live.current.chosen, found: hits, path: live.current.path };
		Object.assign(v, { width: d.width, height: d.height });
		v.top = Math.max(0, Math.min(v.top, layout.height - d.height));
		if (painter.current?.of !== live.current.trace || painter.current.ink !== ink.value)
			painter.current = { of: live.current.trace, ink: ink.value, p: new Painter(d.pen, live.current.trace, ink.value) };
		painter.current.p.paint(v, layout, marks);
		if (band.current) shade(d.pen, v, band.current);
	});
	view.current.from = p.span.from;
	view.current.to = p.span.to;
	const to = (from: number, end: number) => {
		[view.current.from, view.current.to] = bounded(from, end, p.end ?? p.trace.end);
		paint();
		p.onSpan({ from: view.current.from, to: view.current.to });
	};
	const zoom = (by: number, at = (view.current.from + view.current.to) / 2) => {
		const v = view.current;
		to(at - (at - v.from) * by, at + (v.to - at) * by);
	};
	const nsAt = (x: number) => view.current.from + x / view.current.width * (view.current.to - view.current.from);
	useEffect(() => {
		const c = ref.current!;
		const wheel = (e: WheelEvent) => {
			e.preventDefault();
			const v = view.current;
			if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
				const by = (e.deltaX || e.deltaY) / v.width * (v.to - v.from);
				to(v.from + by, v.to + by);
			} else {
				zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 300), nsAt(e.offsetX));
			}
		};
		c.addEventListener("wheel", wheel, { passive: false });
		return () => c.removeEventListener("wheel", wheel);
	}, [p.trace, layout]);
	const down = (e: PointerEvent) => {
		if (e.button !== 0) return;
		(e.currentTarget as Element).setPointerCapture(e.pointerId);
		held.current = { x: e.offsetX, y: e.offsetY, span: { ...p.span }, top: view.current.top, moved: false, select: e.shiftKey };
		setTip(null);
	};
	const moved = (e: PointerEvent) => {
		const h = held.current, v = view.current;
		if (!h) {
			const hit = itemAt(layout, v, e.offsetX, e.offsetY);
			setTip(hit ? { x: e.clientX, y: e.clientY, ...hit } : null);
			return;
		}
		h.moved ||= Math.abs(e.offsetX - h.x) + Math.abs(e.offsetY - h.y) > 3;
		if (!h.moved) return;
		if (h.select) {
			band.current = { from: nsAt(Math.min(h.x, e.offsetX)), to: nsAt(Math.max(h.x, e.offsetX)) };
			paint();
			return;
		}
		v.top = h.top - (e.offsetY - h.y);
		const by = (h.x - e.offsetX) / v.width * (h.span.to - h.span.from);
		to(h.span.from + by, h.span.to + by);
	};
	const up = (e: PointerEvent) => {
		const h = held.current;
		held.current = null;
		if (band.current) {
			const b = band.current;
			band.current = null;
			to(b.from, b.to);
		} else if (h && !h.moved) {
			const hit = itemAt(layout, view.current, e.offsetX, e.offsetY);
			if (hit?.lane.run?.[hit.item]) p.onUnfold(hit.lane.run[hit.item]!);
			else p.onChoose(hit ? hit.lane.call[hit.item]! : -1);
		}
	};
	const fit = (call: number) => {
		const t = p.trace, long = Math.max(t.elapsed[call]!, 10);
		to(t.begin[call]! - long * 0.03, t.begin[call]! + long * 1.03);
	};
	const choose = (call: number) => {
		if (call < 0) return;
		const t = p.trace, at = layout.lane.get(key(t.part[call]!, t.depth[call]!)), v = view.current;
		p.onChoose(call);
		tell(describe(t, call));
		if (at && (at.y < v.top || at.y + layout.row > v.top + v.height)) v.top = at.y - v.height / 2;
		const end = t.begin[call]! + t.elapsed[call]!;
		if (end < v.from || t.begin[call]! > v.to) to(t.begin[call]! - (v.to - v.from) / 2, t.begin[call]! + (v.to - v.from) / 2);
		paint();
	};
	const keys = (e: KeyboardEvent) => {
		const v = view.current, long = v.to - v.from, at = p.chosen;
		const does: Record<string, () => void> = {
			w: () => zoom(0.7), s: () => zoom(1 / 0.7), "+": () => zoom(0.7), "-": () => zoom(1 / 0.7),
			a: () => to(v.from - long / 8, v.to - long / 8), d: () => to(v.from + long / 8, v.to + long / 8),
			PageDown: () => { v.top += v.height * 0.8; paint(); }, PageUp: () => { v.top -= v.height * 0.8; paint(); },
			Escape: () => { p.onChoose(-1); to(0, p.end ?? p.trace.end); }, Enter: () => at >= 0 && fit(at),
			ArrowRight: () => choose(step(layout, p.trace, at, 1)), ArrowLeft: () => choose(step(layout, p.trace, at, -1)),
			ArrowDown: () => choose(at < 0 ? firstCall(layout) : childOf(layout, p.trace, at)),
			ArrowUp: () => choose(at < 0 ? firstCall(layout) : p.trace.path(at).slice(-2, -1)[0] ?? at),
		};
		if (e.ctrlKey || e.metaKey || e.altKey || !does[e.key]) return;
		e.preventDefault();
		does[e.key]!();
	};
	return <div class={"traceview " + (p.class ?? "")} style={{ maxHeight: Math.max(120, layout.height + rowHeight) + "px" }}>
		<canvas ref={ref} tabIndex={0} role="application" aria-roledescription="transaction" data-trace
			aria-label={p.label + ". Arrow keys go from call to call, w and s zoom, a and d move, Enter zooms to the call."}
			onPointerDown={down} onPointerMove={moved} onPointerUp={up} onPointerLeave={() => setTip(null)}
			onDblClick={() => p.chosen >= 0 ? fit(p.chosen) : to(0, p.end ?? p.trace.end)} onKeyDown={keys} />
		{tip && <Tip x={tip.x} y={tip.y}><CallTip trace={p.trace} lane={tip.lane} item={tip.item} /></Tip>}
	</div>;
}

function shade(pen: CanvasRenderingContext2D, v: View, b: Span): void {
	const x = (at: number) => (at - v.from) / (v.to - v.from) * v.width;
	pen.globalAlpha = 0.2;
	pen.fillStyle = ink.value.accent;
	pen.fillRect(x(b.from), 0, x(b.to) - x(b.from), v.height);
	pen.globalAlpha = 1;
}

// ---- from call to call ---------------------------------------------------------------------------------------

function firstCall(l: Layout): number {
	return l.lanes[0]?.lane.call[0] ?? -1;
}

function step(l: Layout, t: Trace, call: number, by: number): number {
	if (call < 0) return firstCall(l);
	const lane = l.lane.get(key(t.part[call]!, t.depth[call]!))?.lane;
	return lane?.call[lane.call.indexOf(call) + by] ?? call;
}

function childOf(l: Layout, t: Trace, call: number): number {
	const lane = l.lane.get(key(t.part[call]!, t.depth[call]! + 1))?.lane;
	const k = lane ? firstAfter(lane, t.begin[call]!) : 0, child = lane?.call[k];
	if (child !== undefined && t.begin[child]! <= t.begin[call]! + t.elapsed[call]!) return child;
	const part = t.parts.find((p) => p.fromCall === call && p.count > 0);
	return part ? part.first : call;
}

export function describe(t: Trace, call: number): string {
	return readable(brief(t.nameOf(call))).slice(0, 200) + ", " + ns(t.elapsed[call]!) + ", self " + ns(t.self[call]!) +
		(t.flags[call]! & THREW ? ", left by exception" : "");
}

function CallTip({ trace: t, lane, item }: { trace: Trace; lane: Lane; item: number }) {
	const call = lane.call[item]!, run = lane.run?.[item], facts = t.data.facts[call];
	return <>
		<b><Name text={readable(t.nameOf(call))} limit={300} /></b>
		<table><tbody>
			{run ? <tr><td>{run.count} calls</td><td>{ns(run.sum)} together</td></tr>
				: <><tr><td>took</td><td>{ns(t.elapsed[call]!)}, of it itself {ns(t.self[call]!)}</td></tr>
					<tr><td>began after</td><td>{ns(t.begin[call]!)}</td></tr></>}
			{facts && Object.entries(facts).slice(0, 12).map(([k, v]) =>
				<tr key={k}><td><Name text={k} limit={60} /></td><td><Name text={v} limit={400} /></td></tr>)}
		</tbody></table>
		{t.flags[call]! & THREW ? <div class="bad">left by exception</div> : null}
		{t.flags[call]! & RUNS ? <div class="warn">its end was not seen</div> : null}
		{t.conditional(call) ? <div class="faint">hooked only in a sequence of callers or under a condition</div> : null}
		{run && <div class="faint">a click unfolds them</div>}
	</>;
}

// ---- all of it, small ----------------------------------------------------------------------------------------

function paintSmall(pen: OffscreenCanvasRenderingContext2D, lanes: Lane[][], width: number, height: number, end: number): void {
	const c = ink.value, depths = Math.max(1, lanes.reduce((sum, l) => sum + l.length, 0));
	const high = (height - 16) / depths, scale = width / end;
	pen.fillStyle = c.back;
	pen.fillRect(0, 0, width, height);
	let y = 16;
	pen.fillStyle = c.faint;
	pen.globalAlpha = 0.6;
	for (const part of lanes) for (const lane of part) {
		let done = -1;
		for (let i = 0; i < lane.call.length; i++) {
			const right = lane.end[i]! * scale;
			if (right <= done) continue;
			const left = Math.max(done, lane.begin[i]! * scale);
			pen.fillRect(left, y, Math.max(0.75, right - left), Math.max(1, high - 0.5));
			done = Math.max(right, left + 0.75);
		}
		y += high;
	}
	pen.globalAlpha = 1;
	pen.font = c.font;
	pen.textBaseline = "top";
	for (const at of ticks(0, end, width / 140)) pen.fillText(ns(at), at * scale + 3, 2);
}

export function MiniMap(p: { trace: Trace; span: Span; onSpan: (s: Span) => void }) {
	const held = useRef<{ x: number } | null>(null), width = useRef(1);
	const lanes = useMemo(() => lanesOf(p.trace), [p.trace]);
	const kept = useRef<{ of: object[]; picture: OffscreenCanvas } | null>(null); // all but the frame
	const { ref } = useCanvas((d) => {
		const { pen } = d, c = ink.value, scale = d.width / p.trace.end;
		width.current = d.width;
		const of = [lanes, c, d.canvas.width, d.canvas.height] as object[];
		if (!kept.current || kept.current.of.some((o, i) => o !== of[i])) {
			const picture = new OffscreenCanvas(d.canvas.width, d.canvas.height), on = picture.getContext("2d", { alpha: false })!;
			on.scale(d.canvas.width / d.width, d.canvas.width / d.width);
			paintSmall(on, lanes, d.width, d.height, p.trace.end);
			kept.current = { of, picture };
		}
		pen.drawImage(kept.current.picture, 0, 0, d.width, d.height);
		pen.globalAlpha = 0.5;
		pen.fillStyle = c.back;
		pen.fillRect(0, 16, p.span.from * scale, d.height);
		pen.fillRect(p.span.to * scale, 16, d.width, d.height);
		pen.globalAlpha = 1;
		pen.strokeStyle = c.accent;
		pen.lineWidth = 2;
		pen.strokeRect(p.span.from * scale + 1, 17, Math.max(3, (p.span.to - p.span.from) * scale - 2), d.height - 18);
	});
	const at = (e: PointerEvent) => e.offsetX / width.current * p.trace.end;
	return <div class="mini"><canvas ref={ref} aria-hidden="true"
		onPointerDown={(e) => { held.current = { x: at(e) }; (e.currentTarget as Element).setPointerCapture(e.pointerId); }}
		onPointerMove={(e) => {
			if (!held.current || Math.abs(at(e) - held.current.x) < p.trace.end / 300) return;
			p.onSpan({ from: Math.min(held.current.x, at(e)), to: Math.max(held.current.x, at(e)) });
		}}
		onPointerUp={(e) => {
			if (held.current && Math.abs(at(e) - held.current.x) < p.trace.end / 300) {
				const long = p.span.to - p.span.from, [from, to] = bounded(at(e) - long / 2, at(e) + long / 2, p.trace.end);
				p.onSpan({ from, to });
			}
			held.current = null;
		}} /></div>;
}
