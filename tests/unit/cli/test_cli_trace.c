/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_trace.c - transactions as an agent tells them, also one that lies. */
#define _GNU_SOURCE /* memmem */
#include "cli/report/trace_set.h"
#include "cli/report/trace_show.h"
#include "test.h"

static struct slice payload(const struct buf *out)
{
	return (struct slice){ out->p + WIRE_HEAD, out->n - WIRE_HEAD };
}

#define TAKE(set, type, ...)                                                   \
	({                                                                     \
		struct buf frame = { 0 };                                      \
		const struct trace_tx *done;                                   \
                                                                               \
		wire_put_##type(&frame, &(struct wire_##type){ __VA_ARGS__ }); \
		done = trace_set_take((set), WIRE_##type, payload(&frame));    \
		buf_release(&frame);                                           \
		done;                                                          \
	})

/* The picture of one call; NULL: it has no line of calls. */
static void draw(uint64_t begin, uint64_t elapsed, uint64_t end, struct buf *out)
{
	struct trace_set set = { 0 };
	const struct trace_tx *tx;

	TAKE(&set, trace_name, .id = 1, .name = slice_str("a.B.c()V"));
	TAKE(&set, trace_tx, .root = 1, .elapsed_ns = end);
	TAKE(&set, trace_part, .thread = slice_str("main\nx\033"), .end_ns = end);
	TAKE(&set, trace_call, .id = 1, .begin_ns = begin, .elapsed_ns = elapsed);
	tx = TAKE(&set, trace_end, .number = 0);
	CHECK(tx);
	if (tx) {
		trace_draw_line(out, &set, tx);
		trace_draw(out, &set, tx, 60);
	}
	trace_set_release(&set);
}

TEST(calls_are_drawn_whatever_their_times_are)
{
	static const uint64_t edges[] = { 0, 1, 900, UINT64_MAX - 800, UINT64_MAX };

	for (size_t b = 0; b < COUNT(edges); b++)
		for (size_t e = 0; e < COUNT(edges); e++)
			for (size_t k = 0; k < COUNT(edges); k++) {
				struct buf out = { 0 };

				draw(edges[b], edges[e], edges[k], &out);
				CHECK(out.n > 60 && !out.err);
				CHECK(!memchr(out.p, '\033', out.n));
				buf_release(&out);
			}
}

TEST(names_of_threads_stay_on_their_line)
{
	struct buf out = { 0 };

	draw(0, 100, 100, &out);
	CHECK(memmem(out.p, out.n, "main\\nx\\u001b", 12));
	buf_release(&out);
}

TEST(a_set_of_transactions_does_not_grow_without_end)
{
	struct trace_set set = { 0 };
	const struct trace_tx *tx;

	TAKE(&set, trace_tx, .elapsed_ns = 1);
	for (uint32_t i = 0; i < 30000; i++)
		TAKE(&set, trace_part, .part = i);
	for (uint32_t i = 0; i < 150000; i++)
		TAKE(&set, trace_call, .parent = i);
	tx = TAKE(&set, trace_end, .number = 0);
	CHECK(tx && trace_parts(tx) == 20000 && trace_calls(tx) == 100000);
	trace_set_release(&set);
}
