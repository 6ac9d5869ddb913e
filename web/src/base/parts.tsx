// SPDX-License-Identifier: Apache-2.0
// parts.tsx - small pieces that several views are made of.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ink } from "./colour";
import { visible } from "./format";

// Text of a program: shown as text, and its marks of direction do not turn what stands beside it.
export function Name(props: { text: string; title?: string; limit?: number }) {
	const limit = props.limit ?? 2000;
	const text = props.text.length > limit ? props.text.slice(0, limit) + "…" : props.text;
	return <bdi class="plain" title={visible((props.title ?? "").slice(0, 2000)) || undefined}>{visible(text)}</bdi>;
}

export function Panel(props: { title?: string; class?: string; children: ComponentChildren; head?: ComponentChildren }) {
	return <section class={"panel " + (props.class ?? "")} aria-label={props.title}>
		{props.title && <div class="head"><h2>{props.title}</h2>{props.head}</div>}
		{props.children}
	</section>;
}

export function Empty(props: { children: ComponentChildren }) {
	return <div class="empty">{props.children}</div>;
}

export function Meter(props: { part: number; label?: string }) {
	const part = Math.max(0, Math.min(1, props.part || 0));
	return <div class="meter" role="img" aria-label={props.label}><i style={{ width: part * 100 + "%" }} /></div>;
}

export function Figure(props: { value: ComponentChildren; label: string; title?: string }) {
	return <div class="figure" title={props.title}><b>{props.value}</b><span>{props.label}</span></div>;
}

// ---- what is said in passing ---------------------------------------------------------------------------------

const said = signal<{ text: string; key: number }[]>([]);
const spoken = signal("");
let next = 0;

export function say(text: string): void {
	const key = next++;
	said.value = [...said.value, { text, key }].slice(-4);
	spoken.value = text;
	setTimeout(() => { said.value = said.value.filter((s) => s.key !== key); }, 6000);
}

// For screen readers alone.
export function tell(text: string): void {
	spoken.value = text;
}

export function Toasts() {
	return <>
		<div class="toasts">{said.value.map((s) => <div class="toast" key={s.key}><Name text={s.text} /></div>)}</div>
		<div class="hidden" role="status" aria-live="polite">{spoken.value.slice(0, 500)}</div>
	</>;
}

// ---- dialogs -------------------------------------------------------------------------------------------------

export function Modal(props: { title: string; onClose: () => void; children: ComponentChildren }) {
	const box = useRef<HTMLDialogElement>(null);
	useEffect(() => { box.current?.showModal(); }, []);
	return <dialog ref={box} aria-label={props.title} onClose={props.onClose}
		onClick={(e) => { if (e.target === box.current) box.current?.close(); }}>
		<div class="head"><h2>{props.title}</h2>
			<button class="quiet right" aria-label="Close" onClick={() => box.current?.close()}>✕</button></div>
		{props.children}
	</dialog>;
}

// ---- canvases ------------------------------------------------------------------------------------------------

export interface Drawing {
	canvas: HTMLCanvasElement;
	pen: CanvasRenderingContext2D;
	width: number;
	height: number;
}

// A canvas that is as large as its box and drawn at most once a frame.  Gives back what asks for a drawing.
export function useCanvas(draw: (d: Drawing) => void) {
	const ref = useRef<HTMLCanvasElement>(null), latest = useRef(draw), asked = useRef(0);
	latest.current = draw;
	const paint = useRef(() => {
		if (asked.current) return;
		asked.current = requestAnimationFrame(() => {
			asked.current = 0;
			const canvas = ref.current, pen = canvas?.getContext("2d", { alpha: false });
			if (!canvas || !pen) return;
			const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
			if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
				canvas.width = Math.round(width * ratio);
				canvas.height = Math.round(height * ratio);
			}
			pen.setTransform(ratio, 0, 0, ratio, 0, 0);
			latest.current({ canvas, pen, width, height });
		});
	}).current;
	useEffect(() => {
		const watch = new ResizeObserver(paint);
		if (ref.current) watch.observe(ref.current);
		return () => {
			watch.disconnect();
			cancelAnimationFrame(asked.current);
			asked.current = 0;
		};
	}, []);
	useEffect(() => ink.subscribe(paint), []); // another theme
	useEffect(paint);
	return { ref, paint };
}

// ---- tips beside the pointer ---------------------------------------------------------------------------------

export function Tip(props: { x: number; y: number; children: ComponentChildren }) {
	const box = useRef<HTMLDivElement>(null);
	useEffect(() => {
		const b = box.current;
		if (!b) return;
		b.style.left = Math.max(4, Math.min(props.x + 14, innerWidth - b.offsetWidth - 6)) + "px";
		const below = props.y + 18;
		b.style.top = Math.max(4, below + b.offsetHeight > innerHeight ? props.y - b.offsetHeight - 10 : below) + "px";
	});
	return <div class="tip" ref={box}>{props.children}</div>;
}

// ---- text fields that take effect after a while --------------------------------------------------------------

export function Typed(props: { label: string; value: string; onValue: (v: string) => void; class?: string;
	placeholder?: string; wrong?: boolean; search?: boolean }) {
	const [text, setText] = useState(props.value), timer = useRef(0);
	useEffect(() => { setText(props.value); }, [props.value]);
	const later = (v: string) => {
		setText(v);
		clearTimeout(timer.current);
		timer.current = window.setTimeout(() => props.onValue(v), 350);
	};
	return <label class="field"><span>{props.label}</span>
		<input class={props.class} value={text} placeholder={props.placeholder} spellcheck={false} enterkeyhint={props.search ? "search" : undefined}
			aria-invalid={props.wrong || undefined} onInput={(e) => later(e.currentTarget.value)}
			onKeyDown={(e) => {
				if (e.key !== "Enter") return;
				clearTimeout(timer.current);
				props.onValue(text);
			}} /></label>;
}
