/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.c - protocol buffers by hand: a field is its number and kind as a varint, then the value, or a
 * length and bytes.  Each frame is a function and a location of the same number, from 1 on.
 * Field numbers: google/pprof, proto/profile.proto. */
#include "export/pprof.h"

enum {
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	LOCATION = 4,
	FUNCTION = 5,
	STRINGS = 6,
	TIME = 9,
	DURATION = 10,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	FIRST_NAME = 5, /* strings before it: "", type, unit, counts, "count" */
};

static void put_varint(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_u8(out, (unsigned)(v & 0x7f) | 0x80);
	buf_u8(out, (unsigned)v);
}

static void put_number(struct buf *out, unsigned field, uint64_t v)
{
	put_varint(out, field << 3);
	put_varint(out, v);
}

static void put_bytes(struct buf *out, unsigned field, struct slice s)
{
	put_varint(out, field << 3 | 2);
	put_varint(out, s.n);
	buf_put(out, s);
}

static void put_message(struct buf *out, unsigned field, struct buf *message)
{
	put_bytes(out, field, buf_slice(message));
	buf_clear(message);
}

static void put_type(struct buf *out, struct buf *m, unsigned field, unsigned type, unsigned unit)
{
	put_number(m, 1, type);
	put_number(m, 2, unit);
	put_message(out, field, m);
}

static void put_sample(struct buf *out, struct buf *m, const struct profile_stack *s, uint64_t each)
{
	struct buf list = { 0 };

	for (uint32_t k = s->n; k-- > 0;)
		put_varint(&list, (uint64_t)s->frames[k] + 1);
	put_message(m, 1, &list);
	put_varint(&list, s->count ? s->count : s->value);
	put_varint(&list, s->value * each);
	put_message(m, 2, &list);
	put_message(out, SAMPLE, m);
	buf_release(&list);
}

static void put_place(struct buf *out, struct buf *m, size_t i)
{
	struct buf line = { 0 };

	put_number(&line, 1, i + 1);
	put_number(m, 1, i + 1);
	put_message(m, 4, &line);
	put_message(out, LOCATION, m);
	put_number(m, 1, i + 1);
	put_number(m, 2, FIRST_NAME + 2 * i);
	put_number(m, 3, FIRST_NAME + 2 * i);
	put_number(m, 4, FIRST_NAME + 2 * i + 1);
	put_message(out, FUNCTION, m);
	buf_release(&line);
}

void pprof_put(struct buf *out, const struct profile *p, const struct pprof_about *about)
{
	struct buf m = { 0 };

	put_type(out, &m, SAMPLE_TYPE, 3, 4);
	put_type(out, &m, SAMPLE_TYPE, 1, 2);
	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].value)
			put_sample(out, &m, &p->stacks[i], about->value_each);
	for (size_t i = 0; i < p->n_frames; i++)
		put_place(out, &m, i);
	put_bytes(out, STRINGS, slice_str(""));
	put_bytes(out, STRINGS, slice_str(about->type));
	put_bytes(out, STRINGS, slice_str(about->unit));
	put_bytes(out, STRINGS, slice_str(about->counts));
	put_bytes(out, STRINGS, slice_str("count"));
	for (size_t i = 0; i < p->n_frames; i++) {
		put_bytes(out, STRINGS, p->frames[i].name);
		put_bytes(out, STRINGS, p->frames[i].file);
	}
	put_number(out, TIME, about->time_ns);
	put_number(out, DURATION, about->duration_ns);
	put_type(out, &m, PERIOD_TYPE, 1, 2);
	put_number(out, PERIOD, about->period);
	out->err = out->err ? out->err : m.err;
	buf_release(&m);
}
