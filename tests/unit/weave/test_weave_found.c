/* SPDX-License-Identifier: Apache-2.0 */
/* What real programs and mutants have found in weaving. */
#include "classes.h"
#include "test.h"

#include "classfile/check/check.h"
#include "weave/weave.h"

struct weaving {
	struct arena mem, work;
	struct weaver weaver;
	struct weave_job job;
	struct buf out;
	int rc;
};

/* Weaves the made class by a rule, as the job says. */
static void weave_by(struct weaving *w, struct class_maker *m, const char *rule,
		     struct weave_job job)
{
	static struct rule_errors errors;
	struct fault f = { 0 };
	struct rules *rules;

	arena_init(&w->mem);
	arena_init(&w->work);
	buf_init(&w->out);
	job.mem = &w->mem;
	job.work = &w->work;
	job.first_id = 1;
	w->job = job;
	CHECK_INT(rules_parse(&w->mem, slice_str(rule), "test", &rules, &errors), 0, "rules");
	CHECK_INT(weaver_init(&w->weaver, &w->mem, rules, NULL, NULL, &f), 0, f.text);
	w->rc = weave_class(&w->weaver, &w->job, maker_bytes(m), &w->out, &f);
	CHECK_INT(w->rc, 0, f.text);
}

static void weave(struct weaving *w, struct class_maker *m)
{
	weave_by(w, m, "hook **::* timed\n", (struct weave_job){ 0 });
}

static void release(struct weaving *w, struct class_maker *m)
{
	class_release(w->job.cls);
	weaver_release(&w->weaver);
	arena_release(&w->mem);
	arena_release(&w->work);
	buf_release(&w->out);
	maker_release(m);
}

/* Every method of the woven class passes our checker. */
static void check_woven(struct weaving *w)
{
	struct fault f = { 0 };
	struct class *cls;
	struct code *code;

	if (!CHECK_INT(class_read(&w->mem, buf_slice(&w->out), &cls, &f), 0, f.text))
		return;
	for (uint32_t i = 0; i < cls->n_methods; i++) {
		if (!CHECK_INT(code_elevate(cls, &cls->methods[i], &code, &f), 0, f.text))
			break;
		CHECK_INT(code_check(code, &f), 0, f.text);
	}
	class_release(cls);
}

/* Three values below the result and room for no more: the epilog's own needs come on top. */
TEST(a_lone_return_with_values_below_its_result_gets_the_stack_it_needs)
{
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 52);
	maker_code(&m, ACC_STATIC, "f", "()I",
		   (struct maker_code){
			   .code = BYTES(OP_ICONST_0, OP_ICONST_1, OP_ICONST_2, OP_IRETURN),
			   .max_stack = 3,
			   .max_locals = 1 });
	weave(&w, &m);
	CHECK_INT(w.job.n_woven, 1, "woven");
	check_woven(&w);
	release(&w, &m);
}

/* The subroutine leaves a value behind: 0 jsr 5; 3 iconst_1; 4 ireturn; 5 astore_0; 6 iconst_2;
 * 7 ret 0.  At the return two slots are taken. */
TEST(a_subroutine_may_leave_values_on_the_stack)
{
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 48);
	maker_code(&m, ACC_STATIC, "f", "()I",
		   (struct maker_code){ .code = BYTES(OP_JSR, U2(5), OP_ICONST_1, OP_IRETURN,
						      OP_ASTORE_0, OP_ICONST_2, OP_RET, 0),
					.max_stack = 2,
					.max_locals = 1 });
	weave(&w, &m);
	CHECK_INT(w.job.n_woven, 1, "woven");
	check_woven(&w);
	release(&w, &m);
}

TEST(an_empty_finalizer_is_left_alone)
{
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 52);
	maker_code(&m, ACC_PROTECTED, "finalize", "()V",
		   (struct maker_code){ .code = BYTES(OP_RETURN) });
	weave(&w, &m);
	CHECK_INT(w.job.n_woven, 0, "woven");
	if (CHECK_INT(w.job.n_outcomes, 1, "outcomes"))
		CHECK_INT(w.job.outcomes[0].rc, E_EMPTY_FINALIZER, "why");
	release(&w, &m);
}

