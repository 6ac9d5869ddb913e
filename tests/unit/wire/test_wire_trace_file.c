/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire_trace_file.c - recordings are read as they were written, and damage is always seen. */
#include "wire/trace_file.h"

#include "test.h"

static void fill(struct buf *out)
{
	trace_file_begin(out);
	trace_file_put(out, TRACE_MACHINE, slice_str("cpu One\n"));
	trace_file_put(out, (enum trace_kind)77, slice_str("of a later Sonde"));
	trace_file_put(out, TRACE_PROCESS, slice_str("frames"));
	trace_file_end(out);
}

/* Number of pieces, or the error. */
static int count(struct slice file)
{
	struct fault f = { 0 };
	struct slice payload;
	struct trace_file t;
	unsigned kind;
	int rc = trace_file_open(&t, file, &f), n = 0;

	while (rc >= 0 && (rc = trace_file_next(&t, &kind, &payload, &f)) > 0) {
		CHECK(payload.p >= file.p && payload.p + payload.n <= file.p + file.n);
		n++;
	}
	return rc < 0 ? rc : n;
}

TEST(a_recording_is_read_as_it_was_written)
{
	struct buf file = { 0 };
	struct fault f = { 0 };
	struct slice payload;
	struct trace_file t;
	unsigned kind;

	fill(&file);
	CHECK_INT(trace_file_open(&t, buf_slice(&file), &f), 0, NULL);
	CHECK_INT(trace_file_next(&t, &kind, &payload, &f), 1, NULL);
	CHECK(kind == TRACE_MACHINE && slice_is(payload, "cpu One\n"));
	CHECK_INT(trace_file_next(&t, &kind, &payload, &f), 1, "what is not known is passed over");
	CHECK(kind == TRACE_PROCESS && slice_is(payload, "frames"));
	CHECK_INT(trace_file_next(&t, &kind, &payload, &f), 0, NULL);
	CHECK_INT(trace_file_next(&t, &kind, &payload, &f), 0, "and again");
	buf_release(&file);
}

TEST(every_cut_of_a_recording_is_seen)
{
	struct buf file = { 0 };

	fill(&file);
	for (size_t n = 0; n < file.n; n++)
		if (count((struct slice){ file.p, n }) >= 0)
			CHECK_INT(n, -1, "bytes were taken for all");
	buf_u8(&file, 0);
	CHECK_INT(count(buf_slice(&file)), E_TRAILING, NULL);
	buf_release(&file);
}

TEST(every_flipped_bit_of_a_recording_is_seen)
{
	struct buf file = { 0 };

	fill(&file);
	for (size_t i = 0; i < 8 * file.n; i++) {
		file.p[i / 8] ^= (uint8_t)(1 << i % 8);
		if (count(buf_slice(&file)) >= 0)
			CHECK_INT(i, -1, "is the bit that nobody missed");
		file.p[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	CHECK_INT(count(buf_slice(&file)), 2, "whole again");
	buf_release(&file);
}
