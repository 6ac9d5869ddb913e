/* SPDX-License-Identifier: Apache-2.0 */
/* jfr_chunk.c - the header, 68 bytes of big-endian numbers; then events, each with its size and type as
 * variable-length numbers before it.  Type 0 is the metadata: texts, and a tree of elements with attributes.
 * Type 1 is a checkpoint: constants by type and key; each names the one before it.
 *
 * Only where a constant stands is kept, for the types that are there; it is read when it is asked for. */
#include "export/jfr_chunk.h"

#include <stdlib.h>

#include "base/buf.h"

enum {
	HEAD = 68,
	MAJOR_LEAST = 2,
	COMPRESSED = 1,
	METADATA = 0,
	CHECKPOINT = 1,
	CHECKPOINTS_MAX = 1 << 20,
	DEPTH = 24,	    /* of types in types, of elements in elements */
	WORK_PER_BYTE = 16, /* a stack is looked at for its event, a method for its stack */
	WORK_LEAST = 1 << 16,
	TEXT_PER_WORK = 8, /* bytes of names that many stacks have in common are copied for each */
	TEXT_MAX = 1 << 16,
	FIELDS_MAX = 4096,
};

/* ---- numbers and texts --------------------------------------------------------------------- */

/* Up to nine bytes, of which the last has eight bits. */
static uint64_t read_number(struct reader *r)
{
	uint64_t v = 0;
	uint8_t byte;

	for (unsigned i = 0; i < 8; i++) {
		byte = rd_u8(r);
		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (!(byte & 0x80))
			return v;
	}
	return v | (uint64_t)rd_u8(r) << 56;
}

static bool spend(struct jfr_chunk *c, struct reader *r, uint64_t n)
{
	if (c->work >= n) {
		c->work -= n;
		return !r->err;
	}
	c->work = 0;
	c->why = "it claims to hold more than fits into its size";
	rd_fail(r, E_SYNTAX);
	return false;
}

static bool works(struct jfr_chunk *c, struct reader *r)
{
	return spend(c, r, 1);
}

static size_t read_count(struct reader *r)
{
	uint64_t n = read_number(r);

	if (n > rd_left(r))
		rd_fail(r, E_SYNTAX);
	return r->err ? 0 : (size_t)n;
}

enum { TEXT_NULL, TEXT_EMPTY, TEXT_CONSTANT, TEXT_UTF8, TEXT_CHARS, TEXT_LATIN1 };

static void put_char(struct buf *out, uint64_t c)
{
	if (c < 0x80) {
		buf_u8(out, (unsigned)c);
	} else if (c < 0x800) {
		buf_u8(out, 0xc0 | (unsigned)(c >> 6));
		buf_u8(out, 0x80 | (unsigned)(c & 0x3f));
	} else {
		buf_u8(out, 0xe0 | (unsigned)(c >> 12 & 0xf));
		buf_u8(out, 0x80 | (unsigned)(c >> 6 & 0x3f));
		buf_u8(out, 0x80 | (unsigned)(c & 0x3f));
	}
}

/* n characters, as numbers or as bytes, become UTF-8. */
static struct slice read_chars(struct jfr_chunk *c, struct reader *r, size_t n, bool bytes)
{
	struct buf text = { 0 };
	struct slice kept;

	for (size_t i = 0; i < n && works(c, r); i++)
		put_char(&text, bytes ? rd_u8(r) : read_number(r) & 0xffff);
	kept = arena_dup(&c->mem, buf_slice(&text));
	if (text.err || !kept.p)
		rd_fail(r, E_NO_MEMORY);
	buf_release(&text);
	return r->err ? (struct slice){ 0 } : kept;
}

static bool is_ascii(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] >= 0x80)
			return false;
	return true;
}

/* *key: of the constant that it is; unchanged if it stands here. */
static struct slice read_text(struct jfr_chunk *c, struct reader *r, uint64_t *key)
{
	uint8_t how = rd_u8(r);
	struct slice text = { 0 };
	size_t n;

