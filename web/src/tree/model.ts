// SPDX-License-Identifier: Apache-2.0
// model.ts - a tree of components in pre-order arrays, and which of its rows are to be seen.
//
// A page opens a hundred thousand nodes, so nothing here is made per node but numbers, and a change of what is
// open costs one pass over them.

export interface TreeRow {
	depth: number;
	name: string;
}

export class Forest {
	readonly n: number;
	readonly depth: Int32Array;
	readonly end: Int32Array; // the first node behind the subtree
	readonly parent: Int32Array; // -1: none
	readonly open: Uint8Array;

	constructor(depths: ArrayLike<number>) {
		this.n = depths.length;
		this.depth = Int32Array.from(depths);
		this.end = new Int32Array(this.n);
		this.parent = new Int32Array(this.n).fill(-1);
		this.open = new Uint8Array(this.n);
		const stack: number[] = [];
		for (let i = 0; i < this.n; i++) {
			while (stack.length && this.depth[stack[stack.length - 1]!]! >= this.depth[i]!)
				this.end[stack.pop()!] = i;
			this.parent[i] = stack.length ? stack[stack.length - 1]! : -1;
			stack.push(i);
		}
		for (const i of stack) this.end[i] = this.n;
	}

	hasChildren(i: number): boolean {
		return this.end[i]! > i + 1;
	}

	openTo(depth: number): void {
		for (let i = 0; i < this.n; i++) this.open[i] = this.depth[i]! < depth && this.hasChildren(i) ? 1 : 0;
	}

	// Opens all above a node.
	reveal(i: number): void {
		for (let p = this.parent[i]!; p >= 0; p = this.parent[p]!) this.open[p] = 1;
	}

	path(i: number): number[] {
		const path = [];
		for (let p = i; p >= 0; p = this.parent[p]!) path.push(p);
		return path.reverse();
	}

	// The nodes to be shown.  With `wanted`, those that it names and all above them, open or not.
	visible(wanted?: (i: number) => boolean): Int32Array {
		const rows = new Int32Array(this.n);
		let m = 0;
		if (!wanted) {
			for (let i = 0; i < this.n; i = this.open[i] ? i + 1 : this.end[i]!) rows[m++] = i;
			return rows.slice(0, m);
		}
		const keep = new Uint8Array(this.n);
		for (let i = 0; i < this.n; i++)
			if (wanted(i))
				for (let p = i; p >= 0 && !keep[p]; p = this.parent[p]!) keep[p] = 1;
		for (let i = 0; i < this.n; i++) if (keep[i]) rows[m++] = i;
		return rows.slice(0, m);
	}
}

// The rows from..to (excluded) that a window of `height` shows at `scroll`, with some to spare.
export function windowOf(rows: number, rowHeight: number, scroll: number, height: number): [number, number] {
	const first = Math.max(0, Math.floor(scroll / rowHeight) - 8);
	return [Math.min(first, rows), Math.min(rows, Math.ceil((scroll + height) / rowHeight) + 8)];
}
