/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_apps.c - the file of applications: its lines, and which one decides. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/apps.h"

static unsigned asked; /* how often the user was wanted */

static bool is_shop(void *ctx, struct slice user)
{
	(void)ctx;
	asked++;
	return slice_is(user, "shop");
}

/* The answer for one program: "attach", "skip" or the file of rules. */
static const char *answer(const char *text, const struct apps_program *program)
{
	static char rules_text[100];
	struct slice rules;

	if (!apps_mean(slice_str(text), program, &rules))
		return "no";
	if (!rules.n || rules.n >= sizeof(rules_text))
		return "yes";
	memcpy(rules_text, rules.p, rules.n);
	rules_text[rules.n] = '\0';
	return rules_text;
}

static const struct launch shop_main = { .kind = LAUNCH_CLASS,
					 .main = { (const uint8_t *)"com.shop.Main", 13 } };
static const struct launch shop_jar = { .kind = LAUNCH_JAR,
					.file = { (const uint8_t *)"../lib/shop-1.2.jar", 19 } };

static const struct {
	const char *text;
	const struct launch *launch;
	const char *want;
} cases[] = {
	{ "attach main com.shop.Main", &shop_main, "yes" },
	{ "attach main com.shop.*", &shop_main, "yes" },
	{ "attach main com.**", &shop_main, "yes" },
	{ "attach main **.Main", &shop_main, "yes" },
	{ "attach main com.*", &shop_main, "no" },
	{ "attach main com.shop.Mai", &shop_main, "no" },
	{ "attach main com.shop.Main", &shop_jar, "no" },
	{ "attach jar *.jar", &shop_main, "no" },
	{ "attach jar shop*.jar", &shop_jar, "yes" },
	{ "attach jar shop-1.?.jar", &shop_jar, "yes" },
	{ "attach jar shop.jar", &shop_jar, "no" },
	{ "attach jar lib/shop*.jar", &shop_jar, "yes" },
	{ "attach jar ib/shop*.jar", &shop_jar, "no" },
	{ "attach jar /srv/lib/shop*.jar", &shop_jar, "yes" },
	{ "attach jar /srv/*.jar", &shop_jar, "no" },
	{ "attach jar /srv/**.jar", &shop_jar, "yes" },
	{ "attach jar /**/lib/*", &shop_jar, "yes" },
	{ "attach dir /srv/my.shop", &shop_main, "yes" },
	{ "attach dir /srv/my.shop/", &shop_main, "yes" },
	{ "attach dir my.shop", &shop_main, "yes" },
	{ "attach dir shop", &shop_main, "no" },
	{ "attach dir /srv", &shop_main, "no" },
	{ "attach dir /srv/*", &shop_main, "yes" },
	{ "attach dir /srv/**", &shop_main, "yes" },
	{ "attach dir /srv/my.shop/**", &shop_main, "yes" },
	{ "attach dir /srv/my.shop/*", &shop_main, "no" },
	{ "attach dir /srv/myxshop", &shop_main, "no" }, /* a dot is a dot */
	{ "attach user shop", &shop_main, "yes" },
	{ "attach user root", &shop_main, "no" },
	{ "attach main com.shop.Main user root", &shop_main, "no" },
	{ "attach main com.shop.Main user shop dir /srv/**", &shop_main, "yes" },
	{ "attach all", &shop_main, "yes" },
	{ "skip all", &shop_main, "no" },
	{ "", &shop_main, "no" },
	{ "# attach all", &shop_main, "no" },
	{ "attach all # really", &shop_main, "yes" },
	{ "\tattach\tall\r\n", &shop_main, "yes" },
	{ "skip main com.shop.*\nattach all", &shop_main, "no" },
	{ "skip main org.gradle.**\nattach all", &shop_main, "yes" },
	{ "attach main com.shop.Main\nskip all", &shop_main, "yes" },
	{ "attach \"main\" \"com.shop.Main\"", &shop_main, "yes" },
	{ "attach all rules /etc/sonde/shop.rules", &shop_main, "/etc/sonde/shop.rules" },
	{ "attach all rules \"/etc/my shop.rules\"", &shop_main, "/etc/my shop.rules" },
	{ "attach main x rules /x\nattach all", &shop_main, "yes" },
	/* Wrong lines are passed over. */
	{ "atach main com.shop.Main\nattach all", &shop_main, "yes" },
	{ "skip main com.shop.Main nonsense\nattach all", &shop_main, "yes" },
	{ "attach main com.shop.Main \"\nskip all", &shop_main, "no" },
};

