/* SPDX-License-Identifier: Apache-2.0 */
/* api_plan.c - plans: read, replaced, changed by single rules, taken back. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "manager/bus/bus.h"
#include "manager/fleet/plan.h"
#include "manager/http/request.h"

enum { AGAIN_MS = 100 };

/* ---- what is in force ---- */

static void put_rule_status(struct json *j, const struct plan_rule *rule,
			    const struct rule_status *r, bool there)
{
	json_open(j, '{');
	json_put_nonempty(j, "text", rule->text);
	json_put_nonempty(j, "state", reconcile_word(there ? r->state : RULE_PENDING));
	if (there && r->number) {
		json_put_u64(j, "methods", r->methods);
		json_put_u64(j, "classes", r->classes);
		json_put_u64(j, "calls", r->calls);
	}
	json_put_nonempty(j, "why", r->why);
	json_close(j, '}');
}

static void put_status(struct json *j, const struct app *a, const struct instance *i)
{
	static const struct rule_status none = { .state = RULE_PENDING };

	json_open(j, '{');
	json_put_nonempty(j, "instance", i->id);
	json_put_u64(j, "version", i->plan_version);
	json_put_open(j, "rules", '[');
	for (size_t k = 0; k < a->plan.n; k++)
		put_rule_status(j, &a->plan.rules[k], k < i->n_rules ? &i->rules[k] : &none,
				i->state == INSTANCE_CONNECTED);
	json_close(j, ']');
	json_close(j, '}');
}

struct far_status {
	struct json *j;
	const struct app *a;
};

/* Of a process of another manager only the states are known. */
static void put_far_status(void *ctx, const struct far_instance *i)
{
	struct far_status *s = ctx;
	size_t n = strlen(i->rules);

	if (i->has_ended)
		return;
	json_open(s->j, '{');
	json_put_text(s->j, "instance", i->id);
	json_put_text(s->j, "manager", i->manager);
	json_put_u64(s->j, "version", i->plan_version);
	json_put_open(s->j, "rules", '[');
	for (size_t k = 0; k < s->a->plan.n; k++) {
		enum rule_state state = RULE_PENDING;

		for (int one = RULE_PENDING; k < n && one <= RULE_GONE; one++)
			if (reconcile_word((enum rule_state)one)[0] == i->rules[k])
				state = (enum rule_state)one;
		json_open(s->j, '{');
		json_put_text(s->j, "text", s->a->plan.rules[k].text);
		json_put_text(s->j, "state",
			      reconcile_word(i->plan_version == s->a->plan.version ? state
										   : RULE_PENDING));
		json_close(s->j, '}');
	}
	json_close(s->j, ']');
	json_close(s->j, '}');
}

static void put_plan(struct json *j, const struct fleet *f, const struct app *a)
{
	const struct plan *p = &a->plan;

	json_put_nonempty(j, "application", a->name);
	json_put_u64(j, "version", p->version);
	if (p->changed_ms)
		json_put_u64(j, "changed_ms", p->changed_ms);
	json_put_nonempty(j, "by", p->by);
	json_put_nonempty(j, "comment", p->comment);
	plan_json(p, j);
	json_put_open(j, "status", '[');
	for (struct instance *i = f->instances; i; i = i->next)
		if (i->app == a && i->state != INSTANCE_ENDED && i->hold != HOLD_OTHERS)
			put_status(j, a, i);
	bus_each(f->bus, slice_str(a->name), put_far_status, &(struct far_status){ j, a });
	json_close(j, ']');
}

int api_plan(struct api_request *c)
{
	struct json j;
	struct app *a;

	pthread_mutex_lock(&c->f->lock);
	a = request_app(c);
	if (a) {
		j = request_json(c);
		put_plan(&j, c->f, a);
		json_close(&j, '}');
	}
	pthread_mutex_unlock(&c->f->lock);
	return a ? 200 : 404;
}

/* ---- what is wrong ---- */

