/* SPDX-License-Identifier: Apache-2.0 */
/* bus_peers.c - what this manager's processes look like, for the others; and theirs, for us. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/bus/bus_priv.h"
#include "manager/fleet/digs.h"
#include "manager/json_in.h"

enum { NUMBERS = 7, TEXT_MAX = 256 };

bool bus_peers_key(char to[BUS_KEY + 16], const char *name, unsigned part)
{
	char key[BUS_KEY];

	if (!bus_key_make(key, "manager", slice_str(name)))
		return false;
	snprintf(to, BUS_KEY + 16, "%s.%u", key, part);
	return true;
}

/* ---- ours ---- */

static void put_rules(struct json *j, const struct instance *i)
{
	char letters[FLEET_RULES + 1];
	size_t n = i->app->plan.n < FLEET_RULES ? i->app->plan.n : FLEET_RULES;

	for (size_t k = 0; k < n; k++)
		letters[k] = reconcile_word(k < i->n_rules && i->state == INSTANCE_CONNECTED
						    ? i->rules[k].state
						    : RULE_PENDING)[0];
	letters[n] = '\0';
	json_put_text(j, "rules", letters);
}

static void put_one(struct json *j, const struct instance *i)
{
	struct shown_sum s = { 0 };

	shown_add(&s, i);
	json_open(j, '{');
	json_key(j, "is");
	shown_instance(j, i);
	json_put_u64(j, "plan", i->plan_version);
	put_rules(j, i);
	json_put_open(j, "sum", '[');
	json_u64(j, s.methods);
	json_u64(j, s.calls);
	json_u64(j, s.total_ns);
	json_u64(j, s.seen_ms);
	json_double(j, s.rate);
	json_double(j, s.errors_rate);
	json_double(j, s.share);
	json_close(j, ']');
	json_close(j, '}');
}

static void put_head(struct json *j, const struct bus *b, unsigned parts)
{
	unsigned n = 0;

	json_put_text(j, "name", b->name);
	json_put_u64(j, "run", b->run);
	json_put_u64(j, "parts", parts);
	json_put_open(j, "digs", '[');
	for (const struct dug *d = b->f->digs; d && n < DIGS_TOLD; d = d->next, n++)
		json_text(j, d->id);
	json_close(j, ']');
}

static bool is_ours(const struct instance *i)
{
	return i->app && (i->hold == HOLD_OURS || i->hold == HOLD_ALONE);
}

/* Under the fleet's lock. */
static unsigned write_parts(const struct bus *b, struct buf out[FAR_PARTS])
{
	const struct instance *i = b->f->instances;
	unsigned parts = 0;
	size_t ours = 0;

	for (const struct instance *k = i; k; k = k->next)
		ours += is_ours(k);
	do {
		struct json j = json_to(&out[parts]);
		unsigned n = 0;

		json_open(&j, '{');
		if (!parts)
			put_head(&j, b, (unsigned)(ours + FAR_PART - 1) / FAR_PART);
		json_put_open(&j, "processes", '[');
		for (; i && n < FAR_PART; i = i->next)
			if (is_ours(i))
				put_one(&j, i), n++;
		json_close(&j, ']');
		json_close(&j, '}');
		parts++;
	} while (i && parts < FAR_PARTS);
	return parts;
}

void bus_peers_put(struct bus *b)
{
	struct buf *out = calloc(FAR_PARTS, sizeof(*out));
	unsigned parts = 0;
	char key[BUS_KEY + 16];

	if (!out)
		return;
	pthread_mutex_lock(&b->f->lock);
	parts = write_parts(b, out);
	pthread_mutex_unlock(&b->f->lock);
	for (unsigned k = parts; k-- > 0;) { /* the first last, since it says how many there are */
		uint64_t any = BUS_ANY;

		if (!out[k].err && bus_peers_key(key, b->name, k) &&
		    bus_link_put(b->link, key, buf_slice(&out[k]), &any) < 0)
			break;
	}
	for (unsigned k = 0; k < parts; k++)
		buf_release(&out[k]);
	free(out);
	b->parts_put = parts;
}

void bus_peers_leave(struct bus *b)
{
	char key[BUS_KEY + 16];

	for (unsigned k = 0; k < b->parts_put; k++)
		if (bus_peers_key(key, b->name, k) && bus_link_drop(b->link, key) < 0)
			return;
}

/* ---- theirs ---- */

static void one_free(struct far_instance *i)
{
	mem_free(i->json);
	free(i->rules);
}

