/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c - numbers as differences, in as few bytes as they need.
 *
 *	version, missed, when_ns, number of names: (flags, text); number of parts: (numbers, thread, number of
 *	calls: (name, how far back the parent is, flags, begin since the call before, elapsed)) */
#include "manager/figures/pack.h"

#include "manager/figures/varint.h"

enum { VERSION = 1, NAMES_MAX_READ = 1 << 20, CALLS_MAX_READ = 1 << 22 };

static void put_text(struct buf *out, struct slice s)
{
	varint_put(out, s.n);
	buf_put(out, s);
}

static void put_part(const struct txn_part *p, struct buf *out)
{
	uint64_t last = 0;

	varint_put(out, p->part);
	varint_put(out, p->from);
	varint_put(out, p->call);
	varint_put(out, p->tid);
	varint_put(out, p->flags);
	varint_put(out, p->submitted_ns);
	varint_put(out, p->begin_ns);
	varint_put(out, p->end_ns);
	put_text(out, p->thread);
	varint_put(out, p->n);
	for (size_t i = 0; i < p->n; i++) {
		const struct txn_call *c = &p->calls[i];

		varint_put(out, (uint64_t)c->name << 3 | c->flags);
		varint_put(out, c->parent ? i + 1 - c->parent : 0);
		varint_put_signed(out, (int64_t)(c->begin_ns - last));
		varint_put(out, c->elapsed_ns);
		last = c->begin_ns;
	}
}

void pack_put(const struct transaction *t, struct buf *out)
{
	varint_put(out, VERSION);
	varint_put(out, t->missed);
	varint_put(out, t->when_ns);
	varint_put(out, t->n_names);
	for (size_t i = 0; i < t->n_names; i++) {
		varint_put(out, t->names[i].conditional);
		put_text(out, t->names[i].method);
	}
	varint_put(out, t->n_parts);
	for (size_t i = 0; i < t->n_parts; i++)
		put_part(&t->parts[i], out);
}

/* ---- reading ---- */

struct unpack {
	struct slice in;
	struct arena *mem;
	size_t names;
	int err;
};

static uint64_t number(struct unpack *u)
{
	uint64_t v = 0;

	if (!u->err && !varint_take(&u->in, &v))
		u->err = E_DAMAGED;
	return u->err ? 0 : v;
}

/* A number of things that need a byte each at least, so it cannot be more than what is left. */
static size_t count(struct unpack *u, size_t most)
{
	uint64_t n = number(u);

	if (n > most || n > u->in.n)
		u->err = u->err ? u->err : E_DAMAGED;
	return u->err ? 0 : (size_t)n;
}

static struct slice text(struct unpack *u)
{
	size_t n = count(u, SIZE_MAX);
	struct slice s = { u->in.p, n };

	u->in = (struct slice){ u->in.p + n, u->in.n - n };
	return s;
}

static void *room(struct unpack *u, size_t n, size_t size)
{
	void *p = u->err ? NULL : arena_zero(u->mem, n * size + 1);

	if (!p && !u->err)
		u->err = E_NO_MEMORY;
	return p;
}

static void read_call(struct unpack *u, struct txn_call *c, size_t i, uint64_t *last)
{
	uint64_t v = number(u), back = number(u), step;

	*c = (struct txn_call){ .name = (uint32_t)(v >> 3), .flags = v & 7 };
	c->parent = back && back <= i ? (uint32_t)(i + 1 - back) : 0;
	if (v >> 3 >= u->names || back > i)
		u->err = u->err ? u->err : E_DAMAGED;
	step = number(u);
	*last += (step >> 1) ^ (~(step & 1) + 1);
	c->begin_ns = *last;
	c->elapsed_ns = number(u);
}

static void read_part(struct unpack *u, struct txn_part *p)
{
	uint64_t last = 0;

	p->part = (uint32_t)number(u);
	p->from = (uint32_t)number(u);
	p->call = (uint32_t)number(u);
	p->tid = (uint32_t)number(u);
	p->flags = (uint32_t)number(u);
	p->submitted_ns = number(u);
	p->begin_ns = number(u);
	p->end_ns = number(u);
	p->thread = text(u);
	p->n = count(u, CALLS_MAX_READ);
	p->calls = room(u, p->n, sizeof(*p->calls));
	for (size_t i = 0; i < p->n && !u->err; i++)
		read_call(u, &p->calls[i], i, &last);
}

int pack_read(struct slice packed, struct arena *mem, struct transaction *out)
{
	struct unpack u = { .in = packed, .mem = mem };
	struct transaction t = { 0 };

	if (number(&u) != VERSION)
		return E_DAMAGED;
	t.missed = number(&u);
	t.when_ns = number(&u);
	t.n_names = u.names = count(&u, NAMES_MAX_READ);
	t.names = room(&u, t.n_names, sizeof(*t.names));
	for (size_t i = 0; i < t.n_names && !u.err; i++) {
		t.names[i].conditional = number(&u) != 0;
		t.names[i].method = text(&u);
	}
	t.n_parts = count(&u, NAMES_MAX_READ);
	t.parts = room(&u, t.n_parts, sizeof(*t.parts));
	for (size_t i = 0; i < t.n_parts && !u.err; i++)
		read_part(&u, &t.parts[i]);
	if (u.err)
		return u.err;
	*out = t;
	return 0;
}

/* ---- captured data ---- */

static bool is_of_name(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Where the name in front of the '=' at `eq` begins, if that is one with a space before it. */
static bool name_before(struct slice text_, size_t eq, size_t *begin)
{
	size_t i = eq;

	while (i > 0 && is_of_name(text_.p[i - 1]))
		i--;
	*begin = i;
	return i < eq && (i == 0 || text_.p[i - 1] == ' ');
}

static void put_clean(struct buf *out, struct slice s)
{
	while (s.n && s.p[s.n - 1] == ' ')
		s.n--;
	for (size_t i = 0; i < s.n; i++)
		buf_u8(out, s.p[i] ? s.p[i] : ' ');
	buf_u8(out, 0);
}

void pack_data(struct slice all, struct buf *out)
{
	size_t value = 0, begin;
	bool open = false;

	for (size_t i = 0; i < all.n; i++) {
		if (all.p[i] != '=' || !name_before(all, i, &begin) || (open && begin < value))
			continue;
		if (open)
			put_clean(out, (struct slice){ all.p + value, begin - value });
		put_clean(out, (struct slice){ all.p + begin, i - begin });
		value = i + 1;
		open = true;
	}
	if (open)
		put_clean(out, (struct slice){ all.p + value, all.n - value });
}
