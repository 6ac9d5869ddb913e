/* SPDX-License-Identifier: Apache-2.0 */
/* serve.h - the agent of a native process: its thread, its socket, and what it does for clients.
 *
 * It speaks the protocol of wire.h at the same place as the agent of a JVM, so the same commands
 * work. */
#ifndef NATIVE_SERVE_H
#define NATIVE_SERVE_H

#include <stdbool.h>

/* With rules from the start (NULL: none), and a file for the report at the end of the process (NULL:
 * none; the pid is appended).  False: no thread or socket was to be had. */
bool serve_start(const char *rules, const char *report);

/* In a program that runs already: the calling thread only makes the agent's own, which does the rest.
 * False: it cannot be made. */
bool serve_start_late(void);
bool serve_is_running(void); /* in this process, not in one that has forked it */

void serve_release(void); /* frees what is left after the thread has ended */
void serve_end(void);	  /* the process ends: writes the report, removes the socket */

#endif