static void part_free(struct far_part *p)
{
	for (size_t i = 0; i < p->n; i++)
		one_free(&p->v[i]);
	free(p->v);
	*p = (struct far_part){ 0 };
}

static void manager_free(struct far_manager *m)
{
	for (unsigned i = 0; i < FAR_PARTS; i++)
		part_free(&m->part[i]);
	mem_free(m);
}

void bus_peers_release(struct bus *b)
{
	while (b->managers) {
		struct far_manager *m = b->managers;

		b->managers = m->next;
		manager_free(m);
	}
}

/* Text of others, where only that of a known kind may stand. */
static bool read_name(const cJSON *v, char *to, size_t room, bool plain)
{
	const char *text = cJSON_IsString(v) ? v->valuestring : "";
	size_t n = strlen(text);

	if (!n || n >= room)
		return false;
	for (size_t i = 0; plain && i < n; i++)
		if (!strchr("._-", text[i]) && !((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z') &&
		    !(text[i] >= '0' && text[i] <= '9'))
			return false;
	memcpy(to, text, n + 1);
	return true;
}

static bool read_sum(const cJSON *list, struct shown_sum *s)
{
	double v[NUMBERS];

	for (int k = 0; k < NUMBERS; k++) {
		const cJSON *one = cJSON_GetArrayItem(list, k);

		v[k] = cJSON_IsNumber(one) ? one->valuedouble : NAN;
		if (!(v[k] >= 0 && v[k] < 1e18))
			return false;
	}
	s->methods = (uint64_t)v[0];
	s->calls = (uint64_t)v[1];
	s->total_ns = (uint64_t)v[2];
	s->seen_ms = (uint64_t)v[3];
	s->rate = v[4];
	s->errors_rate = v[5];
	s->share = v[6];
	return true;
}

/* What shown_instance writes, and nothing else; "manager" is whoever wrote the entry. */
static bool is_text(const char *key)
{
	static const char *const keys[] = { "id",    "application", "host", "relay",	 "user",
					    "state", "why",	    "jvm",  "mechanism", "build" };

	for (size_t k = 0; k < COUNT(keys); k++)
		if (strcmp(key, keys[k]) == 0)
			return true;
	return false;
}

static bool is_number(const char *key)
{
	static const char *const keys[] = { "pid",	     "relay_heard_ms", "since_ms",
					    "last_seen_ms",  "uptime_ms",      "rules",
					    "methods",	     "classes",	       "threads",
					    "memory",	     "memory_limit",   "events",
					    "contexts_lost", "contexts_pruned" };

	for (size_t k = 0; k < COUNT(keys); k++)
		if (strcmp(key, keys[k]) == 0)
			return true;
	return false;
}

static bool is_share(const char *key)
{
	return strcmp(key, "share") == 0 || strcmp(key, "hooks_share") == 0 ||
	       strcmp(key, "agent_share") == 0;
}

static void put_overhead(struct json *j, const cJSON *all)
{
	const cJSON *v;

	json_put_open(j, "overhead", '{');
	cJSON_ArrayForEach(v, all)
	{
		if (cJSON_IsNumber(v) && is_share(v->string) && isfinite(v->valuedouble))
			json_put_double(j, v->string, v->valuedouble);
	}
	json_close(j, '}');
}

/* Written anew, as what an agent tells is. */
static char *copy_shown(const cJSON *is, const char *manager)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);
	const cJSON *v;

	json_open(&j, '{');
	json_put_text(&j, "manager", manager);
	cJSON_ArrayForEach(v, is)
	{
		if (cJSON_IsString(v) && is_text(v->string) && strlen(v->valuestring) < TEXT_MAX)
			json_put_text(&j, v->string, v->valuestring);
		else if (cJSON_IsNumber(v) && is_number(v->string))
			json_put_u64(&j, v->string, json_in_u64(v));
		else if (cJSON_IsObject(v) && strcmp(v->string, "overhead") == 0)
			put_overhead(&j, v);
	}
	json_close(&j, '}');
	buf_u8(&out, 0);
	if (!out.err && out.n <= FAR_JSON)
		return (char *)out.p;
	buf_release(&out);
	return NULL;
}

