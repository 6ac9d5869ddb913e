/* SPDX-License-Identifier: Apache-2.0 */
/* lookout.c - the thread: a window ends, figures of all methods are compared with what is usual. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/wait.h"
#include "manager/watch/lookout_priv.h"

enum {
	STORED_MS = 2500, /* what belongs to a window is in the store then */
	LEARN_EVERY_MS = 600000,
	SILENT_WINDOWS = 20, /* without a call: nothing is broken any more */
	ERRORS_LEAST = 5,
};
static const double lost_least = 0.01; /* of a thread's time */

/* ---- one window ---- */

struct judging {
	struct lookout *w;
	struct learned_app *app;
	struct alert_figure *broken[USUAL_KINDS];
	size_t n[USUAL_KINDS];
	uint64_t end_ms;
};

static double lost_of(enum usual_kind kind, const struct past_window *p, double over)
{
	double of = kind == USUAL_TIME	   ? (double)p->sums[SUM_CALLS] / 1e6
		    : kind == USUAL_ERRORS ? (double)p->sums[SUM_CALLS]
					   : (double)p->width_ms;

	return over > 0 ? over * of / (double)p->width_ms : 0;
}

/* What costs next to nothing is no reason to wake anybody. */
static bool matters(enum usual_kind kind, const struct past_window *p, double lost)
{
	if (kind == USUAL_TIME)
		return lost >= lost_least;
	return kind != USUAL_ERRORS || p->sums[SUM_ERRORS] >= ERRORS_LEAST;
}

static void note(struct judging *j, enum usual_kind kind, const struct alert_figure *f)
{
	struct alert_figure *all = j->broken[kind];
	size_t n = j->n[kind];

	if (n % 64 == 0)
		all = mem_realloc(all, (n + 64) * sizeof(*all));
	if (!all)
		return;
	j->broken[kind] = all;
	all[n] = *f;
	j->n[kind]++;
}

static void judge_one(struct judging *j, struct learned_method *m, const struct past_window *p,
		      enum usual_kind kind)
{
	struct alert_figure f = { .method = (char *)(uintptr_t)m->name,
				  .usual = m->usual[kind].middle,
				  .limit = m->usual[kind].limit };
	enum usual_change change;

	if (!m->usual[kind].n || !past_value(p, kind, &f.value))
		return;
	f.lost = lost_of(kind, p, f.value - f.usual);
	if (f.value > f.limit && !matters(kind, p, f.lost) && !m->judge[kind].broken)
		return;
	change = usual_judge(&m->judge[kind], &m->usual[kind], f.value);
	if (change == USUAL_BREAKS)
		note(j, kind, &f);
	else if (change == USUAL_GOOD_AGAIN)
		lookout_good_again(j->w, j->app, kind, m->name);
}

static void judge(void *ctx, const struct past_window *p)
{
	struct judging *j = ctx;
	struct learned_method *m = learned_method(j->app, p->method);

	if (!m)
		return;
	m->seen_ms = j->end_ms;
	for (unsigned k = 0; k < USUAL_KINDS; k++)
		judge_one(j, m, p, k);
}

/* A method that nobody calls any more is neither slow nor failing. */
static void see_silence(struct judging *j)
{
	uint64_t limit = SILENT_WINDOWS * j->w->window_ms;

	for (size_t i = 0; i < j->app->n; i++) {
		struct learned_method *m = j->app->v[i];

		for (unsigned k = 0; k < USUAL_KINDS; k++) {
			if (!m->judge[k].broken || m->seen_ms + limit > j->end_ms)
				continue;
			m->judge[k] = (struct judge){ 0 };
			lookout_good_again(j->w, j->app, k, m->name);
		}
	}
}

static int by_lost(const void *a, const void *b)
{
	const struct alert_figure *x = a, *y = b;

	return (x->lost < y->lost) - (x->lost > y->lost);
}

static void judge_app(struct lookout *w, struct learned_app *a, uint64_t end_ms)
{
	struct judging j = { .w = w, .app = a, .end_ms = end_ms };
	struct past_span span = { .app = slice_str(a->name),
				  .from_ms = end_ms - w->window_ms,
				  .to_ms = end_ms,
				  .level = past_level(w->window_ms),
				  .width_ms = w->window_ms };

	past_read(w->f->store, &span, judge, &j);
	see_silence(&j);
	for (unsigned k = 0; k < USUAL_KINDS; k++) {
		if (j.n[k]) {
			qsort(j.broken[k], j.n[k], sizeof(*j.broken[k]), by_lost);
			lookout_raise(w, a, k, &(struct broken_figures){ j.broken[k], j.n[k] });
		}
		mem_free(j.broken[k]);
	}
}

/* ---- who is there ---- */

struct app_names {
	char (*v)[HUB_APP];
	size_t n;
};

static struct app_names connected_apps(struct fleet *f)
{
	struct app_names names = { 0 };
	size_t room = 0;

