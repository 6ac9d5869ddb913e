/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - functions of one name are the same function. */
#include "cli/hot/compare.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/screen/table.h"

enum { NAME_WIDTH = 32 };

static const struct table_column columns[] = {
	{ "more", 0, false, false },  { "self", 0, false, false },   { "before", 0, false, false },
	{ "total", 1, false, false }, { "before", 2, false, false },
};

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static int by_difference(const void *a, const void *b)
{
	const struct compared *x = a, *y = b;
	double dx = fabs(x->now - x->before), dy = fabs(y->now - y->before);

	if (dx < dy || dx > dy)
		return dx < dy ? 1 : -1;
	return slice_cmp(x->name, y->name);
}

static bool fill(struct compared *c, size_t *n, const struct ranking *now,
		 const struct ranking *before, struct map *places)
{
	for (size_t i = 0; i < now->n; i++) {
		const struct ranked *f = &now->v[i];
		uintptr_t *place = map_put(places, f->name, NULL);

		if (!place)
			return false;
		*place = *n;
		c[(*n)++] = (struct compared){ .name = f->name,
					       .kind = f->kind,
					       .now = share(f->self, now->total),
					       .total_now = share(f->total, now->total) };
	}
	for (size_t i = 0; i < before->n; i++) {
		const struct ranked *f = &before->v[i];
		const uintptr_t *place = map_get(places, f->name);
		size_t at = place ? *place : (*n)++;

		if (!place)
			c[at] = (struct compared){ .name = f->name, .kind = f->kind };
		c[at].before = share(f->self, before->total);
		c[at].total_before = share(f->total, before->total);
	}
	return true;
}

struct compared *compare_rankings(const struct ranking *now, const struct ranking *before,
				  size_t *n)
{
	struct compared *c = mem_alloc((now->n + before->n + 1) * sizeof(*c));
	struct map places = { 0 };

	*n = 0;
	if (c && !fill(c, n, now, before, &places)) {
		mem_free(c);
		c = NULL;
	}
	map_release(&places);
	if (c)
		qsort(c, *n, sizeof(*c), by_difference);
	return c;
}

static bool differs(const struct compared *c)
{
	return c->now > c->before || c->now < c->before;
}

static const char *difference(char text[FIGURE_MAX], double d)
{
	char plain[FIGURE_MAX];

	snprintf(text, FIGURE_MAX, "%s%.20s", d < 0 ? "-" : "+", figure_share(plain, fabs(d)));
	return text;
}

static void add_row(struct table *t, const struct compared *c)
{
	char text[FIGURE_MAX];

	table_cell(t, difference(text, c->now - c->before));
	table_cell(t, figure_share(text, c->now));
	table_cell(t, figure_share(text, c->before));
	table_cell(t, figure_share(text, c->total_now));
	table_cell(t, figure_share(text, c->total_before));
}

void compare_show(const struct hot_view *v, const struct compared *c, size_t n, struct buf *out)
{
	struct table t;
	unsigned rest;
	size_t shown = 0;

	table_init(&t, columns, COUNT(columns));
	for (; shown < n && shown < v->top && differs(&c[shown]); shown++)
		add_row(&t, &c[shown]);
	table_layout(&t, v->width, NAME_WIDTH);
	table_head(&t, out);
	buf_text(out, "function\n");
	rest = table_rest(&t);
	for (size_t i = 0; i < shown; i++) {
		table_row(&t, i, out);
		hot_put_name(out, c[i].kind, c[i].name, rest == UINT_MAX ? 0 : rest);
		buf_u8(out, '\n');
	}
	table_release(&t);
}

void compare_json(const struct compared *c, size_t n, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_open(&j, "functions", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(&j, '{');
		json_put_str(&j, "name", c[i].name);
		json_put_double(&j, "self_share", c[i].now);
		json_put_double(&j, "self_share_before", c[i].before);
		json_put_double(&j, "total_share", c[i].total_now);
		json_put_double(&j, "total_share_before", c[i].total_before);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}
