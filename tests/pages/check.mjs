// SPDX-License-Identifier: Apache-2.0
// check.mjs MODULES SONDED STORE APP TOMCAT PORT: the pages in a real browser against a real manager, with two shops and a
// Tomcat (on PORT; 0: it is not installed) that run under real agents.  Starts the manager, and ends and starts it once
// more.  Prints a line for each test.  Environment: PAGES_ONLY=TEXT runs those with that text in their name; most build on those before.
import { spawn } from "node:child_process";
import { freePort, open, person, until } from "./browser.mjs";

const [modules, sonded, store, app, tomcat, web] = process.argv.slice(2);
const port = await freePort();
const base = `http://127.0.0.1:${port}/`, query = "?app=" + encodeURIComponent(app);
const at = (view, more = "") => base + "#/" + view + query + more;
const api = async (path, method = "GET", body) => {
	const answer = await fetch(base + "api/v1" + path, { method, headers: { "Content-Type": "application/json" },
		body: body && JSON.stringify(body) });
	if (!answer.ok) throw new Error(path + ": " + answer.status + " " + await answer.text());
	return answer.status === 204 ? null : answer.json();
};
const APP = "/applications/" + encodeURIComponent(app);
const rules = async () => (await api(APP + "/plan")).rules.map((r) => r.text);

let manager;
async function start() {
	manager = spawn(sonded, ["--listen", "127.0.0.1:" + port, "--store", store, "--interval", "1", "--log", "warn"], { stdio: ["ignore", "ignore", "inherit"] });
	await until("the manager knows both shops", async () => {
		try {
			return (await api(APP)).connected === 2;
		} catch {
			return false;
		}
	});
}
const stop = () => new Promise((done) => {
	manager.once("exit", done);
	manager.kill("SIGTERM");
});

let failed = false;
async function test(name, what) {
	if (!name.includes(process.env.PAGES_ONLY ?? "")) return;
	try {
		const skipped = await what();
		console.log(typeof skipped === "string" ? "skip " + name + ": " + skipped : "ok " + name);
	} catch (e) {
		failed = true;
		console.log(String(e.stack));
		console.log("not ok " + name + ": " + String(e.message).split("\n")[0]);
	}
}
function must(holds, why) {
	if (!holds) throw new Error(why);
}

// With PICTURES=DIR, what a person sees here, in both themes.
async function picture(name, of = page) {
	if (!process.env.PICTURES) return;
	for (const theme of ["light", "dark"]) {
		await of.emulateMedia({ colorScheme: theme });
		await new Promise((done) => setTimeout(done, 400));
		await of.screenshot({ path: `${process.env.PICTURES}/${name}-${theme}.png` });
	}
	await of.emulateMedia({ colorScheme: "light" });
}

await start();
const browser = await open(modules);
const { page, complaints, context } = await person(browser, base);
const row = (text) => page.locator("[role=treeitem]", { hasText: text }).first();

await test("the-policy-of-content-allows-nothing-inline", async () => {
	const policy = (await (await fetch(base)).headers).get("content-security-policy") ?? "";
	must(/default-src 'none'/.test(policy) && !/unsafe/.test(policy), policy);
});

await test("an-application-without-hooks-says-what-to-do", async () => {
	await page.goto(at("components"));
	await page.getByLabel("Hook", { exact: true }).fill("com.shop.**::*");
	await page.getByRole("button", { name: "Hook" }).click();
	await row("Cart.checkout").waitFor();
	must((await rules()).some((r) => r.startsWith("hook com.shop.**::*")), "the plan has no such rule");
});

await test("the-tree-shows-who-calls-whom-with-figures", async () => {
	await page.getByRole("button", { name: "Open all" }).click();
	await row("Inventory.wrap").waitFor();
	const levels = await Promise.all(["Cart.checkout", "Payment.reserve", "Inventory.adjust", "Inventory.wrap"].map((m) => row(m).getAttribute("aria-level")));
	must(Number(levels[0]) < Number(levels[1]) && Number(levels[1]) < Number(levels[2]) && Number(levels[2]) < Number(levels[3]), levels.join());
	await until("calls are counted", async () => /\d/.test(await row("Cart.checkout").locator(".num").first().innerText()));
});

