/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/mem.h"
#include "classes.h"

static const struct {
	const char *what;
	struct slice bytes; /* constant_pool_count and the entries */
	int rc;
} pools[] = {
	{ "empty", { (const uint8_t[]){ 0, 1 }, 2 }, 0 },
	{ "count 0", { (const uint8_t[]){ 0, 0 }, 2 }, E_POOL_INDEX },
	{ "no count", { (const uint8_t[]){ 0 }, 1 }, E_TRUNCATED },
	{ "missing entry", { (const uint8_t[]){ 0, 2 }, 2 }, E_TRUNCATED },
	{ "tag 0", { (const uint8_t[]){ 0, 2, 0, 0, 0 }, 5 }, E_POOL_TAG },
	{ "tag 2", { (const uint8_t[]){ 0, 2, 2, 0, 0 }, 5 }, E_POOL_TAG },
	{ "tag 13", { (const uint8_t[]){ 0, 2, 13, 0, 0 }, 5 }, E_POOL_TAG },
	{ "tag 21", { (const uint8_t[]){ 0, 2, 21, 0, 0 }, 5 }, E_POOL_TAG },
	{ "tag 255", { (const uint8_t[]){ 0, 2, 255, 0, 0 }, 5 }, E_POOL_TAG },
	{ "utf8", { (const uint8_t[]){ 0, 2, 1, 0, 1, 'a' }, 6 }, 0 },
	{ "utf8 too long", { (const uint8_t[]){ 0, 2, 1, 0, 2, 'a' }, 6 }, E_TRUNCATED },
	{ "int cut off", { (const uint8_t[]){ 0, 2, 3, 0, 0, 0 }, 6 }, E_TRUNCATED },
	{ "long takes two", { (const uint8_t[]){ 0, 3, 5, 0, 0, 0, 0, 0, 0, 0, 0 }, 11 }, 0 },
	{ "long as the last",
	  { (const uint8_t[]){ 0, 2, 5, 0, 0, 0, 0, 0, 0, 0, 0 }, 11 },
	  E_POOL_INDEX },
	{ "class of utf8", { (const uint8_t[]){ 0, 3, 7, 0, 2, 1, 0, 0 }, 8 }, 0 },
	{ "class of itself", { (const uint8_t[]){ 0, 2, 7, 0, 1 }, 5 }, E_POOL_INDEX },
	{ "class of 0", { (const uint8_t[]){ 0, 2, 7, 0, 0 }, 5 }, E_POOL_INDEX },
	{ "class behind the end", { (const uint8_t[]){ 0, 2, 7, 0, 9 }, 5 }, E_POOL_INDEX },
	{ "string of second half of a long",
	  { (const uint8_t[]){ 0, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 2 }, 14 },
	  E_POOL_INDEX },
	{ "handle of kind 0",
	  { (const uint8_t[]){ 0, 3, 15, 0, 0, 2, 1, 0, 0 }, 9 },
	  E_POOL_INDEX },
	{ "handle of kind 10",
	  { (const uint8_t[]){ 0, 3, 15, 10, 0, 2, 1, 0, 0 }, 9 },
	  E_POOL_INDEX },
	{ "handle of a utf8",
	  { (const uint8_t[]){ 0, 3, 15, 1, 0, 2, 1, 0, 0 }, 9 },
	  E_POOL_INDEX },
	{ "name and type of classes",
	  { (const uint8_t[]){ 0, 4, 12, 0, 2, 0, 2, 7, 0, 3, 1, 0, 0 }, 13 },
	  E_POOL_INDEX },
};

TEST(pool_reads_entries_and_checks_where_they_lead)
{
	for (size_t i = 0; i < COUNT(pools); i++) {
		struct reader r = rd_init(pools[i].bytes);
		struct fault f = { 0 };
		struct arena mem;
		struct pool p;

		arena_init(&mem);
		CHECK_INT(pool_read(&p, &mem, &r, &f), pools[i].rc, pools[i].what);
		CHECK_INT(f.code, pools[i].rc, pools[i].what);
		CHECK_INT(!f.text[0], !pools[i].rc, pools[i].what);
		pool_release(&p);
		arena_release(&mem);
	}
}

