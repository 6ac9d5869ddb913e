/* SPDX-License-Identifier: Apache-2.0 */
/* woven.c - three tables: names of classes, classes by name and loader, methods by number. */
#include "agent/classes/woven.h"

#include "agent/core/agent.h"
#include "agent/core/gates.h"
#include "base/map.h"
#include "base/mem.h"
#include "probe/probe.h"

enum {
	CHUNK = 1024,
	PAUSE = 4096, /* numbers that are free before one of them is given again */
	REST_S = 10,
	REST_DOUBLED = 6,
	RESTLESS = 3 /* times redefined */
};

/* Guarded by agent.lock, but for chunks, whose entries are published once. */
static struct {
	struct chains names, classes;
	struct woven *all;
	struct woven_name *oldest, *newest; /* names with entries whose classes were unloaded */
	uint32_t n_unloaded;		    /* methods of those */
	struct hooked **chunks[PROBE_METHODS / CHUNK];
	uint32_t n_ids;
	uint32_t n_hooked;
	struct { /* numbers to be given again, the first one first */
		uint32_t *ids;
		size_t first, n, cap; /* cap is 0 or a power of two */
	} free;
	uint64_t ever;	/* classes that had hooks */
	uint64_t rests; /* the first tick at which a rest ends; 0: none */
	uint64_t redefined;
} table = { .n_ids = 1 };

/* ---- names -------------------------------------------------------------------------------- */

static struct woven_name *name_find(const char *text, size_t n, uint64_t hash)
{
	for (struct chains_link *l = chains_first(&table.names, hash); l; l = chains_next(l)) {
		struct woven_name *name = (struct woven_name *)l; /* its first member */

		if (name->n == n && memcmp(name->text, text, n) == 0)
			return name;
	}
	return NULL;
}

static struct woven_name *name_make(const char *text, size_t n, uint64_t hash)
{
	struct woven_name *name = mem_alloc(sizeof(*name) + n + 1);

	if (!name)
		return NULL;
	*name = (struct woven_name){ .n = (uint32_t)n };
	memcpy(name->text, text, n);
	name->text[n] = '\0';
	if (chains_add(&table.names, &name->link, hash) < 0) {
		mem_free(name);
		return NULL;
	}
	return name;
}

/* Among the names that have entries whose classes were unloaded. */
static void name_enlist(struct woven_name *name)
{
	name->older = table.newest;
	name->newer = NULL;
	*(table.newest ? &table.newest->newer : &table.oldest) = name;
	table.newest = name;
}

static void name_delist(struct woven_name *name)
{
	*(name->older ? &name->older->newer : &table.oldest) = name->newer;
	*(name->newer ? &name->newer->older : &table.newest) = name->older;
}

bool woven_has(struct slice name)
{
	bool has;

	pthread_mutex_lock(&agent.lock);
	has = name_find((const char *)name.p, name.n, hash_bytes(name.p, name.n)) != NULL;
	pthread_mutex_unlock(&agent.lock);
	return has;
}

/* ---- methods by name ---------------------------------------------------------------------- */

struct named {
	struct slice name, desc;
};

static struct named method_name(const struct hooked *h)
{
	return (struct named){ { (const uint8_t *)h->name, h->name_n }, { NULL, 0 } };
}

static bool is_named(const struct hooked *h, struct named like)
{
	return h->name_n == like.name.n + like.desc.n &&
	       memcmp(h->name, like.name.p, like.name.n) == 0 &&
	       (!like.desc.n || memcmp(h->name + like.name.n, like.desc.p, like.desc.n) == 0);
}

/* From *at on, and then from the first one.  A class is mostly shown with its methods in the order
 * of the last time, so *at, which is set to the next one, is mostly right. */
static struct hooked *find_method(const struct woven *w, struct named like, struct hooked **at)
{
	struct hooked *h = *at, *end = *at;

	while (h && !is_named(h, like))
		h = h->next;
	if (!h)
		for (h = w->methods; h != end && !is_named(h, like);)
			h = h->next;
	else
		end = NULL;
	if (h == end)
		return NULL;
	*at = h->next;
	return h;
}

/* ---- classes ------------------------------------------------------------------------------ */

struct woven *woven_first(void)
{
	return table.all;
}

static uint64_t hash_of(const struct woven_name *name, const struct loader *by)
{
	return name->link.hash ^ ((uint64_t)(uintptr_t)by >> 4) * 0x9e3779b97f4a7c15u;
}

