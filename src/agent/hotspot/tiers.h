/* SPDX-License-Identifier: Apache-2.0 */
/* tiers.h - what runs methods now: the interpreter, C1, C2, or native code.
 *
 * The JVM's events would tell each compilation, and cost each; here it is looked at when somebody
 * asks.  The agent's thread only. */
#ifndef AGENT_HOTSPOT_TIERS_H
#define AGENT_HOTSPOT_TIERS_H

#include <jvmti.h>
#include <stdbool.h>

/* A TYPE_* of probe/types.h; the caller holds the method's class. */
unsigned tiers_of(jmethodID method, jint access);
bool tiers_has_code(jmethodID method); /* compiled; or a wrapper, of a native method */
const char *tiers_text(unsigned type); /* "compiled by C2" */

/* Several looks by one descriptor, which may be -1: then nothing is known. */
int tiers_open(void);
unsigned tiers_look(int memory, jmethodID method, jint access);
void tiers_close(int memory);

#endif