	pthread_mutex_lock(&f->lock);
	for (struct app *a = f->apps; a; a = a->next)
		room++;
	names.v = mem_alloc((room + 1) * sizeof(*names.v));
	for (struct app *a = f->apps; names.v && a; a = a->next)
		if (fleet_connected(f, a, (struct slice){ NULL, 0 }))
			memcpy(names.v[names.n++], a->name, HUB_APP);
	pthread_mutex_unlock(&f->lock);
	return names;
}

/* Methods of an alert from before a restart are broken still, by what was usual then. */
static void take_up(struct lookout *w, struct learned_app *app)
{
	for (unsigned k = 0; k < USUAL_KINDS; k++) {
		struct alert *a = lookout_find_open(w, app->name, k);

		for (size_t i = 0; a && i < a->n; i++) {
			struct learned_method *m =
				learned_method(app, slice_str(a->figures[i].method));

			if (!m || a->figures[i].is_good)
				continue;
			m->judge[k].broken = true;
			m->usual[k] = (struct usual){ a->figures[i].usual, a->figures[i].limit, 1 };
			m->seen_ms = w->judged_ms;
		}
	}
}

static struct learned_app *app_of(struct lookout *w, const char *name)
{
	struct learned_app *a = w->apps;

	while (a && strcmp(a->name, name) != 0)
		a = a->next;
	if (a)
		return a;
	a = learned_new(name);
	if (!a)
		return NULL;
	a->next = w->apps;
	w->apps = a;
	take_up(w, a);
	return a;
}

static void see_app(struct lookout *w, const char *name, uint64_t end_ms)
{
	struct learned_app *a = app_of(w, name);
	struct learn_how how = { .window_ms = w->window_ms,
				 .learn_ms = w->config->watch_learn_ms,
				 .now_ms = end_ms,
				 .factor = w->config->watch_factor };

	if (!a)
		return;
	if (!a->learned_ms || end_ms - a->learned_ms >= LEARN_EVERY_MS)
		if (learn(a, w->f->store, &how) < 0)
			log_put(LOG_WARN, "%s: what is usual cannot be read", name);
	judge_app(w, a, end_ms);
}

static void see_window(struct lookout *w, uint64_t day_ms)
{
	uint64_t end = day_ms - STORED_MS;
	struct app_names names;

	end -= end % w->window_ms;
	if (end <= w->judged_ms)
		return;
	w->judged_ms = end;
	names = connected_apps(w->f);
	for (size_t i = 0; i < names.n; i++)
		see_app(w, names.v[i], end);
	mem_free(names.v);
}

static bool nap(struct lookout *w)
{
	bool ends;

	pthread_mutex_lock(&w->lock);
	if (!w->ends)
		wait_ms(&w->work, &w->lock, 1000);
	ends = w->ends;
	pthread_mutex_unlock(&w->lock);
	return !ends;
}

static void *run(void *arg)
{
	struct lookout *w = arg;

	while (nap(w)) {
		if (!w->is_restored && !lookout_restore(w))
			continue; /* else what is broken already would be told once more */
		see_window(w, clock_day_ms());
		lookout_digs(w, clock_steady_ms());
	}
	return NULL;
}

/* ---- from outside ---- */

struct lookout_counts lookout_counts(struct lookout *w)
{
	struct lookout_counts c;

	pthread_mutex_lock(&w->lock);
	c = w->counts;
	pthread_mutex_unlock(&w->lock);
	c.told = tell_counts(w->tell);
	return c;
}

void lookout_open(struct lookout *w, void (*on)(void *ctx, const char *app, const char *kind),
		  void *ctx)
{
	pthread_mutex_lock(&w->lock);
	for (struct alert *a = w->alerts; a; a = a->next)
		if (!a->ended_ms)
			on(ctx, a->app, alert_kind_word(a->kind));
	pthread_mutex_unlock(&w->lock);
}

int lookout_start(struct lookout **out, struct fleet *f)
{
	struct lookout *w = NULL;
	uint64_t now = clock_day_ms();

	*out = NULL;
	if (f->config->watch == WATCH_OFF)
		return 0;
	w = mem_alloc(sizeof(*w));
	if (!w)
		return E_NO_MEMORY;
	*w = (struct lookout){ .f = f,
			       .config = f->config,
			       .window_ms = f->config->watch_window_ms };
	w->judged_ms = now - now % w->window_ms;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->work, NULL);
	w->tell = tell_start(f->config);
	if (!w->tell || pthread_create(&w->thread, NULL, run, w) != 0) {
		w->thread = 0;
		lookout_stop(w);
		return E_NO_MEMORY;
	}
	*out = w;
	return 0;
}

void lookout_stop(struct lookout *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&w->lock);
	if (w->thread)
		pthread_join(w->thread, NULL);
	tell_stop(w->tell);
	while (w->apps) {
		struct learned_app *a = w->apps;

		w->apps = a->next;
		learned_free(a);
	}
	while (w->alerts) {
		struct alert *a = w->alerts;

		w->alerts = a->next;
		alert_free(a);
	}
	mem_free(w);
}