TEST(apps_first_line_that_fits_decides)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct apps_program p = { .launch = cases[i].launch,
					  .dir = slice_str("/srv/my.shop"),
					  .is_user = is_shop };

		CHECK_STR(answer(cases[i].text, &p), cases[i].want, cases[i].text);
	}
}

TEST(apps_ask_for_the_user_only_when_a_line_wants_to_know)
{
	struct apps_program p = { .launch = &shop_main, .dir = slice_str("/"), .is_user = is_shop };

	asked = 0;
	answer("attach main com.other.Main user shop\nattach all", &p);
	CHECK_INT(asked, 0, "the class did not fit");
	answer("attach main com.shop.Main user shop", &p);
	CHECK_INT(asked, 1, NULL);
}

static const struct {
	const char *line, *word, *text;
} wrong[] = {
	{ "atach all", "atach", "a line begins with" },
	{ "attach", "attach", "names no application" },
	{ "skip rules /x", "skip", "names no application" },
	{ "attach all main x", "attach", "'all' leaves nothing" },
	{ "skip all rules /x", "skip", "needs no rules" },
	{ "attach main", "main", "must stand behind" },
	{ "attach main # x", "main", "must stand behind" },
	{ "attach main \"\"", "main", "must stand behind" },
	{ "attach main a main b", "main", "twice" },
	{ "attach all rules /x rules /y", "rules", "twice" },
	{ "attach all rules shop.rules", "shop.rules", "full path" },
	{ "attach main a..b", "a..b", "two dots" },
	{ "attach jar ***", "***", "three stars" },
	{ "attach dir /", "/", "empty" },
	{ "attach main \"a", "\"a", "not closed" },
	{ "attach main a frob", "frob", "unknown word" },
};

TEST(apps_tell_what_is_wrong_and_where)
{
	struct arena mem;

	arena_init(&mem);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct apps_reader r = { .left = slice_str(wrong[i].line), .mem = &mem };
		struct apps_trouble t;
		struct apps_line line;

		if (!CHECK_INT(apps_next(&r, &line, &t), E_SYNTAX, wrong[i].line))
			continue;
		CHECK_MEM(t.word.p, t.word.n, wrong[i].word, strlen(wrong[i].word), wrong[i].line);
		if (!CHECK(strstr(t.text, wrong[i].text)))
			CHECK_STR(t.text, wrong[i].text, wrong[i].line);
	}
	arena_release(&mem);
}

TEST(apps_count_lines_with_comments_and_empty_ones)
{
	static const char text[] = "# one\n\nattach all\nnonsense\n  skip user x\n";
	struct apps_reader r = { .left = slice_str(text) };
	struct apps_trouble t;
	struct apps_line line;
	struct arena mem;

	arena_init(&mem);
	r.mem = &mem;
	CHECK_INT(apps_next(&r, &line, &t), 1, NULL);
	CHECK_INT(line.number, 3, NULL);
	CHECK_INT(apps_next(&r, &line, &t), E_SYNTAX, NULL);
	CHECK_INT(line.number, 4, NULL);
	CHECK_INT(apps_next(&r, &line, &t), 1, NULL);
	CHECK_INT(line.number, 5, NULL);
	CHECK_INT(apps_next(&r, &line, &t), 0, "the end");
	CHECK_INT(apps_next(&r, &line, &t), 0, "still the end");
	arena_release(&mem);
}

/* With a line that could not be read for want of memory, a later one must not decide. */
TEST(apps_mean_nothing_when_memory_is_short)
{
	struct apps_program p = { .launch = &shop_main, .dir = slice_str("/"), .is_user = is_shop };
	int failed = 0;

	for (long n = 0;; n++) {
		const char *got;

		mem_fail_at(n);
		got = answer("skip main com.*.Main\nattach all", &p);
		if (!mem_fail_hit())
			break;
		failed++;
		CHECK_STR(got, "no", "out of memory");
	}
	mem_fail_at(-1);
	CHECK(failed > 0);
}

TEST(apps_survive_any_bytes)
{
	static const char parts[] = "attach skip all main jar dir \"\n#*./\\\xff\xc3 [<";
	struct apps_program p = { .launch = &shop_jar,
				  .dir = slice_str("/srv"),
				  .is_user = is_shop };
	uint32_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		uint8_t text[64];
		struct slice rules;

		for (size_t i = 0; i < sizeof(text); i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = (uint8_t)parts[(seed >> 16) % (sizeof(parts) - 1)];
		}
		if (round % 2)
			memcpy(text, "attach jar ", 11);
		apps_mean((struct slice){ text, seed >> 26 }, &p, &rules);
	}
	CHECK(true);
}
