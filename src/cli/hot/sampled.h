/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.h - samples of a running program, from its agent or from outside, as one profile. */
#ifndef CLI_HOT_SAMPLED_H
#define CLI_HOT_SAMPLED_H

#include "cli/client/client.h"
#include "cli/hot/sampled_mode.h"
#include "outside/symbols.h"
#include "export/profile.h"
#include "sample/walk.h"
#include "wire/wire.h"

struct sampled {
	struct profile profile;
	struct symbols symbols;
	pid_t pid;
	char name[256];
	char when[64];	    /* of a history: which part of it; else empty */
	uint32_t *frame_of; /* by the agent's number of a place */
	size_t n_places;
	uint64_t ends[WALK_ENDS];      /* how often stacks ended so */
	uint64_t states[STACK_STATES]; /* values */
	uint64_t left_out;	       /* value of waiting threads without Java code */
	struct arena mem;
	struct map told;    /* a stack's hash -> its place in the profile, and its end */
	struct map threads; /* number -> its name, a struct slice * */
	struct wire_stacks_state state; /* the last one; its texts are in `texts` */
	struct buf texts;
	unsigned mode; /* STACKS_* */
	bool by_thread, all, live;
	uint64_t samples;  /* profile.count: what they stand for */
	uint64_t began_ns; /* since 1970 */
};

struct sampled_wish {
	const char *verb;   /* "sonde hot" */
	const char *target; /* NULL: the only JVM */
	const char *at;	    /* of a history: from when on; NULL: not given */
	uint64_t for_ns;
	bool for_given;
	uint64_t rate;		      /* 0: usual */
	uint64_t interval;	      /* of allocation, bytes; 0: usual */
	bool wall, alloc, lock, live; /* the last: what of allocated objects stays */
	bool threads;		      /* each thread's name is the outermost frame of its stacks */
	bool all;		      /* also threads that wait and run no Java code */
	bool slow;		      /* rows of an agent come once a second */
};

/* Options of verbs that take samples; `wish` is the struct sampled_wish of their struct `type`. */
#define SAMPLED_OPTIONS(type)                                                                        \
	VERB_FOR(type, wish.for_ns, "how long, 10s if not given; Ctrl-C ends it earlier"),           \
		{ "at", "TIME", OPTION_TEXT, offsetof(type, wish.at),                                \
		  .help = "of a history: 14:05, 2026-11-18T14:05, 'yesterday 14:05' or -2h; "        \
			  "--for is 1m then" },                                                      \
		{ "rate",                                                                            \
		  "N",                                                                               \
		  OPTION_NUMBER,                                                                     \
		  offsetof(type, wish.rate),                                                         \
		  .help = "samples a second of a thread, 1000 if not given; with --wall 100",        \
		  .low = 1,                                                                          \
		  .high = 10000 },                                                                   \
		{ "wall", NULL, OPTION_FLAG, offsetof(type, wish.wall),                              \
		  .help = "by the clock: threads that wait count as well as those that run" },       \
		{ "alloc", NULL, OPTION_FLAG, offsetof(type, wish.alloc),                            \
		  .help = "what objects are allocated, and where" },                                 \
		{ "live", NULL, OPTION_FLAG, offsetof(type, wish.live),                              \
		  .help = "of these only those that are still there after a collection" },           \
		{ "interval",                                                                        \
		  "BYTES",                                                                           \
		  OPTION_NUMBER,                                                                     \
		  offsetof(type, wish.interval),                                                     \
		  .help = "with --alloc: one sample in so many bytes, 524288 if not given",          \
		  .low = 64,                                                                         \
		  .high = 1 << 30 },                                                                 \
		{ "lock", NULL, OPTION_FLAG, offsetof(type, wish.lock),                              \
		  .help = "how long threads wait for monitors, and where" },                         \
		{ "all", NULL, OPTION_FLAG, offsetof(type, wish.all),                                \
		  .help = "with --wall: also waiting threads without Java code, as the JVM's own" }, \
	{                                                                                            \
		"threads", NULL, OPTION_FLAG, offsetof(type, wish.threads),                          \
			.help = "each thread is the outermost caller in its stacks"                  \
	}

void sampled_init(struct sampled *s);
void sampled_release(struct sampled *s);

/* After the options: what was not given becomes usual.  CLI_GO_ON, or an exit status: they do not go
 * together. */
int sampled_settle(struct sampled_wish *wish, const char *verb, const char *target);

/* Samples until time is over or Ctrl-C comes.  CLI_DONE, or an exit status after a message. */
int sampled_run(struct sampled *s, const struct sampled_wish *wish);

/* The same over a connection that is open, after sampled_is_of. */
int sampled_hear(struct sampled *s, const struct sampled_wish *wish, struct client *client);

/* One row of an agent (sampled_rows.c); `sampled` is a struct sampled.  True: go on. */
bool sampled_take(void *sampled, unsigned type, struct slice payload);

/* By its name, a file of collapsed stacks. */
bool sampled_is_file(const char *path);

struct target;
void sampled_is_of(struct sampled *s, const struct sampled_wish *wish, const struct target *t);
void sampled_ask(struct buf *out, const struct sampled_wish *wish,
		 uint64_t for_ns); /* 0: without end */
/* A sample of a thread that runs. */
struct sampled_stack {
	const uint32_t *frames; /* numbers of the profile's, the innermost first */
	size_t n;
	uint32_t thread, end; /* as in stack_row */
};
void sampled_add(struct sampled *s, const struct sampled_stack *k);
void sampled_tell_thread(struct sampled *s, uint32_t number, struct slice name);
struct slice sampled_thread_name(const struct sampled *s, uint32_t number); /* empty: not told */

uint64_t sampled_count(const struct sampled *s);  /* samples; of a file: values */
uint64_t sampled_broken(const struct sampled *s); /* ... whose stacks are not whole */

/* Values and sums begin anew; stacks, places and threads stay known, as the agent counts on that. */
void sampled_begin_anew(struct sampled *s);

/* What threads do: "parked". */
const char *sampled_state_text(unsigned state);

/* A short word for a PLACE_*: "C2", "inlined"; for SAMPLED_STATES + a STACK_*: what the thread did. */
enum {
	SAMPLED_STATES = PLACE_CLASS,
	SAMPLED_COMPILED =
		SAMPLED_STATES + STACK_STATES, /* by C1 or C2: a recording does not tell */
	SAMPLED_KINDS
};
/* Of frames: a method of Java. */
bool sampled_is_java(unsigned kind);

const char *sampled_kind_text(unsigned kind);

#endif