static void put_problems(struct json *j, const struct rule_errors *errors)
{
	json_put_open(j, "problems", '[');
	for (size_t i = 0; i < errors->n; i++) {
		const struct rule_error *e = &errors->list[i];

		json_open(j, '{');
		json_put_u64(j, "line", (uint64_t)e->line);
		json_put_u64(j, "column", (uint64_t)e->column);
		json_put_nonempty(j, "text", e->text);
		json_put_nonempty(j, "hint", e->hint);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static int fail_rules(struct api_request *c, const struct rule_errors *errors)
{
	struct json j = request_json(c);

	json_put_open(&j, "error", '{');
	json_put_nonempty(&j, "code", "rules");
	json_put_nonempty(&j, "text", errors->n ? errors->list[0].text : "the rules are wrong");
	put_problems(&j, errors);
	json_close(&j, '}');
	return request_end(&j, 400);
}

static int fail_conflict(struct api_request *c)
{
	struct app *a;
	struct json j = request_json(c);
	uint64_t version;

	pthread_mutex_lock(&c->f->lock);
	a = fleet_app(c->f, c->args[0]);
	version = a ? a->plan.version : 0;
	pthread_mutex_unlock(&c->f->lock);
	json_put_open(&j, "error", '{');
	json_put_nonempty(&j, "code", "conflict");
	json_put_nonempty(&j, "text", "somebody has changed the plan meanwhile: read it again");
	json_put_u64(&j, "version", version);
	json_close(&j, '}');
	return request_end(&j, 409);
}

static int answer(struct api_request *c, const struct plan_draft *d, int rc)
{
	switch (rc) {
	case E_SYNTAX:
		return fail_rules(c, &d->errors);
	case E_DUPLICATE:
		return fail_conflict(c);
	case E_NOT_FOUND:
		return request_fail(c, 404, "not_found", "there is no such application");
	case E_LIMIT:
		return request_fail(c, 400, "too_many", "a plan has at most %d rules of 8 KiB",
				    FLEET_RULES);
	case E_DAMAGED:
		return request_fail(
			c, 409, "damaged",
			"the plan in the store cannot be read, and is not overwritten; go back"
			" to another version");
	case E_USAGE:
		return request_fail(c, 400, "usage", "the body is not what docs/api.md says");
	case E_IO:
		return request_fail(c, 503, "store", "the store does not take the plan now");
	default:
		return rc < 0 ? request_fail(c, 500, "store", "the plan could not be written")
			      : api_plan(c);
	}
}

/* ---- changes ---- */

static void set_by(struct api_request *c, struct plan_draft *d, const cJSON *body)
{
	const cJSON *comment = cJSON_GetObjectItem(body, "comment");

	snprintf(d->plan.by, sizeof(d->plan.by), "%s", c->who);
	snprintf(d->plan.comment, sizeof(d->plan.comment), "%s",
		 cJSON_IsString(comment) ? comment->valuestring : "");
}

static cJSON *parse(struct api_request *c)
{
	cJSON *body = cJSON_ParseWithLength((const char *)c->body.p, c->body.n);

	if (cJSON_IsObject(body))
		return body;
	cJSON_Delete(body);
	return NULL;
}

static bool number_of(const cJSON *body, const char *key, uint64_t *out)
{
	const cJSON *v = cJSON_GetObjectItem(body, key);

	if (!v)
		return true;
	if (!cJSON_IsNumber(v) || v->valuedouble < 0 || v->valuedouble > 1e15)
		return false;
	*out = (uint64_t)v->valuedouble;
	return true;
}

int api_plan_put(struct api_request *c)
{
	uint64_t before = UINT64_MAX;
	struct plan_draft d;
	cJSON *body = parse(c);
	int rc = plan_draft(c->f, c->args[0], &d), status;

	if (rc >= 0 && (!body || !number_of(body, "version", &before) || before == UINT64_MAX))
		rc = E_USAGE;
	if (rc >= 0)
		rc = plan_read(buf_slice(&c->body), &d);
	set_by(c, &d, body);
	if (rc >= 0)
		rc = plan_put(c->f, c->args[0], &d, before);
	status = answer(c, &d, rc);
	plan_draft_release(&d);
	cJSON_Delete(body);
	return status;
}

/* A rule in Sonde's own spelling, as plans have them. */
static int spelled(struct plan_draft *one, const char *text)
{
	int rc = plan_draft_add(one, slice_str(text), "person", 0);

	return rc < 0 ? rc : plan_draft_check(one);
}

static int unhook_all(struct plan_draft *d, const cJSON *list)
{
	const cJSON *v;

	cJSON_ArrayForEach(v, list)
	{
		struct plan_draft one = { 0 };

		if (!cJSON_IsString(v))
			return E_USAGE;
		if (!plan_draft_remove(d, slice_str(v->valuestring)) &&
		    spelled(&one, v->valuestring) >= 0 && one.plan.n)
			plan_draft_remove(d, slice_str(one.plan.rules[0].text));
		plan_draft_release(&one);
	}
	return 0;
}

static int hook_all(struct plan_draft *d, const cJSON *list, uint64_t expires_ms)
{
	const cJSON *v;
	int rc = 0;

	cJSON_ArrayForEach(v, list)
	{
		rc = cJSON_IsString(v)
			     ? plan_draft_add(d, slice_str(v->valuestring), "person", expires_ms)
			     : E_USAGE;
		if (rc < 0)
			break;
	}
	return rc;
}

/* Whoever is overtaken tries again: single rules cannot conflict. */
static int change_rules(struct api_request *c, const cJSON *body, struct plan_draft *d)
{
	const cJSON *hook = cJSON_GetObjectItem(body, "hook");
	const cJSON *unhook = cJSON_GetObjectItem(body, "unhook");
	uint64_t expires = 0;
	int rc = E_DUPLICATE;

	if (!body || (hook && !cJSON_IsArray(hook)) || (unhook && !cJSON_IsArray(unhook)) ||
	    !number_of(body, "expires_ms", &expires))
		return E_USAGE;
	for (unsigned tries = 0; rc == E_DUPLICATE && tries < 20; tries++) {
		if (tries > 1) /* another manager is at it */
			usleep(AGAIN_MS * 1000);
		plan_draft_release(d);
		rc = plan_draft(c->f, c->args[0], d);
		set_by(c, d, body);
		if (rc >= 0)
			rc = unhook_all(d, unhook);
		if (rc >= 0)
			rc = hook_all(d, hook, expires);
		if (rc >= 0)
			rc = plan_put(c->f, c->args[0], d, d->plan.version);
	}
	return rc;
}

int api_plan_rules(struct api_request *c)
{
	struct plan_draft d = { 0 };
	cJSON *body = parse(c);
	int status = answer(c, &d, change_rules(c, body, &d));

	if (status == 400 && d.errors.n)
		status = fail_rules(c, &d.errors);
	plan_draft_release(&d);
	cJSON_Delete(body);
	return status;
}

/* ---- history ---- */

struct version {
	struct plan_draft draft;
	struct slice by, comment;
	bool found, is_damaged;
};

struct versions {
	struct arena *mem;
	struct version *v;
	size_t n, cap;
};

static void take_version(void *ctx, const struct archive_plan *p)
{
	struct versions *all = ctx;
	struct version *v;

	if (all->n == all->cap)
		return;
	v = &all->v[all->n++];
	*v = (struct version){ .found = true };
	v->is_damaged = plan_read(p->doc, &v->draft) < 0;
	v->draft.plan.version = p->version;
	v->draft.plan.changed_ms = p->changed_ms;
	v->by = arena_dup(all->mem, p->by);
	v->comment = arena_dup(all->mem, p->comment);
}

static bool has(const struct plan *p, const char *text)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->rules[i].text, text) == 0)
			return true;
	return false;
}

