// SPDX-License-Identifier: Apache-2.0
// colour.ts - the colours that canvases draw with.  They are those of app.css, looked up there; a method's own
// is made of its class's name, so that one class has one hue everywhere.
import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

export interface Ink {
	dark: boolean;
	back: string;
	raised: string;
	text: string;
	faint: string;
	line: string;
	accent: string;
	bad: string;
	warn: string;
	good: string;
	font: string;
}

const stored = (): Theme => {
	try {
		const t = localStorage.getItem("sonde.theme");
		return t === "light" || t === "dark" ? t : "auto";
	} catch {
		return "auto";
	}
};

export const theme = signal<Theme>(stored());
export const ink = signal<Ink>({ dark: false, back: "#fff", raised: "#fff", text: "#000", faint: "#666", line: "#ccc",
	accent: "#06c", bad: "#c00", warn: "#a60", good: "#080", font: "12px sans-serif" });

function look(): Ink {
	const probe = document.createElement("span");
	document.body.append(probe);
	const of = (name: string) => {
		probe.style.color = "var(--" + name + ")";
		return getComputedStyle(probe).color;
	};
	const size = parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.75;
	const found = { dark: dark(), back: of("back"), raised: of("raised"), text: of("text"), faint: of("faint"), line: of("line"),
		accent: of("accent"), bad: of("bad"), warn: of("warn"), good: of("good"),
		font: size + "px " + getComputedStyle(document.body).fontFamily };
	probe.remove();
	return found;
}

function dark(): boolean {
	return theme.value === "dark" || (theme.value === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}

export function followTheme(): void {
	effect(() => {
		const t = theme.value;
		if (t === "auto") delete document.documentElement.dataset.theme;
		else document.documentElement.dataset.theme = t;
		try {
			localStorage.setItem("sonde.theme", t);
		} catch { /* private window: the choice lasts as long as the page */ }
		ink.value = look();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { ink.value = look(); });
}

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

// Hues keep away from red, which means failure.
export function hueOf(className: string): number {
	return 30 + (hash(className) % 290);
}

export function methodColour(className: string, method: string, isDark: boolean): string {
	const shade = (hash(method) % 5) * 2.5;
	return isDark ? `hsl(${hueOf(className)} 38% ${30 + shade}%)` : `hsl(${hueOf(className)} 58% ${78 + shade}%)`;
}
