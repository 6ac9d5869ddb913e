// SPDX-License-Identifier: Apache-2.0
// digreport.ts - an answer as one file that needs nothing: no script, no network.
import type { Dig } from "../api/types";
import { moment } from "../base/format";

const STYLE = "body{font:15px/1.55 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}" +
	"pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.75rem;border-radius:.375rem;font-size:13px;unicode-bidi:isolate}" +
	".answer{font:inherit;font-size:17px}";

export function escaped(text: string): string {
	return text.replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");
}

export function reportOf(d: Dig, lines: string[]): string {
	const answer = String(d.answer?.text ?? d.why ?? "").split("\n").map((l) => l.trim()).join("\n");
	return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">" +
		"<title>Sonde: why is it slow?</title><style>" + STYLE + "</style></head><body>\n<h1>Why is it slow?</h1>\n<p>" +
		escaped(d.application + ", " + moment(d.started_ms ?? 0)) + "</p>\n<pre class=\"answer\">" + escaped(answer) +
		"</pre>\n<h2>The reasoning</h2>\n<pre>" + escaped(lines.join("\n")) + "</pre>\n" +
		(d.rules?.length ? "<h2>Rules that watch it</h2>\n<pre>" + escaped(d.rules.join("\n")) + "</pre>\n" : "") + "</body></html>\n";
}