/* The woven method has one StackMapTable, and it is this. */
static void check_frames_kept(struct weaving *w, struct slice table)
{
	struct class *cls;
	struct code *code;
	unsigned found = 0;

	if (!CHECK_INT(class_read(&w->mem, buf_slice(&w->out), &cls, NULL), 0, "read"))
		return;
	if (CHECK_INT(code_elevate(cls, &cls->methods[0], &code, NULL), 0, "elevate")) {
		for (uint32_t i = 0; i < code->n_tables; i++) {
			struct slice data = code->tables[i].attr.data;

			if (code->tables[i].attr.kind != ATTR_STACK_MAP_TABLE)
				continue;
			found++;
			CHECK_MEM(data.p, data.n, table.p, table.n, "frames");
		}
		CHECK_INT(found, 1, "tables");
	}
	class_release(cls);
}

/* A frame at offset 2, inside the ifeq: a JVM of today infers types instead. */
TEST(frames_of_version_50_that_make_no_sense_are_carried_along)
{
	struct slice frames = BYTES(U2(1), 2);
	struct maker_list tables = { 0 };
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 50);
	maker_attr(&m, &tables, "StackMapTable", frames);
	maker_code(&m, ACC_STATIC, "f", "()V",
		   (struct maker_code){
			   .code = BYTES(OP_ICONST_0, OP_IFEQ, U2(4), OP_RETURN, OP_RETURN),
			   .max_stack = 1,
			   .max_locals = 1,
			   .tables = &tables });
	weave(&w, &m);
	CHECK_INT(w.job.n_woven, 1, "woven");
	check_woven(&w);
	check_frames_kept(&w, frames);
	release(&w, &m);
}

TEST(the_probe_and_what_it_calls_are_never_woven)
{
	static const struct {
		const char *name;
		unsigned woven;
	} classes[] = {
		{ "java/util/SondeProbe", 0 }, { "java/util/SondeFast", 0 },
		{ "java/util/SondeText", 0 },  { "java/util/SondeText$1", 0 },
		{ "sonde/Here", 0 },	       { "java/util/Sorter", 1 },
		{ "sonde/Herein", 1 },
	};

	for (size_t i = 0; i < COUNT(classes); i++) {
		struct class_maker m;
		struct weaving w;

		maker_init(&m, classes[i].name, 52);
		maker_code(&m, ACC_STATIC, "f", "()V",
			   (struct maker_code){ .code = BYTES(OP_RETURN) });
		weave(&w, &m);
		CHECK_INT(w.job.n_woven, classes[i].woven, classes[i].name);
		release(&w, &m);
	}
}

/* Method "f" is the seventh; there are no numbers for others. */
static int32_t seventh(void *ctx, const struct class *cls, const struct member *m)
{
	(void)ctx;
	return slice_is(member_name(cls, m), "f") ? 7 : E_LIMIT;
}

TEST(numbers_may_be_asked_for_and_a_method_without_one_is_left_alone)
{
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 52);
	maker_code(&m, ACC_STATIC, "f", "()V", (struct maker_code){ .code = BYTES(OP_RETURN) });
	maker_code(&m, ACC_STATIC, "g", "()V", (struct maker_code){ .code = BYTES(OP_RETURN) });
	weave_by(&w, &m, "hook **::* timed\n", (struct weave_job){ .id_of = seventh });
	CHECK_INT(w.job.n_woven, 1, "woven");
	if (CHECK_INT(w.job.n_outcomes, 2, "outcomes")) {
		CHECK_INT(w.job.outcomes[0].rc, 0, "f");
		CHECK_INT(w.job.outcomes[0].id, 7, "its number");
		CHECK_INT(w.job.outcomes[1].rc, E_LIMIT, "g");
	}
	check_woven(&w);
	release(&w, &m);
}

