/* SPDX-License-Identifier: Apache-2.0 */
/* critical.h - the JVM's flag CriticalJNINatives, which JDK 17 alone has: with it on, a native's
 * JavaCritical_ twin is called when the JVM makes the native's wrapper.
 *
 * The flag is for all natives of the program, so it is on no longer than need be, and what it was
 * when the agent leaves.  The agent's thread, or the one that starts it. */
#ifndef AGENT_HOTSPOT_CRITICAL_H
#define AGENT_HOTSPOT_CRITICAL_H

#include <stdbool.h>

bool critical_on(void); /* false: this JVM has no such flag */
void critical_back(void);

enum critical_is {
	CRITICAL_NEVER,	    /* it was never changed */
	CRITICAL_AS_IT_WAS, /* ... but it is as before */
	CRITICAL_OTHER,
};
enum critical_is critical_look(void); /* reads it in the JVM */

#endif
