/* SPDX-License-Identifier: Apache-2.0 */
/* dig_state.h - what dig knows so far: its options, its facts and its answer.
 *
 * dig.c decides what to ask next, find*.c what follows from the facts, answer.c how to say it; all of
 * them work on struct dig.  Slices point into dig.mem and live until dig_release.  One thread. */
#ifndef PLAN_DIG_STATE_H
#define PLAN_DIG_STATE_H

#include "plan/dig/kind.h"
#include "plan/dig/known.h"
#include "plan/dig/measure.h"
#include "plan/dig/split.h"
#include "plan/dig/stitch.h"
#include "plan/dig/trail.h"

struct dig_options {
	struct slice method; /* pkg.Class::name that is to be explained; empty: found by itself */
	double slow_ns;	     /* calls from here on are slow; 0: 50 ms, or much slower than usual */
	double for_ns;	     /* it ends by then */
	double budget;	     /* share of one processor that may go into it */
	struct known *known; /* from before, or NULL; methods as they are now are added */
	uint64_t when;	     /* now, in seconds since 1970 */
};

enum {
	DIG_BUCKETS = 256,
	DIG_PATH = 64,
	DIG_CONTEXTS = 6,
	DIG_GRAPH = 24,
	DIG_JOINTS = 2,
	DIG_OTHERS = 3,
	DIG_HOLDERS = 20
};

struct dig_figures { /* of one hooked method, since it was hooked */
	struct slice name;
	uint64_t calls, timed, total_ns, max_ns;
	double rate;
	uint64_t low[DIG_BUCKETS];
	uint32_t count[DIG_BUCKETS];
	size_t n;
	struct dig_figures *next;
};

struct dig_context {			/* the guilty method under one sequence of callers */
	struct slice callers[DIG_PATH]; /* outermost first; without itself */
	unsigned n;
	struct estimated mean; /* ns a call */
	double calls;
	bool slow;
};

struct dig_holder { /* a method that may have what others wait for */
	struct slice method;
	uint64_t samples; /* in it, while it did not wait for that itself */
	uint32_t depth;
	bool enters; /* it calls the guilty method, or what leads there */
	bool takes;  /* it calls what takes things of that kind */
};

enum dig_verdict {
	DIG_NOTHING, /* nothing is slow; with a root and a guilty method: where the time goes */
	DIG_METHOD,  /* a method, with a kind of time */
	DIG_GC,
	DIG_STARVED, /* of processors */
	DIG_UNCLEAR, /* slow, but it could not be seen why */
};

struct dig_answer {
	enum dig_verdict verdict;
	struct slice root; /* what is slow */
	double root_mean, root_p50, root_p99, root_rate, slow_share, slow_ns, limit_ns;
	double statements;     /* so many for each call make it slow; 0: it is something else */
	double root_usual;     /* its mean in earlier looks, ns; 0: not known */
	unsigned root_earlier; /* so many looks */
	bool breaks;	       /* it takes much longer than in any of them */
	struct slice others[DIG_OTHERS]; /* slow, too, but not explained */
	double others_mean[DIG_OTHERS];	 /* ns */
	unsigned n_others;
	struct slice guilty; /* pkg.Class.method(desc) */
	unsigned n_alike;    /* so many overloads or other classes' methods of that name share it */
	struct slice path[DIG_PATH];
	unsigned n_path;
	struct estimated share;	   /* of the root's time */
	struct estimated mean;	   /* ns a call */
	double calls;		   /* on that way, while it was measured */
	struct estimated per_root; /* calls for each call of the root */
	struct slice caller;	   /* of the guilty method, or where the ways to it part */
	unsigned ways;		   /* from there to it; 0: it is called directly */
	struct estimated per_caller;
	bool is_measured; /* by hooks; else by samples alone */
	bool looks_up;	  /* the caller asks a map or cache before it calls the guilty one */
	enum kind kind;
	const struct doing *doing; /* what it computes, if that has a name */
	double kind_share;	   /* of the guilty method's samples */
	struct slice where;	   /* what it calls for that, of the JDK or native; may be empty */
	struct slice lock_class, lock_holder, lock_thread;
	struct slice taken_by; /* who is likely to have what is waited for; or empty */
	enum kind taken_kind;  /* what that one does meanwhile */
	bool taken_surely;     /* it calls the same method for it */
	double taken_share;    /* of the looks that have met it */
	struct slice task;     /* what the threads of a pool are busy with, when it is that */
	struct slice via; /* the task that was dug into, since the root waits for it; or empty */
	struct slice crossing; /* the last task of another thread on the path to the guilty one */
	struct slice waiter;   /* which method waits for `via`, or for `crossing` */
	bool is_behind; /* `task` is none of those that are waited for: they queue behind it */
	struct estimated waiter_share; /* of the root's time */
	unsigned task_threads;
	struct estimated task_mean;
	double gc_share, gc_cpu_share, delay_share;
	double stolen_share; /* of the machine's processors, by its host; set from outside */
	struct dig_context contexts[DIG_CONTEXTS];
	unsigned n_contexts;
	struct slice condition_at; /* the method whose arguments it is about */
	struct split_answer condition;
	struct slice spread[TRAIL_BESIDE]; /* callees among which the time is divided */
	unsigned n_spread;
};

