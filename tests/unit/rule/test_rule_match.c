/* SPDX-License-Identifier: Apache-2.0 */
/* test_rule_match.c - which rule decides about which method.
 *
 * A small world of classes stands for what a JVM would know; lib/Base is named by one of them
 * and otherwise unknown. */
#include "right_rules.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "rule/match.h"
#include "rule/print.h"

struct entry {
	const char *name, *super, *interfaces[3], *annotations[2];
};

static const struct entry world[] = {
	{ "java/lang/Object", NULL, { NULL }, { NULL } },
	{ "java/lang/Thread", "java/lang/Object", { "java/lang/Runnable" }, { NULL } },
	{ "java/sql/Statement", "java/lang/Object", { "java/lang/AutoCloseable" }, { NULL } },
	{ "java/sql/PreparedStatement", "java/lang/Object", { "java/sql/Statement" }, { NULL } },
	{ "db/Query", "java/lang/Object", { "java/sql/PreparedStatement" }, { NULL } },
	{ "db/FastQuery", "db/Query", { NULL }, { NULL } },
	{ "com/shop/Cart", "java/lang/Object", { NULL }, { NULL } },
	{ "com/shop/Cart$Line", "java/lang/Object", { NULL }, { NULL } },
	{ "com/shop/gen/Stub", "lib/Base", { "com/shop/Marker" }, { NULL } },
	{ "com/shop/Worker", "java/lang/Thread", { NULL }, { "Lorg/x/Timed;" } },
	{ "round/A", "round/B", { "round/C" }, { NULL } },
	{ "round/B", "round/A", { "round/B" }, { NULL } },
	{ "round/C", "round/C", { "round/A" }, { NULL } },
};

/* Room for the slices of one class. */
struct scratch {
	struct slice interfaces[3], annotations[2];
};
static struct scratch rooms[COUNT(world)];

static bool fill(size_t i, struct rule_class *out)
{
	const struct entry *e = &world[i];

	*out = (struct rule_class){ .name = slice_str(e->name),
				    .interfaces = rooms[i].interfaces,
				    .annotations = rooms[i].annotations };
	if (e->super)
		out->super = slice_str(e->super);
	for (; e->interfaces[out->interface_count]; out->interface_count++)
		rooms[i].interfaces[out->interface_count] =
			slice_str(e->interfaces[out->interface_count]);
	for (; e->annotations[out->annotation_count]; out->annotation_count++)
		rooms[i].annotations[out->annotation_count] =
			slice_str(e->annotations[out->annotation_count]);
	return true;
}

static bool find(void *ctx, struct slice name, struct rule_class *out)
{
	(void)ctx;
	for (size_t i = 0; i < COUNT(world); i++)
		if (slice_is(name, world[i].name))
			return fill(i, out);
	return false;
}

static const struct rule_resolver resolver = { .find = find };

static struct rule_class class_of(const char *name)
{
	struct rule_class cls = { .name = slice_str(name) };

	find(NULL, cls.name, &cls);
	cls.resolver = &resolver;
	return cls;
}

static struct rule_method method_of(const char *name, const char *desc)
{
	return (struct rule_method){ .name = slice_str(name),
				     .desc = slice_str(desc),
				     .access = 1 };
}

