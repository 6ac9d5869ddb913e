/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.h - all that is known now: applications, their processes, figures, plans.
 *
 * One thread, that of fleet_run, talks to agents; threads of the API read and change what is here.
 * All of it is under fleet.lock, which is never held while anything is waited for. */
#ifndef MANAGER_FLEET_FLEET_H
#define MANAGER_FLEET_FLEET_H

#include <pthread.h>
#include <sys/types.h>

#include "manager/settings.h"
#include "manager/figures/names.h"
#include "manager/fleet/hub.h"
#include "manager/fleet/link.h"
#include "manager/archive/archive.h"
#include "manager/push/push.h"
#include "wire/wire.h"

enum {
	FLEET_ID = 160,
	FLEET_HOLDER = 96,
	FLEET_INSTANCES = 2000,
	FLEET_RULES = 1000,
	TREE_MAX = 400000
};

/* ---- what is asked of an agent ---- */

struct instance;

/* Rows, and then once `done`: status is the agent's (0 done, 1 no ...), or ASK_GONE. */
enum { ASK_GONE = -1 };
struct ask {
	struct ask *next;
	struct buf frame;
	void (*row)(struct ask *a, unsigned type, struct slice payload); /* may be NULL */
	void (*done)(struct ask *a, int status, struct slice text);
	struct instance *of;
	void *ctx;
	uint64_t patience_ms; /* from when it is sent */
	uint64_t until_ms;    /* monotonic */
	bool sent;
};

/* ---- figures ---- */

struct figure {
	uint32_t id; /* in its agent */
	const struct name *name;
	uint32_t level, one_in, flags, rule;
	uint64_t sums[SUMS], low_ns, high_ns, min_ns, max_ns, p50_ns, p90_ns, p99_ns;
	uint64_t active, active_peak;
	uint32_t unknown;
	double rate;
	struct buf raw;
	/* what the store has already */
	uint64_t base[SUMS], base_max_ns;
	struct buf base_raw;
};

struct tree_row {
	const struct name *name;
	uint32_t depth, flags;
	uint64_t calls, errors, timed, total_ns, self_ns, min_ns, max_ns;
};

/* ---- plans ---- */

enum rule_state { RULE_PENDING, RULE_IN_FORCE, RULE_WAITING, RULE_REFUSED, RULE_GONE };

struct plan_rule {
	char *text; /* in Sonde's own spelling */
	char origin[16];
	uint64_t expires_ms; /* 0: never */
};

struct plan {
	uint64_t version, changed_ms; /* 0: there is none */
	char by[64], comment[256];
	struct plan_rule *rules;
	size_t n;
	bool keep_traces;
	uint64_t at_least_ns;
	uint32_t one_in;
};

/* A rule of the plan in one process. */
struct rule_status {
	enum rule_state state;
	uint32_t number; /* in the agent; 0: not there */
	uint64_t methods, classes, calls;
	char *why;
};

/* ---- applications and processes ---- */

struct app {
	struct app *next;
	char name[HUB_APP];
	struct plan plan;
	bool is_damaged; /* its plan in the store cannot be read: nobody may overwrite it unseen */
	struct name_pool names; /* of its own: what one agent makes up harms no other application */
	struct {		/* transactions that no event has told of yet */
		uint64_t count, newest_ms;
		uint64_t next_ms; /* monotonic: not before */
	} untold;
};

/* Which manager may talk to a process, of several that could (manager/bus): HOLD_NONE: nobody has asked. */
enum hold {
	HOLD_NONE,
	HOLD_WANTED,
	HOLD_OURS,
	HOLD_OTHERS, /* by `holder` */
	HOLD_ALONE,  /* the bus cannot say: ours until it can */
};

enum instance_state { INSTANCE_CONNECTING, INSTANCE_CONNECTED, INSTANCE_AWAY, INSTANCE_ENDED };

struct instance {
	struct instance *next;
	char id[FLEET_ID];
	char host[64];	      /* its machine; or the name of its relay */
	struct relay *relay;  /* NULL: it is on this machine */
	uint32_t agent;	      /* its number at the relay; 0: it is not there now */
	uint64_t relay_turn;  /* ... in that connection of the relay */
	uint64_t told_own_ns; /* by the relay: what its agent's thread has used */
	struct link_peer peer;
	unsigned long long begin_ticks; /* of the process: its number may be given away later */
	char user[64];
	struct app *app; /* NULL: not known yet */
	enum instance_state state;
	enum hold hold;
	char holder[FLEET_HOLDER]; /* the manager */
	char why[160];
	uint64_t since_ms, seen_ms, ended_ms; /* of the day */
	uint64_t started_ms;
	char jvm[256], build[64];

	struct agent_link link;	  /* questions and answers */
	struct ask *asks, **last; /* the first was sent */
	bool welcomed;
	uint64_t retry_ms, heard_ms, next_report_ms, next_tree_ms, next_status_ms; /* monotonic */
	unsigned backoff_ms;

