// SPDX-License-Identifier: Apache-2.0
// What the pages compute, without a browser.
import { test } from "node:test";
import assert from "node:assert/strict";
import { ago, brief, className, ns, parseTime, share } from "../src/base/format";
import { parseRoute, printRoute } from "../src/base/route";
import { diffLines } from "../src/base/diff";
import { completions, hooks, parametersOf, readable, ruleOf, sequence, target } from "../src/base/rule";
import { Forest, windowOf } from "../src/tree/model";
import { compare, criticalPath, folds, lanesOf, firstAfter, sums, Trace, type TracePart } from "../src/trace/model";
import { bounded, clean, itemAt, layOut, ticks } from "../src/trace/paint";
import { findings } from "../src/base/findings";
import { wordsOf } from "../src/views/filter";
import { reportOf } from "../src/views/digreport";
import { nodesOf, DATA, HOOKED } from "../src/tree/nodes";
import { traceOf } from "../src/trace/load";
import { calleesOf, callersOf, Flame } from "../src/flame/model";
import { ordered, samplesOf, stacksOf, top } from "../src/flame/samples";
import type { StacksAnswer } from "../src/api/types";

test("durations read as on the command line", () => {
	for (const [t, text] of [[0, "0 ns"], [999, "999 ns"], [1660000, "1.66 ms"], [13.3e6, "13.3 ms"],
		[999.6e6, "1.00 s"], [125e9, "2 min 5 s"], [null, "-"], [NaN, "-"]] as const)
		assert.equal(ns(t), text);
	assert.equal(share(0.00001), "< 0.01 %");
	assert.equal(ago(1000, 61000), "60 s ago");
});

test("times are read with their unit, and milliseconds without", () => {
	assert.equal(parseTime("20ms"), 20e6);
	assert.equal(parseTime(" 1.5 s"), 1.5e9);
	assert.equal(parseTime("40"), 40e6);
	assert.ok(Number.isNaN(parseTime("soon")));
});

test("a method's brief name keeps its class", () => {
	assert.equal(brief("com.shop.Cart$Row.total(java.lang.String)"), "Cart$Row.total");
	assert.equal(brief("main"), "main");
	assert.equal(className("com.shop.Cart.total(java.lang.String)"), "com.shop.Cart");
});

test("an address survives being printed and read, whatever is in it", () => {
	const r = { view: "traces", item: "a/b", query: { q: "a&b=c #é ‮", min: "20ms" } };
	assert.deepEqual({ ...parseRoute(printRoute(r)), query: { ...parseRoute(printRoute(r)).query } }, r);
	assert.equal(parseRoute("").view, "overview");
	assert.equal(parseRoute("#/x?%zz=%zz").query["%zz"], "%zz");
	assert.equal(({} as Record<string, unknown>).polluted, undefined);
	parseRoute("#/x?__proto__=1");
});

test("a difference of texts is the shortest", () => {
	const show = (a: string, b: string) => diffLines(a, b).map((l) => l.sign + l.text).join("|");
	assert.equal(show("a\nb\nc\n", "a\nc\nd\n"), " a|-b| c|+d");
	assert.equal(show("", "a\n"), "+a");
	assert.equal(show("a\n", ""), "-a");
	assert.equal(show("same\n", "same\n"), " same");
	const a = Array.from({ length: 40 }, (_, i) => "l" + (i * 7) % 11).join("\n");
	const b = Array.from({ length: 40 }, (_, i) => "l" + (i * 5) % 11).join("\n");
	const d = diffLines(a, b);
	assert.equal(d.filter((l) => l.sign !== "+").map((l) => l.text).join("\n"), a);
	assert.equal(d.filter((l) => l.sign !== "-").map((l) => l.text).join("\n"), b);
});