/* line: of the hook that decides, 0 for none. */
static const struct {
	const char *rules, *class, *method, *desc;
	unsigned line;
} cases[] = {
	{ "hook com.shop.**::*", "com/shop/Cart", "add", "()V", 1 },
	{ "hook com.shop.**::*", "com/shop/Cart$Line", "add", "()V", 1 },
	{ "hook com.shop.Cart::*", "com/shop/Cart$Line", "add", "()V", 0 },
	{ "hook com.shop.**::*", "db/Query", "add", "()V", 0 },
	{ "", "db/Query", "add", "()V", 0 },
	/* the last one decides */
	{ "hook com.shop.**::*\nhook com.shop.Cart::add full", "com/shop/Cart", "add", "()V", 2 },
	{ "hook com.shop.Cart::add full\nhook com.shop.**::*", "com/shop/Cart", "add", "()V", 2 },
	{ "hook **::*\nskip com.shop.**", "com/shop/Cart", "add", "()V", 0 },
	{ "skip com.shop.**\nhook **::*", "com/shop/Cart", "add", "()V", 2 },
	{ "hook **::*\nskip com.**\nhook **.Cart::*", "com/shop/Cart", "add", "()V", 3 },
	{ "hook **::*\nskip com.shop.Cart::get*", "com/shop/Cart", "getX", "()V", 0 },
	{ "hook **::*\nskip com.shop.Cart::get*", "com/shop/Cart", "add", "()V", 1 },
	/* ancestors */
	{ "hook implements java.lang.Runnable::*", "com/shop/Worker", "run", "()V", 1 },
	{ "hook extends java.lang.Thread::run", "com/shop/Worker", "run", "()V", 1 },
	{ "hook implements java.lang.Thread::run", "com/shop/Worker", "run", "()V", 0 },
	{ "hook extends java.lang.Object::run", "com/shop/Worker", "run", "()V", 1 },
	{ "hook extends java.sql.Statement::execute*", "db/FastQuery", "executeQuery", "()V", 1 },
	{ "hook implements java.**::execute", "db/FastQuery", "execute", "()V", 1 },
	{ "hook implements java.lang.AutoCloseable::*", "db/FastQuery", "close", "()V", 1 },
	{ "hook implements java.lang.AutoCloseable::*", "com/shop/Cart", "close", "()V", 0 },
	{ "hook db.** extends db.Query::*", "db/FastQuery", "x", "()V", 1 },
	{ "hook db.** extends db.Query::*", "db/Query", "x", "()V", 0 },
	{ "hook com.** extends db.Query::*", "db/FastQuery", "x", "()V", 0 },
	{ "hook implements java.sql.Statement extends db.Query::*", "db/FastQuery", "x", "()V", 1 },
	{ "hook extends java.sql.PreparedStatement::*", "java/sql/PreparedStatement", "x", "()V",
	  0 },
	/* only known by name */
	{ "hook extends lib.Base::*", "com/shop/gen/Stub", "x", "()V", 1 },
	{ "hook implements com.shop.Marker::*", "com/shop/gen/Stub", "x", "()V", 1 },
	{ "hook extends java.lang.Object::*", "com/shop/gen/Stub", "x", "()V", 0 },
	{ "hook extends java.lang.Object::*", "never/Seen", "x", "()V", 0 },
	{ "hook never.**::*", "never/Seen", "x", "()V", 1 },
	/* circles */
	{ "hook extends round.A::*", "round/A", "x", "()V", 1 },
	{ "hook extends round.Z::*", "round/A", "x", "()V", 0 },
	{ "hook implements round.B::*", "round/A", "x", "()V", 1 },
	/* annotations */
	{ "hook annotated org.x.Timed::*", "com/shop/Worker", "x", "()V", 1 },
	{ "hook annotated org.x.*::*", "com/shop/Worker", "x", "()V", 1 },
	{ "hook annotated org.x.Timed::*", "com/shop/Cart", "x", "()V", 0 },
	/* constructors and initialisers are reached by name only */
	{ "hook com.shop.**::*", "com/shop/Cart", "<init>", "()V", 0 },
	{ "hook com.shop.**::new", "com/shop/Cart", "<init>", "()V", 1 },
	{ "hook com.shop.**::<clinit>", "com/shop/Cart", "<clinit>", "()V", 1 },
	{ "hook com.shop.**::new\nskip com.shop.**::*", "com/shop/Cart", "<init>", "()V", 1 },
	{ "hook com.shop.**::new\nskip com.shop.**", "com/shop/Cart", "<init>", "()V", 0 },
	/* parameters and the rest */
	{ "hook **.Cart::add(int)", "com/shop/Cart", "add", "(I)V", 1 },
	{ "hook **.Cart::add(int)", "com/shop/Cart", "add", "()V", 0 },
	{ "hook **.Cart::add(int)", "com/shop/Cart", "add", "(II)V", 0 },
	{ "hook **.Cart::add(int, ..)", "com/shop/Cart", "add", "(II)V", 1 },
	{ "hook **.Cart::add(int, ..)", "com/shop/Cart", "add", "(I)V", 1 },
	{ "hook **.Cart::add(int, ..)", "com/shop/Cart", "add", "()V", 0 },
	{ "hook **.Cart::add()", "com/shop/Cart", "add", "()V", 1 },
	{ "hook **.Cart::add()", "com/shop/Cart", "add", "broken", 0 },
	{ "hook **.Cart::add(..)", "com/shop/Cart", "add", "(I", 0 },
	{ "hook **.Cart::add", "com/shop/Cart", "add", "broken", 1 },
	{ "hook **.Cart::add(String, Object[])", "com/shop/Cart", "add",
	  "(Ljava/lang/String;[Ljava/lang/Object;)V", 1 },
	{ "hook **.Cart::* returns int", "com/shop/Cart", "add", "()I", 1 },
	{ "hook **.Cart::* returns int", "com/shop/Cart", "add", "()V", 0 },
	{ "hook **.Cart::* only public", "com/shop/Cart", "add", "()V", 1 },
	{ "hook **.Cart::* only static", "com/shop/Cart", "add", "()V", 0 },
	{ "hook **.Cart::* only not public", "com/shop/Cart", "add", "()V", 0 },
	{ "hook **.Cart::* only public not static", "com/shop/Cart", "add", "()V", 1 },
	/* other kinds of rules hook nothing */
	{ "live com.shop.**\nahead **", "com/shop/Cart", "add", "()V", 0 },
	{ "capture u = $1 at com.shop.Cart::add", "com/shop/Cart", "add", "(I)V", 0 },
	{ "hook a.B::c inside com.shop.Cart::add", "com/shop/Cart", "add", "(I)V", 0 },
};

