// SPDX-License-Identifier: Apache-2.0
// build.mjs MODULES OUT [test]: makes index.html, app.js and app.css in OUT of what is here, with the packages
// in MODULES; or, for "test", test.mjs alone.  The same sources give the same bytes.
import { createRequire } from "node:module";
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { join, resolve } from "node:path";

const [modules, out, what] = process.argv.slice(2);
const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const { build } = createRequire(resolve(modules, "..", "package.json"))("esbuild");
const LIMIT = 150 * 1024; // of all files, gzipped

const common = { bundle: true, nodePaths: [resolve(modules)], logLevel: "warning", absWorkingDir: resolve(here),
	jsx: "automatic", jsxImportSource: "preact" };
mkdirSync(out, { recursive: true });
if (what === "test") {
	await build({ ...common, entryPoints: ["test/model.test.ts"], outfile: join(resolve(out), "test.mjs"),
		platform: "node", format: "esm" });
	process.exit(0);
}
await build({ ...common, entryPoints: { app: "src/main.tsx" }, outdir: resolve(out), minify: true, format: "esm",
	target: ["chrome115", "firefox120", "safari17"], legalComments: "none" });
for (const file of ["index.html", "favicon.svg"]) copyFileSync(join(here, file), join(out, file));
let sum = 0;
for (const file of ["index.html", "favicon.svg", "app.js", "app.css"]) {
	const packed = gzipSync(readFileSync(join(out, file)), { level: 9 });
	writeFileSync(join(out, file + ".gz"), packed);
	sum += packed.length;
}
if (sum > LIMIT) throw new Error(`the pages take ${sum} bytes gzipped, more than ${LIMIT}`);
console.log(`${(sum / 1024).toFixed(1)} KiB gzipped, app.js ${statSync(join(out, "app.js")).size} bytes`);