struct dig {
	struct arena mem;
	struct dig_options options;
	struct buf said, rules;
	int phase, waits_for; /* the phase that comes after waiting */
	unsigned tries;
	double began, now; /* ns */
	struct samples all, fresh, under;
	struct samples joint[DIG_JOINTS]; /* below methods where ways meet again */
	unsigned n_joints;
	struct stitch_link links[STITCH_LINKS]; /* tasks and who waits for them */
	unsigned n_links;
	struct measure measure;
	struct arena readings; /* of figures */
	struct dig_figures *figures;
	struct dig_figures *before; /* of candidates at the first reading, if they had any calls */
	double begun_at, read_at;   /* ns: that reading, and the one that is under way */
	const struct sample_node *roots[TRAIL_ROOTS];
	unsigned n_roots;
	unsigned root_depth; /* so far down are candidates hooked */
	unsigned again;	     /* so often hooked once more, since nothing returned */
	struct trail trail;
	struct { /* what calls what, as far as it was asked */
		struct slice method;
		struct slice callees[64];
		unsigned n;
		bool looks_up, sends;
	} graph[DIG_GRAPH];
	unsigned n_graph, asked;
	struct slice deeper; /* the method whose callees are hooked as its byte code names them */
	struct slice further[8]; /* where samples go on below it */
	unsigned n_further;
	unsigned levels;  /* so often that was done */
	struct slice dug; /* the method below which it looks: the root, or a task it waits for */
	bool no_inside;	  /* the agent does not decide `inside` */
	/* The governor: what the hooks have cost in the last window, as a share of one processor
	 * (set by the driver before dig_measured), and what was done about it. */
	double cost_share;
	/* Processor time that all has cost so far, and will cost when its hooks leave, ns (set by
	 * the driver before dig_next). */
	double spent_ns;
	unsigned n_hooked; /* how often hooks were changed */
	/* How much of the time that its threads wanted a processor they waited for one, since the
	 * hooks came (set by the driver before dig_measured; negative: not known). */
	double starved;
	double ran_ns; /* what they had of processors meanwhile; 0: not known */
	struct slice banned[16];
	unsigned n_banned;
	bool lowered;
	unsigned n_rules, most_rules; /* in d->rules; most_rules 0: no limit */
	struct {
		struct slice method;
		struct split split;
	} watched[4];
	unsigned n_watched;
	double watched_at; /* since when */
	struct dig_holder holders[DIG_HOLDERS];
	unsigned n_holders, holders_asked;
	struct split *taking; /* of the call whose values come */
	struct dig_answer answer;
	int err;
};

/* "pkg.Class::name(int, java.lang.String)" of "pkg.Class.name(ILjava/lang/String;)V". */
void dig_put_target(struct buf *out, struct slice name);
/* "Class.name", for people. */
void dig_put_name(struct buf *out, struct slice name);
void dig_put_time(struct buf *out, double ns);
void dig_put_share(struct buf *out, double share);
/* A copy in dig's own memory; empty when that is out, which is then noted. */
struct slice dig_keep(struct dig *d, struct slice s);
/* Who waits for this task; .n 0: it is none. */
struct slice dig_waiter_of(const struct dig *d, struct slice task);
const struct dig_figures *dig_figures_of(const struct dig *d, struct slice name);

#endif
