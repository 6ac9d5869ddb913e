// SPDX-License-Identifier: Apache-2.0
// measure.mjs MODULES SONDED STORE OUT: times the pages in a real browser.  The manager is real; the tree and the
// transaction are made up and put in the place of two of its answers, since no agent keeps a transaction that large.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { freePort, open, person, until } from "../../tests/pages/browser.mjs";

const [modules, sonded, store, out] = process.argv.slice(2), quick = !!process.env.BENCH_QUICK;
const LARGE = 100000, ROUNDS = quick ? 1 : 7, PAN_MS = quick ? 500 : 5000;
const base = `http://127.0.0.1:${await freePort()}/`, query = "?app=made-up";
const middle = (all) => all.slice().sort((a, b) => a - b)[all.length >> 1];

// ---- what is shown ----

let seed = 1;
const random = (n) => (seed = (seed * 48271) % 2147483647) % n;

function madeUpTree() {
	const methods = Array.from({ length: 5000 }, (_, i) => `com.shop.part${i % 40}.Class${i % 700}.method${i}(Lcom/shop/Order;I)V`);
	const c = { depth: [], method: [], calls: [], errors: [], total_ns: [], self_ns: [], flags: [] };
	for (let i = 0, depth = 0; i < LARGE; i++) {
		c.depth.push(depth);
		c.method.push(random(methods.length));
		c.calls.push(1 + random(1e6));
		c.errors.push(random(3));
		c.total_ns.push(1e6 + random(1e9));
		c.self_ns.push(random(1e6));
		c.flags.push(random(20) ? 3 : 1);
		depth = random(3) ? Math.min(30, depth + 1) : random(depth + 1);
	}
	return { methods, columns: c, total: LARGE, omitted: 0, instances: 1 };
}

function madeUpTrace() {
	const names = Array.from({ length: 200 }, (_, i) => ({ method: `com.shop.Class${i % 30}.method${i}(I)V`, conditional: i % 17 === 0 }));
	const parts = [], each = LARGE / 4, whole = 1e9;
	for (let part = 1; part <= 4; part++) {
		const calls = [];
		const grow = (parent, begin, elapsed, depth) => {
			if (calls.length >= each) return;
			const at = calls.push([random(names.length), parent, begin, elapsed, random(500) ? 0 : 1]) - 1;
			if (depth >= 14 || elapsed < 40) return;
			const n = depth < 3 ? 12 : 2 + random(3);
			for (let k = 0; k < n; k++) grow(at, begin + Math.floor(elapsed * k / n), Math.floor(elapsed / n * 0.9), depth + 1);
		};
		while (calls.length < each) grow(-1, Math.floor(whole * calls.length / each), Math.floor(whole * (1 - calls.length / each) * 0.5), 0);
		parts.push({ part, from: part === 1 ? 1 : 1, call: part === 1 ? -1 : 0, tid: part, thread: "worker-" + part, submitted_ns: 0, begin_ns: 0,
			end_ns: whole, calls });
	}
	return { id: "1", application: "made-up", instance: "i", root: names[0].method, when_ms: Date.now(), elapsed_ns: whole, names, parts,
		calls: parts.reduce((n, p) => n + p.calls.length, 0) };
}

const answers = { "/applications": { applications: [{ name: "made-up", connected: 1, known: 1 }] },
	"/applications/made-up": { name: "made-up", connected: 1, instances: [] },
	"/applications/made-up/plan": { application: "made-up", version: 0, rules: [], status: [] },
	"/applications/made-up/tree": madeUpTree(), "/traces/1": madeUpTrace() };
const bodies = new Map(Object.entries(answers).map(([path, a]) => ["/api/v1" + path, JSON.stringify(a)]));

// ---- measuring ----

async function firstPaint(browser) {
	const p = await person(browser, base);
	await p.page.goto(base);
	await p.page.locator("main h1").first().waitFor();
	const ms = await until("it is painted", () => p.page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime));
	await p.context.close();
	return ms;
}

async function stranger(browser) {
	const p = await person(browser, base);
	await p.page.route("**/api/v1/**", (route) => {
		const body = bodies.get(new URL(route.request().url()).pathname);
		return body ? route.fulfill({ contentType: "application/json", body }) : route.continue();
	});
	return p;
}

// From the press of a button until its effect is on the screen: two frames later it has been painted.
const pressed = (page, name) => page.evaluate((name) => new Promise((done) => {
	const button = [...document.querySelectorAll("button")].find((b) => b.textContent === name), from = performance.now();
	button.click();
	requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));
}), name);

