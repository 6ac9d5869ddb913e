/* SPDX-License-Identifier: Apache-2.0 */
/* inner.h - what the files of this folder share: how threads, nodes and methods lie in memory.
 *
 * Who writes what.  A struct probe_thread, its nodes and its heads are written by their thread
 * alone; the agent's thread reads them at any time.  So each such word is read and written with
 * relaxed atomic loads and stores (plain moves on both architectures), and a node or head is
 * published by a releasing store once it is complete.  struct probe_method and struct probe_global
 * are written by everybody, with atomic additions, in slow paths only.
 *
 * How changes reach the threads.  Whenever the agent changes how a method is observed, or resets
 * it, probe.generation grows.  A node's key is the generation in which it was last looked at
 * together with its method's number: one comparison finds both another method and a change.
 *
 * What the fast paths need is in struct probe_local, in thread-local memory: every dependent load
 * lengthens the hook, and on some processors the reading of the clock as well, though RDTSC does
 * not have to wait for it (docs/decisions/clock.md).  The agent never looks there, since that memory
 * goes with its thread. */
#ifndef PROBE_INNER_H
#define PROBE_INNER_H

#include "base/clock.h"
#include "probe/counters.h"
#include "base/random.h"
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
#define HIDDEN __attribute__((visibility("hidden"))) /* reached without a table of addresses */

enum {
	LINE = 64, /* bytes; the unit in which memory is named, 0 is none */
	PAGE = 4096,
	NODES_A_PAGE = PAGE / (2 * LINE),
	SEGMENT = 16, /* buckets of a shared histogram that come into being at once */
	SEGMENTS = (PROBE_BUCKETS + SEGMENT - 1) / SEGMENT,
	HEADS = 2048,	/* chains of a thread's heads, a power of two */
	HASH_MIN = 256, /* chains of a thread's nodes at first, a power of two */
	PIECES = 5,	/* sizes of windows; a head is of the first */
	ONE_IN_MAX = 1 << 23,
	KIDS_MANY = UINT16_MAX,
};

#define ID_NONE UINT32_MAX     /* frame of nobody: the bottom of a stack */
#define ID_SLOW (1u << 31)     /* in a frame's id: its exit is not of the plain kind */
#define ONE_IN_DATA (1u << 31) /* in a one_in: facts are wanted, too */
#define SKIP_ALL UINT32_MAX    /* in a node's skip: no call is timed */

/* In a node's one_in: what sort of node it is, for as long as it lives.  When the agent's wishes
 * make another sort of it, another node takes its place. */
#define NODE_CLOSED (1u << 30) /* its calls are not reported; pushes frames when N is 1 */
#define NODE_ASKS (1u << 29)   /* enter gives PROBE_ASK; the answer leads to another node */
#define NODE_SORT (NODE_CLOSED | NODE_ASKS)
#define ONE_IN_TRACE (1u << 28)	     /* its calls may belong to a transaction */
#define NODE_OPENS (1u << 27)	     /* not a sort: its frames get ID_OPENS */
#define ONE_IN_METER (1u << 26)	     /* its timed calls are metered, see meter.c */
#define ONE_IN_TYPES (1u << 25)	     /* ... are events of sequences, see types.c */
#define ONE_IN_SETTLE (1u << 24)     /* ... wait for what is under way, see enter_exit.c */
#define ONE_IN_N (ONE_IN_SETTLE - 1) /* what is left of a one_in: N */

/* The lower half of a node's key: the method's number, and what was answered. */
#define KID_ID (PROBE_METHODS - 1u)
#define KID_HANDED (1u << 23) /* the call is in the thread that has handed its work to this one */
#define KID_KNOWN (1u << 24)
#define KID_DIRECT (1u << 25) /* the method above called this one itself */
#define KID_INSIDE (1u << 26) /* the Java stack has one of the method's sequences */
#define KID_PRUNED \
	(1u << 27) /* of no method: stands for children that were taken out, see nodes_prune.c */
#define KID_FREE (1u << 28) /* unused: a node that may be made into another one */
/* In the id of a frame whose node is &probe_nowhere, beside KID_*: not to be reported. */
#define ID_HIDDEN (1u << 27)
#define ID_METERED (1u << 29) /* in a frame's id, with ID_SLOW: see meter.c */
#define ID_TYPED (1u << 30)   /* in a frame's id, with ID_SLOW: see types.c */
#define ID_OPENS (1u << 28)   /* in a frame's id, with ID_SLOW: counted in probe_words.inside */
/* In a frame's id, with ID_SLOW: calls below it are in the context that it is in. */
#define ID_PASSES (1u << 22)