await test("a-box-unhooks-and-hooks-in-the-running-program", async () => {
	const price = row("Catalog.price");
	await price.waitFor();
	await price.locator("input").click();
	await until("the plan leaves it out", async () => (await rules()).some((r) => r.startsWith("skip com.shop.Catalog::price")));
	await until("no instance hooks it any more", async () => (await api(APP + "/methods")).methods.every((m) => !/Catalog\.price/.test(m.method) || m.gone));
});

await test("what-has-no-data-is-in-italics-and-cannot-be-chosen", async () => {
	const wrap = row("Inventory.wrap");
	await wrap.locator(".twist").click();
	const format = row("String.format");
	await format.waitFor();
	must(await format.evaluate((e) => getComputedStyle(e).fontStyle) === "italic", "not in italics");
	must(await format.getAttribute("aria-disabled") === "true", "not disabled");
	await format.click({ position: { x: 300, y: 8 }, force: true });
	must(await format.getAttribute("aria-selected") === "false", "could be chosen");
});

await test("sequence-and-condition-become-a-rule-in-force", async () => {
	await row("Inventory.adjust").click();
	await page.getByLabel("Sequence length").last().selectOption("3");
	const editor = page.getByLabel("Only if");
	await editor.fill("$2 == ");
	await editor.press("End");
	await page.getByRole("button", { name: "$this", exact: true }).waitFor();
	await editor.fill("$2 == \"GIFT\"");
	const rule = await page.locator(".rule").first().innerText();
	must(/^hook com\.shop\.Inventory::adjust\(.*\) inside .* if \$2 == "GIFT" timed$/.test(rule), rule);
	await page.getByRole("button", { name: "Hook", exact: true }).click();
	await until("it is in force on both", async () => (await page.locator(".note").allInnerTexts()).some((t) => /in force on 2 of 2/.test(t)));
	await picture("components");
	await until("its figures are those of gifts alone", async () => {
		const m = (await api(APP + "/methods")).methods.find((x) => /Inventory\.adjust/.test(x.method));
		return m?.conditional;
	});
});

await test("a-wrong-condition-is-told-while-it-is-typed", async () => {
	await page.getByLabel("Only if").fill("$2 === 1");
	await page.locator(".error[role=alert]").first().waitFor();
	must(await page.getByRole("button", { name: "Change the hook" }).isDisabled(), "the button is not disabled");
});

await test("the-overview-has-curves-findings-and-the-price", async () => {
	await page.goto(at("overview"));
	for (const title of ["Findings", "Response time", "Calls", "Errors", "At once", "Methods", "Instances"])
		await page.getByRole("heading", { name: title, exact: true }).waitFor();
	await page.locator(".chart canvas").first().waitFor();
	await until("the price is known", async () => /%/.test(await page.locator(".cost").innerText()));
	await page.locator("tbody tr", { hasText: "Cart.checkout" }).first().waitFor();
	await picture("overview");
});

await test("transactions-are-listed-filtered-and-chosen-on-the-map", async () => {
	await page.goto(at("traces"));
	await page.locator("[data-heat]").waitFor();
	await page.locator("td a").first().waitFor();
	await page.getByLabel("At least").fill("100us");
	await page.waitForURL(/min=100us/);
	const shortest = async () => Math.min(...await page.locator("td a").allInnerTexts().then((all) => all.map((t) =>
		parseFloat(t) * (/µs/.test(t) ? 1e3 : /ms/.test(t) ? 1e6 : / s/.test(t) ? 1e9 : 1))));
	await until("only long ones are shown", async () => await shortest() >= 99e3);
	const map = await page.locator("[data-heat]").boundingBox();
	await page.mouse.move(map.x + map.width * 0.5, map.y + 10);
	await page.mouse.down();
	await page.mouse.move(map.x + map.width - 5, map.y + map.height * 0.8, { steps: 4 });
	await page.mouse.up();
	await page.waitForURL(/from=\d+/);
	await page.getByRole("button", { name: "Clear" }).click();
	await page.locator("td a").first().waitFor();
	await picture("traces");
});