	if (how == TEXT_NULL || how == TEXT_EMPTY)
		return text;
	if (how == TEXT_CONSTANT) {
		*key = read_number(r);
		return text;
	}
	if (how > TEXT_LATIN1)
		rd_fail(r, E_SYNTAX);
	n = read_count(r);
	if (how == TEXT_CHARS)
		return read_chars(c, r, n, false);
	text = (struct slice){ r->p, r->err ? 0 : n };
	if (how == TEXT_LATIN1 && !is_ascii(text))
		return read_chars(c, r, n, true);
	return rd_bytes(r, n);
}

static void skip_text(struct jfr_chunk *c, struct reader *r)
{
	uint8_t how = rd_u8(r);

	if (how == TEXT_CONSTANT) {
		(void)read_number(r);
	} else if (how == TEXT_UTF8 || how == TEXT_LATIN1) {
		(void)rd_bytes(r, read_count(r));
	} else if (how == TEXT_CHARS) {
		for (size_t n = read_count(r); n && works(c, r); n--)
			(void)read_number(r);
	} else if (how > TEXT_LATIN1) {
		rd_fail(r, E_SYNTAX);
	}
}

/* ---- the header ---------------------------------------------------------------------------- */

size_t jfr_chunk_length(struct slice file, const char **why)
{
	uint64_t n;

	if (file.n < HEAD || memcmp(file.p, "FLR\0", 4) != 0) {
		*why = file.n < HEAD ? "it ends in the header of a chunk"
				     : "no chunk of the Flight Recorder begins here";
		return 0;
	}
	n = get_u64(file.p + 8);
	if (n < HEAD || n > file.n) {
		*why = n ? "a chunk is cut off"
			 : "a chunk has no end: the recording was not finished";
		return 0;
	}
	return (size_t)n;
}

static struct reader read_from(const struct jfr_chunk *c, uint64_t at)
{
	struct reader r = rd_init(c->bytes);

	if (at > c->bytes.n)
		rd_fail(&r, E_SYNTAX);
	else
		r.p += at;
	return r;
}

/* The event at a place: its type; r is limited to it and stands behind the type. */
static uint64_t event_at(const struct jfr_chunk *c, uint64_t at, struct reader *r)
{
	uint64_t n;

	*r = read_from(c, at);
	n = read_number(r);
	if (!r->err && (n < rd_at(r) - at || n > c->bytes.n - at))
		rd_fail(r, E_SYNTAX);
	if (!r->err)
		r->end = c->bytes.p + at + n;
	return read_number(r);
}

/* ---- metadata ------------------------------------------------------------------------------ */

struct metadata {
	struct jfr_chunk *c;
	struct reader r;
	struct slice *texts;
	size_t n_texts;
	struct jfr_class *class; /* that fields belong to */
	uint32_t cap;
};

static struct slice text_of(struct metadata *m)
{
	uint64_t i = read_number(&m->r);

	if (i >= m->n_texts)
		rd_fail(&m->r, E_SYNTAX);
	return m->r.err ? (struct slice){ 0 } : m->texts[i];
}

