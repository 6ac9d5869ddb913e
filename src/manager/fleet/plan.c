/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - plans as drafts, as JSON, and into the store. */
#include "manager/fleet/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manager/json_in.h"
#include "rule/print.h"

enum { TEXT_MAX_BYTES = 8 << 10, USUAL_ONE_IN = 100 };

/* One change at a time, since it is written while the fleet's lock is open. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

static void rules_free(struct plan_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(rules[i].text);
	free(rules);
}

void plan_release(struct plan *p)
{
	rules_free(p->rules, p->n);
	p->rules = NULL;
	p->n = 0;
}

/* ---- drafts ---- */

void plan_draft_clear(struct plan_draft *d)
{
	plan_release(&d->plan);
	d->cap = 0;
}

void plan_draft_release(struct plan_draft *d)
{
	plan_draft_clear(d);
}

int plan_draft_add(struct plan_draft *d, struct slice text, const char *origin, uint64_t expires_ms)
{
	struct plan *p = &d->plan;
	size_t cap = d->cap ? d->cap * 2 : 16;
	struct plan_rule *all = p->rules;

	if (p->n >= FLEET_RULES || text.n > TEXT_MAX_BYTES)
		return E_LIMIT;
	if (p->n == d->cap) {
		all = realloc(all, cap * sizeof(*all));
		if (!all)
			return E_NO_MEMORY;
		p->rules = all;
		d->cap = cap;
	}
	all[p->n] = (struct plan_rule){ .text = strndup((const char *)text.p, text.n),
					.expires_ms = expires_ms };
	if (!all[p->n].text)
		return E_NO_MEMORY;
	snprintf(all[p->n].origin, sizeof(all->origin), "%s", origin);
	p->n++;
	return 0;
}

bool plan_draft_remove(struct plan_draft *d, struct slice text)
{
	struct plan *p = &d->plan;

	for (size_t i = 0; i < p->n; i++) {
		if (!slice_is(text, p->rules[i].text))
			continue;
		free(p->rules[i].text);
		memmove(p->rules + i, p->rules + i + 1, (p->n - i - 1) * sizeof(*p->rules));
		p->n--;
		return true;
	}
	return false;
}

static int copy(const struct plan *from, struct plan_draft *to)
{
	int rc = 0;

	to->plan = *from;
	to->plan.rules = NULL;
	to->plan.n = to->cap = 0;
	for (size_t i = 0; i < from->n && rc >= 0; i++)
		rc = plan_draft_add(to, slice_str(from->rules[i].text), from->rules[i].origin,
				    from->rules[i].expires_ms);
	return rc;
}

int plan_draft(struct fleet *f, struct slice app, struct plan_draft *d)
{
	struct app *a;
	int rc;

	*d = (struct plan_draft){ 0 };
	pthread_mutex_lock(&f->lock);
	a = fleet_app(f, app);
	rc = a ? copy(&a->plan, d) : E_NOT_FOUND;
	pthread_mutex_unlock(&f->lock);
	return rc;
}

/* ---- rules ---- */

static bool begins_with_word(const char *text)
{
	static const char *const words[] = { "hook",  "skip",	 "template", "capture",
					     "ahead", "at-load", "live" };
	size_t n = strcspn(text, " \t");

	for (size_t i = 0; i < COUNT(words); i++)
		if (strlen(words[i]) == n && strncmp(words[i], text, n) == 0)
			return true;
	return false;
}

/* One rule a line; what has no word in front is a hook. */
static int put_text(const struct plan *p, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *text = p->rules[i].text;

		if (!begins_with_word(text))
			buf_text(out, "hook ");
		for (; *text; text++)
			buf_u8(out, *text == '\n' || *text == '\r' ? ' ' : (uint8_t)*text);
		buf_u8(out, '\n');
	}
	return out->err;
}

static int spell(struct plan *p, const struct rules *rules)
{
	if (rules->n != p->n) /* a comment, or nothing, in place of a rule */
		return E_SYNTAX;
	for (size_t i = 0; i < p->n; i++) {
		struct buf text = { 0 };
		char *own;

		rule_print(rules->all[i], &text);
		while (text.n && text.p[text.n - 1] == '\n')
			text.n--;
		own = text.err ? NULL : strndup((const char *)text.p, text.n);
		buf_release(&text);
		if (!own)
			return E_NO_MEMORY;
		free(p->rules[i].text);
		p->rules[i].text = own;
	}
	return 0;
}

/* A template is code out of a file of the process's machine: not by this way. */
static int refuse_templates(const struct rules *rules, struct rule_errors *errors)
{
	for (size_t i = 0; i < rules->n; i++)
		if (rules->all[i]->kind == RULE_TEMPLATE)
			return rule_error_add(errors, rules->all[i]->source, rules->all[i]->at,
					      "use `sonde hook --rules` on its machine",
					      "templates cannot be part of a plan");
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a && b ? (a > b ? a : b) : 0; /* 0: never */
}

