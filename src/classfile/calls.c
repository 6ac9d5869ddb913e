/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - one walk over the instructions.
 *
 * Call sites are distinguished by pool index first, then by what the entry says, since a pool may
 * hold the same method twice.  The places of the bootstrap methods are found once, at the first
 * site that needs them, so that no class can make this slow. */
#include "classfile/calls.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/map.h"

struct line {
	uint16_t pc, line;
	uint32_t order;
};

struct callee {
	struct class_call call;
	uint16_t *lines;
	uint32_t n_lines, cap;
	struct callee *next;
};

struct finder {
	const struct code *code;
	const struct class *cls;
	const struct calls_options *opt;
	struct map by_index; /* opcode and pool index -> entry */
	struct map by_text;  /* what is called -> entry */
	struct buf key;
	size_t text; /* bytes of all keys */
	struct callee *first, **tail;
	uint32_t n;
	struct line *lines; /* sorted by pc */
	uint32_t n_lines;
	struct slice *bootstraps; /* each from its method handle on */
	uint32_t n_bootstraps;
	struct map synthetic; /* names and descriptors of the methods that the compiler made */
	bool asked_bootstraps, asked_synthetic;
	struct fault *fault;
};

const char *call_kind_text(unsigned kind)
{
	static const char *const texts[CALL_KINDS] = {
		[CALL_METHOD] = "method",	[CALL_LAMBDA] = "lambda",
		[CALL_REFERENCE] = "reference", [CALL_CONCAT] = "concatenation",
		[CALL_SWITCH] = "switch",	[CALL_RECORD] = "record",
		[CALL_CONSTANT] = "constant",	[CALL_DYNAMIC] = "dynamic",
		[CALL_UNKNOWN] = "unknown",
	};

	return kind < CALL_KINDS ? texts[kind] : "?";
}

/* ---- lines ---- */

static int by_pc(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->pc != y->pc)
		return x->pc < y->pc ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* All LineNumberTables (there may be several), JVMS 4.7.12. */
static int read_lines(struct finder *w)
{
	const struct code *code = w->code;
	uint32_t n = 0, at = 0;

	for (uint32_t i = 0; i < code->n_tables; i++)
		if (code->tables[i].attr.kind == ATTR_LINE_NUMBER_TABLE)
			n += (uint32_t)(code->tables[i].attr.data.n / 4);
	w->lines = arena_alloc(code->mem, (n + 1) * sizeof(*w->lines));
	if (!w->lines)
		return E_NO_MEMORY;
	for (uint32_t i = 0; i < code->n_tables; i++) {
		struct reader r = rd_init(code->tables[i].attr.data);

		if (code->tables[i].attr.kind != ATTR_LINE_NUMBER_TABLE)
			continue;
		for (rd_u16(&r); rd_left(&r) >= 4; at++) {
			w->lines[at].pc = rd_u16(&r);
			w->lines[at].line = rd_u16(&r);
			w->lines[at].order = at;
		}
	}
	w->n_lines = at;
	if (at)
		qsort(w->lines, at, sizeof(*w->lines), by_pc);
	return 0;
}

/* The line of an instruction, 0: not known. */
static uint16_t line_of(const struct finder *w, const struct insn *n)
{
	size_t behind;

	if (!(n->flags & INSN_READ))
		return 0;
	behind = SEARCH(w->n_lines, i, w->lines[i].pc <= n->old);
	return behind ? w->lines[behind - 1].line : 0;
}

/* Keeps the list sorted; lines mostly come in order. */
static int add_line(struct finder *w, struct callee *e, uint16_t line)
{
	uint32_t at = e->n_lines;

	if (!line)
		return 0;
	while (at && e->lines[at - 1] > line)
		at--;
	if (at && e->lines[at - 1] == line)
		return 0;
	if (e->n_lines == e->cap) {
		uint32_t cap = e->cap ? 2 * e->cap : 2;
		uint16_t *v = arena_alloc(w->code->mem, cap * sizeof(*v));

		if (!v)
			return E_NO_MEMORY;
		if (e->n_lines)
			memcpy(v, e->lines, e->n_lines * sizeof(*v));
		e->lines = v;
		e->cap = cap;
	}
	memmove(e->lines + at + 1, e->lines + at, (e->n_lines - at) * sizeof(*e->lines));
	e->lines[at] = line;
	e->n_lines++;
	return 0;
}

