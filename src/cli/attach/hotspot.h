/* SPDX-License-Identifier: Apache-2.0 */
/* hotspot.h - HotSpot's attach protocol: tells a running JVM to load an agent library.
 *
 * No JDK is needed.  SIGQUIT, which opens the JVM's ear, is sent only to a process that catches it
 * and finds our request file; to any other it would mean its death or a thread dump.
 *
 * Waiting never goes on for longer than was asked for; whatever was created is removed again. */
#ifndef CLI_ATTACH_HOTSPOT_H
#define CLI_ATTACH_HOTSPOT_H

#include "base/buf.h"
#include "jvm/inside.h"

struct hotspot {
	struct inside *in;
	pid_t ns_pid;
	unsigned wait_ms;	   /* for each step */
	void (*waiting)(unsigned); /* called once a wait takes longer than two seconds, with its
				    * limit in seconds; or NULL */
	void (*tick)(void *ctx); /* called twice a second while an answer is waited for; or NULL */
	void *ctx;
	char why[700]; /* after a failure: one or more sentences */
};

/* Where the JVM listens: as it sees it, below /tmp. */
void hotspot_socket_name(pid_t ns_pid, char name[32]); /* ".java_pid123" */

/* Loads a library by its path in the JVM's file system, and has its Agent_OnAttach called with the
 * options.  0; E_LIMIT: the JVM did not answer in time; E_UNSUPPORTED: it refuses; E_IO. */
int hotspot_load(struct hotspot *h, const char *path, const char *options);

/* Any other request, with up to three arguments ("" if not needed); what it answers is appended, at
 * most `most` bytes.  0, also when the JVM says no (hotspot_parse); or as hotspot_load. */
struct hotspot_request {
	const char *command, *args[3];
	size_t most;
};
int hotspot_ask(struct hotspot *h, const struct hotspot_request *r, struct buf *reply);

/* What a JVM answered.  Since 9 it is the status of the request, then texts of which one may be
 * "return code: N", what Agent_OnAttach returned; 8 has the N alone; since 21 the status is 0 also
 * when the library could not be loaded, and the text says why. */
struct hotspot_answer {
	long status;	   /* of the request; 0: it was carried out */
	bool returned;	   /* Agent_OnAttach was called */
	long agent;	   /* and gave this */
	struct slice text; /* the rest, a part of the reply */
};

/* False: nothing that can be understood. */
bool hotspot_parse(struct slice reply, struct hotspot_answer *out);

#endif