static uint32_t methods_of(const struct woven *w)
{
	uint32_t n = 0;

	for (const struct hooked *h = w->methods; h; h = h->next)
		n++;
	return n;
}

static void idle_push(struct woven *w)
{
	if (!w->of->idle)
		name_enlist(w->of);
	w->sibling = w->of->idle;
	w->of->idle = w;
	table.n_unloaded += methods_of(w);
}

static struct woven *idle_pop(struct woven_name *name)
{
	struct woven *w = name->idle;

	if (!w)
		return NULL;
	name->idle = w->sibling;
	if (!name->idle)
		name_delist(name);
	table.n_unloaded -= methods_of(w);
	return w;
}

/* An entry for a class of that name: the one of a class that was unloaded, or a new one. */
static struct woven *entry_for(struct woven_name *name)
{
	struct woven *w = idle_pop(name);

	if (w)
		return w;
	w = mem_alloc(sizeof(*w));
	if (!w)
		return NULL;
	*w = (struct woven){ .of = name, .name = name->text, .all = table.all };
	if (table.all)
		table.all->before = w;
	table.all = w;
	name->refs++;
	return w;
}

static struct woven *enter(struct woven_name *name, struct loader *by)
{
	struct woven *w = entry_for(name);

	if (!w)
		return NULL;
	if (chains_add(&table.classes, &w->link, hash_of(name, by)) < 0) {
		idle_push(w);
		return NULL;
	}
	w->loader = by;
	w->sibling = by->classes;
	by->classes = w;
	return w;
}

struct woven *woven_find(struct loader *by, const char *name, size_t n, bool make)
{
	uint64_t hash = hash_bytes(name, n);
	struct woven_name *of = by ? name_find(name, n, hash) : NULL;
	struct chains_link *l = of ? chains_first(&table.classes, hash_of(of, by)) : NULL;

	for (; l; l = chains_next(l)) {
		struct woven *w = (struct woven *)l; /* its first member */

		if (w->of == of && w->loader == by)
			return w;
	}
	if (!by || !make || (!of && !(of = name_make(name, n, hash))))
		return NULL;
	return enter(of, by);
}

/* What is known of the class that was unloaded, and not of the next one of that name. */
static void unload(struct woven *w)
{
	for (struct hooked *h = w->methods; h; h = h->next) {
		if (woven_is_in(h)) {
			gates_close(h->id);
			probe_method_context(h->id, NULL);
		}
		h->in_code = h->bound = false;
		h->earlier = true;
		h->original = 0;
		h->java = h->other = NULL;
	}
	w->loader = NULL;
	woven_recount(w);
	w->digest = w->wanted = w->rests = 0;
	w->rested = w->redefined = 0;
	w->whole = w->whole_next = WHOLE_NO;
	w->partly = w->never_whole = w->had_full = w->counted = false;
	memset(w->left, 0, sizeof(w->left));
}

void woven_unload(struct loader *l)
{
	struct woven *next;

	for (struct woven *w = l->classes; w; w = next) {
		next = w->sibling;
		chains_remove(&table.classes, &w->link);
		unload(w);
		idle_push(w);
	}
	l->classes = NULL;
}

uint32_t woven_unloaded(void)
{
	return table.n_unloaded;
}

struct woven *woven_take_oldest(void)
{
	struct woven *w = table.oldest ? idle_pop(table.oldest) : NULL;

	if (!w)
		return NULL;
	*(w->before ? &w->before->all : &table.all) = w->all;
	if (w->all)
		w->all->before = w->before;
	return w;
}

uint32_t woven_heir(const struct woven *w, const struct hooked *h)
{
	const struct woven *other = w->of->idle;
	struct hooked *at = other ? other->methods : NULL;
	const struct hooked *heir = other ? find_method(other, method_name(h), &at) : NULL;

	return heir ? heir->id : 0;
}

static void link_same(struct woven *to, struct woven *w)
{
	struct hooked *at = to->methods;

	for (struct hooked *h = w->methods; h; h = h->next) {
		struct hooked *same = find_method(to, method_name(h), &at);

		if (!same)
			continue;
		h->same = same->same;
		same->same = h;
		h->is_same = true;
	}
}

void woven_link_same(void)
{
	pthread_mutex_lock(&agent.lock);
	for (struct woven *w = table.all; w; w = w->all)
		for (struct hooked *h = w->methods; h; h = h->next) {
			h->same = NULL;
			h->is_same = false;
		}
	for (struct woven_name *name = table.oldest; name; name = name->newer)
		for (struct woven *w = name->idle->sibling; w; w = w->sibling)
			link_same(name->idle, w);
	pthread_mutex_unlock(&agent.lock);
}