/* A class with one entry of each tag; idx[tag] is its number. */
static struct slice one_of_each(struct class_maker *m, uint16_t *idx)
{
	maker_init(m, "p/Q", 61);
	idx[CONST_UTF8] = maker_utf8(m, "text");
	idx[CONST_INTEGER] = maker_number(m, CONST_INTEGER, 42);
	idx[CONST_FLOAT] = maker_number(m, CONST_FLOAT, 0x3f800000);
	idx[CONST_LONG] = maker_number(m, CONST_LONG, 1ull << 40);
	idx[CONST_DOUBLE] = maker_number(m, CONST_DOUBLE, 0x3ff0000000000000);
	idx[CONST_CLASS] = maker_name(m, CONST_CLASS, "x/Y");
	idx[CONST_STRING] = maker_name(m, CONST_STRING, "hello");
	idx[CONST_FIELDREF] = maker_ref(m, CONST_FIELDREF, "x/Y", "f", "I");
	idx[CONST_METHODREF] = maker_ref(m, CONST_METHODREF, "x/Y", "g", "()V");
	idx[CONST_INTERFACE_METHODREF] = maker_ref(m, CONST_INTERFACE_METHODREF, "x/I", "h", "()J");
	idx[CONST_NAME_AND_TYPE] = maker_name_and_type(m, "k", "(I)I");
	idx[CONST_METHOD_HANDLE] = maker_handle(m, 5, idx[CONST_METHODREF]);
	idx[CONST_METHOD_TYPE] = maker_name(m, CONST_METHOD_TYPE, "(J)V");
	idx[CONST_DYNAMIC] = maker_pair(m, CONST_DYNAMIC, 7, maker_name_and_type(m, "c", "I"));
	idx[CONST_INVOKE_DYNAMIC] =
		maker_pair(m, CONST_INVOKE_DYNAMIC, 8, maker_name_and_type(m, "d", "()V"));
	idx[CONST_MODULE] = maker_name(m, CONST_MODULE, "java.base");
	idx[CONST_PACKAGE] = maker_name(m, CONST_PACKAGE, "x/y");
	return maker_bytes(m);
}

struct pools {
	struct class_maker maker;
	struct arena mem;
	struct class *cls;
	uint16_t idx[21];
};

static bool setup(struct pools *t)
{
	*t = (struct pools){ 0 };
	arena_init(&t->mem);
	return CHECK_INT(class_read(&t->mem, one_of_each(&t->maker, t->idx), &t->cls, NULL), 0,
			 "one of each");
}

static void teardown(struct pools *t)
{
	class_release(t->cls);
	arena_release(&t->mem);
	maker_release(&t->maker);
}

