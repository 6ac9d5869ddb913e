/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "classes.h"

/* The pool of the class below. */
enum {
	CLASS = 2,
	TEXT = 5,
	DESC = 6,
	INT = 7,
	FLOAT = 8,
	LONG = 9,
	DOUBLE = 11,
	STRING = 14,
	PAIR = 17,
	METHOD = 23,
	HANDLE = 24,
	MODULE = 26,
	PACKAGE = 28,
};

static struct class *with_one_of_each(struct arena *mem, struct class_maker *m)
{
	struct class *cls = NULL;

	maker_init(m, "A", 61);
	CHECK_INT(maker_utf8(m, "text"), TEXT, NULL);
	CHECK_INT(maker_utf8(m, "La/B;"), DESC, NULL);
	CHECK_INT(maker_number(m, CONST_INTEGER, 1), INT, NULL);
	CHECK_INT(maker_number(m, CONST_FLOAT, 1), FLOAT, NULL);
	CHECK_INT(maker_number(m, CONST_LONG, 1), LONG, NULL);
	CHECK_INT(maker_number(m, CONST_DOUBLE, 1), DOUBLE, NULL);
	CHECK_INT(maker_name(m, CONST_STRING, "s"), STRING, NULL);
	CHECK_INT(maker_name_and_type(m, "n", "()V"), PAIR, NULL);
	CHECK_INT(maker_ref(m, CONST_METHODREF, "B", "m", "()V"), METHOD, NULL);
	CHECK_INT(maker_handle(m, 5, METHOD), HANDLE, NULL);
	CHECK_INT(maker_name(m, CONST_MODULE, "java.base"), MODULE, NULL);
	CHECK_INT(maker_name(m, CONST_PACKAGE, "a/b"), PACKAGE, NULL);
	CHECK_INT(class_read(mem, maker_bytes(m), &cls, NULL), 0, NULL);
	return cls;
}

#define ANNOTATION 0, DESC, 0, 1, 0, TEXT, 'I', 0, INT /* @B(text = 1) */
#define TYPE_PATH 2, 0, 0, 3, 1			       /* behind an array, second argument */

struct sample {
	uint8_t kind;
	struct slice data;
	int indices, offsets, ranges; /* that a walk reports */
};

#define SAMPLE(KIND, i, o, r, ...)                              \
	{                                                       \
		ATTR_##KIND, STATIC_BYTES(__VA_ARGS__), i, o, r \
	}
/* What the marker attributes hold: nothing. */
#define EMPTY(KIND)                               \
	{                                         \
		ATTR_##KIND, { NULL, 0 }, 0, 0, 0 \
	}