/* A rule that is asked for again stays as long as the one who asked last, or first, wants it. */
static void drop_twins(struct plan_draft *d)
{
	struct plan *p = &d->plan;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = p->n; k-- > i + 1;)
			if (strcmp(p->rules[i].text, p->rules[k].text) == 0) {
				p->rules[i].expires_ms =
					later(p->rules[i].expires_ms, p->rules[k].expires_ms);
				free(p->rules[k].text);
				memmove(p->rules + k, p->rules + k + 1,
					(p->n - k - 1) * sizeof(*p->rules));
				p->n--;
			}
}

static bool is_same(const struct plan *a, const struct plan *b)
{
	bool same = a->n == b->n && a->keep_traces == b->keep_traces &&
		    a->at_least_ns == b->at_least_ns && a->one_in == b->one_in;

	for (size_t i = 0; i < a->n && same; i++)
		same = strcmp(a->rules[i].text, b->rules[i].text) == 0 &&
		       a->rules[i].expires_ms == b->rules[i].expires_ms;
	return same;
}

int plan_draft_check(struct plan_draft *d)
{
	struct buf text = { 0 };
	struct rules *rules = NULL;
	struct arena mem;
	int rc = put_text(&d->plan, &text);

	arena_init(&mem);
	if (rc >= 0 && d->plan.n)
		rc = rules_parse(&mem, buf_slice(&text), "plan", &rules, &d->errors);
	if (rc >= 0 && rules)
		rc = refuse_templates(rules, &d->errors);
	if (rc >= 0 && rules)
		rc = spell(&d->plan, rules);
	if (rc == E_SYNTAX && !d->errors.n)
		rule_error_add(&d->errors, &(struct rule_source){ "plan", buf_slice(&text) },
			       (struct rule_pos){ 1, 1 }, NULL,
			       "there is not one rule in each text");
	if (rc >= 0)
		drop_twins(d);
	arena_release(&mem);
	buf_release(&text);
	return rc;
}

/* ---- JSON ---- */

