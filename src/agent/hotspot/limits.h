/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - the sizes of byte code at which HotSpot's compilers treat a method otherwise, as this
 * JVM's flags have them. */
#ifndef AGENT_HOTSPOT_LIMITS_H
#define AGENT_HOTSPOT_LIMITS_H

#include <stdint.h>

enum { LIMITS_INLINING = 2 };

struct limits_inlining {
	const char *flag, *effect;
	int32_t bytes;
};

/* Methods of more bytes are never compiled; 0: all are.  Reads the JVM's flags the first time. */
uint32_t limits_huge(void);

const struct limits_inlining *limits_inlining(
	void); /* LIMITS_INLINING of them, the largest first */

#endif
