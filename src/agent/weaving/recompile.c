/* SPDX-License-Identifier: Apache-2.0 */
/* recompile.c - the JVM is asked once for all code that it has compiled, and what each piece has inside,
 * and tells each compilation from then on.  When classes are replaced, methods out of pieces with
 * methods of these inside are marked.  A compilation of a marked method counts with what the
 * compiler's threads have run since the last one of their kind.  A piece that only C1 had compiled
 * would have come to C2 in any case, so marks go by compiler.  A method that is compiled loses its
 * mark, unless it is one of a class that was replaced, which begins from nothing, or of the agent
 * itself.
 *
 * What a compiler is at while any class is replaced is thrown away, too, when it is done: so
 * classes are replaced when compilers have nothing to do, if there is such a moment.  If there is
 * none, all that they run until they come up with something counts. */
#include "agent/weaving/recompile.h"

#include <jvmticmlr.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/agent.h"
#include "agent/core/conn.h"
#include "agent/core/own.h"
#include "agent/hotspot/compilers.h"
#include "agent/hotspot/tiers.h"
#include "agent/natives/probes.h"
#include "probe/types.h"

enum {
	SLOTS = 1 << 16,      /* for methods; a power of two */
	INSIDE_MAX = 1 << 20, /* in all pieces of code */
	/* For a moment without compilers at work.  On a busy machine they take long for what is
	 * little work. */
	WAIT_MS = 5000,
	WAIT_RUN_MS = 500,
};

/* Marks of a method: its class is about to be replaced; it was in code that was thrown away; and it
 * is of such a class, or of the agent itself, so that all counts that is done for it. */
enum {
	IS_REPLACED = 1,
	WAS_BY_C1 = 2,
	WAS_BY_C2 = 4,
	STAYS = 8,
};

struct marked {
	jmethodID method; /* NULL: free */
	unsigned marks;
};

/* Guarded by its lock, a leaf; compiler threads come here. */
static struct {
	pthread_mutex_t lock;
	bool on;
	bool full; /* more methods than slots: everything counts */
	struct marked *slots;
	size_t n;
	/* Bits, by hash: most methods are none of those, and there are very many. */
	uint64_t replaced[64];
	/* Of one piece of code after the other: its method, what is inside, NULL. */
	jmethodID *inside;
	size_t n_inside, cap_inside;
	struct compilers compilers;
	bool spoiled[2]; /* what C1, C2 were at when classes were replaced */
	uint64_t ns;
} recompile = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* On this thread: the JVM tells what it has compiled before. */
static __thread bool scanning;

/* ---- methods -------------------------------------------------------------------------------- */

static uint64_t hash_of(jmethodID method)
{
	return (uint64_t)(uintptr_t)method * 0x9e3779b97f4a7c15u;
}

static struct marked *slot_of(jmethodID method)
{
	size_t at = (size_t)(hash_of(method) >> 40);

	while (recompile.slots[at % SLOTS].method && recompile.slots[at % SLOTS].method != method)
		at++;
	return &recompile.slots[at % SLOTS];
}

static unsigned marks_of(jmethodID method)
{
	return slot_of(method)->marks;
}

static void mark(jmethodID method, unsigned marks)
{
	struct marked *m = slot_of(method);

	if (!m->method && recompile.n >= SLOTS / 4 * 3) {
		recompile.full = true;
		return;
	}
	recompile.n += !m->method;
	m->method = method;
	m->marks |= marks;
	if (marks & IS_REPLACED)
		recompile.replaced[hash_of(method) >> 58] |= (uint64_t)1
							     << (hash_of(method) >> 52 & 63);
}

static void mark_classes(const jclass *classes, size_t n, unsigned marks, bool on)
{
	for (size_t i = 0; i < n; i++) {
		jmethodID *methods = NULL;
		jint count = 0;

		if ((*agent.jvmti)->GetClassMethods(agent.jvmti, classes[i], &count, &methods) !=
		    JVMTI_ERROR_NONE)
			continue; /* not linked: nothing of it was compiled */
		pthread_mutex_lock(&recompile.lock);
		for (jint k = 0; k < count; k++)
			if (on)
				mark(methods[k], marks);
			else
				slot_of(methods[k])->marks &= ~marks;
		pthread_mutex_unlock(&recompile.lock);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	}
}

/* ---- what the JVM tells --------------------------------------------------------------------- */

static bool put_inside(jmethodID method)
{
	if (recompile.n_inside == recompile.cap_inside) {
		size_t cap = recompile.cap_inside ? recompile.cap_inside * 2 : 8192;
		jmethodID *more = cap <= INSIDE_MAX ? realloc(recompile.inside, cap * sizeof(*more))
						    : NULL;

		if (!more)
			return false;
		recompile.inside = more;
		recompile.cap_inside = cap;
	}
	recompile.inside[recompile.n_inside++] = method;
	return true;
}

static bool is_inside(size_t from, jmethodID method)
{
	for (size_t i = recompile.n_inside; i > from; i--) /* it was often just there */
		if (recompile.inside[i - 1] == method)
			return true;
	return false;
}

/* Frames of inlined methods, for each place of the code at which the JVM can look at them. */
static bool put_record(size_t from, const jvmtiCompiledMethodLoadInlineRecord *r)
{
	for (jint i = 0; i < r->numpcs; i++)
		for (jint k = 0; k < r->pcinfo[i].numstackframes; k++) {
			jmethodID method = r->pcinfo[i].methods[k];

			if (method && !is_inside(from, method) && !put_inside(method))
				return false;
		}
	return true;
}

