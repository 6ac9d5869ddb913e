/* SPDX-License-Identifier: Apache-2.0 */
/* diff_class.c - compares two versions of a class.
 *
 * A class is cut into parts (its head, constants, each field, each method), each part into lines,
 * and the lines of a part are aligned by lcs().  A line has a key, by which it is compared, and a
 * text, which is shown.  In code the key of an instruction leaves out where it branches to; after
 * the alignment every place gets the number of the next instruction that both have in common, and
 * pairs whose targets have different numbers are parted again.  Tables with places in them
 * (exceptions, lines, variables) are compared by those numbers, too. */
#include "cli/classtools/diff_class.h"

#include "base/map.h"
#include "base/plural.h"
#include "classfile/show/show.h"
#include "cli/classtools/lcs.h"

enum { CONTEXT = 3, CHANGES_MAX = 4000 };

struct line {
	struct slice text;
	uint32_t key;
	const struct insn *insn; /* NULL: not an instruction */
};

struct lines {
	struct line *v;
	uint32_t n, cap;
};

struct side {
	struct class *cls;
	struct code *code;	   /* of the method being compared, or NULL */
	struct show_labels labels; /* for people */
	struct show_labels common; /* by instructions in common */
	struct lines lines;
};

struct diff {
	struct side a, b;
	struct arena *mem;
	struct map keys; /* text -> number */
	struct buf text;
	const struct diff_sink *sink;
	struct line nowhere; /* what is written to when memory is out */
	struct slice part;   /* its name */
	bool part_open;
	int parts, err;
};

static void fail(struct diff *d, int rc)
{
	if (rc < 0 && !d->err)
		d->err = rc;
}

static uint32_t key_of(struct diff *d, struct slice text)
{
	uintptr_t *place;
	bool fresh;

	if (!text.p) /* empty, or out of memory */
		text = (struct slice){ (const uint8_t *)"", 0 };
	place = map_put(&d->keys, text, &fresh);
	if (!place) {
		fail(d, E_NO_MEMORY);
		return 0;
	}
	if (fresh)
		*place = d->keys.n;
	return (uint32_t)*place;
}

static struct line *add_line(struct diff *d, struct lines *l)
{
	if (l->n == l->cap) {
		uint32_t cap = l->cap ? 2 * l->cap : 64;
		struct line *v = arena_alloc(d->mem, cap * sizeof(*v));

		if (!v) {
			fail(d, E_NO_MEMORY);
			return &d->nowhere;
		}
		if (l->n)
			memcpy(v, l->v, l->n * sizeof(*v));
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n] = (struct line){ 0 };
	return &l->v[l->n++];
}

/* A copy of what d->text holds, which is emptied. */
static struct slice take_text(struct diff *d)
{
	struct slice s = { NULL, 0 };

	fail(d, d->text.err);
	if (d->text.n) {
		s = arena_dup(d->mem, buf_slice(&d->text));
		if (!s.p)
			fail(d, E_NO_MEMORY);
	}
	buf_clear(&d->text);
	return s;
}

static struct slice cut_line(struct slice *rest)
{
	const uint8_t *eol = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct slice line = { rest->p, eol ? (size_t)(eol - rest->p) : rest->n };

	rest->p += line.n + (eol != NULL);
	rest->n -= line.n + (eol != NULL);
	return line;
}

/* keys has as many lines as text. */
static void add_lines(struct diff *d, struct side *side, struct slice text, struct slice keys)
{
	while (text.n) {
		struct line *line = add_line(d, &side->lines);

		line->text = cut_line(&text);
		line->key = key_of(d, cut_line(&keys));
	}
}

static void add_text(struct diff *d, struct side *side)
{
	struct slice text = take_text(d);

	add_lines(d, side, text, text);
}

static void add_attrs(struct diff *d, struct side *side, const struct attrs *attrs)
{
	struct attr a;

	for (const uint8_t *at = NULL; attrs_next(attrs, &side->cls->pool, &at, &a);)
		if (a.kind != ATTR_CODE)
			show_attribute(&d->text, side->cls, &a, NULL);
	add_text(d, side);
}

