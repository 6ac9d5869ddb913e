/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>
#include <time.h>

#include "cli/hot/when.h"

#define SECOND UINT64_C(1000000000)
enum { NOW = 1763556330 }; /* 2025-11-19 12:45:30 UTC, 13:45:30 in Berlin */

static void in_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

TEST(moments_are_read_as_people_write_them)
{
	static const struct {
		const char *text;
		long long before; /* seconds before now */
	} cases[] = {
		{ "13:45:30", 0 },
		{ "13:45", 30 },
		{ "13:46", 86400 - 30 }, /* yesterday's */
		{ "0:00", 13 * 3600 + 45 * 60 + 30 },
		{ "yesterday", 86400 },
		{ "yesterday 13:45", 86400 + 30 },
		{ "2025-11-19", 13 * 3600 + 45 * 60 + 30 },
		{ "2025-11-19T13:00", 45 * 60 + 30 },
		{ "2025-11-18 13:45:30", 86400 },
		{ "-90s", 90 },
		{ "-2h", 7200 },
	};
	uint64_t ns;

	in_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	for (size_t i = 0; i < COUNT(cases); i++)
		if (CHECK(when_parse(cases[i].text, NOW * SECOND, &ns)))
			CHECK_INT(NOW - (long long)(ns / SECOND), cases[i].before, cases[i].text);
	in_zone("UTC");
}

TEST(what_is_no_moment_is_refused)
{
	static const char
		*const
			wrong[] = {
				"",	      "noon",	     "25:00",	   "13:45x",
				"-",	      "-2",	     "2h",	   "yesterdays",
				"2025-13-01", "2025-11-19X", "13:45:61:1", "shop.folded",
				"2600-01-01", "9999-12-31" /* behind what 64 bits of ns can say */
			};
	uint64_t ns;

	for (size_t i = 0; i < COUNT(wrong); i++)
		if (!CHECK(!when_parse(wrong[i], NOW * SECOND, &ns)))
			CHECK_STR(wrong[i], "", NULL);
}

/* On the day after clocks went back, the same time of day was 25 hours before. */
TEST(yesterday_is_a_day_of_the_calendar)
{
	enum { MONDAY = 1761562800 }; /* 2025-10-27 12:00 in Berlin */
	uint64_t ns;
	char text[WHEN_TEXT];

	in_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	CHECK(when_parse("yesterday 01:00", MONDAY * SECOND, &ns));
	CHECK_INT(MONDAY - (long long)(ns / SECOND), 36 * 3600, NULL);
	CHECK_STR(when_text(text, ns), "2025-10-26 01:00:00", NULL);
	in_zone("UTC");
}
