/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - shows an answer of the agent again and again, until the user has seen enough.
 *
 * On a terminal the view is redrawn in place, `q` or Ctrl-C ends it, and the last view stays on the
 * screen; elsewhere the texts follow each other.  The command gives three functions:
 *
 *	ask	sends the request and takes the rows, by live_ask
 *	show	writes what is there now, for so many columns and rows (0: without limit)
 *	key	what a key means; true: show it anew.  May be NULL.
 *	typing	is a text being typed?  Then 'q' is a letter of it.  May be NULL.
 *
 * With `plain` texts follow each other on a terminal, too; with `pages` (0: without limit) so many. */
#ifndef CLI_CLIENT_LIVE_H
#define CLI_CLIENT_LIVE_H

#include "cli/client/client.h"

struct live {
	unsigned interval_ms;
	int (*ask)(void *ctx, char why[200]);
	void (*show)(void *ctx, struct buf *out, unsigned columns, unsigned rows);
	bool (*key)(void *ctx, int key);
	bool (*typing)(void *ctx);
	bool plain;
	uint64_t pages;
};

/* The exit status: that of ask when it was not CLI_DONE, with its reason on stderr. */
int live_run(const struct live *l, void *ctx);

/* Sends what is in c->out and reads to `done`, silently.  CLI_DONE, also after Ctrl-C; else an exit
 * status, with the reason. */
int live_ask(struct client *c, client_row *row, void *ctx, char why[200]);

#endif
