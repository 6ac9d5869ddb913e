/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions and captures as byte code: every kind of test in every kind of method must pass the
 * checker, whatever memory does. */
#include <stdio.h>

#include "base/mem.h"
#include "classes.h"
#include "classfile/check/check.h"
#include "test.h"
#include "weave/weave.h"

/* ---- what the agent would do ---- */

static int32_t a_site(void *ctx, const struct cond_site *site)
{
	(void)ctx;
	return (int32_t)(site->kind * 1000 + site->name.n);
}

static int32_t a_slot(void *ctx, struct slice name)
{
	(void)ctx;
	return (int32_t)name.n;
}

static const struct cond_numbers numbers = { .site = a_site, .slot = a_slot };

/* ---- one class with methods of all shapes ---- */

#define ARGS "(IJFDLjava/lang/String;[IZC)"

static void add_constructors(struct class_maker *m)
{
	uint16_t init = maker_ref(m, CONST_METHODREF, "java/lang/Object", "<init>", "()V");
	struct maker_list tables = { 0 };

	maker_code(m, ACC_PUBLIC, "<init>", "(I)V",
		   (struct maker_code){
			   .code = BYTES(OP_ALOAD_0, OP_INVOKESPECIAL, U2(init), OP_RETURN) });
	/* a value lies below while super() is called, and is used afterwards */
	maker_code(m, ACC_PUBLIC, "<init>", "(J)V",
		   (struct maker_code){ .code = BYTES(OP_ICONST_1, OP_ALOAD_0, OP_INVOKESPECIAL,
						      U2(init), OP_POP, OP_RETURN) });
	/* ifeq at 1 goes to 9: two calls of super() on two paths, each with its return */
	if (m->major >= 50) {
		maker_attr(m, &tables, "StackMapTable",
			   BYTES(U2(1), 255, U2(9), U2(2), 6, 1, U2(0)));
		maker_code(m, ACC_PUBLIC, "<init>", "(S)V",
			   (struct maker_code){
				   .code = BYTES(OP_ILOAD_1, OP_IFEQ, U2(8), OP_ALOAD_0,
						 OP_INVOKESPECIAL, U2(init), OP_RETURN, OP_ALOAD_0,
						 OP_INVOKESPECIAL, U2(init), OP_RETURN),
				   .max_stack = 3,
				   .max_locals = 2,
				   .tables = &tables });
	}
}

static struct slice make(struct class_maker *m, uint16_t major)
{
	struct maker_list loop = { 0 };

	maker_init(m, "a/B", major);
	maker_field(m, ACC_PRIVATE, "count", "I", NULL);
	maker_field(m, ACC_PRIVATE, "wide", "J", NULL);
	maker_field(m, ACC_PRIVATE, "name", "Ljava/lang/String;", NULL);
	maker_field(m, ACC_PRIVATE, "flag", "Z", NULL);
	maker_code(
		m, ACC_PUBLIC, "plain", ARGS "V",
		(struct maker_code){ .code = BYTES(OP_RETURN), .max_stack = 4, .max_locals = 11 });
	maker_code(
		m, ACC_PUBLIC | ACC_STATIC, "common", ARGS "V",
		(struct maker_code){ .code = BYTES(OP_RETURN), .max_stack = 4, .max_locals = 11 });
	maker_code(m, ACC_PUBLIC, "whole", ARGS "I",
		   (struct maker_code){ .code = BYTES(OP_ILOAD_1, OP_IRETURN),
					.max_stack = 4,
					.max_locals = 11 });
	maker_code(m, ACC_PUBLIC, "big", ARGS "J",
		   (struct maker_code){ .code = BYTES(OP_LLOAD_2, OP_LRETURN),
					.max_stack = 4,
					.max_locals = 11 });
	maker_code(m, ACC_PUBLIC, "text", ARGS "Ljava/lang/String;",
		   (struct maker_code){ .code = BYTES(OP_ALOAD, 7, OP_ARETURN),
					.max_stack = 4,
					.max_locals = 11 });
	/* goes back to its first instruction for ever */
	if (major >= 50)
		maker_attr(m, &loop, "StackMapTable", BYTES(U2(1), 0));
	maker_code(m, ACC_PUBLIC, "loop", ARGS "V",
		   (struct maker_code){ .code = BYTES(OP_GOTO, 0, 0),
					.max_stack = 4,
					.max_locals = 11,
					.tables = &loop });
	add_constructors(m);
	return maker_bytes(m);
}

