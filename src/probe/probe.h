/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - what observed threads do at a hook, in C: count, time, and build the call tree.
 *
 * Rules of this folder: no malloc, no lock, no stdio, no system call but in the slow paths named
 * below; nothing blocks.  All memory is set aside by probe_init(); when it is used up, the coldest
 * contexts are taken out: their calls and times stay with their methods, and below their callers as
 * a node of no method (PROBE_PRUNED).
 *
 * An observed thread has a struct probe_thread (found through initial-exec thread-local memory),
 * which only it writes: a stack of the hooked calls that run now, and a tree of nodes, one for each
 * sequence of hooked methods seen.  A node is (parent, method) with its figures.  Readers (the
 * agent's thread) read those words while they change; each is a word that only grows, so a reading
 * is at most a call behind.
 *
 * The token that enter() gives and exit() takes is twice the tick at which the call began, and one
 * more when data about this call are wanted; at least a tick later than the call below it on the
 * stack, so that no two of them are alike.  So the time is right even when the stack is not: the
 * exit of a call that is not on this thread's stack (a virtual thread went on elsewhere, memory
 * was short) is accounted to the method alone, and exits that never came (a stack overflow)
 * are found by the next one that does. */
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROBE_METHODS = 1 << 18, /* as SondeProbe.METHODS */
	PROBE_DEPTH = 512,	 /* hooked calls on a thread's stack; deeper ones have no context */
	PROBE_THREADS = 1024,	 /* threads with a tree of their own; others share */
	PROBE_BUCKETS = 164,	 /* of a histogram, see histogram.h */
	PROBE_FACT_MAX = 4096,	 /* bytes of facts about the calls that run in one thread */
	PROBE_SEQUENCES = 16,	 /* of one method */
	PROBE_STEPS = 16,	 /* of one sequence */
	PROBE_PRUNED = PROBE_METHODS, /* in probe_tree(): contexts that were taken out */
};

#define PROBE_ASK 1 /* a token, see probe_question; SondeProbe.UNMET is 2 */

/* In tokens, above the ticks of six years at 3 GHz, and only with bit 63: Java has tokens below 0
 * ended by other functions than probe_exit.  Bits 61 and 60 are of solo.h; bit 63 alone is Java's
 * own. */
#define PROBE_SETTLED ((uint64_t)12 << 60)
#define PROBE_MARKS ((uint64_t)15 << 60) /* all of them */

/* Linked side by side: a call that is timed rarely has to wait for each page of code that it needs. */
#define PROBE_NEAR __attribute__((hot))

/* ---- for observed threads ---------------------------------------------------------------- */

void probe_count(uint32_t id);
uint64_t probe_enter(uint32_t id);
/* As probe_count.  While probe_words.lanes is 1, woven code counts the thread's further calls by
 * itself (lane.h); `key` is the thread's alone while it lives, 0: it has none. */
void probe_lane_count(uint32_t id, uint64_t key);
bool probe_may(uint32_t id);			/* would this thread's call of id be seen? */
void probe_exit(uint32_t id, uint64_t token);	/* returned; without marks */
void probe_thrown(uint32_t id, uint64_t token); /* left by exception; token may be 0 */
void probe_undo(uint32_t id, uint64_t token);	/* ends, and is not to be counted; token may be 0 */
void probe_bytes(uint32_t id, uint64_t count);
/* When enter gives PROBE_ASK, the call has not begun: something has to be found out first that only
 * a look at the Java stack tells.  probe_answer begins it and gives its token.  false: not
 * asked. */
struct probe_question {
	uint32_t caller; /* method: has it called this one itself?  0: not asked */
	bool by_stack;	 /* is this call inside one of the method's sequences? */
};
bool probe_question(uint32_t id, struct probe_question *out);
uint64_t probe_answer(uint32_t id, bool direct, bool inside);

/* A fact about the running call of id whose token has bit 0.  Cut where it does not fit. */
void probe_fact(uint32_t id, const char *key, size_t key_n, const char *value, size_t value_n);

/* What happened since the tick `since` was the probe's own doing: the running call begins so much
 * later.  Gives its token from now on. */
uint64_t probe_shift(uint32_t id, uint64_t token, uint64_t since);

/* The entry of a call has read the clock twice, so many ticks apart; and, when its exit has been
 * told: the clock's pace is to be kept (pulse.c).  In two steps since what comes behind the second
 * read is in the call's time. */
void probe_pulse(uint64_t ticks);
void probe_pulse_count(uint32_t id);
uint64_t probe_now(void); /* the tick */

/* The calling thread begins to wait for a monitor, or has it. */
void probe_blocked(bool begins);

/* While muted (nested), a thread's calls are not seen. */
void probe_mute(bool begins);

/* A virtual thread leaves this carrier, or comes to it: its part of the stack is put away and
 * taken out again.  unmount gives what mount will want; NULL when there was nothing to keep, and
 * mount must be called all the same, with NULL: it says where the carrier's own part ends.
 * drop: the virtual thread will never come back; its calls are lost. */
