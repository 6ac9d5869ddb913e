// SPDX-License-Identifier: Apache-2.0
// rule.ts - from the controls of the component tree to one line of the rule language, and what can come
// next while somebody types a condition.

import { parametersAt } from "./format";

export type Level = "light" | "timed" | "full";

export interface Wish {
	method: string; // as reports name it: pkg.Class.name(desc)
	callers: string[]; // outermost first, of the same form, unhooked ones may lie between; [] = wherever called
	direct: boolean; // the last caller calls it itself
	condition: string;
	level: Level;
	limit: string; // "for 10m", "calls 100", or nothing
}

// pkg.Class.name(ILjava/lang/String;)V -> pkg.Class::name(int, java.lang.String)
export function target(method: string): string {
	const open = parametersAt(method);
	const plain = open > 0 ? method.slice(0, open) : method;
	const at = plain.lastIndexOf(".");
	if (at < 0) return method;
	return plain.slice(0, at) + "::" + plain.slice(at + 1) + (open > 0 ? "(" + parametersOf(method).join(", ") + ")" : "");
}

export function ruleOf(w: Wish): string {
	const words = ["hook", target(w.method)];
	if (w.callers.length)
		words.push((w.direct ? "directly " : "") + "inside " + w.callers.map(target).join(" >> "));
	if (w.condition.trim()) words.push("if " + w.condition.trim().replace(/\s+/g, " "));
	words.push(w.level);
	if (w.limit) words.push(w.limit);
	return words.join(" ");
}

// The callers for a sequence of `length` methods that ends with the last of `path` (outermost first).
export function sequence(path: string[], length: number): string[] {
	return path.slice(Math.max(0, path.length - length), path.length - 1);
}

// Does this line of a plan hook this very method?
export function hooks(rule: string, method: string): boolean {
	const m = /^\s*hook\s+([^\s(]+(?:\([^)]*\))?)/.exec(rule);
	if (!m) return false;
	const wanted = target(method), bare = wanted.replace(/\(.*$/s, "");
	return m[1] === wanted || m[1] === bare;
}

// What a condition can begin with; data: names that are captured higher up.
const TESTS = ["==", "!=", "<", "<=", ">", ">=", "contains", "startsWith", "endsWith", "matches", "in (",
	"instanceof"];

export function completions(text: string, at: number, parameters: string[], data: string[]): string[] {
	const before = text.slice(0, at);
	if (inText(before)) return [];
	const word = /[$\w.]*$/.exec(before)![0];
	const values = ["$this", "$return", ...parameters.map((_, i) => "$" + (i + 1)), ...data.map((d) => "$" + d)];
	if (word.startsWith("$") && !word.includes("."))
		return values.filter((v) => v.startsWith(word) && v !== word);
	const done = /(\$[\w.]+(\(\))?(\[[^\]]*\])?)\s+\w*$/.exec(before);
	if (done && !/\b(and|or|not)\s+\w*$/.test(before)) return TESTS.filter((t) => t.startsWith(word));
	if (/("[^"]*"|\b\d+|true|false|null|\))\s+\w*$/.test(before))
		return ["and", "or"].filter((t) => t.startsWith(word));
	return word === "" ? [...values, "not"] : [];
}

function inText(before: string): boolean {
	return (before.replace(/\\./g, "").match(/"/g)?.length ?? 0) % 2 === 1;
}

const PRIMITIVE: Record<string, string> = { B: "byte", C: "char", D: "double", F: "float", I: "int", J: "long", S: "short",
	Z: "boolean" };

// The types of a method's parameters, from its descriptor (JVMS 4.3.3) or from a list as in Java.
export function parametersOf(method: string): string[] {
	const open = parametersAt(method), list = open < 0 ? "" : method.slice(open + 1, method.lastIndexOf(")"));
	if (!/^(\[*([BCDFIJSZ]|L[^;]*;))*$/.test(list)) return list.split(",").map((p) => p.trim()).filter(Boolean);
	return (list.match(/\[*(?:[BCDFIJSZ]|L[^;]*;)/g) ?? []).map((d) => {
		const arrays = d.lastIndexOf("[") + 1, type = d.slice(arrays);
		return (type.startsWith("L") ? type.slice(1, -1).replace(/\//g, ".") : PRIMITIVE[type]) + "[]".repeat(arrays);
	});
}

// As people write it: Cart.add(int, String)
export function readable(method: string): string {
	const open = parametersAt(method);
	if (open < 0) return method;
	return method.slice(0, open) + "(" + parametersOf(method).map((p) => p.slice(p.lastIndexOf(".") + 1)).join(", ") + ")";
}
