/* SPDX-License-Identifier: Apache-2.0 */
/* bus_plans.c - plans that are newer here than on the bus go there; those that are newer there come here.
 *
 * Which version is which is the store's word, so a number stands for one plan wherever it is seen. */
#include <stdio.h>
#include <stdlib.h>

#include "manager/bus/bus_priv.h"
#include "manager/fleet/plan.h"
#include "manager/json_in.h"

enum { DOC_MAX = 512 << 10 };

static struct told_plan *told(struct bus *b, const char *app)
{
	const uintptr_t *at = map_get(&b->plans_at, slice_str(app));

	return at ? (struct told_plan *)*at : NULL;
}

static void mirror(struct bus *b, const char *app, uint64_t version, uint64_t revision)
{
	struct told_plan *p = told(b, app);
	uintptr_t *at;

	if (!p) {
		p = b->n_plans < PLANS_MAX ? calloc(1, sizeof(*p)) : NULL;
		if (!p)
			return;
		snprintf(p->app, sizeof(p->app), "%s", app);
		at = map_put(&b->plans_at, slice_str(p->app), NULL);
		if (!at) {
			free(p);
			return;
		}
		*at = (uintptr_t)p;
		p->next = b->plans;
		b->plans = p;
		b->n_plans++;
	}
	p->version = version;
	p->revision = revision;
}

void bus_plans_forget(struct bus *b)
{
	map_release(&b->plans_at);
	b->n_plans = 0;
	while (b->plans) {
		struct told_plan *p = b->plans;

		b->plans = p->next;
		free(p);
	}
}

/* ---- there ---- */

struct outbound {
	char app[HUB_APP];
	uint64_t version, revision;
	struct buf doc;
};

static void write_doc(const struct app *a, struct buf *out)
{
	for (bool whole = true; out->n == 0; whole = false) {
		struct json j = json_to(out);

		json_open(&j, '{');
		json_put_u64(&j, "version", a->plan.version);
		if (whole) {
			json_put_u64(&j, "changed_ms", a->plan.changed_ms);
			json_put_text(&j, "by", a->plan.by);
			json_put_text(&j, "comment", a->plan.comment);
			plan_json(&a->plan, &j);
		}
		json_close(&j, '}');
		if (whole && out->n > DOC_MAX)
			buf_clear(out);
	}
}

/* The first plan that the bus does not have. */
static bool find(struct bus *b, struct outbound *out)
{
	bool found = false;

	pthread_mutex_lock(&b->f->lock);
	pthread_mutex_lock(&b->lock);
	for (const struct app *a = b->f->apps; a && b->is_up && !found; a = a->next) {
		const struct told_plan *p = told(b, a->name);

		found = a->plan.version > (p ? p->version : 0) && !a->is_damaged;
		if (!found)
			continue;
		snprintf(out->app, sizeof(out->app), "%s", a->name);
		out->version = a->plan.version;
		out->revision = p ? p->revision : 0;
		write_doc(a, &out->doc);
	}
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&b->f->lock);
	return found && !out->doc.err;
}

void bus_plans_step(struct bus *b)
{
	for (unsigned n = 0; n < PLANS_MAX; n++) {
		struct outbound out = { 0 };
		char key[BUS_KEY];
		bool found = find(b, &out);
		int rc = found && bus_key_make(key, "plan", slice_str(out.app))
				 ? bus_link_put(b->link, key, buf_slice(&out.doc), &out.revision)
				 : E_IO;

		buf_release(&out.doc);
		if (rc < 0) /* E_DUPLICATE: what is there is on its way to us */
			return;
		pthread_mutex_lock(&b->lock);
		mirror(b, out.app, out.version, out.revision);
		pthread_mutex_unlock(&b->lock);
	}
}

/* ---- here ---- */

static struct slice text_of(const cJSON *all, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(all, key);

	return slice_str(cJSON_IsString(v) ? v->valuestring : "");
}

/* As strict as with a request. */
static bool is_good(struct slice doc)
{
	struct plan_draft d = { 0 };
	bool good = plan_read(doc, &d) >= 0 && plan_draft_check(&d) >= 0;

	plan_draft_release(&d);
	return good;
}

static void learn(struct bus *b, const char *app, const cJSON *all, const struct bus_entry *e)
{
	uint64_t version = json_in_u64(cJSON_GetObjectItem(all, "version"));
	struct archive_plan p = { .app = slice_str(app),
				  .by = text_of(all, "by"),
				  .comment = text_of(all, "comment"),
				  .doc = e->value,
				  .version = version,
				  .changed_ms =
					  json_in_u64(cJSON_GetObjectItem(all, "changed_ms")) };
	struct app *a;
	bool newer;

	pthread_mutex_lock(&b->f->lock);
	a = fleet_app(b->f, p.app);
	newer = a ? version > a->plan.version : version > 0 && bus_apps_left(b) > 0;
	pthread_mutex_unlock(&b->f->lock);
	if (!newer)
		return;
	if (cJSON_GetObjectItem(all, "rules") && is_good(e->value))
		plan_learn(b->f, &p);
	else
		plan_pull(b->f, p.app);
}

void bus_plans_take(struct bus *b, const struct bus_entry *e)
{
	char app[HUB_APP];
	cJSON *all = e->is_gone ? NULL
				: cJSON_ParseWithLength((const char *)e->value.p, e->value.n);

	if (bus_key_read(e->key, "plan", app, sizeof(app))) {
		pthread_mutex_lock(&b->lock);
		mirror(b, app, json_in_u64(cJSON_GetObjectItem(all, "version")), e->revision);
		pthread_mutex_unlock(&b->lock);
		if (cJSON_IsObject(all))
			learn(b, app, all, e);
	}
	cJSON_Delete(all);
}