static void put_difference(struct json *j, const char *key, const struct plan *in,
			   const struct plan *not_in)
{
	json_put_open(j, key, '[');
	for (size_t i = 0; i < in->n; i++)
		if (!has(not_in, in->rules[i].text))
			json_text(j, in->rules[i].text);
	json_close(j, ']');
}

static void put_version(struct json *j, const struct version *v, const struct plan *before)
{
	json_open(j, '{');
	json_put_u64(j, "version", v->draft.plan.version);
	json_put_u64(j, "changed_ms", v->draft.plan.changed_ms);
	json_put_str(j, "by", v->by);
	json_put_str(j, "comment", v->comment);
	put_difference(j, "added", &v->draft.plan, before);
	put_difference(j, "removed", before, &v->draft.plan);
	json_close(j, '}');
}

static int read_versions(struct api_request *c, struct versions *all, uint64_t version,
			 size_t limit)
{
	all->mem = &c->mem;
	all->cap = limit;
	all->v = arena_zero(&c->mem, limit * sizeof(*all->v));
	if (!all->v)
		return E_NO_MEMORY;
	return archive_plans(c->f->store, c->args[0], version, (unsigned)limit, take_version, all);
}

static void versions_release(struct versions *all)
{
	for (size_t i = 0; i < all->n; i++)
		plan_draft_release(&all->v[i].draft);
}