TEST(pool_knows_what_each_entry_holds)
{
	struct pool_ref ref;
	struct pools t;
	struct pool *p;

	if (!setup(&t))
		return;
	p = &t.cls->pool;
	for (uint8_t tag = 1; tag < COUNT(t.idx); tag++)
		if (t.idx[tag]) {
			CHECK_INT(pool_tag(p, t.idx[tag]), tag, NULL);
			CHECK(pool_is(p, t.idx[tag], TAGS(tag)));
			CHECK(!pool_is(p, t.idx[tag], ~TAGS(tag)));
		}
	CHECK(slice_is(pool_utf8(p, t.idx[CONST_UTF8]), "text"));
	CHECK(slice_is(pool_name(p, t.idx[CONST_CLASS]), "x/Y"));
	CHECK(slice_is(pool_name(p, t.idx[CONST_STRING]), "hello"));
	CHECK(slice_is(pool_name(p, t.idx[CONST_METHOD_TYPE]), "(J)V"));
	CHECK(slice_is(pool_name(p, t.idx[CONST_MODULE]), "java.base"));
	CHECK(slice_is(pool_name(p, t.idx[CONST_PACKAGE]), "x/y"));
	CHECK_INT(pool_name(p, t.idx[CONST_INTEGER]).n, 0, "an int has no name");
	CHECK_INT(pool_utf8(p, t.idx[CONST_CLASS]).n, 0, "a class is no text");
	CHECK(pool_ref(p, t.idx[CONST_INTERFACE_METHODREF], &ref));
	CHECK(slice_is(ref.owner, "x/I") && slice_is(ref.name, "h") && slice_is(ref.desc, "()J"));
	CHECK(pool_ref(p, t.idx[CONST_INVOKE_DYNAMIC], &ref));
	CHECK(!ref.owner.n && slice_is(ref.name, "d") && ref.bootstrap == 8);
	CHECK(!pool_ref(p, t.idx[CONST_CLASS], &ref));
	CHECK(!pool_ref(p, 0, &ref));
	CHECK_INT(pool_tag(p, t.idx[CONST_LONG] + 1u), 0, "second half of a long");
	CHECK_INT(pool_tag(p, 0), 0, NULL);
	CHECK_INT(pool_tag(p, 70000), 0, NULL);
	CHECK(!pool_is(p, 0, ~0u));
	teardown(&t);
}

TEST(pool_adds_at_the_end_and_finds_what_it_added)
{
	struct pools t;
	struct pool *p;
	uint32_t before;
	int a, b, ref;

	if (!setup(&t))
		return;
	p = &t.cls->pool;
	before = p->n;
	a = pool_add_utf8(p, slice_str("text"));
	CHECK_INT(a, before, "those that were read are not looked for");
	CHECK_INT(pool_add_utf8(p, slice_str("text")), a, "found again");
	CHECK(slice_is(pool_utf8(p, (uint32_t)a), "text"));
	b = pool_add_name(p, CONST_CLASS, slice_str("text"));
	CHECK_INT(b, a + 1, "its name is there already");
	CHECK_INT(pool_add_int(p, -5), b + 1, NULL);
	CHECK_INT(pool_add_int(p, -5), b + 1, NULL);
	CHECK_INT(pool_add_int(p, 5), b + 2, NULL);
	ref = pool_add_ref(p, CONST_METHODREF, slice_str("text"), slice_str("m"), slice_str("()V"));
	CHECK_INT(pool_first(p, (uint32_t)ref), b, "shares the class");
	CHECK_INT(pool_add_ref(p, CONST_METHODREF, slice_str("text"), slice_str("m"),
			       slice_str("()V")),
		  ref, "found again");
	CHECK_INT(p->n, (uint32_t)ref + 1, "nothing else");
	CHECK(pool_add_ref(p, CONST_INTERFACE_METHODREF, slice_str("text"), slice_str("m"),
			   slice_str("()V")) > ref);
	CHECK_INT(p->read, before, "what was read stays");
	CHECK(slice_is(pool_utf8(p, t.idx[CONST_UTF8]), "text"));
	teardown(&t);
}

