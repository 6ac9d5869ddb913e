/* SPDX-License-Identifier: Apache-2.0 */
/* lookout_alert.c - alerts are raised, told of, and closed. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manager/watch/lookout_priv.h"

enum { RESTORE_MAX = 200 };

/* ---- who is told ---- */

static void put_message(const struct alert *a, const char *event, struct slice json,
			struct buf *out)
{
	struct json j = json_to(out);
	struct buf text = { 0 };

	alert_text(a, &text);
	json_open(&j, '{');
	json_put_text(&j, "event", event);
	json_key(&j, "text"); /* which chats show */
	buf_printf(&text, "%s%s", a->finding[0] ? ". " : "", a->finding);
	json_str(&j, buf_slice(&text));
	json_key(&j, "alert");
	buf_put(out, json);
	j.more = true;
	json_close(&j, '}');
	buf_release(&text);
}

static void put_mail(const struct alert *a, struct slice text, struct buf *out)
{
	buf_printf(out, "%.*s.\n\n", SLICE_FMT(text));
	for (size_t i = 1; i < a->n; i++)
		buf_printf(out, "  also %s\n", a->figures[i].method);
	if (a->finding[0])
		buf_printf(out, "\nWhat sonde dig has found in %s:\n  %s\n", a->instance,
			   a->finding);
	else if (a->why[0])
		buf_printf(out, "\nsonde dig has found nothing: %s\n", a->why);
	else if (a->digging || a->wants_dig)
		buf_text(out, "\nsonde dig is looking for the reason; another message follows.\n");
	buf_printf(out, "\nAlert %s of %s\n", a->id, a->app);
}

static void tell_all(struct lookout *w, const struct alert *a, const char *event, struct slice json)
{
	struct buf text = { 0 }, mail = { 0 }, message = { 0 };
	char subject[200];

	alert_text(a, &text);
	snprintf(subject, sizeof(subject), "%s: %s%.*s", a->app,
		 strcmp(event, "good_again") == 0 ? "good again: " : "", SLICE_FMT(text));
	put_mail(a, buf_slice(&text), &mail);
	put_message(a, event, json, &message);
	if (!text.err && !mail.err && !message.err)
		tell_put(w->tell,
			 &(struct tell_message){ subject, buf_slice(&mail), buf_slice(&message) });
	log_put(strcmp(event, "alert") == 0 ? LOG_WARN : LOG_INFO, "%s %s: %s%s%s", event, a->id,
		subject, a->finding[0] ? ". " : "", a->finding);
	buf_release(&message);
	buf_release(&mail);
	buf_release(&text);
}

static void keep(struct lookout *w, const struct alert *a, struct slice json)
{
	struct job_alert *job = archive_job(sizeof(*job));

	if (!job)
		return;
	job->job.kind = JOB_ALERT;
	job->id = arena_dup(&job->job.mem, slice_str(a->id));
	job->app = arena_dup(&job->job.mem, slice_str(a->app));
	job->doc = arena_dup(&job->job.mem, json);
	job->began_ms = a->began_ms;
	job->ended_ms = a->ended_ms;
	archive_put(w->f->store, &job->job);
}

void lookout_publish(struct lookout *w, struct alert *a, const char *event)
{
	struct buf doc = { 0 };
	struct json j = json_to(&doc);

	alert_json(a, &j);
	if (!doc.err) {
		keep(w, a, buf_slice(&doc));
		hub_put(&w->f->hub, slice_str(a->app), "alert", buf_slice(&doc));
		if (event)
			tell_all(w, a, event, buf_slice(&doc));
	}
	buf_release(&doc);
}

/* ---- begin and end ---- */

struct alert *lookout_find_open(struct lookout *w, const char *app, enum usual_kind kind)
{
	struct alert *a = w->alerts;

	while (a && (a->ended_ms || a->kind != kind || strcmp(a->app, app) != 0))
		a = a->next;
	return a;
}

static void add_all(struct alert *a, const struct broken_figures *b)
{
	for (size_t i = 0; i < b->n; i++)
		alert_add(a, &b->v[i]);
}

void lookout_raise(struct lookout *w, struct learned_app *app, enum usual_kind kind,
		   const struct broken_figures *b)
{
	struct alert *a = lookout_find_open(w, app->name, kind);
	bool fresh = !a;

	pthread_mutex_lock(&w->lock);
	if (fresh)
		a = alert_new(app->name, kind);
	if (a)
		add_all(a, b);
	if (a && fresh) {
		/* a dig tells where time goes, not why something is thrown */
		a->wants_dig = w->config->watch == WATCH_DIG && kind != USUAL_ERRORS;
		a->next = w->alerts;
		w->alerts = a;
		w->counts.raised++;
	}
	pthread_mutex_unlock(&w->lock);
	if (a)
		lookout_publish(w, a, fresh ? "alert" : NULL);
}

void lookout_good_again(struct lookout *w, struct learned_app *app, enum usual_kind kind,
			const char *method)
{
	struct alert *a = lookout_find_open(w, app->name, kind);
	struct alert_figure *f = a ? alert_find(a, method) : NULL;
	bool over;

	if (!f)
		return;
	pthread_mutex_lock(&w->lock);
	f->is_good = true;
	over = alert_is_good(a);
	if (over) {
		a->ended_ms = clock_day_ms();
		a->wants_dig = false;
	}
	pthread_mutex_unlock(&w->lock);
	lookout_publish(w, a, over ? "good_again" : NULL);
}

static void restore_one(void *ctx, struct slice doc)
{
	struct lookout *w = ctx;
	struct alert *a = alert_read(doc);

	if (!a || a->ended_ms) {
		alert_free(a);
		return;
	}
	pthread_mutex_lock(&w->lock);
	a->next = w->alerts;
	w->alerts = a;
	pthread_mutex_unlock(&w->lock);
}

bool lookout_restore(struct lookout *w)
{
	w->is_restored =
		archive_alerts(w->f->store,
			       &(struct archive_alerts){ .open = true, .limit = RESTORE_MAX },
			       restore_one, w) >= 0;
	return w->is_restored;
}