await test("a-transaction-is-walked-by-keys-and-its-address-is-a-link", async () => {
	await page.goto(at("traces", "&root=checkout"));
	await page.locator("td a").first().click();
	const canvas = page.locator("[data-trace]");
	await canvas.waitFor();
	await canvas.focus();
	for (const key of ["ArrowDown", "ArrowDown", "w", "d", "Enter"]) await page.keyboard.press(key);
	await page.getByRole("heading", { name: "The call" }).waitFor();
	await page.waitForURL(/call=\d+.*at=|at=.*call=\d+/);
	const link = page.url(), text = await page.locator("section[aria-label='The call']").innerText();
	const other = await person(browser, base);
	await other.page.goto(link);
	await other.page.getByRole("heading", { name: "The call" }).waitFor();
	must(await other.page.locator("section[aria-label='The call']").innerText() === text, "another call is shown");
	await other.context.close();
	await page.getByRole("button", { name: "Critical path" }).click();
	await page.getByRole("columnheader", { name: "On the critical path" }).waitFor();
	await picture("trace");
});

await test("a-picture-follows-the-theme-while-it-is-open", async () => {
	const canvas = page.locator("[data-trace]");
	const shade = () => canvas.evaluate((c) => c.getContext("2d").getImageData(2, c.height - 3, 1, 1).data[0]);
	await until("it is light", async () => await shade() > 200);
	await page.emulateMedia({ colorScheme: "dark" });
	await until("it is dark", async () => await shade() < 80, 5000);
	await page.emulateMedia({ colorScheme: "light" });
	await until("it is light again", async () => await shade() > 200, 5000);
});

await test("two-transactions-are-compared", async () => {
	await page.goto(at("traces"));
	await page.locator("td input[type=checkbox]").nth(1).waitFor();
	await page.locator("td input[type=checkbox]").nth(0).check();
	await page.locator("td input[type=checkbox]").nth(1).check();
	await page.getByRole("button", { name: "Compare the two chosen" }).click();
	await page.getByRole("heading", { name: "What makes the difference" }).waitFor();
	await picture("compare");
	must(await page.locator("[data-trace]").count() === 2, "there are not two");
});

await test("hot-spots-are-sampled-and-shown-from-both-sides", async () => {
	await page.goto(at("hot"));
	await page.getByLabel("Sample for").selectOption("2");
	await page.getByRole("button", { name: "Sample" }).click();
	await page.getByRole("heading", { name: "Functions" }).waitFor();
	if (await page.getByText("No thread was seen").count()) await page.getByRole("button", { name: "parked" }).click();
	await page.locator("[data-flame]").waitFor();
	await page.locator("[data-flame]").focus();
	for (const key of ["ArrowUp", "ArrowUp", "Enter"]) await page.keyboard.press(key);
	await page.locator("td button.quiet").first().click();
	await page.getByText("Callers of").waitFor();
	await picture("hot");
	must(await page.locator("[data-flame]").count() === 2, "there are not two");
});

await test("two-processes-are-compared-in-one-flame-graph", async () => {
	const other = (await api(APP)).instances.filter((i) => i.state === "connected")[1].id;
	await page.goto(at("hot", "&instance=" + other));
	await page.getByLabel("Threads").selectOption("wall");
	await page.getByLabel("Sample for").selectOption("2");
	await page.getByRole("button", { name: "Sample", exact: true }).click();
	await until("there are two looks", async () => await page.getByLabel("Show", { exact: true }).locator("option").count() === 2);
	await page.getByLabel("compared with").selectOption({ index: 1 });
	await page.getByRole("heading", { name: "What has changed" }).waitFor();
	for (const text of await page.locator("td:nth-child(2)").allInnerTexts()) must(/^([+−][\d.]+ points|as before)$/.test(text), text);
	const label = () => page.locator("[data-flame]").getAttribute("aria-label");
	must(/^Differential flame graph/.test(await label()), await label());
	await page.locator("[data-flame]").focus();
	await page.keyboard.press("ArrowUp");
	await until("the frame's change is told", async () => /points|as before/.test(await page.locator("[aria-live=polite]").innerText()));
	const first = () => page.locator("tbody tr").first().innerText(), was = await first();
	await page.getByRole("button", { name: "Widths from before" }).click();
	await until("the figures are those of before", async () => await first() !== was);
	await page.getByLabel("compared with").selectOption("0");
	await page.getByRole("heading", { name: "Functions" }).waitFor();
});

