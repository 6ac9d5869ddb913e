// SPDX-License-Identifier: Apache-2.0
// tree.tsx - a tree on the screen: only the rows in view exist.  Keys as in the tree view pattern of ARIA.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Forest } from "./model";
import { windowOf } from "./model";

interface Props {
	forest: Forest;
	rows: Int32Array; // what is open
	label: string;
	head: ComponentChildren;
	chosen: number;
	selectable: (i: number) => boolean;
	onChoose: (i: number) => void;
	onTwist: (i: number) => void;
	onSpace: (i: number) => void;
	canOpen: (i: number) => boolean;
	checked: (i: number) => boolean | "mixed";
	who: (i: number) => ComponentChildren; // the first column
	cells: (i: number) => ComponentChildren; // the others
	nodeClass: (i: number) => string;
}

function rowHeight(): number {
	return 1.625 * parseFloat(getComputedStyle(document.documentElement).fontSize);
}

export function Tree(p: Props) {
	const box = useRef<HTMLDivElement>(null), [scroll, setScroll] = useState(0), [height, setHeight] = useState(800);
	const [at, setAt] = useState(0); // the row that keys move
	const row = rowHeight(), [first, end] = windowOf(p.rows.length, row, scroll, height);
	const here = Math.min(at, p.rows.length - 1);
	useLayoutEffect(() => {
		const watch = new ResizeObserver(() => { setHeight(box.current?.clientHeight ?? 800); });
		watch.observe(box.current!);
		return () => watch.disconnect();
	}, []);
	useEffect(() => {
		const k = p.rows.indexOf(p.chosen);
		if (p.chosen >= 0 && k >= 0) move(k);
	}, [p.chosen]);
	const move = (to: number) => {
		const k = Math.max(0, Math.min(p.rows.length - 1, to)), b = box.current!;
		setAt(k);
		const top = k * row, view = b.clientHeight - 2 * row;
		if (top < b.scrollTop) b.scrollTop = top;
		else if (top > b.scrollTop + view) b.scrollTop = top - view;
	};
	const key = (e: KeyboardEvent) => {
		const i = p.rows[here], page = Math.max(1, Math.floor(height / row) - 2);
		if (i === undefined || e.target !== box.current) return;
		const does: Record<string, () => void> = {
			ArrowDown: () => move(here + 1), ArrowUp: () => move(here - 1), PageDown: () => move(here + page),
			PageUp: () => move(here - page), Home: () => move(0), End: () => move(p.rows.length - 1),
			ArrowRight: () => p.canOpen(i) && !p.forest.open[i] ? p.onTwist(i) : move(here + 1),
			ArrowLeft: () => p.forest.open[i] && p.forest.hasChildren(i) ? p.onTwist(i)
				: move(Math.max(0, p.rows.indexOf(p.forest.parent[i]!))),
			Enter: () => p.selectable(i) && p.onChoose(i), " ": () => p.onSpace(i),
		};
		if (!does[e.key]) return;
		e.preventDefault();
		does[e.key]!();
	};
	return <div class="tree" ref={box} role="tree" tabIndex={0} aria-label={p.label} onKeyDown={key}
		aria-activedescendant={p.rows.length ? "node" + p.rows[here] : undefined}
		onScroll={(e) => setScroll(e.currentTarget.scrollTop)}>
		{p.head}
		<div role="presentation" style={{ height: p.rows.length * row + "px", position: "relative" }}>
			{Array.from(p.rows.subarray(first, end), (i, k) => <Row key={i} p={p} i={i} top={(first + k) * row}
				on={first + k === here} onHere={() => setAt(first + k)} />)}
		</div>
	</div>;
}

function Row({ p, i, top, on, onHere }: { p: Props; i: number; top: number; on: boolean; onHere: () => void }) {
	const open = p.forest.open[i] === 1, can = p.canOpen(i);
	return <div class={"node " + p.nodeClass(i) + (on ? " at" : "")} id={"node" + i} role="treeitem" style={{ top: top + "px" }}
		aria-level={p.forest.depth[i]! + 1} aria-expanded={can ? open : undefined} aria-selected={p.chosen === i}
		aria-checked={p.checked(i)} aria-disabled={!p.selectable(i) || undefined}
		onClick={() => { onHere(); if (p.selectable(i)) p.onChoose(i); }} onDblClick={() => can && p.onTwist(i)}>
		<div class="who" style={{ paddingLeft: 0.5 + Math.min(p.forest.depth[i]!, 40) * 1 + "rem" }}>
			<span class="twist" aria-hidden="true" onClick={(e) => { e.stopPropagation(); if (can) p.onTwist(i); }}>
				{can ? open ? "▾" : "▸" : ""}</span>
			{p.who(i)}
		</div>
		{p.cells(i)}
	</div>;
}
