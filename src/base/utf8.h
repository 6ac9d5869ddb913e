/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - characters as bytes, and back. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is it a byte inside a character, not its first? */
static inline bool utf8_is_inner(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* How long the character is that begins with this byte, 1 to 4; 0: none does. */
static inline size_t utf8_length(uint8_t first)
{
	return first < 0x80	    ? 1
	       : first >> 5 == 0x6  ? 2
	       : first >> 4 == 0xe  ? 3
	       : first >> 3 == 0x1e ? 4
				    : 0;
}

/* The character at p, which may be any bytes: its length, and *c; 0: it is none, or too long a form,
 * or half of a surrogate pair. */
static inline size_t utf8_decode(const uint8_t *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = left ? utf8_length(p[0]) : 0;
	uint32_t v;

	if (n == 0 || n > left)
		return 0;
	v = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (!utf8_is_inner(p[i]))
			return 0;
		v = v << 6 | (p[i] & 0x3f);
	}
	*c = v;
	return v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000) ? 0 : n;
}

/* The length of the character at p; 0: the bytes are none. */
static inline size_t utf8_size(const uint8_t *p, const uint8_t *end)
{
	uint32_t c;

	return utf8_decode(p, (size_t)(end - p), &c);
}

/* Any number below 0x200000, surrogates as well; gives the length. */
static inline size_t utf8_encode(uint32_t c, uint8_t out[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (uint8_t)(0x80 | (c & 0x3f));
	out[0] = (uint8_t)(n == 1 ? c : (0xf00u >> n & 0xffu) | c);
	return n;
}

#endif