await test("the-live-view-shows-functions-threads-and-states-and-can-be-held", async () => {
	await page.goto(at("hot/live"));
	const figures = () => page.locator("tbody td:nth-child(2)").allInnerTexts();
	await page.locator("tbody tr", { hasText: "Formatter" }).first().waitFor();
	await page.getByRole("button", { name: "With what it calls" }).click();
	await page.waitForURL(/sort=total/);
	await page.locator("th[aria-sort=descending]", { hasText: "With what it calls" }).waitFor();
	const totals = (await page.locator("tbody td:nth-child(3)").allInnerTexts()).map(parseFloat);
	must(totals.length > 3 && totals.every((v, i) => i === 0 || v <= totals[i - 1]), totals.join());
	await page.getByLabel("Find functions").fill("formatter");
	await until("only wanted ones are there", async () => {
		const names = await page.locator("tbody td:first-child").allInnerTexts();
		return names.length > 0 && names.every((n) => /formatter/i.test(n));
	});
	await page.getByLabel("Find functions").fill("");
	await page.locator("h1").click();
	await page.keyboard.press("p");
	await page.getByText("held", { exact: true }).waitFor();
	const held = (await figures()).join();
	await new Promise((later) => setTimeout(later, 5000));
	must((await figures()).join() === held, "the picture is not held");
	await page.keyboard.press("p");
	await until("it goes on", async () => (await figures()).join() !== held);
	await page.getByLabel("Rows are").selectOption("threads");
	await page.locator("tbody a", { hasText: "customer-1" }).click();
	await page.getByRole("button", { name: "only thread" }).waitFor();
	await page.getByLabel("Threads", { exact: true }).selectOption("wall");
	await page.getByRole("button", { name: "only thread" }).click();
	await page.getByLabel("Rows are").selectOption("threads");
	await page.getByRole("button", { name: "waiting", exact: true }).click();
	await until("threads are there that wait", async () => {
		const states = await page.locator("tbody td:nth-child(3)").allInnerTexts();
		return states.length > 0 && states.every((s) => s === "waiting");
	});
	await page.getByRole("button", { name: "As flame graph" }).click();
	await page.locator("[data-flame]").waitFor();
});

await test("the-plan-is-edited-undone-and-two-people-see-it-at-once", async () => {
	const second = await person(browser, base);
	await second.page.goto(at("plans"));
	await second.page.getByRole("heading", { name: "History" }).waitFor();
	await second.page.getByRole("button", { name: "Edit as text" }).click();
	await page.goto(at("plans"));
	await page.getByRole("button", { name: "Edit as text" }).click();
	const text = page.getByLabel("rules", { exact: true });
	await text.fill("hook com.shop.**::* timed\n");
	await page.getByText("No difference").waitFor({ state: "detached" });
	await page.getByLabel("Why", { exact: true }).fill("<b>only</b> \u202esdrawkcab " + "x".repeat(20000));
	await page.getByRole("button", { name: /Save as version/ }).click();
	await until("the rule is the only one", async () => (await rules()).length === 1);
	await second.page.getByText("Somebody else has changed the plan").waitFor();
	await second.page.getByLabel("rules", { exact: true }).fill("hook com.shop.Cart::* timed\n");
	await second.page.getByRole("button", { name: /Save as version/ }).click();
	await second.page.locator(".toast").first().waitFor();
	must((await rules()).length === 1, "the second person's plan was taken");
	await page.getByRole("button", { name: "Undo the last change" }).click();
	await until("the rules are back", async () => (await rules()).length > 1);
	await picture("plan");
	await second.context.close();
});

const asking = await person(browser, base);
await test("why-is-asked-and-the-reasoning-comes", async () => {
	await asking.page.goto(at("why", "&method=" + encodeURIComponent("com.shop.Cart.checkout")));
	await asking.page.getByLabel("For at most").selectOption("30");
	await asking.page.getByRole("button", { name: "Why?", exact: true }).click();
	await asking.page.locator(".log li").first().waitFor();
	must(await asking.page.getByRole("button", { name: "Stop" }).isVisible(), "it cannot be stopped");
});

await test("names-that-are-html-or-run-backwards-are-text", async () => {
	await page.goto(at("components", "&find=" + encodeURIComponent("onerror")));
	await page.locator("[role=treeitem]", { hasText: "<img src=x onerror=alert(1)>" }).first().waitFor();
	must(await page.locator("main img").count() === 0, "there is an image");
	await page.goto(at("components"));
	must(!(await page.locator("main").innerText()).includes("\u202e"), "a mark of direction is in the page");
	await page.goto(at("plans"));
	await page.getByText("<b>only</b>").first().waitFor();
	must(await page.locator("main b").count() === 0, "a comment became an element");
});