test("controls become one line of the rule language", () => {
	assert.equal(target("com.shop.Cart.add(ILjava/lang/String;)V"), "com.shop.Cart::add(int, java.lang.String)");
	assert.equal(ruleOf({ method: "com.shop.Inventory.adjust", callers: ["com.shop.Cart.checkout", "com.shop.Payment.reserve"],
		direct: false, condition: " $2 == \"GIFT\"\n", level: "timed", limit: "for 10m" }),
	"hook com.shop.Inventory::adjust inside com.shop.Cart::checkout >> com.shop.Payment::reserve if $2 == \"GIFT\" timed for 10m");
	assert.deepEqual(sequence(["a", "b", "c"], 1), []);
	assert.deepEqual(sequence(["a", "b", "c"], 2), ["b"]);
	assert.deepEqual(sequence(["a", "b", "c"], 9), ["a", "b"]);
	assert.ok(hooks("hook com.shop.Cart::add timed", "com.shop.Cart.add(I)V"));
	assert.ok(hooks("hook com.shop.Cart::add(int, a.B) if $1 == 2 timed", "com.shop.Cart.add(ILa/B;)V"));
	assert.ok(!hooks("hook com.shop.Cart::add(long) timed", "com.shop.Cart.add(I)V"));
	assert.deepEqual(parametersOf("a.B.c(int, long)"), ["int", "long"]);
	assert.deepEqual(parametersOf("a.B.c([[JLa/B$C;Z)V"), ["long[][]", "a.B$C", "boolean"]);
	assert.deepEqual(parametersOf("a.B.c()"), []);
	assert.equal(readable("a.B.c([Lx/Y;I)V"), "a.B.c(Y[], int)");
});

test("what can come next in a condition is proposed", () => {
	assert.deepEqual(completions("$", 1, ["int"], ["user"]), ["$this", "$return", "$1", "$user"]);
	assert.ok(completions("$1 ", 3, ["int"], []).includes("=="));
	assert.deepEqual(completions("$1 == 3 a", 9, ["int"], []), ["and"]);
	assert.deepEqual(completions("$1 == \"a ", 9, ["int"], []), []);
});

test("a forest knows ends, parents and what is open", () => {
	const f = new Forest([0, 1, 2, 1, 0]);
	assert.deepEqual([...f.end], [4, 3, 3, 4, 5]);
	assert.deepEqual([...f.parent], [-1, 0, 1, 0, -1]);
	assert.deepEqual([...f.visible()], [0, 4]);
	f.openTo(1);
	assert.deepEqual([...f.visible()], [0, 1, 3, 4]);
	assert.deepEqual([...f.visible((i) => i === 2)], [0, 1, 2]);
	f.open.fill(0);
	f.reveal(2);
	assert.deepEqual([...f.visible()], [0, 1, 2, 3, 4]);
	assert.deepEqual(f.path(2), [0, 1, 2]);
	assert.deepEqual(windowOf(1000, 20, 400, 200), [12, 38]);
});

function part(number: number, from: number, call: number, begin: number, end: number, calls: number[][]): TracePart {
	return { part: number, from, call, tid: number, thread: "t" + number, submitted_ns: Math.max(0, begin - 5),
		begin_ns: begin, end_ns: end, flags: 0, calls };
}

function trace(...parts: TracePart[]): Trace {
	const names = ["a.A.root", "a.A.one", "a.A.two", "b.B.leaf"].map((n): [string, number] => [n, 0]);
	return new Trace({ id: "1", at_ms: 0, elapsed_ns: 100, names, parts, data: {}, facts: {}, missed: 0 });
}

const plain = () => trace(part(1, 1, 0, 0, 100, [
	[0, 0, 0, 100, 0], [1, 1, 10, 20, 0], [3, 2, 12, 5, 64], [1, 1, 30, 10, 0], [1, 1, 40, 10, 0], [1, 1, 50, 10, 0],
	[2, 1, 60, 30, 0]]));

test("a transaction is laid out by depth and begin", () => {
	const t = plain(), lanes = lanesOf(t)[0]!;
	assert.deepEqual(lanes.map((l) => [...l.call]), [[0], [1, 3, 4, 5, 6], [2]]);
	assert.equal(firstAfter(lanes[1]!, 45), 2);
	assert.equal(t.self[0], 100 - 20 - 30 - 30);
	assert.deepEqual(t.path(2), [0, 1, 2]);
	const l = layOut([lanes], 20);
	const hit = itemAt(l, { from: 0, to: 100, top: 0, width: 1000, height: 100 }, 650, l.lanes[1]!.y + 3);
	assert.equal(hit!.lane.call[hit!.item], 6);
});