/* Counts of a stretch of buckets.  Exchanged for a wider one when a time lies outside. */
struct probe_window {
	uint32_t low, n; /* first bucket, number of them */
	uint32_t old;	 /* line of the one that it was exchanged for: somebody may be reading it */
	uint32_t counts[];
};

/* One sequence of hooked methods in one thread.  The first line is what entries touch, the second
 * what exits do. */
struct probe_node {
	uint64_t key;		   /* generation << 32 | id, with KID_* */
	struct probe_node *recent; /* child that was called last; never NULL */
	uint64_t begun, counted;   /* calls that are timed, and the other ones */
	uint32_t skip;		   /* 0: every call is timed; else which one from now is */
	uint32_t one_in;	   /* that was in force when skip was drawn, with NODE_* */
	uint32_t parent;	   /* line of it, 0 for the root */
	uint32_t hash_next;	   /* same chain of the hash */
	uint32_t same_next;	   /* same method */
	uint32_t epoch;		   /* of the method, see struct probe_method */
	uint64_t errors;

	uint64_t timed, sum, below, min, max;
	struct probe_window *window; /* the head's; never NULL */
	uint64_t weighted, weight;   /* what they are more than sum and timed */
};

/* What a node has besides, out of the way of entries and exits: for its own thread. */
struct probe_kin {
	uint16_t kids;	/* its children, but for the one that is KID_PRUNED; KIDS_MANY: for ever */
	uint16_t round; /* of nodes_prune.c, in which it was made */
	uint32_t same_prev; /* line: same method */
	uint32_t meter;	    /* line of a struct node_meter, 0: none; readers look, too */
};

/* What the metered calls of a node used, each times its N. */
struct node_meter {
	uint64_t calls, weight;
	struct probe_spent all, below;
	uint64_t spare[4];
};

/* What the nodes of one method in one thread have in common. */
struct probe_head {
	uint32_t id, epoch;
	uint32_t next, nodes; /* lines: same chain of heads; first of the method's nodes */
	uint64_t lost, bytes;
	struct probe_window *window; /* never NULL */
	uint64_t outside;	     /* calls of hidden nodes that were taken out */
	uint64_t spare[2];
};

_Static_assert(sizeof(struct probe_node) == 2 * LINE, "a node is two lines");
_Static_assert(sizeof(struct probe_head) == LINE, "a head is one line");
_Static_assert(sizeof(struct node_meter) == 2 * LINE, "as the second size of pieces");

/* A call that runs.  The frames that are in use are those before the first that has token 0 and is
 * not nobody's. */
struct probe_frame {
	struct probe_node *node; /* &probe_nowhere when there is no context */
	uint64_t token;
	uint64_t below;
	struct probe_window *window; /* the node's: one step less on the way to a count */
	uint32_t id;		     /* with ID_* and KID_*, or ID_NONE */
	uint32_t weight;	     /* with ID_SLOW; else it is 1 */
};

/* A chain of pages, from which pieces are cut off. */
struct probe_store {
	uint32_t first, last; /* pages, 0 is none */
	uint32_t used;	      /* bytes of the last */
};

/* How far a thread has come in going over its tree, again and again, see nodes_prune.c. */
struct probe_prune {
	uint32_t hand, page;		 /* the next node, its number and its page */
	uint16_t round;			 /* how often it began anew */
	uint32_t chain;			 /* the next chain of heads */
	uint32_t wait;			 /* nodes to be wanted before it is worth trying again */
	uint32_t in_vain;		 /* ... before it is worth waiting for who reads */
	uint32_t reserve;		 /* nodes to be free; 0 while there is memory to be had */
	uint32_t cold[2], gone[2];	 /* leaves that it took out; and with what was above them */
	uint32_t looked[2];		 /* nodes: this round and the one before */
	double calls[2];		 /* of these */
	uint64_t most_ticks, most_calls; /* of one that went, in this round */
	uint32_t heat[2][PROBE_BUCKETS + 1]; /* leaves by heat, likewise */
};

