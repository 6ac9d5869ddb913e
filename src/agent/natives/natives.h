/* SPDX-License-Identifier: Apache-2.0 */
/* natives.h - what observed threads look at at each call of a method. */
#ifndef AGENT_NATIVES_NATIVES_H
#define AGENT_NATIVES_NATIVES_H

#include <stdint.h>

/* How calls of a method are taken whose gate is below 0. */
enum natives_manner {
	CALLS_USUAL,
	CALLS_SOLO, /* measured alone, see probe/solo.h */
	CALLS_MARK,
};
void natives_manner(uint32_t id, enum natives_manner manner);

/* What may be reported of a method's calls, even if its hook knows more. */
enum natives_tell {
	CALLS_TELL_ALL,
	CALLS_TELL_ARGUMENTS, /* but for the object, result and message */
	CALLS_TELL_TIMES,     /* no facts but the exception, no bytes */
	CALLS_TELL_CALLS,     /* ... nor of calls that are not timed that they threw one */
};
void natives_tell(uint32_t id, enum natives_tell tell);

#endif
