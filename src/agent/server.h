/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the agent's own thread: the control socket, its connections, and the clock.
 *
 * With no rules and nobody connected the thread sleeps for good.  Everything here but
 * server_start and server_vm_death runs on it. */
#ifndef AGENT_SERVER_H
#define AGENT_SERVER_H

#include <jni.h>
#include <sys/types.h>

#include "base/buf.h"

struct watch {
	uint32_t first, last;	     /* numbers of its rules; 0: none */
	uint64_t since;		     /* tick from which all its hooks are in */
	uint64_t left, sent, missed; /* calls; missed: the client was too far behind */
};

struct conn {
	int fd;		 /* -1: free */
	uint32_t number; /* never 0, never given twice */
	bool greeted, closing;
	bool accounts; /* it wants to know what is compiled anew (anew.h) */
	struct buf in, out;
	uint64_t stuck; /* tick since which it has read nothing of out; 0: out is empty */
	struct watch watch;
};

/* In the thread that starts the VM or attaches: opens the socket, applies the rules of the options,
 * starts the thread.  Without a socket an agent that comes late does nothing; one that was there
 * from the start follows the rules of its options.  False: noted, and the agent does nothing. */
bool server_start(JNIEnv *jni);

/* In a thread that attaches: when the agent is about to leave, waits until it has. */
void server_wait_left(void);

/* In the thread that ends the VM: the last report, then no socket and no thread any more. */
void server_vm_death(JNIEnv *jni);

/* The command that runs now ends the agent: the loop is left after it. */
void server_stop(void);

/* Sends what is in c->out, waiting up to ms for a slow reader; the rest goes when it reads
 * again. */
void conn_flush(struct conn *c, int ms);
bool conn_is_alive(struct conn *c); /* false: the client has gone */

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

#endif
