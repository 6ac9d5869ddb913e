/* SPDX-License-Identifier: Apache-2.0 */
/* native_process.h - a process without a JVM: what stands in the way, in, and out again. */
#ifndef CLI_ATTACH_NATIVE_PROCESS_H
#define CLI_ATTACH_NATIVE_PROCESS_H

#include "cli/attach/doctor.h"
#include "inject/inject.h"

/* Loads libsonde-native.so and waits until its agent listens.  `insist`: also where it is dangerous.
 * CLI_DONE; or, after a message that says why not, an exit status. */
int native_process_attach(const struct jvm *p, const char *shown, unsigned wait_ms, bool insist);

/* Takes the library out, after its agent has left; what came of it.  No message. */
void native_process_leave(const struct target *t, unsigned wait_ms, struct inject_out *out);

/* All that stands in the way, for "sonde doctor". */
void native_process_examine(struct patient *p);

#endif
