// SPDX-License-Identifier: Apache-2.0
// paint.ts - draws lanes of calls.  What is narrower than some pixels is drawn together with its neighbours, so
// a picture costs what its pixels cost, however many calls there are.
import { className, brief, ns, visible } from "../base/format";
import { methodColour, type Ink } from "../base/colour";
import { firstAfter, NEVER, RUNS, THREW, type Lane, type Trace } from "./model";

export interface View {
	from: number; // ns, at the left edge
	to: number;
	top: number; // pixels scrolled down
	width: number;
	height: number;
}

export interface Placed { lane: Lane; y: number }
export interface Heading { part: number; y: number }

export interface Layout {
	lanes: Placed[];
	headings: Heading[];
	height: number;
	row: number;
	lane: Map<number, Placed>; // by part * 65536 + depth
}

export const key = (part: number, depth: number) => part * 65536 + depth;

// Where each lane stands; `row` is the height of one.
export function layOut(lanes: Lane[][], row: number): Layout {
	const out: Layout = { lanes: [], headings: [], height: 0, row, lane: new Map() };
	let y = 4;
	lanes.forEach((depths, part) => {
		out.headings.push({ part, y });
		y += row + 2;
		for (const lane of depths) {
			const placed = { lane, y };
			out.lanes.push(placed);
			out.lane.set(key(part, lane.depth), placed);
			y += row;
		}
		y += 8;
	});
	out.height = y;
	return out;
}

// Colours and labels by number of the name, made when first wanted.
export class Colours {
	private made: string[] = [];
	private written: string[] = [];
	constructor(private t: Trace, private ink: Ink) {}
	label(name: number): string {
		return this.written[name] ??= clean(brief(this.t.names[name]?.[0] ?? "?"));
	}
	of(name: number): string {
		return this.made[name] ??= methodColour(className(this.t.names[name]?.[0] ?? "?"),
			this.t.names[name]?.[0] ?? "?", this.ink.dark);
	}
}

export interface Marks {
	chosen: number; // a call, or -1
	found: Uint8Array | null; // by name: drawn as it is; others fade
	path: { call: number; from: number; to: number }[]; // critical
}

export class Painter {
	private colours: Colours;
	private letter: number;

	constructor(private pen: CanvasRenderingContext2D, private t: Trace, private ink: Ink) {
		this.colours = new Colours(t, ink);
		pen.font = ink.font;
		this.letter = pen.measureText("Catalog.adjust 4.20 ms").width / 21;
	}

	paint(v: View, l: Layout, m: Marks): void {
		const { pen, ink } = this;
		pen.font = ink.font;
		pen.textBaseline = "middle";
		pen.fillStyle = ink.back;
		pen.fillRect(0, 0, v.width, v.height);
		this.grid(v);
		this.links(v, l);
		for (const h of l.headings) {
			const y = h.y - v.top;
			if (y > -l.row && y < v.height) this.heading(h.part, y, v, l.row);
		}
		for (const p of l.lanes) {
			const y = p.y - v.top;
			if (y > -l.row && y < v.height) this.lane(p.lane, y, v, l.row, m);
		}
		this.critical(v, l, m);
		this.frame(v, l, m.chosen);
	}

	private grid(v: View): void {
		const { pen, ink } = this;
		pen.fillStyle = ink.line;
		for (const at of ticks(v.from, v.to, v.width / 120))
			pen.fillRect(Math.round(this.x(at, v)), 0, 1, v.height);
	}

	private x(at: number, v: View): number {
		return (at - v.from) / (v.to - v.from) * v.width;
	}