static const struct sample samples[] = {
	SAMPLE(LINE_NUMBER_TABLE, 0, 2, 0, 0, 2, 0, 0, 0, 1, 0, 4, 0, 2),
	SAMPLE(LOCAL_VARIABLE_TABLE, 2, 0, 1, 0, 1, 0, 0, 0, 4, 0, TEXT, 0, DESC, 0, 0),
	SAMPLE(LOCAL_VARIABLE_TYPE_TABLE, 2, 0, 1, 0, 1, 0, 0, 0, 4, 0, TEXT, 0, DESC, 0, 0),
	SAMPLE(CONSTANT_VALUE, 1, 0, 0, 0, INT),
	SAMPLE(CONSTANT_VALUE, 1, 0, 0, 0, FLOAT),
	SAMPLE(CONSTANT_VALUE, 1, 0, 0, 0, LONG),
	SAMPLE(CONSTANT_VALUE, 1, 0, 0, 0, DOUBLE),
	SAMPLE(CONSTANT_VALUE, 1, 0, 0, 0, STRING),
	SAMPLE(EXCEPTIONS, 2, 0, 0, 0, 2, 0, CLASS, 0, CLASS),
	SAMPLE(INNER_CLASSES, 3, 0, 0, 0, 1, 0, CLASS, 0, CLASS, 0, TEXT, 0, 9),
	SAMPLE(INNER_CLASSES, 3, 0, 0, 0, 1, 0, CLASS, 0, 0, 0, 0, 0, 9),
	SAMPLE(ENCLOSING_METHOD, 2, 0, 0, 0, CLASS, 0, PAIR),
	SAMPLE(ENCLOSING_METHOD, 2, 0, 0, 0, CLASS, 0, 0),
	EMPTY(SYNTHETIC),
	EMPTY(DEPRECATED),
	SAMPLE(SIGNATURE, 1, 0, 0, 0, TEXT),
	SAMPLE(SOURCE_FILE, 1, 0, 0, 0, TEXT),
	SAMPLE(SOURCE_DEBUG_EXTENSION, 0, 0, 0, 'S', 'M', 'A', 'P'),
	SAMPLE(RUNTIME_VISIBLE_ANNOTATIONS, 3, 0, 0, 0, 1, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_ANNOTATIONS, 6, 0, 0, 0, 2, ANNOTATION, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_PARAMETER_ANNOTATIONS, 3, 0, 0, 2, 0, 0, 0, 1, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_PARAMETER_ANNOTATIONS, 0, 0, 0, 0),
	/* Each kind of target. */
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x00, 1, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x01, 1, TYPE_PATH, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x10, 0, 1, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x11, 1, 1, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x12, 1, 1, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x13, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x14, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x15, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x16, 3, 0, ANNOTATION),
	SAMPLE(RUNTIME_VISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x17, 0, 3, 0, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_TYPE_ANNOTATIONS, 3, 0, 2, 0, 1, 0x40, 0, 2, 0, 0, 0, 2, 0, 1, 0,
	       4, 0, 2, 0, 1, 0, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x41, 0, 0, 0, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_TYPE_ANNOTATIONS, 3, 0, 0, 0, 1, 0x42, 0, 0, 0, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_TYPE_ANNOTATIONS, 3, 1, 0, 0, 1, 0x43, 0, 4, 0, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_TYPE_ANNOTATIONS, 3, 1, 0, 0, 1, 0x46, 0, 4, 0, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_TYPE_ANNOTATIONS, 3, 1, 0, 0, 1, 0x47, 0, 4, 1, 0, ANNOTATION),
	SAMPLE(RUNTIME_INVISIBLE_TYPE_ANNOTATIONS, 3, 1, 0, 0, 1, 0x4b, 0, 4, 1, 0, ANNOTATION),
	/* Each kind of value. */
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'B', 0, INT),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'C', 0, INT),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'S', 0, INT),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'Z', 0, INT),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'D', 0, DOUBLE),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'F', 0, FLOAT),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'J', 0, LONG),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 's', 0, TEXT),
	SAMPLE(ANNOTATION_DEFAULT, 2, 0, 0, 'e', 0, DESC, 0, TEXT),
	SAMPLE(ANNOTATION_DEFAULT, 1, 0, 0, 'c', 0, DESC),
	SAMPLE(ANNOTATION_DEFAULT, 3, 0, 0, '@', ANNOTATION),
	SAMPLE(ANNOTATION_DEFAULT, 2, 0, 0, '[', 0, 2, 's', 0, TEXT, 's', 0, TEXT),
	SAMPLE(BOOTSTRAP_METHODS, 4, 0, 0, 0, 2, 0, HANDLE, 0, 2, 0, INT, 0, CLASS, 0, HANDLE, 0,
	       0),
	SAMPLE(METHOD_PARAMETERS, 2, 0, 0, 2, 0, TEXT, 0, 0, 0, 0, 0x80, 0),
	SAMPLE(MODULE, 13, 0, 0, 0, MODULE, 0, 0, 0, 0, /* name, flags, version */
	       0, 1, 0, MODULE, 0x80, 0, 0, TEXT,	/* requires */
	       0, 1, 0, PACKAGE, 0, 0, 0, 1, 0, MODULE, /* exports ... to */
	       0, 2, 0, PACKAGE, 0, 0, 0, 0, 0, PACKAGE, 0, 0, 0, 1, 0, MODULE, /* opens */
	       0, 1, 0, CLASS,							/* uses */
	       0, 1, 0, CLASS, 0, 2, 0, CLASS, 0, CLASS), /* provides ... with */
	SAMPLE(MODULE_PACKAGES, 1, 0, 0, 0, 1, 0, PACKAGE),
	SAMPLE(MODULE_MAIN_CLASS, 1, 0, 0, 0, CLASS),
	SAMPLE(MODULE_TARGET, 1, 0, 0, 0, TEXT),
	SAMPLE(MODULE_HASHES, 2, 0, 0, 0, TEXT, 0, 1, 0, MODULE, 0, 3, 1, 2, 3),
	SAMPLE(MODULE_RESOLUTION, 0, 0, 0, 0, 1),
	SAMPLE(NEST_HOST, 1, 0, 0, 0, CLASS),
	SAMPLE(NEST_MEMBERS, 2, 0, 0, 0, 2, 0, CLASS, 0, CLASS),
	SAMPLE(RECORD, 4, 0, 0, 0, 2, 0, TEXT, 0, DESC, 0, 0, 0, TEXT, 0, DESC, 0, 0),
	SAMPLE(PERMITTED_SUBCLASSES, 1, 0, 0, 0, 1, 0, CLASS),
};

