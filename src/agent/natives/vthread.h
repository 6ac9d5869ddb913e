/* SPDX-License-Identifier: Apache-2.0 */
/* vthread.h - virtual threads: their part of the probe's stack goes with them from carrier to
 * carrier. */
#ifndef AGENT_NATIVES_VTHREAD_H
#define AGENT_NATIVES_VTHREAD_H

#include <stdbool.h>

/* Switches the JVM's events of mounting and unmounting on while there are hooks, and off again.
 * Without them (before JDK 21) nothing is done. */
void vthread_events(bool on);
/* Lets JVMTI take virtual threads where it takes threads, from JDK 21 on. */
void vthread_support(void);

#endif