/* ---- bootstrap methods ---- */

/* Finds the beginning of each entry (JVMS 4.7.23), up to the first that is cut off. */
static int find_bootstraps(struct finder *w)
{
	struct reader r;
	struct attr attr;
	uint32_t n;

	w->asked_bootstraps = true;
	if (!attrs_find(&w->cls->attrs, &w->cls->pool, ATTR_BOOTSTRAP_METHODS, &attr))
		return 0;
	r = rd_init(attr.data);
	n = rd_u16(&r);
	w->bootstraps = arena_alloc(w->code->mem, (n + 1) * sizeof(*w->bootstraps));
	if (!w->bootstraps)
		return E_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *start = r.p;

		rd_u16(&r);
		rd_take(&r, 2u * rd_u16(&r));
		if (r.err)
			break;
		w->bootstraps[i] = (struct slice){ start, (size_t)(r.p - start) };
		w->n_bootstraps = i + 1;
	}
	return 0;
}

/* The method that a MethodHandle entry names; false: not a method, or no such entry. */
static bool handle_method(const struct pool *p, uint32_t i, struct pool_ref *out, bool *interface)
{
	uint16_t ref;

	if (pool_tag(p, i) != CONST_METHOD_HANDLE)
		return false;
	ref = get_u16(p->at[i] + 2);
	*interface = pool_tag(p, ref) == CONST_INTERFACE_METHODREF;
	return pool_is(p, ref, TAGS_METHOD) && pool_ref(p, ref, out);
}

static int limit(struct finder *w, const char *what, uint32_t max)
{
	return code_fault(w->code, NULL, w->fault, E_LIMIT, "%s than %u are not looked at", what,
			  max);
}

/* Puts a text into the key, and counts it. */
static int make_key(struct finder *w, const struct slice *parts, size_t n)
{
	buf_clear(&w->key);
	for (size_t i = 0; i < n; i++) {
		buf_u16(&w->key, (unsigned)parts[i].n);
		buf_put(&w->key, parts[i]);
	}
	w->text += w->key.n;
	if (w->text > CALLS_TEXT_MAX)
		return limit(w, "longer names in all", CALLS_TEXT_MAX);
	return w->key.err;
}

/* The place for the key in a map, made when missing; NULL: out of memory. */
static uintptr_t *put_key(struct finder *w, struct map *map)
{
	struct slice kept = arena_dup(w->code->mem, buf_slice(&w->key));

	return kept.p ? map_put(map, kept, NULL) : NULL;
}

/* The methods that the compiler made: only they can be bodies of lambdas. */
static int find_synthetic(struct finder *w)
{
	const struct class *cls = w->cls;

	w->asked_synthetic = true;
	for (uint32_t i = 0; i < cls->n_methods; i++) {
		const struct member *m = &cls->methods[i];
		struct slice parts[] = { member_name(cls, m), member_desc(cls, m) };
		int rc;

		if (!(m->access & ACC_SYNTHETIC))
			continue;
		rc = make_key(w, parts, COUNT(parts));
		if (rc < 0)
			return rc;
		if (!put_key(w, &w->synthetic))
			return E_NO_MEMORY;
	}
	return 0;
}

/* 1: it is a method that the compiler made in the class itself. */
static int is_lambda_body(struct finder *w, const struct pool_ref *ref)
{
	struct slice parts[] = { ref->name, ref->desc };
	int rc;

	if (!slice_eq(ref->owner, class_name(w->cls)))
		return 0;
	rc = w->asked_synthetic ? 0 : find_synthetic(w);
	if (rc >= 0)
		rc = make_key(w, parts, COUNT(parts));
	return rc < 0 ? rc : map_get(&w->synthetic, buf_slice(&w->key)) != NULL;
}

