/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - what messages about text need: characters, safe quotation, the nearest known word.
 *
 * Pure functions over borrowed bytes; any bytes are allowed. */
#ifndef RULE_TEXT_H
#define RULE_TEXT_H

#include "base/slice.h"

/* A piece of input as it may stand in a message: in single quotes, at most 40 bytes of it,
 * everything unprintable as '?'. */
struct text_quoted {
	char s[64];
};
struct text_quoted text_quote(struct slice s);

/* Finds the word somebody probably meant.  Distance counts insertions, deletions, changes
 * and swapped neighbours; upper and lower case are the same. */
struct text_guess {
	struct slice word, best; /* best.p NULL: nothing is near enough */
	unsigned distance;
};
struct text_guess text_guess(struct slice word);
void text_guess_try(struct text_guess *g, struct slice candidate);

/* "did you mean 'timed'?", or "" without a guess; sigil stands before the word. */
void text_guess_hint(const struct text_guess *g, const char *sigil, char *out, size_t cap);

#endif