int api_plan_history(struct api_request *c)
{
	static const struct plan nothing = { 0 };
	struct versions all = { 0 };
	uint64_t limit = 50;
	struct json j;

	if (!query_number(&c->query, "limit", 1, 1000, &limit))
		return request_fail(c, 400, "usage", "limit is a number up to 1000");
	if (read_versions(c, &all, 0, limit + 1) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	j = request_json(c);
	json_put_open(&j, "versions", '[');
	for (size_t i = 0; i < all.n && i < limit; i++)
		put_version(&j, &all.v[i], i + 1 < all.n ? &all.v[i + 1].draft.plan : &nothing);
	json_close(&j, ']');
	versions_release(&all);
	return request_end(&j, 200);
}

int api_plan_version(struct api_request *c)
{
	uint64_t version = strtoull((const char *)c->args[1].p, NULL, 10);
	struct versions all = { 0 };
	struct json j;

	if (version && read_versions(c, &all, version, 1) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	if (!all.n)
		return request_fail(c, 404, "not_found", "there is no such version");
	j = request_json(c);
	json_put_str(&j, "application", c->args[0]);
	json_put_u64(&j, "version", version);
	json_put_u64(&j, "changed_ms", all.v[0].draft.plan.changed_ms);
	json_put_str(&j, "by", all.v[0].by);
	json_put_str(&j, "comment", all.v[0].comment);
	plan_json(&all.v[0].draft.plan, &j);
	versions_release(&all);
	return request_end(&j, 200);
}

/* The rules and settings of `version`, as a new version.  Version 0 is the empty plan. */
static int undo_to(struct api_request *c, uint64_t version, struct plan_draft *d, const cJSON *body)
{
	struct versions all = { 0 };
	uint64_t before = d->plan.version;
	int rc = 0;

	if (!version) {
		plan_draft_clear(d);
	} else {
		rc = read_versions(c, &all, version, 1);
		if (rc >= 0 && !all.n)
			rc = E_NOT_FOUND;
		if (rc >= 0 && all.v[0].is_damaged)
			rc = E_DAMAGED;
		if (rc >= 0) {
			plan_draft_release(d);
			*d = all.v[0].draft;
			all.n = 0;
		}
	}
	d->replaces_damaged = true;
	set_by(c, d, body);
	if (!d->plan.comment[0])
		snprintf(d->plan.comment, sizeof(d->plan.comment), "back to version %llu",
			 (unsigned long long)version);
	return rc < 0 ? rc : plan_put(c->f, c->args[0], d, before);
}

int api_plan_undo(struct api_request *c)
{
	struct plan_draft d;
	cJSON *body = parse(c);
	int rc = plan_draft(c->f, c->args[0], &d), status;
	uint64_t version = d.plan.version ? d.plan.version - 1 : 0;

	if (rc >= 0 && (!body || !number_of(body, "version", &version)))
		rc = E_USAGE;
	if (rc >= 0)
		rc = undo_to(c, version, &d, body);
	status = answer(c, &d, rc);
	plan_draft_release(&d);
	cJSON_Delete(body);
	return status;
}

/* ---- without taking it into force ---- */

int api_rules_check(struct api_request *c)
{
	cJSON *body = parse(c);
	const cJSON *text = cJSON_GetObjectItem(body, "rules");
	struct plan_draft d = { 0 };
	char *copy = cJSON_IsString(text) ? strdup(text->valuestring) : NULL, *rest = copy, *line;
	struct json j;
	int rc = copy ? 0 : E_USAGE;

	while (rc >= 0 && (line = strsep(&rest, "\n")))
		if (line[strspn(line, " \t\r")])
			rc = plan_draft_add(&d, slice_str(line), "person", 0);
	if (rc >= 0)
		rc = plan_draft_check(&d);
	if (rc >= 0 || rc == E_SYNTAX) {
		j = request_json(c);
		json_put_bool(&j, "ok", rc >= 0);
		json_put_open(&j, "rules", '[');
		for (size_t i = 0; rc >= 0 && i < d.plan.n; i++)
			json_text(&j, d.plan.rules[i].text);
		json_close(&j, ']');
		put_problems(&j, &d.errors);
		rc = request_end(&j, 200);
	} else {
		rc = answer(c, &d, rc);
	}
	free(copy);
	plan_draft_release(&d);
	cJSON_Delete(body);
	return rc;
}
