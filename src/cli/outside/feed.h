/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h - samples of a running program as they come, for as long as somebody wants them: from the agent
 * in a JVM, from outside of any other process.
 *
 * feed_begin, feed_take again and again, feed_end in any case.  Between two calls rows wait where they come
 * from, which gives up on a reader that is minutes behind. */
#ifndef CLI_OUTSIDE_FEED_H
#define CLI_OUTSIDE_FEED_H

#include "cli/client/visit.h"
#include "cli/hot/sampled.h"
#include "cli/outside/outside.h"

struct feed {
	struct sampled *s; /* gets the rows */
	struct visit visit;
	struct client client;
	struct outside outside;
	bool is_outside;
};

/* CLI_DONE, or an exit status after a message.  for_ns of the wish does not count. */
int feed_begin(struct feed *f, struct sampled *s, const struct sampled_wish *wish);
void feed_end(struct feed *f);

/* Takes what has come, and waits up to timeout_ms for the first of it.  CLI_DONE, or an exit status, with
 * the reason. */
int feed_take(struct feed *f, int timeout_ms, char why[200]);

/* All of it: begins, takes until the time of the wish is over or Ctrl-C comes, and ends.  Likewise. */
int feed_run(struct sampled *s, const struct sampled_wish *wish);

/* Likewise; the target may be stored samples as well.  Before that, unless `what` is NULL, reads into
 * `other` what --compare names (cli/hot/stored.h): it may not be there. */
int feed_compared(struct sampled *s, struct sampled *other, const struct sampled_wish *wish,
		  const char *what);

#endif
