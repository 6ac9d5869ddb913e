/* SPDX-License-Identifier: Apache-2.0 */
/* events.c - see events.h.
 *
 * A JNIEnv is a part of its JavaThread, at a place that is the same in all of them: found out with the
 * agent's own.  Nothing is held while the JVM is called: a class's name is asked for before the tables
 * are entered. */
#include "agent/sampling/events.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/sampling/anchor.h"
#include "agent/sampling/labels.h"
#include "agent/sampling/mapped.h"
#include "agent/sampling/peek.h"
#include "agent/sampling/slots.h"
#include "agent/sampling/survivors.h"
#include "agent/sampling/tables.h"
#include "base/random.h"
#include "sample/drawn.h"
#include "wire/wire.h"

enum { JNI_AT_MAX = 1 << 14, LEAVE_US = 500, LEAVE_TRIES = 2000 };

static struct {
	unsigned mode;	 /* STACKS_CPU: nothing is counted; any thread reads it */
	uint32_t inside; /* callbacks */
	const struct vm_layout *layout;
	uint64_t jni_at, interval;
	bool live;
	int64_t left; /* events that may still be counted */
	uint64_t lost;
} events;

/* Of this thread. */
static __thread uint64_t since
	__attribute__((tls_model("initial-exec"))); /* tick; 0: does not wait */
static __thread uint64_t random_state __attribute__((tls_model("initial-exec")));

/* ---- guests of ours ------------------------------------------------------------------------ */

static bool come(unsigned mode)
{
	if (__atomic_load_n(&events.mode, __ATOMIC_RELAXED) != mode)
		return false;
	__atomic_fetch_add(&events.inside, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&events.mode, __ATOMIC_SEQ_CST) == mode && !agent.dead)
		return true;
	__atomic_fetch_sub(&events.inside, 1, __ATOMIC_SEQ_CST);
	return false;
}

static void go(void)
{
	__atomic_fetch_sub(&events.inside, 1, __ATOMIC_SEQ_CST);
}

static bool may_count(void)
{
	if (__atomic_fetch_sub(&events.left, 1, __ATOMIC_RELAXED) > 0)
		return true;
	__atomic_fetch_add(&events.lost, 1, __ATOMIC_RELAXED);
	return false;
}

/* ---- one event ----------------------------------------------------------------------------- */

static void walk_from_anchor(struct stack_walk *w, uint64_t thread)
{
	const struct vm_layout *l = events.layout;
	const struct walk_world world = { mapped_now(), &l->heaps };

	w->end = WALK_WHOLE; /* code of the JVM that no Java code has called */
	if (!anchor_find(l, thread, &w->at))
		return;
	w->lo = w->at.sp & ~(uint64_t)7;
	w->hi = peek_word(thread + l->thread.stack_base);
	w->bytes = (const uint8_t *)(uintptr_t)w->lo;
	w->read = peek;
	if (w->hi > w->lo)
		walk_run(w, &world);
}

/* The hash of the stack; 0: it was not counted.  class: its JVM signature. */
static uint64_t add(JNIEnv *jni, const char *class, struct stacks_new *new)
{
	struct stack_walk w;
	struct tables_guest g;
	uint64_t hash;

	if (!tables_enter(&g))
		return 0;
	memset(&w, 0, sizeof(w));
	g.spots[0] = spot(SPOT_LABEL, labels_number(slice_str(class)));
	w.spots = g.spots + 1;
	w.cap = TABLES_DEPTH - 1;
	walk_from_anchor(&w, (uint64_t)(uintptr_t)jni - events.jni_at);
	new->spots = g.spots;
	new->n = w.n + 1;
	new->thread = (uint32_t)syscall(SYS_gettid);
	new->end = (uint8_t)w.end;
	new->count = 1;
	hash = stacks_add(g.table, new);
	tables_leave(&g);
	return hash;
}

static uint64_t add_of_class(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, struct stacks_new *new)
{
	char *signature = NULL;
	uint64_t hash = 0;

	if ((*jvmti)->GetClassSignature(jvmti, klass, &signature, NULL) == JVMTI_ERROR_NONE)
		hash = add(jni, signature, new);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	return hash;
}

void JNICALL events_on_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
			     jclass klass, jlong size)
{
	struct stacks_new new = { 0 };
	double many;

	(void)thread;
	if (!come(STACKS_ALLOC))
		return;
	if (may_count()) {
		many = drawn_weight((double)size, (double)events.interval);
		new.many = (uint64_t)(many + 0.5);
		new.amount = (uint64_t)(many * (double)size + 0.5);
		(void)add_of_class(jvmti, jni, klass, &new);
		if (events.live && new.hash)
			survivors_add(jni, object, &new);
	}
	go();
}

void events_on_contended(void)
{
	if (__atomic_load_n(&events.mode, __ATOMIC_RELAXED) == STACKS_LOCK)
		since = tick_now();
}

