// SPDX-License-Identifier: Apache-2.0
// view.tsx - a flame graph (or icicle) that is zoomed by clicks and walked by arrow keys.
import { useEffect, useRef, useState } from "preact/hooks";
import { ink } from "../base/colour";
import { points, share } from "../base/format";
import { Name, tell, Tip, useCanvas } from "../base/parts";
import { frameName } from "./samples";
import { frameAt, paintFlame, rowOf, type FlameView } from "./paint";
import type { Flame } from "./model";

interface Props { flame: Flame; find: string; upward: boolean; chosen: number; onChoose: (node: number) => void; label: string; class?: string;
	unit: (weight: number) => string }

export function FlameGraph(p: Props) {
	const row = Math.round(1.25 * parseFloat(getComputedStyle(document.documentElement).fontSize));
	const [root, setRoot] = useState(-1), [tip, setTip] = useState<{ x: number; y: number; node: number } | null>(null);
	const view = useRef<FlameView>({ root: -1, width: 1, height: 1, top: 0, row, upward: p.upward });
	const { ref, paint } = useCanvas((d) => {
		const v = view.current, deep = (p.flame.deepest + 1) * row;
		Object.assign(v, { width: d.width, height: d.height, row, root, upward: p.upward });
		v.top = deep < d.height ? p.upward ? deep - d.height : 0 : Math.max(0, Math.min(v.top, deep - d.height));
		const wanted = p.find.toLowerCase();
		const found = wanted ? Uint8Array.from(p.flame.of.names, (n) => n.toLowerCase().includes(wanted) ? 1 : 0) : null;
		paintFlame(d.pen, p.flame, v, ink.value, p.chosen, found);
	});
	useEffect(() => {
		setRoot(-1);
		view.current.top = p.upward ? 1e9 : 0;
	}, [p.flame, p.upward]);
	useEffect(() => {
		const c = ref.current!;
		const wheel = (e: WheelEvent) => {
			const v = view.current, before = v.top, deep = (p.flame.deepest + 1) * row;
			v.top = Math.max(0, Math.min(v.top + e.deltaY, deep - v.height));
			if (v.top !== before && deep > v.height) e.preventDefault();
			paint();
		};
		c.addEventListener("wheel", wheel, { passive: false });
		return () => c.removeEventListener("wheel", wheel);
	}, [p.flame, row]);
	const choose = (i: number) => {
		if (i < 0 || i >= p.flame.forest.n) return;
		p.onChoose(i);
		tell(words(p.flame, i));
		const v = view.current, y = rowOf(p.flame, v, p.flame.forest.depth[i]!);
		if (y < 0 || y > v.height - row) v.top += y - v.height / 2;
	};
	const keys = (e: KeyboardEvent) => {
		const f = p.flame.forest, at = p.chosen;
		const does: Record<string, () => void> = {
			Enter: () => setRoot(at), Escape: () => { setRoot(-1); p.onChoose(-1); },
			[p.upward ? "ArrowUp" : "ArrowDown"]: () => choose(at < 0 ? 0 : f.hasChildren(at) ? widest(p.flame, at) : at),
			[p.upward ? "ArrowDown" : "ArrowUp"]: () => choose(at < 0 ? 0 : Math.max(0, f.parent[at]!)),
			ArrowRight: () => choose(at < 0 ? 0 : sibling(p.flame, at, 1)), ArrowLeft: () => choose(at < 0 ? 0 : sibling(p.flame, at, -1)),
		};
		if (e.ctrlKey || e.metaKey || e.altKey || !does[e.key]) return;
		e.preventDefault();
		does[e.key]!();
	};
	return <div class={"flameview " + (p.class ?? "")} style={{ maxHeight: Math.max(60, (p.flame.deepest + 2) * row) + "px" }}>
		<canvas ref={ref} tabIndex={0} role="application" aria-roledescription="flame graph" data-flame
			aria-label={p.label + ". Arrow keys go from frame to frame, Enter zooms to one, Escape shows all."} onKeyDown={keys}
			onPointerMove={(e) => {
				const node = frameAt(p.flame, view.current, e.offsetX, e.offsetY);
				setTip(node < 0 ? null : { x: e.clientX, y: e.clientY, node });
			}} onPointerLeave={() => setTip(null)}
			onClick={(e) => p.onChoose(frameAt(p.flame, view.current, e.offsetX, e.offsetY))}
			onDblClick={(e) => setRoot(frameAt(p.flame, view.current, e.offsetX, e.offsetY))} />
		{tip && tip.node < p.flame.forest.n && <Tip x={tip.x} y={tip.y}><b><Name text={frameName(p.flame.nameOf(tip.node), p.flame.of.kinds[p.flame.of.name[tip.node]!]!)} title={p.flame.nameOf(tip.node)} limit={300} /></b>
			<div>{p.unit(p.flame.total[tip.node]!)}, {share(p.flame.total[tip.node]! / p.flame.all)}; itself {share(p.flame.of.self[tip.node]! / p.flame.all)}</div>
			{p.flame.before && <div>{points(p.flame.change(tip.node))}</div>}
			<div class="faint">click: choose, double click: zoom</div></Tip>}
	</div>;
}

function words(f: Flame, i: number): string {
	return frameName(f.nameOf(i), f.of.kinds[f.of.name[i]!]!).slice(0, 200) + ", " + share(f.total[i]! / f.all) + ", itself " + share(f.of.self[i]! / f.all) +
		(f.before ? ", " + points(f.change(i)) : "");
}

function widest(f: Flame, i: number): number {
	let best = i + 1;
	for (let k = i + 1; k < f.forest.end[i]!; k = f.forest.end[k]!) if (f.total[k]! > f.total[best]!) best = k;
	return best;
}

function sibling(f: Flame, i: number, by: number): number {
	const up = f.forest.parent[i]!, end = up < 0 ? f.forest.n : f.forest.end[up]!;
	if (by > 0) return f.forest.end[i]! < end ? f.forest.end[i]! : i;
	for (let k = up + 1; k < i; k = f.forest.end[k]!) if (f.forest.end[k] === i) return k;
	return i;
}
