// SPDX-License-Identifier: Apache-2.0
// diff.ts - two texts line by line, after Myers: the shortest way from one to the other.

export interface DiffLine { sign: " " | "+" | "-"; text: string }

export function linesOf(text: string): string[] {
	const lines = text.split(/\r?\n/);
	if (lines[lines.length - 1] === "") lines.pop();
	return lines;
}

// The furthest points for each number of edits; stops where both texts end.
function walk(a: string[], b: string[]): Int32Array[] {
	const most = a.length + b.length, trace: Int32Array[] = [];
	const v = new Int32Array(2 * most + 3);
	for (let d = 0; d <= most; d++) {
		trace.push(v.slice());
		for (let k = -d; k <= d; k += 2) {
			const down = k === -d || (k !== d && v[most + k]! < v[most + k + 2]!);
			let x = down ? v[most + k + 2]! : v[most + k]! + 1;
			while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
			v[most + k + 1] = x;
			if (x >= a.length && x - k >= b.length) return trace;
		}
	}
	return trace;
}

export function diffLines(from: string, to: string): DiffLine[] {
	let a = linesOf(from), b = linesOf(to);
	let head = 0;
	while (head < a.length && head < b.length && a[head] === b[head]) head++;
	const front = a.slice(0, head);
	a = a.slice(head);
	b = b.slice(head);
	if (a.length + b.length > 4000) // too different to be worth the way
		return [...front.map(same), ...a.map((text): DiffLine => ({ sign: "-", text })),
			...b.map((text): DiffLine => ({ sign: "+", text }))];
	const trace = walk(a, b), most = a.length + b.length, out: DiffLine[] = [];
	let x = a.length, y = b.length;
	for (let d = trace.length - 1; d >= 0 && (x > 0 || y > 0); d--) {
		const v = trace[d]!, k = x - y;
		const down = k === -d || (k !== d && v[most + k]! < v[most + k + 2]!);
		const k0 = down ? k + 1 : k - 1, x0 = d === 0 ? 0 : v[most + k0 + 1]!, y0 = d === 0 ? 0 : x0 - k0;
		while (x > x0 && y > y0) {
			x--;
			y--;
			out.push(same(a[x]!));
		}
		if (d === 0) break;
		if (down) out.push({ sign: "+", text: b[--y]! });
		else out.push({ sign: "-", text: a[--x]! });
	}
	return [...front.map(same), ...out.reverse()];
}

function same(text: string): DiffLine {
	return { sign: " ", text };
}
