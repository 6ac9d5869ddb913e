/* SPDX-License-Identifier: Apache-2.0 */
/* slice.h - a borrowed view of bytes.  Never owns; whoever made it says of what. */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
	const uint8_t *p;
	size_t n;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A view of a C string literal or buffer, without its NUL. */
static inline struct slice slice_str(const char *s)
{
	return (struct slice){ (const uint8_t *)s, strlen(s) };
}

/* Behind its last byte.  To add even 0 to no pointer is undefined. */
static inline const uint8_t *slice_end(struct slice s)
{
	return s.n ? s.p + s.n : s.p;
}

static inline bool slice_eq(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_is(struct slice a, const char *s)
{
	return slice_eq(a, slice_str(s));
}

static inline bool slice_starts(struct slice a, struct slice prefix)
{
	return a.n >= prefix.n && (prefix.n == 0 || memcmp(a.p, prefix.p, prefix.n) == 0);
}

static inline bool slice_ends(struct slice a, const char *suffix)
{
	size_t n = strlen(suffix);

	return a.n >= n && memcmp(a.p + a.n - n, suffix, n) == 0;
}

/* As in "a/b/C" to "a.b.C", or back. */
static inline void bytes_replace(void *bytes, size_t n, char from, char to)
{
	for (char *p = bytes, *end = p + n; p < end; p++)
		*p = *p == from ? to : *p;
}

static inline void text_replace(char *text, char from, char to)
{
	bytes_replace(text, strlen(text), from, to);
}

/* The order of the bytes: < 0, 0, > 0; what is a beginning of the other comes first. */
static inline int slice_cmp(struct slice a, struct slice b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* For printf's "%.*s". */
#define SLICE_FMT(s) (int)(s).n, (const char *)(s).p

#endif
