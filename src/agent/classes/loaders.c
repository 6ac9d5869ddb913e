/* SPDX-License-Identifier: Apache-2.0 */
/* loaders.c - a table by identity hash, and a list of all that a hand goes round.
 *
 * Two loaders may have the same identity hash, and only the JVM can compare objects.  It must not be
 * called with the lock held, so a thread marks an entry as used, lets the lock go, compares, and
 * takes the lock again for the next one.  An entry that is used stays in its place.  New entries
 * come in front; a thread that finds none enters its own only if no other was entered since it
 * began, and else looks once more. */
#include "agent/classes/loaders.h"

#include "agent/core/agent.h"
#include "base/err.h"
#include "base/mem.h"

enum {
	LOOKS = 2, /* at old entries, for each new one */
	SWEEP_S = 5,
};

static struct { /* guarded by agent.lock */
	struct chains by_hash;
	struct loader **all;
	size_t n, cap;
	size_t hand;   /* the next one to be looked at */
	uint64_t made; /* entries so far */
	loaders_gone *gone;
	loaders_told *told;
} table;

/* The one of the JDK: in no table, never freed. */
static struct loader boot;

void loaders_follow(loaders_gone *gone, loaders_told *told)
{
	table.gone = gone;
	table.told = told;
}

/* ---- with the lock ------------------------------------------------------------------------ */

static struct loader *use(struct chains_link *link)
{
	struct loader *l = (struct loader *)link; /* its first member */

	if (l)
		l->users++;
	return l;
}

/* May be entered, if no other entry has been made meanwhile. */
static int enter(struct loader *l, uint64_t hash, uint64_t made)
{
	if (table.made != made)
		return 0;
	if (table.n == table.cap) {
		size_t cap = table.cap ? 2 * table.cap : 64;
		struct loader **all = mem_realloc(table.all, cap * sizeof(*all));

		if (!all)
			return E_NO_MEMORY;
		table.all = all;
		table.cap = cap;
	}
	if (chains_add(&table.by_hash, &l->link, hash) < 0)
		return E_NO_MEMORY;
	l->at = table.n;
	table.all[table.n++] = l;
	table.made++;
	return 1;
}

static void leave(struct loader *l)
{
	struct loader *last = table.all[--table.n];

	chains_remove(&table.by_hash, &l->link);
	table.all[l->at] = last;
	last->at = l->at;
	table.gone(l);
}

/* ---- without it --------------------------------------------------------------------------- */

void loaders_give(struct loader *l)
{
	if (!l || l == &boot)
		return;
	pthread_mutex_lock(&agent.lock);
	l->users--;
	pthread_mutex_unlock(&agent.lock);
}

/* The first entry of that hash, or the next after l, which is given back. */
static struct loader *next_alike(struct loader *l, uint64_t hash, uint64_t *made)
{
	struct loader *next;

	pthread_mutex_lock(&agent.lock);
	if (!l)
		*made = table.made;
	next = use(l ? chains_next(&l->link) : chains_first(&table.by_hash, hash));
	if (l)
		l->users--;
	pthread_mutex_unlock(&agent.lock);
	return next;
}

static struct loader *find(JNIEnv *jni, jobject ref, uint64_t hash, uint64_t *made)
{
	struct loader *l = next_alike(NULL, hash, made);

	while (l && !(*jni)->IsSameObject(jni, l->ref, ref))
		l = next_alike(l, hash, made);
	return l;
}

static struct loader *new_entry(JNIEnv *jni, jobject ref)
{
	struct loader *l = mem_alloc(sizeof(*l));

	if (!l)
		return NULL;
	*l = (struct loader){ .ref = (*jni)->NewWeakGlobalRef(jni, ref), .users = 1 };
	if (!l->ref) {
		(*jni)->ExceptionClear(jni);
		mem_free(l);
		return NULL;
	}
	return l;
}

static void free_entry(JNIEnv *jni, struct loader *l)
{
	if (!l)
		return;
	(*jni)->DeleteWeakGlobalRef(jni, l->ref);
	mem_free(l);
}

/* Looks at one entry and lets it go when its loader has been collected; false: there is none. */
static bool look(JNIEnv *jni, size_t *at)
{
	struct loader *l = NULL;
	bool collected, gone;

	pthread_mutex_lock(&agent.lock);
	if (*at < table.n)
		l = use(&table.all[*at]->link);
	pthread_mutex_unlock(&agent.lock);
	if (!l)
		return false;
	collected = (*jni)->IsSameObject(jni, l->ref, NULL);
	pthread_mutex_lock(&agent.lock);
	gone = !--l->users && collected; /* who uses it as well lets it go, or the next look */
	if (gone)
		leave(l);
	else
		++*at;
	pthread_mutex_unlock(&agent.lock);
	if (gone) {
		table.told(jni);
		free_entry(jni, l);
	}
	return true;
}

static void look_at_some(JNIEnv *jni)
{
	size_t at;

	for (int i = 0; i < LOOKS; i++) {
		at = __atomic_load_n(&table.hand, __ATOMIC_RELAXED);
		if (!look(jni, &at))
			at = 0;
		__atomic_store_n(&table.hand, at, __ATOMIC_RELAXED);
	}
}

void loaders_sweep(JNIEnv *jni)
{
	for (size_t at = 0; look(jni, &at);)
		;
}

void loaders_tick(void)
{
	static uint64_t last;
	uint64_t now = tick_now();
	JNIEnv *jni;

	if (!__atomic_load_n(&table.n, __ATOMIC_RELAXED) ||
	    agent_ns(now - last) < (uint64_t)SWEEP_S * 1000000000u)
		return;
	last = now;
	jni = agent_enter_jvm();
	if (!jni)
		return;
	loaders_sweep(jni);
	agent_leave_jvm();
}

struct loader *loaders_take(JNIEnv *jni, jobject ref, bool make)
{
	struct loader *l, *fresh = NULL;
	uint64_t made;
	jint hash = 0;
	int rc = 0;

	if (!ref)
		return &boot;
	if ((*agent.jvmti)->GetObjectHashCode(agent.jvmti, ref, &hash) != JVMTI_ERROR_NONE)
		return NULL;
	for (;;) {
		l = find(jni, ref, (uint32_t)hash, &made);
		if (l || !make || rc < 0 || (!fresh && !(fresh = new_entry(jni, ref))))
			break;
		pthread_mutex_lock(&agent.lock);
		rc = enter(fresh, (uint32_t)hash, made);
		pthread_mutex_unlock(&agent.lock);
		if (rc > 0) {
			look_at_some(jni);
			return fresh;
		}
	}
	free_entry(jni, fresh);
	return l;
}

struct loader *loaders_of(JNIEnv *jni, jclass klass, bool make)
{
	jobject ref = NULL;
	struct loader *l;

	if ((*agent.jvmti)->GetClassLoader(agent.jvmti, klass, &ref) != JVMTI_ERROR_NONE)
		return NULL;
	l = loaders_take(jni, ref, make);
	if (ref)
		(*jni)->DeleteLocalRef(jni, ref);
	return l;
}
