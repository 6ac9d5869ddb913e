/* SPDX-License-Identifier: Apache-2.0 */
/* probe_priv.h - what the files of this folder share: how threads, nodes and methods lie in memory.
 *
 * Who writes what.  A struct probe_thread, its nodes and its heads are written by their thread
 * alone; the agent's thread reads them at any time.  So each such word is read and written with
 * relaxed atomic loads and stores (plain moves on both architectures), and a node or head is
 * published by a releasing store once it is complete.  struct probe_method and struct probe_global
 * are written by everybody, with atomic additions, in slow paths only.
 *
 * How changes reach the threads.  Whenever the agent changes how a method is observed, or resets
 * it, probe.generation grows.  A node's key is the generation in which it was last looked at
 * together with its method's number: one comparison finds both another method and a change. */
#ifndef PROBE_PROBE_PRIV_H
#define PROBE_PROBE_PRIV_H

#include "probe/probe.h"

#define LOAD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define STORE(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define TAKE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define PUBLISH(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELEASE)
#define ADD(word, value) STORE(word, LOAD(word) + (value)) /* by the only thread that writes it */
#define SHARED_ADD(word, value) __atomic_fetch_add(&(word), (value), __ATOMIC_RELAXED)
#define SHARED_SUB(word, value) __atomic_fetch_sub(&(word), (value), __ATOMIC_RELAXED)

#define LIKELY(cond) __builtin_expect(!!(cond), 1)
#define UNLIKELY(cond) __builtin_expect(!!(cond), 0)
#define COLD __attribute__((cold, noinline))
#define APART __attribute__((noinline)) /* not rare, but kept out of the way of what is faster */

enum {
	LINE = 64, /* bytes; the unit in which memory is named, 0 is none */
	PAGE = 4096,
	SEGMENT = 16, /* buckets of a histogram that come into being at once */
	SEGMENTS = (PROBE_BUCKETS + SEGMENT - 1) / SEGMENT,
	HEADS = 512, /* chains of a thread's heads, a power of two */
	HASH_MIN = 256,
	HASH_MAX = 4096, /* chains of a thread's nodes, powers of two */
	ONE_IN_MAX = 1 << 29,
};

#define ID_NONE UINT32_MAX     /* frame of nobody: the bottom of a stack */
#define ID_SLOW (1u << 31)     /* in a frame's id: its exit is more than arithmetic */
#define ONE_IN_DATA (1u << 31) /* in a one_in: facts are wanted, too */

/* One sequence of hooked methods in one thread.  The first line is what entries touch, the second
 * what exits do. */
struct probe_node {
	uint64_t key;		   /* generation << 32 | id */
	struct probe_node *recent; /* child that was called last; never NULL */
	uint64_t calls, begun, errors;
	uint32_t skip;		       /* calls until one is timed */
	uint32_t one_in;	       /* that was in force when skip was drawn, with ONE_IN_DATA */
	uint32_t parent;	       /* line of it, 0 for the root */
	uint32_t hash_next, same_next; /* same chain of the hash; same method */
	uint32_t epoch;		       /* of the method, see struct probe_method */

	uint64_t timed, sum, weighted, weight, below, min, max;
	struct probe_head *head;
};

/* What the nodes of one method in one thread have in common. */
struct probe_head {
	uint32_t id, epoch;
	uint32_t next, nodes; /* lines: same chain of heads; first of the method's nodes */
	double squares;
	uint64_t lost, bytes;
	uint32_t *counts[SEGMENTS]; /* the histogram, each NULL or SEGMENT counts */
};

_Static_assert(sizeof(struct probe_node) == 2 * LINE, "a node is two lines");
_Static_assert(sizeof(struct probe_head) == 2 * LINE, "a head is two lines");

/* A call that runs.  token 0: the frame is not complete, or nobody's. */
struct probe_frame {
	struct probe_node *node; /* &probe_nowhere when there is no context */
	uint64_t token;
	uint64_t below;
	uint32_t id; /* with ID_SLOW */
	uint32_t weight;
};

/* A chain of pages, from which pieces are cut off. */
struct probe_store {
	uint32_t first, last; /* pages, 0 is none */
	uint32_t used;	      /* bytes of the last */
};

struct probe_thread {
	struct probe_frame *top;
	struct probe_frame *base; /* frame of nobody on which the mounted virtual thread stands */
	uint64_t random;
	uint32_t tid;
	uint32_t busy; /* in the middle of a change: a signal handler must not make another */
	uint32_t nodes_n;
	uint32_t pages_n;
	uint32_t hash_mask;
	uint32_t facts_n;
	struct probe_store nodes, heads; /* heads: and histograms */
	struct probe_node root;
	uint32_t head[HEADS];
	struct probe_frame frames[PROBE_DEPTH + 1];
	char facts[PROBE_FACT_MAX];
	uint32_t hash[HASH_MAX];
};

