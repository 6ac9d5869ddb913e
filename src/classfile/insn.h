/* SPDX-License-Identifier: Apache-2.0 */
/* insn.h - making, placing and removing the instructions of a list.
 *
 * A node belongs to at most one list.  Functions that make nodes give NULL when memory is out;
 * placing accepts that NULL and hands it on, so a chain of calls needs one check. */
#ifndef CLASSFILE_INSN_H
#define CLASSFILE_INSN_H

#include "classfile/code.h"

struct insn *insn_new(struct code *code, uint8_t op);
struct insn *insn_label(struct code *code);
struct insn *insn_branch(struct code *code, uint8_t op, struct insn *label);
struct insn *insn_local(struct code *code, uint8_t op, uint16_t slot); /* iload ... astore, ret */
struct insn *insn_pool(struct code *code, uint8_t op, uint16_t index);
struct insn *insn_int(struct code *code, int32_t value); /* iconst, bipush, sipush or ldc */

/* Several instructions at once, as the bytes that will be written: none of them may hold an offset.
 * The bytes are borrowed; four more behind them must be readable. */
enum { INSN_STAMP_SLACK = 4 };
struct insn *insn_stamp(struct code *code, struct slice bytes);

/* Number of the local that a load, store, iinc or ret touches. */
bool insn_has_local(const struct insn *insn);

struct insn *insn_before(struct code *code, struct insn *place, struct insn *insn);
struct insn *insn_after(struct code *code, struct insn *place, struct insn *insn);

/* Takes it out.  Where something points at it, a label stays in its place. */
void insn_remove(struct code *code, struct insn *insn);

/* Puts `by` in its place; whatever pointed at the old one points there still. */
struct insn *insn_replace(struct code *code, struct insn *old, struct insn *by);

/* The label directly before this instruction that branches may use, made when missing. */
struct insn *insn_label_before(struct code *code, struct insn *insn);

/* Moves everything between the labels `first` and `last` (exclusive both) behind `place`. */
void insn_move(struct insn *first, struct insn *last, struct insn *place);

struct insn_copy {
	const struct code *from;
	const struct insn *first, *last; /* the stretch: first included, last not */
	uint16_t *pool;			 /* from->cls->pool.n zeroes; see pool_import */
	uint16_t local_shift;		 /* added to every local's number ... */
	uint16_t local_from;		 /* ... that is not below this */
};

/* Copies a stretch of another method's list before `place`, with its constants, branches inside the
 * stretch, frames left out.  Branches that leave the stretch are E_BRANCH; a stretch of the same
 * method is E_USAGE.  After a failure throw the list away. */
int insn_copy_stretch(struct code *code, struct insn *place, const struct insn_copy *copy);

struct insn *insn_next_real(const struct insn *insn); /* skips labels; NULL: the end */

#endif
