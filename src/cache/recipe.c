/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c - the written form, big-endian:
 *
 *	u1 kind, u2 error, text why, text name, u4 original size, u4 woven size, woven,
 *	u2 numbers, each: u4 at, u2 rule, u2 site, text slot
 *	u2 methods, each:
 *	u2 access, u2 error, u2 rule, u8 digest, u4 code size, u4 woven code size, u4 id_at,
 *	texts: name, desc, why, template, category, map,
 *	u2 anchors, each: u2 rule, u1 context, u1 step
 *
 * A text is u2 length and bytes.  Errors are written as their place in the list. */
#include "cache/recipe.h"

#include "classfile/digest.h"
#include "classfile/op.h"

enum { TEXT_MAX = 65535, WOVEN_ERROR = 0, ANCHOR = 4 };

/* ---- writing ---- */

static void put_text(struct buf *out, struct slice s)
{
	size_t n = s.n > TEXT_MAX ? TEXT_MAX : s.n;

	buf_u16(out, (unsigned)n);
	buf_bytes(out, s.p, n);
}

static void put_error(struct buf *out, int rc)
{
	buf_u16(out, rc < 0 ? (unsigned)(ERR_FLOOR - rc) + 1 : WOVEN_ERROR);
}

static void put_u64(struct buf *out, uint64_t v)
{
	buf_u32(out, (uint32_t)(v >> 32));
	buf_u32(out, (uint32_t)v);
}

static unsigned ordinal(const struct recipe_from *from, const struct rule *rule)
{
	unsigned i = 0;

	while (i < from->n_rules && from->rules[i] != rule)
		i++;
	return i;
}

static void put_method(const struct recipe_from *from, const struct weave_outcome *o,
		       struct buf *out)
{
	const struct class *cls = from->job->cls;
	const struct member *m = &cls->methods[o->method];

	buf_u16(out, m->access);
	put_error(out, o->rc);
	buf_u16(out, ordinal(from, o->rule));
	put_u64(out, o->rc >= 0 ? code_digest(&cls->pool, code_instructions(cls, m)) : 0);
	buf_u32(out, (uint32_t)code_instructions(cls, m).n);
	buf_u32(out, o->code_now);
	buf_u32(out, o->id_at);
	put_text(out, member_name(cls, m));
	put_text(out, member_desc(cls, m));
	put_text(out, slice_str(o->rc < 0 && o->why ? o->why : ""));
	put_text(out, o->template ? o->template->name : slice_str(""));
	put_text(out, slice_str(o->category ? o->category : ""));
	put_text(out, o->rc >= 0 ? o->map : slice_str(""));
	buf_u16(out, (unsigned)o->n_anchors);
	for (size_t i = 0; i < o->n_anchors; i++) {
		buf_u16(out, ordinal(from, o->anchors[i].rule));
		buf_u8(out, (uint8_t)o->anchors[i].context);
		buf_u8(out, (uint8_t)o->anchors[i].step);
	}
}

static void put_numbers(const struct recipe_from *from, struct buf *out)
{
	buf_u16(out, (unsigned)from->n_numbers);
	for (size_t i = 0; i < from->n_numbers; i++) {
		const struct recipe_number *n = &from->numbers[i];

		buf_u32(out, n->at);
		buf_u16(out, n->rule);
		buf_u16(out, n->site);
		put_text(out, n->slot);
	}
}

void recipe_put(const struct recipe_from *from, struct buf *out)
{
	uint32_t n = from->rc < 0 ? 0 : from->job->n_outcomes;
	bool woven = from->rc >= 0 && from->job->n_woven;

	buf_u8(out, from->rc < 0 ? RECIPE_REFUSED : woven ? RECIPE_WOVEN : RECIPE_NOTHING);
	put_error(out, from->rc);
	put_text(out, slice_str(from->rc < 0 ? from->fault->text : ""));
	put_text(out, from->name);
	buf_u32(out, (uint32_t)from->original.n);
	buf_u32(out, woven ? (uint32_t)from->woven.n : 0);
	if (woven)
		buf_put(out, from->woven);
	put_numbers(from, out);
	buf_u16(out, n);
	for (uint32_t i = 0; i < n; i++)
		put_method(from, &from->job->outcomes[i], out);
}

/* ---- reading ---- */

static struct slice get_text(struct reader *r)
{
	uint16_t n = rd_u16(r);

	return rd_bytes(r, n);
}