static void put_piece(jmethodID method, const void *info)
{
	size_t from = recompile.n_inside;
	bool fits = put_inside(method);

	for (const jvmtiCompiledMethodLoadRecordHeader *h = info; h && fits; h = h->next)
		if (h->kind == JVMTI_CMLR_INLINE_INFO)
			fits = put_record(from, (const void *)h);
	if (fits && put_inside(NULL))
		return;
	recompile.n_inside = from;
	recompile.full = true; /* rather too much is reported than too little */
}

static bool is_replaced(jmethodID method)
{
	uint64_t hash = hash_of(method);

	return recompile.replaced[hash >> 58] >> (hash >> 52 & 63) & 1 &&
	       marks_of(method) & IS_REPLACED;
}

static unsigned compiler_of(jmethodID method)
{
	return tiers_of(method, 0);
}

/* The JVM is about to throw this piece away: what is in it has to be recompiled. */
static void mark_thrown(const jmethodID *inside)
{
	unsigned marks = compiler_of(*inside) == TYPE_C1 ? WAS_BY_C1 : WAS_BY_C1 | WAS_BY_C2;

	for (; *inside; inside++)
		mark(*inside, is_replaced(*inside) ? marks | STAYS : marks);
}

static void mark_all_thrown(bool all)
{
	for (size_t i = 0, next; i < recompile.n_inside; i = next + 1) {
		bool thrown = all;

		for (next = i; recompile.inside[next]; next++)
			thrown |= is_replaced(recompile.inside[next]);
		if (thrown)
			mark_thrown(recompile.inside + i);
	}
}

static void take_new(jmethodID method)
{
	unsigned by = compiler_of(method) == TYPE_C1 ? TYPE_C1 : TYPE_C2;
	unsigned was = by == TYPE_C1 ? WAS_BY_C1 : WAS_BY_C2;
	bool *spoiled = &recompile.spoiled[by == TYPE_C2];
	uint64_t ns = compilers_run_by(&recompile.compilers, by);
	struct marked *m = slot_of(method);

	if (m->marks & was || recompile.full || *spoiled)
		recompile.ns += ns;
	if (!(m->marks & STAYS))
		m->marks &= ~was;
	*spoiled = false;
}

void JNICALL recompile_on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
				   jint n_map, const jvmtiAddrLocationMap *map, const void *info)
{
	(void)jvmti, (void)size, (void)code, (void)n_map, (void)map;
	pthread_mutex_lock(&recompile.lock);
	if (recompile.on && !scanning)
		take_new(method);
	if (recompile.on)
		put_piece(method, info);
	pthread_mutex_unlock(&recompile.lock);
}

/* ---- on and off ----------------------------------------------------------------------------- */

static void set_event(bool on)
{
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
					   JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
}

static bool is_wanted(void)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (c->accounts)
			return true;
	return false;
}

static void begin(void)
{
	jvmtiCapabilities want;
	struct marked *slots;

	memset(&want, 0, sizeof(want));
	want.can_generate_compiled_method_load_events = 1;
	slots = calloc(SLOTS, sizeof(*slots));
	if (!slots || (*agent.jvmti)->AddCapabilities(agent.jvmti, &want) != JVMTI_ERROR_NONE) {
		free(slots);
		return;
	}
	pthread_mutex_lock(&recompile.lock);
	recompile.slots = slots;
	recompile.n = recompile.ns = recompile.n_inside = 0;
	recompile.full = recompile.spoiled[0] = recompile.spoiled[1] = false;
	compilers_find(&recompile.compilers);
	recompile.on = true;
	pthread_mutex_unlock(&recompile.lock);
	set_event(true);
	scanning = true;
	(*agent.jvmti)->GenerateEvents(agent.jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	scanning = false;
}

void recompile_end(void)
{
	if (!recompile.on)
		return;
	set_event(false);
	pthread_mutex_lock(&recompile.lock);
	recompile.on = false;
	free(recompile.slots);
	free(recompile.inside);
	recompile.slots = NULL;
	recompile.inside = NULL;
	recompile.n_inside = recompile.cap_inside = 0;
	pthread_mutex_unlock(&recompile.lock);
}

void recompile_before(JNIEnv *jni, const jclass *classes, size_t n)
{
	bool wanted = is_wanted();
	const jclass *own;
	size_t n_own;

	if (wanted && !recompile.on)
		begin();
	else if (!wanted)
		recompile_end();
	if (!recompile.on || !n)
		return;
	probes_train(jni);
	own = own_all(&n_own);
	mark_classes(own, n_own, WAS_BY_C1 | WAS_BY_C2 | STAYS, true);
	mark_classes(classes, n, IS_REPLACED, true);
	pthread_mutex_lock(&recompile.lock);
	mark_all_thrown(!__atomic_load_n(&agent.recorded, __ATOMIC_RELAXED));
	pthread_mutex_unlock(&recompile.lock);
	mark_classes(classes, n, IS_REPLACED, false);
	memset(recompile.replaced, 0, sizeof(recompile.replaced));
	if (compilers_wait(WAIT_MS, WAIT_RUN_MS))
		return;
	pthread_mutex_lock(&recompile.lock);
	recompile.spoiled[0] = recompile.spoiled[1] = true;
	pthread_mutex_unlock(&recompile.lock);
}

void recompile_client_gone(void)
{
	if (!recompile.on || is_wanted() || !agent_enter_jvm())
		return;
	recompile_end();
	agent_leave_jvm();
}

uint64_t recompile_ns(void)
{
	uint64_t ns;

	pthread_mutex_lock(&recompile.lock);
	ns = recompile.ns;
	pthread_mutex_unlock(&recompile.lock);
	return ns;
}
