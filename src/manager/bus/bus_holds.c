/* SPDX-License-Identifier: Apache-2.0 */
/* bus_holds.c - which manager talks to which process.
 *
 * Whoever creates the key has it; a key of a dead manager is taken over in place of the revision that was seen, so
 * that one of several does.  The writer looks at all processes some times a second; what it does to the bucket
 * comes back to the reader, as what others do. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "manager/bus/bus_priv.h"
#include "manager/fleet/carried.h"

enum { AT_ONCE = 256, AWAY_MS = 5000 };

/* ---- the mirror ---- */

static struct held **place_of(const struct bus *b, const char *id)
{
	uint64_t h = hash_bytes(id, strlen(id)) % HOLD_BUCKETS;
	struct held **at = (struct held **)(uintptr_t)&b->held[h];

	while (*at && strcmp((*at)->id, id) != 0)
		at = &(*at)->next;
	return at;
}

const struct held *bus_held(const struct bus *b, const char *id)
{
	return *place_of(b, id);
}

static void mirror(struct bus *b, const char *id, const char *manager, uint64_t revision)
{
	struct held **at = place_of(b, id), *h = *at;

	if (!h && b->n_held < HOLDS_MAX) {
		h = calloc(1, sizeof(*h) + strlen(id) + 1);
		if (!h)
			return;
		strcpy(h->id, id);
		*at = h;
		b->n_held++;
	}
	if (!h || h->revision > revision)
		return;
	h->revision = revision;
	snprintf(h->manager, sizeof(h->manager), "%s", manager);
}

static void unmirror(struct bus *b, const char *id, uint64_t revision)
{
	struct held **at = place_of(b, id), *h = *at;

	if (!h || h->revision > revision)
		return;
	*at = h->next;
	free(h);
	b->n_held--;
}

void bus_holds_forget(struct bus *b)
{
	for (unsigned k = 0; k < HOLD_BUCKETS; k++)
		while (b->held[k]) {
			struct held *h = b->held[k];

			b->held[k] = h->next;
			free(h);
		}
	b->n_held = 0;
}

/* ---- what comes ---- */

static void settle(struct bus *b, const char *id, const char *manager)
{
	struct instance *i;

	pthread_mutex_lock(&b->f->lock);
	i = fleet_instance(b->f, slice_str(id));
	if (i && i->hold != HOLD_NONE && manager[0] && strcmp(manager, b->name) == 0) {
		if (i->hold != HOLD_OURS)
			session_hold(b->f, i, HOLD_OURS, b->name);
	} else if (i && i->hold != HOLD_NONE && manager[0]) {
		if (i->hold != HOLD_OTHERS || strcmp(i->holder, manager) != 0)
			session_hold(b->f, i, HOLD_OTHERS, manager);
	} else if (i && i->hold == HOLD_OTHERS) {
		session_hold(b->f, i, HOLD_WANTED, "");
	}
	pthread_mutex_unlock(&b->f->lock);
}

void bus_holds_take(struct bus *b, const struct bus_entry *e)
{
	char id[FLEET_ID], manager[FLEET_HOLDER] = "";
	size_t n = e->value.n < sizeof(manager) ? e->value.n : 0;

	if (!bus_key_read(e->key, "hold", id, sizeof(id)))
		return;
	if (!e->is_gone && n)
		memcpy(manager, e->value.p, n);
	fleet_plain(manager);
	pthread_mutex_lock(&b->lock);
	if (manager[0])
		mirror(b, id, manager, e->revision);
	else
		unmirror(b, id, e->revision);
	pthread_mutex_unlock(&b->lock);
	settle(b, id, manager);
	if (!manager[0])
		bus_wake(b);
}

/* ---- what is to be done ---- */

enum what { NOTHING, TAKE, LEARN, GIVE, ALONE };

struct task {
	enum what what;
	uint64_t revision; /* in place of this one; 0: of none */
	char id[FLEET_ID];
};

/* Under both locks. */
static enum what judge_wanted(const struct bus *b, const struct instance *i, uint64_t *revision)
{
	const struct held *h = bus_held(b, i->id);
	uint64_t now = clock_steady_ms();

	*revision = h ? h->revision : 0;
	if (!b->is_up)
		return i->hold != HOLD_ALONE && now - b->began_ms > PATIENCE_MS &&
				       (!b->up_at_ms || now - b->down_at_ms > PATIENCE_MS)
			       ? ALONE
			       : NOTHING;
	/* the bus may just be telling it, or whoever has it may be about to say so anew */
	if (!h && i->hold == HOLD_OTHERS && now - b->up_at_ms < DEAD_MS)
		return NOTHING;
	if (!h || strcmp(h->manager, b->name) == 0)
		return TAKE;
	if (now - b->up_at_ms > DEAD_MS &&
	    !bus_is_alive(b, bus_manager((struct bus *)(uintptr_t)b, h->manager)))
		return TAKE;
	return i->hold == HOLD_OTHERS ? NOTHING : LEARN;
}

static enum what judge_ours(const struct bus *b, const struct instance *i, uint64_t *revision)
{
	bool away = i->state == INSTANCE_AWAY && clock_day_ms() - i->since_ms > AWAY_MS;

