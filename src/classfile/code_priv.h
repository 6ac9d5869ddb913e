/* SPDX-License-Identifier: Apache-2.0 */
/* code_priv.h - what code.c and frame.c share while a method is elevated and lowered.
 * Nobody else includes this. */
#ifndef CLASSFILE_CODE_PRIV_H
#define CLASSFILE_CODE_PRIV_H

#include "classfile/code.h"

struct elevation {
	struct code *code;
	struct insn *nodes; /* the instructions, in the order of their offsets */
	uint32_t n_nodes;
	uint16_t *node_at;     /* [code length] 1 + index into nodes; 0: not a start */
	struct insn *last;     /* while decoding: the node before the next */
	struct insn *branches; /* chain through ->target, until it holds the target */
	struct fault *fault;
	bool no_memory; /* tells why elevate_label gave NULL */
};

/* The label before the instruction at pc, made when missing; the end label at the code's length;
 * NULL: pc is not the start of an instruction, or memory is out. */
struct insn *elevate_label(struct elevation *e, uint32_t pc);

/* The implicit frame at the method's entry (JVMS 4.10.1.6). */
int frame_first(struct code *code, struct fault *f);

/* StackMapTable -> frames on labels. */
int frame_read_table(struct elevation *e, struct slice data);

/* Frames on labels -> the StackMapTable's data, in the smallest form.  labels are those with a
 * frame, in order, their pc final.  `out` has room for frame_table_bound() bytes; returns the
 * bytes used or an error. */
size_t frame_table_bound(struct insn *const *labels, size_t n);
int frame_write_table(struct code *code, struct insn *const *labels, size_t n, uint8_t *out);

#endif