/* A metered call that runs. */
struct meter_frame {
	struct probe_meter begin;
	uint64_t given_up; /* of meter_off, then */
	uint64_t counts[PROBE_COUNTERS];
	bool counted;
	struct probe_spent below; /* in metered calls that it made */
};

/* How long a thread was without a processor, and why. */
struct meter_off {
	/* From thread to thread until delay_ns was read, and one more; 0: never. */
	uint64_t switches;
	/* How often it gave its processor up itself, and one more; 0: not known. */
	uint64_t given_up;
	uint64_t delay_ns;
	uint64_t blocked_ns;
	uint32_t since_turn; /* it waits for a monitor since then (meter.c); 0: it does not */
	uint64_t since_ns, since_cpu_ns, since_delay_ns;
};

/* The last event of a thread, for types.c. */
struct types_last {
	uint32_t turn;			 /* in which it was seen; 0: there is none */
	const struct probe_frame *frame; /* on top of the stack since then */
	uint64_t token;			 /* of that */
	uint64_t tick;			 /* when it was */
	uint64_t begin;			 /* when the one before was */
	uint32_t key;		  /* of the sequence that the two are the transitions of; 0: none */
	uint8_t type, transition; /* of the method that was left or made the call */
	bool settled;
};

struct probe_thread {
	struct probe_frame *aside; /* top of the stack, while muted */
	struct probe_frame *base;  /* frame on which the mounted virtual thread stands */
	uint64_t random;
	uint32_t tid;
	uint32_t busy; /* in the middle of a change: a signal handler must not make another */
	uint32_t nodes_n;
	uint32_t pages_n;
	uint32_t hash_n, hash_mask; /* chains; and the power of two above, less one */
	uint32_t facts_n;
	char note[128]; /* facts for a transaction that is about to begin */
	uint32_t note_n;
	struct probe_frame *note_top; /* ... on this frame */
	uint32_t trace;		      /* part of a transaction that it writes, see trace_priv.h */
	uint32_t trace_carrier;	      /* ... and the carrier's, while a virtual thread is mounted */
	struct probe_store nodes, heads; /* heads: and windows */
	uint32_t free;			 /* line of a node that is KID_FREE, linked by hash_next */
	uint32_t free_n;		 /* how many */
	uint32_t spare[PIECES];		 /* lines of heads and windows that are free, by size */
	uint32_t head_pages;		 /* of pages_n */
	uint32_t bound_epoch;		 /* of method 0: the three below count since then */
	uint64_t pruned;		 /* contexts that were taken out */
	uint64_t bound_ticks, bound_calls; /* what a context may have lost by that, at most */
	uint32_t *hash;			   /* a mapping of its own; probe_pages.chains */
	struct probe_prune prune;
	struct lane_slot *lane; /* NULL: none */
	struct probe_node root;
	uint32_t head[HEADS];
	struct probe_frame frames[PROBE_DEPTH + 1]; /* the first is nobody's */
	struct meter_off off;
	struct types_last last;
	struct counters counters;
	struct meter_frame meter[PROBE_DEPTH + 1]; /* by frame */
	char facts[PROBE_FACT_MAX];
};

/* A method: how it is observed, and the figures that belong to no node.  When epoch differs from
 * a node's or head's, the figures of that were counted before the last reset and mean nothing,
 * but for the calls that still run. */
struct probe_method {
	uint32_t one_in; /* with ONE_IN_DATA */
	uint32_t epoch;
	uint64_t at_least;
	uint64_t stalls;
	uint32_t segments; /* line of uint32_t[SEGMENTS], lines of counts; 0 is none */
	uint32_t context;  /* in the table of context.c; 0 is none */
	uint64_t calls, errors, timed, begun, lost, sum, weighted, weight, below, bytes;
	uint64_t unmin; /* ~min, so that 0 is none */
	uint64_t max;
};

_Static_assert(sizeof(struct probe_method) == 2 * LINE, "a method is two lines");

/* Who has a block, as one word: the number of the thread << 32 | one of these. */
enum { OWNER_NONE, OWNER_COMES, OWNER_LIVES, OWNER_ENDED };