static int get_error(struct reader *r)
{
	unsigned v = rd_u16(r);

	if (v > ERR_COUNT)
		rd_fail(r, E_DAMAGED);
	return v == WOVEN_ERROR || r->err ? 0 : ERR_FLOOR - (int)(v - 1);
}

static uint64_t get_long(struct reader *r)
{
	const uint8_t *p = rd_take(r, 8);

	return p ? get_u64(p) : 0;
}

static void get_method(struct reader *r, struct recipe_method *m)
{
	m->access = rd_u16(r);
	m->rc = get_error(r);
	m->rule = rd_u16(r);
	m->digest = get_long(r);
	m->code_n = rd_u32(r);
	m->woven_n = rd_u32(r);
	m->id_at = rd_u32(r);
	m->name = get_text(r);
	m->desc = get_text(r);
	m->why = get_text(r);
	m->template = get_text(r);
	m->category = get_text(r);
	m->map = get_text(r);
	m->n_anchors = rd_u16(r);
	m->anchors = rd_bytes(r, ANCHOR * (size_t)m->n_anchors);
}

struct recipe_anchor recipe_anchor(const struct recipe_method *m, uint32_t i)
{
	const uint8_t *p = m->anchors.p + ANCHOR * (size_t)i;

	return (struct recipe_anchor){ get_u16(p), p[2], p[3] };
}

static void get_number(struct reader *r, struct recipe_number *n)
{
	n->at = rd_u32(r);
	n->rule = rd_u16(r);
	n->site = rd_u16(r);
	n->slot = get_text(r);
}

bool recipe_next_number(const struct recipe *r, size_t *at, struct recipe_number *out)
{
	struct reader rd;

	if (*at >= r->numbers.n)
		return false;
	rd = rd_init((struct slice){ r->numbers.p + *at, r->numbers.n - *at });
	get_number(&rd, out);
	*at += rd_at(&rd);
	return !rd.err;
}

bool recipe_next(const struct recipe *r, size_t *at, struct recipe_method *out)
{
	struct reader rd;

	if (*at >= r->rest.n)
		return false;
	rd = rd_init((struct slice){ r->rest.p + *at, r->rest.n - *at });
	get_method(&rd, out);
	*at += rd_at(&rd);
	return !rd.err;
}

static bool is_integer(const struct recipe *r, uint32_t at)
{
	return at >= 10 && (uint64_t)at + 4 <= r->woven.n && r->woven.p[at - 1] == CONST_INTEGER;
}

/* See ids.h. */
static bool is_for_id(const struct recipe *r, uint32_t at)
{
	return is_integer(r, at) ||
	       (at >= 10 && (uint64_t)at + 2 <= r->woven.n && r->woven.p[at - 1] == OP_SIPUSH);
}

/* Skips them. */
static bool numbers_are_good(const struct recipe *r, struct reader *rd, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct recipe_number number = { 0 };

		get_number(rd, &number);
		if (rd->err || !is_integer(r, number.at))
			return false;
	}
	return true;
}

/* Every method, so that later readers need not be careful. */
static bool methods_are_good(const struct recipe *r)
{
	struct reader rd = rd_init(r->rest);

	for (uint32_t i = 0; i < r->n_methods; i++) {
		struct recipe_method m = { 0 };

		get_method(&rd, &m);
		if (rd.err || !m.name.n || !m.desc.n)
			return false;
		if (m.id_at && !is_for_id(r, m.id_at))
			return false;
	}
	return rd_left(&rd) == 0;
}

int recipe_get(struct slice kept, struct recipe *out)
{
	struct reader rd = rd_init(kept);
	struct recipe r = { .kind = rd_u8(&rd) };
	uint16_t n;

	r.rc = get_error(&rd);
	r.why = get_text(&rd);
	r.name = get_text(&rd);
	r.original = rd_u32(&rd);
	r.woven = rd_bytes(&rd, rd_u32(&rd));
	n = rd_u16(&rd);
	r.numbers.p = rd.p;
	if (rd.err || !numbers_are_good(&r, &rd, n))
		return E_DAMAGED;
	r.numbers.n = (size_t)(rd.p - r.numbers.p);
	r.n_methods = rd_u16(&rd);
	r.rest = (struct slice){ rd.p, rd_left(&rd) };
	if (rd.err || r.kind < RECIPE_NOTHING || r.kind > RECIPE_REFUSED ||
	    (r.kind == RECIPE_WOVEN) != (r.woven.n != 0) || !methods_are_good(&r))
		return E_DAMAGED;
	*out = r;
	return 0;
}
