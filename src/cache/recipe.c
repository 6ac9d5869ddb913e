/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c - the written form, big-endian:
 *
 *	u1 kind, u2 error, text why, text name, u4 original size, u4 woven size, woven, u2 methods, each:
 *	u2 access, u2 error, u2 rule, u8 digest, u4 code size, u4 id_at,
 *	texts: name, desc, why, template, category, map
 *
 * A text is u2 length and bytes.  Errors are written as their place in the list. */
#include "cache/recipe.h"

#include "classfile/digest.h"

enum { TEXT_MAX = 65535, WOVEN_ERROR = 0 };

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

static struct slice code_of(const struct class *cls, const struct member *m)
{
	bool old = cls->major == 45 && cls->minor < 3; /* smaller fields then */
	size_t head = old ? 4 : 8;
	struct slice code = { m->code.p + head, 0 };

	if (m->code.n >= head)
		code.n = old ? get_u16(m->code.p + 2) : get_u32(m->code.p + 4);
	return code;
}

static void put_method(const struct recipe_from *from, const struct weave_outcome *o,
		       struct buf *out)
{
	const struct class *cls = from->job->cls;
	const struct member *m = &cls->methods[o->method];

	buf_u16(out, m->access);
	put_error(out, o->rc);
	buf_u16(out, ordinal(from, o->rule));
	put_u64(out, o->rc >= 0 ? code_digest(&cls->pool, code_of(cls, m)) : 0);
	buf_u32(out, (uint32_t)code_of(cls, m).n);
	buf_u32(out, o->id_at);
	put_text(out, member_name(cls, m));
	put_text(out, member_desc(cls, m));
	put_text(out, slice_str(o->rc < 0 && o->why ? o->why : ""));
	put_text(out, o->template ? o->template->name : slice_str(""));
	put_text(out, slice_str(o->category ? o->category : ""));
	put_text(out, o->rc >= 0 ? o->map : slice_str(""));
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
	m->id_at = rd_u32(r);
	m->name = get_text(r);
	m->desc = get_text(r);
	m->why = get_text(r);
	m->template = get_text(r);
	m->category = get_text(r);
	m->map = get_text(r);
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

/* Every method, so that later readers need not be careful. */
static bool methods_are_good(const struct recipe *r)
{
	struct reader rd = rd_init(r->rest);

	for (uint32_t i = 0; i < r->n_methods; i++) {
		struct recipe_method m = { 0 };

		get_method(&rd, &m);
		if (rd.err || !m.name.n || !m.desc.n)
			return false;
		if (m.id_at && (m.id_at < 10 || (uint64_t)m.id_at + 4 > r->woven.n ||
				r->woven.p[m.id_at - 1] != CONST_INTEGER))
			return false;
	}
	return rd_left(&rd) == 0;
}

int recipe_get(struct slice kept, struct recipe *out)
{
	struct reader rd = rd_init(kept);
	struct recipe r = { .kind = rd_u8(&rd) };

	r.rc = get_error(&rd);
	r.why = get_text(&rd);
	r.name = get_text(&rd);
	r.original = rd_u32(&rd);
	r.woven = rd_bytes(&rd, rd_u32(&rd));
	r.n_methods = rd_u16(&rd);
	r.rest = (struct slice){ rd.p, rd_left(&rd) };
	if (rd.err || r.kind < RECIPE_NOTHING || r.kind > RECIPE_REFUSED ||
	    (r.kind == RECIPE_WOVEN) != (r.woven.n != 0) || !methods_are_good(&r))
		return E_DAMAGED;
	*out = r;
	return 0;
}