/* A virtual thread may have begun to wait on another carrier. */
static bool is_virtual(const JNIEnv *jni)
{
	const struct vm_layout *l = events.layout;

	return l->thread.has_continuation &&
	       peek_word((uint64_t)(uintptr_t)jni - events.jni_at + l->thread.continuation);
}

/* Waits are drawn by their length: long ones always, of short ones as many as come to the interval. */
static bool is_drawn(uint64_t ns, struct stacks_new *new)
{
	new->many = 1;
	new->amount = ns;
	if (ns >= events.interval)
		return true;
	if (!random_state)
		random_state = tick_now() ^ (uint64_t)(uintptr_t)&random_state;
	if (!ns || random_next(&random_state) % events.interval >= ns)
		return false;
	new->many = events.interval / ns;
	new->amount = events.interval;
	return true;
}

void events_on_entered(jvmtiEnv *jvmti, JNIEnv *jni, jobject object)
{
	struct stacks_new new = { 0 };
	uint64_t begin = since;
	jclass klass;

	since = 0;
	if (!begin || !come(STACKS_LOCK))
		return;
	if (is_virtual(jni)) {
		__atomic_fetch_add(&events.lost, 1, __ATOMIC_RELAXED);
	} else if (is_drawn(agent_age_ns(begin), &new) && may_count()) {
		klass = (*jni)->GetObjectClass(jni, object);
		(void)add_of_class(jvmti, jni, klass, &new);
		(*jni)->DeleteLocalRef(jni, klass);
	}
	go();
}

/* ---- beginning and end --------------------------------------------------------------------- */

static bool find_jni(JNIEnv *jni)
{
	uint64_t thread = slots_java_thread(events.layout, (pid_t)syscall(SYS_gettid));

	events.jni_at = (uint64_t)(uintptr_t)jni - thread;
	return thread && events.jni_at < JNI_AT_MAX;
}

static jvmtiError set_event(bool on)
{
	return (*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
					   JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
}

static void capabilities(jvmtiCapabilities *c)
{
	memset(c, 0, sizeof(*c));
	c->can_generate_sampled_object_alloc_events = 1;
}

static const char *begin_alloc(void)
{
	jvmtiCapabilities want;

	capabilities(&want);
	if ((*agent.jvmti)->AddCapabilities(agent.jvmti, &want) != JVMTI_ERROR_NONE)
		return "it does not tell of allocations now: it gives that to one agent only, or must have "
		       "Sonde from its start (sonde run)";
	if ((*agent.jvmti)->SetHeapSamplingInterval(agent.jvmti, (jint)events.interval) ==
		    JVMTI_ERROR_NONE &&
	    set_event(true) == JVMTI_ERROR_NONE)
		return NULL;
	return "it does not tell of allocations";
}

const char *events_begin(JNIEnv *jni, const struct events_wish *wish)
{
	const char *why;

	if (__atomic_load_n(&events.inside, __ATOMIC_SEQ_CST))
		return "a thread is still in an event of the session before; a debugger may have stopped it";
	events.layout = wish->layout;
	events.interval = wish->interval;
	events.live = wish->live;
	events.lost = 0;
	events.left = EVENTS_A_SECOND;
	if (!jni || !wish->layout->thread.known || !find_jni(jni))
		return "its threads cannot be found";
	if (!labels_begin())
		return "memory is out";
	survivors_begin();
	__atomic_store_n(&events.mode, wish->mode, __ATOMIC_SEQ_CST);
	why = wish->mode == STACKS_ALLOC ? begin_alloc() : NULL;
	if (why)
		events_end(jni);
	return why;
}

static bool is_empty(void)
{
	for (int i = 0; i < LEAVE_TRIES && __atomic_load_n(&events.inside, __ATOMIC_SEQ_CST); i++)
		usleep(LEAVE_US);
	return !__atomic_load_n(&events.inside, __ATOMIC_SEQ_CST);
}

/* Names and references stay if a debugger keeps a thread in a callback. */
void events_end(JNIEnv *jni)
{
	unsigned mode = __atomic_exchange_n(&events.mode, STACKS_CPU, __ATOMIC_SEQ_CST);
	jvmtiCapabilities want;

	if (mode == STACKS_CPU)
		return;
	if (mode == STACKS_ALLOC && jni) {
		(void)set_event(false);
		capabilities(&want);
		(*agent.jvmti)->RelinquishCapabilities(agent.jvmti, &want);
	}
	if (!is_empty())
		return;
	labels_end();
	if (jni)
		survivors_end(jni);
}

void events_round(uint64_t ns)
{
	int64_t more = (int64_t)(ns / (1000000000u / EVENTS_A_SECOND));

	__atomic_store_n(&events.left, more > 1 ? more : 1, __ATOMIC_RELAXED);
}

uint64_t events_lost(void)
{
	return __atomic_load_n(&events.lost, __ATOMIC_RELAXED);
}