TEST(the_last_rule_that_applies_decides)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct rule_class cls = class_of(cases[i].class);
		struct rule_method m = method_of(cases[i].method, cases[i].desc);
		struct rule_lineage kept;
		struct rule_choice choice;
		const struct rule *got;
		struct arena mem;
		struct rules *rules = right_rules(&mem, cases[i].rules);

		if (!CHECK(rules))
			continue;
		got = rules_match_method(rules, &cls, &m);
		CHECK_INT(got ? got->at.line : 0, cases[i].line, cases[i].rules);
		if (got)
			CHECK(rules_class_may_match(rules, &cls));
		rules_choose(rules, &cls, &choice);
		CHECK(rules_match_chosen(&choice, &m) == got);
		kept.ready = false;
		cls.lineage = &kept;
		CHECK(rules_match_method(rules, &cls, &m) == got);
		CHECK(rules_match_method(rules, &cls, &m) == got);
		arena_release(&mem);
	}
}

/* Hooks and skips in turn, so that each place matters; around the number that a choice holds. */
TEST(a_choice_of_rules_decides_as_all_of_them)
{
	static const char *const names[] = { "a0", "a1", "b", "a9x", "<init>" };

	for (int n = RULE_CHOICE_MAX - 2; n <= RULE_CHOICE_MAX + 2; n++) {
		struct rule_class cls = class_of("com/shop/Worker");
		struct buf text = { 0 };
		struct rule_choice choice;
		struct rules *rules;
		struct arena mem;

		for (int i = 0; i < n; i++)
			buf_printf(&text, "%s %s::%s%d*\n", i % 2 ? "skip" : "hook",
				   i % 3 ? "com.shop.*" : "annotated org.x.Timed",
				   i % 5 ? "a" : "b", i % 7);
		buf_u8(&text, 0);
		rules = right_rules(&mem, (const char *)text.p);
		rules_choose(rules, &cls, &choice);
		CHECK_INT(choice.cut, n > RULE_CHOICE_MAX, "cut");
		for (size_t i = 0; i < COUNT(names); i++) {
			struct rule_method m = method_of(names[i], "()V");

			CHECK(rules_match_chosen(&choice, &m) ==
			      rules_match_method(rules, &cls, &m));
		}
		buf_release(&text);
		arena_release(&mem);
	}
}

