// SPDX-License-Identifier: Apache-2.0
// load.ts - from the manager's form of a transaction to the model's.
import type { TraceAnswer } from "../api/types";
import { CONDITIONAL, NEVER, RUNS, THREW, Trace, UNMET } from "./model";

export function traceOf(a: TraceAnswer): Trace {
	return new Trace({
		id: a.id, at_ms: a.when_ms, elapsed_ns: a.elapsed_ns, missed: a.missed ?? 0, data: a.data ?? {}, facts: {},
		names: a.names.map((n) => [n.method, n.conditional ? CONDITIONAL : 0]),
		parts: a.parts.map((p) => ({ ...p, thread: p.thread ?? "", call: p.call + 1,
			flags: (p.never_begun ? NEVER : 0) | (p.open ? RUNS : 0),
			calls: p.calls.map((c) => [c[0]!, c[1]! + 1, c[2]!, c[3]!,
				(c[4]! & 1 ? THREW : 0) | (c[4]! & 2 ? RUNS : 0) | (c[4]! & 4 ? UNMET : 0)]) })),
	});
}
