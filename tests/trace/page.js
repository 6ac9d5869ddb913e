// SPDX-License-Identifier: Apache-2.0
// page.js FILE.html: runs the page's script with a stand-in for the browser, uses it as a person would,
// and prints as JSON what it showed. For machines without a browser.
"use strict";
const html = require("fs").readFileSync(process.argv[2], "utf8");
const data = html.split('type="application/json">')[1].split("</script>")[0];
const script = html.split("<script>")[1].split("</script>")[0];
let boxes = 0, frames = [];
const heard = {}, texts = new Set();
const pen = new Proxy({}, {
  get: (t, k) => k === "fillRect" ? () => { boxes++; } : k === "fillText" ? s => { texts.add(s); } : () => {},
  set: () => true,
});
const element = () => ({
  style: {}, textContent: "", shown: [], clientWidth: 1000, offsetWidth: 10,
  appendChild(x) { this.shown.push(x.textContent); },
  addEventListener(name, f) { heard[name] = f; },
  getContext: () => pen, getBoundingClientRect: () => ({ left: 0, top: 0 }),
});
const elements = { data: { textContent: data }, chart: element(), which: element(), tip: element(),
  about: element() };
global.document = { getElementById: id => elements[id], createElement: () => ({}) };
global.window = { devicePixelRatio: 1, innerWidth: 1000, addEventListener() {} };
global.requestAnimationFrame = f => frames.push(f);
const paint = () => { boxes = 0; frames.splice(0).forEach(f => f()); return boxes; };
(0, eval)(script);
const all = paint();
heard.mousemove({ clientX: 10, clientY: 50, buttons: 0 });
const tip = elements.tip.textContent;
for (let i = 0; i < 20; i++) heard.wheel({ preventDefault() {}, clientX: 10, deltaY: -1 });
const zoomed = paint();
heard.click({ clientX: 10, clientY: 50 });
paint();
heard.dblclick();
console.log(JSON.stringify({ listed: elements.which.shown.length, all: all, zoomed: zoomed,
  again: paint(), tip: tip, texts: [...texts] }));
