/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "base/buf.h"
#include "base/reader.h"
#include "export/jfr.h"

/* ---- a small recording ---------------------------------------------------------------------- */

struct field {
	const char *name;
	unsigned type;
	bool pooled, array;
};

static const struct {
	const char *name;
	unsigned id;
	struct field fields[3];
} types[] = {
	{ "int", 3, { { 0 } } },
	{ "java.lang.String", 5, { { 0 } } },
	{ "jdk.types.Symbol", 6, { { "string", 5, 0, 0 } } },
	{ "java.lang.Class", 7, { { "name", 6, 1, 0 } } },
	{ "jdk.types.Method", 8, { { "type", 7, 1, 0 }, { "name", 6, 1, 0 } } },
	{ "jdk.types.StackFrame", 10, { { "method", 8, 1, 0 } } },
	{ "jdk.types.StackTrace", 11, { { "frames", 10, 0, 1 } } },
	{ "jdk.ExecutionSample", 12, { { "stackTrace", 11, 1, 0 } } },
};

enum { SYMBOL = 6, CLASS = 7, METHOD = 8, TRACE = 11, SAMPLE = 12, HEAD = 68, TEXTS = 64 };

struct texts {
	const char *v[TEXTS];
	unsigned n;
};

static void put_number(struct buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_u8(out, (unsigned)(v & 0x7f) | 0x80);
	buf_u8(out, (unsigned)v);
}

static void put_text(struct buf *out, struct slice text)
{
	buf_u8(out, 3);
	put_number(out, text.n);
	buf_put(out, text);
}

static void put_index(struct buf *out, struct texts *all, const char *text)
{
	unsigned i = 0;

	while (i < all->n && strcmp(all->v[i], text) != 0)
		i++;
	if (i == all->n)
		all->v[all->n++] = text;
	put_number(out, i);
}

static void put_attribute(struct buf *out, struct texts *all, const char *key, const char *value)
{
	put_index(out, all, key);
	put_index(out, all, value);
}

static const char *digits(unsigned n)
{
	static const char *const text[] = { "0", "1", "2", "3",	 "4",  "5", "6",
					    "7", "8", "9", "10", "11", "12" };

	return text[n];
}

static void put_field(struct buf *out, struct texts *all, const struct field *f)
{
	put_index(out, all, "field");
	put_number(out, 2u + f->pooled + f->array);
	put_attribute(out, all, "name", f->name);
	put_attribute(out, all, "class", digits(f->type));
	if (f->pooled)
		put_attribute(out, all, "constantPool", "true");
	if (f->array)
		put_attribute(out, all, "dimension", "1");
	put_number(out, 0);
}

/* An event's size is a number of four bytes here, as the JDK's are. */
static void put_event(struct buf *out, unsigned type, struct slice body)
{
	size_t n = body.n + 5;

	for (unsigned i = 0; i < 4; i++)
		buf_u8(out, (unsigned)(n >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
	buf_u8(out, type);
	buf_put(out, body);
}

static void put_metadata(struct buf *out)
{
	struct buf tree = { 0 }, body = { 0 };
	struct texts all = { .n = 0 };

	put_index(&tree, &all, "metadata");
	put_number(&tree, 0);
	put_number(&tree, COUNT(types));
	for (size_t i = 0; i < COUNT(types); i++) {
		unsigned n = 0;

		while (n < COUNT(types[i].fields) && types[i].fields[n].name)
			n++;
		put_index(&tree, &all, "class");
		put_number(&tree, 2);
		put_attribute(&tree, &all, "name", types[i].name);
		put_attribute(&tree, &all, "id", digits(types[i].id));
		put_number(&tree, n);
		for (unsigned k = 0; k < n; k++)
			put_field(&tree, &all, &types[i].fields[k]);
	}
	for (unsigned i = 0; i < 3; i++)
		put_number(&body, 0);
	put_number(&body, all.n);
	for (unsigned i = 0; i < all.n; i++)
		put_text(&body, slice_str(all.v[i]));
	buf_put(&body, buf_slice(&tree));
	put_event(out, 0, buf_slice(&body));
	buf_release(&tree);
	buf_release(&body);
}

/* Methods of one class, all in one stack. */
static void put_constants(struct buf *out, struct slice class_name, unsigned methods)
{
	struct buf body = { 0 };

	for (unsigned i = 0; i < 4; i++) /* start, duration, the one before, for what */
		put_number(&body, 0);
	put_number(&body, 4);
	put_number(&body, SYMBOL);
	put_number(&body, 1);
	put_number(&body, 1);
	put_text(&body, class_name);
	put_number(&body, CLASS);
	put_number(&body, 1);
	put_number(&body, 1);
	put_number(&body, 1);
	put_number(&body, METHOD);
	put_number(&body, methods);
	for (unsigned i = 1; i <= methods; i++) {
		put_number(&body, i);
		put_number(&body, 1);
		put_number(&body, 1);
	}
	put_number(&body, TRACE);
	put_number(&body, 1);
	put_number(&body, 1);
	put_number(&body, methods);
	for (unsigned i = 1; i <= methods; i++)
		put_number(&body, i);
	put_event(out, 1, buf_slice(&body));
	buf_release(&body);
}

static void make(struct buf *out, struct slice class_name, unsigned methods)
{
	static const uint8_t head[HEAD] = "FLR";
	size_t constants;

	buf_bytes(out, head, HEAD);
	put_event(out, SAMPLE, (struct slice){ (const uint8_t *)"\1", 1 });
	constants = out->n;
	put_constants(out, class_name, methods);
	put_u32(out->p + 28, (uint32_t)out->n);
	put_metadata(out);
	out->p[5] = 2; /* version */
	put_u32(out->p + 12, (uint32_t)out->n);
	put_u32(out->p + 20, (uint32_t)constants);
	out->p[67] = 1; /* numbers of any length */
}

static int read(const struct buf *file, struct profile *p, struct jfr_about *about)
{
	static const struct jfr_kinds kinds = { 1, 2, 3, 4, 5, 6 };

	profile_init(p);
	return jfr_read(buf_slice(file), JFR_CPU, &kinds, p, about);
}

/* ---- tests ---------------------------------------------------------------------------------- */

TEST(a_recording_of_one_sample_is_read)
{
	struct buf file = { 0 };
	struct jfr_about about;
	struct profile p;

	make(&file, slice_str("a/B"), 100);
	CHECK_INT(read(&file, &p, &about), 0, about.why);
	CHECK_INT(p.total, 1, NULL);
	CHECK(p.n_frames == 1 && slice_is(p.frames[0].name, "a.B.a/B"));
	CHECK(p.n_stacks == 1 && p.stacks[0].n == 100);
	profile_release(&p);
	buf_release(&file);
}

TEST(a_long_name_that_many_methods_of_a_recording_share_is_not_copied_for_ever)
{
	static uint8_t name[60000];
	struct buf file = { 0 };
	struct jfr_about about;
	struct profile p;

	memset(name, 'a', sizeof(name));
	make(&file, (struct slice){ name, sizeof(name) }, 4000);
	CHECK_INT(read(&file, &p, &about), E_SYNTAX, "240 MB in a file of 80 kB");
	CHECK(about.why != NULL);
	profile_release(&p);
	buf_release(&file);
}
