/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/fleet/carried.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fnv.h"
#include "base/mem.h"
#include "jvm/proc.h"

struct carried {
	struct carried *next;
	char id[FLEET_ID];
	struct buf texts; /* each with its line end */
};

static void carried_free(struct carried *c)
{
	buf_release(&c->texts);
	mem_free(c);
}

static void take(void *ctx, struct slice instance, struct slice texts)
{
	struct carried **list = ctx;
	struct carried *c = instance.n < FLEET_ID ? mem_alloc(sizeof(*c)) : NULL;

	if (!c)
		return;
	*c = (struct carried){ .next = *list };
	snprintf(c->id, sizeof(c->id), "%.*s", SLICE_FMT(instance));
	buf_put(&c->texts, texts);
	*list = c;
}

static void free_all(struct carried *c)
{
	while (c) {
		struct carried *next = c->next;

		carried_free(c);
		c = next;
	}
}

int carried_load(struct fleet *f)
{
	struct carried *all = NULL, *old;
	int rc = archive_carried(f->store, take, &all);

	if (rc < 0) {
		free_all(all);
		return rc;
	}
	pthread_mutex_lock(&f->lock);
	old = f->carried;
	f->carried = all;
	pthread_mutex_unlock(&f->lock);
	free_all(old);
	return rc;
}

void carried_release(struct fleet *f)
{
	free_all(f->carried);
	f->carried = NULL;
}

/* It is taken for in; whether it still is, the agent says. */
static void recall_one(struct instance *i, struct slice text)
{
	const struct plan *p = &i->app->plan;

	for (size_t k = 0; k < p->n && k < i->n_rules; k++)
		if (!i->rules[k].number && slice_is(text, p->rules[k].text))
			i->rules[k].number = UINT32_MAX;
}

void carried_recall(struct fleet *f, struct instance *i)
{
	struct carried **at = &f->carried, *c;
	struct slice rest, text;

	if (i->recalled)
		return;
	i->recalled = true;
	while (*at && strcmp((*at)->id, i->id) != 0)
		at = &(*at)->next;
	c = *at;
	if (!c)
		return;
	rest = buf_slice(&c->texts);
	while (proc_line(&rest, &text))
		recall_one(i, text);
	*at = c->next;
	carried_free(c);
}

void carried_keep(struct fleet *f, struct instance *i)
{
	const struct plan *p = &i->app->plan;
	struct buf texts = { 0 };
	struct job_carried *job;
	uint64_t hash;

	for (size_t k = 0; k < p->n && k < i->n_rules; k++)
		if (i->rules[k].number || i->rules[k].state == RULE_GONE)
			buf_printf(&texts, "%s\n", p->rules[k].text);
	hash = fnv_add(FNV_START, texts.p, texts.n);
	job = texts.err || hash == i->carried ? NULL : archive_job(sizeof(*job));
	if (job) {
		job->job.kind = JOB_CARRIED;
		job->instance = arena_dup(&job->job.mem, slice_str(i->id));
		job->texts = arena_dup(&job->job.mem, buf_slice(&texts));
		job->at_ms = clock_day_ms();
		archive_put(f->store, &job->job);
		i->carried = hash;
	}
	buf_release(&texts);
}
