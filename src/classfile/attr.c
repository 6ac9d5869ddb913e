/* SPDX-License-Identifier: Apache-2.0 */
/* attr.c - finding attributes and walking through them by their layout.
 *
 * The walker is a small interpreter of the layout strings in attributes.def.  Annotations,
 * element values and type annotations are recursive or have variants, so each has a
 * function of its own; nesting is limited, because hostile input may nest as deep as it
 * is long. */
#include "classfile/attr.h"

enum { NESTING_MAX = 200 };

const struct attr_info attr_table[ATTR_COUNT] = {
	[ATTR_UNKNOWN] = { "", "CFMKR", "*" },
#define X(KIND, name, where, layout) [ATTR_##KIND] = { name, where, layout },
#include "classfile/attributes.def"
#undef X
};

static const uint8_t name_length[ATTR_COUNT] = {
#define X(KIND, name, where, layout) [ATTR_##KIND] = sizeof(name) - 1,
#include "classfile/attributes.def"
#undef X
};

static uint8_t kind_of_name(struct slice name)
{
	for (uint8_t kind = 1; kind < ATTR_COUNT; kind++)
		if (name_length[kind] == name.n &&
		    memcmp(name.p, attr_table[kind].name, name.n) == 0)
			return kind;
	return ATTR_UNKNOWN;
}

uint8_t attr_kind_of(const struct pool *p, uint32_t name)
{
	uint8_t *cache;

	if (name >= p->n)
		return ATTR_UNKNOWN;
	cache = &p->attr_kind[name];
	if (!*cache)
		*cache = (uint8_t)(kind_of_name(pool_utf8(p, name)) + 1);
	return (uint8_t)(*cache - 1);
}

int attrs_read(struct attrs *a, const struct pool *p, struct reader *r, struct fault *f)
{
	a->n = rd_u16(r);
	a->bytes.p = r->p;
	for (unsigned i = 0; i < a->n; i++) {
		const uint8_t *head = rd_take(r, 6);

		if (!head || get_u32(head + 2) > rd_left(r))
			return fault_set(f, E_TRUNCATED, (long)rd_at(r),
					 "attribute %u of %u reaches past the end", i + 1, a->n);
		if (!pool_is(p, get_u16(head), TAGS(CONST_UTF8)))
			return fault_set(f, E_ATTRIBUTE, (long)(head - r->start),
					 "attribute name %u is not a Utf8 entry", get_u16(head));
		r->p += get_u32(head + 2);
	}
	if (r->err)
		return fault_set(f, r->err, (long)rd_at(r), "attributes_count is missing");
	a->bytes.n = (size_t)(r->p - a->bytes.p);
	return 0;
}

bool attrs_next(const struct attrs *a, const struct pool *p, const uint8_t **at, struct attr *out)
{
	const uint8_t *head = *at ? *at : a->bytes.p;

	if (!a->n || head == a->bytes.p + a->bytes.n)
		return false;
	out->name = get_u16(head);
	out->kind = attr_kind_of(p, out->name);
	out->data = (struct slice){ head + 6, get_u32(head + 2) };
	*at = out->data.p + out->data.n;
	return true;
}

bool attrs_find(const struct attrs *a, const struct pool *p, uint8_t kind, struct attr *out)
{
	for (const uint8_t *at = NULL; attrs_next(a, p, &at, out);)
		if (out->kind == kind)
			return true;
	return false;
}

struct walk {
	struct reader r;
	const struct attr *attr;
	const struct pool *pool;
	const struct attr_visitor *visitor;
	struct fault *fault;
	unsigned depth;
	int rc; /* what a visitor said, when that was negative */
};

static int walk_layout(struct walk *w, const char *layout, const char *end);