/* ---- aligning and printing ---- */

static void begin_part(struct diff *d)
{
	d->part_open = false;
	d->a.lines.n = d->b.lines.n = 0;
}

static void put(struct diff *d, char mark, struct slice text)
{
	if (!d->part_open) {
		d->sink->part(d->sink->ctx, d->part);
		d->part_open = true;
		d->parts++;
	}
	d->sink->line(d->sink->ctx, mark, text);
}

static const uint32_t *keys_of(struct diff *d, const struct lines *l)
{
	uint32_t *keys = arena_alloc(d->mem, (l->n + 1) * sizeof(*keys));

	for (uint32_t i = 0; keys && i < l->n; i++)
		keys[i] = l->v[i].key;
	return keys;
}

/* partner[i] is the line of b that line i of a is the same as, or LCS_NONE. */
static uint32_t *align(struct diff *d)
{
	uint32_t *partner = arena_alloc(d->mem, (d->a.lines.n + 1) * sizeof(*partner));
	const uint32_t *a = keys_of(d, &d->a.lines), *b = keys_of(d, &d->b.lines);

	if (!partner || !a || !b) {
		fail(d, E_NO_MEMORY);
		return NULL;
	}
	fail(d, lcs(d->mem, a, d->a.lines.n, b, d->b.lines.n, CHANGES_MAX, partner));
	return partner;
}

struct edit {
	struct slice text;
	char mark;
	bool shown;
};

/* The lines of both, in one order, each with its mark; b->n + a->n at most. */
static uint32_t make_script(const struct diff *d, const uint32_t *partner, struct edit *script)
{
	const struct lines *a = &d->a.lines, *b = &d->b.lines;
	uint32_t n = 0, j = 0;

	for (uint32_t i = 0; i <= a->n; i++) {
		uint32_t next = i < a->n ? partner[i] : b->n;

		if (next == LCS_NONE) {
			script[n++] = (struct edit){ a->v[i].text, '-', false };
			continue;
		}
		while (j < next)
			script[n++] = (struct edit){ b->v[j++].text, '+', false };
		if (i < a->n) {
			script[n++] = (struct edit){ a->v[i].text, ' ', false };
			j++;
		}
	}
	return n;
}

static void print_lines(struct diff *d, const uint32_t *partner)
{
	struct edit *script;
	uint32_t n, last = 0;

	script = arena_alloc(d->mem, ((size_t)d->a.lines.n + d->b.lines.n + 1) * sizeof(*script));
	if (!script) {
		fail(d, E_NO_MEMORY);
		return;
	}
	n = make_script(d, partner, script);
	for (uint32_t i = 0; i < n; i++) {
		if (script[i].mark == ' ')
			continue;
		for (uint32_t k = i > CONTEXT ? i - CONTEXT : 0; k < n && k <= i + CONTEXT; k++)
			script[k].shown = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!script[i].shown)
			continue;
		if (d->part_open && i != last)
			put(d, '.', (struct slice){ NULL, 0 });
		put(d, script[i].mark, script[i].text);
		last = i + 1;
	}
}

static bool is_same(const struct diff *d, const uint32_t *partner)
{
	if (d->a.lines.n != d->b.lines.n)
		return false;
	for (uint32_t i = 0; i < d->a.lines.n; i++)
		if (partner[i] != i)
			return false;
	return true;
}

static void compare_lines(struct diff *d)
{
	uint32_t *partner = align(d);

	if (partner && !d->err && !is_same(d, partner))
		print_lines(d, partner);
	d->a.lines.n = d->b.lines.n = 0;
}

/* ---- code ---- */