struct fixture {
	struct arena mem, work, again;
	struct buf out;
	struct weaver weaver;
	struct weave_job job;
};

static bool open_rules(struct fixture *t, const char *text)
{
	static struct rule_errors errors;
	struct fault f = { 0 };
	struct buf why = { 0 };
	struct rules *rules;

	errors = (struct rule_errors){ 0 };
	arena_init(&t->mem);
	arena_init(&t->work);
	arena_init(&t->again);
	buf_init(&t->out);
	if (rules_parse(&t->mem, slice_str(text), "test", &rules, &errors) < 0) {
		rule_errors_print(&errors, &why);
		buf_u8(&why, '\0');
		CHECK_STR((const char *)why.p, "", text);
		buf_release(&why);
		return false;
	}
	return CHECK_INT(weaver_init(&t->weaver, &t->mem, rules, NULL, NULL, &f), 0, text);
}

static void close_rules(struct fixture *t)
{
	weaver_release(&t->weaver);
	arena_release(&t->mem);
	arena_release(&t->work);
	arena_release(&t->again);
	buf_release(&t->out);
}

/* Each woven method passes our checker. */
static void check_all(struct fixture *t, const char *label)
{
	struct fault f = { 0 };
	struct class *cls;
	struct code *code;

	if (!CHECK_INT(class_read(&t->again, buf_slice(&t->out), &cls, &f), 0, label))
		return;
	CHECK_INT(class_check(cls, &f), 0, label);
	for (uint32_t i = 0; i < cls->n_methods; i++) {
		struct fault why = { 0 };

		if (CHECK_INT(code_elevate(cls, &cls->methods[i], &code, &why), 0, label) &&
		    !CHECK_INT(code_check(code, &why), 0, label))
			CHECK_STR(why.text, "", label);
	}
	class_release(cls);
}

/* Weaves the class; gives how many methods got woven. */
static uint32_t weave(struct fixture *t, uint16_t major, const char *label)
{
	struct class_maker m;
	struct fault f = { 0 };
	uint32_t n;

	t->job = (struct weave_job){
		.mem = &t->mem, .work = &t->work, .first_id = 300, .numbers = &numbers
	};
	CHECK_INT(weave_class(&t->weaver, &t->job, make(&m, major), &t->out, &f), 0, label);
	n = t->job.n_woven;
	if (n)
		check_all(t, label);
	class_release(t->job.cls);
	maker_release(&m);
	return n;
}

/* ---- tests ---- */

static const char *const conditions[] = {
	"$1 > 3",
	"$1 > 3 and $1 < 10",
	"$1 > 3 or $1 < -10 or $1 == 100000",
	"not $1 > 3",
	"not ($1 > 3 and ($2 < 5 or not $3 == 9))",
	"($1 > 2 and ($1 > 3 and ($1 > 4 and $1 < 6))) or $1 == 8",
	"(($1 == 1 or $1 == 2) and ($1 == 2 or ($1 == 3 and ($1 == 4 or $1 == 5)))) or $7",
	"$2 > 3 and $2 == 5000000000L and $2 != 1",
	"$3 < 1.5 and $3 >= 2 and $4 > $3 and $4 != $2 and $1 <= $4",
	"$5 == \"text\" and $5 != null and $5 startsWith \"a\" and $5 matches \"b.*\"",
	"$5 contains \"\xf0\x9f\x98\x80\\u0000\" or $5 endsWith \"\xc3\xa4\"",
	"$5.length() == 3 and $5.charAt(0) == 'x' and $5.isEmpty()",
	"$6.length > 3 and $6[0] == 1 and $6[1] in (1, 2, 3)",
	"$7 and $7 == true and not $7",
	"$8 == 'x' and $8 > 'a' and $8 in ('a', 'b')",
	"$1 in (1, 2, 3) and $2 in (1L, 2) and $3 in (1.5)",
	"$5 instanceof java.util.List",
	"3 < $1 and \"a\" == $5 and 1.5 > $4 and null != $5",
	"$user == \"alice\" and $user.tier startsWith \"p\"",
	"$1 == $user and $user != $5",
};

static const char *const own[] = {
	"$this.count > 3 and $this.wide == 2 and $this.flag",
	"$this.name == \"x\" and $this.name.length() > 2 and $this.other.deep[1][\"k\"].deeper() == 2",
	"$this != null and $this instanceof a.B and $this.toString() == \"x\"",
};

