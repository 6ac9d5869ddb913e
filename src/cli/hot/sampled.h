/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.h - samples of a running program, from its agent or from outside, as one profile. */
#ifndef CLI_HOT_SAMPLED_H
#define CLI_HOT_SAMPLED_H

#include "cli/client/client.h"
#include "cli/hot/symbols.h"
#include "export/profile.h"
#include "sample/walk.h"

struct sampled {
	struct profile profile;
	struct symbols symbols;
	pid_t pid;
	char name[256];
	uint32_t *frame_of; /* by the agent's number of a place */
	size_t n_places;
	uint64_t ends[WALK_ENDS]; /* samples */
	struct arena mem;
	struct map threads;		/* number -> its name, a struct slice * */
	struct wire_stacks_state state; /* the last one; its texts are in `texts` */
	struct buf texts;
	bool wall, by_thread;
	uint64_t began_ns; /* since 1970 */
};

struct sampled_wish {
	const char *target; /* NULL: the only JVM */
	uint64_t for_ns;
	uint32_t rate; /* 0: usual */
	bool wall;
	bool threads; /* each thread's name is the outermost frame of its stacks */
};

void sampled_init(struct sampled *s);
void sampled_release(struct sampled *s);

/* Samples until time is over or Ctrl-C comes.  CLI_DONE, or an exit status after a message. */
int sampled_run(struct sampled *s, const struct sampled_wish *wish);

/* The same over a connection that is open, after sampled_is_of. */
int sampled_hear(struct sampled *s, const struct sampled_wish *wish, struct client *client);

/* Stacks that were written before, as collapsed.h reads them.  Likewise. */
bool sampled_is_file(const char *path);
int sampled_read(struct sampled *s, const char *path);

struct target;
void sampled_is_of(struct sampled *s, const struct sampled_wish *wish, const struct target *t);
void sampled_ask(struct buf *out, const struct sampled_wish *wish,
		 uint64_t for_ns); /* 0: without end */

/* A message of the agent's: true always. */
bool sampled_take(void *s, unsigned type, struct slice payload);
struct slice sampled_thread_name(const struct sampled *s, uint32_t number); /* empty: not told */

uint64_t sampled_broken(const struct sampled *s); /* samples whose stacks are not whole */

/* A short word for a PLACE_*: "C2", "inlined". */
const char *sampled_kind_text(unsigned kind);

#endif