void *probe_unmount(void);
void probe_mount(void *kept);
void probe_drop(void *kept);

/* Work goes from one thread to another: the steps of sequences that the one is in go along, for
 * sequences that are `across`.  take: where it is handed over, innermost first; how many, 0 while
 * probe_handed_want(false).  begin: where it is run, puts them on the stack, unseen by reports; the
 * token of the outermost, 0: none.  end: all must be given that begin was given, in the same
 * thread; without it they are there until the thread ends. */
enum { PROBE_HANDED = 32 };
void probe_handed_want(bool want);
size_t probe_handed_take(uint32_t kids[PROBE_HANDED]);
uint64_t probe_handed_begin(const uint32_t *kids, size_t n);
void probe_handed_end(const uint32_t *kids, size_t n, uint64_t token);

/* The calling thread ends; its figures stay, and the next probe_sweep() takes them in. */
void probe_thread_end(void);

/* ---- figures ------------------------------------------------------------------------------ */

/* What calls used; the rest of their time they waited. */
struct probe_spent {
	uint64_t ticks; /* how long they took */
	uint64_t cpu_ns, bytes, blocked_ns, delay_ns;
};
/* Of the metered calls of a node or a method; each times its N.  What a node took by itself is all
 * - below, what a method took in all is all - nested. */
enum { PROBE_COUNTERS = 4 }; /* instructions, cache misses, branches, branch misses */
struct probe_metered {
	uint64_t calls;		  /* as they are, not times N */
	uint64_t weight;	  /* sum of their N */
	struct probe_spent all;	  /* in the calls */
	struct probe_spent below; /* ... of which in metered calls that they made */
	struct probe_spent
		nested; /* ... of which in calls within one of the same method; not of nodes */
	/* The processor's counters, of those outermost calls of a method that have them: not of
	 * nodes. */
	uint64_t outermost, counted; /* sums of N: of all outermost calls, and of those */
	uint64_t counts[PROBE_COUNTERS];
};

/* Of one node, one method, or a sum of such.  Times are in ticks.  Those of a node have no lost,
 * squares, bytes and stalls, which are known of methods only; metered is filled by probe_tree()
 * alone. */
struct probe_figures {
	uint64_t calls;	   /* begun */
	uint64_t errors;   /* left by exception */
	uint64_t timed;	   /* of those that were timed: ended */
	uint64_t begun;	   /* ... and begun; begun - timed - lost are running now */
	uint64_t lost;	   /* ... whose end was never reported */
	uint64_t sum;	   /* ticks of the timed ones */
	uint64_t weighted; /* ticks of the timed ones, each times the N of 1/N then in force */
	uint64_t weight;   /* sum of those N */
	double squares; /* sum of squares of ticks, from the histogram: rather a little too large */
	uint64_t below; /* ticks spent in hooked calls made by the timed ones (weighted) */
	uint64_t min, max; /* min is UINT64_MAX when there is none */
	uint64_t bytes;	   /* with 1/N, those of a timed call times N */
	uint64_t stalls;   /* see probe_stalls */
	struct probe_metered metered;
};

void probe_figures_add(struct probe_figures *sum, const struct probe_figures *f);

/* ---- for the agent: one thread at a time ------------------------------------------------- */

/* bytes: what nodes, histograms and put-away stacks may take, beside some KiB a thread, 128 bytes a
 * method that is hooked, and 14 bytes a node.  Called again it changes nothing.  0 or
 * E_NO_MEMORY. */
int probe_init(size_t bytes);

/* How a method is observed from now on: every thread's next call knows. */
struct probe_how {
	uint32_t one_in; /* 0: only counted; 1: every call timed; else one in so many */
	bool data;	 /* facts are wanted: tokens get bit 0, calls are put into the ring */
	bool meter;	 /* timed calls also tell their processor time and allocated bytes */
	bool settle; /* they wait for what is under way when they begin and end, see enter_exit.c */
	uint64_t at_least; /* ticks below which a call is not put into the ring */
};
void probe_method_set(uint32_t id, const struct probe_how *how);
bool probe_method_settles(uint32_t id);

/* What a thread has used up so far. */
struct probe_meter {
	uint64_t ns; /* that it was there, from any moment on */
	uint64_t cpu_ns;
	uint64_t bytes; /* allocated */
	/* Without a processor, since another thread had the monitor it wanted. */
	uint64_t blocked_ns;
	uint64_t delay_ns; /* ready to run, but without a processor */
};
/* Who knows the bytes, called by observed threads: it must not block.  NULL: there is none. */
void probe_meter_bytes(uint64_t (*bytes)(void));
bool probe_meter_has_delay(void); /* does the kernel tell it? */
/* From now on probe_blocked tells all there is: what began earlier does not count. */
void probe_meter_blocked(void);

/* Metered calls are counted by the processor, too, from now on / no more.  Gives a set of bits: the
 * counters that there are.  On the agent's thread. */
unsigned probe_counters_begin(void);
void probe_counters_end(void);

void probe_metered_read(uint32_t id, struct probe_metered *out); /* of a method */

