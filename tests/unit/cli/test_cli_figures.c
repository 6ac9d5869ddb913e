/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_figures.c - numbers and times as people read them. */
#include "cli/screen/figures.h"

#include "test.h"

TEST(times_have_three_digits_and_the_nearest_unit)
{
	static const struct {
		double ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ns" },	       { 1, "1 ns" },	       { 2.4, "2.4 ns" },
		{ 51.6, "51.6 ns" },   { 812, "812 ns" },      { 999, "999 ns" },
		{ 999.7, "1.00 us" },  { 1000, "1.00 us" },    { 1214, "1.21 us" },
		{ 12340, "12.3 us" },  { 99950, "100 us" },    { 999499, "999 us" },
		{ 999600, "1.00 ms" }, { 812e6, "812 ms" },    { 1.21e9, "1.21 s" },
		{ 99.4e9, "99.4 s" },  { 100e9, "1.67 min" },  { 5999e9, "1.67 h" },
		{ 7200e9, "2.00 h" },  { 172800e9, "2.00 d" }, { 1e18, "11600 d" },
		{ -5, "0 ns" },
	};
	char text[FIGURE_MAX];

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_STR(figure_time(text, cases[i].ns), cases[i].text, cases[i].text);
}

TEST(counts_are_exact_below_ten_millions)
{
	char text[FIGURE_MAX];

	CHECK_STR(figure_count(text, 0), "0", NULL);
	CHECK_STR(figure_count(text, 1234), "1,234", NULL);
	CHECK_STR(figure_count(text, 9999999), "9,999,999", NULL);
	CHECK_STR(figure_count(text, 10000000), "10.0 M", NULL);
	CHECK_STR(figure_count(text, 1234567890123), "1.23 T", NULL);
	CHECK_STR(figure_count(text, UINT64_MAX), "18400000 T", "nothing is beyond T");
}

TEST(rates_shares_margins_and_bytes_are_short)
{
	char text[FIGURE_MAX];

	CHECK_STR(figure_rate(text, 0), "0", NULL);
	CHECK_STR(figure_rate(text, 0.25), "0.2", NULL);
	CHECK_STR(figure_rate(text, 636.4), "636", NULL);
	CHECK_STR(figure_rate(text, 25437.6), "25,438", NULL);
	CHECK_STR(figure_rate(text, 1.5e6), "1.50 M", NULL);
	CHECK_STR(figure_share(text, 0), "0.0 %", NULL);
	CHECK_STR(figure_share(text, 0.0001), "<0.1 %", NULL);
	CHECK_STR(figure_share(text, 0.031), "3.1 %", NULL);
	CHECK_STR(figure_share(text, 1), "100 %", NULL);
	CHECK_STR(figure_margin(text, 0.03, false), "+-3 %", NULL);
	CHECK_STR(figure_margin(text, 0.004, true), "\302\2610.4 %", NULL);
	CHECK_STR(figure_bytes(text, 999), "999 B", NULL);
	CHECK_STR(figure_bytes(text, 12345678), "12.3 MB", NULL);
}

TEST(times_are_read_with_their_unit_only)
{
	static const struct {
		const char *text;
		long long ns; /* -1: refused */
	} cases[] = {
		{ "10ms", 10000000 },
		{ "1.5s", 1500000000 },
		{ "2m", 120000000000 },
		{ "2 min", 120000000000 },
		{ "7ns", 7 },
		{ "1h", 3600000000000 },
		{ "0s", 0 },
		{ "10", -1 },
		{ "", -1 },
		{ "ms", -1 },
		{ "-1s", -1 },
		{ "0x10s", -1 },
		{ "1e99s", -1 },
		{ "10msx", -1 },
		{ "nan s", -1 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint64_t ns = 0;
		bool good = figure_parse_time(cases[i].text, &ns);

		CHECK_INT(good ? (long long)ns : -1, cases[i].ns, cases[i].text);
	}
}

TEST(shares_are_read_as_percent)
{
	double share = 0;

	CHECK(figure_parse_share("1%", &share));
	CHECK(share > 0.0099 && share < 0.0101);
	CHECK(figure_parse_share("2.5", &share));
	CHECK(share > 0.0249 && share < 0.0251);
	CHECK(!figure_parse_share("", &share));
	CHECK(!figure_parse_share("0%", &share));
	CHECK(!figure_parse_share("101%", &share));
	CHECK(!figure_parse_share("1%%", &share));
	CHECK(!figure_parse_share("nan", &share));
}

TEST(figures_say_no_bound_below_a_nanosecond)
{
	char text[FIGURE_MAX];

	CHECK_STR(figure_bound(text, 0.001), "< 1 ns", NULL);
	CHECK_STR(figure_bound(text, 0), "< 1 ns", NULL);
	CHECK_STR(figure_bound(text, 4910), "< 4.91 us", NULL);
}

TEST(words_are_plural_behind_all_numbers_but_one)
{
	char text[2 * FIGURE_MAX];

	CHECK_STR(figure_of(text, 1, "thread"), "1 thread", NULL);
	CHECK_STR(figure_of(text, 0, "thread"), "0 threads", NULL);
	CHECK_STR(figure_of(text, 1204, "class"), "1,204 classes", NULL);
}

TEST(an_age_has_two_units_at_most_and_blanks_before_them)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0 ms" },
		{ 305000000, "305 ms" },
		{ 59999999999, "59 s" },
		{ 200000000000, "3 min 20 s" },
		{ 18120000000000, "5 h 2 min" },
		{ 356400000000000, "4 d 3 h" },
	};
	char text[FIGURE_MAX];

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_STR(figure_age(text, cases[i].ns), cases[i].text, NULL);
}