static bool read_one(const cJSON *v, const char *manager, struct far_instance *i)
{
	const cJSON *is = cJSON_GetObjectItem(v, "is");
	const cJSON *rules = cJSON_GetObjectItem(v, "rules");
	const cJSON *state = cJSON_GetObjectItem(is, "state");

	*i = (struct far_instance){ .manager = manager,
				    .plan_version = json_in_u64(cJSON_GetObjectItem(v, "plan")) };
	if (!cJSON_IsString(rules) || strlen(rules->valuestring) > FLEET_RULES ||
	    rules->valuestring[strspn(rules->valuestring, "piwrg")] ||
	    !read_name(cJSON_GetObjectItem(is, "id"), i->id, sizeof(i->id), true) ||
	    !read_name(cJSON_GetObjectItem(is, "application"), i->app, sizeof(i->app), false) ||
	    !read_sum(cJSON_GetObjectItem(v, "sum"), &i->sum))
		return false;
	i->is_connected = cJSON_IsString(state) && strcmp(state->valuestring, "connected") == 0;
	i->has_ended = cJSON_IsString(state) && strcmp(state->valuestring, "ended") == 0;
	i->sum.connected = i->is_connected;
	i->sum.known = 1;
	i->json = copy_shown(is, manager);
	i->rules = strdup(rules->valuestring);
	return i->json && i->rules;
}

static void read_part(const cJSON *list, const char *manager, struct far_part *out)
{
	struct far_part p = { .v = calloc(FAR_PART, sizeof(*p.v)) };
	const cJSON *v;

	cJSON_ArrayForEach(v, list)
	{
		if (!p.v || p.n == FAR_PART)
			break;
		if (read_one(v, manager, &p.v[p.n]))
			p.n++;
		else
			one_free(&p.v[p.n]);
	}
	part_free(out);
	*out = p;
}

static void read_head(const cJSON *all, struct far_manager *m)
{
	uint64_t parts = json_in_u64(cJSON_GetObjectItem(all, "parts"));
	const cJSON *v;

	m->parts = parts < FAR_PARTS ? (unsigned)parts : FAR_PARTS;
	m->n_digs = 0;
	cJSON_ArrayForEach(v, cJSON_GetObjectItem(all, "digs")) if (m->n_digs < DIGS_TOLD &&
								    read_name(v, m->digs[m->n_digs],
									      sizeof(m->digs[0]),
									      true)) m->n_digs++;
}

static void forget(struct bus *b, const char *name)
{
	struct far_manager **at = &b->managers, *m;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	m = *at;
	if (!m)
		return;
	*at = m->next;
	b->n_managers--;
	manager_free(m);
}

static struct far_manager *manager_made(struct bus *b, const char *name)
{
	struct far_manager *m = bus_manager(b, name);

	if (m)
		return m;
	for (struct far_manager *k = b->managers; k && b->n_managers == FAR_MANAGERS;) {
		const struct far_manager *dead = bus_is_alive(b, k) ? NULL : k;

		k = k->next;
		if (dead)
			forget(b, dead->name);
	}
	m = b->n_managers < FAR_MANAGERS ? mem_alloc(sizeof(*m)) : NULL;
	if (!m)
		return NULL;
	*m = (struct far_manager){ .next = b->managers };
	snprintf(m->name, sizeof(m->name), "%s", name);
	b->managers = m;
	b->n_managers++;
	return m;
}

/* Our own word. */
static void take_own(struct bus *b, const cJSON *all)
{
	uint64_t now = clock_steady_ms();
	bool ours = json_in_u64(cJSON_GetObjectItem(all, "run")) == b->run, twice;

	pthread_mutex_lock(&b->lock);
	/* what was there before our first word is of our former life */
	twice = !ours && b->own_at_ms && now - b->own_at_ms < SILENT_MS;
	if (ours)
		b->own_at_ms = now;
	if (twice && now - b->twice_at_ms > 60000)
		log_put(LOG_ERROR,
			"bus: another manager is %s, too; give it another --name or --spool",
			b->name);
	if (twice)
		b->twice_at_ms = now;
	pthread_mutex_unlock(&b->lock);
}

size_t bus_apps_left(const struct bus *b)
{
	size_t n = 0;

	for (const struct app *a = b->f->apps; a; a = a->next)
		n++;
	return n < APPS_MAX ? APPS_MAX - n : 0;
}