static const struct {
	const char *rules, *class;
	bool may;
} classes[] = {
	{ "hook com.shop.**::*", "com/shop/Cart", true },
	{ "hook com.shop.**::*", "com/other/Cart", false },
	{ "hook com.shop.**::*", "com/shop", false },
	{ "hook com.shop.**::*\nskip com.shop.Cart", "com/shop/Cart", false },
	{ "skip com.shop.Cart\nhook com.shop.**::*", "com/shop/Cart", true },
	{ "hook com.shop.**::*\nskip com.shop.Cart::add", "com/shop/Cart", true },
	{ "hook com.shop.**::*\nskip com.shop.Cart only public", "com/shop/Cart", true },
	{ "skip **\nlive **\nahead **", "com/shop/Cart", false },
	{ "hook implements java.sql.Statement::*", "db/FastQuery", true },
	{ "hook implements java.sql.Statement::*", "com/shop/Cart", false },
	{ "hook annotated org.x.Timed::*", "com/shop/Worker", true },
	{ "hook annotated org.x.Timed::*", "com/shop/Cart", true }, /* a method may have it */
	{ "hook com.other.** annotated org.x.Timed::*", "com/shop/Cart", false },
	{ "hook com.shop.**::*\nskip annotated org.x.Timed", "com/shop/Cart", true },
	{ "hook com.shop.**::*\nskip annotated org.x.Timed", "com/shop/Worker", false },
	{ "capture u = $1 at com.shop.Cart::add", "com/shop/Cart", true },
	{ "hook a.B::c inside com.shop.Cart::add", "com/shop/Cart", true },
	{ "hook a.B::c inside com.shop.Cart::add", "com/shop/Worker", false },
	{ "hook a.B::c inside x.Y::z >> extends db.Query::q", "db/FastQuery", true },
	{ "", "com/shop/Cart", false },
};

TEST(classes_without_any_candidate_are_sorted_out)
{
	for (size_t i = 0; i < COUNT(classes); i++) {
		struct rule_class cls = class_of(classes[i].class);
		struct arena mem;
		struct rules *rules = right_rules(&mem, classes[i].rules);

		if (CHECK(rules))
			CHECK_INT(rules_class_may_match(rules, &cls), classes[i].may,
				  classes[i].rules);
		arena_release(&mem);
	}
}

static bool mentions_nothing(void *ctx, struct slice descriptor)
{
	++*(int *)ctx;
	CHECK(slice_is(descriptor, "Lorg/x/Timed;"));
	return false;
}

TEST(a_class_that_does_not_mention_the_annotation_is_sorted_out)
{
	int asked = 0;
	struct rule_resolver r = { .ctx = &asked, .mentions = mentions_nothing };
	struct rule_class cls = class_of("com/shop/Cart");
	struct arena mem;
	struct rules *rules = right_rules(&mem, "hook annotated org.x.Timed::*");

	cls.resolver = &r;
	CHECK(!rules_class_may_match(rules, &cls));
	CHECK_INT(asked, 1, NULL);
	arena_release(&mem);
}

TEST(an_annotation_of_the_method_is_enough)
{
	struct rule_class cls = class_of("com/shop/Cart");
	struct rule_method m = method_of("add", "()V");
	struct slice annotations[] = { slice_str("Lorg/y/Other;"), slice_str("Lorg/x/Timed;"),
				       slice_str("broken") };
	struct arena mem;
	struct rules *rules = right_rules(&mem, "hook annotated org.x.Timed::*");

	CHECK(!rules_match_method(rules, &cls, &m));
	m.annotations = annotations;
	m.annotation_count = COUNT(annotations);
	CHECK(rules_match_method(rules, &cls, &m));
	arena_release(&mem);
}

TEST(a_class_without_resolver_has_its_own_facts_only)
{
	struct slice interfaces[] = { slice_str("java/sql/PreparedStatement") };
	struct rule_class cls = { .name = slice_str("x/Y"),
				  .super = slice_str("x/Z"),
				  .interfaces = interfaces,
				  .interface_count = 1 };
	struct rule_method m = method_of("q", "()V");
	struct arena mem;
	struct rules *rules = right_rules(&mem, "hook implements java.sql.Prepared*::q\n"
						"hook implements java.sql.Statement::q\n");
	const struct rule *got = rules_match_method(rules, &cls, &m);

	CHECK_INT(got ? got->at.line : 0, 1, NULL);
	arena_release(&mem);
}

/* Every class has two parents nobody has seen before, without end. */
static bool find_endless(void *ctx, struct slice name, struct rule_class *out)
{
	static char names[4096][16];
	static struct slice interfaces[4096];
	size_t *n = ctx;

	(void)name;
	if (*n >= 4000)
		return false;
	snprintf(names[*n], sizeof(names[0]), "e/N%zu", *n);
	out->super = slice_str(names[*n]);
	snprintf(names[*n + 1], sizeof(names[0]), "e/N%zu", *n + 1);
	interfaces[*n] = slice_str(names[*n + 1]);
	out->interfaces = &interfaces[*n];
	out->interface_count = 1;
	*n += 2;
	return true;
}