static const char *const late[] = {
	"$return == 3",
	"$1 > 3 and $return != 7",
	"($1 > 3 or $7) and ($return in (1, 2) or not $return < 100)",
	"not $return == 3 and $2 == 1",
};

static const uint16_t majors[] = { 49, 50, 52, 61, 69 };
static const char *const levels[] = { "light", "timed", "full" };

static void weave_condition(const char *target, const char *cond, uint32_t want)
{
	for (size_t v = 0; v < COUNT(majors); v++) {
		for (size_t l = 0; l < COUNT(levels); l++) {
			struct fixture t;
			char text[400];

			snprintf(text, sizeof(text),
				 "capture user = $1 at a.Other::m\nhook a.B::%s if %s %s\n", target,
				 cond, levels[l]);
			if (open_rules(&t, text))
				CHECK_INT(weave(&t, majors[v], text), want, text);
			close_rules(&t);
		}
	}
}

TEST(conditions_of_all_kinds_pass_the_checker_in_methods)
{
	for (size_t i = 0; i < COUNT(conditions); i += test_is_short() ? 4 : 1)
		weave_condition("*(int, ..)", conditions[i], 6);
	for (size_t i = 0; i < COUNT(own); i++)
		weave_condition("*(int, ..) only not static", own[i], 5);
}

TEST(conditions_on_the_result_pass_the_checker)
{
	for (size_t i = 0; i < COUNT(late); i += test_is_short() ? 3 : 1) {
		weave_condition("whole", late[i], 1);
		weave_condition("big", late[i], 1);
	}
	weave_condition("text", "$return == \"x\" or $return.length() > 3", 1);
	weave_condition("text", "$return != null and $1 > 3", 1);
}

TEST(conditions_pass_the_checker_in_constructors)
{
	weave_condition("<init>(int)", "$1 > 3 and ($this.count == 0 or $this.name == \"x\")", 1);
	weave_condition("<init>(long)", "$1 > 3 and ($1 < 10 or $this instanceof a.B)", 1);
	for (size_t v = 1; v < COUNT(majors); v++) {
		static const char rule[] = "hook a.B::<init>(short) if $1 > 3 or $1 == -3 timed\n";
		struct fixture t;

		if (open_rules(&t, rule))
			CHECK_INT(weave(&t, majors[v], rule), 1, "two calls of super()");
		close_rules(&t);
	}
}

TEST(captures_pass_the_checker_with_and_without_a_hook)
{
	static const char *const rules[] = {
		"capture user = $1 at a.B::*\n",
		"capture user = $5.length() at a.B::*(int, ..)\ncapture two = $2 at a.B::*(int, ..)\n"
		"capture three = $6[0] at a.B::whole\n",
		"capture user = $1 at a.B::*\ncapture two = $8 at a.B::plain\n"
		"hook a.B::* if $user == 3 and $two > 'a' full\n",
		"capture user = $1 at a.B::<init>\nhook a.B::<init> if $1 > 3\n",
	};

	for (size_t i = 0; i < COUNT(rules); i++) {
		for (size_t v = 0; v < COUNT(majors); v++) {
			struct fixture t;

			if (open_rules(&t, rules[i]))
				CHECK(weave(&t, majors[v], rules[i]) > 0);
			close_rules(&t);
		}
	}
}

TEST(a_condition_that_does_not_fit_leaves_the_method_alone)
{
	static const struct {
		const char *rule, *why;
	} cases[] = {
		{ "hook a.B::plain if $9 > 3\n", "there is no $9: a.B::plain has 8 parameters" },
		{ "hook a.B::common if $this.count > 3\n",
		  "a.B::common is static: there is no $this" },
		{ "hook a.B::plain if $5 > 3\n",
		  "$5 is of type java.lang.String, which is not a number" },
		{ "hook a.B::plain if $return == 1\n", "a.B::plain returns nothing" },
		{ "capture x = $9 at a.B::plain\n", "there is no $9: a.B::plain has 8 parameters" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fixture t;

		if (open_rules(&t, cases[i].rule)) {
			CHECK_INT(weave(&t, 61, cases[i].rule), 0, cases[i].rule);
			if (CHECK_INT(t.job.n_outcomes, 1, cases[i].rule)) {
				CHECK_INT(t.job.outcomes[0].rc, E_CONDITION, cases[i].rule);
				CHECK_STR(t.job.outcomes[0].why, cases[i].why, cases[i].rule);
			}
			CHECK_INT(t.out.n, 0, cases[i].rule);
		}
		close_rules(&t);
	}
}

/* ---- random conditions ---- */

static unsigned draw(uint64_t *seed, unsigned n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*seed >> 33) % n;
}

