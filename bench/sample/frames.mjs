// SPDX-License-Identifier: Apache-2.0
// frames.mjs MODULES PAGE PICTURES: frames a second while the page of `sonde flame` zooms in and out in each frame, in
// Debian's Chromium without a graphics card, in both themes; and a picture of each.  Fails if the page complains.
import { pathToFileURL } from "node:url";
import { open, person } from "../../tests/pages/browser.mjs";

const [modules, page, pictures] = process.argv.slice(2), MS = process.env.BENCH_QUICK ? 500 : 5000;
const url = pathToFileURL(page).href;

// Zooms by the keys and clicks of a person: into a frame of some row, deeper, and back.
const zoomed = (page, [ms, still]) => page.evaluate(([ms, still]) => new Promise((done) => {
	const canvas = document.getElementById("chart"), box = canvas.getBoundingClientRect(), gaps = [];
	let last = 0, begun = 0, n = 0;
	const click = (x, row) => canvas.dispatchEvent(new MouseEvent("click", { clientX: box.left + x * box.width, clientY: box.top + 18 * row + 9 }));
	const key = (k) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key: k }));
	const frame = (now) => {
		if (last) gaps.push(now - last);
		last = now;
		begun ||= now;
		if (now - begun > ms) {
			gaps.sort((a, b) => a - b);
			done({ fps: gaps.length / (now - begun) * 1000, p99: gaps[Math.floor(gaps.length * 0.99)] });
			return;
		}
		if (!still && n % 8 < 4) click(0.1 + n * 7 % 80 / 100, 1 + n % 8);
		else if (!still) key("Escape");
		n++;
		requestAnimationFrame(frame);
	};
	requestAnimationFrame(frame);
}), [ms, still]);

const browser = await open(modules);
try {
	for (const theme of ["light", "dark"]) {
		const p = await person(browser, url, { colorScheme: theme });
		await p.page.goto(url);
		const drawn = await p.page.evaluate(() => new Promise((done) => {
			const from = performance.now();
			document.getElementById("all").click(); // the tree is made and drawn anew
			done(performance.now() - from);
		}));
		await p.page.screenshot({ path: `${pictures}/flame-${theme}.png` });
		const none = await zoomed(p.page, [MS / 2, true]), zoom = await zoomed(p.page, [MS, false]);
		console.log(`flame graph, ${theme}: made and drawn in ${drawn.toFixed(0)} ms; zooming ${zoom.fps.toFixed(1)} frames/s, 99 % within `
			+ `${zoom.p99.toFixed(1)} ms; with nothing to draw ${none.fps.toFixed(1)} frames/s`);
		if (theme === "light") console.log(`sample/flame-zoom: ${zoom.fps.toFixed(1)} frames/s (bar: at least 50) ${zoom.fps >= 50 ? "met" : "short"}`);
		if (p.complaints.length) throw new Error(p.complaints.join("; "));
		await p.context.close();
	}
} finally {
	await browser.close();
}
