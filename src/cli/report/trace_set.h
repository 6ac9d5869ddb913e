/* SPDX-License-Identifier: Apache-2.0 */
/* trace_set.h - transactions as they come from an agent, for those who list, draw and write them.
 *
 * Feed it the frames of a trace; a transaction is there when trace_set_take says so.  At most
 * TRACE_SET_MAX are kept, the longest, and fewer of very large ones.  What is pointed to belongs to the set. */
#ifndef CLI_REPORT_TRACE_SET_H
#define CLI_REPORT_TRACE_SET_H

#include "base/buf.h"
#include "wire/wire.h"

enum { TRACE_SET_MAX = 500 };

struct trace_call {
	uint32_t id, parent; /* parent: number + 1 in its part, 0: none */
	uint32_t flags;
	uint32_t depth;
	uint64_t begin_ns, elapsed_ns; /* elapsed: to the end of the part when it runs still */
};

struct trace_part {
	uint32_t part, from, call, tid, flags;
	char thread[40];
	uint64_t submitted_ns, begin_ns, end_ns;
	size_t first, n; /* calls */
};

struct trace_tx {
	uint64_t number, when_ns, elapsed_ns, missed;
	uint32_t root, flags;
	char data[160];
	struct buf parts; /* struct trace_part, by begin */
	struct buf calls; /* struct trace_call */
};

struct trace_name {
	char *text; /* NULL: unknown */
	uint32_t flags;
};

struct trace_set {
	struct buf names; /* struct trace_name, by id */
	struct buf txs;	  /* struct trace_tx * */
	struct trace_tx *open;
	struct wire_trace_counts counts;
	uint64_t dropped; /* that were more than TRACE_SET_MAX, or too large together */
	size_t bytes;	  /* of the transactions */
	size_t names_bytes;
	int err;
};

void trace_set_release(struct trace_set *s);

/* Takes in a frame.  The transaction that it completes, or NULL. */
const struct trace_tx *trace_set_take(struct trace_set *s, unsigned type, struct slice payload);

size_t trace_set_n(const struct trace_set *s);
const struct trace_tx *trace_set_at(const struct trace_set *s, size_t i);
const struct trace_tx *trace_set_longest(const struct trace_set *s);	  /* NULL: none */
struct trace_name trace_set_name(const struct trace_set *s, uint32_t id); /* text is never NULL */

static inline size_t trace_parts(const struct trace_tx *t)
{
	return t->parts.n / sizeof(struct trace_part);
}

static inline const struct trace_part *trace_part_at(const struct trace_tx *t, size_t i)
{
	return (const struct trace_part *)(const void *)t->parts.p + i;
}

static inline size_t trace_calls(const struct trace_tx *t)
{
	return t->calls.n / sizeof(struct trace_call);
}

static inline const struct trace_call *trace_call_at(const struct trace_tx *t, size_t i)
{
	return (const struct trace_call *)(const void *)t->calls.p + i;
}

/* The part that has this number, or NULL. */
const struct trace_part *trace_set_part_named(const struct trace_tx *t, uint32_t part);
uint64_t trace_set_end_ns(const struct trace_tx *t); /* of its last part */

#endif
