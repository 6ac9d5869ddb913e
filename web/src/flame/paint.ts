// SPDX-License-Identifier: Apache-2.0
// paint.ts - draws a tree of samples: as wide as their number, one row a frame.
import { brief, className } from "../base/format";
import { methodColour, type Ink } from "../base/colour";
import { clean } from "../trace/paint";
import { KIND, type Flame } from "./model";

export interface FlameView {
	root: number; // a node that fills the width, -1: all
	width: number;
	height: number;
	top: number;
	row: number;
	upward: boolean; // the outermost frame at the bottom
}

export function extent(f: Flame, root: number): [number, number] {
	return root < 0 ? [0, Math.max(1, f.all)] : [f.left[root]!, Math.max(1e-9, f.total[root]!)];
}

export function rowOf(f: Flame, v: FlameView, depth: number): number {
	const y = depth * v.row;
	return v.upward ? (f.deepest + 1) * v.row - y - v.row - v.top : y - v.top;
}

export function paintFlame(pen: CanvasRenderingContext2D, f: Flame, v: FlameView, ink: Ink, chosen: number,
	found: Uint8Array | null): void {
	const [from, width] = extent(f, v.root), scale = v.width / width;
	pen.font = ink.font;
	pen.textBaseline = "middle";
	pen.fillStyle = ink.back;
	pen.fillRect(0, 0, v.width, v.height);
	const letter = pen.measureText("Catalog.adjust 4.20 ms").width / 21;
	for (let i = 0; i < f.forest.n; i++) {
		const left = (f.left[i]! - from) * scale, wide = f.total[i]! * scale;
		if (wide < 0.5 || left >= v.width || left + wide <= 0) {
			i = f.forest.end[i]! - 1;
			continue;
		}
		const y = rowOf(f, v, f.forest.depth[i]!);
		if (y < -v.row || y > v.height) continue;
		frame(pen, f, i, Math.max(0, left), Math.min(v.width, left + wide), y, v, ink, found, letter);
	}
	if (chosen >= 0) {
		const left = Math.max(0, (f.left[chosen]! - from) * scale);
		pen.strokeStyle = ink.accent;
		pen.lineWidth = 2.5;
		pen.strokeRect(left + 1, rowOf(f, v, f.forest.depth[chosen]!) + 1,
			Math.max(2, Math.min(v.width - left, f.total[chosen]! * scale) - 2), v.row - 2);
	}
}

// More than before is red, less is blue, as strong as the change.
export function changeColour(part: number, dark: boolean): string {
	const strength = Math.min(1, Math.sqrt(Math.abs(part)));
	const hue = part > 0 ? 4 : 212, colour = strength < 0.05 ? 0 : dark ? 30 + 40 * strength : 40 + 50 * strength;
	return dark ? `hsl(${hue} ${colour}% ${24 + 14 * strength}%)` : `hsl(${hue} ${colour}% ${93 - 20 * strength}%)`;
}

export function frameColour(kind: number, name: string, dark: boolean): string {
	if (kind === KIND.kernel) return dark ? "hsl(28 50% 34%)" : "hsl(28 80% 80%)";
	if (kind === KIND.native || kind === KIND.jvm) return dark ? "hsl(48 40% 30%)" : "hsl(48 75% 78%)";
	return methodColour(className(name), name, dark);
}

const strongestOf = new WeakMap<Flame, number>();

function strongest(f: Flame): number {
	let most = strongestOf.get(f) ?? 0;
	if (!most) {
		for (let i = 0; i < f.forest.n; i++) most = Math.max(most, Math.abs(f.change(i)));
		strongestOf.set(f, most ||= 1);
	}
	return most;
}

function frame(pen: CanvasRenderingContext2D, f: Flame, i: number, left: number, right: number, y: number,
	v: FlameView, ink: Ink, found: Uint8Array | null, letter: number): void {
	const name = f.of.name[i]!, text = f.nameOf(i), wide = right - left;
	pen.globalAlpha = found && !found[name] ? 0.25 : 1;
	pen.fillStyle = f.before ? changeColour(f.change(i) / strongest(f), ink.dark) : frameColour(f.of.kinds[name] ?? 0, text, ink.dark);
	pen.fillRect(left, y, Math.max(0.5, wide - (wide > 3 ? 1 : 0)), v.row - 1);
	const room = Math.floor((wide - 8) / letter);
	if (room >= 3) {
		const label = f.of.kinds[name] === KIND.java ? brief(text) : text;
		pen.fillStyle = ink.text;
		pen.fillText(clean(label.length > room ? label.slice(0, room - 1) + "…" : label), left + 4, y + v.row / 2, wide - 6);
	}
	pen.globalAlpha = 1;
}

export function frameAt(f: Flame, v: FlameView, x: number, y: number): number {
	const [from, width] = extent(f, v.root), at = from + x / v.width * width;
	for (let i = 0; i < f.forest.n;) {
		if (at < f.left[i]! || at >= f.left[i]! + f.total[i]!) {
			i = f.forest.end[i]!;
			continue;
		}
		const row = rowOf(f, v, f.forest.depth[i]!);
		if (y >= row && y < row + v.row) return i;
		i++;
	}
	return -1;
}