static void add_insns(struct diff *d, struct side *side)
{
	for (const struct insn *n = side->code->start; n; n = n->next) {
		struct line *line;

		if (n->op == OP_LABEL && !n->frame)
			continue;
		line = add_line(d, &side->lines);
		if (n->op == OP_LABEL) {
			buf_text(&d->text, "frame ");
			show_frame(&d->text, side->code, n->frame, NULL);
			line->text = take_text(d);
			line->key = key_of(d, line->text);
			continue;
		}
		line->insn = n;
		show_insn(&d->text, side->code, n, NULL);
		line->key = key_of(d, take_text(d));
		show_insn(&d->text, side->code, n, &side->labels);
		line->text = take_text(d);
	}
}

/* Every place becomes the number of the next instruction in common.  `number` holds them for the
 * lines of this side, UINT32_MAX for those without a partner. */
static void number_places(struct diff *d, struct side *side, const uint32_t *number, uint32_t last)
{
	uint32_t length = (uint32_t)side->code->bytes.n, next = last, pc = length;

	side->common = (struct show_labels){ arena_alloc(d->mem, (length + 1) * sizeof(uint32_t)),
					     length };
	if (!side->common.at) {
		fail(d, E_NO_MEMORY);
		return;
	}
	side->common.at[length] = last + 1;
	for (uint32_t i = side->lines.n; i-- > 0;) {
		const struct insn *n = side->lines.v[i].insn;

		if (!n)
			continue;
		if (number[i] != UINT32_MAX)
			next = number[i];
		while (pc > n->old)
			side->common.at[--pc] = next + 1;
	}
}

static void number_common(struct diff *d, const uint32_t *partner)
{
	uint32_t *in_a = arena_alloc(d->mem, (d->a.lines.n + 1) * sizeof(*in_a));
	uint32_t *in_b = arena_alloc(d->mem, (d->b.lines.n + 1) * sizeof(*in_b)), next = 0;

	if (!in_a || !in_b) {
		fail(d, E_NO_MEMORY);
		return;
	}
	memset(in_b, 0xff, d->b.lines.n * sizeof(*in_b));
	for (uint32_t i = 0; i < d->a.lines.n; i++) {
		bool both = d->a.lines.v[i].insn && partner[i] != LCS_NONE;

		in_a[i] = both ? next : UINT32_MAX;
		if (both)
			in_b[partner[i]] = next++;
	}
	number_places(d, &d->a, in_a, next);
	number_places(d, &d->b, in_b, next);
}

/* Pairs whose branches lead elsewhere are no pairs. */
static void part_by_target(struct diff *d, uint32_t *partner)
{
	for (uint32_t i = 0; i < d->a.lines.n; i++) {
		const struct insn *a = d->a.lines.v[i].insn, *b;
		struct slice to_a, to_b;

		if (!a || partner[i] == LCS_NONE || !(op_is_branch(a->op) || op_is_switch(a->op)))
			continue;
		b = d->b.lines.v[partner[i]].insn;
		show_insn(&d->text, d->a.code, a, &d->a.common);
		to_a = take_text(d);
		show_insn(&d->text, d->b.code, b, &d->b.common);
		to_b = take_text(d);
		if (!slice_eq(to_a, to_b))
			partner[i] = LCS_NONE;
	}
}

static void put_handlers(struct diff *d, const struct side *side, const struct show_labels *labels)
{
	for (uint32_t i = 0; i < side->code->n_handlers; i++) {
		const struct handler *h = &side->code->handlers[i];

		buf_text(&d->text, "try ");
		show_label(&d->text, labels, h->start->old);
		buf_text(&d->text, " to ");
		show_label(&d->text, labels, h->end->old);
		buf_text(&d->text, " at ");
		show_label(&d->text, labels, h->handler->old);
		buf_text(&d->text, " catch ");
		if (h->type)
			show_name(&d->text, pool_name(&side->cls->pool, h->type));
		else
			buf_text(&d->text, "any");
		buf_text(&d->text, "\n");
	}
}

static void put_tables(struct diff *d, const struct side *side, const struct show_labels *labels)
{
	for (uint32_t i = 0; i < side->code->n_tables; i++) {
		const struct attr *a = &side->code->tables[i].attr;

		if (a->kind != ATTR_STACK_MAP_TABLE)
			show_attribute(&d->text, side->cls, a, labels);
	}
}