static int walk_fail(struct walk *w, const char *what)
{
	struct slice name = pool_utf8(w->pool, w->attr->name);

	if (w->rc < 0)
		return w->rc;
	return fault_set(w->fault, E_ATTRIBUTE, -1, "attribute %.*s, byte %zu: %s", SLICE_FMT(name),
			 rd_at(&w->r), what);
}

static uint32_t index_tags(char kind)
{
	switch (kind) {
	case 'u':
	case 'U':
	case 'd':
		return TAGS(CONST_UTF8);
	case 'c':
	case 'C':
		return TAGS(CONST_CLASS);
	case 'n':
		return TAGS(CONST_NAME_AND_TYPE);
	case 'h':
		return TAGS(CONST_METHOD_HANDLE);
	case 'k':
		return TAGS_LOADABLE;
	case 'v':
		return TAGS(CONST_INTEGER) | TAGS(CONST_FLOAT) | TAGS(CONST_LONG) |
		       TAGS(CONST_DOUBLE) | TAGS(CONST_STRING);
	case 'm':
		return TAGS(CONST_MODULE);
	case 'p':
		return TAGS(CONST_PACKAGE);
	case 'i':
		return TAGS(CONST_INTEGER);
	case 'j':
		return TAGS(CONST_LONG);
	case 'f':
		return TAGS(CONST_FLOAT);
	case 'g':
		return TAGS(CONST_DOUBLE);
	default:
		return 0;
	}
}

static int walk_index(struct walk *w, char kind)
{
	size_t at = rd_at(&w->r);
	uint16_t index = rd_u16(&w->r);
	bool zero_ok = kind == 'U' || kind == 'C' || kind == 'n';

	if (w->r.err)
		return walk_fail(w, "ends too early");
	if (!(index == 0 && zero_ok) && !pool_is(w->pool, index, index_tags(kind)))
		return walk_fail(w, "constant-pool index of the wrong kind");
	if (w->visitor->index)
		w->rc = w->visitor->index(w->visitor->ctx, at, index, kind);
	return w->rc < 0 ? w->rc : 0;
}

static int walk_offset(struct walk *w)
{
	size_t at = rd_at(&w->r);
	uint16_t offset = rd_u16(&w->r);

	if (w->visitor->offset && !w->r.err)
		w->rc = w->visitor->offset(w->visitor->ctx, at, offset);
	return w->rc < 0 ? w->rc : 0;
}

static int walk_range(struct walk *w)
{
	size_t at = rd_at(&w->r);
	uint16_t from = rd_u16(&w->r), length = rd_u16(&w->r);

	if (w->visitor->range && !w->r.err)
		w->rc = w->visitor->range(w->visitor->ctx, at, from, length);
	return w->rc < 0 ? w->rc : 0;
}

static int walk_text(struct walk *w, const char *layout)
{
	return walk_layout(w, layout, layout + strlen(layout));
}

/* element_value (JVMS 4.7.16.1) */
static int walk_element(struct walk *w)
{
	int rc;

	if (++w->depth > NESTING_MAX)
		return walk_fail(w, "annotation nested too deep");
	switch (rd_u8(&w->r)) {
	case 'B':
	case 'C':
	case 'I':
	case 'S':
	case 'Z':
		rc = walk_index(w, 'i');
		break;
	case 'D':
		rc = walk_index(w, 'g');
		break;
	case 'F':
		rc = walk_index(w, 'f');
		break;
	case 'J':
		rc = walk_index(w, 'j');
		break;
	case 's':
		rc = walk_index(w, 'u');
		break;
	case 'e':
		rc = walk_text(w, "du");
		break;
	case 'c':
		rc = walk_index(w, 'd');
		break;
	case '@':
		rc = walk_text(w, "@");
		break;
	case '[':
		rc = walk_text(w, "[e]");
		break;
	default:
		rc = walk_fail(w, "unknown element_value tag");
	}
	w->depth--;
	return rc;
}

