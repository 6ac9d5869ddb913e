/* SPDX-License-Identifier: Apache-2.0 */
/* cached.c - the way to the cache, and the queue of what is to be stored. */
#include "agent/classes/cached.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "base/mem.h"
#include "cache/cache_place.h"

enum { QUEUE_MAX = 32 << 20 }; /* bytes that wait; more are not stored */

struct waiting {
	struct waiting *next;
	struct hash128 key;
	enum record_kind kind;
	size_t n;
	uint8_t bytes[];
};

/* Any thread; guarded as each field says. */
static struct {
	struct store *store; /* atomic; NULL: none */
	uint32_t users;	     /* atomic: threads that use it */
	char place[256];
	uint64_t hits, misses; /* atomic */
	pthread_mutex_t lock;  /* of the queue */
	struct waiting *first, **last;
	size_t bytes;
	pthread_mutex_t writing; /* one thread at a time writes */
	bool told;		 /* that something is damaged */
} cached = { .lock = PTHREAD_MUTEX_INITIALIZER, .writing = PTHREAD_MUTEX_INITIALIZER };

/* ---- open and close ----------------------------------------------------------------------- */

void cached_open(void)
{
	const char *told = agent.options.cache;
	struct store_options o = { .dir = told, .limit = agent.options.cache_limit };
	struct store *store;
	struct fault f = { 0 };
	char usual[1024];
	int rc;

	if (cached.store || strcmp(told, "off") == 0 || (!told[0] && agent.late))
		return;
	if (!told[0] && !cache_usual_place(usual, sizeof(usual)))
		return;
	if (!told[0])
		o.dir = usual;
	rc = store_open(&o, &store, &f);
	if (rc < 0) { /* a home that cannot be written is no news to anybody */
		if (told[0] || rc != E_NOT_FOUND)
			agent_note("no cache of woven classes: %s", f.text);
		return;
	}
	snprintf(cached.place, sizeof(cached.place), "%s", o.dir);
	cached.told = false;
	cached.hits = cached.misses = 0;
	__atomic_store_n(&cached.store, store, __ATOMIC_SEQ_CST);
}

struct store *cached_get(void)
{
	struct store *s;

	__atomic_fetch_add(&cached.users, 1, __ATOMIC_SEQ_CST);
	s = __atomic_load_n(&cached.store, __ATOMIC_SEQ_CST);
	if (!s)
		cached_put();
	return s;
}

struct secret cached_secret(void)
{
	struct store *s = cached_get();
	struct secret secret = { { 0, 0 } };

	if (!s)
		return secret;
	secret = *store_secret(s);
	cached_put();
	return secret;
}

void cached_put(void)
{
	__atomic_fetch_sub(&cached.users, 1, __ATOMIC_SEQ_CST);
}

void cached_count(bool hit)
{
	__atomic_fetch_add(hit ? &cached.hits : &cached.misses, 1, __ATOMIC_RELAXED);
}

/* ---- what waits --------------------------------------------------------------------------- */

static void enqueue(struct hash128 key, enum record_kind kind, struct slice contents)
{
	struct waiting *w = NULL;

	pthread_mutex_lock(&cached.lock);
	if (cached.bytes + contents.n <= QUEUE_MAX)
		w = mem_alloc(sizeof(*w) + contents.n);
	if (w) {
		*w = (struct waiting){ .key = key, .kind = kind, .n = contents.n };
		memcpy(w->bytes, contents.p, contents.n);
		if (!cached.first)
			cached.last = &cached.first;
		*cached.last = w;
		cached.last = &w->next;
		cached.bytes += sizeof(*w) + w->n;
	}
	pthread_mutex_unlock(&cached.lock);
}

void cached_later(const struct cache_rules *rules, const struct cache_look *look, struct slice kept)
{
	struct buf link = { 0 };

	if (look->has_link)
		return;
	cache_link_put(rules, look, &link);
	if (!look->has_recipe && !look->nothing)
		enqueue(look->recipe, RECORD_CLASS, kept);
	if (!link.err)
		enqueue(look->link, RECORD_LINK, buf_slice(&link));
	buf_release(&link);
}

static struct waiting *take_all(void)
{
	struct waiting *first;

	pthread_mutex_lock(&cached.lock);
	first = cached.first;
	cached.first = NULL;
	cached.bytes = 0;
	pthread_mutex_unlock(&cached.lock);
	return first;
}

static void add_all(struct store *s, struct waiting *w)
{
	while (w) {
		struct waiting *next = w->next;

		if (s)
			store_add(s, w->key, w->kind, (struct slice){ w->bytes, w->n });
		mem_free(w);
		w = next;
	}
}

static void tell_damage(struct store *s)
{
	struct store_counts n;

	store_counts(s, &n);
	if (!n.damaged || cached.told)
		return;
	cached.told = true;
	agent_note(
		"cache %s: damaged entries were found and not used; `sonde cache verify` tells more",
		cached.place);
}

void cached_write(int wait_ms)
{
	struct store *s = cached_get();
	bool locked = false;

	if (!s)
		return;
	tell_damage(s);
	pthread_mutex_lock(&cached.writing);
	if (__atomic_load_n(&cached.first, __ATOMIC_RELAXED)) {
		locked = store_lock(s) >= 0;
		for (int i = 0; !locked && i < wait_ms; i++) {
			usleep(1000);
			locked = store_lock(s) >= 0;
		}
	}
	if (locked) {
		add_all(s, take_all());
		store_unlock(s);
	}
	pthread_mutex_unlock(&cached.writing);
	cached_put();
}

void cached_close(void)
{
	struct store *s;

	cached_write(200);
	s = __atomic_exchange_n(&cached.store, NULL, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&cached.users, __ATOMIC_SEQ_CST))
		usleep(100);
	add_all(NULL, take_all());
	store_close(s);
	cached.place[0] = '\0';
}

void cached_figures(struct cached_figures *out)
{
	struct store *s = cached_get();
	struct store_counts n;

	*out = (struct cached_figures){ 0 };
	if (!s)
		return;
	store_counts(s, &n);
	memcpy(out->place, cached.place, sizeof(out->place));
	out->hits = __atomic_load_n(&cached.hits, __ATOMIC_RELAXED);
	out->misses = __atomic_load_n(&cached.misses, __ATOMIC_RELAXED);
	out->damaged = n.damaged;
	out->bytes_read = n.bytes_found;
	out->bytes_written = n.bytes_added;
	cached_put();
}
