/* SPDX-License-Identifier: Apache-2.0 */
/* op.h - facts about opcodes, made out of opcodes.def. */
#ifndef CLASSFILE_OP_H
#define CLASSFILE_OP_H

#include <stdbool.h>
#include <stdint.h>

enum {
#define X(value, NAME, name, format, pops, pushes) OP_##NAME = value,
#include "classfile/opcodes.def"
#undef X
	OP_COUNT = 202,
	OP_STAMP =
		253,  /* several instructions, as bytes that were made and not read (insn_stamp) */
	OP_RUN = 254, /* not one instruction but several, as bytes (code_elevate_coarse) */
	OP_LABEL = 255, /* not an instruction: a place in the list that branches can point at */
};

/* How the operands of an instruction lie behind its opcode. */
enum op_format {
	OP_FORMAT_NONE,	    /* nothing */
	OP_FORMAT_LOCAL0,   /* nothing; the local's number is part of the opcode */
	OP_FORMAT_S1,	    /* a signed byte */
	OP_FORMAT_S2,	    /* a signed short */
	OP_FORMAT_NEWARRAY, /* an array type, 4 to 11 */
	OP_FORMAT_LOCAL,    /* a local's number in one byte, two under wide */
	OP_FORMAT_IINC, /* a local's number and a signed increment, each twice as long under wide */
	OP_FORMAT_POOL1, /* a pool index in one byte */
	OP_FORMAT_POOL2, /* a pool index */
	OP_FORMAT_IFACE, /* a pool index, the count of argument slots, zero */
	OP_FORMAT_INDY,	 /* a pool index, two zeros */
	OP_FORMAT_MULTI, /* a pool index and the number of dimensions */
	OP_FORMAT_BR2,	 /* a branch offset of two bytes */
	OP_FORMAT_BR4,	 /* a branch offset of four bytes */
	OP_FORMAT_TSWITCH,
	OP_FORMAT_LSWITCH,
	OP_FORMAT_WIDE, /* a prefix, never in a list */
	OP_FORMAT_BAD,
};

struct op_info {
	const char *name; /* as javap writes it; NULL: no such opcode */
	const char *pops, *pushes;
	uint8_t format; /* enum op_format */
	uint8_t size;	/* bytes with operands, in the short form; 0: a switch, wide or bad */
};

extern const struct op_info op_table[256];

/* How to take the operands of a plain instruction (no branch, switch, wide or invokeinterface)
 * out of the four bytes behind its opcode without asking what they mean.  With those bytes as a
 * big-endian number w in 64 bits:
 *	index = (uint16_t)(w >> index_shift) | local
 *	arg   = (int16_t)((int64_t)(w << arg_left) >> arg_right) */
struct op_shape {
	uint8_t size;	     /* as in op_info; 0: not plain, decode by format */
	uint8_t index_shift; /* 32: there is none */
	uint8_t arg_left, arg_right;
	uint8_t local; /* iload_2: 2 */
};

extern const struct op_shape op_shapes[256];

/* Size of an instruction that may be part of a run: it has no offset in it, control always goes on
 * behind it, and it makes no object.  0: it stands alone. */
extern const uint8_t op_run_size[256];

/* Is the next instruction never reached from this one by falling through? */
static inline bool op_ends_block(uint8_t op)
{
	return op == OP_GOTO || op == OP_GOTO_W || (op >= OP_IRETURN && op <= OP_RETURN) ||
	       op == OP_ATHROW || op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH || op == OP_RET;
}

static inline bool op_is_return(uint8_t op)
{
	return op >= OP_IRETURN && op <= OP_RETURN;
}

static inline bool op_is_branch(uint8_t op)
{
	return op_table[op].format == OP_FORMAT_BR2 || op_table[op].format == OP_FORMAT_BR4;
}

static inline bool op_is_switch(uint8_t op)
{
	return op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH;
}

static inline bool op_is_invoke(uint8_t op)
{
	return op >= OP_INVOKEVIRTUAL && op <= OP_INVOKEDYNAMIC;
}

/* The opposite of a conditional branch: ifeq <-> ifne and so on. */
uint8_t op_inverted(uint8_t op);

#endif
