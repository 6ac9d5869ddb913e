/* SPDX-License-Identifier: Apache-2.0 */
/* when.c - days are days of the calendar: yesterday at 14:05 is not always 24 h ago. */
#define _XOPEN_SOURCE 700 /* strptime */
#include "cli/hot/when.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "cli/screen/figures.h"

#define SECOND UINT64_C(1000000000)

static bool local_time(uint64_t ns, struct tm *out)
{
	time_t t = (time_t)(ns / SECOND);

	return localtime_r(&t, out) != NULL;
}

static bool from_local(struct tm t, uint64_t *out)
{
	time_t seconds;

	t.tm_isdst = -1;
	seconds = mktime(&t);
	if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / SECOND)
		return false;
	*out = (uint64_t)seconds * SECOND;
	return true;
}

/* "14:05" or "14:05:30", and nothing behind it, into t. */
static bool read_clock(const char *text, struct tm *t)
{
	struct tm read = { 0 };
	const char *end = strptime(text, "%H:%M:%S", &read);

	if (!end || *end) {
		read = (struct tm){ 0 };
		end = strptime(text, "%H:%M", &read);
	}
	if (!end || *end)
		return false;
	t->tm_hour = read.tm_hour;
	t->tm_min = read.tm_min;
	t->tm_sec = read.tm_sec;
	return true;
}

static bool at_clock(const char *text, uint64_t now, uint64_t *out)
{
	struct tm t;

	if (!local_time(now, &t) || !read_clock(text, &t) || !from_local(t, out))
		return false;
	if (*out <= now)
		return true;
	t.tm_mday--;
	return from_local(t, out);
}

static bool on_date(const char *text, uint64_t *out)
{
	struct tm t = { 0 };
	const char *end = strptime(text, "%Y-%m-%d", &t);

	if (!end || (*end && *end != 'T' && *end != ' '))
		return false;
	return (!*end || read_clock(end + 1, &t)) && from_local(t, out);
}

static bool the_day_before(const char *text, uint64_t now, uint64_t *out)
{
	static const char word[] = "yesterday";
	size_t n = sizeof(word) - 1;
	struct tm t;

	if (strncmp(text, word, n) != 0 || (text[n] && text[n] != ' ') || !local_time(now, &t))
		return false;
	t.tm_mday--;
	return (!text[n] || read_clock(text + n + 1, &t)) && from_local(t, out);
}

static bool so_long_before(const char *text, uint64_t now, uint64_t *out)
{
	uint64_t ns;

	if (text[0] != '-' || !figure_parse_time(text + 1, &ns) || ns > now)
		return false;
	*out = now - ns;
	return true;
}

bool when_parse(const char *text, uint64_t now, uint64_t *out)
{
	return so_long_before(text, now, out) || the_day_before(text, now, out) ||
	       on_date(text, out) || at_clock(text, now, out);
}

const char *when_text(char text[WHEN_TEXT], uint64_t ns)
{
	struct tm t;

	if (!local_time(ns, &t) || !strftime(text, WHEN_TEXT, "%Y-%m-%d %H:%M:%S", &t))
		memcpy(text, "?", 2);
	return text;
}
