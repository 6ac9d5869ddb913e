// SPDX-License-Identifier: Apache-2.0
// browser.mjs - Chromium without a screen, and what no page may do: complain, or ask another host.
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { resolve } from "node:path";

const ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync"];
export const PATIENCE = 60000; // ms; a disturbed machine is slow

export async function open(modules) {
	const { chromium } = createRequire(resolve(modules, "..", "package.json"))("playwright-core");
	return chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGS, timeout: PATIENCE });
}

// A person's window.  complaints: what the console or the network said that it should not.
export async function person(browser, base, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
	const page = await context.newPage(), complaints = [];
	page.setDefaultTimeout(PATIENCE);
	page.on("console", (m) => {
		if (m.type() === "error" && !page.expectsBreak) complaints.push("console: " + m.text());
	});
	page.on("pageerror", (e) => complaints.push("error: " + e.message));
	page.on("request", (r) => {
		if (!r.url().startsWith(base) && !r.url().startsWith("blob:" + base) && !/^(data|about):/.test(r.url()))
			complaints.push("request to " + r.url());
	});
	page.on("dialog", (d) => {
		complaints.push("dialog: " + d.message());
		void d.dismiss();
	});
	return { context, page, complaints };
}

export async function until(what, holds, patience = PATIENCE) {
	const end = Date.now() + patience;
	for (;;) {
		const value = await holds();
		if (value) return value;
		if (Date.now() > end) throw new Error("waited in vain until " + what);
		await new Promise((next) => setTimeout(next, 150));
	}
}

export function freePort() {
	return new Promise((found) => {
		const probe = createServer().listen(0, "127.0.0.1", () => {
			const { port } = probe.address();
			probe.close(() => found(port));
		});
	});
}