TEST(an_endless_hierarchy_is_cut_off)
{
	static struct rule_lineage kept;
	size_t n = 0;
	struct rule_resolver r = { .ctx = &n, .find = find_endless };
	struct rule_class cls = { .name = slice_str("x/Y"),
				  .super = slice_str("x/Z"),
				  .resolver = &r,
				  .lineage = &kept };
	struct arena mem;
	struct rules *rules = right_rules(&mem, "hook extends no.Such::q");

	CHECK(!rules_class_may_match(rules, &cls));
	CHECK(kept.cut);
	CHECK_INT(kept.n, LINEAGE_MAX, NULL);
	arena_release(&mem);
}

TEST(anchors_are_the_steps_of_sequences_and_the_captures)
{
	struct rule_class cls = class_of("com/shop/Cart");
	struct rule_method m = method_of("add", "(I)V");
	struct rule_anchor got[8];
	struct arena mem;
	struct rules *rules = right_rules(&mem, "hook a.B::c inside com.shop.Cart::add > x.Y::z\n"
						"capture u = $1 at com.shop.**::add(int)\n"
						"hook a.B::d inside x.Y::z >> com.shop.*::add\n"
						"  inside com.shop.Cart::* > **::add\n"
						"hook a.B::e inside com.shop.Cart::remove\n");
	static const unsigned want[][3] = {
		{ 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 1 }, { 3, 1, 0 }, { 3, 1, 1 },
	};

	CHECK_INT(rules_match_anchors(rules, &cls, &m, got, COUNT(got)), COUNT(want), NULL);
	for (size_t i = 0; i < COUNT(want); i++) {
		CHECK_INT(got[i].rule->at.line, want[i][0], "line");
		CHECK_INT(got[i].context, want[i][1], "context");
		CHECK_INT(got[i].step, want[i][2], "step");
	}
	CHECK_INT(rules_match_anchors(rules, &cls, &m, got, 2), COUNT(want), "only two fit");
	CHECK_INT(got[0].rule->at.line, 1, NULL);
	CHECK_INT(got[1].rule->at.line, 2, NULL);
	CHECK_INT(rules_match_anchors(rules, &cls, &m, NULL, 0), COUNT(want), "none fits");
	arena_release(&mem);
}

TEST(a_skip_takes_the_anchors_of_the_rules_before_it)
{
	struct rule_class cls = class_of("com/shop/Cart");
	struct rule_method m = method_of("add", "(I)V");
	struct rule_anchor got[4];
	struct arena mem;
	struct rules *rules = right_rules(&mem, "hook a.B::c inside com.shop.Cart::add\n"
						"skip com.shop.**\n"
						"capture u = $1 at com.shop.Cart::add\n");

	CHECK_INT(rules_match_anchors(rules, &cls, &m, got, COUNT(got)), 1, NULL);
	CHECK_INT(got[0].rule->kind, RULE_CAPTURE, NULL);
	arena_release(&mem);
}

static const struct {
	const char *rules, *class;
	enum rule_place place;
} places[] = {
	{ "", "com/shop/Cart", PLACE_LOAD },
	{ "ahead com.**", "com/shop/Cart", PLACE_AHEAD },
	{ "ahead com.**\nlive com.shop.**", "com/shop/Cart", PLACE_LIVE },
	{ "live com.shop.**\nahead com.**", "com/shop/Cart", PLACE_AHEAD },
	{ "live com.**\nat-load com.shop.**", "com/shop/Cart", PLACE_LOAD },
	{ "live extends java.sql.Statement", "db/FastQuery", PLACE_LIVE },
	{ "live annotated org.x.Timed", "com/shop/Cart", PLACE_LOAD },
	{ "live annotated org.x.Timed", "com/shop/Worker", PLACE_LIVE },
	{ "hook com.**::*\nskip com.**", "com/shop/Cart", PLACE_LOAD },
};

TEST(the_last_place_decides_where_a_class_is_woven)
{
	for (size_t i = 0; i < COUNT(places); i++) {
		struct rule_class cls = class_of(places[i].class);
		struct arena mem;
		struct rules *rules = right_rules(&mem, places[i].rules);

		if (CHECK(rules))
			CHECK_INT(rules_match_place(rules, &cls, NULL), places[i].place,
				  places[i].rules);
		arena_release(&mem);
	}
}

