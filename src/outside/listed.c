/* SPDX-License-Identifier: Apache-2.0 */
/* listed.c - sorted by address; those at one address in the order of the text. */
#include "outside/listed.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "jvm/proc.h"

enum {
	FUNCTIONS_MAX = 8 << 20,
	LOOKS_MAX = 256, /* functions that begin before an address and may reach over it */
};

void listed_release(struct listed *l)
{
	mem_free(l->f);
	*l = (struct listed){ 0 };
}

static bool add(struct listed *l, uint64_t start, uint64_t size, struct slice name)
{
	size_t cap = l->cap ? l->cap * 2 : 1024;

	if (l->n == FUNCTIONS_MAX)
		return true;
	if (l->n == l->cap) {
		struct listed_function *more = mem_realloc(l->f, cap * sizeof(*more));

		if (!more)
			return false;
		l->f = more;
		l->cap = cap;
	}
	l->f[l->n] = (struct listed_function){ start, size, name, (uint32_t)l->n };
	l->n++;
	l->widest = size > l->widest ? size : l->widest;
	return true;
}

/* ---- lines --------------------------------------------------------------------------------- */

/* The next word, and what is behind its space. */
static struct slice word(struct slice *line)
{
	const uint8_t *end = line->n ? memchr(line->p, ' ', line->n) : NULL;
	size_t n = end ? (size_t)(end - line->p) : line->n;
	struct slice w = { line->p, n };

	*line = (struct slice){ line->p + n + (end != NULL), line->n - n - (end != NULL) };
	return w;
}

static bool hex(struct slice w, uint64_t *out)
{
	uint64_t v = 0;

	if (w.n > 2 && w.p[0] == '0' && (w.p[1] | 0x20) == 'x')
		w = (struct slice){ w.p + 2, w.n - 2 };
	for (size_t i = 0; i < w.n; i++) {
		unsigned c = w.p[i] | 0x20u;
		unsigned digit = c >= 'a' && c <= 'f' ? c - 'a' + 10 : c - '0';

		if (digit > 15 || (w.p[i] < '0') || i == 16)
			return false;
		v = v << 4 | digit;
	}
	*out = v;
	return w.n > 0;
}

bool listed_add_map(struct listed *l, struct slice text)
{
	struct slice line;

	while (proc_line(&text, &line)) {
		uint64_t start, size;

		if (hex(word(&line), &start) && hex(word(&line), &size) && size && line.n &&
		    start + size > start && !add(l, start, size, line))
			return false;
	}
	return true;
}

bool listed_add_kernel(struct listed *l, struct slice text)
{
	struct slice line;

	while (proc_line(&text, &line)) {
		uint64_t start;
		struct slice kind;

		if (!hex(word(&line), &start) || !start)
			continue; /* all are 0 where the kernel does not tell */
		kind = word(&line);
		if (kind.n != 1 || !strchr("tTwW", kind.p[0]))
			continue;
		for (size_t i = 0; i < line.n; i++)
			if (line.p[i] == '\t' || line.p[i] == ' ')
				line.n = i;
		if (line.n && !add(l, start, 0, line))
			return false;
	}
	return true;
}

/* ---- looking up ---------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct listed_function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

void listed_sort(struct listed *l)
{
	if (l->n)
		qsort(l->f, l->n, sizeof(*l->f), by_start);
}

/* The last one that begins at or before the address, plus one. */
static size_t place(const struct listed *l, uint64_t address)
{
	return SEARCH(l->n, i, l->f[i].start <= address);
}

const struct listed_function *listed_find(const struct listed *l, uint64_t address)
{
	const struct listed_function *best = NULL;
	size_t at = place(l, address);

	for (size_t i = 0; i < LOOKS_MAX && at > i; i++) {
		const struct listed_function *f = &l->f[at - 1 - i];

		if (!f->size) /* of the kernel: up to the next one */
			return best ? best : f;
		if (address - f->start >= l->widest)
			break;
		if (address - f->start < f->size && (!best || f->order > best->order))
			best = f;
	}
	return best;
}
