/* SPDX-License-Identifier: Apache-2.0 */
/* lcs.c - Myers' greedy difference algorithm.
 *
 * Diagonal k holds the places (x, y) with x - y = k.  furthest[k] is how far in `a` one can get on
 * it with d changes; all rounds are kept, to find the way back.  Memory grows with d squared,
 * hence the limit. */
#include "cli/classtools/lcs.h"

#include "base/err.h"

struct search {
	const uint32_t *a, *b;
	int64_t n, m;
	uint32_t **rounds; /* [d] holds 2 d + 1 places, for k = -d, -d + 2 ... d */
};

/* Where round d - 1 leads to on diagonal k, with one more change. */
static int64_t start_of(const struct search *s, int64_t d, int64_t k)
{
	const uint32_t *before;

	if (d == 0)
		return 0;
	before = s->rounds[d - 1] + (d - 1);
	if (k == -d || (k != d && before[k - 1] < before[k + 1]))
		return before[k + 1];
	return (int64_t)before[k - 1] + 1;
}

/* The way back: from the end of round d to the beginning. */
static void trace(const struct search *s, int64_t d, uint32_t *partner)
{
	int64_t x = s->n, k = s->n - s->m;

	for (; d >= 0; d--) {
		int64_t from = start_of(s, d, k);
		const uint32_t *before;

		for (; x > from; x--)
			partner[x - 1] = (uint32_t)(x - 1 - k);
		if (d == 0)
			break;
		before = s->rounds[d - 1] + (d - 1);
		if (k == -d || (k != d && before[k - 1] < before[k + 1]))
			k++;
		else
			k--;
		x = before[k];
	}
}

static int search(struct arena *mem, struct search *s, uint32_t limit, uint32_t *partner)
{
	int64_t most = s->n + s->m < limit ? s->n + s->m : limit;

	s->rounds = arena_alloc(mem, (size_t)(most + 1) * sizeof(*s->rounds));
	if (!s->rounds)
		return E_NO_MEMORY;
	for (int64_t d = 0; d <= most; d++) {
		uint32_t *now = arena_zero(mem, (size_t)(2 * d + 1) * sizeof(*now));

		if (!now)
			return E_NO_MEMORY;
		s->rounds[d] = now;
		for (int64_t k = -d; k <= d; k += 2) {
			int64_t x = start_of(s, d, k);

			while (x < s->n && x - k < s->m && x - k >= 0 && s->a[x] == s->b[x - k])
				x++;
			now[k + d] = (uint32_t)x;
			if (x >= s->n && x - k >= s->m) {
				trace(s, d, partner);
				return 0;
			}
		}
	}
	return 0; /* too many changes */
}

int lcs(struct arena *mem, const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m,
	uint32_t limit, uint32_t *partner)
{
	uint32_t head = 0, tail = 0;
	struct search s;
	int rc;

	for (uint32_t i = 0; i < n; i++)
		partner[i] = LCS_NONE;
	while (head < n && head < m && a[head] == b[head]) {
		partner[head] = head;
		head++;
	}
	while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail]) {
		partner[n - 1 - tail] = m - 1 - tail;
		tail++;
	}
	s = (struct search){ a + head, b + head, n - head - tail, m - head - tail, NULL };
	rc = search(mem, &s, limit, partner + head);
	for (uint32_t i = head; i < n - tail; i++)
		if (partner[i] != LCS_NONE)
			partner[i] += head;
	return rc;
}
