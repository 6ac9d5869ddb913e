/* SPDX-License-Identifier: Apache-2.0 */
/* budget.h - which hooks are open, so that all of them together cost not more than a share of the
 * processor time that the program uses.
 *
 * A state machine without clock and JVM.  Every second or so it is told what each hooked method did
 * since the last time (budget_begin, budget_take for each, budget_end), and decides.
 *
 * What a method costs is its calls times a price.  What it is worth is the time that it spends: its
 * own, and some of what it calls.  While the sum is over the budget, methods are closed that cost
 * most for what they are worth, which are small ones that are called often; the time of their calls
 * is then part of their callers' own.  While there is room, the most worthy ones are opened again.
 *
 * How often a closed method is called is not known.  It is taken to go along with the calls of all
 * that stayed open (`index`), and now and then a few are opened for one look, to see.
 *
 * Hooks that have just come in make the JVM compile everything again, which takes the longer the more
 * hooks there are.  Until then calls are few, and what they will be is estimated from above: else all
 * would be compiled with its hooks, and once more without.
 *
 * A closed hook still costs a little, and keeps compilers from inlining.  Where that comes to
 * something, methods are to be taken out of the code (BUDGET_OUT).  That makes the JVM compile
 * their callers again, so it is done for many at once and ever more rarely. */
#ifndef PLAN_BUDGET_BUDGET_H
#define PLAN_BUDGET_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum budget_state {
	BUDGET_OPEN,
	BUDGET_CLOSED, /* but open while it is tried */
	BUDGET_OUT,    /* has no hook in its code */
};

struct budget_method {
	float rate, timed; /* calls a second, and timed ones, when it was open */
	float index;	   /* ... then */
	float all,
		own; /* ns of a call, with what it calls and without, once all is compiled; below 0: not
			    * known */
	float all_now, own_now; /* ... of the last look */
	float due;		/* second from which on it may be opened or tried */
	float since;		/* second of the last change of state */
	uint8_t state;		/* enum budget_state */
	uint8_t closings;	/* since it was open for long */
	bool tried, may_close, was_open;
	bool fresh; /* told in this look */
};

/* ns of a call. */
struct budget_price {
	double count;  /* that is only counted */
	double timed;  /* that is timed */
	double closed; /* of a closed hook */
	double empty;  /* what an empty method would be said to take */
};

struct budget_look {
	double seconds; /* since the last one */
	double cpu_ns;	/* that the program used in them, hooks included */
	double jit_ns;	/* ... and its compilers, which is no part of that */
	struct budget_price price;
};

struct budget_fact { /* of a method that has a hook in its code; since the last look */
	uint32_t id;
	bool may_close;
	double calls, timed;
	double all_ns, own_ns; /* mean of the timed calls; below 0: none was */
};

struct budget {
	double share;	   /* of the time that the program would use without hooks; 0: no budget */
	double timed_rate; /* of a method that should not be exceeded by much */
	/* What was found at the last look. */
	double open_ns, closed_ns; /* a second, that hooks cost: open ones, closed ones */
	double cpu_ns;		   /* a second */
	uint32_t n_closed, n_out;  /* methods */
	bool weave; /* which methods are OUT has changed: the caller is to clear it */
	/* Private. */
	struct budget_method *methods; /* by id */
	uint32_t n;
	struct budget_look look;
	double now, index, index_new, index_old;
	double next_out, out_wait, next_back, back_wait;
	double cold;  /* how much more often methods will be called when all is compiled */
	double begun; /* when the first hook was closed; 0: none was */
	double closed_now, limit;
	bool raised;	/* the share, and nothing has come back into the code since */
	bool blind;	/* what is open tells nothing about what is not */
	unsigned roomy; /* looks in a row in which there was much room */
};

void budget_init(struct budget *b);
void budget_release(struct budget *b);

/* A new share; what was decided stays until it is looked at again.  0: everything opens. */
void budget_set(struct budget *b, double share);

void budget_begin(struct budget *b, const struct budget_look *look);
int budget_take(struct budget *b, const struct budget_fact *f); /* 0 or E_NO_MEMORY */
int budget_end(struct budget *b);				/* likewise */

enum budget_state budget_state(const struct budget *b, uint32_t id);
bool budget_is_shut(const struct budget *b, uint32_t id); /* its gate is to be closed now */
void budget_forget(struct budget *b, uint32_t id);	  /* it is another method from now on */

#endif
