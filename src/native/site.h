/* SPDX-License-Identifier: Apache-2.0 */
/* site.h - hooks functions, switches their hooks, and takes them out.
 *
 * A function that was hooked once keeps its number and its code, since a thread may still be in
 * there; hooking it again costs no memory.  The agent's thread alone. */
#ifndef NATIVE_SITE_H
#define NATIVE_SITE_H

#include "native/native.h"

struct site_function {
	uintptr_t at;
	size_t size;
	const char *name, *module; /* borrowed for the call; copied */
};

struct site_info {
	uintptr_t at; /* the function */
	size_t size;
	char *name, *module;
	uint32_t rule;	/* that has hooked it; 0: none */
	uint64_t since; /* tick */
	bool in;
	const char *only; /* why it is only counted though it was to be timed; NULL: it is not */
	/* private */
	uintptr_t patch_at, code;
	uint8_t patch[8], inner_n;
	uint8_t inner[16], moved[16]; /* where its instructions were, and are */
	unsigned traps;		      /* PATCH_TRAPS, PATCH_ILLEGAL */
};

/* The number of the hook, above 0, or 0: *why says why this function cannot be hooked. */
uint32_t site_hook(const struct site_function *f, enum site_mode mode, const char **why);

/* False: its bytes could not be put back; the hook is closed, and stays. */
bool site_unhook(uint32_t number);

const struct site_info *site_info(uint32_t number); /* below site_end() */
void site_set_rule(uint32_t number, uint32_t rule);
uint32_t site_end(void);

void site_release(void); /* forgets all: none is hooked, and no thread comes any more */

/* Where the thread goes on that trapped at this address (trap.h). */
uintptr_t site_trapped(uintptr_t at);

/* What a function of this name may have at most; *why says why it is not all. */
enum site_mode site_allowed(const char *module, const char *name, const char **why);

#endif