/* In which contexts calls of a method are reported.  A step is a number of the agent's choice; many
 * methods may be the same step, and one method may be many.  A method that is a step is an anchor:
 * all its calls are timed, so that they are on the stack. */
struct probe_sequence {
	uint32_t first;	 /* its steps are first, first + 1 ..., outermost first */
	uint16_t n;	 /* 1 to PROBE_STEPS */
	uint16_t direct; /* bit i: step i calls the next one, or the method, itself */
	bool across;	 /* steps may have been handed over, see probe_handed_take */
};
struct probe_context {
	const struct probe_sequence *sequences; /* one is enough; none: reported everywhere */
	size_t n_sequences;
	bool by_stack;	       /* they have to be compared with the Java stack, at every call */
	const uint32_t *steps; /* that the method is, sorted */
	size_t n_steps;
	bool outermost;		 /* it is the first step of some sequence */
	const uint32_t *callers; /* steps for which it matters whether they call it directly */
	size_t n_callers;
};
/* Every thread's next call knows.  NULL: none.  0, or E_LIMIT, and then nothing has changed. */
int probe_method_context(uint32_t id, const struct probe_context *c);
/* What woven code reads before it comes here; see SondeProbe.isOpen(). */
struct probe_words {
	uint32_t
		solo; /* 1: the next call that comes may be measured alone, or is a mark, see solo.h */
	/* How many calls of outermost steps run now, in all threads.  While it is 0, no call of a
	 * method with sequences is inside one. */
	uint32_t inside;
	uint32_t lanes; /* 1: no hook does more than count, see probe_lane_count */
	uint32_t one;	/* always 1: for training */
};
extern struct probe_words probe_words;
void *probe_lanes(void);    /* where woven code finds what it counts in, see lane.h */
void probe_lanes_end(void); /* from now on ends of threads are not reported: no more lanes */

void probe_inside_hold(void);		 /* inside is not 0 any more, whatever runs */
void probe_method_by_stack(uint32_t id); /* by_stack becomes true, if there are sequences */

/* Figures of one method over all threads, living and ended.  histogram may be NULL, else
 * PROBE_BUCKETS counts are added to it. */
void probe_method_read(uint32_t id, struct probe_figures *out, uint32_t *histogram);

/* Calls of it that were not reported, since they were outside its sequences; grows, and is lost
 * with its thread. */
uint64_t probe_method_outside(uint32_t id);

/* Its figures count from now, also in the tree.  Calls that run now still run, but when they end
 * they are not counted. */
void probe_method_reset(uint32_t id);

/* Its figures are another method's from now on, but for its contexts in the tree, which are lost, and
 * its own count from 0.  It must not be called any more: calls that seem to run have lost their exits. */
void probe_method_move(uint32_t id, uint32_t to);

typedef void probe_visit(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f);

/* The same of all methods that were ever set and have figures, in one go; depth is 0. */
int probe_methods(probe_visit *visit, void *ctx); /* 0 or E_NO_MEMORY */

/* The merged tree of all threads, in pre-order; depth 0 is called by nothing that is hooked.
 * PROBE_PRUNED has no nodes below it: calls and errors are those of all that was taken out there,
 * the times those of the calls that the node above made itself (weighted, not to be scaled). */
int probe_tree(probe_visit *visit, void *ctx); /* 0 or E_NO_MEMORY */

/* Looks at the calls that run now: those longer than `ticks` are counted as stalls of their
 * method, each once; those of a virtual thread that is not mounted when it is mounted again.  To
 * be called once in a while. */
void probe_stalls(uint64_t now, uint64_t ticks);

/* Takes in the trees of threads that have ended, also of those that ended without saying so. */
void probe_sweep(void);

struct probe_state {
	unsigned threads;	 /* with a tree now */
	uint64_t threads_shared; /* attempts of threads to get one when there was none left */
	uint64_t bytes_used, bytes_total;
	uint64_t nodes_refused; /* calls whose context could not be kept: memory was used up */
	uint64_t pruned;	/* contexts that were taken out to make room */
	/* What one context in the tree, or one that is not there, may have lost by that, at most.
	 * Since method 0 was last reset. */
	uint64_t bound_ticks, bound_calls;
	uint64_t too_deep;	      /* calls deeper than PROBE_DEPTH */
	uint64_t lost;		      /* exits that never came */
	uint64_t strayed;	      /* exits of calls that were not on the stack */
	uint64_t ring_dropped;	      /* watched calls that found the ring full */
	uint64_t pulses, pulse_ticks; /* of probe_pulse, since method 0 was last reset */
};
void probe_state_read(struct probe_state *out);

/* One watched call, as taken out of the ring. */
struct probe_call {
	uint32_t id;
	uint32_t tid; /* of the thread, as the kernel counts */
	uint64_t begin, ticks;
	bool thrown;
	const char *facts; /* key NUL value NUL ..., facts_n bytes; valid until the next call */
	size_t facts_n;
};
bool probe_ring_take(struct probe_call *out); /* false: none there */

#endif