struct tally {
	int indices, offsets, ranges;
	size_t places[16]; /* of the indices */
};

static int on_index(void *ctx, size_t at, uint16_t index, char kind)
{
	struct tally *t = ctx;

	(void)index;
	(void)kind;
	if ((size_t)t->indices < COUNT(t->places))
		t->places[t->indices] = at;
	t->indices++;
	return 0;
}

static int on_offset(void *ctx, size_t at, uint16_t offset)
{
	(void)at;
	(void)offset;
	((struct tally *)ctx)->offsets++;
	return 0;
}

static int on_range(void *ctx, size_t at, uint16_t from, uint16_t length)
{
	(void)at;
	(void)from;
	(void)length;
	((struct tally *)ctx)->ranges++;
	return 0;
}

static int walk(const struct class *cls, uint8_t kind, struct slice data, struct tally *t)
{
	struct attr a = { TEXT, kind, data };
	struct attr_visitor v = { t, on_index, on_offset, on_range };
	struct fault f = { 0 };
	int rc;

	*t = (struct tally){ 0 };
	rc = attr_walk(&a, &cls->pool, &v, &f);
	CHECK_INT(f.code, rc < 0 ? rc : 0, "the fault tells");
	return rc;
}

TEST(attr_walk_reports_all_indices_and_offsets_of_every_attribute)
{
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	bool done[ATTR_COUNT] = { 0 };

	arena_init(&mem);
	cls = with_one_of_each(&mem, &m);
	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct sample *s = &samples[i];
		const char *name = attr_table[s->kind].name;
		struct tally t;

		CHECK_INT(walk(cls, s->kind, s->data, &t), 0, name);
		CHECK_INT(t.indices, s->indices, name);
		CHECK_INT(t.offsets, s->offsets, name);
		CHECK_INT(t.ranges, s->ranges, name);
		done[s->kind] = true;
	}
	for (uint8_t kind = 1; kind < ATTR_COUNT; kind++)
		if (!done[kind])
			CHECK_STR(attr_table[kind].layout, "#", attr_table[kind].name);
	maker_release(&m);
	arena_release(&mem);
}

TEST(attr_walk_refuses_attributes_that_are_too_short_or_too_long)
{
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	struct tally t;

	arena_init(&mem);
	cls = with_one_of_each(&mem, &m);
	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct sample *s = &samples[i];
		uint8_t data[100];

		if (s->kind == ATTR_SOURCE_DEBUG_EXTENSION)
			continue; /* any length is good */
		memset(data, 0, sizeof(data));
		if (s->data.n)
			memcpy(data, s->data.p, s->data.n);
		CHECK_INT(walk(cls, s->kind, (struct slice){ data, s->data.n + 1 }, &t),
			  E_ATTRIBUTE, attr_table[s->kind].name);
		for (size_t n = 0; n < s->data.n; n++)
			CHECK_INT(walk(cls, s->kind, (struct slice){ data, n }, &t), E_ATTRIBUTE,
				  attr_table[s->kind].name);
	}
	maker_release(&m);
	arena_release(&mem);
}

TEST(attr_walk_refuses_an_index_of_the_wrong_kind)
{
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	struct tally t, changed;

	arena_init(&mem);
	cls = with_one_of_each(&mem, &m);
	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct sample *s = &samples[i];
		uint8_t data[100];

		walk(cls, s->kind, s->data, &t);
		for (int k = 0; k < t.indices; k++) {
			memcpy(data, s->data.p, s->data.n);
			put_u16(data + t.places[k], 0xffff);
			CHECK_INT(walk(cls, s->kind, (struct slice){ data, s->data.n }, &changed),
				  E_ATTRIBUTE, attr_table[s->kind].name);
			put_u16(data + t.places[k], METHOD); /* nowhere allowed */
			CHECK_INT(walk(cls, s->kind, (struct slice){ data, s->data.n }, &changed),
				  E_ATTRIBUTE, attr_table[s->kind].name);
		}
	}
	maker_release(&m);
	arena_release(&mem);
}

