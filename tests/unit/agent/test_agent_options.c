/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/core/options.h"

#include "test.h"

TEST(options_are_read_and_decoded)
{
	struct options o;

	options_parse(&o,
		      "hook=hook%20a.B::c%20timed%2C,rules=/r%2Cx.rules,rules=two,memory=2m,yes,"
		      "socket=/s,report=/tmp/r,budget=5%");
	CHECK_MEM(o.rules.p, o.rules.n, "hook a.B::c timed,\n", 19, NULL);
	CHECK_STR(o.files, "/r,x.rules", NULL);
	CHECK_STR(o.files + 11, "two", NULL);
	CHECK_INT(o.files[15], 0, "the end of the list");
	CHECK_INT(o.memory, 2 << 20, NULL);
	CHECK(o.yes);
	CHECK(o.budget == 0.05);
	CHECK_STR(o.socket, "/s", NULL);
	CHECK_STR(o.report, "/tmp/r", NULL);
	CHECK_STR(o.wrong, "", NULL);
	options_release(&o);
}

TEST(options_that_are_wrong_are_told_and_passed_over)
{
	static const struct {
		const char *text, *wrong;
	} cases[] = {
		{ NULL, "" },
		{ "", "" },
		{ ",,", "" },
		{ "yse,memory=1m", "option not understood: 'yse'" },
		{ "memory=,memory=1m", "option not understood: 'memory='" },
		{ "memory=1,memory=1m", "option not understood: 'memory=1'" },
		{ "memory=99999999999999999999m,memory=1m",
		  "option not understood: 'memory=99999999999999999999m'" },
		{ "budget=0,memory=1m", "option not understood: 'budget=0'" },
		{ "hook=", "option not understood: 'hook='" },
		{ "yes=1", "option not understood: 'yes=1'" },
		{ "=x", "option not understood: '=x'" },
		{ "hook=%4", "" },
		{ "hook=%zz%", "" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct options o;

		options_parse(&o, cases[i].text);
		CHECK_STR(o.wrong, cases[i].wrong, cases[i].text);
		if (cases[i].text && strstr(cases[i].text, "memory=1m"))
			CHECK_INT(o.memory, 1 << 20, "what follows is read");
		options_release(&o);
	}
}

TEST(options_too_long_do_no_harm)
{
	char text[20000];
	struct options o;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "hook=", 5);
	options_parse(&o, text);
	CHECK(strstr(o.wrong, "too long") != NULL);
	CHECK_INT(o.rules.n, 0, NULL);
	options_release(&o);
	for (size_t i = 0; i + 12 < sizeof(text); i += 12)
		memcpy(text + i, "rules=abcde,", 12);
	options_parse(&o, text);
	CHECK(strstr(o.wrong, "too many rule files") != NULL);
	options_release(&o);
}
