// SPDX-License-Identifier: Apache-2.0
// format.ts - figures as people read them, with as many digits as on the command line.

const grouped = new Intl.NumberFormat("en-US");

// 3 significant digits, never in the form 1e+21.
function digits(x: number): string {
	if (x >= 1000) return grouped.format(Math.round(x));
	return x >= 100 ? String(Math.round(x)) : x.toPrecision(3);
}

export function ns(t: number | null | undefined): string {
	if (t == null || !Number.isFinite(t)) return "-";
	if (t < 0) return "-" + ns(-t);
	if (t >= 60e9) return minutes(t / 1e9);
	if (t >= 999.5e6) return digits(t / 1e9) + " s";
	if (t >= 999.5e3) return digits(t / 1e6) + " ms";
	if (t >= 999.5) return digits(t / 1e3) + " µs";
	return Math.round(t) + " ns";
}

function minutes(s: number): string {
	const h = Math.floor(s / 3600), m = Math.floor((s % 3600) / 60), rest = Math.floor(s % 60);
	if (h >= 48) return Math.floor(h / 24) + " d " + (h % 24) + " h";
	return h > 0 ? h + " h " + m + " min" : m + " min " + rest + " s";
}

export function count(n: number | null | undefined): string {
	return n == null || !Number.isFinite(n) ? "-" : grouped.format(Math.round(n));
}

export function rate(perSecond: number | null | undefined): string {
	if (perSecond == null || !Number.isFinite(perSecond)) return "-";
	if (perSecond === 0) return "0/s";
	return (perSecond >= 100 ? count(perSecond) : perSecond.toPrecision(2)) + "/s";
}

export function share(x: number | null | undefined): string {
	if (x == null || !Number.isFinite(x)) return "-";
	const p = x * 100;
	if (p === 0) return "0 %";
	if (p < 0.01) return "< 0.01 %";
	return (p < 1 ? p.toFixed(2) : p < 99.95 ? p.toFixed(1) : p.toFixed(0)) + " %";
}

// A change of a share, in points of percent.
export function points(x: number): string {
	const p = x * 100;
	return Math.abs(p) < 0.05 ? "as before" : (p > 0 ? "+" : "−") + Math.abs(p).toFixed(1) + " points";
}

export function bytes(n: number): string {
	for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const)
		if (n >= size) return digits(n / size) + " " + unit;
	return n + " bytes";
}

const two = (n: number) => String(n).padStart(2, "0");

export function clock(ms: number): string {
	const d = new Date(ms);
	return two(d.getHours()) + ":" + two(d.getMinutes()) + ":" + two(d.getSeconds());
}

export function moment(ms: number): string {
	const d = new Date(ms);
	return d.getFullYear() + "-" + two(d.getMonth() + 1) + "-" + two(d.getDate()) + " " + clock(ms);
}

export function ago(ms: number, now = Date.now()): string {
	const s = Math.max(0, (now - ms) / 1000);
	if (s < 1.5) return "now";
	if (s < 90) return Math.round(s) + " s ago";
	if (s < 5400) return Math.round(s / 60) + " min ago";
	return s < 172800 ? Math.round(s / 3600) + " h ago" : Math.round(s / 86400) + " days ago";
}

// Where a method's parameters begin, if it is named with them; a class's name may have parentheses, too.
export function parametersAt(method: string): number {
	return /\([^()]*\)(\[*([BCDFIJSZV]|L[^;]*;))?$/.exec(method)?.index ?? -1;
}

// pkg.Outer$Inner.method(desc) -> Outer$Inner.method
export function brief(method: string): string {
	const open = parametersAt(method);
	const plain = open > 0 ? method.slice(0, open) : method;
	const at = plain.lastIndexOf(".");
	return plain.slice(plain.lastIndexOf(".", at - 1) + 1);
}

export function className(method: string): string {
	const open = parametersAt(method);
	const plain = open > 0 ? method.slice(0, open) : method;
	return plain.slice(0, Math.max(0, plain.lastIndexOf(".")));
}

// Text of programs, to be shown: control characters and marks of direction stand as a replacement character, since
// they would turn or hide what is beside them.
export function visible(text: string): string {
	return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

// A time as rules and filters take it: "20ms", "1.5s", "300us", "40" (ms).  NaN: not a time.
export function parseTime(text: string): number {
	const m = /^\s*([0-9]*\.?[0-9]+)\s*(ns|us|µs|ms|s|m|h)?\s*$/.exec(text);
	if (!m) return NaN;
	const unit = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 }[m[2] ?? "ms"];
	return Number(m[1]) * unit!;
}
