// SPDX-License-Identifier: Apache-2.0
// route.ts - where one is: kept in the part of the address behind #, so that every view can be linked to.
//
//     #/traces/4711?app=shop&min=20ms        view "traces", item "4711", the rest by name
import { signal } from "@preact/signals";

export interface Route {
	view: string;
	item: string;
	query: Record<string, string>;
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text.replace(/\+/g, " "));
	} catch {
		return text;
	}
}

export function parseRoute(hash: string): Route {
	const [path, rest = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
	const [view = "", ...item] = (path ?? "").split("/");
	const query: Record<string, string> = Object.create(null);
	for (const pair of rest.split("&")) {
		if (!pair) continue;
		const at = pair.indexOf("=");
		const key = decoded(at < 0 ? pair : pair.slice(0, at));
		query[key] = at < 0 ? "" : decoded(pair.slice(at + 1));
	}
	return { view: decoded(view) || "overview", item: decoded(item.join("/")), query };
}

export function printRoute(r: Route): string {
	const pairs = Object.entries(r.query).filter(([, v]) => v !== "")
		.map(([k, v]) => encodeURIComponent(k) + "=" + encodeURIComponent(v));
	return "#/" + encodeURIComponent(r.view) + (r.item ? "/" + encodeURIComponent(r.item) : "") +
		(pairs.length ? "?" + pairs.join("&") : "");
}

export const route = signal<Route>(parseRoute(typeof location === "undefined" ? "" : location.hash));

// What stays when one goes to another view.
const KEPT = ["app", "instance", "span", "from", "to"];

export function link(view: string, item = "", query: Record<string, string> = {}): string {
	const kept: Record<string, string> = {};
	for (const key of KEPT) {
		const value = route.value.query[key];
		if (value) kept[key] = value;
	}
	return printRoute({ view, item, query: { ...kept, ...query } });
}

export function go(view: string, item = "", query: Record<string, string> = {}): void {
	location.hash = link(view, item, query);
}

// Changes some of the query; "" takes a word out.  Goes into the history unless `quiet`.
export function put(change: Record<string, string>, quiet = false): void {
	const next = { ...route.value, query: { ...route.value.query, ...change } };
	const hash = printRoute(next);
	if (!quiet) {
		location.hash = hash;
		return;
	}
	history.replaceState(null, "", hash);
	route.value = parseRoute(hash);
}

export function followAddress(): void {
	addEventListener("hashchange", () => { route.value = parseRoute(location.hash); });
}