/* ---- methods ------------------------------------------------------------------------------ */

struct hooked *woven_method(uint32_t id)
{
	struct hooked **chunk = id < woven_ids() ? table.chunks[id / CHUNK] : NULL;

	return chunk ? __atomic_load_n(&chunk[id % CHUNK], __ATOMIC_ACQUIRE) : NULL;
}

uint32_t woven_hooked(void)
{
	return __atomic_load_n(&table.n_hooked, __ATOMIC_RELAXED);
}

uint32_t woven_ids(void)
{
	return __atomic_load_n(&table.n_ids, __ATOMIC_ACQUIRE);
}

/* A method and its name, in one piece. */
static struct hooked *make_hooked(struct woven *w, struct slice name, struct slice desc)
{
	size_t n = name.n + desc.n;
	struct hooked *h = mem_alloc(sizeof(*h) + n + 1);

	if (!h)
		return NULL;
	*h = (struct hooked){ .class = w, .name = (char *)(h + 1), .name_n = (uint32_t)n };
	memcpy(h->name, name.p, name.n);
	memcpy(h->name + name.n, desc.p, desc.n);
	h->name[n] = '\0';
	return h;
}

struct hooked *woven_named(const struct woven *w, const char *name, const char *desc)
{
	struct hooked *at = w->methods;

	return find_method(w, (struct named){ slice_str(name), slice_str(desc) }, &at);
}

static struct hooked **place_of(uint32_t id)
{
	struct hooked ***chunk = &table.chunks[id / CHUNK];

	if (!*chunk) {
		*chunk = mem_alloc(CHUNK * sizeof(**chunk));
		if (!*chunk)
			return NULL;
		memset(*chunk, 0, CHUNK * sizeof(**chunk));
	}
	return &(*chunk)[id % CHUNK];
}

/* The next number; 0: none is left.  Clients compare reports by numbers, so one that was in use is
 * not given again before many others were. */
static uint32_t next_id(void)
{
	if (table.n_ids < PROBE_METHODS && table.free.n < PAUSE)
		return table.n_ids;
	return table.free.n ? table.free.ids[table.free.first & (table.free.cap - 1)] : 0;
}

static void take_id(uint32_t id)
{
	if (id == table.n_ids) {
		__atomic_store_n(&table.n_ids, id + 1, __ATOMIC_RELEASE);
		return;
	}
	table.free.first++;
	table.free.n--;
}

int32_t woven_id(struct woven *w, struct slice name, struct slice desc)
{
	uint32_t id;
	struct hooked **place, *h;

	/* a class has each method once */
	h = w->fresh ? NULL : find_method(w, (struct named){ name, desc }, &w->hint);
	if (h)
		return (int32_t)h->id;
	id = next_id();
	if (!id)
		return E_LIMIT;
	place = place_of(id);
	h = place ? make_hooked(w, name, desc) : NULL;
	if (!h)
		return E_NO_MEMORY;
	h->id = id;
	__atomic_store_n(place, h, __ATOMIC_RELEASE);
	__atomic_store_n(w->last ? &w->last->next : &w->methods, h, __ATOMIC_RELEASE);
	w->last = h;
	take_id(id);
	return (int32_t)id;
}

/* ---- numbers that are given again --------------------------------------------------------- */

static bool free_grow(void)
{
	size_t cap = table.free.cap ? 2 * table.free.cap : CHUNK;
	uint32_t *ids = mem_alloc(cap * sizeof(*ids));

	if (!ids)
		return false;
	for (size_t i = 0; i < table.free.n; i++)
		ids[i] = table.free.ids[(table.free.first + i) & (table.free.cap - 1)];
	mem_free(table.free.ids);
	table.free.ids = ids;
	table.free.first = 0;
	table.free.cap = cap;
	return true;
}

void woven_forget(struct woven *w)
{
	for (struct hooked *h = w->methods; h; h = h->next) {
		__atomic_store_n(place_of(h->id), NULL, __ATOMIC_RELEASE);
		if (table.free.n == table.free.cap && !free_grow())
			continue; /* one number less */
		table.free.ids[(table.free.first + table.free.n++) & (table.free.cap - 1)] = h->id;
	}
	if (--w->of->refs == 0)
		chains_remove(&table.names, &w->of->link);
	else
		w->of = NULL; /* it is of use to others */
}