static uint64_t decimal(struct slice s)
{
	enum { DIGITS = 20 };
	uint64_t v = 0;

	for (size_t i = 0; i < s.n && i < DIGITS && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	return v;
}

struct attributes {
	struct slice name, id, class, pool, dimension;
};

static void read_attributes(struct metadata *m, struct attributes *a)
{
	*a = (struct attributes){ 0 };
	for (size_t n = read_count(&m->r); n && works(m->c, &m->r); n--) {
		struct slice key = text_of(m), value = text_of(m);

		if (slice_is(key, "name"))
			a->name = value;
		else if (slice_is(key, "id"))
			a->id = value;
		else if (slice_is(key, "class"))
			a->class = value;
		else if (slice_is(key, "constantPool"))
			a->pool = value;
		else if (slice_is(key, "dimension"))
			a->dimension = value;
	}
}

static void begin_class(struct metadata *m, const struct attributes *a)
{
	struct jfr_class *class = arena_zero(&m->c->mem, sizeof(*class));
	uintptr_t *place;

	m->class = class;
	m->cap = 0;
	if (class) {
		class->name = a->name;
		class->id = decimal(a->id);
	}
	place = class ? map_put(&m->c->classes, (struct slice){ (uint8_t *)&class->id, 8 }, NULL)
		      : NULL;
	if (place)
		*place = (uintptr_t) class;
	else
		rd_fail(&m->r, E_NO_MEMORY);
}

static void add_field(struct metadata *m, const struct attributes *a)
{
	struct jfr_class *class = m->class;
	struct jfr_field *more;

	if (!class || class->n >= FIELDS_MAX)
		return rd_fail(&m->r, E_SYNTAX);
	if (class->n == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 8;
		more = arena_alloc(&m->c->mem, m->cap * sizeof(*more));
		if (!more)
			return rd_fail(&m->r, E_NO_MEMORY);
		if (class->n)
			memcpy(more, class->fields, class->n * sizeof(*more));
		class->fields = more;
	}
	class->fields[class->n++] = (struct jfr_field){ .name = a->name,
							.type = decimal(a->class),
							.pooled = slice_is(a->pool, "true"),
							.array = decimal(a->dimension) > 0 };
}

/* An element with its attributes and those below it: a class, its fields, annotations of both, and more
 * that we do not need. */
static void read_element(struct metadata *m, unsigned depth)
{
	struct slice name = text_of(m);
	struct attributes a;

	if (depth > DEPTH)
		rd_fail(&m->r, E_SYNTAX);
	read_attributes(m, &a);
	if (slice_is(name, "class"))
		begin_class(m, &a);
	else if (slice_is(name, "field"))
		add_field(m, &a);
	for (size_t n = read_count(&m->r); n && works(m->c, &m->r); n--)
		read_element(m, depth + 1);
}

static int read_metadata(struct jfr_chunk *c, uint64_t at)
{
	struct metadata m = { .c = c };
	uint64_t key;

	if (event_at(c, at, &m.r) != METADATA || m.r.err)
		return E_SYNTAX;
	for (unsigned i = 0; i < 3; i++) /* start, duration, number */
		(void)read_number(&m.r);
	m.n_texts = read_count(&m.r);
	m.texts = m.r.err ? NULL : arena_alloc(&c->mem, (m.n_texts + 1) * sizeof(*m.texts));
	if (!m.texts)
		return m.r.err ? E_SYNTAX : E_NO_MEMORY;
	for (size_t i = 0; i < m.n_texts && works(c, &m.r); i++)
		m.texts[i] = read_text(c, &m.r, &key);
	if (!m.r.err)
		read_element(&m, 0);
	return m.r.err == E_NO_MEMORY ? E_NO_MEMORY : m.r.err ? E_SYNTAX : 0;
}

static const struct jfr_class *class_of(const struct jfr_chunk *c, uint64_t id)
{
	const uintptr_t *place = map_get(&c->classes, (struct slice){ (uint8_t *)&id, 8 });

	return place ? (const struct jfr_class *)*place : NULL;
}

/* ---- values -------------------------------------------------------------------------------- */

static void skip_fields(struct jfr_chunk *c, struct reader *r, const struct jfr_class *class,
			unsigned depth);

/* True: it was one that has no fields of its own. */
static bool skip_basic(struct jfr_chunk *c, struct reader *r, struct slice type)
{
	if (slice_is(type, "java.lang.String"))
		skip_text(c, r);
	else if (slice_is(type, "boolean") || slice_is(type, "byte"))
		(void)rd_u8(r);
	else if (slice_is(type, "float"))
		(void)rd_take(r, 4);
	else if (slice_is(type, "double"))
		(void)rd_take(r, 8);
	else if (slice_is(type, "int") || slice_is(type, "long") || slice_is(type, "short") ||
		 slice_is(type, "char"))
		(void)read_number(r);
	else
		return false;
	return true;
}

static void skip_one(struct jfr_chunk *c, struct reader *r, const struct jfr_field *f,
		     unsigned depth)
{
	const struct jfr_class *class;

	if (f->pooled) {
		(void)read_number(r);
		return;
	}
	class = class_of(c, f->type);
	if (!class || depth > DEPTH)
		rd_fail(r, E_SYNTAX);
	else if (!skip_basic(c, r, class->name))
		skip_fields(c, r, class, depth + 1);
}

static void skip_field(struct jfr_chunk *c, struct reader *r, const struct jfr_field *f,
		       unsigned depth)
{
	size_t n = f->array ? read_count(r) : 1;

	for (; n && works(c, r); n--)
		skip_one(c, r, f, depth);
}

static void skip_fields(struct jfr_chunk *c, struct reader *r, const struct jfr_class *class,
			unsigned depth)
{
	for (uint32_t i = 0; i < class->n && !r->err; i++)
		skip_field(c, r, &class->fields[i], depth);
}

/* ---- constants ----------------------------------------------------------------------------- */

struct constant_key {
	uint64_t type, key;
};

static bool keep_constant(struct jfr_chunk *c, uint64_t type, uint64_t key, size_t at)
{
	const struct constant_key k = { type, key };
	struct constant_key *kept;
	uintptr_t *place = map_get(&c->constants, (struct slice){ (const uint8_t *)&k, sizeof(k) });

	if (place) /* checkpoints come the last first, and the last counts */
		return true;
	kept = arena_copy(&c->mem, &k, sizeof(k));
	place = kept ? map_put(&c->constants, (struct slice){ (uint8_t *)kept, sizeof(*kept) },
			       NULL)
		     : NULL;
	if (place)
		*place = at;
	return place != NULL;
}

static void read_pool(struct jfr_chunk *c, struct reader *r)
{
	uint64_t type = read_number(r);
	const struct jfr_class *class = class_of(c, type);

	if (!class)
		rd_fail(r, E_SYNTAX);
	for (size_t n = read_count(r); n && works(c, r); n--) {
		uint64_t key = read_number(r);
		size_t at = rd_at(r);

		if (!skip_basic(c, r, class->name))
			skip_fields(c, r, class, 0);
		if (!r->err && !keep_constant(c, type, key, at))
			rd_fail(r, E_NO_MEMORY);
	}
}

static int read_constants(struct jfr_chunk *c, uint64_t at)
{
	struct reader r;

	for (unsigned i = 0; i < CHECKPOINTS_MAX; i++) {
		int64_t before;

		if (event_at(c, at, &r) != CHECKPOINT || r.err)
			return E_SYNTAX;
		(void)read_number(&r); /* start */
		(void)read_number(&r); /* duration */
		before = (int64_t)read_number(&r);
		(void)rd_u8(&r); /* what it is for */
		for (size_t n = read_count(&r); n && works(c, &r); n--)
			read_pool(c, &r);
		if (r.err)
			return r.err == E_NO_MEMORY ? E_NO_MEMORY : E_SYNTAX;
		if (!before)
			return 0;
		at += (uint64_t)before;
	}
	return E_SYNTAX;
}

/* ---- the chunk ----------------------------------------------------------------------------- */

int jfr_chunk_open(struct jfr_chunk *c, struct slice bytes)
{
	int rc;

	*c = (struct jfr_chunk){ .bytes = bytes,
				 .start_ns = get_u64(bytes.p + 32),
				 .duration_ns = get_u64(bytes.p + 40),
				 .ticks_hz = get_u64(bytes.p + 56),
				 .work = WORK_LEAST + (uint64_t)bytes.n * WORK_PER_BYTE };
	arena_init(&c->mem);
	if (get_u16(bytes.p + 4) < MAJOR_LEAST || !(get_u32(bytes.p + 64) & COMPRESSED)) {
		c->why = "its format is older than that of JDK 9";
		return E_UNSUPPORTED;
	}
	rc = read_metadata(c, get_u64(bytes.p + 24));
	if (rc < 0) {
		c->why = c->why ? c->why : "its description of types is damaged";
		return rc;
	}
	rc = read_constants(c, get_u64(bytes.p + 16));
	if (rc < 0)
		c->why = c->why ? c->why : "its table of constants is damaged";
	return rc;
}

void jfr_chunk_release(struct jfr_chunk *c)
{
	map_release(&c->classes);
	map_release(&c->constants);
	arena_release(&c->mem);
}

bool jfr_chunk_next(struct jfr_chunk *c, size_t *at, const struct jfr_class **class,
		    struct slice *fields)
{
	struct reader r;
	uint64_t type;

	if (!*at)
		*at = HEAD;
	while (*at < c->bytes.n) {
		type = event_at(c, *at, &r);
		if (r.err) {
			c->why = "an event is cut off";
			return false;
		}
		*at = (size_t)(r.end - c->bytes.p);
		*class = type > CHECKPOINT ? class_of(c, type) : NULL;
		*fields = (struct slice){ r.p, rd_left(&r) };
		if (*class)
			return true;
	}
	return false;
}

/* ---- one value ----------------------------------------------------------------------------- */

struct jfr_value jfr_value_of(const struct jfr_class *class, struct slice fields)
{
	return (struct jfr_value){ .class = class, .at = rd_init(fields), .type = class->id };
}

/* The field, r standing at its value; NULL: there is none. */
static const struct jfr_field *find(struct jfr_chunk *c, const struct jfr_value *v,
				    const char *name, struct reader *r)
{
	*r = v->at;
	for (uint32_t i = 0; v->class && i < v->class->n && works(c, r); i++) {
		if (slice_is(v->class->fields[i].name, name))
			return &v->class->fields[i];
		skip_field(c, r, &v->class->fields[i], 0);
	}
	return NULL;
}

static struct jfr_value constant(const struct jfr_chunk *c, uint64_t type, uint64_t key)
{
	const struct constant_key k = { type, key };
	const uintptr_t *place =
		map_get(&c->constants, (struct slice){ (const uint8_t *)&k, sizeof(k) });

	if (!place)
		return (struct jfr_value){ 0 };
	return (struct jfr_value){ .class = class_of(c, type),
				   .at = read_from(c, *place),
				   .type = type };
}

struct jfr_value jfr_value_field(struct jfr_chunk *c, const struct jfr_value *v, const char *name)
{
	struct reader r;
	const struct jfr_field *f = find(c, v, name, &r);

	if (!f)
		return (struct jfr_value){ 0 };
	if (f->pooled)
		return constant(c, f->type, read_number(&r));
	return (struct jfr_value){
		.class = class_of(c, f->type), .at = r, .type = f->type, .array = f->array
	};
}

uint64_t jfr_value_number(struct jfr_chunk *c, const struct jfr_value *v, const char *name)
{
	struct reader r;
	const struct jfr_field *f = find(c, v, name, &r);
	const struct jfr_class *class = f && !f->pooled && !f->array ? class_of(c, f->type) : NULL;

	if (!class)
		return 0;
	if (slice_is(class->name, "boolean") || slice_is(class->name, "byte"))
		return rd_u8(&r);
	return read_number(&r);
}

uint64_t jfr_value_key(struct jfr_chunk *c, const struct jfr_value *v, const char *name)
{
	struct reader r;
	const struct jfr_field *f = find(c, v, name, &r);

	return f && f->pooled && !f->array ? read_number(&r) : 0;
}

struct slice jfr_value_text(struct jfr_chunk *c, const struct jfr_value *v, const char *name)
{
	struct jfr_value text = jfr_value_field(c, v, name);
	uint64_t key = 0;
	struct slice s;

	if (!text.class || !slice_is(text.class->name, "java.lang.String"))
		return (struct slice){ 0 };
	s = read_text(c, &text.at, &key);
	if (key) {
		text = constant(c, text.type, key);
		s = text.class ? read_text(c, &text.at, &key) : s;
	}
	if (!spend(c, &text.at, s.n / TEXT_PER_WORK))
		return (struct slice){ 0 };
	s.n = s.n < TEXT_MAX ? s.n : TEXT_MAX; /* more than a name of the JVM can have */
	return s;
}

uint64_t jfr_value_begin(struct jfr_chunk *c, struct jfr_value *array)
{
	(void)c;
	return array->class && array->array ? read_count(&array->at) : 0;
}

struct jfr_value jfr_value_next(struct jfr_chunk *c, struct jfr_value *array)
{
	struct jfr_value v = *array;

	v.array = false;
	if (works(c, &array->at))
		skip_fields(c, &array->at, array->class, 0);
	return v;
}
