/* SPDX-License-Identifier: Apache-2.0 */
/* lookout_dig.c - for an alert, one dig below the method that lost most time, in the process where it is
 * slowest: one at a time, and not again for the same application for a while. */
#include <stdio.h>
#include <stdlib.h>

#include "manager/fleet/digs.h"
#include "manager/watch/lookout_priv.h"

enum { REST_MS = 600000, CANDIDATES = 64 };

/* ---- which process ---- */

static void add_calls(void *ctx, const struct past_window *p)
{
	struct past_window *sum = ctx;

	for (unsigned k = 0; k < SUMS; k++)
		sum->sums[k] += p->sums[k];
}

static double slowness(struct lookout *w, const struct alert *a, const char *instance)
{
	struct past_window sum = { .width_ms = w->window_ms };
	struct past_span span = { .app = slice_str(a->app),
				  .instance = slice_str(instance),
				  .method = slice_str(a->figures[0].method),
				  .from_ms = w->judged_ms - USUAL_BAD * w->window_ms,
				  .to_ms = w->judged_ms,
				  .level = past_level(w->window_ms),
				  .width_ms = w->window_ms };
	double v = 0;

	past_read(w->f->store, &span, add_calls, &sum);
	return past_value(&sum, a->kind, &v) ? v : 0;
}

static unsigned connected(struct fleet *f, const char *app, char ids[CANDIDATES][FLEET_ID])
{
	unsigned n = 0;

	pthread_mutex_lock(&f->lock);
	for (struct instance *i = f->instances; i && n < CANDIDATES; i = i->next)
		if (i->state == INSTANCE_CONNECTED && i->app && strcmp(i->app->name, app) == 0)
			memcpy(ids[n++], i->id, FLEET_ID);
	pthread_mutex_unlock(&f->lock);
	return n;
}

static bool choose(struct lookout *w, struct alert *a)
{
	static char ids[CANDIDATES][FLEET_ID]; /* of the one thread */
	unsigned n = connected(w->f, a->app, ids), best = 0;
	double most = -1;

	for (unsigned i = 0; i < n; i++) {
		double v = n > 1 ? slowness(w, a, ids[i]) : 0;

		best = v > most ? i : best;
		most = v > most ? v : most;
	}
	if (n)
		memcpy(a->instance, ids[best], FLEET_ID);
	return n > 0;
}

/* ---- begin and end ---- */

/* "com.shop.Cart.checkout(...)" is "com.shop.Cart::checkout" for dig. */
static void target_of(const char *method, struct buf *out)
{
	size_t n = strcspn(method, "("), dot = n;

	while (dot > 0 && method[dot - 1] != '.')
		dot--;
	if (dot)
		buf_printf(out, "%.*s::%.*s", (int)dot - 1, method, (int)(n - dot), method + dot);
}

static void start(struct lookout *w, struct alert *a)
{
	struct digs_wish wish = { .by = slice_str("alert"), .budget = w->config->watch_budget };
	struct buf target = { 0 };
	struct dug *d = NULL;
	int rc;

	target_of(a->figures[0].method, &target);
	wish.method = buf_slice(&target);
	wish.instance = slice_str(a->instance);
	pthread_mutex_lock(&w->f->lock);
	rc = digs_start(w->f, &wish, &d);
	if (rc >= 0)
		snprintf(a->dig, sizeof(a->dig), "%s", d->id);
	pthread_mutex_unlock(&w->f->lock);
	buf_release(&target);
	pthread_mutex_lock(&w->lock);
	a->wants_dig = rc == E_LIMIT; /* later */
	a->digging = rc >= 0;
	w->counts.digs += rc >= 0;
	pthread_mutex_unlock(&w->lock);
	if (rc < 0 && rc != E_LIMIT)
		snprintf(a->why, sizeof(a->why), "it could not be started: %s", err_text(rc));
	if (rc != E_LIMIT)
		lookout_publish(w, a, NULL);
}

/* True: its dig has ended; *answer is a copy of what it said. */
static bool has_ended(struct lookout *w, const struct alert *a, struct buf *answer, char why[256])
{
	struct dug *d;
	bool ended;

	pthread_mutex_lock(&w->f->lock);
	d = digs_find(w->f, slice_str(a->dig));
	ended = !d || !digs_runs(d);
	snprintf(why, 256, "%s", d ? d->why : "it is not known any more");
	if (d && ended)
		buf_put(answer, buf_slice(&d->answer));
	pthread_mutex_unlock(&w->f->lock);
	return ended;
}

static void see_end(struct lookout *w, struct alert *a)
{
	struct buf answer = { 0 };
	char why[256];

	if (has_ended(w, a, &answer, why)) {
		pthread_mutex_lock(&w->lock);
		alert_take_answer(a, buf_slice(&answer), why[0] ? why : "it said nothing");
		pthread_mutex_unlock(&w->lock);
		lookout_publish(w, a, "finding");
	}
	buf_release(&answer);
}

static void drop_old(struct lookout *w)
{
	pthread_mutex_lock(&w->lock);
	for (struct alert **at = &w->alerts; *at;) {
		struct alert *a = *at;

		if (!a->ended_ms || a->digging) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		alert_free(a);
	}
	pthread_mutex_unlock(&w->lock);
}

static struct learned_app *app_of(struct lookout *w, const char *name)
{
	struct learned_app *a = w->apps;

	while (a && strcmp(a->name, name) != 0)
		a = a->next;
	return a;
}

static void see_wish(struct lookout *w, struct alert *a, uint64_t now)
{
	struct learned_app *app = app_of(w, a->app);

	if (!app || now < app->next_dig_ms || !choose(w, a))
		return;
	app->next_dig_ms = now + REST_MS;
	start(w, a);
	if (a->wants_dig)
		app->next_dig_ms = now; /* others dig */
}

void lookout_digs(struct lookout *w, uint64_t now)
{
	bool busy = false;

	for (struct alert *a = w->alerts; a; a = a->next) {
		if (a->digging)
			see_end(w, a);
		busy |= a->digging;
	}
	for (struct alert *a = w->alerts; a && !busy; a = a->next) {
		if (a->wants_dig && a->n)
			see_wish(w, a, now);
		busy = a->digging;
	}
	drop_old(w);
}