/* A method: how it is observed, and the figures that belong to no node.  When epoch differs from
 * a node's or head's, the figures of that were counted before the last reset and mean nothing,
 * but for the calls that still run. */
struct probe_method {
	uint32_t one_in; /* with ONE_IN_DATA */
	uint32_t epoch;
	uint64_t at_least;
	uint32_t stalls;
	uint32_t counts; /* line of uint32_t[SEGMENTS], lines of the histogram's segments */
	uint64_t calls, errors, timed, begun, lost, sum, weighted, weight, below, bytes;
	uint64_t squares; /* bits of a double */
	uint64_t unmin;	  /* ~min, so that 0 is none */
	uint64_t max;
};

_Static_assert(sizeof(struct probe_method) == 2 * LINE, "a method is two lines");

enum thread_state { THREAD_FREE, THREAD_TAKEN, THREAD_USED, THREAD_ENDED };

struct probe_global {
	uint64_t generation; /* << 32 */
	struct probe_method *methods;
	struct probe_thread *threads; /* PROBE_THREADS, and one more: of threads that have ended */
	bool ready;
	uint32_t state[PROBE_THREADS]; /* enum thread_state */
	uint32_t tid[PROBE_THREADS];   /* of the thread that has it */
	uint32_t threads_n;
	uint32_t methods_n; /* above all that were set */
	uint64_t seed;
	uint64_t stalls_until; /* calls that began up to here have been looked at for stalls */
	uint64_t threads_shared, nodes_refused, too_deep, lost, strayed;
};

/* What belongs to a thread of the system.  mine is NULL when there is anything to think about. */
struct probe_local {
	struct probe_thread *mine;
	struct probe_thread *aside; /* mine, while muted */
	uint32_t muted;
	uint32_t wait; /* calls before a thread that found none asks again */
	uint64_t random;
};

extern struct probe_global probe;
extern struct probe_node probe_nobody;	/* matches no key: the recent child of who has none */
extern struct probe_node probe_nowhere; /* the node of calls without context */
extern __thread struct probe_local probe_local __attribute__((tls_model("initial-exec")));

/* threads.c */
struct probe_thread *threads_take(void); /* for the calling thread, or NULL: share */
void threads_prepare(struct probe_thread *t);
/* The blocks that hold figures, one after the other, with *i 0 at first; NULL: no more. */
struct probe_thread *threads_next(uint32_t *i);

/* A number from 0 to below - 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t below)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	return (uint32_t)(((x >> 32) * below) >> 32);
}

static inline bool frame_is_nobodys(const struct probe_frame *f)
{
	return LOAD(f->id) == ID_NONE;
}

/* figures.c: adds what a node, head or method has; epoch is the method's. */
void figures_of_node(struct probe_figures *f, const struct probe_node *node, uint32_t epoch);
void figures_of_head(struct probe_figures *f, const struct probe_head *head, uint32_t epoch);
void figures_of_method(struct probe_figures *f, const struct probe_method *m);

/* nodes.c.  The first two may be called for the calling thread's own block only (or, by the agent,
 * for that of the ended threads). */
struct probe_node *nodes_child(struct probe_thread *t, struct probe_node *parent, uint32_t id);
struct probe_node *nodes_find(struct probe_thread *t, struct probe_node *parent, uint32_t id);
struct probe_head *nodes_head(struct probe_thread *t, uint32_t id, bool make);
uint32_t nodes_gap(uint64_t *random, uint32_t one_in);
uint32_t *nodes_counts(struct probe_thread *t, struct probe_head *head, unsigned segment);
void nodes_halve(struct probe_head *head);
/* The node number i, in the order in which they were made; *page is 0 at first. */
struct probe_node *nodes_at(const struct probe_thread *t, uint32_t i, uint32_t *page);

/* shared.c: the figures of a method that belong to no node. */
void shared_count(uint32_t id);
bool shared_begin(uint32_t id, uint64_t *random); /* true: this call is timed */
struct shared_end {
	uint64_t ticks, weight, below;
};
void shared_end(uint32_t id, const struct shared_end *end);
void shared_add(uint32_t id, const struct probe_figures *f); /* but for stalls */
void shared_bucket(struct probe_method *m, unsigned bucket, uint32_t count);

/* facts.c, ring.c */
/* Puts a call into the ring, with what is known about frame f of t; both may be NULL. */
void facts_put(struct probe_thread *t, const struct probe_frame *f, struct probe_call *call);
void facts_forget(struct probe_thread *t, const struct probe_frame *f); /* of f and all above */
int ring_init(void);							/* 0 or E_NO_MEMORY */
char *ring_begin(const struct probe_call *call); /* room for its facts_n bytes, or NULL */
void ring_end(char *facts);			 /* they are there */
uint64_t ring_dropped(void);

#endif
