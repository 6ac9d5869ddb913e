/* SPDX-License-Identifier: Apache-2.0 */
/* check_priv.h - what the parts of the checker share.  Only check*.c include this.
 *
 * A check goes over the instructions of one method and keeps the types of locals and stack slot by
 * slot.  check_insn() applies one instruction to that state.  Where to go next, and with which
 * state, is decided by check.c (frames are given) or check_infer.c (frames are worked out). */
#ifndef CLASSFILE_CHECK_CHECK_PRIV_H
#define CLASSFILE_CHECK_CHECK_PRIV_H

#include "classfile/check/check.h"
#include "classfile/check/check_type.h"

/* Work is counted in slots that are compared or copied.  Real code needs a few dozen for each
 * instruction, or all locals at some thousand frames; input that is made to be slow meets the limit
 * (E_LIMIT). */
enum {
	CHECK_WORK_BASE = 1 << 20,
	CHECK_WORK_PER_INSN = 2048,
	CHECK_WORK_PER_LOCAL = 4096,
	CHECK_SMALL = 256
};

struct check {
	const struct code *code;
	const struct class *cls;
	const struct pool *pool;
	struct fault *fault;
	const struct insn *at; /* the instruction in hand */
	struct insn in_run;    /* ... when it is part of a run */

	ctype *locals, *stack;
	uint32_t n_locals; /* locals from here up to max_locals are all CT_TOP */
	uint32_t depth;	   /* slots on the stack */
	bool this_uninit;  /* in a constructor, before this() or super(): flagThisUninit */

	bool infer;		       /* the older verifier's rules: jsr and ret are allowed */
	bool local_uninit;	       /* some local may hold an uninitialized object */
	bool in_range;		       /* an exception handler covers the instruction */
	bool initialized;	       /* the instruction made an object in a local initialized */
	uint32_t dirty, dirty_end;     /* locals changed since they were compared with handlers */
	uint32_t touched, touched_end; /* ... since the last frame was loaded, and whose ... */
	const vtype *base;	       /* ... locals those were */
	uint32_t n_base, base_slots;
	const vtype *matched; /* locals of a frame that the state is known to fit */
	uint32_t n_matched;

	ctype this_type, return_type; /* return_type CT_TOP: void */
	int64_t work;
	ctype small[CHECK_SMALL]; /* locals and stack of most methods */
	ctype *large;		  /* ... of the others; to be freed */
};

int check_begin(struct check *c, const struct code *code, struct fault *f);
void check_end(struct check *c);

/* The state as a frame says.  E_FRAME: it does not fit max_locals or max_stack. */
int check_load_frame(struct check *c, const struct frame *frame);

/* Applies c->at to the state, but for where it goes. */
int check_insn(struct check *c);

/* Is every operand of c->at in range?  For code that is never reached. */
int check_operands(struct check *c);

/* check_invoke.c: the instructions that name a field or a method. */
int check_field(struct check *c);
int check_invoke(struct check *c);
uint32_t check_invoke_tags(const struct check *c); /* what such an instruction may name */

/* check_infer.c: data-flow analysis, for classes without frames. */
int check_infer(const struct code *code, struct fault *f);

/* E_VERIFY with a sentence that begins with the instruction and its place. */
int check_fail(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));

enum { CHECK_PLACE = 40 };
const char *check_place(const struct insn *n, char out[CHECK_PLACE]); /* "offset 12" */

int check_no_memory(struct check *c);
int check_work(struct check *c, size_t slots); /* counts work done; E_LIMIT */

/* Types of one slot, and primitive types, are by far the most. */

int check_overflow(struct check *c) __attribute__((cold));
int check_bad_prim(struct check *c, ctype want) __attribute__((cold));

static inline int check_push1(struct check *c, ctype t)
{
	if (__builtin_expect(c->depth >= c->code->max_stack, 0))
		return check_overflow(c);
	c->stack[c->depth++] = t;
	return 0;
}

static inline int check_push(struct check *c, ctype t) /* a long or double: both its slots */
{
	if (t != CT_LONG && t != CT_DOUBLE)
		return check_push1(c, t);
	if (__builtin_expect(c->depth + 2u > c->code->max_stack, 0))
		return check_overflow(c);
	c->stack[c->depth++] = t;
	c->stack[c->depth++] = t + 1; /* the upper half */
	return 0;
}

static inline int check_pop_prim(struct check *c, ctype t)
{
	unsigned slots = t == CT_LONG || t == CT_DOUBLE ? 2 : 1;

	if (__builtin_expect(!c->depth || c->stack[c->depth - 1] != t + slots - 1, 0))
		return check_bad_prim(c, t);
	c->depth -= slots;
	return 0;
}

int check_pop(struct check *c, ctype want);
int check_pop_any(struct check *c, ctype *out); /* any reference, also an uninitialized one */
int check_bad_pop(struct check *c, const char *want) __attribute__((cold));

/* What a handler finds on the stack. */
int check_catch_type(struct check *c, const struct handler *h, ctype *out);

int check_set_local(struct check *c, uint32_t slot, ctype t);
int check_bad_local(struct check *c, uint32_t slot, const char *want) __attribute__((cold));
void check_mark_dirty(struct check *c, uint32_t from, uint32_t to);

#endif