test("repeated siblings fold into one, and what they called is in it", () => {
	const t = plain(), runs = folds(t);
	assert.deepEqual(runs.map((r) => [r.call, r.count, r.sum, r.end]), [[1, 4, 50, 60]]);
	const lanes = lanesOf(t, runs)[0]!;
	assert.deepEqual(lanes.map((l) => [...l.call]), [[0], [1, 6]]);
	assert.equal(lanes[1]!.end[0], 60);
});

test("the critical path goes through the thread that was waited for", () => {
	const t = trace(part(1, 1, 0, 0, 100, [[0, 0, 0, 100, 0], [1, 1, 5, 5, 0]]),
		part(2, 1, 2, 20, 80, [[3, 0, 20, 60, 0]]), part(3, 1, 2, 20, 300, [[3, 0, 20, 280, 0]]));
	const path = criticalPath(t).map((s) => [s.call, s.from, s.to]);
	assert.deepEqual(path, [[0, 0, 5], [1, 5, 10], [0, 10, 20], [2, 20, 80], [0, 80, 100]]);
	assert.equal(path.reduce((sum, s) => sum + s[2]! - s[1]!, 0), 100);
	assert.equal(t.end, 300);
});

test("sums count what lies in a span, and recursion once", () => {
	assert.deepEqual(sums(plain(), 60, 75).map((s) => [s.method, s.calls, s.total]),
		[["a.A.two", 1, 15], ["a.A.root", 1, 15]]);
	const r = trace(part(1, 1, 0, 0, 100, [[0, 0, 0, 100, 0], [0, 1, 10, 50, 0]]));
	assert.deepEqual(sums(r).map((s) => [s.calls, s.total, s.self]), [[2, 100, 100]]);
	const d = compare(plain(), r);
	assert.equal(d[0]!.method, "a.A.root");
});

test("damaged parents do not lead anywhere", () => {
	const t = trace(part(1, 7, 99, 0, 100, [[0, 3, 0, 100, 0], [9, 1, 0, 10, 0]]));
	assert.equal(t.nameOf(1), "?");
	assert.equal(criticalPath(t).length, 2);
	assert.equal(criticalPath(trace()).length, 0);
});

test("a hundred thousand calls are laid out quickly", () => {
	const calls: number[][] = [[0, 0, 0, 1e9, 0]];
	for (let i = 1; i < 100000; i++) calls.push([1 + i % 3, 1 + ((i - 1) >> 2), i * 1000, 900, 0]);
	const t = trace(part(1, 1, 0, 0, 1e9, calls));
	assert.equal(lanesOf(t, folds(t)).length, 1);
	assert.ok(criticalPath(t).length > 0);
});

