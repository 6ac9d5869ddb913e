/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - reads the agent's options.  Bounded by the fields; never fails. */
#include "agent/core/options.h"

#include <stdio.h>
#include <stdlib.h>

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes a value of n characters into out (cap bytes with the NUL); false: too long. */
static bool decode(const char *p, size_t n, char *out, size_t cap)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		if (c == '%' && i + 2 < n && hex(p[i + 1]) >= 0 && hex(p[i + 2]) >= 0) {
			c = (char)(hex(p[i + 1]) << 4 | hex(p[i + 2]));
			i += 2;
		}
		if (k + 1 >= cap)
			return false;
		out[k++] = c;
	}
	out[k] = '\0';
	return true;
}

static void wrong(struct options *o, const char *what, const char *p, size_t n)
{
	if (!o->wrong[0])
		snprintf(o->wrong, sizeof(o->wrong), "%s: '%.*s'", what, n > 100 ? 100 : (int)n, p);
}

static bool is(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(p, word, n) == 0;
}

static bool parse_size(const char *text, size_t *out)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);

	if (end == text)
		return false;
	if (*end == 'k' || *end == 'K')
		v <<= 10, end++;
	else if (*end == 'm' || *end == 'M')
		v <<= 20, end++;
	if (*end || v < 64 << 10 || v > 1ull << 32)
		return false;
	*out = (size_t)v;
	return true;
}

/* "5%"; the sign may be left out */
static bool parse_share(const char *text, double *out)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text)
		return false;
	if (*end == '%')
		end++;
	if (*end || !(v > 0 && v <= 100))
		return false;
	*out = v / 100;
	return true;
}

void options_add_rules(struct options *o, const char *path)
{
	size_t at = 0;

	while (o->files[at])
		at += strlen(o->files + at) + 1;
	if (at + strlen(path) + 2 > sizeof(o->files)) {
		wrong(o, "too many rule files", path, strlen(path));
		return;
	}
	memcpy(o->files + at, path, strlen(path) + 1);
	o->files[at + strlen(path) + 1] = '\0';
}

static void take(struct options *o, const char *p, size_t n)
{
	const char *eq = memchr(p, '=', n);
	size_t key = eq ? (size_t)(eq - p) : n;
	char value[4096] = "";
	bool fits = !eq || decode(eq + 1, n - key - 1, value, sizeof(value));

	if (!fits)
		wrong(o, "option is too long", p, n);
	else if (is(p, key, "yes") && !eq)
		o->yes = true;
	else if (is(p, key, "jni") && !eq)
		o->jni = true;
	else if (is(p, key, "inplace") && !eq)
		o->in_place = true;
	else if (is(p, key, "steady") && !eq)
		o->steady = true;
	else if (is(p, key, "budget") && parse_share(value, &o->budget))
		return;
	else if (is(p, key, "rules") && value[0])
		options_add_rules(o, value);
	else if (is(p, key, "hook") && value[0])
		buf_printf(&o->rules, "%s\n", value);
	else if (is(p, key, "memory") && parse_size(value, &o->memory))
		return;
	else if (is(p, key, "cache") && value[0] && strlen(value) < sizeof(o->cache))
		memcpy(o->cache, value, strlen(value) + 1);
	else if (is(p, key, "cachelimit") && parse_size(value, &o->cache_limit))
		return;
	else if (is(p, key, "known") && value[0] && strlen(value) < sizeof(o->known))
		memcpy(o->known, value, strlen(value) + 1);
	else if (is(p, key, "app") && value[0] && strlen(value) < sizeof(o->app))
		memcpy(o->app, value, strlen(value) + 1);
	else if (is(p, key, "socket") && value[0] && strlen(value) < sizeof(o->socket))
		memcpy(o->socket, value, strlen(value) + 1);
	else if (is(p, key, "report") && value[0] && strlen(value) < sizeof(o->report))
		memcpy(o->report, value, strlen(value) + 1);
	else
		wrong(o, "option not understood", p, n);
}

void options_parse(struct options *o, const char *text)
{
	*o = (struct options){ 0 };
	while (text && *text) {
		size_t n = strcspn(text, ",");

		if (n)
			take(o, text, n);
		text += n + (text[n] == ',');
	}
}

void options_release(struct options *o)
{
	buf_release(&o->rules);
}