struct probe_global {
	uint64_t generation; /* << 32 */
	struct probe_method *methods;
	struct probe_thread *threads; /* PROBE_THREADS, and one more: of threads that have ended */
	bool ready;
	uint32_t tracing;    /* somebody wants transactions */
	uint32_t types;	     /* ... or sequences of method types */
	uint32_t types_turn; /* of watching those; grows */
	uint32_t methods_n;  /* above all that were set */
	uint32_t threads_n;
	uint32_t owners_n; /* blocks from here on were never anybody's; only grows */
	uint64_t owner[PROBE_THREADS];
	uint64_t seed;
	uint64_t stalls_until; /* calls that began up to here have been looked at for stalls */
	uint32_t reading;      /* the agent reads: no tree is pruned */
	uint32_t pruning;      /* threads that prune their tree now: the agent waits */
	uint64_t threads_shared, nodes_refused, too_deep, lost, strayed;
	uint64_t pulses, pulse_ticks; /* see probe_pulse; since method 0 was last reset */
};

/* What belongs to a thread of the system.  A thread that has no block, or is muted, has
 * probe_no_frame on top and probe_nobody for recent: they match nothing, so that the slow paths
 * are taken. */
struct probe_local {
	struct probe_frame *top;
	struct probe_node *recent; /* that of top's node */
	struct probe_frame *limit; /* the highest that top may be */
	struct probe_thread *mine; /* or NULL */
	uint32_t muted;
	uint32_t wait; /* calls before a thread that got no block asks again */
	uint64_t random;
	uint32_t pulses, pulse_ticks; /* that are not in probe yet */
	uint64_t pulse;		      /* of the call that was entered last, and one; 0: none */
	uint64_t blank; /* token of the blank call that has just ended, see solo.h; 0: none */
};

extern HIDDEN struct probe_global probe;
extern HIDDEN struct probe_node probe_nobody;  /* has a key that nothing matches */
extern HIDDEN struct probe_node probe_nowhere; /* the node of calls without context */
extern HIDDEN struct probe_frame probe_no_frame;
extern HIDDEN struct probe_window probe_no_window;
extern HIDDEN __thread struct probe_local probe_local __attribute__((tls_model("initial-exec")));

static inline bool frame_is_nobodys(const struct probe_frame *f)
{
	return LOAD(f->id) == ID_NONE;
}

static inline uint32_t frame_id(const struct probe_frame *f)
{
	return LOAD(f->id) & KID_ID;
}

static inline uint32_t node_id(const struct probe_node *node)
{
	return (uint32_t)LOAD(node->key) & KID_ID;
}

/* Not also &probe_nowhere or a root, whose keys have all bits. */
static inline bool node_is_pruned(const struct probe_node *node)
{
	return (uint32_t)LOAD(node->key) == KID_PRUNED;
}

/* For readers: the lower half of its key, first; what else it has is there then. */
static inline uint32_t node_kid(const struct probe_node *node)
{
	return (uint32_t)TAKE(node->key);
}

/* True if the node is excluded from reports. */
static inline bool node_is_hidden(const struct probe_node *node)
{
	return (LOAD(node->one_in) & NODE_SORT) != 0;
}

/* Not of a frame that is nobody's. */
static inline bool frame_is_hidden(const struct probe_frame *f)
{
	return (LOAD(f->id) & ID_HIDDEN) != 0 || node_is_hidden(LOAD(f->node));
}

void nodes_unpin(struct probe_frame *f); /* the other side of nodes_pin; of one that passes */

/* It is going to be taken off its stack for good; not of one that is nobody's. */
static inline void frame_ends(struct probe_frame *f)
{
	if (UNLIKELY(f->id & ID_PASSES))
		nodes_unpin(f);
	if (LOAD(f->id) & ID_OPENS)
		SHARED_SUB(probe_words.inside, 1);
}

/* The frame in whose context calls are that are made now. */
static inline const struct probe_frame *frame_around(const struct probe_frame *top)
{
	while (UNLIKELY(top->id & ID_PASSES) && !frame_is_nobodys(top))
		top--;
	return top;
}

static inline struct probe_node *frame_context(const struct probe_frame *top)
{
	return frame_around(top)->node;
}

/* For readers: is this frame beyond the top? */
static inline bool frame_is_unused(const struct probe_frame *f)
{
	return LOAD(f->token) == 0 && !frame_is_nobodys(f);
}

