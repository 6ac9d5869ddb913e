/* SPDX-License-Identifier: Apache-2.0 */
/* anew.c - before classes are replaced, the JVM is asked for all code that it has compiled, and what each piece has
 * inside: that marks methods.  Afterwards it tells each compilation; one of a marked method counts with what
 * the compiler's threads have run since the last one of their kind.  A piece that only C1 had compiled would have come
 * to C2 in any case, so marks go by compiler.  A method that is compiled loses its mark, unless it is one of a class
 * that was replaced, which begins from nothing, or of the agent itself.
 *
 * What a compiler is at while any class is replaced is thrown away, too, when it is done: so classes are replaced
 * when compilers have nothing to do, if there is such a moment.  If there is none, all that they run until they come up with
 * something counts. */
#include "agent/anew.h"

#include <jvmticmlr.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/compilers.h"
#include "agent/probes.h"
#include "agent/server.h"
#include "agent/tiers.h"
#include "probe/types.h"

enum {
	SLOTS = 1 << 16, /* for methods; a power of two */
	/* For a moment without compilers at work.  On a busy machine they take long for what is little work. */
	WAIT_MS = 5000,
	WAIT_RUN_MS = 500,
};

enum {			/* of a method */
       IS_REPLACED = 1, /* its class is about to be */
       WAS_BY_C1 = 2,	/* it was in code that was thrown away */
       WAS_BY_C2 = 4,
       STAYS = 8, /* of such a class, or the agent's own: all counts that is done for it */
};

struct marked {
	jmethodID method; /* NULL: free */
	unsigned marks;
};

static struct {
	pthread_mutex_t lock;
	bool on;
	bool full; /* more methods than slots: everything counts */
	struct marked *slots;
	size_t n;
	uint64_t replaced
		[64]; /* bits, by hash: most methods are none of those, and there are very many */
	struct compilers compilers;
	bool spoiled[2]; /* what C1, C2 were at when classes were replaced */
	uint64_t ns;
} anew = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* On this thread: the JVM tells what it has compiled before. */
static __thread struct {
	bool on, all;
} scanning;

/* ---- methods -------------------------------------------------------------------------------- */

static uint64_t hash_of(jmethodID method)
{
	return (uint64_t)(uintptr_t)method * 0x9e3779b97f4a7c15u;
}

static struct marked *slot_of(jmethodID method)
{
	size_t at = (size_t)(hash_of(method) >> 40);

	while (anew.slots[at % SLOTS].method && anew.slots[at % SLOTS].method != method)
		at++;
	return &anew.slots[at % SLOTS];
}

static unsigned marks_of(jmethodID method)
{
	return slot_of(method)->marks;
}

static void mark(jmethodID method, unsigned marks)
{
	struct marked *m = slot_of(method);

	if (!m->method && anew.n >= SLOTS / 4 * 3) {
		anew.full = true;
		return;
	}
	anew.n += !m->method;
	m->method = method;
	m->marks |= marks;
	if (marks & IS_REPLACED)
		anew.replaced[hash_of(method) >> 58] |= (uint64_t)1 << (hash_of(method) >> 52 & 63);
}

static void mark_classes(const jclass *classes, size_t n, unsigned marks, bool on)
{
	for (size_t i = 0; i < n; i++) {
		jmethodID *methods = NULL;
		jint count = 0;

		if ((*agent.jvmti)->GetClassMethods(agent.jvmti, classes[i], &count, &methods) !=
		    JVMTI_ERROR_NONE)
			continue; /* not linked: nothing of it was compiled */
		pthread_mutex_lock(&anew.lock);
		for (jint k = 0; k < count; k++)
			if (on)
				mark(methods[k], marks);
			else
				slot_of(methods[k])->marks &= ~marks;
		pthread_mutex_unlock(&anew.lock);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	}
}

/* ---- what the JVM tells --------------------------------------------------------------------- */

/* Calls see(method, ctx) for each method that was compiled into the code.  The same one may come often. */
static void each_inlined(const void *info, void (*see)(jmethodID method, void *ctx), void *ctx)
{
	const jvmtiCompiledMethodLoadRecordHeader *h = info;

	for (; h; h = h->next) {
		const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;
		jmethodID last = NULL;

		if (h->kind != JVMTI_CMLR_INLINE_INFO)
			continue;
		for (jint i = 0; i < r->numpcs; i++)
			for (jint k = 0; k < r->pcinfo[i].numstackframes; k++) {
				jmethodID method = r->pcinfo[i].methods[k];

				if (method && method != last)
					see(method, ctx);
				last = method;
			}
	}
}