static void add_tables(struct diff *d, struct side *side)
{
	struct slice text, keys;

	put_handlers(d, side, &side->labels);
	put_tables(d, side, &side->labels);
	text = take_text(d);
	put_handlers(d, side, &side->common);
	put_tables(d, side, &side->common);
	keys = take_text(d);
	add_lines(d, side, text, keys);
}

static int elevate(struct side *side, struct member *m)
{
	int rc = code_elevate(side->cls, m, &side->code, NULL);

	if (rc >= 0)
		rc = show_labels_make(&side->labels, side->code);
	if (rc < 0)
		side->code = NULL;
	return rc;
}

/* Does the code call the probe?  Then a template was merged into it. */
static bool is_woven(const struct code *code)
{
	for (const struct insn *n = code->start; n; n = n->next) {
		struct pool_ref ref;

		if (n->op == OP_INVOKESTATIC && pool_ref(&code->cls->pool, n->index, &ref) &&
		    slice_is(ref.owner, "java/util/SondeProbe"))
			return true;
	}
	return false;
}

/* A line about the template's part, where the second version was woven and the first not. */
static void tell_merged(struct diff *d, const uint32_t *partner)
{
	int handlers = (int)d->b.code->n_handlers - (int)d->a.code->n_handlers;
	uint32_t bytes = 0;

	if (is_woven(d->a.code) || !is_woven(d->b.code))
		return;
	for (uint32_t i = 0; i < d->b.lines.n; i++)
		bytes += d->b.lines.v[i].insn ? d->b.lines.v[i].insn->size : 0;
	for (uint32_t i = 0; i < d->a.lines.n; i++)
		if (partner[i] != LCS_NONE && d->b.lines.v[partner[i]].insn)
			bytes -= d->b.lines.v[partner[i]].insn->size;
	buf_printf(&d->text, "template: %u byte%s of code, %d handler%s", bytes, plural(bytes),
		   handlers, handlers == 1 ? "" : "s");
	put(d, '+', take_text(d));
}

static void compare_code(struct diff *d, struct member *a, struct member *b)
{
	uint32_t *partner;

	if (slice_eq(a->code, b->code) && slice_eq(d->a.cls->pool.bytes, d->b.cls->pool.bytes))
		return;
	if (elevate(&d->a, a) < 0 || elevate(&d->b, b) < 0) {
		if (!slice_eq(a->code, b->code))
			put(d, '+',
			    slice_str("code that cannot be compared, because it is malformed"));
		return;
	}
	add_insns(d, &d->a);
	add_insns(d, &d->b);
	partner = align(d);
	if (!partner || d->err)
		return;
	number_common(d, partner);
	if (d->err)
		return;
	part_by_target(d, partner);
	if (!is_same(d, partner)) {
		print_lines(d, partner);
		tell_merged(d, partner);
	}
	d->a.lines.n = d->b.lines.n = 0;
	add_tables(d, &d->a);
	add_tables(d, &d->b);
	compare_lines(d);
}

/* ---- members and the class ---- */

static void add_member(struct diff *d, struct side *side, struct member *m, bool method)
{
	show_member_head(&d->text, side->cls, m, method);
	if (m->code.n >= 8 && !(side->cls->major == 45 && side->cls->minor < 3))
		buf_printf(&d->text, "max_stack %u\nmax_locals %u\n", get_u16(m->code.p),
			   get_u16(m->code.p + 2));
	add_text(d, side);
	add_attrs(d, side, &m->attrs);
}

static struct slice member_key(struct diff *d, const struct class *cls, const struct member *m)
{
	buf_put(&d->text, member_name(cls, m));
	buf_u8(&d->text, ' ');
	buf_put(&d->text, member_desc(cls, m));
	return take_text(d);
}

