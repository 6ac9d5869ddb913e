/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - one connection to the agent in a JVM.
 *
 * client_open, then for each request: wire_put_*(&c.out, ...), client_send, and either client_wait
 * or client_next until `done`; client_close at the end.  What a request holds in the program (rules
 * added with HOOK_HELD, a watch) leaves with the connection, however that ends.
 *
 * While a connection is open, the first Ctrl-C only sets a flag and ends all waiting; the second
 * ends the process.  One thread, one connection at a time. */
#ifndef CLI_CLIENT_CLIENT_H
#define CLI_CLIENT_CLIENT_H

#include <sys/types.h>

#include "wire/wire.h"

struct target;

struct client {
	int fd;	   /* -1: closed */
	pid_t pid; /* of the JVM */
	struct buf in, out;
	size_t used; /* bytes of `in` that were handed out */
	struct wire_welcome welcome;
	struct buf kept; /* its texts */
	bool quiet;	 /* client_wait does not print the text of a good `done`: for --json */
	struct buf done; /* the text of the last `done` */
	/* Bounds of what one answer may take: see client_next. */
	bool awaits;	   /* `done` is still to come */
	uint64_t heard;	   /* when the last whole message came, or the request went; in ns */
	uint64_t received; /* bytes since the request, with some for each message */
	enum client_fault {
		CLIENT_CLOSED, /* or nothing is wrong */
		CLIENT_SILENT,
		CLIENT_CUT,
		CLIENT_FLOODS,
		CLIENT_NONSENSE,
	} fault;
};

/* CLI_DONE; or, after a message that says why, and what to do about it, an exit status.  Forgets an
 * earlier Ctrl-C. */
int client_open(struct client *c, const struct target *t);

/* target_find, then client_open. */
int client_find(struct client *c, const char *text, struct target *t);

/* Does somebody listen?  False also for the socket of a JVM that had this pid and was killed. */
bool client_is_there(const struct target *t);
void client_close(struct client *c); /* also one that could not be opened */

void client_hang_up(
	struct client *c); /* ends the connection; what was told stays until client_close */

/* Sends and empties c->out.  CLI_DONE, or CLI_CANNOT after a message. */
int client_send(struct client *c);

/* The next message.  1; 0 when none came in time, or Ctrl-C came; negative: the agent is gone, talks
 * nonsense, sent more for one request than an agent does, or said nothing for too long
 * (SONDE_TIMEOUT seconds, 300 if not set) while its answer is awaited, or in the middle of a message.
 * timeout_ms -1: without limit of its own.  The payload is valid until the next call. */
int client_next(struct client *c, int timeout_ms, unsigned *type, struct slice *payload);

/* A message that is neither progress, warning nor done; false: stop waiting. */
typedef bool client_row(void *ctx, unsigned type, struct slice payload);

/* Reads to the `done` of the request that was sent.  Progress (when it takes long, on a terminal)
 * and warnings go to stderr, the text of `done` to stdout, or to stderr when its status is not 0.
 * Gives its status, CLI_DONE when row said to stop, or CLI_CANNOT: after a message when the agent
 * is gone, without one after Ctrl-C. */
int client_wait(struct client *c, client_row *row, void *ctx);
int client_ask(struct client *c, client_row *row, void *ctx); /* client_send, client_wait */

/* Sends, and reads to `done`, of which nothing is printed: its texts are good until the next call.
 * CLI_DONE, or CLI_CANNOT as client_wait gives it. */
int client_hear(struct client *c, client_row *row, void *ctx, struct wire_done *done);

/* Sleeps, while it looks for Ctrl-C and the agent's end.  CLI_DONE, or as client_hear.  A terminal
 * shows how long. */
int client_pause(struct client *c, uint64_t ns);

/* Rows that go on until the agent is done, for_ns are over (0: never) or Ctrl-C comes.  What is
 * waited for, and how long, is shown on a terminal until one has come, or all the time if rows print
 * nothing. */
struct client_flow {
	uint64_t for_ns;
	uint64_t about_ns; /* 0, or when the agent will be done */
	bool is_silent;	   /* rows print nothing */
	const char *waiting;
	const uint64_t *seen; /* how many of those it waits for have come */
	client_row *row;      /* false: nobody reads any more */
	void *ctx;
};
enum client_end {
	CLIENT_ENOUGH, /* time or Ctrl-C */
	CLIENT_DONE,   /* *done says how */
	CLIENT_GONE,   /* client_gone() says how */
	CLIENT_UNREAD,
};
enum client_end client_listen(struct client *c, const struct client_flow *flow,
			      struct wire_done *done);

void client_warn(struct slice payload); /* a warning, on stderr */

bool client_interrupted(void);	    /* Ctrl-C came */
void client_catch_interrupts(void); /* for who waits without a connection */

/* Does the program run on, though the agent may have gone? */
bool client_runs(const struct client *c);

/* Why client_next was negative: "4711 has ended", "the agent in 4711 closed the connection" ... */
const char *client_gone(const struct client *c, char text[80]);

/* Appends a text of the agent's with its line breaks, and with escapes for what could do harm to a
 * terminal. */
void client_show(struct buf *out, struct slice text);
void client_show_line(struct buf *out, struct slice text); /* ... for line breaks, too */

/* Empties `said`, a plan's reasoning as far as it has come; with is_shown onto stderr, so that stdout
 * has the answer alone. */
void client_tell(struct buf *said, bool is_shown);

#endif
