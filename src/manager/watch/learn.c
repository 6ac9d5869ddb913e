/* SPDX-License-Identifier: Apache-2.0 */
/* learn.c - the same time of day on earlier days tells what is usual; where there are not enough of
 * them, the last hour does (--watch-learn). */
#include "manager/watch/learn.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { DAYS = 14, DAYS_LEAST = 3, VALUES_MAX = 4096 };
static const uint64_t day_ms = 86400000, half_hour_ms = 1800000;

struct learned_app *learned_new(const char *name)
{
	struct learned_app *a = mem_alloc(sizeof(*a));

	if (!a)
		return NULL;
	*a = (struct learned_app){ 0 };
	snprintf(a->name, sizeof(a->name), "%s", name);
	return a;
}

static void forget_values(struct learned_method *m)
{
	for (unsigned k = 0; k < USUAL_KINDS; k++) {
		mem_free(m->hourly[k].v);
		mem_free(m->recent[k].v);
		m->hourly[k] = m->recent[k] = (struct values){ 0 };
	}
	m->days = m->oldest_ms = 0;
}

void learned_free(struct learned_app *a)
{
	for (size_t i = 0; i < a->n; i++)
		forget_values(a->v[i]);
	map_release(&a->by_name);
	arena_release(&a->mem);
	mem_free(a);
}

struct learned_method *learned_method(struct learned_app *a, struct slice name)
{
	uintptr_t *at = map_get(&a->by_name, name);
	struct learned_method *m;
	char *text;

	if (at)
		return (struct learned_method *)*at;
	m = a->n < LEARNED_MAX ? arena_zero(&a->mem, sizeof(*m)) : NULL;
	text = m ? arena_str(&a->mem, name) : NULL;
	at = text ? map_put(&a->by_name, slice_str(text), NULL) : NULL;
	if (!at)
		return NULL;
	m->name = text;
	*at = (uintptr_t)m;
	a->v[a->n++] = m;
	return m;
}

/* ---- values ---- */

static void add_value(struct values *all, double v)
{
	size_t cap = all->cap ? all->cap * 2 : 32;
	double *more = all->v;

	if (all->n == VALUES_MAX)
		return;
	if (all->n == all->cap) {
		more = mem_realloc(all->v, cap * sizeof(*more));
		if (!more)
			return;
		all->v = more;
		all->cap = cap;
	}
	more[all->n++] = v;
}

struct learning {
	struct learned_app *app;
	unsigned day; /* 0: the recent past */
};

static void take(void *ctx, const struct past_window *w)
{
	struct learning *l = ctx;
	struct learned_method *m = learned_method(l->app, w->method);
	double v;

	if (!m)
		return;
	for (unsigned k = 0; k < USUAL_KINDS; k++)
		if (past_value(w, k, &v))
			add_value(l->day ? &m->hourly[k] : &m->recent[k], v);
	if (l->day)
		m->days |= 1ull << l->day;
	else if (!m->oldest_ms || w->begin_ms < m->oldest_ms)
		m->oldest_ms = w->begin_ms;
}

/* In UTC, so that no hour comes twice; where clocks are changed, the usual is an hour off for some
 * days. */
static int read_days(struct learned_app *a, struct archive *s, const struct learn_how *how)
{
	unsigned level = ARCHIVE_LEVELS - 1;
	int rc = 0;

	for (unsigned day = 1; day <= DAYS && rc >= 0; day++) {
		uint64_t at = how->now_ms - day * day_ms;
		struct past_span span = { .app = slice_str(a->name),
					  .from_ms = at - half_hour_ms,
					  .to_ms = at + half_hour_ms,
					  .level = level,
					  .width_ms = archive_step_ms[level] };

		rc = past_read(s, &span, take, &(struct learning){ a, day });
	}
	return rc;
}

static int read_recent(struct learned_app *a, struct archive *s, const struct learn_how *how)
{
	struct past_span span = { .app = slice_str(a->name),
				  .from_ms = how->now_ms - how->learn_ms,
				  .to_ms = how->now_ms - USUAL_BAD * how->window_ms,
				  .level = past_level(how->window_ms),
				  .width_ms = how->window_ms };

	return past_read(s, &span, take, &(struct learning){ a, 0 });
}

/* ---- what is usual ---- */

static void settle(struct learned_method *m, const struct learn_how *how)
{
	bool by_day = __builtin_popcountll(m->days) >= DAYS_LEAST;
	bool by_hour = m->oldest_ms && m->oldest_ms <= how->now_ms - how->learn_ms * 8 / 10;

	for (unsigned k = 0; k < USUAL_KINDS; k++) {
		struct usual u = { 0 };

		if (m->judge[k].broken || m->judge[k].bad)
			continue;
		if (by_day)
			u = usual_of(k, m->hourly[k].v, m->hourly[k].n, how->factor);
		if (!u.n && by_hour)
			u = usual_of(k, m->recent[k].v, m->recent[k].n, how->factor);
		m->usual[k] = u;
	}
	forget_values(m);
}

int learn(struct learned_app *a, struct archive *s, const struct learn_how *how)
{
	int rc = read_days(a, s, how);

	if (rc >= 0)
		rc = read_recent(a, s, how);
	for (size_t i = 0; i < a->n; i++) {
		if (rc >= 0)
			settle(a->v[i], how);
		else
			forget_values(a->v[i]);
	}
	a->learned_ms = how->now_ms;
	return rc;
}