static void put_random(struct buf *out, uint64_t *seed, unsigned depth)
{
	static const char *const tests[] = { "$1 > 3",	    "$2 == 4",	     "$3 < 1.5",
					     "$5 == \"x\"", "$6.length > 1", "$7",
					     "$8 == 'c'",   "$1 in (1, 2)",  "$user == 1" };
	unsigned kind = depth ? draw(seed, 4) : 3, n = 2 + draw(seed, 3);

	if (kind == 3) {
		buf_text(out, tests[draw(seed, COUNT(tests))]);
	} else if (kind == 2) {
		buf_text(out, "not (");
		put_random(out, seed, depth - 1);
		buf_text(out, ")");
	} else {
		for (unsigned i = 0; i < n; i++) {
			buf_text(out, i ? (kind ? " and (" : " or (") : "(");
			put_random(out, seed, depth - 1);
			buf_text(out, ")");
		}
	}
}

TEST(random_conditions_pass_the_checker)
{
	uint64_t seed = 4711;

	for (int i = 0; i < (test_is_short() ? 40 : 300); i++) {
		struct buf text = { 0 };
		struct fixture t;

		buf_text(&text, "capture user = $1 at a.Other::m\nhook a.B::plain if ");
		put_random(&text, &seed, 4);
		buf_text(&text, "\n");
		buf_u8(&text, '\0');
		if (open_rules(&t, (const char *)text.p))
			CHECK_INT(weave(&t, 61, (const char *)text.p), 1, (const char *)text.p);
		close_rules(&t);
		buf_release(&text);
	}
}

TEST(weaving_conditions_survives_every_failed_allocation)
{
	static const char text[] =
		"capture user = $1 at a.B::*(int, ..)\n"
		"hook a.B::whole if $user == 3 and $5.length() > 2 and $return == 1\n";
	struct class_maker m;
	struct slice bytes = make(&m, 61);
	struct fixture t;
	int rc = E_NO_MEMORY;

	if (!open_rules(&t, text))
		return;
	for (long n = 0; rc == E_NO_MEMORY && n < 10000; n++) {
		struct arena mem, work;
		struct fault f = { 0 };

		arena_init(&mem);
		arena_init(&work);
		buf_clear(&t.out);
		t.job = (struct weave_job){
			.mem = &mem, .work = &work, .first_id = 1, .numbers = &numbers
		};
		mem_fail_at(n);
		rc = weave_class(&t.weaver, &t.job, bytes, &t.out, &f);
		mem_fail_at(-1);
		if (t.job.cls)
			class_release(t.job.cls);
		arena_release(&mem);
		arena_release(&work);
	}
	CHECK_INT(rc, 0, "at last");
	close_rules(&t);
	maker_release(&m);
}

/* What a hostile class file makes of it must be refused or pass; the sanitizers look at the
 * rest. */
TEST(conditions_survive_classes_with_changed_bytes)
{
	static const char text[] =
		"capture user = $5.length() at a.B::*\n"
		"hook a.B::* if $user == 3 and $this.count > 2 and $this.name == \"x\" and $1 > 3\n"
		"hook a.B::common if $1 > 3 or $8 == 'c' full\n"
		"hook a.B::whole if $return == 3 and $2 > 1 light\n";
	struct class_maker m;
	struct slice bytes = make(&m, 61);
	uint8_t *copy = mem_alloc(bytes.n);
	uint64_t seed = 99;
	struct fixture t;

	if (!open_rules(&t, text) || !CHECK(copy != NULL))
		return;
	for (int i = 0; i < (test_is_short() ? 300 : 3000); i++) {
		struct arena mem, work;
		struct fault f = { 0 };

		memcpy(copy, bytes.p, bytes.n);
		for (unsigned k = 1 + draw(&seed, 3); k; k--)
			copy[draw(&seed, (unsigned)bytes.n)] = (uint8_t)draw(&seed, 256);
		arena_init(&mem);
		arena_init(&work);
		buf_clear(&t.out);
		t.job = (struct weave_job){
			.mem = &mem, .work = &work, .first_id = 1, .numbers = &numbers
		};
		weave_class(&t.weaver, &t.job, (struct slice){ copy, bytes.n }, &t.out, &f);
		if (t.job.cls)
			class_release(t.job.cls);
		arena_release(&mem);
		arena_release(&work);
	}
	mem_free(copy);
	close_rules(&t);
	maker_release(&m);
}
