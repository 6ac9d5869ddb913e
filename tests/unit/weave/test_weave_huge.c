/* SPDX-License-Identifier: Apache-2.0 */
/* Methods that HotSpot would not compile any more for the size of their hook. */
#include <stdio.h>

#include "classes.h"
#include "test.h"

#include "weave/weave.h"

enum { MOST = WEAVE_HUGE + 100 };

struct got {
	int rc;
	uint32_t was, now, woven;
	char template[40];
};

/* A static method ()V of so many bytes, under a rule; huge: of the weaver, or 1: as it comes. */
static struct got weave(const char *rule, uint32_t bytes, uint32_t huge)
{
	static struct rule_errors errors;
	static uint8_t code[MOST]; /* nops */
	struct got got = { .rc = 1 };
	struct class_maker m = { 0 };
	struct arena mem, work;
	struct weave_job job = { .mem = &mem, .work = &work, .first_id = 1 };
	struct buf out = { 0 };
	struct weaver weaver;
	struct rules *rules;

	arena_init(&mem);
	arena_init(&work);
	memset(code, OP_NOP, sizeof(code));
	code[bytes - 1] = OP_RETURN;
	maker_init(&m, "a/Huge", 52);
	maker_code(&m, ACC_STATIC, "f", "()V",
		   (struct maker_code){ .code = { code, bytes }, .max_stack = 1 });
	CHECK_INT(rules_parse(&mem, slice_str(rule), "test", &rules, &errors), 0, rule);
	CHECK_INT(weaver_init(&weaver, &mem, rules, NULL, NULL, NULL), 0, rule);
	if (huge != 1)
		weaver.huge = huge;
	CHECK_INT(weave_class(&weaver, &job, maker_bytes(&m), &out, NULL), 0, rule);
	if (CHECK_INT((int)job.n_outcomes, 1, rule)) {
		const struct weave_outcome *o = job.outcomes;

		got = (struct got){ o->rc, o->code_was, o->code_now, job.n_woven, "" };
		if (o->template)
			snprintf(got.template, sizeof(got.template), "%.*s",
				 SLICE_FMT(o->template->name));
		CHECK_INT(out.n != 0, o->rc >= 0, "a class that stays as it was is not written");
		CHECK_INT(o->why != NULL, o->rc < 0, "a reason");
	}
	class_release(job.cls);
	weaver_release(&weaver);
	buf_release(&out);
	arena_release(&work);
	arena_release(&mem);
	maker_release(&m);
	return got;
}

TEST(weave_tells_how_long_a_method_was_and_is)
{
	struct got got = weave("hook **::* light", 10, 1);

	CHECK_INT((int)got.was, 10, "before");
	CHECK_INT((int)got.now, 14, "an id and a call more");
}

TEST(a_hook_never_takes_a_method_past_the_size_that_is_compiled)
{
	static const char *const rules[] = { "hook **::* light", "hook **::* timed" };

	for (size_t i = 0; i < COUNT(rules); i++) {
		struct got small = weave(rules[i], 100, 1);
		uint32_t fits = WEAVE_HUGE - (small.now - small.was);
		struct got got = weave(rules[i], fits, 1);

		CHECK_INT(got.rc, 0, rules[i]);
		CHECK_INT((int)got.now, WEAVE_HUGE, rules[i]);
		got = weave(rules[i], fits + 1, 1);
		CHECK_INT(got.rc, E_HUGE, rules[i]);
		CHECK_INT((int)got.woven, 0, rules[i]);
		got = weave(rules[i], WEAVE_HUGE, 1);
		CHECK_INT(got.rc, E_HUGE, rules[i]);
	}
}

TEST(a_method_that_is_not_compiled_anyway_is_hooked)
{
	struct got got = weave("hook **::* timed", WEAVE_HUGE + 1, 1);

	CHECK_INT(got.rc, 0, "above the limit before");
	CHECK_INT(got.now > got.was, true, "longer");
}

TEST(a_method_without_room_for_the_hook_of_level_full_is_timed)
{
	struct got full = weave("hook **::* full", 100, 1),
		   timed = weave("hook **::* timed", 100, 1);
	uint32_t fits = WEAVE_HUGE - (timed.now - timed.was);
	struct got got = weave("hook **::* full", fits, 1);

	CHECK_INT(full.now > timed.now, true, "full is longer");
	CHECK_STR(full.template, "sonde/template/Full", "where there is room");
	CHECK_INT(got.rc, 0, "where there is little");
	CHECK_STR(got.template, "sonde/template/Timed", "where there is little");
	CHECK_INT((int)got.now, WEAVE_HUGE, "where there is little");
	CHECK_INT(weave("hook **::* full", fits + 1, 1).rc, E_HUGE, "where there is less");
}

TEST(the_limit_is_what_the_JVM_has)
{
	CHECK_INT(weave("hook **::* timed", WEAVE_HUGE, 0).rc, 0, "any size is compiled");
	CHECK_INT(weave("hook **::* timed", 100, 100).rc, E_HUGE, "100");
	CHECK_INT(weave("hook **::* timed", 101, 100).rc, 0, "above it");
	CHECK_INT(weave("hook **::* timed", 20, 100).rc, 0, "far below it");
}
