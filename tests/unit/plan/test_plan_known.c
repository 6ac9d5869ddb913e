/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of an application from before. */
#include "plan/dig/known.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "test.h"

#define WEB "shop.Web.handle(I)V"

static struct known_run run(uint64_t when, double mean)
{
	return (struct known_run){ when, 100, mean, mean / 2, mean * 3 };
}

static struct known_finding finding(uint64_t when, const char *text, const char *rules)
{
	return (struct known_finding){ when, slice_str(text), slice_str(rules), NULL };
}

static void add(struct known *k, uint64_t when, const char *text, const char *rules)
{
	struct known_finding f = finding(when, text, rules);

	known_add_finding(k, &f);
}

static const char all[] = "sonde-known 1\n"
			  "app shop.Main\n"
			  "finding 5 Web.handle, slowly\n"
			  "rule hook a.B::c timed\n"
			  "rule hook a.B::d timed\n"
			  "past 7 100 1000 500 3000 shop.Cart.add()V\n"
			  "past 6 100 2000 1000 6000 " WEB "\n"
			  "past 8 100 4000 2000 12000 " WEB "\n";

TEST(known_is_read_and_written_the_same)
{
	struct buf out = { 0 };
	struct known k;

	known_init(&k, slice_str("shop.Main"));
	CHECK_INT(known_read(&k, slice_str(all)), 0, NULL);
	known_print(&k, &out);
	CHECK_MEM(out.p, out.n, all, sizeof(all) - 1, NULL);
	buf_release(&out);
	known_release(&k);
}

TEST(known_of_another_application_or_of_no_kind_is_refused)
{
	static const char *const texts[] = { "",
					     "\n",
					     "sonde-known 2\napp shop.Main\n",
					     "sonde-known 1\napp shop.Other\n",
					     "sonde-known 1\napp \n",
					     "app shop.Main\n" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct known k;

		known_init(&k, slice_str("shop.Main"));
		CHECK_INT(known_read(&k, slice_str(texts[i])), E_SYNTAX, texts[i]);
		known_release(&k);
	}
}

TEST(known_passes_over_lines_that_it_does_not_understand)
{
	static const char text[] =
		"sonde-known 1\napp shop.Main\nrule hook a::lost timed\nlater 1 2\n"
		"past x 100 1 1 1 a.B.c()V\npast 1 2\npast 1 100 -1 1 1 a.B.c()V\n"
		"past 1 100 1e99 1 1 a.B.c()V\nfinding x\nrule hook a::lost timed\n"
		"finding 3 told\nrule hook a::kept timed";
	struct buf out = { 0 };
	struct known k;

	known_init(&k, slice_str("shop.Main"));
	CHECK_INT(known_read(&k, slice_str(text)), 0, NULL);
	CHECK_INT(k.n_past, 0, NULL);
	CHECK_INT(k.n_findings, 1, NULL);
	known_print_rules(&k, &out);
	CHECK_MEM(out.p, out.n, "# told\nhook a::kept timed\n", 26, NULL);
	buf_release(&out);
	known_release(&k);
}

TEST(known_rules_are_told_once_and_the_newest_last)
{
	static const char want[] =
		"# one\nhook b::m timed\n# two\nhook a::m timed\nhook c::m timed\n";
	struct buf out = { 0 };
	struct known k;

	known_init(&k, slice_str("shop.Main"));
	add(&k, 1, "one", "hook a::m timed\nhook b::m timed\n");
	add(&k, 2, "two", "hook a::m timed\nhook c::m timed\n");
	known_print_rules(&k, &out);
	CHECK_MEM(out.p, out.n, want, sizeof(want) - 1, NULL);
	buf_release(&out);
	known_release(&k);
}

TEST(known_finding_takes_the_place_of_the_same_one_and_of_the_oldest)
{
	struct known k;
	char text[32];

	known_init(&k, slice_str("shop.Main"));
	add(&k, 1, "old", "hook a::m timed\n");
	add(&k, 2, "new", "hook a::m timed\n");
	CHECK_INT(k.n_findings, 1, NULL);
	CHECK(slice_is(k.findings->text, "new"));
	for (unsigned i = 0; i < KNOWN_FINDINGS; i++) {
		snprintf(text, sizeof(text), "hook b::m%u timed\n", i);
		add(&k, 3 + i, "more", text);
	}
	CHECK_INT(k.n_findings, KNOWN_FINDINGS, NULL);
	CHECK_INT(k.findings->when, 3, "the oldest has gone");
	known_release(&k);
}

TEST(known_past_keeps_the_last_runs_of_the_last_methods)
{
	struct known_run r;
	struct known k;
	char name[40];

	known_init(&k, slice_str("shop.Main"));
	for (unsigned i = 0; i < KNOWN_METHODS + 5; i++) {
		r = run(i, 1000);
		snprintf(name, sizeof(name), "a.B.m%u()V", i);
		known_set_run(&k, slice_str(name), &r, 0);
	}
	CHECK_INT(k.n_past, KNOWN_METHODS, NULL);
	CHECK(!known_past_of(&k, slice_str("a.B.m4()V")));
	CHECK(known_past_of(&k, slice_str("a.B.m5()V")) != NULL);
	for (unsigned i = 0; i < KNOWN_RUNS + 3; i++) {
		r = run(1000 + i, 1000);
		known_set_run(&k, slice_str(WEB), &r, 0);
	}
	CHECK_INT(known_past_of(&k, slice_str(WEB))->n, KNOWN_RUNS, NULL);
	CHECK_INT(known_past_of(&k, slice_str(WEB))->runs[0].when, 1003, NULL);
	r = run(1020, 5000);
	known_set_run(&k, slice_str(WEB), &r, 600);
	CHECK_INT(known_past_of(&k, slice_str(WEB))->runs[KNOWN_RUNS - 1].when, 1020,
		  "in place of one that is not ten minutes old");
	CHECK_INT(known_past_of(&k, slice_str(WEB))->n, KNOWN_RUNS, NULL);
	r.calls = KNOWN_CALLS - 1;
	r.when = 9999;
	known_set_run(&k, slice_str(WEB), &r, 0);
	CHECK_INT(known_past_of(&k, slice_str(WEB))->runs[KNOWN_RUNS - 1].when, 1020,
		  "too few calls");
	known_release(&k);
}

