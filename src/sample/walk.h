/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - the frames of a thread, from its registers and its stack.
 *
 * For signal handlers: nothing is allocated or locked, no function of libc is called but memcpy, and
 * nothing is read that is not known to be mapped: the stack between two bounds that the caller
 * vouches for, the JVM's code heaps, and tables of our own.  The stack may also be a copy, of
 * another thread or process.  Whatever lies on it: each step goes up the stack, so the walk ends.
 *
 * Frames of native code are left by the rules of .eh_frame, or along the chain of frame pointers
 * where there are none; compiled Java code by the size of its frame that the JVM keeps; interpreted
 * frames by their fixed layout.  Frames that the compiler has inlined are not told apart here: who
 * names an address finds them (agent/sampling/scopes.c). */
#ifndef SAMPLE_WALK_H
#define SAMPLE_WALK_H

#include "sample/heaps.h"
#include "sample/modules.h"
#include "sample/spot.h"

enum walk_end {
#define X(name, good, text) WALK_##name,
#include "sample/ends.def"
#undef X
	WALK_ENDS
};

const char *walk_end_text(enum walk_end end);
bool walk_end_is_good(enum walk_end end);

struct walk_regs {
	uint64_t pc, sp, fp;
	uint64_t link;	 /* where the return address may be, before it is on the stack */
	uint64_t method; /* what the interpreter keeps there while a method begins */
};

struct walk_world {
	const struct modules *modules;
	const struct heaps *jvm; /* NULL: no JVM */
};

struct stack_walk {
	struct walk_regs at;  /* of the frame that was reached */
	uint64_t lo, hi;      /* of the stack */
	const uint8_t *bytes; /* what is at lo: (void *)lo, or a copy; NULL: ask `read` */
	bool (*read)(uint64_t address, void *to, size_t n); /* false: nothing is there */
	uint64_t *spots;
	unsigned n, cap;
	bool interrupted;    /* at.pc is the next instruction to run, not where a call returns to */
	bool copied_in_part; /* the stack goes on behind hi */
	enum walk_end end;
};

/* Adds frames from w->at on, until the stack ends. */
void walk_run(struct stack_walk *w, const struct walk_world *world);

#endif