/* A call that is put on the calling thread's stack as it was on another. */
struct kept_frame {
	uint64_t token, below;
	uint32_t id;   /* with ID_SLOW, ID_OPENS and KID_* */
	uint32_t sort; /* of its node */
	uint32_t weight;
	uint32_t spare;
};
void probe_leave_hidden(uint32_t id, uint64_t token); /* the call of handed.c, if it is there */
void carrier_push(struct probe_thread *t, const struct kept_frame *one); /* there must be room */

/* thread_trees.c */
struct probe_thread *thread_take(void);	     /* for the calling thread, or NULL: share */
bool thread_prepare(struct probe_thread *t); /* false: no memory */
/* The blocks that hold figures, one after the other, with *i 0 at first; NULL: no more. */
struct probe_thread *thread_next(uint32_t *i);
/* Changes the owner of a block, unless it is another one than `from`. */
bool thread_change(uint32_t i, uint64_t from, uint64_t to);
/* The calling thread's top of stack, also when it is muted; NULL: it has no block. */
struct probe_frame *thread_top(void);
void thread_set_top(struct probe_frame *top);

/* sums.c: adds what a node, head or method has; epoch is the method's. */
void sums_of_node(struct probe_figures *f, const struct probe_node *node, uint32_t epoch);
void sums_of_head(struct probe_figures *f, const struct probe_head *head, uint32_t epoch);
void sums_of_method(struct probe_figures *f, const struct probe_method *m);

/* Between these no tree is pruned: what was read is there once, in a node or in the method. */
void sums_begin(void);
void sums_end(void);

/* shared.c: the figures of a method that belong to no node. */
/* Counts; true: this call, one in so many, is timed. */
bool shared_begin(uint32_t id, uint32_t one_in, uint64_t *random);
struct shared_end {
	uint64_t ticks, weight, below;
};
void shared_end(uint32_t id, const struct shared_end *end);
void shared_add(uint32_t id, const struct probe_figures *f); /* but for stalls */
void shared_bucket(struct probe_method *m, unsigned bucket, uint32_t count);

/* types.c */
struct types_event {
	uint8_t transition;		     /* TRANSITION_* */
	uint32_t id;			     /* method whose hook this is */
	const struct probe_frame *from, *to; /* on top of the stack before and after it */
	uint64_t tick, token;		     /* token: of the call, when it is entered */
};
void types_event(struct probe_thread *t, const struct types_event *e);
void types_moved(struct probe_thread *t, const struct probe_frame *f, uint64_t token); /* shifted */
static inline void types_broken(struct probe_thread *t) /* something else happened */
{
	t->last.turn = 0;
}

/* meter.c */
int meter_init(void); /* 0 or E_NO_MEMORY */
/* Of the calling thread's frame, which has its place but for its id, and whose node may be
 * &probe_nowhere. */
void meter_begin(struct probe_thread *t, const struct probe_frame *f);
void meter_end(struct probe_thread *t, const struct probe_frame *f, uint64_t ticks);
void meter_reset(uint32_t id);
void meter_move(uint32_t id, uint32_t to); /* adds to that of another method */
void meter_reset_node(uint32_t line);	   /* of a struct node_meter; 0: nothing */
void meter_add_node(struct node_meter *to, const struct probe_metered *from);
/* Adds what a node has; not when its method was reset since. */
void meter_of_node(struct probe_metered *sum, const struct probe_node *node, uint32_t epoch);

/* call_facts.c */
/* Puts a call into the ring, with what is known about frame f of t; both may be NULL. */
void call_facts_put(struct probe_thread *t, const struct probe_frame *f, struct probe_call *call);
void call_facts_forget(struct probe_thread *t, const struct probe_frame *from); /* and all above */
/* A fact in a thread's buffer: this, not aligned, and then the bytes "key NUL value NUL". */
struct probe_fact {
	uint16_t depth, n; /* number of its frame; of the bytes */
};
uint32_t call_facts_above(const struct probe_thread *t,
			  const struct probe_frame *from); /* how many */
/* The next fact of a frame from there on up: *at, which is 0 at first, is where its bytes are, and
 * has to be moved beyond them. */
bool call_facts_next(const struct probe_thread *t, const struct probe_frame *from, uint32_t *at,
		     struct probe_fact *out);

/* ring.c */
int ring_init(void);				 /* 0 or E_NO_MEMORY */
char *ring_begin(const struct probe_call *call); /* room for its facts_n bytes, or NULL */
void ring_end(char *facts);			 /* they are there */
uint64_t ring_dropped(void);

void pulse_reset(void);

#endif
