/* SPDX-License-Identifier: Apache-2.0 */
/* locks.c - who waits for which lock, and who holds it.
 *
 * An entry is one (class of lock, waiting method, holding method).  To ask for the holder of a
 * monitor the JVM has to stop threads, so that is done at most ASKED_A_SECOND times a second; other
 * contentions in between are passed over.
 *
 * The same events tell metered calls for how long they were blocked, which is the probe's business:
 * they are on while samples are taken or a rule says `metered`. */
#include "agent/natives/locks.h"

#include <stdio.h>

#include "agent/core/agent.h"
#include "agent/core/guests.h"
#include "agent/sampling/events.h"
#include "probe/probe.h"
#include "wire/wire.h"

enum { ENTRIES = 64, ASKED_A_SECOND = 20, FRAMES = 24 };

struct entry_of_lock {
	char class[160], thread[64];
	unsigned flags;
	uint64_t samples;
	jmethodID waiter, holder[FRAMES];
	jint n_holder;
};

/* Guarded by its lock, a leaf; threads that wait for a monitor write entries. */
static struct {
	pthread_mutex_t lock;
	bool on;	/* entries are taken */
	bool samples;	/* the events are wanted for these */
	bool metering;	/* ... for metered calls */
	bool timing;	/* ... for samples of waits */
	bool refused;	/* the JVM does not have them */
	uint64_t asked; /* tick */
	struct entry_of_lock all[ENTRIES];
	int n;
	/* Fields of JDK classes; NULL: not to be had. */
	jfieldID blocker, owner;
	jclass ownable;
} locks = { .lock = PTHREAD_MUTEX_INITIALIZER };

static jfieldID field(JNIEnv *jni, jclass klass, const char *name, const char *desc)
{
	jfieldID id = klass ? (*jni)->GetFieldID(jni, klass, name, desc) : NULL;

	(*jni)->ExceptionClear(jni);
	return id;
}

static void find_fields(JNIEnv *jni)
{
	jclass thread = (*jni)->FindClass(jni, "java/lang/Thread");
	jclass ownable =
		(*jni)->FindClass(jni, "java/util/concurrent/locks/AbstractOwnableSynchronizer");

	(*jni)->ExceptionClear(jni);
	locks.blocker = field(jni, thread, "parkBlocker", "Ljava/lang/Object;");
	locks.owner = field(jni, ownable, "exclusiveOwnerThread", "Ljava/lang/Thread;");
	locks.ownable = ownable ? (*jni)->NewGlobalRef(jni, ownable) : NULL;
	if (thread)
		(*jni)->DeleteLocalRef(jni, thread);
	if (ownable)
		(*jni)->DeleteLocalRef(jni, ownable);
}

static void set_event(jvmtiEvent event, bool on)
{
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE, event,
					   NULL);
}

/* On the agent's thread, as who wants them is changed there alone. */
static void set_events(void)
{
	jvmtiCapabilities want;

	if (locks.samples || locks.metering || locks.timing) {
		memset(&want, 0, sizeof(want));
		want.can_generate_monitor_events = 1;
		want.can_get_monitor_info = 1;
		locks.refused = (*agent.jvmti)->AddCapabilities(agent.jvmti, &want) !=
				JVMTI_ERROR_NONE;
	}
	if (locks.refused)
		return;
	set_event(JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
		  locks.samples || locks.metering || locks.timing);
	set_event(JVMTI_EVENT_MONITOR_CONTENDED_ENTERED, locks.metering || locks.timing);
}

void locks_begin(JNIEnv *jni)
{
	pthread_mutex_lock(&locks.lock);
	locks.n = 0;
	__atomic_store_n(&locks.on, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&locks.lock);
	if (!locks.ownable)
		find_fields(jni);
	locks.samples = true;
	set_events();
}

static void take_no_more(void)
{
	pthread_mutex_lock(&locks.lock);
	__atomic_store_n(&locks.on, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&locks.lock);
}