void woven_free(struct woven *w)
{
	struct hooked *next;

	for (struct hooked *h = w->methods; h; h = next) {
		next = h->next;
		mem_free(h);
	}
	mem_free(w->of);
	mem_free(w);
}

/* ---- weaving ------------------------------------------------------------------------------ */

void woven_begin(struct woven *w)
{
	w->fresh = !w->methods;
	w->hint = w->methods;
	w->whole = WHOLE_NO;
	for (struct hooked *h = w->methods; h; h = h->next)
		h->seen = false;
}

void woven_close(struct hooked *h)
{
	h->rule = 0;
	h->anchor = false;
	gates_close(h->id);
	probe_method_context(h->id, NULL);
}

void woven_end(struct woven *w)
{
	bool counted = w->counted, any = false;

	for (struct hooked *h = w->methods; h; h = h->next) {
		if (!h->seen && woven_is_in(h))
			woven_close(h);
		h->in_code = h->seen;
		any |= h->seen;
	}
	if (any)
		w->woven = tick_now();
	w->counted |= any;
	table.ever += w->counted && !counted;
	w->fresh = false;
	w->rests = 0;
	woven_recount(w);
}

void woven_recount(struct woven *w)
{
	uint32_t before = w->n_hooked;

	w->n_hooked = 0;
	for (const struct hooked *h = w->methods; h; h = h->next)
		w->n_hooked += woven_is_in(h);
	__atomic_store_n(&table.n_hooked, table.n_hooked + w->n_hooked - before, __ATOMIC_RELAXED);
}

/* ---- rest --------------------------------------------------------------------------------- */

bool woven_has_code(const struct woven *w)
{
	for (const struct hooked *h = w->methods; h; h = h->next)
		if (h->in_code)
			return true;
	return false;
}

uint64_t woven_count_in_code(uint64_t since)
{
	uint64_t n = 0;

	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = table.all; w; w = w->all)
		n += w->loader && w->woven >= since && woven_has_code(w);
	pthread_mutex_unlock(&agent.lock);
	return n;
}

void woven_redefined(struct woven *w, bool had)
{
	if (!had && !woven_has_code(w))
		return;
	w->redefined++;
	table.redefined++;
}

uint64_t woven_count_redefined(void)
{
	uint64_t n;

	pthread_mutex_lock(&agent.lock);
	n = table.redefined;
	pthread_mutex_unlock(&agent.lock);
	return n;
}

bool woven_is_restless(const struct woven *w)
{
	return w->redefined >= RESTLESS && !w->never_whole;
}

bool woven_can_rest(const struct woven *w)
{
	for (const struct hooked *h = w->methods; h; h = h->next)
		if (h->in_code && h->bound)
			return false;
	return true;
}

void woven_rest(struct woven *w)
{
	uint32_t doubled = w->rested < REST_DOUBLED ? w->rested : REST_DOUBLED;

	for (struct hooked *h = w->methods; h; h = h->next)
		if (woven_is_in(h))
			woven_close(h);
	w->rests = tick_now() + ((uint64_t)REST_S << doubled) * agent.scale.hz;
	woven_recount(w);
	if (!table.rests || w->rests < table.rests)
		__atomic_store_n(&table.rests, w->rests, __ATOMIC_RELAXED);
}

uint64_t woven_count_resting(void)
{
	uint64_t n = 0;

	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = table.all; w; w = w->all)
		n += w->rests != 0;
	pthread_mutex_unlock(&agent.lock);
	return n;
}

uint64_t woven_resting(void)
{
	return __atomic_load_n(&table.rests, __ATOMIC_RELAXED);
}

void woven_rested(uint64_t by)
{
	uint64_t first = 0;

	pthread_mutex_lock(&agent.lock);
	for (struct woven *w = table.all; w; w = w->all) {
		if (w->rests && w->rests <= by)
			w->rests = 0; /* its class was unloaded */
		if (w->rests && (!first || w->rests < first))
			first = w->rests;
	}
	__atomic_store_n(&table.rests, first, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&agent.lock);
}

void woven_count(uint64_t *classes, uint64_t *methods)
{
	*classes = *methods = 0;
	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = table.all; w; w = w->all) {
		*classes += w->n_hooked != 0;
		*methods += w->n_hooked;
	}
	pthread_mutex_unlock(&agent.lock);
}

uint64_t woven_count_ever(void)
{
	uint64_t n;

	pthread_mutex_lock(&agent.lock);
	n = table.ever;
	pthread_mutex_unlock(&agent.lock);
	return n;
}