TEST(pool_imports_entries_with_all_they_refer_to)
{
	static const uint8_t tags[] = {
		CONST_UTF8,	     CONST_INTEGER,
		CONST_FLOAT,	     CONST_LONG,
		CONST_DOUBLE,	     CONST_CLASS,
		CONST_STRING,	     CONST_FIELDREF,
		CONST_METHODREF,     CONST_INTERFACE_METHODREF,
		CONST_NAME_AND_TYPE, CONST_METHOD_HANDLE,
		CONST_METHOD_TYPE,   CONST_MODULE,
		CONST_PACKAGE,
	};
	uint16_t seen[200] = { 0 };
	struct class_maker other = { 0 };
	struct pool_ref ref;
	struct pools t;
	struct class *to;

	if (!setup(&t))
		return;
	maker_init(&other, "other/To", 61);
	class_read(&t.mem, maker_bytes(&other), &to, NULL);
	for (size_t i = 0; i < COUNT(tags); i++) {
		uint16_t from = t.idx[tags[i]];
		int got = pool_import(&to->pool, &t.cls->pool, from, seen);
		uint32_t n = to->pool.n;

		if (!CHECK(got > 0))
			continue;
		CHECK_INT(pool_tag(&to->pool, (uint32_t)got), tags[i], NULL);
		CHECK_INT(seen[from], got, "remembered");
		CHECK_INT(pool_import(&to->pool, &t.cls->pool, from, seen), got, "again");
		CHECK_INT(to->pool.n, n, "nothing new");
	}
	CHECK(pool_ref(&to->pool, seen[t.idx[CONST_FIELDREF]], &ref));
	CHECK(slice_is(ref.owner, "x/Y") && slice_is(ref.name, "f") && slice_is(ref.desc, "I"));
	CHECK_INT(pool_import(&to->pool, &t.cls->pool, t.idx[CONST_DYNAMIC], seen), E_UNSUPPORTED,
		  NULL);
	CHECK_INT(pool_import(&to->pool, &t.cls->pool, t.idx[CONST_INVOKE_DYNAMIC], seen),
		  E_UNSUPPORTED, NULL);
	CHECK_INT(pool_import(&to->pool, &t.cls->pool, 0, seen), E_POOL_INDEX, NULL);
	CHECK_INT(pool_import(&to->pool, &t.cls->pool, 9999, seen), E_POOL_INDEX, NULL);
	CHECK_INT(pool_import(&to->pool, &t.cls->pool, t.idx[CONST_LONG] + 1u, seen), E_POOL_INDEX,
		  "second half");
	class_release(to);
	maker_release(&other);
	teardown(&t);
}

TEST(pool_is_full_at_65535_entries)
{
	struct pools t;
	struct pool *p;
	int last;

	if (!setup(&t))
		return;
	p = &t.cls->pool;
	while (p->n < 65534)
		if (!CHECK(pool_add_int(p, (int32_t)p->n) > 0))
			break;
	CHECK_INT(pool_add_name(p, CONST_CLASS, slice_str("needs/Two")), E_POOL_FULL, NULL);
	last = (int)p->n - 1;
	CHECK_INT(last, 65534, "its name still found room");
	CHECK_INT(pool_add_int(p, -1), E_POOL_FULL, NULL);
	CHECK_INT(pool_add_int(p, 60000), 60000, "what is there is still found");
	CHECK(slice_is(pool_utf8(p, (uint32_t)last), "needs/Two"));
	teardown(&t);
}

TEST(pool_text_is_at_most_65535_bytes_long)
{
	static uint8_t text[65536];
	struct pools t;
	int i;

	if (!setup(&t))
		return;
	memset(text, 'a', sizeof(text));
	CHECK_INT(pool_add_utf8(&t.cls->pool, (struct slice){ text, 65536 }), E_LIMIT, NULL);
	i = pool_add_utf8(&t.cls->pool, (struct slice){ text, 65535 });
	CHECK(i > 0);
	CHECK_INT(pool_utf8(&t.cls->pool, (uint32_t)i).n, 65535, NULL);
	teardown(&t);
}

TEST(pool_stays_whole_when_memory_is_out)
{
	struct pools t;

	if (!setup(&t))
		return;
	for (int32_t i = 0; i < 3000; i++) {
		uint32_t n = t.cls->pool.n;
		int rc;

		mem_fail_at(0);
		rc = pool_add_int(&t.cls->pool, i);
		if (rc < 0) {
			CHECK_INT(rc, E_NO_MEMORY, NULL);
			CHECK_INT(t.cls->pool.n, n, "unchanged");
			mem_fail_at(-1);
			rc = pool_add_int(&t.cls->pool, i);
		}
		CHECK_INT(rc, n, NULL);
	}
	mem_fail_at(-1);
	teardown(&t);
}