/* Dead code may have any frame; this one has an uninitialised `this` on its stack.  Only in a
 * constructor does that mean that the prolog has not run. */
TEST(an_uninitialised_this_in_a_static_method_means_nothing)
{
	struct maker_list tables = { 0 };
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 52);
	maker_attr(&m, &tables, "StackMapTable", BYTES(U2(1), 64 + 1, 6));
	maker_code(&m, ACC_STATIC, "f", "()V",
		   (struct maker_code){ .code = BYTES(OP_RETURN, OP_POP, OP_RETURN),
					.max_stack = 1,
					.max_locals = 1,
					.tables = &tables });
	weave(&w, &m);
	CHECK_INT(w.job.n_woven, 1, "woven");
	check_woven(&w);
	release(&w, &m);
}

/* The template's locals come behind them, so all stand in every frame and every state. */
TEST(a_method_with_nearly_all_locals_is_woven_and_checked)
{
	static const uint16_t versions[] = { 46, 52 };

	for (size_t i = 0; i < COUNT(versions); i++) {
		struct maker_list tables = { 0 };
		struct class_maker m;
		struct weaving w;

		maker_init(&m, "a/B", versions[i]);
		if (versions[i] >= 50)
			maker_attr(&m, &tables, "StackMapTable", BYTES(U2(2), 5, 0));
		maker_code(&m, ACC_STATIC, "f", "(I)V",
			   (struct maker_code){ .code = BYTES(OP_ILOAD_0, OP_IFEQ, U2(4), OP_RETURN,
							      OP_RETURN, OP_RETURN),
						.max_stack = 1,
						.max_locals = 65500,
						.tables = versions[i] >= 50 ? &tables : NULL });
		weave(&w, &m);
		CHECK_INT(w.job.n_woven, 1, "woven");
		check_woven(&w);
		release(&w, &m);
	}
}

/* A branch that just reaches, over a return that becomes longer: 1 ifeq 32768; 5 ifne 10; 9
 * ireturn.  Single instructions are needed to make it long, and the template was stamped. */
TEST(a_branch_that_no_longer_reaches_is_made_long)
{
	static const uint8_t head[] = { OP_ILOAD_0, OP_IFEQ, U2(32767),	  OP_ILOAD_0,
					OP_IFNE,    U2(5),   OP_ICONST_0, OP_IRETURN };
	static uint8_t code[32770]; /* nops */
	struct maker_list tables = { 0 };
	struct class_maker m;
	struct weaving w;

	memcpy(code, head, sizeof(head));
	code[32768] = OP_ICONST_1;
	code[32769] = OP_IRETURN;
	maker_init(&m, "a/B", 52);
	maker_attr(&m, &tables, "StackMapTable", BYTES(U2(2), 10, 251, U2(32757)));
	maker_code(&m, ACC_STATIC, "f", "(I)I",
		   (struct maker_code){ .code = { code, sizeof(code) },
					.max_stack = 1,
					.max_locals = 1,
					.tables = &tables });
	weave(&w, &m);
	CHECK_INT(w.job.n_woven, 1, "woven");
	check_woven(&w);
	release(&w, &m);
}

/* The frame at 3 says that nothing is on the stack, but the handler at 2 falls into it with the
 * exception: 0 nop; 1 return; 2 nop; 3 return.  The handler has no frame, so types are inferred. */
TEST(wrong_frames_of_version_50_are_not_believed)
{
	struct maker_list tables = { 0 };
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 50);
	maker_attr(&m, &tables, "StackMapTable", BYTES(U2(1), 3));
	maker_code(&m, ACC_STATIC, "f", "()V",
		   (struct maker_code){ .code = BYTES(OP_NOP, OP_RETURN, OP_NOP, OP_RETURN),
					.handlers = BYTES(U2(0), U2(1), U2(2), U2(0)),
					.max_stack = 1,
					.tables = &tables });
	weave(&w, &m);
	CHECK_INT(w.job.n_woven, 1, "woven");
	check_woven(&w);
	release(&w, &m);
}