TEST(attr_walk_refuses_unknown_tags)
{
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	struct tally t;

	arena_init(&mem);
	cls = with_one_of_each(&mem, &m);
	CHECK_INT(walk(cls, ATTR_ANNOTATION_DEFAULT, BYTES('x', 0, INT), &t), E_ATTRIBUTE,
		  "element_value");
	CHECK_INT(walk(cls, ATTR_RUNTIME_VISIBLE_TYPE_ANNOTATIONS,
		       BYTES(0, 1, 0x4c, 0, 0, 0, ANNOTATION), &t),
		  E_ATTRIBUTE, "target_type");
	maker_release(&m);
	arena_release(&mem);
}

TEST(attr_walk_refuses_what_is_nested_without_end)
{
	static uint8_t deep[3 * 5000 + 3];
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	struct tally t;

	for (size_t i = 0; i < 5000; i++)
		memcpy(deep + 3 * i, (const uint8_t[]){ '[', 0, 1 }, 3);
	memcpy(deep + 3 * 5000, (const uint8_t[]){ 'I', 0, INT }, 3);
	arena_init(&mem);
	cls = with_one_of_each(&mem, &m);
	CHECK_INT(walk(cls, ATTR_ANNOTATION_DEFAULT, (struct slice){ deep, sizeof(deep) }, &t),
		  E_ATTRIBUTE, NULL);
	CHECK_INT(walk(cls, ATTR_ANNOTATION_DEFAULT,
		       (struct slice){ deep + sizeof(deep) - 153, 153 }, &t),
		  0, "fifty are fine");
	maker_release(&m);
	arena_release(&mem);
}

static int refuse(void *ctx, size_t at, uint16_t index, char kind)
{
	(void)ctx;
	(void)at;
	(void)kind;
	return index == CLASS ? E_LIMIT : 0;
}

TEST(attr_walk_ends_when_the_visitor_says_so)
{
	struct attr a = { TEXT, ATTR_BOOTSTRAP_METHODS, samples[0].data };
	struct attr_visitor v = { .index = refuse };
	struct class_maker m;
	struct arena mem;
	struct class *cls;

	arena_init(&mem);
	cls = with_one_of_each(&mem, &m);
	a.data = BYTES(0, 1, 0, HANDLE, 0, 2, 0, CLASS, 0, 99);
	CHECK_INT(attr_walk(&a, &cls->pool, &v, NULL), E_LIMIT, "before the bad index");
	maker_release(&m);
	arena_release(&mem);
}

TEST(attr_walk_goes_into_the_attributes_of_record_components)
{
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	struct buf data = { 0 };
	struct slice good, bad;
	struct tally t;
	uint16_t signature;

	arena_init(&mem);
	maker_init(&m, "A", 61);
	signature = maker_utf8(&m, "Signature");
	CHECK_INT(signature, TEXT, NULL);
	class_read(&mem, maker_bytes(&m), &cls, NULL);
	good = BYTES(0, 1, 0, 1, 0, 1, 0, 1, 0, TEXT, 0, 0, 0, 2, 0, 1);
	bad = BYTES(0, 1, 0, 1, 0, 1, 0, 1, 0, TEXT, 0, 0, 0, 2, 0, 99);
	CHECK_INT(walk(cls, ATTR_RECORD, good, &t), 0, NULL);
	CHECK_INT(walk(cls, ATTR_RECORD, bad, &t), E_ATTRIBUTE, NULL);
	buf_release(&data);
	maker_release(&m);
	arena_release(&mem);
}

TEST(attrs_are_found_by_kind_and_by_walking)
{
	struct class_maker m;
	struct arena mem;
	struct class *cls;
	struct attr a;
	int n = 0;

	arena_init(&mem);
	maker_init(&m, "A", 61);
	maker_attr(&m, &m.attrs, "Deprecated", (struct slice){ NULL, 0 });
	maker_attr(&m, &m.attrs, "com.example.Own", BYTES(1, 2, 3));
	maker_attr(&m, &m.attrs, "SourceFile", BYTES(0, 1));
	if (CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), 0, NULL)) {
		CHECK(attrs_find(&cls->attrs, &cls->pool, ATTR_SOURCE_FILE, &a));
		CHECK_MEM(a.data.p, a.data.n, "\0\1", 2, NULL);
		CHECK(!attrs_find(&cls->attrs, &cls->pool, ATTR_CODE, &a));
		CHECK(attrs_find(&cls->attrs, &cls->pool, ATTR_UNKNOWN, &a));
		CHECK_INT(a.data.n, 3, "the unknown one");
		for (const uint8_t *at = NULL; attrs_next(&cls->attrs, &cls->pool, &at, &a);)
			n++;
		CHECK_INT(n, 3, NULL);
		class_release(cls);
	}
	maker_release(&m);
	arena_release(&mem);
}