test("views stay within the transaction, ticks are round", () => {
	assert.deepEqual(bounded(-10, 50, 100), [0, 60]);
	assert.deepEqual(bounded(60, 120, 100), [40, 100]);
	assert.deepEqual(bounded(0, 1000, 100), [0, 100]);
	assert.deepEqual(ticks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
	assert.equal(clean("a\u202eb\u0000"), "a\ufffdb\ufffd");
	assert.equal(brief("x.<i a=(1)>.m(I)V"), "<i a=(1)>.m");
	assert.equal(brief("x.<i a=(1)>.m"), "<i a=(1)>.m");
	assert.ok(clean("x".repeat(1 << 20)).length < 500);
});

test("changes are told in words, and small ones are not", () => {
	const row = (mean_ns: number, errors = 0, calls = 100) => ({ method: "a.A.b()V", calls, errors, mean_ns, total_ns: mean_ns * calls });
	assert.deepEqual(findings([row(310)], [row(100)], "15 minutes").map((f) => f.text),
		["A.b got 3.1 times slower: 310 ns on average, 100 ns in the 15 minutes before."]);
	assert.deepEqual(findings([row(120)], [row(100)], "x"), []);
	assert.deepEqual(findings([row(900, 0, 5)], [row(100)], "x"), []);
	assert.match(findings([row(100, 10)], [row(100, 1)], "x")[0]!.text, /fails more often: 10.0 % /);
});

test("filters of the address become words for the manager", () => {
	assert.deepEqual(wordsOf({ min: "20ms", max: "x", failed: "1", data: "user=alice, $shop = 7,x", q: "a b" }),
		{ min_ns: "20000000", failed: "1", "data.user": "alice", "data.shop": "7", q: "a b" });
});

test("a shared answer cannot bring anything to life", () => {
	const page = reportOf({ id: "1", instance: "i", application: "<script>", state: "slow", answer: { text: "</pre><img src=x onerror=1>" },
		rules: ["hook <b>"] }, ["</pre><script>alert(1)</script>"]);
	assert.ok(!page.includes("<script") && !page.includes("<img") && !page.includes("<b>"));
});

test("callees that were found hang below every place of their method", () => {
	const zero = [0, 0, 0], tree = { methods: ["a", "b"], columns: { depth: [0, 1, 0], method: [0, 1, 0], calls: [2, 1, 0], errors: zero,
		total_ns: zero, self_ns: zero, flags: [2, 2, 0] } };
	const n = nodesOf(tree, new Map([["a", [{ method: "b" }, { method: "c", hooked: true }]]]));
	assert.deepEqual(Array.from({ length: n.forest.n }, (_, i) => n.forest.depth[i] + n.methods[n.method[i]!]!), ["0a", "1c", "1b", "0a", "1b", "1c"]);
	assert.equal(new Set(n.id).size, 3); // both a have one path, and what is below them
	assert.deepEqual([...nodesOf(tree, new Map()).id], [n.id[0], n.id[2], n.id[3]]);
	assert.equal(n.flags[1]! & HOOKED, HOOKED);
	assert.equal(n.flags[1]! & DATA, 0);
});

test("a transaction of the manager keeps parents and flags", () => {
	const t = traceOf({ id: "x", application: "a", instance: "i", root: "r", when_ms: 0, elapsed_ns: 10, names: [{ method: "r", conditional: true }],
		parts: [{ part: 1, from: 1, call: -1, tid: 1, submitted_ns: 0, begin_ns: 0, end_ns: 10, calls: [[0, -1, 0, 10, 1], [0, 0, 1, 5, 2]] },
			{ part: 2, from: 1, call: 1, tid: 2, submitted_ns: 2, begin_ns: 3, end_ns: 5, calls: [] }] });
	assert.deepEqual([...t.parent], [-1, 0]);
	assert.deepEqual([t.parts[1]!.fromPart, t.parts[1]!.fromCall], [0, 1]);
	assert.ok(t.conditional(0) && t.flags[0]! & 64);
});

test("a sandwich has a function's callers above and callees below", () => {
	// main -> a -> b(2), main -> c -> b(3) -> a(1)
	const f = new Flame({ names: ["main", "a", "b", "c"], kinds: [0, 0, 0, 0], depth: [0, 1, 2, 1, 2, 3],
		name: [0, 1, 2, 3, 2, 1], self: [0, 0, 2, 0, 3, 1] });
	assert.equal(f.all, 6);
	assert.deepEqual([...f.left], [0, 0, 0, 2, 2, 2]);
	const down = calleesOf(f, 2), up = callersOf(f, 2);
	assert.deepEqual([down.all, [...down.total]], [6, [6, 1]]);
	assert.deepEqual(Array.from({ length: up.forest.n }, (_, i) => up.nameOf(i) + up.total[i]),
		["b6", "c4", "main4", "a2", "main2"]);
	assert.equal(up.all, 6);
	assert.deepEqual(f.table().map((r) => [f.of.names[r.name], r.self, r.total]),
		[["b", 5, 6], ["a", 1, 3], ["main", 0, 6], ["c", 0, 4]]);
	assert.equal(f.shareOf((n) => n === 1), 0.5);
});

function looked(more: Partial<StacksAnswer> = {}): StacksAnswer {
	return { instance: "i", seconds: 1, mode: "wall", samples: 4, lost: 0, wall_ns: 1e9, cpu_ns: 5e8, own_ns: 1e6, period_ns: 0, engine: "perf", note: "",
		places: [{ id: 1, kind: "C2", name: "a.A.run" }, { id: 2, kind: "inlined", name: "a.A.work" }, { id: 3, kind: "native", name: "write" },
			{ id: 4, kind: "C1", name: "java.lang.Thread.sleep0" }, { id: 7, kind: "interpreted", name: "a.A.work" }],
		threads: [{ id: 5, name: "main" }, { id: 6, name: "sleeper" }],
		stacks: [{ thread: 5, state: "running", count: 2, ns: 20, places: [2, 1] }, { thread: 5, state: "running", count: 1, ns: 10, places: [3, 7, 1] },
			{ thread: 6, state: "parked", count: 1, ns: 70, places: [3, 4, 1], broken: true }, { thread: 6, state: "parked", count: 1, ns: 70, places: [3] }],
		...more };
}

test("samples tell threads, states, and Java and native frames in one", () => {
	const s = samplesOf(looked(), 0), name = (i: number) => s.names[i];
	assert.deepEqual(s.list.map((l) => [s.threads[l.thread], l.state, l.weight, l.frames.map(name).join(">")]), [
		["main, 5", "running", 20, "a.A.run>a.A.work"], ["main, 5", "running", 10, "a.A.run>a.A.work>write"],
		["sleeper, 6", "sleeping", 70, "a.A.run>java.lang.Thread.sleep0"]]); // and what only the JVM waits for is left out
	assert.equal(s.broken, 1);
	assert.equal(s.runBy[1], "inlined");
});

test("the live view adds up functions and threads, and recursion once", () => {
	const twice = looked({ stacks: [{ thread: 5, state: "running", count: 1, ns: 10, places: [1, 2, 1] }] });
	const t = top([samplesOf(looked(), 0), samplesOf(twice, 1)], "functions", (s) => s.state === "running");
	assert.deepEqual(ordered(t.rows, "total", "").map((r) => [r.name, r.self, r.total]),
		[["a.A.work", 20, 40], ["a.A.run", 10, 40], ["write", 10, 10]]);
	assert.deepEqual([t.all, t.wall_ns, t.threads], [40, 2e9, 1]);
	assert.deepEqual(ordered(t.rows, "self", "WRI").map((r) => r.name), ["write"]);
	const by = top([samplesOf(looked(), 0)], "threads", () => true);
	assert.deepEqual(ordered(by.rows, "self", "").map((r) => [r.name, r.self, r.state, r.most]),
		[["sleeper, 6", 70, "sleeping", "java.lang.Thread.sleep0"], ["main, 5", 30, "running", "a.A.work"]]);
});

test("a difference compares shares, and shows what is gone", () => {
	const before = samplesOf(looked({ stacks: [{ thread: 5, state: "running", count: 1, ns: 100, places: [4, 1] }] }), 0), now = samplesOf(looked(), 1);
	const f = new Flame(stacksOf([now], (s) => s.state === "running", before));
	const at = (name: string) => Array.from({ length: f.forest.n }, (_, i) => i).find((i) => f.nameOf(i) === name)!;
	assert.equal(f.all, 30);
	assert.equal(f.change(at("a.A.run")), 0);
	assert.equal(f.change(at("java.lang.Thread.sleep0")), -1);
	assert.ok(Math.abs(f.change(at("a.A.work")) - 1) < 1e-9);
	assert.equal(f.swapped().total[at("java.lang.Thread.sleep0")], 30);
	assert.equal(callersOf(f, f.of.name[at("java.lang.Thread.sleep0")]!).before![0], 30);
	assert.deepEqual(f.table().filter((r) => r.before > r.self).map((r) => f.of.names[r.name]), ["java.lang.Thread.sleep0"]);
});