	private heading(part: number, y: number, v: View, row: number): void {
		const p = this.t.parts[part]!, { pen, ink } = this;
		let text = p.thread || "(not begun)";
		if (p.fromPart >= 0)
			text += p.flags & NEVER ? ", handed over, not begun"
				: ", queued " + ns(p.begin_ns - p.submitted_ns) + ", ran " + ns(p.end_ns - p.begin_ns);
		if (p.fromPart >= 0) {
			pen.fillStyle = ink.warn;
			const left = Math.max(0, this.x(p.submitted_ns, v)), right = Math.min(v.width, this.x(p.begin_ns, v));
			for (let x = left; x < right; x += 5) pen.fillRect(x, y + row - 1, 2, 2);
		}
		pen.fillStyle = ink.back;
		pen.fillRect(4, y + 2, pen.measureText(clean(text)).width + 6, row - 5);
		pen.fillStyle = ink.faint;
		pen.fillText(clean(text), 6, y + row / 2);
	}

	private lane(l: Lane, y: number, v: View, row: number, m: Marks): void {
		const { pen, t } = this, scale = v.width / (v.to - v.from), high = row - 2;
		let i = firstAfter(l, v.from);
		while (i < l.call.length) {
			const call = l.call[i]!, left = (l.begin[i]! - v.from) * scale;
			if (left > v.width) break;
			let right = (l.end[i]! - v.from) * scale;
			if (right - left < 3) {
				const from = i;
				let threw = 0, x = left;
				for (; i < l.call.length; i++) { // as long as they are small and close
					const b = (l.begin[i]! - v.from) * scale, e = (l.end[i]! - v.from) * scale;
					if (e - b >= 3 || b - x > 2 || x - left >= 48) break;
					x = Math.max(x, e);
					threw |= t.flags[l.call[i]!]! & THREW;
				}
				if (i === from) i++;
				pen.globalAlpha = m.found && !m.found[t.name[call]!] ? 0.2 : 1;
				pen.fillStyle = this.colours.of(t.name[call]!);
				pen.fillRect(left, y + 1, Math.max(1, x - left), high);
				if (threw) {
					pen.fillStyle = this.ink.bad;
					pen.fillRect(left, y + 1, Math.max(1, x - left), 3);
				}
				continue;
			}
			pen.globalAlpha = m.found && !m.found[t.name[call]!] ? 0.2 : 1;
			this.call(l, i, Math.max(left, -4), Math.min(right, v.width + 4), y, high);
			i++;
		}
		pen.globalAlpha = 1;
	}