typedef void digest(const struct rules *rules, const struct rule_class *cls, struct buf *out);

static void check_digest(digest *make, const char *text, const char *class, const char *want)
{
	struct rule_class cls = class_of(class);
	struct buf out = { 0 };
	struct arena mem;
	struct rules *rules = right_rules(&mem, text);

	make(rules, &cls, &out);
	buf_u8(&out, 0);
	CHECK_STR((const char *)out.p, want, text);
	buf_release(&out);
	arena_release(&mem);
}

TEST(the_digest_holds_what_can_touch_the_class_and_nothing_else)
{
	check_digest(rules_digest_text,
		     "hook com.shop.**::*  light\nhook db.**::* # other\nlive com.**\n"
		     "skip com.shop.Cart::get*",
		     "com/shop/Cart", "hook com.shop.**::* light\nskip com.shop.Cart::get*\n");
	check_digest(rules_digest_text, "hook db.**::*", "com/shop/Cart", "");
	check_digest(rules_digest_text, "hook extends java.sql.Statement::*", "db/FastQuery",
		     "hook extends java.sql.Statement::* timed\n");
	check_digest(rules_digest_text, "hook a.B::c inside com.shop.Cart::x", "com/shop/Cart",
		     "hook a.B::c inside com.shop.Cart::x timed\n");
	check_digest(
		rules_digest_text,
		"template t from \"x\"\ntemplate s from \"y\"\n"
		"capture u = $1 at a.B::c\ncapture v = $1 at a.B::c\ncapture u = $2 at a.B::d\n"
		"hook com.shop.Cart::x if $u template t",
		"com/shop/Cart",
		"hook com.shop.Cart::x if $u template t timed\n"
		"template t from \"x\"\n"
		"capture u = $1 at a.B::c\ncapture u = $2 at a.B::d\n");
}

/* The text from the rules that touch com.shop.Cart is that of all rules about it. */
static void check_touching_text(const char *text)
{
	struct rule_class cls = class_of("com/shop/Cart");
	const struct rule *touching[16];
	struct buf a = { 0 }, b = { 0 };
	struct rules *rules;
	struct arena mem;

	rules = right_rules(&mem, text);
	rules_weave_text(rules, &cls, &a);
	rules_touching_text(touching, rules_touching(rules, &cls, touching), &b);
	CHECK_INT(slice_eq(buf_slice(&a), buf_slice(&b)), true, text);
	buf_release(&a);
	buf_release(&b);
	arena_release(&mem);
}

/* Both texts weave com.shop.Cart alike. */
static void check_weaves_alike(const char *text, const char *other, bool alike)
{
	struct rule_class cls = class_of("com/shop/Cart");
	struct buf a = { 0 }, b = { 0 };
	struct arena mem, mem_other;

	rules_weave_text(right_rules(&mem, text), &cls, &a);
	rules_weave_text(right_rules(&mem_other, other), &cls, &b);
	check_touching_text(text);
	if (!CHECK_INT(slice_eq(buf_slice(&a), buf_slice(&b)), alike, other))
		fprintf(stderr, "%.*s---\n%.*s", (int)a.n, (char *)a.p, (int)b.n, (char *)b.p);
	buf_release(&a);
	buf_release(&b);
	arena_release(&mem);
	arena_release(&mem_other);
}

TEST(the_weave_text_leaves_out_what_does_not_change_code)
{
	check_digest(rules_weave_text,
		     "hook com.shop.Cart::x timed 1/100 slow 1s for 10m good 5m calls 5000\n"
		     "hook db.**::*",
		     "com/shop/Cart", "hook com.shop.Cart::x timed\n");
	check_digest(rules_weave_text, "hook com.shop.Cart::x light for 1m", "com/shop/Cart",
		     "hook com.shop.Cart::x light\n");
	check_digest(rules_weave_text,
		     "template t from \"x\"\ncapture u = $1 at a.B::c\nskip com.shop.Cart::get*\n"
		     "hook com.shop.Cart::x(int) inside a.B::c if $u template t full calls 3",
		     "com/shop/Cart",
		     "skip com.shop.Cart::get*\n"
		     "hook com.shop.Cart::x(int) inside a.B::c if $u template t full\n"
		     "template t from \"x\"\ncapture u = $1 at a.B::c\n");
}

