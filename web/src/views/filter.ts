// SPDX-License-Identifier: Apache-2.0
// filter.ts - the filters of the list of transactions, as they stand in the address.
import { parseTime } from "../base/format";

// What the filters in the address ask of the manager.  data: "user=alice, shop=7".
export function wordsOf(q: Record<string, string>): Record<string, string> {
	const words: Record<string, string> = {}, min = parseTime(q.min ?? ""), max = parseTime(q.max ?? "");
	if (min > 0) words.min_ns = String(Math.round(min));
	if (max > 0) words.max_ns = String(Math.round(max));
	if (q.failed) words.failed = "1";
	if (q.slow) words.slow = "1";
	if (q.q) words.q = q.q;
	if (q.root) words.root = q.root;
	for (const pair of (q.data ?? "").split(",")) {
		const at = pair.indexOf("=");
		if (at > 0) words["data." + pair.slice(0, at).trim().replace(/^\$/, "")] = pair.slice(at + 1).trim();
	}
	return words;
}