static bool is_replaced(jmethodID method)
{
	uint64_t hash = hash_of(method);

	return anew.replaced[hash >> 58] >> (hash >> 52 & 63) & 1 && marks_of(method) & IS_REPLACED;
}

static void look_for_replaced(jmethodID method, void *ctx)
{
	*(bool *)ctx |= is_replaced(method);
}

static void mark_thrown(jmethodID method, void *ctx)
{
	unsigned marks = *(const unsigned *)ctx;

	mark(method, is_replaced(method) ? marks | STAYS : marks);
}

static unsigned compiler_of(jmethodID method)
{
	return tiers_of(method, 0);
}

static void take_old(jmethodID method, const void *info)
{
	bool thrown = scanning.all || is_replaced(method);
	unsigned marks = WAS_BY_C1;

	if (!thrown)
		each_inlined(info, look_for_replaced, &thrown);
	if (!thrown)
		return;
	if (compiler_of(method) != TYPE_C1)
		marks |= WAS_BY_C2;
	mark_thrown(method, &marks);
	each_inlined(info, mark_thrown, &marks);
}

static void take_new(jmethodID method)
{
	unsigned by = compiler_of(method) == TYPE_C1 ? TYPE_C1 : TYPE_C2;
	unsigned was = by == TYPE_C1 ? WAS_BY_C1 : WAS_BY_C2;
	bool *spoiled = &anew.spoiled[by == TYPE_C2];
	uint64_t ns = compilers_run_by(&anew.compilers, by);
	struct marked *m = slot_of(method);

	if (m->marks & was || anew.full || *spoiled)
		anew.ns += ns;
	if (!(m->marks & STAYS))
		m->marks &= ~was;
	*spoiled = false;
}

void JNICALL anew_on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
			      jint n_map, const jvmtiAddrLocationMap *map, const void *info)
{
	(void)jvmti, (void)size, (void)code, (void)n_map, (void)map;
	pthread_mutex_lock(&anew.lock);
	if (anew.on && scanning.on)
		take_old(method, info);
	else if (anew.on)
		take_new(method);
	pthread_mutex_unlock(&anew.lock);
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
	pthread_mutex_lock(&anew.lock);
	anew.slots = slots;
	anew.n = anew.ns = 0;
	anew.full = anew.spoiled[0] = anew.spoiled[1] = false;
	compilers_find(&anew.compilers);
	anew.on = true;
	pthread_mutex_unlock(&anew.lock);
	set_event(true);
}

void anew_end(void)
{
	struct marked *slots;

	if (!anew.on)
		return;
	set_event(false);
	pthread_mutex_lock(&anew.lock);
	anew.on = false;
	slots = anew.slots;
	anew.slots = NULL;
	pthread_mutex_unlock(&anew.lock);
	free(slots);
}

void anew_before(const jclass *classes, size_t n)
{
	bool wanted = is_wanted();
	const jclass *own;
	size_t n_own;

	if (wanted && !anew.on)
		begin();
	else if (!wanted)
		anew_end();
	if (!anew.on || !n)
		return;
	own = probes_own(&n_own);
	mark_classes(own, n_own, WAS_BY_C1 | WAS_BY_C2 | STAYS, true);
	mark_classes(classes, n, IS_REPLACED, true);
	scanning.on = true;
	scanning.all = !__atomic_load_n(&agent.recorded, __ATOMIC_RELAXED);
	(*agent.jvmti)->GenerateEvents(agent.jvmti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
	scanning.on = false;
	mark_classes(classes, n, IS_REPLACED, false);
	memset(anew.replaced, 0, sizeof(anew.replaced));
	if (compilers_wait(WAIT_MS, WAIT_RUN_MS))
		return;
	pthread_mutex_lock(&anew.lock);
	anew.spoiled[0] = anew.spoiled[1] = true;
	pthread_mutex_unlock(&anew.lock);
}

void anew_client_gone(void)
{
	bool attached;

	if (!anew.on || is_wanted() || !agent_enter_jvm(&attached))
		return;
	anew_end();
	agent_leave_jvm(attached);
}

uint64_t anew_ns(void)
{
	uint64_t ns;

	pthread_mutex_lock(&anew.lock);
	ns = anew.ns;
	pthread_mutex_unlock(&anew.lock);
	return ns;
}
