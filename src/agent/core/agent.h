/* SPDX-License-Identifier: Apache-2.0 */
/* agent.h - the agent inside the observed JVM: its one state, and how its parts meet.
 *
 * Threads.  The agent's own thread (server.c) is a plain pthread; it serves the control socket,
 * keeps time, and is attached to the JVM only while a command needs that.  Threads of the program
 * come into the agent when they load a class (instrument.c) and end (onload.c).  What both touch
 * is guarded by `lock`.  Probes (src/probe) need no lock.  ARCHITECTURE.md lists all locks and
 * their order.
 *
 * No lock that threads of the program take is held while the JVM is called, by JNI or JVMTI, however
 * small the call.  A debugger stops a thread where it returns from one: the thread would keep the
 * lock for as long as somebody looks at its variables, and everybody else would wait.
 *
 * State.  What several parts share is in `agent`, below.  Each part keeps the rest in a static struct of
 * its own file, which no other file can touch: the JVM loads the library once, and its callbacks pass no
 * pointer of ours.  A comment at each says which thread writes it, or by what it is guarded.
 *
 * The agent never prints, exits, aborts or throws.  What goes wrong is noted (agent_note) and
 * told to whoever asks. */
#ifndef AGENT_CORE_AGENT_H
#define AGENT_CORE_AGENT_H

#include <jvmti.h>
#include <pthread.h>

#include "agent/core/options.h"
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
	const jvmtiEventCallbacks *callbacks,
		*last_callback; /* all, or only the one at the JVM's end */
	int jdk;		/* 17, 25 ... */
	char jvm[128];		/* "17.0.15 OpenJDK 64-Bit Server VM" */
	char app[256]; /* main class, or file name of the jar: what it is known by from before */
	bool late;     /* came by attach */
	bool recorded; /* what is in compiled code the JVM knows: redefining does not flush all */
	bool dead;     /* the VM is ending: no more calls into it */
	volatile bool leaving; /* the command that runs now is the last: the loop ends after it */
	bool many;	       /* somebody has said that very many hooks are meant */
	pthread_mutex_t lock;
	struct options options;
	struct tick_scale scale;
	uint64_t started, started_ns; /* tick, and CLOCK_MONOTONIC_RAW at that moment */
	pthread_mutex_t notes_lock;   /* may be taken while `lock` is held */
	char notes[NOTES_MAX];
	size_t notes_n;
	struct { /* what the agent has cost, in ticks */
		uint64_t weaving, retransforming;
	} spent;
};

extern struct agent agent;

/* Takes agent.lock: the caller must not hold it. */
void agent_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The environment of this thread, which is attached to the JVM (as a daemon, named "sonde") for as
 * long as anybody has it: each call is undone by one of its counterpart, and the last of those
 * detaches the thread if the first attached it.  NULL: not to be had, and nothing to undo.
 *
 * enter and leave are for one piece of work; they nest, and local references that are made in
 * between are gone afterwards.  hold and let are for a session, with other people's work in
 * between. */
JNIEnv *agent_enter_jvm(void);
void agent_leave_jvm(void);
JNIEnv *agent_hold_jvm(void);
void agent_let_jvm(void);

/* Has the JVM call all callbacks, or only the one at its end. */
void agent_listen(bool to_all);

const char *agent_jvmti_text(jvmtiError e); /* "the new code does not pass verification" */

/* The length of a tick is found by comparing two clocks over the time that the agent is in: exact
 * after a while, and nothing waits for it. */
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
