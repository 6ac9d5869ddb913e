/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - the threads of this process while samples are taken: their stacks, and what wakes them.
 *
 * The agent's thread looks in /proc/self/task for threads that come and go; a signal handler reads its
 * own thread's slot.  Where a stack ends is known of Java threads by the JVM; other threads' handlers
 * leave their stack pointer, and the agent's thread looks up its mapping.  Only stacks that the C
 * library has made count as known: those end at the thread's descriptor, and are there as long as the
 * thread is. */
#ifndef AGENT_SAMPLING_SLOTS_H
#define AGENT_SAMPLING_SLOTS_H

#include <sys/types.h>
#include <time.h>

#include "agent/sampling/vm_layout.h"

enum { SLOTS_MAX = 16384 };

struct thread_slot {
	pid_t tid;		 /* 0: free */
	int fd;			 /* of the perf event; -1: none */
	int timer;		 /* of the kernel; -1: none */
	uint32_t look;		 /* at which it was seen last */
	uint64_t lo, hi;	 /* of its stack; 0: not known */
	uint64_t java;		 /* its JavaThread; 0: none */
	uint64_t sp, descriptor; /* left by the handler, when the stack is not known */
	bool lacks;		 /* its mapping is to be looked up */
	bool foreign;		 /* the stack is of nobody we know */
	bool told;		 /* its name was told to the client */
	uint64_t os;		 /* the JavaThread's OSThread; 0: none */
	struct visited {
		uint64_t seen;	/* ns of CLOCK_MONOTONIC: until when its time is accounted for */
		uint64_t clock; /* its processor time while it is known to wait */
		bool kept;	/* it was known to wait at the last visit */
		uint64_t
			slices; /* how often it was put on a processor before it was asked; 0: not known */
		uint32_t asked; /* signals sent */
		/* by the handler, which then writes `answered` */
		uint64_t hash, after; /* of its stack; its processor time at the end */
		bool waits;
		uint32_t answered;
	} visited;
};

bool slots_begin(void);
void slots_end(void);

/* Looks for threads.  `come` is to start one's events, `gone` to end them; each is called once. */
struct slots_calls {
	void (*come)(struct thread_slot *s, uint32_t number);
	void (*gone)(struct thread_slot *s);
};
void slots_scan(const struct vm_layout *l, const struct slots_calls *calls);

bool slots_lack_stacks(void); /* are there stack pointers whose mappings are not known? */
void slots_find_stacks(void); /* looks for those in what mapped_read() has read since */
void slots_each(void (*visit)(struct thread_slot *s));

struct thread_slot *slots_at(uint32_t number); /* safe in signal handlers */
uint32_t slots_count(void);		       /* threads */
uint32_t slots_top(void);		       /* slots from here on are free */

uint64_t slots_java_thread(const struct vm_layout *l, pid_t tid); /* 0: it is none */

/* The clock of its processor time. */
static inline clockid_t slots_clock(const struct thread_slot *s)
{
	return (clockid_t)(~(uint32_t)s->tid << 3 | 6); /* the kernel's numbers */
}

#endif
