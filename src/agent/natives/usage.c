/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c - reads the allocated bytes of the running thread where HotSpot keeps them.
 *
 * com.sun.management tells them to Java code only.  HotSpot counts them in each Thread: what was in
 * buffers that the thread has used up (_allocated_bytes), and besides what is used of the one it
 * has now (_tlab, from _start to _top).  Where these lie is in the tables for debuggers.  The
 * Thread of a JNIEnv lies a fixed distance before it, which is found with a thread of which Java
 * knows both (Thread.eetop). */
#include "agent/natives/usage.h"

#include <stdio.h>

#include "agent/classes/rulebook.h"
#include "agent/core/agent.h"
#include "agent/core/syscalls.h"
#include "agent/hotspot/vmstructs.h"
#include "agent/natives/locks.h"
#include "probe/probe.h"
#include "wire/wire.h"

enum { FAR = 1 << 16 }; /* more than a Thread is long */

/* Found out by the agent's thread before the first call is metered; then read by observed threads. */
static struct {
	bool known, noted;
	bool no_blocked, noted_states;
	bool counting, noted_counters;
	unsigned counters; /* a set of bits: those that there are */
	uint64_t env;	   /* where in a Thread its JNIEnv lies */
	uint64_t bytes, start, top;
} places;

static uint64_t word(const char *at)
{
	return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED);
}

/* In an observed thread, in the middle of anything: GetEnv only looks into thread-local memory.
 * Its answer is not kept: a native thread that leaves the JVM and comes back is another Thread. */
static uint64_t bytes_now(void)
{
	const char *mine;
	void *env;

	if ((*agent.vm)->GetEnv(agent.vm, &env, JNI_VERSION_1_8) != JNI_OK)
		return 0;
	mine = (const char *)env - places.env;
	return word(mine + places.bytes) + word(mine + places.top) - word(mine + places.start);
}

static bool find_env(JNIEnv *jni)
{
	jclass class = (*jni)->FindClass(jni, "java/lang/Thread");
	jfieldID field = class ? (*jni)->GetFieldID(jni, class, "eetop", "J") : NULL;
	jthread thread = NULL;
	uint64_t at;

	if (!field || (*agent.jvmti)->GetCurrentThread(agent.jvmti, &thread) != JVMTI_ERROR_NONE) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	at = (uint64_t)(*jni)->GetLongField(jni, thread, field);
	places.env = (uint64_t)(uintptr_t)jni - at;
	(*jni)->DeleteLocalRef(jni, thread);
	(*jni)->DeleteLocalRef(jni, class);
	return at && places.env < FAR;
}

void usage_prepare(JNIEnv *jni)
{
	uint64_t tlab;

	if (places.known || !find_env(jni) ||
	    !vmstructs_offset("Thread", "_allocated_bytes", &places.bytes) ||
	    !vmstructs_offset("Thread", "_tlab", &tlab) ||
	    !vmstructs_offset("ThreadLocalAllocBuffer", "_start", &places.start) ||
	    !vmstructs_offset("ThreadLocalAllocBuffer", "_top", &places.top))
		return;
	places.start += tlab;
	places.top += tlab;
	places.known = true;
}

void usage_start(void)
{
	if (places.known) {
		probe_meter_bytes(bytes_now);
	} else if (!places.noted) {
		places.noted = true;
		agent_note(
			"allocated bytes cannot be had in this JVM: metered calls tell their processor "
			"time only");
	}
}

static void note_counters(bool filtered)
{
	static const char *const names[PROBE_COUNTERS] = { "instructions", "cache misses",
							   "branches", "branch misses" };
	char text[80] = "";
	size_t n = 0;

	for (unsigned i = 0; i < PROBE_COUNTERS; i++)
		if (!(places.counters & 1u << i))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
					      names[i]);
	if (n && !places.noted_counters)
		agent_note("metered calls do not tell %s: %s", text,
			   filtered ? "they are not available under a system-call filter"
				    : "this machine, or its settings, has no such counters");
	places.noted_counters = true;
}

static void follow_counters(bool wanted)
{
	bool filtered;

	if (wanted == places.counting)
		return;
	places.counting = wanted;
	if (!wanted) {
		probe_counters_end();
		return;
	}
	filtered = syscalls_filtered();
	places.counters = filtered ? 0 : probe_counters_begin();
	note_counters(filtered);
}

void usage_follow(void)
{
	bool wanted = false;

	for (size_t i = 0; i < rulebook.n; i++)
		wanted |= rulebook.entries[i].rule->kind == RULE_HOOK &&
			  rulebook.entries[i].rule->hook.metered;
	places.no_blocked = !locks_meter(wanted);
	follow_counters(wanted);
	if (wanted && (places.no_blocked || !probe_meter_has_delay()) && !places.noted_states) {
		places.noted_states = true;
		agent_note(
			places.no_blocked
				? "this JVM does not tell when threads wait for monitors: metered calls "
				  "are told as waiting then"
				: "this kernel does not tell for how long threads are ready to run and "
				  "have no processor (schedstat): metered calls are told as waiting then");
	}
}

unsigned usage_unknown(void)
{
	unsigned no_counters = ~places.counters * METER_NO_COUNTER & METER_NO_COUNTERS;

	return no_counters | (places.known ? 0 : METER_NO_BYTES) |
	       (places.no_blocked ? METER_NO_BLOCKED : 0) |
	       (probe_meter_has_delay() ? 0 : METER_NO_DELAY);
}