TEST(equal_weave_texts_tell_that_nothing_has_to_be_woven_again)
{
	static const char base[] = "hook com.shop.Cart::x timed";

	check_weaves_alike(base, "hook com.shop.Cart::x timed 1/100", true);
	check_weaves_alike(base, "hook com.shop.Cart::x timed calls 1 slow 3ms", true);
	check_weaves_alike(base, "hook com.shop.Cart::x", true);
	check_weaves_alike(base, "hook com.shop.Cart::x timed\nhook db.**::*", true);
	check_weaves_alike(base, "hook com.shop.Cart::x timed\nhook com.shop.Cart::x timed 1/9",
			   true);
	check_weaves_alike(base, "hook com.shop.Cart::x light", false);
	check_weaves_alike(base, "hook com.shop.Cart::x full", false);
	check_weaves_alike(base, "hook com.shop.Cart::y timed", false);
	check_weaves_alike(base, "hook com.shop.Cart::x timed if $1 > 3", false);
	check_weaves_alike(base, "hook com.shop.Cart::x timed inside a.B::c", false);
	check_weaves_alike(base, "hook com.shop.Cart::x template database", false);
	check_weaves_alike(base, "hook com.shop.Cart::x timed\nskip com.shop.Cart", false);
}

/* A rule that comes again later never decides, whatever lies between; its place does matter. */
TEST(the_weave_text_tells_the_last_of_repeated_rules)
{
	check_digest(rules_weave_text,
		     "hook com.shop.*::x timed\nskip com.shop.Cart\nhook com.shop.*::x timed 1/5\n",
		     "com/shop/Cart", "skip com.shop.Cart\nhook com.shop.*::x timed\n");
	check_digest(rules_weave_text,
		     "skip com.shop.Cart\nhook com.shop.*::x\nskip com.shop.Cart\n",
		     "com/shop/Cart", "hook com.shop.*::x timed\nskip com.shop.Cart\n");
	check_weaves_alike("hook com.shop.*::x\nskip com.shop.Cart",
			   "skip com.shop.Cart\nhook com.shop.*::x", false);
}

/* The index must never lose a rule that a plain search finds. */
TEST(the_index_agrees_with_testing_every_rule)
{
	static const char *const patterns[] = {
		"com.shop.Cart", "com.shop.*",	    "com.**",	"**",
		"**.Cart",	 "com.shop.Ca*",    "*",	"com.*.Cart",
		"db.**",	 "com.shop.gen.**", "d?.Query", "com.shop.**.Stub",
	};
	char text[32 * COUNT(patterns) * 2] = "";
	struct arena mem;
	struct rules *rules;

	for (size_t i = 0; i < COUNT(patterns) * 2; i++)
		sprintf(text + strlen(text), "live %s\n", patterns[(i * 7) % COUNT(patterns)]);
	rules = right_rules(&mem, text);
	for (size_t i = 0; i < COUNT(world) && rules; i++) {
		struct rule_class cls = class_of(world[i].name);
		const struct rule *got, *want = NULL;
		struct rule_lineage room;

		room.ready = false;
		for (size_t k = 0; k < rules->n; k++)
			if (rule_target_test(&rules->all[k]->target, &cls, NULL, &room).answer ==
			    TARGET_HIT)
				want = rules->all[k];
		rules_match_place(rules, &cls, &got);
		CHECK(got == want);
	}
	arena_release(&mem);
}

TEST(strange_class_names_are_survived)
{
	static const char *const names[] = {
		"",	     "/",	  "//", "a/",	    "/a",
		"com/shop/", "com//Cart", "[I", "\xff\xfe", "com/shop/Cart/"
	};
	struct arena mem;
	struct rules *rules =
		right_rules(&mem, "hook com.shop.**::*\nhook **.Cart::*\nskip *\nlive **");
	struct rule_method m = method_of("", "");

	for (size_t i = 0; i < COUNT(names); i++) {
		struct rule_class cls = { .name = slice_str(names[i]) };

		rules_class_may_match(rules, &cls);
		rules_match_method(rules, &cls, &m);
		rules_match_place(rules, &cls, NULL);
	}
	arena_release(&mem);
}