static void name_part(struct diff *d, const struct side *side, const struct member *m, bool method)
{
	buf_text(&d->text, method ? "method " : "field ");
	show_name(&d->text, member_name(side->cls, m));
	if (!method)
		buf_u8(&d->text, ' ');
	show_name(&d->text, member_desc(side->cls, m));
	d->part = take_text(d);
}

/* a or b may be NULL: added, removed. */
static void compare_member(struct diff *d, struct member *a, struct member *b, bool method)
{
	begin_part(d);
	name_part(d, a ? &d->a : &d->b, a ? a : b, method);
	if (a)
		add_member(d, &d->a, a, method);
	if (b)
		add_member(d, &d->b, b, method);
	if (a && b) {
		compare_lines(d);
		if (a->code.p && b->code.p)
			compare_code(d, a, b);
		return;
	}
	if (a && a->code.p && elevate(&d->a, a) >= 0)
		add_insns(d, &d->a);
	if (b && b->code.p && elevate(&d->b, b) >= 0)
		add_insns(d, &d->b);
	compare_lines(d);
}

static void compare_members(struct diff *d, bool method)
{
	struct class *a = d->a.cls, *b = d->b.cls;
	struct member *in_a = method ? a->methods : a->fields;
	struct member *in_b = method ? b->methods : b->fields;
	uint32_t n = method ? a->n_methods : a->n_fields, m = method ? b->n_methods : b->n_fields;
	struct map names = { 0 };
	uintptr_t *place;

	for (uint32_t j = 0; j < m && !d->err; j++) {
		place = map_put(&names, member_key(d, b, &in_b[j]), NULL);
		if (place)
			*place = (uintptr_t)&in_b[j];
		else
			fail(d, E_NO_MEMORY);
	}
	for (uint32_t i = 0; i < n && !d->err; i++) {
		place = map_get(&names, member_key(d, a, &in_a[i]));
		compare_member(d, &in_a[i], place ? (struct member *)*place : NULL, method);
		if (place)
			*place = 0;
	}
	for (uint32_t j = 0; j < m && !d->err; j++) {
		place = map_get(&names, member_key(d, b, &in_b[j]));
		if (place && *place == (uintptr_t)&in_b[j])
			compare_member(d, NULL, &in_b[j], method);
	}
	map_release(&names);
}

static void compare_heads(struct diff *d)
{
	begin_part(d);
	d->part = slice_str("class");
	for (struct side *side = &d->a; side; side = side == &d->a ? &d->b : NULL) {
		show_class_head(&d->text, side->cls);
		add_text(d, side);
		add_attrs(d, side, &side->cls->attrs);
	}
	compare_lines(d);
}

/* Only their number: which are used shows in the other parts. */
static void compare_pools(struct diff *d)
{
	uint32_t a = d->a.cls->pool.n, b = d->b.cls->pool.n;
	bool grown = b > a && slice_starts(d->b.cls->pool.bytes, d->a.cls->pool.bytes);

	if (a == b)
		return;
	begin_part(d);
	d->part = slice_str("constant pool");
	buf_printf(&d->text, "%u constant%s", a - 1, plural(a - 1));
	put(d, '-', take_text(d));
	buf_printf(&d->text, "%u constant%s%s", b - 1, plural(b - 1),
		   grown ? ", the new ones behind the old" : "");
	put(d, '+', take_text(d));
}

int diff_class(struct class *a, struct class *b, struct arena *mem, const struct diff_sink *sink)
{
	struct diff d = { .a.cls = a, .b.cls = b, .mem = mem, .sink = sink };

	compare_heads(&d);
	compare_pools(&d);
	compare_members(&d, false);
	compare_members(&d, true);
	if (!d.parts && !d.err && !slice_eq(a->bytes, b->bytes)) {
		begin_part(&d);
		d.part = slice_str("layout");
		put(&d, '+', slice_str("the same contents in other bytes"));
	}
	map_release(&d.keys);
	buf_release(&d.text);
	return d.err ? d.err : d.parts;
}
