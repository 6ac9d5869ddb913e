/* SPDX-License-Identifier: Apache-2.0 */
/* cxx_name.c - a symbol of 400 letters can stand for a text of 2^40: S0_ is all of an earlier type, which may
 * be two of a type before that.
 *
 * Nothing is parsed.  What a reference stands for was complete where it, or one with a higher number, stood
 * first, so it is no longer than the text was by then.  That is more than the truth, for symbols that
 * refer to very many different types even much more; they are shown as they are. */
#include "elf/cxx_name.h"

#include <stdint.h>

enum { NUMBERS = 128, PER_LETTER = 4 };

static const uint64_t most = 16 << 20;

struct sizes {
	uint64_t of[NUMBERS]; /* of what a number stands for, at most; 0: not known */
};

/* "S_", "S1A_": its length; 0: none stands here. */
static size_t reference(struct slice s, uint64_t *number)
{
	uint64_t v = 0;
	size_t i = 1;

	for (; i < s.n && s.p[i] != '_'; i++) {
		uint8_t c = s.p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')))
			return 0;
		v = v > NUMBERS ? v : v * 36 + (c <= '9' ? c - '0' + 0u : c - 'A' + 10u);
	}
	*number = i > 1 ? v + 1 : 0;
	return i < s.n ? i + 1 : 0;
}

static uint64_t size_of(struct sizes *k, uint64_t number, uint64_t now)
{
	uint64_t size = now;

	if (number >= NUMBERS)
		return now;
	for (uint64_t i = number; i < NUMBERS; i++)
		if (k->of[i] && k->of[i] < size)
			size = k->of[i];
	k->of[number] = size;
	return size;
}

bool cxx_name_is_modest(struct slice symbol)
{
	struct sizes types = { .of = { 0 } }, arguments = { .of = { 0 } };
	uint64_t size = 1, number;

	while (symbol.n && size <= most) {
		uint8_t c = *symbol.p;
		size_t n = c == 'S' || c == 'T' ? reference(symbol, &number) : 0;

		size += n ? size_of(c == 'S' ? &types : &arguments, number, size) : PER_LETTER;
		n = n ? n : 1;
		symbol = (struct slice){ symbol.p + n, symbol.n - n };
	}
	return size <= most;
}
