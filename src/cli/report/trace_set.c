/* SPDX-License-Identifier: Apache-2.0 */
/* trace_set.c - puts a transaction together from its frames: parts by their begin, calls with their
 * depth.  Numbers that make no sense (of a parent, a count) are put right, since they come from
 * elsewhere. */
#include "cli/report/trace_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/whole.h"

/* The probe keeps 20,000 calls of a transaction, and no name is longer than two of the class
 * file's: what is more than that comes from somebody who lies. */
enum {
	ID_MAX = 1 << 20,
	NAME_LEN_MAX = 200 << 10,
	NAMES_BYTES_MAX = 128 << 20,
	CALLS_MAX = 100000,
	PARTS_MAX = 20000,
	BYTES_MAX = 512 << 20, /* of all transactions; the shortest make room */
};

static void tx_free(struct trace_tx *t)
{
	if (!t)
		return;
	buf_release(&t->parts);
	buf_release(&t->calls);
	mem_free(t);
}

void trace_set_release(struct trace_set *s)
{
	for (size_t i = 0; i < trace_set_n(s); i++)
		tx_free(((struct trace_tx **)(void *)s->txs.p)[i]);
	for (size_t i = 0; i < s->names.n / sizeof(struct trace_name); i++)
		mem_free(((struct trace_name *)(void *)s->names.p)[i].text);
	tx_free(s->open);
	buf_release(&s->names);
	buf_release(&s->txs);
	*s = (struct trace_set){ 0 };
}

size_t trace_set_n(const struct trace_set *s)
{
	return s->txs.n / sizeof(struct trace_tx *);
}

const struct trace_tx *trace_set_at(const struct trace_set *s, size_t i)
{
	return ((struct trace_tx **)(void *)s->txs.p)[i];
}

const struct trace_tx *trace_set_longest(const struct trace_set *s)
{
	const struct trace_tx *longest = NULL;

	for (size_t i = 0; i < trace_set_n(s); i++)
		if (!longest || trace_set_at(s, i)->elapsed_ns > longest->elapsed_ns)
			longest = trace_set_at(s, i);
	return longest;
}

struct trace_name trace_set_name(const struct trace_set *s, uint32_t id)
{
	const struct trace_name *names = (const void *)s->names.p;

	if (id < s->names.n / sizeof(*names) && names[id].text)
		return names[id];
	return (struct trace_name){ (char *)(uintptr_t) "?", 0 };
}

const struct trace_part *trace_set_part_named(const struct trace_tx *t, uint32_t part)
{
	for (size_t i = 0; i < trace_parts(t); i++)
		if (trace_part_at(t, i)->part == part)
			return trace_part_at(t, i);
	return NULL;
}

uint64_t trace_set_end_ns(const struct trace_tx *t)
{
	uint64_t end = t->elapsed_ns;

	for (size_t i = 0; i < trace_parts(t); i++)
		if (trace_part_at(t, i)->end_ns > end)
			end = trace_part_at(t, i)->end_ns;
	return end;
}

/* ---- frames ------------------------------------------------------------------------------- */

static void copy_text(char *to, size_t room, struct slice from)
{
	snprintf(to, room, "%.*s", SLICE_FMT(from));
}

static void take_name(struct trace_set *s, const struct wire_trace_name *m)
{
	size_t n = s->names.n / sizeof(struct trace_name);
	struct trace_name *name, none = { 0 };

	if (m->id >= ID_MAX || m->name.n > NAME_LEN_MAX || s->names_bytes > NAMES_BYTES_MAX)
		return;
	s->names_bytes += m->name.n;
	for (; n <= m->id; n++)
		buf_bytes(&s->names, &none, sizeof(none));
	if (s->names.err)
		return;
	name = (struct trace_name *)(void *)s->names.p + m->id;
	mem_free(name->text);
	name->flags = m->flags;
	name->text = mem_alloc(m->name.n + 1);
	if (name->text) {
		memcpy(name->text, m->name.p, m->name.n);
		name->text[m->name.n] = '\0';
	}
}

static void take_tx(struct trace_set *s, const struct wire_trace_tx *m)
{
	tx_free(s->open);
	s->open = mem_alloc(sizeof(*s->open));
	if (!s->open)
		return;
	*s->open = (struct trace_tx){ .number = m->number,
				      .when_ns = m->when_ns,
				      .elapsed_ns = m->elapsed_ns,
				      .missed = m->missed,
				      .root = m->root,
				      .flags = m->flags };
	copy_text(s->open->data, sizeof(s->open->data), m->data);
}

static void take_part(struct trace_set *s, const struct wire_trace_part *m)
{
	struct trace_part part = { .part = m->part,
				   .from = m->from,
				   .call = m->call,
				   .tid = m->tid,
				   .flags = m->flags,
				   .submitted_ns = m->submitted_ns,
				   .begin_ns = m->begin_ns,
				   .end_ns = m->end_ns };

	if (!s->open || trace_parts(s->open) >= PARTS_MAX)
		return;
	if (part.flags & PART_NEVER_BEGUN)
		part.begin_ns = part.end_ns = part.submitted_ns;
	part.first = trace_calls(s->open);
	copy_text(part.thread, sizeof(part.thread), m->thread);
	buf_bytes(&s->open->parts, &part, sizeof(part));
}