await test("a-statement-of-a-megabyte-with-html-in-it-is-text", async () => {
	await api(APP + "/plan/rules", "POST", { hook: ["capture statement = $1 at com.shop.Front::ask", "hook com.shop.Front::ask full"],
		comment: "data that is hostile" });
	const kept = await until("a statement has come", async () =>
		(await api("/traces?root=ask&application=" + encodeURIComponent(app))).traces.find((t) => t.data.statement));
	await page.goto(at("traces/" + kept.id));
	await page.locator("[data-trace]").waitFor();
	const said = page.getByText("<b>bold</b>").first();
	await said.waitFor();
	const text = await page.locator("main").innerText();
	must(await page.locator("main b", { hasText: /^bold$/ }).count() === 0, "a value became an element");
	must(!text.includes("\u202e"), "a mark of direction is in the page");
	must(text.length < 20000, text.length + " characters are shown");
	await picture("trace-of-a-statement");
});

await test("level-and-end-of-a-hook-become-its-rule", async () => {
	await page.goto(at("components", "&find=authorise"));
	await row("Payment.authorise").click();
	await page.getByLabel("Level").last().selectOption("light");
	await page.getByLabel("Leaves").selectOption("calls 1000");
	const rule = await page.locator(".rule").first().innerText();
	must(/^hook com\.shop\.Payment::authorise\(.*\) light calls 1000$/.test(rule), rule);
	await page.getByRole("button", { name: /^(Hook|Change the hook)$/ }).click();
	await until("the plan has it", async () => (await rules()).some((r) => r === rule));
	await page.getByRole("button", { name: "Unhook", exact: true }).click();
	await until("the plan has it no more", async () => !(await rules()).some((r) => r === rule));
	await page.getByRole("button", { name: "Close all" }).click();
	await page.getByLabel("A box hooks").selectOption("full");
});

await test("a-rule-is-unhooked-and-an-earlier-plan-comes-back", async () => {
	await page.goto(at("plans"));
	const before = await rules();
	await page.getByRole("button", { name: /^unhook hook com\.shop\.\*\*::\*/ }).click();
	await until("it is gone", async () => (await rules()).length === before.length - 1);
	const versions = page.locator("button[aria-expanded]");
	await until("the history has it", async () => Number(await versions.first().innerText()) === (await api(APP + "/plan")).version);
	await versions.first().click();
	await page.getByRole("group", { name: "difference" }).waitFor();
	must(/com\.shop\.\*\*::\*/.test(await page.locator(".diff .del").first().innerText()), "the difference does not say what went");
	await page.getByRole("button", { name: "Back to this" }).first().click();
	await until("it is back", async () => (await rules()).join() === before.join());
});

await test("transactions-are-filtered-by-data-failure-and-text-and-kept-or-not", async () => {
	const rows = page.locator("tbody tr");
	await page.goto(at("traces"));
	await page.getByLabel("failed", { exact: true }).check();
	await page.waitForURL(/failed=1/);
	await until("only failed ones are shown", async () => await rows.count() > 0 && await rows.count() === await rows.locator(".tag.bad").count());
	await page.getByLabel("failed", { exact: true }).uncheck();
	await page.getByLabel("slow", { exact: true }).check();
	await until("only slow ones are shown", async () => await rows.count() > 0 && await rows.count() === await rows.locator(".tag.warn").count());
	await page.getByRole("button", { name: "Clear" }).click();
	await page.getByLabel("Captured data").fill("statement=nothing of that kind");
	await page.waitForURL(/data=/);
	await until("none is shown", async () => await rows.count() === 0);
	await page.getByLabel("Captured data").fill("");
	await page.getByLabel("Text anywhere").fill("drawkcab");
	await until("one is found by its text", async () => await rows.count() > 0 && await rows.filter({ hasText: "Front.ask" }).count() === await rows.count());
	await page.getByLabel("Text anywhere").fill("");
	await until("all are shown", async () => await rows.count() === 200);
	await page.getByRole("button", { name: "Older ones" }).click();
	await until("there are more", async () => await rows.count() > 200);
	const keeps = page.getByLabel("collect transactions");
	await keeps.click();
	await until("none is collected", async () => (await api(APP + "/plan")).traces.keep === false);
	await keeps.click();
	await until("they are collected", async () => (await api(APP + "/plan")).traces.keep !== false);
	await api(APP + "/plan/rules", "POST", { unhook: ["capture statement = $1 at com.shop.Front::ask", "hook com.shop.Front::ask full"] });
});