static uint8_t kind_of_bootstrap(const struct pool_ref *ref)
{
	static const struct {
		const char *owner, *name; /* name NULL: any */
		uint8_t kind;
	} known[] = {
		{ "java/lang/invoke/LambdaMetafactory", "metafactory", CALL_REFERENCE },
		{ "java/lang/invoke/LambdaMetafactory", "altMetafactory", CALL_REFERENCE },
		{ "java/lang/invoke/StringConcatFactory", NULL, CALL_CONCAT },
		{ "java/lang/runtime/SwitchBootstraps", NULL, CALL_SWITCH },
		{ "java/lang/runtime/ObjectMethods", NULL, CALL_RECORD },
		{ "java/lang/invoke/ConstantBootstraps", NULL, CALL_CONSTANT },
	};

	for (size_t i = 0; i < COUNT(known); i++)
		if (slice_is(ref->owner, known[i].owner) &&
		    (!known[i].name || slice_is(ref->name, known[i].name)))
			return known[i].kind;
	return CALL_DYNAMIC;
}

/* What stands behind a call site with a bootstrap method. */
static int resolve_dynamic(struct finder *w, const struct pool_ref *site, struct class_call *c)
{
	const struct pool *pool = &w->cls->pool;
	struct pool_ref method;
	struct slice boot;
	int rc = w->asked_bootstraps ? 0 : find_bootstraps(w);

	c->kind = CALL_UNKNOWN;
	c->site_name = site->name;
	c->desc = site->desc;
	if (rc < 0 || site->bootstrap >= w->n_bootstraps)
		return rc;
	boot = w->bootstraps[site->bootstrap];
	if (!handle_method(pool, get_u16(boot.p), &method, &c->interface))
		return 0;
	c->kind = kind_of_bootstrap(&method);
	c->owner = method.owner;
	c->name = method.name;
	/* The second argument of both metafactories is the implementation. */
	if (c->kind == CALL_REFERENCE) {
		struct pool_ref body;

		if (get_u16(boot.p + 2) < 2 ||
		    !handle_method(pool, get_u16(boot.p + 6), &body, &c->interface)) {
			c->kind = CALL_DYNAMIC;
			return 0;
		}
		rc = is_lambda_body(w, &body);
		if (rc < 0)
			return rc;
		c->kind = rc ? CALL_LAMBDA : CALL_REFERENCE;
		c->owner = body.owner;
		c->name = body.name;
		c->desc = body.desc;
	}
	return 0;
}

/* ---- the walk ---- */

static unsigned mask_of(uint8_t op)
{
	switch (op) {
	case OP_INVOKEVIRTUAL:
		return CALLS_VIRTUAL;
	case OP_INVOKESPECIAL:
		return CALLS_SPECIAL;
	case OP_INVOKESTATIC:
		return CALLS_STATIC;
	case OP_INVOKEINTERFACE:
		return CALLS_INTERFACE;
	case OP_INVOKEDYNAMIC:
		return CALLS_DYNAMIC;
	case OP_LDC:
	case OP_LDC_W:
	case OP_LDC2_W:
		return CALLS_CONSTANT;
	default:
		return 0;
	}
}

static int add_entry(struct finder *w, const struct class_call *c, struct callee **out)
{
	uint32_t max = w->opt->max_calls ? w->opt->max_calls : CALLS_MAX;
	struct callee *e;

	if (w->n == max)
		return limit(w, "more calls", max);
	e = arena_zero(w->code->mem, sizeof(*e));
	if (!e)
		return E_NO_MEMORY;
	e->call = *c;
	*w->tail = e;
	w->tail = &e->next;
	w->n++;
	*out = e;
	return 0;
}

/* The entry for what is called, made when it is new. */
static int entry_for(struct finder *w, const struct class_call *c, struct callee **out)
{
	uint8_t what[] = { c->op, c->kind };
	struct slice parts[] = { { what, sizeof(what) }, c->owner, c->name, c->desc, c->site_name };
	uintptr_t *slot;
	int rc = make_key(w, parts, COUNT(parts));

	if (rc < 0)
		return rc;
	slot = map_get(&w->by_text, buf_slice(&w->key));
	if (slot) {
		*out = (struct callee *)*slot;
		return 0;
	}
	rc = add_entry(w, c, out);
	if (rc < 0)
		return rc;
	slot = put_key(w, &w->by_text);
	if (!slot)
		return E_NO_MEMORY;
	*slot = (uintptr_t)*out;
	return 0;
}

