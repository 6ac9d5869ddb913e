/* SPDX-License-Identifier: Apache-2.0 */
/* attached.h - how `sonde attach` and `sonde detach` deal with the library in a process that runs.
 *
 * They call the two functions in a thread of the program, and read the variable through the kernel. */
#ifndef NATIVE_ATTACHED_H
#define NATIVE_ATTACHED_H

#include <stdint.h>

#include "native/near.h"

#define NATIVE_ATTACH "sonde_native_attach"
#define NATIVE_RELEASE "sonde_native_release"
#define NATIVE_STATE "sonde_native_state"

enum native_phase {
	NATIVE_IDLE, /* nothing of it runs */
	NATIVE_STARTING,
	NATIVE_RUNNING, /* the agent's thread listens */
	NATIVE_FAILED,
};

enum { NATIVE_STATE_VERSION = 1 };

struct native_state {
	uint32_t version;
	uint32_t phase;	    /* enum native_phase */
	uint64_t handle;    /* for dlclose; 0: the library was preloaded, and stays */
	uint32_t stuck;	    /* functions whose bytes could not be put back */
	uint32_t n_entries; /* a table that shows which hooked calls have not returned: not 0 */
	uint64_t entries;   /* ... in the first word of an entry */
	uint64_t entry_n;   /* from one to the next */
	uint64_t ranges, n_ranges; /* executable memory besides the library: struct native_range */
};

void attached_phase(enum native_phase phase);
void attached_handle(void *handle);  /* with which dlclose takes the library out again */
void attached_leave(unsigned stuck); /* the hooks are out, but for so many functions */

/* For the last act: the handle, and nobody can attach to this library any more. */
void *attached_take_handle(void);

#endif