/* annotation (JVMS 4.7.16) */
static int walk_annotation(struct walk *w)
{
	int rc;

	if (++w->depth > NESTING_MAX)
		return walk_fail(w, "annotation nested too deep");
	rc = walk_text(w, "d[ue]");
	w->depth--;
	return rc;
}

/* type_annotation (JVMS 4.7.20): a target, a path, an annotation */
static int walk_type_annotation(struct walk *w)
{
	uint8_t type = rd_u8(&w->r);
	const char *target;
	int rc;

	switch (type) {
	case 0x00:
	case 0x01:
	case 0x16:
		target = "1";
		break;
	case 0x10:
	case 0x11:
	case 0x12:
	case 0x17:
	case 0x42: /* an index into the exception table, which keeps its order */
		target = "2";
		if (type == 0x11 || type == 0x12)
			target = "11";
		break;
	case 0x13 ... 0x15:
		target = "";
		break;
	case 0x40:
	case 0x41:
		target = "[r2]";
		break;
	case 0x43 ... 0x46:
		target = "o";
		break;
	case 0x47 ... 0x4b:
		target = "o1";
		break;
	default:
		return walk_fail(w, "unknown target_type");
	}
	rc = walk_text(w, target);
	return rc < 0 ? rc : walk_text(w, "(11)@");
}

/* Of a record component.  Attributes that mean nothing there are skipped, so none nests. */
static int walk_nested_attrs(struct walk *w)
{
	struct attrs nested;
	struct attr inner;
	int rc;

	rc = attrs_read(&nested, w->pool, &w->r, NULL);
	if (rc < 0)
		return walk_fail(w, "a component's attributes do not fit into it");
	for (const uint8_t *at = NULL; rc >= 0 && attrs_next(&nested, w->pool, &at, &inner);)
		if (strchr(attr_table[inner.kind].where, 'R'))
			rc = attr_walk(&inner, w->pool, &(struct attr_visitor){ 0 }, w->fault);
	return rc;
}

/* The bracket that closes the one at p. */
static const char *closing(const char *p)
{
	for (int open = 0;; p++) {
		open += *p == '[' || *p == '(';
		open -= *p == ']' || *p == ')';
		if (!open)
			return p;
	}
}

static int walk_item(struct walk *w, char item)
{
	switch (item) {
	case '1':
		rd_take(&w->r, 1);
		return 0;
	case '2':
		rd_take(&w->r, 2);
		return 0;
	case '4':
		rd_take(&w->r, 4);
		return 0;
	case '*':
		w->r.p = w->r.end;
		return 0;
	case 'o':
		return walk_offset(w);
	case 'r':
		return walk_range(w);
	case '@':
		return walk_annotation(w);
	case 'e':
		return walk_element(w);
	case 't':
		return walk_type_annotation(w);
	case 'a':
		return walk_nested_attrs(w);
	default:
		return walk_index(w, item);
	}
}

static int walk_layout(struct walk *w, const char *layout, const char *end)
{
	int rc = 0;

	for (const char *p = layout; p < end && rc >= 0; p++) {
		if (*p == '[' || *p == '(') {
			unsigned n = *p == '[' ? rd_u16(&w->r) : rd_u8(&w->r);
			const char *close = closing(p);

			while (n-- && rc >= 0)
				rc = walk_layout(w, p + 1, close);
			p = close;
		} else {
			rc = walk_item(w, *p);
		}
		if (w->r.err)
			return walk_fail(w, "ends too early");
	}
	return rc;
}

int attr_walk(const struct attr *a, const struct pool *p, const struct attr_visitor *v,
	      struct fault *f)
{
	struct walk w = { rd_init(a->data), a, p, v, f, 0, 0 };
	const char *layout = attr_table[a->kind].layout;
	int rc;

	if (*layout == '#')
		return 0;
	rc = walk_text(&w, layout);
	if (rc >= 0 && rd_left(&w.r))
		rc = walk_fail(&w, "holds more bytes than its contents");
	return rc;
}
