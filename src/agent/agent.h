/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - the agent inside the observed JVM: its one state, and how its parts meet.
 *
 * Threads.  The agent's own thread (server.c) is a plain pthread; it serves the control socket,
 * keeps time, and is attached to the JVM only while a command needs that.  Threads of the program
 * come into the agent when they load a class (instrument.c) and end (agent.c).  What both touch
 * is guarded by `lock`, which is never held while the JVM is called.  Probes (src/probe) need no
 * lock.
 *
 * The agent never prints, exits, aborts or throws.  What goes wrong is noted (agent_note) and
 * told to whoever asks. */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <jvmti.h>
#include <pthread.h>

#include "agent/options.h"
#include "base/buf.h"
#include "base/tick.h"

enum {
	NOTES_MAX = 4096,
	AGENT_MEMORY = 8 << 20,
	MANY_METHODS = 10000, /* more are hooked only when that is said to be meant */
};

struct agent {
	JavaVM *vm;
	jvmtiEnv *jvmti; /* NULL: detached */
	int jdk;	 /* 17, 25 ... */
	char jvm[128];	 /* "17.0.15 OpenJDK 64-Bit Server VM" */
	char app[256];	 /* main class, or file name of the jar: what it is known by from before */
	bool late;	 /* came by attach */
	bool recorded;	 /* what is in compiled code the JVM knows: redefining does not flush all */
	bool dead;	 /* the VM is ending: no more calls into it */
	bool many;	 /* somebody has said that very many hooks are meant */
	pthread_mutex_t lock;
	struct options options;
	struct tick_scale scale;
	uint64_t started, started_ns; /* tick, and CLOCK_MONOTONIC_RAW at that moment */
	char notes[NOTES_MAX];
	size_t notes_n;
	struct { /* what the agent has cost, in ticks */
		uint64_t weaving, retransforming;
	} spent;
};

extern struct agent agent;

void agent_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The environment of this thread; attaches it (as a daemon, named "sonde") when *attached is set
 * to true, and then agent_leave_jvm must follow.  NULL: not to be had. */
JNIEnv *agent_enter_jvm(bool *attached);
void agent_leave_jvm(bool attached);

const char *agent_jvmti_text(jvmtiError e); /* "the new code does not pass verification" */

/* The length of a tick is found by comparing two clocks over the time that the agent is in: exact
 * after a while, and nobody waits for it. */
void agent_scale_begin(void);
void agent_scale_update(void);

/* ns between two ticks, or since one. */
static inline uint64_t agent_ns(uint64_t ticks)
{
	return tick_to_ns(agent.scale, ticks);
}

static inline uint64_t agent_age_ns(uint64_t since)
{
	return agent_ns(tick_now() - since);
}

#endif
