/* SPDX-License-Identifier: Apache-2.0 */
/* top_list.c - rows of functions, of threads, or of the callers and callees of one function. */
#include "cli/top/top_list.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"

void top_list_release(struct top_list *l)
{
	mem_free(l->v);
	*l = (struct top_list){ 0 };
}

static bool matches(const struct top_look *look, struct slice name)
{
	size_t n = strlen(look->filter);

	for (size_t i = 0; n && i + n <= name.n; i++)
		if (strncasecmp((const char *)name.p + i, look->filter, n) == 0)
			return true;
	return n == 0;
}

static int by_value(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static void add_functions(struct top_list *l, const struct top_look *look, const struct ranking *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct ranked *f = &r->v[i];

		if (f->total && matches(look, f->name))
			l->v[l->n++] =
				(struct top_row){ .id = (uint32_t)i,
						  .value = look->by_total ? f->total : f->self };
	}
	if (look->by_total)
		qsort(l->v, l->n, sizeof(*l->v), by_value);
}

/* ---- threads ------------------------------------------------------------------------------- */

static int by_thread_and_leaf(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

/* Rows of one thread and one leaf each become one row for each thread. */
static void add_up(struct top_list *l)
{
	size_t to = 0;
	uint64_t of_leaf = 0, most = 0;
	uint32_t leaf = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct top_row row = l->v[i];
		bool same = to && l->v[to - 1].id == row.id;

		of_leaf = same && leaf == row.leaf ? of_leaf + row.value : row.value;
		leaf = row.leaf;
		most = same ? most : 0;
		if (!same)
			l->v[to++] = (struct top_row){ .id = row.id };
		l->v[to - 1].value += row.value;
		if (of_leaf > most) {
			most = of_leaf;
			l->v[to - 1].leaf = leaf;
		}
	}
	l->n = to;
}

static void add_threads(struct top_list *l, const struct top_look *look, const struct sampled *s,
			const struct ranking *r)
{
	const struct profile *p = &s->profile;

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *k = &p->stacks[i];

		if (k->n && matches(look, sampled_thread_name(s, k->thread)))
			l->v[l->n++] = (struct top_row){ .id = k->thread,
							 .leaf = r->of_frame[k->frames[k->n - 1]],
							 .value = k->value };
	}
	qsort(l->v, l->n, sizeof(*l->v), by_thread_and_leaf);
	add_up(l);
	qsort(l->v, l->n, sizeof(*l->v), by_value);
}

/* ---- one function -------------------------------------------------------------------------- */

static size_t place_of(const struct ranking *r, struct slice name)
{
	size_t i = 0;

	while (i < r->n && !slice_eq(r->v[i].name, name))
		i++;
	return i < r->n && r->v[i].total ? i : r->n;
}

static void add_lines(struct top_list *l, const struct ranking *r, const struct ranked_line *lines,
		      size_t n, bool is_callee)
{
	for (size_t i = 0; i < n; i++)
		if (lines[i].of < r->n)
			l->v[l->n++] = (struct top_row){ .id = lines[i].of,
							 .value = lines[i].value,
							 .is_callee = is_callee };
}

static void add_neighbours(struct top_list *l, const struct profile *p, const struct ranking *r)
{
	struct ranked_line lines[RANKING_LINES];
	size_t n;

	if (l->function >= r->n)
		return;
	n = ranking_callers(r, p, l->function, lines);
	add_lines(l, r, lines, n, false);
	n = ranking_callees(r, p, l->function, lines);
	add_lines(l, r, lines, n, true);
}

/* ---- the cursor ---------------------------------------------------------------------------- */

/* What the chosen row is about, to find it again. */
struct chosen {
	bool any;
	uint32_t id;
	struct slice name;
};

static size_t find(const struct top_list *l, const struct top_look *look, const struct ranking *r,
		   const struct chosen *c)
{
	for (size_t i = 0; c->any && i < l->n; i++)
		if (look->page == TOP_THREADS ? l->v[i].id == c->id
					      : slice_eq(r->v[l->v[i].id].name, c->name))
			return i;
	return l->n && look->cursor >= l->n ? l->n - 1 : l->n ? look->cursor : 0;
}

static struct chosen chosen_row(const struct top_list *l, const struct top_look *look)
{
	struct chosen c = { .any = look->cursor && look->cursor < l->n &&
				   look->page != TOP_FUNCTION };

	if (c.any) {
		c.id = l->v[look->cursor].id;
		c.name = look->chosen;
	}
	return c;
}

bool top_list_build(struct top_list *l, struct top_look *look, const struct sampled *s,
		    const struct ranking *r)
{
	size_t cap = r->n + s->profile.n_stacks + 2 * RANKING_LINES;
	struct chosen chosen = chosen_row(l, look);

	mem_free(l->v);
	*l = (struct top_list){ .v = mem_alloc(cap * sizeof(*l->v)), .function = r->n };
	if (!l->v)
		return false;
	if (look->page == TOP_FUNCTION) {
		l->function = place_of(r, look->trail[look->depth - 1]);
		add_neighbours(l, &s->profile, r);
	} else if (look->page == TOP_THREADS) {
		add_threads(l, look, s, r);
	} else {
		add_functions(l, look, r);
	}
	look->cursor = find(l, look, r, &chosen);
	return true;
}
