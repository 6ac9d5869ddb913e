/* SPDX-License-Identifier: Apache-2.0 */
/* dig_link.h - the hands of dig: does what the plan asks for, over one connection to the agent.
 *
 * What is put into the program is held by the connection, and leaves with it. */
#ifndef CLI_CLIENT_DIG_LINK_H
#define CLI_CLIENT_DIG_LINK_H

#include "cli/client/client.h"
#include "jvm/jvm_threads.h"
#include "plan/dig/dig.h"
#include "plan/dig/machine.h"

struct dig_link {
	struct client client;
	struct dig dig;
	/* What it costs: events of hooks, and the agent's own time, until now. */
	struct {
		uint64_t began_ns; /* clock_steady_ns() */
		uint64_t events, timed, watched;
		double events_ns;      /* at their calibrated cost */
		uint64_t own_before;   /* processor time of the agent's threads, at the beginning */
		uint64_t recompile_ns; /* of compilers, as the agent has told last */
		uint64_t read_at;      /* clock_steady_ns() of the last reading */
	} cost;
	struct jvm_threads threads;  /* at the first reading */
	struct machine_time machine; /* then, too */
	double price[2][2]; /* of a call in ns: the fast way or the other; not timed or timed */
	bool is_calibrated; /* ... as measured here with this JVM */
	bool fast;	    /* the agent's hooks go the cheaper way into C */
	bool watches;	    /* calls may still come in, between answers to other questions */
	bool undecided;	    /* of the last hook: a condition was left alone */
};

void dig_link_begin(struct dig_link *l); /* before the first action */

/* What this machine's processors were wanted for until now; all 0 where that is not told. */
struct machine_time dig_link_machine(void);

/* Does one action and tells the plan what came of it.  CLI_DONE, or an exit status after a message;
 * after Ctrl-C CLI_CANNOT without one. */
int dig_link_do(struct dig_link *l, const struct dig_action *a);

/* The share of one processor that all this has taken so far: calls of hooked methods, the agent's
 * own threads, and what the JVM compiles anew. */
struct dig_cost {
	double all, hooks, agent, compilers;
};
struct dig_cost dig_link_cost(struct dig_link *l);
/* The same in ns of processor time, with what will be compiled once more when the hooks leave. */
double dig_link_spent(struct dig_link *l);

#endif