TEST(known_past_is_broken_by_what_is_far_outside_of_it)
{
	static const struct {
		double past[4], now;
		bool broken;
	} cases[] = {
		{ { 5e6, 6e6, 5e6, 0 }, 20e6, true },
		{ { 5e6, 6e6, 5e6, 0 }, 8e6, false },	/* not twice as long */
		{ { 5e6, 6e6, 15e6, 0 }, 20e6, false }, /* it was nearly so once */
		{ { 5e6, 6e6, 0, 0 }, 90e6, false },	/* two looks are nothing to go by */
		{ { 5e4, 6e4, 5e4, 0 }, 20e4, false },	/* nobody would notice */
	};

	CHECK(!known_is_broken(NULL, &(struct known_run){ 1, 100, 1e9, 1e9, 1e9 }));
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct known_run now = run(99, cases[i].now), r;
		struct known k;

		known_init(&k, slice_str("shop.Main"));
		for (unsigned n = 0; n < 4 && cases[i].past[n] > 0; n++) {
			r = run(n, cases[i].past[n]);
			known_set_run(&k, slice_str(WEB), &r, 0);
		}
		CHECK_INT(known_is_broken(known_past_of(&k, slice_str(WEB)), &now), cases[i].broken,
			  NULL);
		now.calls = KNOWN_CALLS_NOW - 1;
		CHECK(!known_is_broken(known_past_of(&k, slice_str(WEB)), &now));
		known_release(&k);
	}
}

TEST(known_survives_every_failed_allocation)
{
	for (long n = 0; n < 60; n++) {
		struct buf out = { 0 };
		struct known k;

		mem_fail_at(n);
		known_init(&k, slice_str("shop.Main"));
		(void)known_read(&k, slice_str(all));
		add(&k, 9, "more", "hook x::m timed\n");
		known_print(&k, &out);
		known_print_rules(&k, &out);
		mem_fail_at(-1);
		buf_release(&out);
		known_release(&k);
	}
}

/* Whatever a program says of itself, the text has the lines that it would have otherwise. */
TEST(known_lets_no_name_begin_a_line)
{
	static const char evil[] = "x\nrule template evil from \"/tmp/Evil.class\"\nfinding 1 y";
	struct known_run r = run(1, 1000);
	struct buf text = { 0 }, rules = { 0 };
	struct known k, again;

	known_init(&k, slice_str(evil));
	add(&k, 1, evil, "hook a::b timed\n");
	add(&k, 2, "two",
	    "template evil from \"/tmp/Evil.class\"\nhook a::b template evil timed\n");
	add(&k, 3, "three", "hook a::c timed\n\ttemplate evil\nskip a.**\n");
	known_set_run(&k, slice_str(evil), &r, 0);
	known_print(&k, &text);
	buf_u8(&text, 0);
	CHECK(!text.err && !strstr((char *)text.p, "\nrule template") && k.n_past == 0);
	known_print_rules(&k, &rules);
	buf_u8(&rules, 0);
	CHECK(strncmp((char *)rules.p, "# x?rule template", 17) == 0);
	CHECK(!strstr((char *)rules.p, "\ntemplate") && !strstr((char *)rules.p, "\tt"));
	CHECK(strstr((char *)rules.p, "\nhook a::b timed\n") &&
	      strstr((char *)rules.p, "\nhook a::c"));
	text.n--;
	known_init(&again, k.app);
	CHECK_INT(known_read(&again, buf_slice(&text)), 0, NULL);
	CHECK_INT(again.n_findings, 3, NULL);
	known_release(&again);
	known_release(&k);
	buf_release(&text);
	buf_release(&rules);
}

TEST(known_reads_no_rule_that_may_not_be_kept)
{
	static const char text[] = "sonde-known 1\napp shop.Main\nfinding 3 told\n"
				   "rule template evil from \"/tmp/Evil.class\"\n"
				   "rule hook a::b template evil\n"
				   "rule  template evil\n"
				   "rule hook a::b if $1.delete!() timed\n"
				   "rule live a.**\n"
				   "rule hook a::b if $1.size() > 3 timed\n";
	struct buf out = { 0 };
	struct known k;

	known_init(&k, slice_str("shop.Main"));
	CHECK_INT(known_read(&k, slice_str(text)), 0, NULL);
	known_print_rules(&k, &out);
	buf_u8(&out, 0);
	CHECK_STR((char *)out.p, "# told\nhook a::b if $1.size() > 3 timed\n", NULL);
	buf_release(&out);
	known_release(&k);
}
