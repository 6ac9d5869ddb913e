/* SPDX-License-Identifier: Apache-2.0 */
/* jfr.h - the samples in a recording of the JDK's Flight Recorder (.jfr, JDK 9 or later), as stacks. */
#ifndef EXPORT_JFR_H
#define EXPORT_JFR_H

#include "export/profile.h"

enum jfr_what {
	JFR_CPU,   /* jdk.ExecutionSample, jdk.CPUTimeSample: how many */
	JFR_WALL,  /* of threads in native code as well: jdk.NativeMethodSample */
	JFR_ALLOC, /* jdk.ObjectAllocationSample: bytes, by class */
	JFR_LOCK,  /* jdk.JavaMonitorEnter: ns waited, by class */
};

/* Kinds of the caller's for frames, by how the method ran. */
struct jfr_kinds {
	uint32_t interpreted, compiled, inlined, native, class, unknown;
};

struct jfr_about {
	uint64_t events, without_stack, cut; /* the last: stacks deeper than were recorded */
	uint64_t start_ns, wall_ns;	     /* of all chunks */
	const char *why; /* it cannot be read: what is wrong, and in which chunk */
	unsigned chunk;
};

/* Adds the stacks to p.  0; E_SYNTAX or E_UNSUPPORTED with about->why; or E_NO_MEMORY. */
int jfr_read(struct slice file, enum jfr_what what, const struct jfr_kinds *kinds,
	     struct profile *p, struct jfr_about *about);

#endif
