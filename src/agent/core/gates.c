/* SPDX-License-Identifier: Apache-2.0 */
/* gates.c - the gates of hooks, as they are to be and as the JVM knows them. */
#include "agent/core/gates.h"

#include <string.h>

#include "probe/probe.h"

/* Gates are bytes of an array in the heap, which only the JVM can write; `wanted` is what they are to
 * be, and `closed` what they are while a window has closed some.  Threads that load classes and the
 * agent's own set gates at the same time.  A lock must not be held while the JVM is called, so there
 * is none: a thread that has copied gates to the JVM looks whether they have changed meanwhile, and copies them again. */
static struct {
	jbyteArray array; /* a global reference; NULL: no class of ours is there yet */
	jbyte wanted[PROBE_METHODS];
	jbyte closed[PROBE_METHODS];
	jbyte held[PROBE_METHODS]; /* 1: closed, whatever is wanted */
	uint32_t shut;		   /* so many gates are closed by a window */
} gates;

void gates_init(jbyteArray array)
{
	gates.array = array;
}

bool gates_are_there(void)
{
	return gates.array != NULL;
}

/* Gates that this thread has set and not copied to the JVM yet. */
static __thread struct {
	uint32_t from, to;
} untold;

static void copy_gates(jbyte *to, uint32_t from, uint32_t n)
{
	uint32_t shut = __atomic_load_n(&gates.shut, __ATOMIC_SEQ_CST);
	const jbyte *source = shut ? gates.closed : gates.wanted;

	for (uint32_t i = 0; i < n; i++) {
		to[i] = shut && from + i >= shut
				? 0 /* came while the window was on: opens with the others */
				: __atomic_load_n(&source[from + i], __ATOMIC_SEQ_CST);
		if (!shut && __atomic_load_n(&gates.held[from + i], __ATOMIC_SEQ_CST))
			to[i] = 0;
	}
}

/* Of two threads that tell of the same gate, the one that tells last may have looked first; but then
 * it sees afterwards that the gate is another one now. */
static void tell_gates(JNIEnv *jni, uint32_t from, uint32_t to)
{
	jbyte told[1024], now[1024];

	for (uint32_t n; from < to; from += n) {
		n = to - from < sizeof(told) ? to - from : (uint32_t)sizeof(told);
		copy_gates(now, from, n);
		do {
			memcpy(told, now, n);
			(*jni)->SetByteArrayRegion(jni, gates.array, (jsize)from, (jsize)n, told);
			copy_gates(now, from, n);
		} while (memcmp(told, now, n) != 0);
	}
}

static void is_untold(uint32_t id)
{
	if (untold.to == untold.from)
		untold.from = id, untold.to = id + 1;
	else if (id < untold.from)
		untold.from = id;
	else if (id >= untold.to)
		untold.to = id + 1;
}

static void set_gate(uint32_t id, jbyte value)
{
	if (id >= PROBE_METHODS)
		return;
	__atomic_store_n(&gates.wanted[id], value, __ATOMIC_SEQ_CST);
	is_untold(id);
}

void gates_hold(uint32_t id, bool hold)
{
	if (id >= PROBE_METHODS || gates_is_held(id) == hold)
		return;
	__atomic_store_n(&gates.held[id], hold, __ATOMIC_SEQ_CST);
	is_untold(id);
}

bool gates_is_held(uint32_t id)
{
	return id < PROBE_METHODS && __atomic_load_n(&gates.held[id], __ATOMIC_RELAXED);
}

void gates_tell(JNIEnv *jni)
{
	uint32_t from = untold.from, to = untold.to;

	untold.from = untold.to = 0;
	tell_gates(jni, from, to);
}

int gates_of(uint32_t id)
{
	return id < PROBE_METHODS ? __atomic_load_n(&gates.wanted[id], __ATOMIC_RELAXED) : 0;
}

void gates_shut(JNIEnv *jni, const int8_t *all, uint32_t n)
{
	for (uint32_t id = 0; id < n; id++)
		__atomic_store_n(&gates.closed[id], all[id], __ATOMIC_RELAXED);
	__atomic_store_n(&gates.shut, n, __ATOMIC_SEQ_CST);
	tell_gates(jni, 0, n);
}

void gates_reopen(JNIEnv *jni, uint32_t n)
{
	__atomic_store_n(&gates.shut, 0, __ATOMIC_SEQ_CST);
	tell_gates(jni, 0, n);
}

void gates_open(uint32_t id, bool ask, bool inside)
{
	jbyte gate = ask ? 3 : 1;

	set_gate(id, inside ? (jbyte)-gate : gate);
}

void gates_close(uint32_t id)
{
	set_gate(id, 0);
}

void gates_close_all(JNIEnv *jni)
{
	__atomic_store_n(&gates.shut, 0, __ATOMIC_SEQ_CST);
	for (uint32_t id = 0; id < PROBE_METHODS; id++) {
		__atomic_store_n(&gates.wanted[id], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&gates.held[id], 0, __ATOMIC_RELAXED);
	}
	if (gates.array)
		tell_gates(jni, 0, PROBE_METHODS);
}
