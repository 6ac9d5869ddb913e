/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_trace.c - any bytes as a recording: pieces that lie in the file, or an error.
 *
 * Checksums would keep a fuzzer out of everything behind them, so the bytes are also written as the
 * pieces of a good recording, which must come back as they were. */
#include <stdlib.h>

#include "tree/cost.h"
#include "wire/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool held)
{
	if (!held)
		abort();
}

static void read_all(struct slice file)
{
	struct fault f = { 0 };
	struct slice payload;
	struct costs costs;
	struct trace_file t;
	unsigned kind;

	if (trace_file_open(&t, file, &f) < 0)
		return;
	while (trace_file_next(&t, &kind, &payload, &f) > 0) {
		need(payload.p >= file.p && payload.p + payload.n <= file.p + file.n);
		if (kind == TRACE_COSTS)
			(void)cost_read(payload, &costs);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data, size }, payload;
	struct fault f = { 0 };
	struct buf file = { 0 };
	struct trace_file t;
	unsigned kind;

	read_all(in);
	trace_file_begin(&file);
	trace_file_put(&file, TRACE_COSTS, in);
	trace_file_put(&file, TRACE_PROCESS, in);
	trace_file_end(&file);
	need(trace_file_open(&t, buf_slice(&file), &f) == 0);
	need(trace_file_next(&t, &kind, &payload, &f) == 1 && kind == TRACE_COSTS);
	need(payload.n == size && (!size || memcmp(payload.p, data, size) == 0));
	read_all(buf_slice(&file));
	buf_release(&file);
	return 0;
}
