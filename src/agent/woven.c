/* SPDX-License-Identifier: Apache-2.0 */
/* woven.c - two tables: loaders by identity hash, classes by name and loader.  Both only grow while
 * the agent is in; a loader that was collected leaves a dead entry behind, which is small. */
#include "agent/woven.h"

#include "agent/agent.h"
#include "agent/probes.h"
#include "base/map.h"
#include "base/mem.h"
#include "probe/probe.h"

enum {
	CLASS_BUCKETS = 4096,
	LOADER_BUCKETS = 256,
	CHUNK = 1024,
	REST_S = 10,
	REST_DOUBLED = 6,
	RESTLESS = 3 /* times redefined */
};

struct loader {
	jweak ref; /* NULL: the boot loader */
	jint hash;
	uint32_t next; /* in its bucket, index + 1 */
};

static struct {
	struct woven *buckets[CLASS_BUCKETS];
	struct woven *all;
	struct loader *loaders;
	uint32_t n_loaders, cap_loaders;
	uint32_t loader_buckets[LOADER_BUCKETS]; /* index + 1 */
	struct hooked **chunks[PROBE_METHODS / CHUNK];
	uint32_t n_ids;
	uint32_t n_hooked;
	uint64_t rests; /* the first tick at which a rest ends; 0: none */
	uint64_t redefined;
} table = { .n_ids = 1 };

/* ---- loaders ------------------------------------------------------------------------------ */

/* Index of a loader; negative: out of memory.  The boot loader is 0. */
static int64_t loader_index(JNIEnv *jni, jobject ref)
{
	jint hash = 0;
	uint32_t *bucket;
	struct loader *l;

	if (!ref)
		return 0;
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, ref, &hash) != JVMTI_ERROR_NONE)
		return E_NO_MEMORY;
	bucket = &table.loader_buckets[(uint32_t)hash % LOADER_BUCKETS];
	for (uint32_t i = *bucket; i; i = table.loaders[i - 1].next) {
		l = &table.loaders[i - 1];
		if (l->hash == hash && (*jni)->IsSameObject(jni, l->ref, ref))
			return i;
	}
	if (table.n_loaders == table.cap_loaders) {
		uint32_t cap = table.cap_loaders ? 2 * table.cap_loaders : 64;

		l = mem_realloc(table.loaders, cap * sizeof(*l));
		if (!l)
			return E_NO_MEMORY;
		table.loaders = l;
		table.cap_loaders = cap;
	}
	l = &table.loaders[table.n_loaders];
	*l = (struct loader){ (*jni)->NewWeakGlobalRef(jni, ref), hash, *bucket };
	if (!l->ref)
		return E_NO_MEMORY;
	*bucket = ++table.n_loaders;
	return *bucket;
}

/* ---- classes ------------------------------------------------------------------------------ */

static char *copy(const char *p, size_t n)
{
	char *to = mem_alloc(n + 1);

	if (to) {
		memcpy(to, p, n);
		to[n] = '\0';
	}
	return to;
}

struct woven *woven_find(JNIEnv *jni, const char *name, size_t n, jobject loader, bool make)
{
	struct woven **bucket = &table.buckets[hash_bytes(name, n) % CLASS_BUCKETS];
	int64_t index = loader_index(jni, loader);
	struct woven *w;

	if (index < 0)
		return NULL;
	for (w = *bucket; w; w = w->next)
		if (w->loader == index && strlen(w->name) == n && memcmp(w->name, name, n) == 0)
			return w;
	if (!make)
		return NULL;
	w = mem_alloc(sizeof(*w));
	if (!w)
		return NULL;
	*w = (struct woven){
		.name = copy(name, n), .loader = (uint32_t)index, .next = *bucket, .all = table.all
	};
	if (!w->name) {
		mem_free(w);
		return NULL;
	}
	*bucket = table.all = w;
	return w;
}

bool woven_has(struct slice name)
{
	bool has = false;

	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = table.buckets[hash_bytes(name.p, name.n) % CLASS_BUCKETS]; w;
	     w = w->next)
		has |= slice_is(name, w->name);
	pthread_mutex_unlock(&agent.lock);
	return has;
}

struct woven *woven_first(void)
{
	return table.all;
}

/* ---- methods ------------------------------------------------------------------------------ */

struct hooked *woven_method(uint32_t id)
{
	struct hooked **chunk = id < woven_ids() ? table.chunks[id / CHUNK] : NULL;

	return chunk ? chunk[id % CHUNK] : NULL;
}

uint32_t woven_hooked(void)
{
	return __atomic_load_n(&table.n_hooked, __ATOMIC_RELAXED);
}

uint32_t woven_ids(void)
{
	return __atomic_load_n(&table.n_ids, __ATOMIC_ACQUIRE);
}

static bool is_named(const struct hooked *h, struct slice name, struct slice desc)
{
	return h->name_n == name.n + desc.n && memcmp(h->name, name.p, name.n) == 0 &&
	       memcmp(h->name + name.n, desc.p, desc.n) == 0;
}

/* A method and its name, in one piece that is never freed. */
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

static struct hooked *find_method(const struct woven *w, struct slice name, struct slice desc)
{
	struct hooked *h = w->methods;

	while (h && !is_named(h, name, desc))
		h = h->next;
	return h;
}

struct hooked *woven_named(const struct woven *w, const char *name, const char *desc)
{
	return find_method(w, slice_str(name), slice_str(desc));
}

int32_t woven_id(struct woven *w, struct slice name, struct slice desc)
{
	uint32_t id = table.n_ids;
	struct hooked ***chunk;
	struct hooked *h;

	h = w->fresh ? NULL : find_method(w, name, desc); /* a class has each method once */
	if (h)
		return (int32_t)h->id;
	if (id >= PROBE_METHODS)
		return E_LIMIT;
	chunk = &table.chunks[id / CHUNK];
	if (!*chunk) {
		*chunk = mem_alloc(CHUNK * sizeof(**chunk));
		if (!*chunk)
			return E_NO_MEMORY;
		memset(*chunk, 0, CHUNK * sizeof(**chunk));
	}
	h = make_hooked(w, name, desc);
	if (!h)
		return E_NO_MEMORY;
	h->id = id;
	h->next = w->methods;
	(*chunk)[id % CHUNK] = h;
	w->methods = h;
	__atomic_store_n(&table.n_ids, id + 1, __ATOMIC_RELEASE);
	return (int32_t)id;
}

void woven_begin(struct woven *w)
{
	w->fresh = !w->methods;
	w->whole = WHOLE_NO;
	for (struct hooked *h = w->methods; h; h = h->next)
		h->seen = false;
}

void woven_close(JNIEnv *jni, struct hooked *h)
{
	h->rule = 0;
	h->anchor = false;
	probes_close(jni, h->id);
	probe_method_context(h->id, NULL);
}

void woven_end(JNIEnv *jni, struct woven *w)
{
	for (struct hooked *h = w->methods; h; h = h->next) {
		if (!h->seen && woven_is_in(h))
			woven_close(jni, h);
		h->in_code = h->seen;
	}
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

void woven_rest(JNIEnv *jni, struct woven *w)
{
	uint32_t doubled = w->rested < REST_DOUBLED ? w->rested : REST_DOUBLED;

	for (struct hooked *h = w->methods; h; h = h->next)
		if (woven_is_in(h))
			woven_close(jni, h);
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
