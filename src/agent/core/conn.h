/* SPDX-License-Identifier: Apache-2.0 */
/* conn.h - a client's connection: what it has sent, what it gets, and how it is answered.
 *
 * Everything here runs on the agent's own thread. */
#ifndef AGENT_CORE_CONN_H
#define AGENT_CORE_CONN_H

#include "base/buf.h"
#include "base/slice.h"

enum {
	CONNS_MAX = 16,
};

struct watch {
	uint32_t first, last;	     /* numbers of its rules; 0: none */
	uint64_t since;		     /* tick from which all its hooks are in */
	uint64_t left, sent, missed; /* calls; missed: the client was too far behind */
};

struct conn {
	int fd;		 /* -1: free */
	uint32_t number; /* never 0, never given twice */
	bool greeted, closing;
	bool accounts; /* it wants to know what is compiled anew (recompile.h) */
	struct buf in, out;
	uint64_t stuck; /* tick since which it has read nothing of out; 0: out is empty */
	struct watch watch;
	unsigned depth;	   /* how it wants objects shown that it watches ... */
	struct buf redact; /* ... and what not, see value_text.h */
};

/* Sends what is in c->out, waiting up to ms for a slow reader; the rest goes when it reads
 * again. */
void conn_flush(struct conn *c, int ms);
bool conn_is_alive(struct conn *c); /* false: the client has gone */

/* Sends what is there of a long answer.  Whoever has asked for it reads it, or is dropped, since others wait. */
void conn_piece(struct conn *c);

/* How a command ended: the exit status of the client. */
enum {
	DONE,
	NO,
	USAGE,
	CANNOT,
};

void conn_welcome(struct buf *out); /* who this is */
void conn_done(struct conn *c, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void conn_warn(struct conn *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void conn_progress(struct conn *c, const char *what, uint64_t at, uint64_t total);

/* Walks over the open connections; start with NULL. */
struct conn *conn_next(struct conn *c);

/* For the loop (server.c). */
void conn_none(void);		  /* at the start: all places are free */
struct conn *conn_at(unsigned i); /* the place with that number, below CONNS_MAX; fd < 0: free */
bool conn_accept(int listener);	  /* false: no descriptor was to be had */
void conn_release(struct conn *c);
bool conn_greet(struct conn *c, unsigned type, struct slice payload); /* false: not one of ours */

#endif
