// SPDX-License-Identifier: Apache-2.0
// page.js FILE.html: runs the page's script with a stand-in for the browser, uses it as a person would,
// and prints as JSON what it showed. For machines without a browser.
"use strict";
const html = require("fs").readFileSync(process.argv[2], "utf8");
const data = html.split('type="application/json">')[1].split("</script>")[0];
const script = html.split("<script>")[1].split("</script>")[0];
let boxes = 0, frames = [], focused = null;
const keys = [], texts = new Set();
const pen = new Proxy({}, {
  get: (t, k) => k === "fillRect" ? () => { boxes++; } : k === "fillText" ? s => { texts.add(s); } : () => {},
  set: () => true,
});
const element = () => ({
  style: {}, textContent: "", value: "", className: "", attributes: {}, heard: {},
  cells: [], rows: [], clientWidth: 1000, offsetWidth: 10, offsetHeight: 10,
  appendChild(x) { this.cells.push(x); this.firstChild = this.firstChild || x; },
  insertCell() { this.cells.push(element()); return this.cells[this.cells.length - 1]; },
  replaceChildren(...all) { this.rows = all; },
  setAttribute(name, value) { this.attributes[name] = String(value); },
  addEventListener(name, f) { this.heard[name] = f; },
  focus() { focused = this; }, blur() { focused = null; }, scrollIntoView() {},
  getContext: () => pen, getBoundingClientRect: () => ({ left: 0, top: 0 }),
});
const elements = { data: { textContent: data } };
for (const id of ["chart", "tip", "about", "filter", "found", "heads", "rows"]) elements[id] = element();
global.document = { getElementById: id => elements[id], createElement: element };
global.window = { devicePixelRatio: 1, innerWidth: 1000, innerHeight: 1000,
  addEventListener(name, f) { if (name === "keydown") keys.push(f); } };
global.requestAnimationFrame = f => frames.push(f);
const paint = () => { boxes = 0; frames.splice(0).forEach(f => f()); return boxes; };
const { chart, tip, filter, found, heads, rows } = elements;
const press = key => keys.forEach(f => f({ key: key, target: focused || chart, preventDefault() {} }));
const selected = () => rows.rows.findIndex(line => line.attributes["aria-selected"] === "true");
const told = i => rows.rows.map(line => line.cells[i].textContent);
(0, eval)(script);
const all = paint(), listed = rows.rows.length, longest = told(2)[0], shares = told(3);
chart.heard.mousemove({ clientX: 10, clientY: 50, buttons: 0 });
const tipped = tip.textContent;
for (let i = 0; i < 20; i++) chart.heard.wheel({ preventDefault() {}, clientX: 10, deltaY: -1 });
const zoomed = paint();
chart.heard.click({ clientX: 10, clientY: 50 });
paint();
chart.heard.dblclick();
const again = paint();
press("ArrowDown");
const root = tip.textContent;
press("ArrowDown");
const below = tip.textContent;
press("Enter");
press("Escape");
const before = selected();
press("j");
const after = selected();
heads.cells[2].firstChild.heard.click();
const turned = told(2)[rows.rows.length - 1] === longest;
press("/");
filter.value = "no such text";
filter.heard.input();
const none = rows.rows.length, count = found.textContent;
filter.value = "> 1ns";
filter.heard.input();
console.log(JSON.stringify({ listed, all, zoomed, again, tip: tipped, root, below, shares, before, after, turned,
  asks: focused === filter, none, count, longer: rows.rows.length, texts: [...texts] }));
