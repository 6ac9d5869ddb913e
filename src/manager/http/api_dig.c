/* SPDX-License-Identifier: Apache-2.0 */
/* api_dig.c - digs: started, watched, cancelled, and their findings pushed to all processes. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "jvm/proc.h"
#include "manager/fleet/digs.h"
#include "manager/fleet/plan.h"
#include "manager/http/request.h"

struct list {
	struct json j;
	struct fleet *f;
	unsigned n;
};

/* Those that are still here come from here. */
static void put_stored(void *ctx, struct slice doc)
{
	struct list *l = ctx;
	cJSON *d = cJSON_ParseWithLength((const char *)doc.p, doc.n);
	const cJSON *id = cJSON_GetObjectItem(d, "id");
	bool here = false;

	pthread_mutex_lock(&l->f->lock);
	if (cJSON_IsString(id))
		here = digs_find(l->f, slice_str(id->valuestring)) != NULL;
	pthread_mutex_unlock(&l->f->lock);
	if (cJSON_IsString(id) && !here) {
		if (l->j.more)
			buf_u8(l->j.out, ',');
		buf_put(l->j.out, doc);
		l->j.more = true;
	}
	cJSON_Delete(d);
}

int api_digs(struct api_request *c)
{
	struct slice app = query_get(&c->query, "application");
	struct list l = { .f = c->f };
	uint64_t limit = 50;

	if (!query_number(&c->query, "limit", 1, 1000, &limit))
		return request_fail(c, 400, "usage", "limit is a number up to 1000");
	l.j = request_json(c);
	json_put_open(&l.j, "digs", '[');
	pthread_mutex_lock(&c->f->lock);
	for (struct dug *d = c->f->digs; d; d = d->next)
		if (!app.n || slice_is(app, d->app))
			digs_json(d, &l.j);
	pthread_mutex_unlock(&c->f->lock);
	archive_digs(c->f->store, app, (unsigned)limit, put_stored, &l);
	json_close(&l.j, ']');
	return request_end(&l.j, 200);
}

static void put_found(void *ctx, struct slice doc)
{
	struct api_request *c = ctx;

	buf_put(&c->out, doc);
}

int api_dig(struct api_request *c)
{
	struct json j = json_to(&c->out);
	struct dug *d;

	pthread_mutex_lock(&c->f->lock);
	d = digs_find(c->f, c->args[0]);
	if (d)
		digs_json(d, &j);
	pthread_mutex_unlock(&c->f->lock);
	if (!d)
		archive_dig(c->f->store, c->args[0], put_found, c);
	return c->out.n ? 200 : request_fail(c, 404, "not_found", "there is no such dig");
}

/* ---- start ---- */

static int start(struct api_request *c, const struct digs_wish *w)
{
	struct json j = json_to(&c->out);
	struct dug *d;
	int rc;

	pthread_mutex_lock(&c->f->lock);
	rc = digs_start(c->f, w, &d);
	if (rc >= 0)
		digs_json(d, &j);
	pthread_mutex_unlock(&c->f->lock);
	if (rc == E_NOT_FOUND)
		return request_fail(c, 404, "not_found", "that process is not connected");
	if (rc == E_LIMIT)
		return request_fail(c, 429, "too_many", "%d digs run already", DIGS_AT_ONCE);
	if (rc < 0)
		return request_fail(c, 500, "start", "%s could not be started",
				    c->f->config->sonde);
	return 202;
}

int api_dig_start(struct api_request *c)
{
	cJSON *body = cJSON_ParseWithLength((const char *)c->body.p, c->body.n);
	const cJSON *instance = cJSON_GetObjectItem(body, "instance");
	const cJSON *method = cJSON_GetObjectItem(body, "method");
	const cJSON *for_ms = cJSON_GetObjectItem(body, "for_ms");
	const cJSON *budget = cJSON_GetObjectItem(body, "budget");
	struct digs_wish w = { .by = slice_str(c->who) };
	int status;

	if (cJSON_IsString(instance))
		w.instance = slice_str(instance->valuestring);
	if (cJSON_IsString(method))
		w.method = slice_str(method->valuestring);
	if (cJSON_IsNumber(for_ms) && for_ms->valuedouble >= 1000 && for_ms->valuedouble <= 600000)
		w.for_ms = (uint64_t)for_ms->valuedouble;
	if (cJSON_IsNumber(budget) && budget->valuedouble > 0 && budget->valuedouble <= 1)
		w.budget = budget->valuedouble;
	if (!w.instance.n || (for_ms && !w.for_ms) || (budget && w.budget <= 0))
		status = request_fail(
			c, 400, "usage",
			"instance is needed; for_ms is up to 600000, budget a share up to 1");
	else
		status = start(c, &w);
	cJSON_Delete(body);
	return status;
}

int api_dig_cancel(struct api_request *c)
{
	struct dug *d;

	pthread_mutex_lock(&c->f->lock);
	d = digs_find(c->f, c->args[0]);
	if (d)
		digs_cancel(d);
	pthread_mutex_unlock(&c->f->lock);
	return d ? 204 : request_fail(c, 404, "not_found", "no such dig runs");
}

/* ---- push ---- */

static struct slice rules_of(struct api_request *c, struct slice *app)
{
	struct slice rules = { NULL, 0 };
	struct dug *d;

	pthread_mutex_lock(&c->f->lock);
	d = digs_find(c->f, c->args[0]);
	if (d) {
		rules = arena_dup(&c->mem, buf_slice(&d->rules));
		*app = arena_dup(&c->mem, slice_str(d->app));
	}
	pthread_mutex_unlock(&c->f->lock);
	return rules;
}

static int add_rules(struct plan_draft *d, struct slice rules)
{
	struct slice line;
	int rc = 0;

	while (rc >= 0 && proc_line(&rules, &line))
		if (line.n)
			rc = plan_draft_add(d, line, "dig", 0);
	return rc;
}

static int push(struct api_request *c, struct slice app, struct slice rules)
{
	struct plan_draft d = { 0 };
	int rc = E_DUPLICATE;

	for (int tries = 0; rc == E_DUPLICATE && tries < 20; tries++) {
		plan_draft_release(&d);
		rc = plan_draft(c->f, app, &d);
		snprintf(d.plan.by, sizeof(d.plan.by), "%s", c->who);
		snprintf(d.plan.comment, sizeof(d.plan.comment), "found by dig %.*s",
			 SLICE_FMT(c->args[0]));
		if (rc >= 0)
			rc = add_rules(&d, rules);
		if (rc >= 0)
			rc = plan_put(c->f, app, &d, d.plan.version);
	}
	plan_draft_release(&d);
	return rc;
}

int api_dig_push(struct api_request *c)
{
	struct slice app = { NULL, 0 }, rules = rules_of(c, &app);
	struct app *a;
	struct dug *d;
	int rc;

	if (!app.n)
		return request_fail(c, 404, "not_found", "there is no such dig, or it is too old");
	if (!rules.n)
		return request_fail(c, 409, "no_rules",
				    "this dig has found nothing that could be hooked");
	rc = push(c, app, rules);
	if (rc < 0)
		return request_fail(c, 500, "plan", "the plan could not be changed: %s",
				    err_text(rc));
	pthread_mutex_lock(&c->f->lock);
	a = fleet_app(c->f, app);
	d = digs_find(c->f, c->args[0]);
	if (a && d)
		digs_pushed(c->f, d, a->plan.version);
	pthread_mutex_unlock(&c->f->lock);
	c->args[0] = app;
	return api_plan(c);
}
