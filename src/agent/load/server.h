/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the agent's own thread: the control socket, the loop over its connections, and the clock.
 *
 * With no rules and no client the thread sleeps for good.  Everything here but
 * server_start and server_vm_death runs on it. */
#ifndef AGENT_LOAD_SERVER_H
#define AGENT_LOAD_SERVER_H

#include <jni.h>
#include <stdbool.h>

/* In the thread that starts the VM or attaches: opens the socket, applies the rules of the options,
 * starts the thread.  Without a socket an agent that comes late does nothing; one that was there
 * from the start follows the rules of its options.  False: noted, and the agent does nothing. */
bool server_start(JNIEnv *jni);

/* In a thread that attaches: when the agent is about to leave, waits until it has.  False: it takes
 * too long. */
bool server_wait_left(void);

/* In the thread that ends the VM: the last report, then no socket and no thread any more. */
void server_vm_death(JNIEnv *jni);

#endif