/* A value below the result of odd leaves no room for branches behind its body; h is abstract. */
static void make_four(struct class_maker *m)
{
	maker_init(m, "a/B", 52);
	maker_code(m, ACC_STATIC, "g", "(I)V", (struct maker_code){ .code = BYTES(OP_RETURN) });
	maker_code(m, ACC_STATIC, "f", "(I)V", (struct maker_code){ .code = BYTES(OP_RETURN) });
	maker_code(m, ACC_PUBLIC, "odd", "(I)I",
		   (struct maker_code){ .code = BYTES(OP_ICONST_0, OP_ICONST_0, OP_IRETURN) });
	maker_method(m, ACC_PUBLIC | ACC_ABSTRACT, "h", "()V", NULL);
}

TEST(a_class_woven_whole_has_hooks_where_no_rule_wants_them)
{
	static const struct {
		const char *rule, *f, *g, *odd;
		enum weave_whole whole;
		uint32_t outcomes;
	} cases[] = {
		{ "hook **::f light", "light", NULL, NULL, WHOLE_NO, 1 },
		{ "hook **::f light", "timed", "timed", "timed", WHOLE_TIMED, 3 },
		{ "hook **::f timed", "timed", "timed", "timed", WHOLE_TIMED, 3 },
		{ "hook **::f timed", "whole", "whole", "timed", WHOLE_FULL, 3 },
		{ "hook **::f full", "full", NULL, NULL, WHOLE_NO, 1 },
		{ "hook **::f full", "whole", "whole", "timed", WHOLE_FULL, 3 },
		{ "hook **::odd full", "whole", "whole", "full", WHOLE_FULL, 3 },
		{ "hook **::f full template catch-all", "whole", "whole", "timed", WHOLE_FULL, 3 },
		{ "hook **::f timed template arguments", "arguments", "whole", "timed", WHOLE_FULL,
		  3 },
		{ "hook **::none light", NULL, NULL, NULL, WHOLE_FULL, 0 },
		{ "hook **::h timed", NULL, NULL, NULL, WHOLE_FULL, 1 }, /* it is left alone */
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *want[] = { cases[i].g, cases[i].f, cases[i].odd, NULL };
		struct class_maker m;
		struct weaving w;

		make_four(&m);
		weave_by(&w, &m, cases[i].rule, (struct weave_job){ .whole = cases[i].whole });
		CHECK_INT(w.job.n_outcomes, cases[i].outcomes, cases[i].rule);
		for (uint32_t k = 0; k < w.job.n_outcomes; k++) {
			const struct weave_outcome *o = &w.job.outcomes[k];

			if (o->rc < 0)
				continue;
			CHECK_STR(o->got, want[o->method], cases[i].rule);
			CHECK_INT(o->rule != NULL, k == 0, cases[i].rule);
		}
		release(&w, &m);
	}
}

TEST(a_class_woven_whole_passes_the_checker)
{
	struct class_maker m;
	struct weaving w;

	maker_init(&m, "a/B", 52);
	maker_code(&m, ACC_STATIC, "g", "(IJ)V", (struct maker_code){ .code = BYTES(OP_RETURN) });
	maker_code(&m, ACC_STATIC, "f", "(D)V", (struct maker_code){ .code = BYTES(OP_RETURN) });
	weave_by(&w, &m, "hook **::f light", (struct weave_job){ .whole = WHOLE_FULL });
	CHECK_INT(w.job.n_woven, 2, "woven");
	check_woven(&w);
	release(&w, &m);
}

TEST(a_class_without_room_for_all_hooks_is_woven_in_part)
{
	struct class_maker m;
	struct weaving w;

	make_four(&m);
	weave_by(&w, &m, "hook **::f timed",
		 (struct weave_job){ .whole = WHOLE_TIMED, .id_of = seventh });
	CHECK_INT(w.job.n_outcomes, 1, "only what is wanted");
	CHECK(w.job.partly);
	release(&w, &m);
}