await test("a-transaction-is-folded-searched-and-given-to-other-tools", async () => {
	await page.goto(at("traces", "&root=checkout"));
	await page.locator("td a").first().click();
	await page.locator("[data-trace]").waitFor();
	const fold = page.getByRole("button", { name: /^Fold repeated calls/ });
	await fold.click();
	must(await fold.getAttribute("aria-pressed") === "true", "it is not folded");
	await page.getByLabel("Find calls").fill("total");
	await page.getByRole("button", { name: "All", exact: true }).click();
	const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Perfetto" }).click()]);
	must(/\.pftrace$/.test(file.suggestedFilename()), file.suggestedFilename());
	await page.getByRole("link", { name: "All traces" }).click();
	await page.locator("[data-heat]").waitFor();
});

await test("the-overview-is-of-one-instance-one-method-and-another-time", async () => {
	await page.goto(at("overview"));
	const one = (await api(APP)).instances.find((i) => i.state === "connected").id;
	await page.getByLabel(/instance/i).first().selectOption(one);
	await page.waitForURL(new RegExp("instance=" + one));
	await page.getByLabel("Curves of").selectOption({ label: "Inventory.wrap" });
	await page.waitForURL(/method=/);
	const box = await page.locator(".chart canvas").first().boundingBox();
	await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 5 });
	await page.mouse.up();
	await page.waitForURL(/from=\d+/);
	await page.getByRole("button", { name: "Back to now" }).click();
	await until("it is now again", async () => !/from=\d+/.test(page.url()));
});

await test("keys-alone-reach-every-view-and-hook", async () => {
	await page.goto("about:blank");
	await page.goto(at("overview"));
	await page.getByRole("heading", { name: "Findings" }).waitFor();
	await page.keyboard.press("Tab");
	must(await page.evaluate(() => document.activeElement.className) === "skip", "Tab does not begin at the way to the content");
	for (const [key, heading] of [["t", "Traces"], ["h", "Hot spots"], ["w", "Why is it slow?"], ["p", "Plan of"], ["c", "Components"]]) {
		await page.keyboard.press("g");
		await page.keyboard.press(key);
		await page.getByRole("heading", { name: heading }).first().waitFor();
	}
	await page.locator("[role=tree]").focus();
	await page.keyboard.press("Home");
	await page.keyboard.press("ArrowDown");
	const before = (await rules()).length;
	await page.keyboard.press("Space");
	await until("the plan has changed", async () => (await rules()).length !== before);
	await page.keyboard.press("?");
	await page.getByRole("dialog").waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("dialog").waitFor({ state: "detached" });
});

for (const theme of ["light", "dark"]) {
	await test("twice-the-size-needs-no-sideways-scrolling-" + theme, async () => {
		const p = await person(browser, base, { viewport: { width: 640, height: 480 }, deviceScaleFactor: 2, colorScheme: theme });
		for (const view of ["overview", "components", "traces", "hot", "why", "plans"]) {
			await p.page.goto(at(view));
			await p.page.locator("main h1").first().waitFor();
			const wide = await p.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			must(wide <= 0, view + " is " + wide + " pixels too wide");
		}
		const contrast = await p.page.evaluate(() => {
			const light = (c) => {
				const [r, g, b] = c.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
				return 0.2126 * r + 0.7152 * g + 0.0722 * b;
			};
			const colour = (name, of) => {
				const e = document.createElement("i");
				e.style.color = "var(--" + name + ")";
				document.body.append(e);
				const c = getComputedStyle(e).color;
				e.remove();
				return light(c);
			};
			const pairs = [["text", "back"], ["text", "page"], ["faint", "raised"], ["faint", "page"], ["accent", "raised"], ["bad", "raised"],
				["warn", "warnwash"], ["bad", "badwash"], ["onaccent", "accent"]];
			return pairs.map(([a, b]) => {
				const x = colour(a), y = colour(b);
				return [a + " on " + b, (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)];
			}).filter(([, c]) => c < 4.5);
		});
		must(contrast.length === 0, "too little contrast: " + contrast.map(([n, c]) => n + " " + c.toFixed(1)).join(", "));
		must(p.complaints.length === 0, p.complaints.join("; "));
		await p.context.close();
	});
}

