/* SPDX-License-Identifier: Apache-2.0 */
/* reading.h - the probe's figures, for any thread of the agent.
 *
 * Who reads figures must be alone (probe.h), and they are read by the agent's own thread, by
 * threads that load classes, and by the one in which the JVM ends.  Here they take turns.  The lock
 * is held for the one call only; a visitor must not take agent.lock. */
#ifndef AGENT_CORE_READING_H
#define AGENT_CORE_READING_H

#include "probe/probe.h"

void reading_method(uint32_t id, struct probe_figures *out, uint32_t *histogram);
void reading_reset(uint32_t id);
uint64_t reading_move(uint32_t id, uint32_t to);    /* probe_method_move; its calls */
int reading_methods(probe_visit *visit, void *ctx); /* probe_methods */
int reading_tree(probe_visit *visit, void *ctx);
void reading_sweep(uint64_t now, uint64_t stall_ticks); /* probe_sweep and probe_stalls */

#endif