void plan_json(const struct plan *p, struct json *j)
{
	json_put_open(j, "rules", '[');
	for (size_t i = 0; i < p->n; i++) {
		json_open(j, '{');
		json_put_text(j, "text", p->rules[i].text);
		json_put_text(j, "origin", p->rules[i].origin);
		if (p->rules[i].expires_ms) {
			json_put_u64(j, "expires_ms", p->rules[i].expires_ms);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
	json_put_open(j, "traces", '{');
	json_put_bool(j, "keep", p->keep_traces);
	json_put_u64(j, "at_least_ns", p->at_least_ns);
	json_put_u64(j, "one_in", p->one_in);
	json_close(j, '}');
}

static int read_rules(const cJSON *list, struct plan_draft *d)
{
	const cJSON *one;
	int rc = 0;

	cJSON_ArrayForEach(one, list)
	{
		const cJSON *text = cJSON_IsString(one) ? one : cJSON_GetObjectItem(one, "text");
		const cJSON *origin = cJSON_GetObjectItem(one, "origin");
		bool dug = cJSON_IsString(origin) && strcmp(origin->valuestring, "dig") == 0;

		if (!cJSON_IsString(text))
			return E_USAGE;
		rc = plan_draft_add(d, slice_str(text->valuestring), dug ? "dig" : "person",
				    json_in_u64(cJSON_GetObjectItem(one, "expires_ms")));
		if (rc < 0)
			return rc;
	}
	return rc;
}

int plan_read(struct slice doc, struct plan_draft *d)
{
	cJSON *all = cJSON_ParseWithLength((const char *)doc.p, doc.n);
	const cJSON *rules = cJSON_GetObjectItem(all, "rules");
	const cJSON *traces = cJSON_GetObjectItem(all, "traces");
	int rc = 0;

	if (!cJSON_IsObject(all) || (rules && !cJSON_IsArray(rules)) ||
	    (traces && !cJSON_IsObject(traces)))
		rc = E_USAGE;
	if (rc >= 0 && rules) {
		plan_draft_clear(d);
		rc = read_rules(rules, d);
	}
	if (rc >= 0 && traces) {
		const cJSON *keep = cJSON_GetObjectItem(traces, "keep");
		uint64_t one_in = json_in_u64(cJSON_GetObjectItem(traces, "one_in"));

		if (one_in > UINT32_MAX)
			rc = E_USAGE;
		if (keep)
			d->plan.keep_traces = cJSON_IsTrue(keep);
		d->plan.at_least_ns = json_in_u64(cJSON_GetObjectItem(traces, "at_least_ns"));
		d->plan.one_in = (uint32_t)one_in;
	}
	cJSON_Delete(all);
	return rc;
}

/* ---- into force ---- */

static void tell(struct fleet *f, const struct app *a)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	json_put_text(&j, "application", a->name);
	json_put_u64(&j, "version", a->plan.version);
	json_close(&j, '}');
	hub_put(&f->hub, slice_str(a->name), "plan", buf_slice(&out));
	buf_release(&out);
}

/* Rules that processes have a status of move to the new plan by their text. */
static void install(struct fleet *f, struct app *a, struct plan_draft *d)
{
	for (struct instance *i = f->instances; i; i = i->next)
		if (i->app == a)
			reconcile_move(i, &d->plan);
	plan_release(&a->plan);
	a->plan = d->plan;
	a->is_damaged = d->is_damaged;
	d->plan.rules = NULL;
	d->plan.n = d->cap = 0;
	tell(f, a);
	if (f->changed)
		f->changed(f->bus);
	fleet_wake(f);
}

static void install_newer(struct fleet *f, struct app *a, struct plan_draft *d)
{
	pthread_mutex_lock(&f->lock);
	if (d->plan.version > a->plan.version)
		install(f, a, d);
	pthread_mutex_unlock(&f->lock);
}

static int write_plan(struct fleet *f, const char *app, const struct plan *p)
{
	struct job_plan *job = archive_job(sizeof(*job));
	struct buf doc = { 0 };
	struct json j = json_to(&doc);
	int rc = E_NO_MEMORY;

	if (!job)
		return rc;
	json_open(&j, '{');
	plan_json(p, &j);
	json_close(&j, '}');
	job->job.kind = JOB_PLAN;
	job->app = arena_dup(&job->job.mem, slice_str(app));
	job->by = arena_dup(&job->job.mem, slice_str(p->by));
	job->comment = arena_dup(&job->job.mem, slice_str(p->comment));
	job->doc = arena_dup(&job->job.mem, buf_slice(&doc));
	job->version = p->version;
	job->changed_ms = p->changed_ms;
	if (!doc.err && job->doc.p)
		rc = archive_put_wait(f->store, &job->job);
	buf_release(&doc);
	return rc;
}

static int put_locked(struct fleet *f, struct slice name, struct plan_draft *d, uint64_t before)
{
	struct app *a;
	uint64_t is;
	bool damaged, loaded, same;
	int rc;

	pthread_mutex_lock(&f->lock);
	a = fleet_app(f, name);
	is = a ? a->plan.version : 0;
	damaged = a && a->is_damaged;
	loaded = f->is_loaded;
	same = a && !damaged && is_same(&a->plan, &d->plan);
	pthread_mutex_unlock(&f->lock);
	if (!a)
		return E_NOT_FOUND;
	if (!loaded)
		return E_IO;
	if (damaged && !d->replaces_damaged)
		return E_DAMAGED;
	if (before != UINT64_MAX && before != is)
		return E_DUPLICATE;
	if (same)
		return 0;
	d->plan.version = is + 1;
	d->plan.changed_ms = clock_day_ms();
	rc = write_plan(f, a->name, &d->plan); /* applications stay */
	if (rc == E_DUPLICATE)		       /* another manager was faster */
		plan_pull(f, name);
	if (rc >= 0)
		install_newer(f, a, d);
	return rc;
}

int plan_put(struct fleet *f, struct slice app, struct plan_draft *d, uint64_t before)
{
	int rc = plan_draft_check(d);

	if (rc < 0)
		return rc;
	pthread_mutex_lock(&changing);
	rc = put_locked(f, app, d, before);
	pthread_mutex_unlock(&changing);
	return rc;
}

/* ---- out of the store ---- */

static struct app *outdated(struct fleet *f, const struct archive_plan *p)
{
	struct app *a;

	pthread_mutex_lock(&f->lock);
	a = fleet_app_make(f, p->app);
	if (a && a->plan.version >= p->version)
		a = NULL;
	pthread_mutex_unlock(&f->lock);
	return a;
}

void plan_learn(struct fleet *f, const struct archive_plan *p)
{
	struct app *a = outdated(f, p);
	struct plan_draft d = { .plan = { .keep_traces = true, .one_in = USUAL_ONE_IN } };

	if (!a)
		return;
	if (plan_read(p->doc, &d) < 0) {
		log_put(LOG_ERROR,
			"%.*s: version %llu of its plan cannot be read; its processes stay as they are"
			" until somebody goes back to another version (POST .../plan/undo)",
			SLICE_FMT(p->app), (unsigned long long)p->version);
		plan_draft_clear(&d);
		d.is_damaged = true;
	}
	d.plan.version = p->version;
	d.plan.changed_ms = p->changed_ms;
	snprintf(d.plan.by, sizeof(d.plan.by), "%.*s", SLICE_FMT(p->by));
	snprintf(d.plan.comment, sizeof(d.plan.comment), "%.*s", SLICE_FMT(p->comment));
	install_newer(f, a, &d);
	plan_draft_release(&d);
}

static void take_stored(void *ctx, const struct archive_plan *p)
{
	plan_learn(ctx, p);
}

int plan_pull(struct fleet *f, struct slice app)
{
	return archive_plans(f->store, app, 0, app.n ? 1 : 100000, take_stored, f);
}