await test("why-is-answered-and-can-be-shared", async () => {
	const { page: p } = asking;
	await p.getByRole("heading", { name: "The answer" }).waitFor({ timeout: 180000 });
	const answer = (await p.locator(".answer").innerText()).replace(/\s+/g, " ");
	const known = (await api("/digs?application=" + encodeURIComponent(app))).digs[0];
	must(/^(Slow:|Nothing is slow)/.test(answer) && known.answer.text.replace(/\s+/g, " ").trim() === answer.trim(), answer);
	await picture("why", p);
	const [file] = await Promise.all([p.waitForEvent("download"), p.getByRole("button", { name: "Share as one file" }).click()]);
	must(/\.html$/.test(file.suggestedFilename()), file.suggestedFilename());
	if (known.rules?.length) {
		await p.getByRole("button", { name: "Hook this in all instances" }).click();
		await p.getByText("In the plan since version").waitFor();
	}
	must(asking.complaints.length === 0, asking.complaints.join("; "));
	await asking.context.close();
});

await test("a-servlet-of-tomcat-is-hooked-traced-and-unhooked", async () => {
	if (web === "0") return "tomcat10-examples is not installed";
	const person1 = await person(browser, base), p = person1.page, query = "?app=" + encodeURIComponent(tomcat);
	const ask = (servlet) => fetch(`http://127.0.0.1:${web}/examples/servlets/servlet/${servlet}`).then((a) => a.text());
	let asks = true;
	const customer = (async () => {
		while (asks) {
			await ask("HelloWorldExample");
			await ask("RequestParamExample?firstname=%3Cscript%3Ealert(1)%3C/script%3E&lastname=x");
			await new Promise((later) => setTimeout(later, 50));
		}
	})();
	try {
		await until("the manager knows Tomcat", async () => (await api("/applications")).applications.some((a) => a.name === tomcat && a.connected === 1));
		await p.goto(base + "#/components" + query);
		await p.getByLabel("Hook", { exact: true }).fill("extends jakarta.servlet.http.HttpServlet::doGet full");
		await p.getByRole("button", { name: "Hook" }).click();
		const servlet = p.locator("[role=treeitem]", { hasText: "RequestParamExample.doGet" }).first();
		await servlet.waitFor();
		await p.goto(base + "#/traces" + query + "&root=RequestParam");
		await until("its transactions are listed", async () => await p.locator("td a").count() > 0 &&
			(await p.locator("tbody tr").allInnerTexts()).every((t) => /RequestParamExample/.test(t)));
		await p.locator("td a").first().click();
		await p.locator("[data-trace]").waitFor();
		await p.getByRole("heading", { name: "RequestParamExample.doGet" }).waitFor();
		await p.goto(base + "#/hot/live" + query + "&mode=wall&by=threads");
		await p.locator("tbody tr", { hasText: "http-nio" }).first().waitFor();
		await p.goto(base + "#/components" + query);
		await servlet.locator("input").click();
		await until("it is left out", async () => (await api("/applications/" + encodeURIComponent(tomcat) + "/plan")).rules
			.some((r) => /^skip RequestParamExample::doGet/.test(r.text)));
		must(/HelloWorld|Hello World/i.test(await ask("HelloWorldExample")), "Tomcat answers no more");
		must(await p.locator("main script").count() === 0 && person1.complaints.length === 0, person1.complaints.join("; "));
	} finally {
		asks = false;
		await customer;
		await person1.context.close();
	}
});

await test("a-page-outlives-the-manager", async () => {
	await page.goto(at("plans"));
	await page.getByText("live", { exact: true }).waitFor();
	page.expectsBreak = true;
	await stop();
	await page.locator(".dot.bad, .dot.warn").first().waitFor();
	await start();
	await page.getByText("live", { exact: true }).waitFor();
	await page.locator("tbody tr").first().waitFor();
	page.expectsBreak = false;
});

await test("no-page-complained-or-asked-another-host", async () => {
	must(complaints.length === 0, [...new Set(complaints)].slice(0, 5).join("; "));
});

await context.close();
await browser.close();
await stop();
process.exit(failed ? 1 : 0);
