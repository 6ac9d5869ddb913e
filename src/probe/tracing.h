/* SPDX-License-Identifier: Apache-2.0 */
/* tracing.h - what the other files of this folder tell trace.c, in the calling thread's name. */
#ifndef PROBE_TRACING_H
#define PROBE_TRACING_H

#include "probe/inner.h"

/* A call of a thread that has a block begins: where its tick has to be written, or NULL. */
uint64_t *trace_enter(uint32_t id);
/* It ends; only when the thread has a part. */
void trace_exit(uint32_t id, uint64_t begin, uint64_t now, bool thrown);
void trace_undo(uint32_t id, uint64_t begin); /* it was not to be seen */
void trace_shift(uint32_t id, uint64_t begin,
		 uint64_t later);		/* it began later than was reported */
void trace_gone(uint32_t *trace, uint64_t now); /* a thread that wrote this part has ended */

#endif