	struct figure *figures, *fresh;
	size_t n, n_fresh, cap_fresh;
	bool has_bases;
	uint64_t chain; /* grows when bases are read from the store */
	struct tree_row *tree, *fresh_tree;
	size_t n_tree, n_fresh_tree, cap_fresh_tree;
	uint64_t tree_asked_ms;
	struct wire_status status; /* its texts are not used */
	char mechanism[64];
	uint64_t cost_ns, cost_at_ms, own_ns; /* of hooks and agent, added up */
	double hooks_share, agent_share;      /* of one processor, in the last interval */

	uint64_t plan_version; /* that was carried out; rules below are of it */
	struct rule_status *rules;
	size_t n_rules;
	uint64_t carried; /* hash of what the store knows of them */
	bool recalled;	  /* what the store knew at start is in rules */
	bool carrying;	  /* is carrying out a plan just now */

	struct agent_link tracing; /* transactions */
	struct gather *gather;
	uint64_t trace_retry_ms;
};

struct bus;
struct carried;
struct dug;
struct lookout;
struct others;
struct relay;

struct fleet {
	pthread_mutex_t lock;
	const struct settings *config;
	struct archive *store;
	struct hub hub;
	char host[64], boot[8];
	struct app *apps;
	struct instance *instances;
	size_t n_instances;
	struct dug *digs;
	struct carried *carried; /* rules of processes from before the start */
	struct push *push;	 /* NULL: it is switched off */
	struct lookout *lookout; /* NULL: it is switched off */
	struct others *others;	 /* NULL: the store is ours alone */
	struct bus *bus;	 /* NULL: we share processes with nobody */
	void (*changed)(
		struct bus
			*bus); /* a plan, or the state of a process; under the lock; may be NULL */
	bool is_loaded;	       /* plans and what processes have had are known */
	uint64_t slot_ms;      /* that is being collected */
	uint64_t traces_kept, traces_passed;
	uint64_t calls_kept;
	uint64_t store_failed; /* jobs that could not be written, when we looked last */
	uint64_t store_until;  /* bases are right when so many jobs have ended */
	uint64_t started_ms;
	struct relay *relays;
	unsigned n_lines; /* connections of relays, with a thread each */
	pthread_cond_t line_ended;
	bool relays_end; /* no new ones */
	int wake;	 /* eventfd */
	bool ends;
};

int fleet_init(struct fleet *f, const struct settings *config, struct archive *store);
void fleet_run(struct fleet *f);  /* until fleet.ends */
void fleet_quit(struct fleet *f); /* hangs up; who waits for an agent is told so */
void fleet_release(struct fleet *f);
void fleet_wake(struct fleet *f); /* any thread; also from a signal handler */

struct app *fleet_app(struct fleet *f, struct slice name);
struct app *fleet_app_make(struct fleet *f, struct slice name);
struct instance *fleet_instance(struct fleet *f, struct slice id);
struct instance *fleet_join(struct fleet *f, const char *id); /* a new one; NULL: too many */
void fleet_plain(char *s); /* leaves the characters that ids are made of */
/* A connected one of the application; id .n 0: any. */
struct instance *fleet_connected(struct fleet *f, const struct app *app, struct slice id);
const char *instance_state_word(enum instance_state state);

/* ---- session.c: one process ---- */

void session_step(struct fleet *f, struct instance *i, uint64_t now); /* timers */
void session_io(struct fleet *f, struct instance *i);
void session_lost(struct fleet *f, struct instance *i, const char *why);
void session_end(struct fleet *f, struct instance *i); /* its process has ended */
/* Who holds it is known, or known better. */
void session_hold(struct fleet *f, struct instance *i, enum hold hold, const char *holder);
/* A question with an empty frame to be filled; NULL: out of memory.  It is freed after done. */
struct ask *session_ask(struct instance *i, unsigned patience_s);
void session_send(struct fleet *f, struct ask *a);

/* ---- poll.c: figures ---- */

void poll_step(struct fleet *f, struct instance *i, uint64_t now);
void poll_flush(struct fleet *f, struct instance *i); /* what is new, to the store */
void poll_forget(struct instance *i);

/* ---- reconcile.c ---- */

void plan_release(struct plan *p); /* plan.c */
void reconcile_step(struct fleet *f, struct instance *i);
void reconcile_forget(struct instance *i);
void reconcile_move(struct instance *i,
		    const struct plan *to); /* statuses, by the texts of rules */
const char *reconcile_word(enum rule_state state);

/* ---- keep.c: transactions ---- */

void keep_step(struct fleet *f, struct instance *i, uint64_t now);
void keep_io(struct fleet *f, struct instance *i);
void keep_stop(struct instance *i);

/* ---- finder.c ---- */

void finder_step(struct fleet *f, uint64_t now); /* takes the lock by itself */

#endif