void locks_end(void)
{
	locks.samples = false;
	set_events();
	take_no_more();
}

bool locks_meter(bool on)
{
	if (on != locks.metering) {
		locks.metering = on;
		if (on)
			probe_meter_blocked();
		set_events();
	}
	return !locks.refused;
}

bool locks_time(bool on)
{
	if (on != locks.timing) {
		locks.timing = on;
		set_events();
	}
	return !locks.refused;
}

static bool is_same(const struct entry_of_lock *a, const struct entry_of_lock *b)
{
	return a->flags == b->flags && a->waiter == b->waiter && a->n_holder == b->n_holder &&
	       (!a->n_holder || a->holder[0] == b->holder[0]) && strcmp(a->class, b->class) == 0;
}

static void add(const struct entry_of_lock *e)
{
	int i = 0;

	pthread_mutex_lock(&locks.lock);
	while (i < locks.n && !is_same(&locks.all[i], e))
		i++;
	if (i < locks.n)
		locks.all[i].samples++;
	else if (locks.on && locks.n < ENTRIES)
		locks.all[locks.n++] = *e;
	pthread_mutex_unlock(&locks.lock);
}

static void fill_class(JNIEnv *jni, jobject object, char out[160])
{
	jclass klass = (*jni)->GetObjectClass(jni, object);
	char *sig = NULL;

	if (klass &&
	    (*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &sig, NULL) == JVMTI_ERROR_NONE) {
		size_t skip = sig[0] == 'L';

		snprintf(out, 160, "%.*s", (int)(strlen(sig) - 2 * skip), sig + skip);
	}
	text_replace(out, '/', '.');
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
	if (klass)
		(*jni)->DeleteLocalRef(jni, klass);
}

static void fill_holder(struct entry_of_lock *e, jthread holder)
{
	jvmtiFrameInfo frames[FRAMES];
	jvmtiThreadInfo info = { 0 };

	if (!holder)
		return;
	if ((*agent.jvmti)->GetStackTrace(agent.jvmti, holder, 0, FRAMES, frames, &e->n_holder) !=
	    JVMTI_ERROR_NONE)
		e->n_holder = 0;
	for (jint i = 0; i < e->n_holder; i++)
		e->holder[i] = frames[i].method;
	if ((*agent.jvmti)->GetThreadInfo(agent.jvmti, holder, &info) == JVMTI_ERROR_NONE)
		snprintf(e->thread, sizeof(e->thread), "%s", info.name ? info.name : "");
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info.name);
}

static bool is_time_to_ask(void)
{
	uint64_t last = __atomic_load_n(&locks.asked, __ATOMIC_RELAXED), now = tick_now();

	if (agent_ns(now - last) < 1000000000u / ASKED_A_SECOND)
		return false;
	return __atomic_compare_exchange_n(&locks.asked, &last, now, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

void JNICALL locks_on_contended(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
	struct entry_of_lock e = { .samples = 1 };
	jvmtiMonitorUsage usage;
	jvmtiFrameInfo top;
	jint n = 0;

	if (agent.dead)
		return;
	probe_blocked(true);
	events_on_contended();
	if (!__atomic_load_n(&locks.on, __ATOMIC_RELAXED) || !is_time_to_ask())
		return;
	memset(&usage, 0, sizeof(usage));
	if ((*jvmti)->GetObjectMonitorUsage(jvmti, object, &usage) != JVMTI_ERROR_NONE)
		return;
	fill_class(jni, object, e.class);
	if ((*jvmti)->GetStackTrace(jvmti, thread, 0, 1, &top, &n) == JVMTI_ERROR_NONE && n)
		e.waiter = top.method;
	fill_holder(&e, usage.owner);
	add(&e);
	if (usage.owner)
		(*jni)->DeleteLocalRef(jni, usage.owner);
	for (jint i = 0; i < usage.waiter_count; i++)
		(*jni)->DeleteLocalRef(jni, usage.waiters[i]);
	for (jint i = 0; i < usage.notify_waiter_count; i++)
		(*jni)->DeleteLocalRef(jni, usage.notify_waiters[i]);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)usage.waiters);
	(*jvmti)->Deallocate(jvmti, (unsigned char *)usage.notify_waiters);
}