/* Applications that only others have are shown here, too. */
static void make_apps(struct bus *b, const cJSON *list)
{
	const cJSON *v;
	size_t left;

	pthread_mutex_lock(&b->f->lock);
	left = bus_apps_left(b);
	cJSON_ArrayForEach(v, list)
	{
		char app[HUB_APP];
		const cJSON *is = cJSON_GetObjectItem(v, "is");

		if (!left ||
		    !read_name(cJSON_GetObjectItem(is, "application"), app, sizeof(app), false))
			continue;
		if (!fleet_app(b->f, slice_str(app)) && fleet_app_make(b->f, slice_str(app)))
			left--;
	}
	pthread_mutex_unlock(&b->f->lock);
}

static void take_value(struct bus *b, const char *name, unsigned part, const struct bus_entry *e)
{
	cJSON *all = cJSON_ParseWithLength((const char *)e->value.p, e->value.n);
	const cJSON *list = cJSON_GetObjectItem(all, "processes");
	struct far_manager *m;

	if (cJSON_IsObject(all) && strcmp(name, b->name) == 0) {
		if (part == 0)
			take_own(b, all);
	} else if (cJSON_IsArray(list)) {
		make_apps(b, list);
		pthread_mutex_lock(&b->lock);
		m = manager_made(b, name);
		if (m && part == 0) {
			read_head(all, m);
			m->created_ns = e->created_ns;
		}
		if (m)
			read_part(list, m->name, &m->part[part]);
		pthread_mutex_unlock(&b->lock);
	}
	cJSON_Delete(all);
}

void bus_peers_take(struct bus *b, const struct bus_entry *e)
{
	char key[BUS_KEY], name[FLEET_HOLDER];
	const char *dot = strrchr(e->key, '.');
	unsigned long part = dot ? strtoul(dot + 1, NULL, 10) : FAR_PARTS;

	if (part >= FAR_PARTS || (size_t)(dot - e->key) >= sizeof(key))
		return;
	snprintf(key, sizeof(key), "%.*s", (int)(dot - e->key), e->key);
	if (!bus_key_read(key, "manager", name, sizeof(name)))
		return;
	if (!e->is_gone) {
		take_value(b, name, (unsigned)part, e);
	} else if (part == 0) {
		pthread_mutex_lock(&b->lock);
		forget(b, name);
		pthread_mutex_unlock(&b->lock);
		bus_wake(b); /* its processes may be ours now */
	}
}

/* ---- for the API ---- */

/* One that has moved is shown by the manager that has it. */
static bool is_shown(const struct bus *b, const struct far_instance *i)
{
	const struct held *h = bus_held(b, i->id);

	return !i->is_connected || !h || strcmp(h->manager, i->manager) == 0;
}

void bus_each(struct bus *b, struct slice app, bus_on_far *on, void *ctx)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	for (struct far_manager *m = b->managers; m; m = m->next)
		for (unsigned k = 0; k < m->parts && bus_is_alive(b, m); k++)
			for (size_t i = 0; i < m->part[k].n; i++) {
				const struct far_instance *one = &m->part[k].v[i];

				if ((!app.n || slice_is(app, one->app)) && is_shown(b, one))
					on(ctx, one);
			}
	pthread_mutex_unlock(&b->lock);
}

struct wanted {
	struct slice id;
	char *to;
	bool found, connected_only;
};

static void see(void *ctx, const struct far_instance *i)
{
	struct wanted *w = ctx;

	if (w->found || (w->id.n && !slice_is(w->id, i->id)) ||
	    (w->connected_only && !i->is_connected))
		return;
	w->found = true;
	snprintf(w->to, FLEET_HOLDER, "%s", i->manager);
}

bool bus_holder(struct bus *b, struct slice instance, char to[FLEET_HOLDER])
{
	struct wanted w = { .id = instance, .to = to };

	if (instance.n)
		bus_each(b, (struct slice){ NULL, 0 }, see, &w);
	return w.found;
}

bool bus_any_holder(struct bus *b, struct slice app, char to[FLEET_HOLDER])
{
	struct wanted w = { .to = to, .connected_only = true };

	if (app.n)
		bus_each(b, app, see, &w);
	return w.found;
}

bool bus_digger(struct bus *b, struct slice dig, char to[FLEET_HOLDER])
{
	bool found = false;

	if (!b)
		return false;
	pthread_mutex_lock(&b->lock);
	for (struct far_manager *m = b->managers; m && !found; m = m->next)
		for (unsigned i = 0; i < m->n_digs && !found && bus_is_alive(b, m); i++) {
			found = slice_is(dig, m->digs[i]);
			if (found)
				snprintf(to, FLEET_HOLDER, "%s", m->name);
		}
	pthread_mutex_unlock(&b->lock);
	return found;
}