/* The depth of what a call has called: its own when it is not to be seen. */
static uint32_t below(const struct trace_call *c)
{
	return c->depth + !(c->flags & CALL_UNMET);
}

static void take_call(struct trace_set *s, const struct wire_trace_call *m)
{
	struct trace_call call = { .id = m->id,
				   .parent = m->parent,
				   .flags = m->flags,
				   .begin_ns = m->begin_ns,
				   .elapsed_ns = m->elapsed_ns };
	struct trace_part *part;

	if (!s->open || !s->open->parts.n || trace_calls(s->open) >= CALLS_MAX)
		return;
	part = (struct trace_part *)(void *)(s->open->parts.p + s->open->parts.n) - 1;
	if (call.parent > part->n)
		call.parent = 0; /* a parent comes before its children */
	if (call.parent)
		call.depth = below(trace_call_at(s->open, part->first + call.parent - 1));
	buf_bytes(&s->open->calls, &call, sizeof(call));
	if (!s->open->calls.err)
		part->n++;
}

static int by_begin(const void *a, const void *b)
{
	const struct trace_part *x = a, *y = b;
	bool first_x = x->from == x->part, first_y = y->from == y->part;

	if (first_x != first_y)
		return first_x ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->part < y->part ? -1 : x->part > y->part;
}

/* Parts and calls that had not ended last until the last thing that is known. */
static void complete(struct trace_tx *t)
{
	struct trace_part *parts = (struct trace_part *)(void *)t->parts.p;
	struct trace_call *calls = (struct trace_call *)(void *)t->calls.p;
	uint64_t last = trace_set_end_ns(t);

	for (size_t i = 0; i < trace_calls(t); i++) {
		uint64_t end = whole_add(calls[i].begin_ns, calls[i].elapsed_ns);

		last = end > last ? end : last;
	}
	for (size_t i = 0; i < trace_parts(t); i++) {
		struct trace_part *p = &parts[i];

		if (p->end_ns < p->begin_ns)
			p->end_ns = p->flags & TX_OPEN && last > p->begin_ns ? last : p->begin_ns;
		for (size_t k = p->first; k < p->first + p->n; k++)
			if (calls[k].flags & CALL_RUNS && p->end_ns > calls[k].begin_ns)
				calls[k].elapsed_ns = p->end_ns - calls[k].begin_ns;
	}
	if (t->parts.n)
		qsort(parts, trace_parts(t), sizeof(*parts), by_begin);
}

static size_t bytes_of(const struct trace_tx *t)
{
	return sizeof(*t) + t->parts.cap + t->calls.cap;
}

/* The shortest makes room. */
static void make_room(struct trace_set *s)
{
	struct trace_tx **all = (struct trace_tx **)(void *)s->txs.p;
	size_t n = trace_set_n(s), shortest = 0;

	for (size_t i = 1; i < n; i++)
		if (all[i]->elapsed_ns < all[shortest]->elapsed_ns)
			shortest = i;
	s->bytes -= bytes_of(all[shortest]);
	tx_free(all[shortest]);
	memmove(all + shortest, all + shortest + 1, (n - shortest - 1) * sizeof(*all));
	s->txs.n -= sizeof(*all);
	s->dropped++;
}

static const struct trace_tx *take_end(struct trace_set *s)
{
	struct trace_tx *t = s->open;

	if (!t || t->parts.err || t->calls.err)
		return NULL;
	s->bytes += bytes_of(t);
	while (trace_set_n(s) == TRACE_SET_MAX || (s->bytes > BYTES_MAX && trace_set_n(s)))
		make_room(s);
	buf_bytes(&s->txs, &t, sizeof(struct trace_tx *));
	if (s->txs.err)
		return NULL;
	s->open = NULL;
	complete(t);
	return t;
}

const struct trace_tx *trace_set_take(struct trace_set *s, unsigned type, struct slice payload)
{
	union {
		struct wire_trace_name name;
		struct wire_trace_tx tx;
		struct wire_trace_part part;
		struct wire_trace_call call;
	} m;

	switch (type) {
	case WIRE_trace_name:
		if (wire_get_trace_name(payload, &m.name) == 0)
			take_name(s, &m.name);
		break;
	case WIRE_trace_tx:
		if (wire_get_trace_tx(payload, &m.tx) == 0)
			take_tx(s, &m.tx);
		break;
	case WIRE_trace_part:
		if (wire_get_trace_part(payload, &m.part) == 0)
			take_part(s, &m.part);
		break;
	case WIRE_trace_call:
		if (wire_get_trace_call(payload, &m.call) == 0)
			take_call(s, &m.call);
		break;
	case WIRE_trace_counts:
		wire_get_trace_counts(payload, &s->counts);
		break;
	case WIRE_trace_end:
		return take_end(s);
	default:
		break;
	}
	return NULL;
}