void JNICALL locks_on_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
	(void)thread;
	probe_blocked(false);
	if (guests_come()) {
		events_on_entered(jvmti, jni, object);
		guests_go();
	}
}

/* The frame that called into java.util.concurrent. */
static jmethodID waiter_of(JNIEnv *jni, jthread thread, struct sites *sites)
{
	jvmtiFrameInfo frames[FRAMES];
	jint n = 0;

	if ((*agent.jvmti)->GetStackTrace(agent.jvmti, thread, 0, FRAMES, frames, &n) !=
	    JVMTI_ERROR_NONE)
		return NULL;
	for (jint i = 0; i < n; i++) {
		const struct site *s = sites_get(sites, jni, frames[i].method);

		if (s && strncmp(s->name, "java.util.concurrent.", 21) != 0 &&
		    strncmp(s->name, "jdk.internal.", 13) != 0)
			return frames[i].method;
	}
	return NULL;
}

jobject locks_blocker(JNIEnv *jni, jthread thread, jthread *owner)
{
	jobject blocker;

	*owner = NULL;
	if (!locks.ownable)
		find_fields(jni);
	if (!locks.blocker)
		return NULL;
	blocker = (*jni)->GetObjectField(jni, thread, locks.blocker);
	if (blocker && locks.owner && (*jni)->IsInstanceOf(jni, blocker, locks.ownable))
		*owner = (*jni)->GetObjectField(jni, blocker, locks.owner);
	return blocker;
}

void locks_parked(JNIEnv *jni, jthread thread, struct sites *sites)
{
	struct entry_of_lock e = { .samples = 1, .flags = LOCK_PARKED };
	jthread owner;
	jobject blocker = locks_blocker(jni, thread, &owner);

	if (!blocker)
		return;
	fill_class(jni, blocker, e.class);
	e.waiter = waiter_of(jni, thread, sites);
	fill_holder(&e, owner);
	add(&e);
	if (owner)
		(*jni)->DeleteLocalRef(jni, owner);
	(*jni)->DeleteLocalRef(jni, blocker);
}

static bool is_jdk(const char *name)
{
	return strncmp(name, "java.", 5) == 0 || strncmp(name, "jdk.", 4) == 0 ||
	       strncmp(name, "sun.", 4) == 0;
}

/* The innermost frame that is not the JDK's, or the innermost of all. */
static const struct site *told_of(const struct entry_of_lock *e, JNIEnv *jni, struct sites *sites)
{
	const struct site *first = NULL;

	for (jint i = 0; i < e->n_holder; i++) {
		const struct site *s = sites_get(sites, jni, e->holder[i]);

		first = first ? first : s;
		if (s && !is_jdk(s->name))
			return s;
	}
	return first;
}

void locks_put(struct buf *out, JNIEnv *jni, struct sites *sites)
{
	take_no_more(); /* entries stay as they are from now on */
	for (int i = 0; i < locks.n; i++) {
		const struct entry_of_lock *e = &locks.all[i];
		const struct site *waiter = e->waiter ? sites_get(sites, jni, e->waiter) : NULL;
		const struct site *holder = told_of(e, jni, sites);

		wire_put_lock(out, &(struct wire_lock){
					   .class = slice_str(e->class),
					   .flags = e->flags,
					   .samples = e->samples,
					   .waiter = slice_str(waiter ? waiter->name : ""),
					   .thread = slice_str(e->thread),
					   .holder = slice_str(holder ? holder->name : "") });
	}
}
