/* SPDX-License-Identifier: Apache-2.0 */
/* state_bits.h - what a thread does, of the many bits that JVMTI has for it. */
#ifndef AGENT_SERVE_STATE_BITS_H
#define AGENT_SERVE_STATE_BITS_H

#include <jvmti.h>

#include "wire/wire.h"

static inline unsigned state_bits_read(jint s) /* THREAD_RUNS ... */
{
	if (s & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)
		return THREAD_BLOCKED;
	if (s & JVMTI_THREAD_STATE_SLEEPING)
		return THREAD_SLEEPS;
	if (s & JVMTI_THREAD_STATE_PARKED)
		return THREAD_PARKED;
	if (s & JVMTI_THREAD_STATE_WAITING)
		return THREAD_WAITS;
	return s & JVMTI_THREAD_STATE_IN_NATIVE ? THREAD_NATIVE : THREAD_RUNS;
}

#endif
