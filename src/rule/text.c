/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - quotation for messages, and edit distance.
 *
 * The distance is that of Damerau and Levenshtein in its restricted form, computed row by
 * row; words longer than GUESS_MAX, which no class should have, are not guessed at, so the
 * rows are small and fixed. */
#include "rule/text.h"

#include "base/utf8.h"

#include <stdio.h>

enum { QUOTE_MAX = 40, GUESS_MAX = 128 };

struct text_quoted text_quote(struct slice s)
{
	struct text_quoted q;
	size_t at = 0, i = 0;

	q.s[at++] = '\'';
	while (i < s.n && i < QUOTE_MAX) {
		size_t n = utf8_size(s.p + i, s.p + s.n);

		if (n == 0 || s.p[i] < 0x20 || s.p[i] == 0x7f) {
			q.s[at++] = '?';
			i++;
			continue;
		}
		memcpy(q.s + at, s.p + i, n);
		at += n;
		i += n;
	}
	if (i < s.n) {
		memcpy(q.s + at, "...", 3);
		at += 3;
	}
	q.s[at++] = '\'';
	q.s[at] = '\0';
	return q;
}

static uint8_t fold(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 'a' - 'A') : c;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(struct slice a, struct slice b)
{
	unsigned row[3][GUESS_MAX + 1]; /* before the last, last, this */
	unsigned *older = row[0], *old = row[1], *now = row[2], *swap;

	for (unsigned j = 0; j <= b.n; j++)
		old[j] = j;
	for (unsigned i = 1; i <= a.n; i++) {
		now[0] = i;
		for (unsigned j = 1; j <= b.n; j++) {
			uint8_t x = fold(a.p[i - 1]), y = fold(b.p[j - 1]);

			now[j] = least(least(old[j], now[j - 1]) + 1, old[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == fold(b.p[j - 2]) && y == fold(a.p[i - 2]))
				now[j] = least(now[j], older[j - 2] + 1);
		}
		swap = older;
		older = old;
		old = now;
		now = swap;
	}
	return old[b.n];
}

struct text_guess text_guess(struct slice word)
{
	unsigned reach = word.n <= 2 ? 1 : word.n <= 5 ? 2 : 3;

	return (struct text_guess){ .word = word, .distance = reach };
}

/* Of full class names most is the same, or not even of a similar length. */
static void cut_common(struct slice *a, struct slice *b)
{
	while (a->n && b->n && fold(a->p[0]) == fold(b->p[0]))
		a->p++, a->n--, b->p++, b->n--;
	while (a->n && b->n && fold(a->p[a->n - 1]) == fold(b->p[b->n - 1]))
		a->n--, b->n--;
}

void text_guess_try(struct text_guess *g, struct slice candidate)
{
	struct slice a = g->word, b = candidate;
	unsigned d;

	if (!g->word.n || !candidate.n || g->word.n > GUESS_MAX || candidate.n > GUESS_MAX ||
	    candidate.n > g->word.n + g->distance || g->word.n > candidate.n + g->distance)
		return;
	cut_common(&a, &b);
	d = distance(a, b);
	if (d < g->distance && d < candidate.n) {
		g->distance = d;
		g->best = candidate;
	}
}

void text_guess_hint(const struct text_guess *g, const char *sigil, char *out, size_t cap)
{
	if (g->best.p)
		snprintf(out, cap, "did you mean '%s%.*s'?", sigil, SLICE_FMT(g->best));
	else if (cap)
		out[0] = '\0';
}