static int describe(struct finder *w, const struct insn *n, struct class_call *c)
{
	const struct pool *pool = &w->cls->pool;
	struct pool_ref ref = { 0 };

	*c = (struct class_call){ .op = n->op, .kind = CALL_UNKNOWN };
	pool_ref(pool, n->index, &ref);
	if (pool_is(pool, n->index, TAGS(CONST_INVOKE_DYNAMIC) | TAGS(CONST_DYNAMIC)))
		return resolve_dynamic(w, &ref, c);
	if (!pool_is(pool, n->index, TAGS_METHOD))
		return 0;
	c->kind = CALL_METHOD;
	c->interface = pool_tag(pool, n->index) == CONST_INTERFACE_METHODREF;
	c->owner = ref.owner;
	c->name = ref.name;
	c->desc = ref.desc;
	return 0;
}

/* The entry of a call site, by its pool index when that was met before. */
static int entry_of(struct finder *w, const struct insn *n, struct callee **out)
{
	uint32_t *index = arena_alloc(w->code->mem, sizeof(*index));
	struct class_call c;
	uintptr_t *slot;
	bool fresh;
	int rc;

	if (!index)
		return E_NO_MEMORY;
	*index = (uint32_t)n->op << 16 | n->index;
	slot = map_put(&w->by_index, (struct slice){ (uint8_t *)index, sizeof(*index) }, &fresh);
	if (!slot)
		return E_NO_MEMORY;
	*out = (struct callee *)*slot;
	if (*out && !w->opt->all_sites)
		return 0;
	if (*out)
		c = (*out)->call;
	rc = *out ? 0 : describe(w, n, &c);
	c.sites = 0;
	if (rc >= 0)
		rc = w->opt->all_sites ? add_entry(w, &c, out) : entry_for(w, &c, out);
	if (rc >= 0)
		*slot = (uintptr_t)*out;
	return rc;
}

static int walk(struct finder *w)
{
	unsigned mask = w->opt->mask ? w->opt->mask : CALLS_INVOKES;

	for (const struct insn *n = w->code->start; n; n = n->next) {
		unsigned bit = mask_of(n->op);
		struct callee *e;
		int rc;

		if (n->op == OP_RUN)
			return E_USAGE;
		if (!(bit & mask))
			continue;
		if (bit == CALLS_CONSTANT && pool_tag(&w->cls->pool, n->index) != CONST_DYNAMIC)
			continue;
		rc = entry_of(w, n, &e);
		if (rc >= 0)
			rc = add_line(w, e, line_of(w, n));
		if (rc < 0)
			return rc;
		e->call.sites++;
	}
	return 0;
}

static int flatten(struct finder *w, struct class_call **out)
{
	struct class_call *v = arena_alloc(w->code->mem, (w->n + 1) * sizeof(*v));
	uint32_t i = 0;

	if (!v)
		return E_NO_MEMORY;
	for (const struct callee *e = w->first; e; e = e->next) {
		v[i] = e->call;
		v[i].lines = e->lines;
		v[i++].n_lines = e->n_lines;
	}
	*out = v;
	return 0;
}

int calls_of(const struct code *code, const struct calls_options *options, struct class_call **out,
	     uint32_t *n, struct fault *f)
{
	struct finder w = { .code = code, .cls = code->cls, .opt = options, .fault = f };
	uint32_t max = options->max_class ? options->max_class : CALLS_CLASS_MAX;
	int rc;

	w.tail = &w.first;
	if (code->cls->bytes.n > max)
		return limit(&w, "classes of more bytes", max);
	rc = read_lines(&w);
	if (rc >= 0)
		rc = walk(&w);
	if (rc >= 0)
		rc = flatten(&w, out);
	if (rc >= 0)
		*n = w.n;
	else
		fault_set(f, rc, -1, "%s", err_text(rc));
	map_release(&w.by_index);
	map_release(&w.by_text);
	map_release(&w.synthetic);
	buf_release(&w.key);
	return rc;
}