	*revision = 0;
	if (bus_held(b, i->id))
		return away || i->state == INSTANCE_ENDED ? GIVE : NOTHING;
	/* it is back since it was given back; or the bus has lost what it knew */
	return i->state == INSTANCE_CONNECTED ? TAKE : NOTHING;
}

static enum what judge(const struct bus *b, const struct instance *i, uint64_t *revision)
{
	switch (i->hold) {
	case HOLD_WANTED:
	case HOLD_ALONE:
		return i->state == INSTANCE_ENDED ? NOTHING : judge_wanted(b, i, revision);
	case HOLD_OTHERS:
		if (i->state == INSTANCE_ENDED || !b->is_up)
			return NOTHING;
		return judge_wanted(b, i, revision);
	case HOLD_OURS:
		return b->is_up ? judge_ours(b, i, revision) : NOTHING;
	default:
		return NOTHING;
	}
}

static size_t find_tasks(struct bus *b, struct task *t)
{
	size_t n = 0;

	pthread_mutex_lock(&b->f->lock);
	pthread_mutex_lock(&b->lock);
	for (struct instance *i = b->f->instances; i && n < AT_ONCE; i = i->next) {
		t[n].what = judge(b, i, &t[n].revision);
		if (t[n].what != NOTHING)
			snprintf(t[n++].id, sizeof(t->id), "%s", i->id);
	}
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&b->f->lock);
	return n;
}

/* The reader hears of it in a moment, but need not before we go on. */
static void know(struct bus *b, const char *id, uint64_t revision)
{
	pthread_mutex_lock(&b->lock);
	mirror(b, id, b->name, revision);
	pthread_mutex_unlock(&b->lock);
	settle(b, id, b->name);
}

static void learn_holder(struct bus *b, const char *id)
{
	char manager[FLEET_HOLDER] = "";
	const struct held *h;

	pthread_mutex_lock(&b->lock);
	h = bus_held(b, id);
	if (h)
		snprintf(manager, sizeof(manager), "%s", h->manager);
	pthread_mutex_unlock(&b->lock);
	if (manager[0])
		settle(b, id, manager);
}

static void set_hold(struct bus *b, const char *id, enum hold hold)
{
	struct instance *i;

	pthread_mutex_lock(&b->f->lock);
	i = fleet_instance(b->f, slice_str(id));
	if (i)
		session_hold(b->f, i, hold, hold == HOLD_ALONE ? b->name : "");
	pthread_mutex_unlock(&b->f->lock);
}

static void carry_out(struct bus *b, struct task *t)
{
	char key[BUS_KEY];
	int rc;

	if (t->what == ALONE) {
		set_hold(b, t->id, HOLD_ALONE);
		return;
	}
	if (t->what == LEARN) {
		learn_holder(b, t->id);
		return;
	}
	if (!bus_key_make(key, "hold", slice_str(t->id)))
		return;
	if (t->what == GIVE) {
		if (bus_link_drop(b->link, key) >= 0) {
			pthread_mutex_lock(&b->lock);
			unmirror(b, t->id, UINT64_MAX);
			pthread_mutex_unlock(&b->lock);
		}
		return;
	}
	rc = bus_link_put(b->link, key, slice_str(b->name), &t->revision);
	if (rc >= 0)
		know(b, t->id, t->revision);
	else if (rc == E_DUPLICATE)
		learn_holder(b, t->id);
}

/* One that was given back although its process lives: whoever reaches it next takes it. */
static void let_go(struct bus *b)
{
	pthread_mutex_lock(&b->f->lock);
	for (struct instance *i = b->f->instances; i; i = i->next)
		if (i->hold == HOLD_OURS && i->state == INSTANCE_AWAY &&
		    clock_day_ms() - i->since_ms > AWAY_MS) {
			pthread_mutex_lock(&b->lock);
			if (b->is_up && !bus_held(b, i->id))
				i->hold = HOLD_NONE;
			pthread_mutex_unlock(&b->lock);
		}
	pthread_mutex_unlock(&b->f->lock);
}

void bus_holds_step(struct bus *b)
{
	struct task *tasks = calloc(AT_ONCE, sizeof(*tasks));
	size_t n = tasks ? find_tasks(b, tasks) : 0;

	for (size_t k = 0; k < n; k++)
		if (tasks[k].what == TAKE && tasks[k].revision) {
			if (carried_load(b->f) < 0)
				log_put(LOG_WARN,
					"bus: it is not known which rules processes of other managers have had");
			break;
		}
	for (size_t k = 0; k < n; k++)
		carry_out(b, &tasks[k]);
	free(tasks);
	let_go(b);
}

/* Others need not wait until we are dead. */
void bus_holds_leave(struct bus *b)
{
	char key[BUS_KEY];

	for (unsigned k = 0; k < HOLD_BUCKETS; k++)
		for (struct held *h = b->held[k]; h; h = h->next)
			if (strcmp(h->manager, b->name) == 0 &&
			    bus_key_make(key, "hold", slice_str(h->id)) &&
			    bus_link_drop(b->link, key) < 0)
				return;
}
