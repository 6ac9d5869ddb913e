/* SPDX-License-Identifier: Apache-2.0 */
/* syscalls.h - system calls that a JVM does not make by itself, asked for in one place.
 *
 * A service may run under a filter (seccomp) that ends the process at a call that it does not
 * expect; systemd's SystemCallFilter= makes such ones.  So the agent does with plain calls what it
 * can (files, memory, threads, clocks, sockets), and asks here before it makes another one.
 * tools/check-agent knows which are plain, and where the others may stand. */
#ifndef AGENT_CORE_SYSCALLS_H
#define AGENT_CORE_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Is a filter in force in a thread of this process?  Also when that cannot be found out. */
bool syscalls_filtered(void);

/* The calling thread no longer takes the processor from others when it wakes (SCHED_BATCH), or does
 * so again.  False: a filter is in force, and nothing was tried. */
bool syscalls_be_polite(bool polite);

#endif