	private call(l: Lane, i: number, left: number, right: number, y: number, high: number): void {
		const { pen, ink, t } = this, call = l.call[i]!, run = l.run?.[i];
		const threw = run ? run.threw : (t.flags[call]! & THREW) !== 0, wide = right - left - 1;
		pen.fillStyle = this.colours.of(t.name[call]!);
		pen.fillRect(left, y + 1, wide, high);
		if (threw) {
			pen.fillStyle = ink.bad;
			pen.fillRect(left, y + 1, Math.min(4, wide), high);
		}
		if (run) { // a stack of cards
			pen.fillStyle = ink.back;
			pen.fillRect(left, y + high - 3, wide, 1);
		}
		if (t.conditional(call)) this.dashed(left, y, wide, high);
		if (wide < 28) return;
		let text = (run ? run.count + " × " : "") + this.colours.label(t.name[call]!) + "  " + ns(run ? run.sum : t.elapsed[call]!);
		if (t.flags[call]! & RUNS) text += " …";
		const from = Math.max(left, 0) + (threw ? 8 : 5), room = Math.floor((right - from - 4) / this.letter);
		if (room < 3) return;
		pen.fillStyle = ink.text;
		pen.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, from, y + 1 + high / 2);
	}

	private dashed(left: number, y: number, wide: number, high: number): void {
		const { pen } = this;
		pen.strokeStyle = this.ink.accent;
		pen.lineWidth = 1.5;
		pen.setLineDash([5, 3]);
		pen.strokeRect(left + 0.75, y + 1.75, wide - 1.5, high - 1.5);
		pen.setLineDash([]);
	}

	private critical(v: View, l: Layout, m: Marks): void {
		const { pen, t } = this;
		pen.fillStyle = this.ink.warn;
		for (const s of m.path) {
			if (s.to < v.from || s.from > v.to) continue;
			const at = l.lane.get(key(t.part[s.call]!, t.depth[s.call]!));
			if (!at) continue;
			const y = at.y - v.top + l.row - 4;
			if (y < -4 || y > v.height) continue;
			const left = Math.max(0, this.x(s.from, v)), right = Math.min(v.width, this.x(s.to, v));
			if (right - left >= 0.4) pen.fillRect(left, y, Math.max(1, right - left), 3);
		}
	}

	// From the call that handed work over down to where it began.
	private links(v: View, l: Layout): void {
		const { pen, t } = this;
		pen.strokeStyle = this.ink.faint;
		pen.lineWidth = 1;
		t.parts.forEach((p, k) => {
			const from = p.fromCall >= 0 ? l.lane.get(key(t.part[p.fromCall]!, t.depth[p.fromCall]!)) : undefined;
			const to = l.lane.get(key(k, 0));
			if (!from || !to) return;
			const x = this.x(p.submitted_ns, v), y = from.y - v.top + l.row - 1, end = to.y - v.top - l.row / 2;
			if (x < 0 || x > v.width || end < 0 || y > v.height) return;
			pen.beginPath();
			pen.moveTo(Math.round(x) + 0.5, y);
			pen.lineTo(Math.round(x) + 0.5, end);
			pen.lineTo(Math.round(this.x(p.begin_ns, v)) + 0.5, end);
			pen.lineTo(Math.round(this.x(p.begin_ns, v)) + 0.5, to.y - v.top);
			pen.stroke();
		});
	}

	private frame(v: View, l: Layout, call: number): void {
		if (call < 0) return;
		const { pen, t } = this, at = l.lane.get(key(t.part[call]!, t.depth[call]!));
		if (!at) return;
		const left = this.x(t.begin[call]!, v), right = this.x(t.begin[call]! + t.elapsed[call]!, v);
		pen.strokeStyle = this.ink.accent;
		pen.lineWidth = 2.5;
		pen.strokeRect(Math.max(-4, left), at.y - v.top, Math.max(3, Math.min(right, v.width + 4) - Math.max(-4, left)),
			l.row - 1);
	}
}

export function clean(text: string): string {
	return text.length > 400 ? visible(text.slice(0, 400)) + "…" : visible(text);
}

// Round points of time, about `n` of them.
export function ticks(from: number, to: number, n: number): number[] {
	const raw = (to - from) / Math.max(1, n), size = 10 ** Math.floor(Math.log10(raw));
	const step = size * (raw / size > 5 ? 10 : raw / size > 2 ? 5 : raw / size > 1 ? 2 : 1), out = [];
	for (let at = Math.ceil(from / step) * step; at <= to && out.length < 200; at += step) out.push(at);
	return out;
}

// The item under a point, with some slack for what is thin.
export function itemAt(l: Layout, v: View, x: number, y: number): { lane: Lane; item: number } | null {
	const placed = l.lanes.find((p) => y + v.top >= p.y && y + v.top < p.y + l.row);
	if (!placed) return null;
	const perPixel = (v.to - v.from) / v.width, at = v.from + x * perPixel, lane = placed.lane;
	for (let i = firstAfter(lane, at - 2 * perPixel); i < lane.call.length; i++) {
		if (lane.begin[i]! > at + 2 * perPixel) break;
		if (lane.end[i]! >= at - 2 * perPixel) return { lane, item: i };
	}
	return null;
}

// Moves and sizes a view so that it stays within 0..end.
export function bounded(from: number, to: number, end: number): [number, number] {
	const least = 10;
	if (to - from < least) {
		const mid = (from + to) / 2;
		from = mid - least / 2;
		to = mid + least / 2;
	}
	if (to - from >= end) return [0, end];
	if (from < 0) return [0, to - from];
	return to > end ? [from - (to - end), end] : [from, to];
}
