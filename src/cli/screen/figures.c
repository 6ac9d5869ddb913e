/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - numbers, times and shares as people read them. */
#include "cli/screen/figures.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "cli/screen/cli.h"

struct unit {
	double size; /* in the smallest one */
	double from; /* what is smaller, after rounding, goes to the unit before */
	const char *name;
};

static const struct unit times[] = {
	{ 1, 0, "ns" },
	{ 1e3, 1e3, "us" },
	{ 1e6, 1e6, "ms" },
	{ 1e9, 1e9, "s" },
	{ 60e9, 100e9, "min" },
	{ 3600e9, 6000e9, "h" },
	{ 86400e9, 172800e9, "d" },
};

static const struct unit counts[] = {
	{ 1, 0, "" }, { 1e3, 1e3, "k" }, { 1e6, 1e6, "M" }, { 1e9, 1e9, "G" }, { 1e12, 1e12, "T" },
};

static const struct unit bytes[] = {
	{ 1, 0, "B" },	    { 1e3, 1e3, "kB" },	  { 1e6, 1e6, "MB" },
	{ 1e9, 1e9, "GB" }, { 1e12, 1e12, "TB" },
};

/* To three digits. */
static double rounded(double v)
{
	double step = v >= 1 ? pow(10, floor(log10(v)) - 2) : 0.01;

	return round(v / step) * step;
}

static const char *with_unit(char *text, double v, const struct unit *units, size_t n)
{
	const struct unit *u = &units[0];
	double shown;
	int digits;

	if (!(v > 0))
		v = 0;
	while (u + 1 < units + n && rounded(v / u->size) * u->size >= u[1].from)
		u++;
	shown = rounded(v / u->size);
	digits = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
	if (u == &units[0])
		digits = shown == floor(shown) || shown >= 99.95 ? 0 : 1; /* "7 ns", "2.4 ns" */
	snprintf(text, FIGURE_MAX, "%.*f%s%s", digits, shown, *u->name ? " " : "", u->name);
	return text;
}

const char *figure_time(char text[FIGURE_MAX], double ns)
{
	return with_unit(text, ns, times, COUNT(times));
}

const char *figure_age(char text[FIGURE_MAX], uint64_t ns)
{
	unsigned long long s = ns / 1000000000;

	if (s == 0)
		snprintf(text, FIGURE_MAX, "%llu ms", (unsigned long long)ns / 1000000);
	else if (s < 60)
		snprintf(text, FIGURE_MAX, "%llu s", s);
	else if (s < 3600)
		snprintf(text, FIGURE_MAX, "%llu min %llu s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, FIGURE_MAX, "%llu h %llu min", s / 3600, s / 60 % 60);
	else
		snprintf(text, FIGURE_MAX, "%llu d %llu h", s / 86400, s / 3600 % 24);
	return text;
}

const char *figure_bound(char text[FIGURE_MAX], double ns)
{
	char time[FIGURE_MAX];

	snprintf(text, FIGURE_MAX, "< %.*s", FIGURE_MAX - 3, figure_time(time, fmax(ns, 1)));
	return text;
}

const char *figure_count(char text[FIGURE_MAX], uint64_t n)
{
	if (n < 10000000)
		return cli_number(text, n);
	return with_unit(text, (double)n, counts, COUNT(counts));
}

const char *figure_rate(char text[FIGURE_MAX], double per_second)
{
	if (per_second >= 1000 && per_second < 99999.5)
		return cli_number(text, (uint64_t)(per_second + 0.5));
	return with_unit(text, per_second, counts, COUNT(counts));
}

const char *figure_share(char text[FIGURE_MAX], double share)
{
	double percent = 100 * share;

	if (percent > 0 && percent < 0.05)
		snprintf(text, FIGURE_MAX, "<0.1 %%");
	else
		snprintf(text, FIGURE_MAX, percent < 99.95 ? "%.1f %%" : "%.0f %%", percent);
	return text;
}

const char *figure_bytes(char text[FIGURE_MAX], uint64_t n)
{
	return with_unit(text, (double)n, bytes, COUNT(bytes));
}

const char *figure_of(char text[2 * FIGURE_MAX], uint64_t n, const char *one)
{
	size_t len = strlen(one);
	char number[32];

	snprintf(text, 2 * FIGURE_MAX, "%s %s%s", cli_number(number, n), one,
		 n == 1			      ? ""
		 : len && one[len - 1] == 's' ? "es"
					      : "s");
	return text;
}

const char *figure_margin(char text[FIGURE_MAX], double share, bool utf8)
{
	double percent = 100 * share;

	snprintf(text, FIGURE_MAX, percent < 0.95 ? "%s%.1f %%" : "%s%.0f %%",
		 utf8 ? "\302\261" : "+-", percent);
	return text;
}

bool figure_parse_share(const char *text, double *out)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end && (end[0] != '%' || end[1])) || !(v > 0 && v <= 100))
		return false;
	*out = v / 100;
	return true;
}

bool figure_parse_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double size;
	} units[] = {
		{ "ns", 1 },   { "us", 1e3 },	{ "ms", 1e6 },	 { "s", 1e9 },
		{ "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 },
	};
	char *end;
	double v;

	if (!isdigit((unsigned char)text[0]))
		return false;
	v = strtod(text, &end);
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return false;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < COUNT(units); i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		v *= units[i].size;
		if (!(v <= 366 * 86400e9))
			return false;
		*ns = (uint64_t)(v + 0.5);
		return true;
	}
	return false;
}