async function tree(browser) {
	const p = await stranger(browser);
	await p.page.goto(base + "#/components" + query);
	await p.page.locator("[role=treeitem]").first().waitFor();
	const opened = [];
	for (let i = 0; i < ROUNDS; i++) {
		await pressed(p.page, "Close all");
		opened.push(await pressed(p.page, "Open all"));
	}
	const rows = await p.page.locator(".tree > div[role=presentation]").evaluate((e) => e.style.height);
	if (parseFloat(rows) < LARGE * 20) throw new Error("the tree is not open: " + rows);
	// From the whole answer to its rows.
	const shown = [];
	for (let i = 0; i < ROUNDS; i++) shown.push(await p.page.evaluate(async ([path, body]) => {
		location.hash = "#/plans?app=made-up";
		await new Promise((next) => setTimeout(next, 300));
		const real = window.fetch;
		let from = 0;
		window.fetch = async (...words) => {
			if (!String(words[0]).includes(path)) return real(...words);
			from = performance.now();
			return new Response(body, { headers: { "Content-Type": "application/json" } });
		};
		const there = new Promise((done) => new MutationObserver((_, watch) => {
			if (!document.querySelector("[role=treeitem]")) return;
			watch.disconnect();
			requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
		}).observe(document.body, { childList: true, subtree: true }));
		location.hash = "#/components?app=made-up";
		const ms = await there - from;
		window.fetch = real;
		return ms;
	}, ["/applications/made-up/tree", bodies.get("/api/v1/applications/made-up/tree")]));
	await p.context.close();
	return { opened: middle(opened), shown: middle(shown) };
}

// Frames while the picture moves in each of them: 'd' and 'a' move, the wheel zooms in and out.
const moved = (page, what) => page.evaluate(([what, ms]) => new Promise((done) => {
	const canvas = document.querySelector("[data-trace]"), gaps = [];
	let last = 0, begun = 0, n = 0;
	const key = (k) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true, cancelable: true }));
	const wheel = (dy) => canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: dy, clientX: 500, clientY: 400, bubbles: true, cancelable: true }));
	const frame = (now) => {
		if (last) gaps.push(now - last);
		last = now;
		begun ||= now;
		if (now - begun > ms) {
			gaps.sort((a, b) => a - b);
			done({ fps: gaps.length / (now - begun) * 1000, p99: gaps[Math.floor(gaps.length * 0.99)] });
			return;
		}
		n++;
		if (what === "pan") key(Math.floor(n / 40) % 2 ? "a" : "d");
		else wheel(Math.floor(n / 40) % 2 ? 40 : -40);
		requestAnimationFrame(frame);
	};
	requestAnimationFrame(frame);
}), [what, PAN_MS]);

async function trace(browser) {
	const p = await stranger(browser);
	await p.page.goto(base + "#/traces/1" + query);
	await p.page.locator("[data-trace]").first().waitFor();
	await p.page.waitForTimeout(500);
	await p.page.locator("[data-trace]").first().focus();
	const still = await moved(p.page, "zoom");
	await p.page.keyboard.press("Escape");
	for (let i = 0; i < 4; i++) await p.page.keyboard.press("w");
	const panned = await moved(p.page, "pan");
	await p.context.close();
	return { zoom: still, pan: panned };
}

// The most that this browser gives here: frames with nothing to draw.
async function ceiling(browser) {
	const p = await person(browser, base);
	await p.page.goto(base);
	const fps = await p.page.evaluate((ms) => new Promise((done) => {
		let n = 0, begun = 0;
		const frame = (now) => {
			begun ||= now;
			if (now - begun > ms) done(n / (now - begun) * 1000);
			else requestAnimationFrame(frame);
			n++;
		};
		requestAnimationFrame(frame);
	}), PAN_MS);
	await p.context.close();
	return fps;
}

const manager = spawn(sonded, ["--listen", base.slice(7, -1), "--store", store, "--log", "warn"], { stdio: ["ignore", "ignore", "inherit"] });
const browser = await open(modules);
try {
	await until("the manager answers", async () => {
		try {
			return (await fetch(base)).ok;
		} catch {
			return false;
		}
	});
	await firstPaint(browser); // the browser itself starts
	const paints = [];
	for (let i = 0; i < ROUNDS; i++) paints.push(await firstPaint(browser));
	const figures = { first_paint_ms: middle(paints), tree: await tree(browser), trace: await trace(browser), empty_fps: await ceiling(browser) };
	writeFileSync(out, JSON.stringify(figures, null, "\t") + "\n");
	const { tree: t, trace: c } = figures, fps = Math.min(c.pan.fps, c.zoom.fps);
	console.log(`first paint                          ${figures.first_paint_ms.toFixed(0)} ms`);
	console.log(`tree of ${LARGE} nodes: answer to rows  ${t.shown.toFixed(0)} ms, all of it opened ${t.opened.toFixed(0)} ms`);
	for (const [what, f] of Object.entries(c))
		console.log(`transaction of ${LARGE} calls: ${what.padEnd(5)}     ${f.fps.toFixed(1)} frames/s, 99 % of frames within ${f.p99.toFixed(1)} ms`);
	console.log(`nothing drawn                        ${figures.empty_fps.toFixed(1)} frames/s`);
	const bar = (name, text, met) => console.log(`pages/${name}: ${text} ${met ? "met" : "short"}`);
	bar("first-paint", `${figures.first_paint_ms.toFixed(0)} ms (bar: under 500 ms)`, figures.first_paint_ms < 500);
	bar("tree", `${Math.max(t.shown, t.opened).toFixed(0)} ms (bar: under 200 ms)`, Math.max(t.shown, t.opened) < 200);
	bar("trace", `${fps.toFixed(1)} frames/s (bar: at least 50)`, fps >= 50);
} finally {
	await browser.close();
	manager.kill("SIGTERM");
}
