/* SPDX-License-Identifier: Apache-2.0 */
/* op.c - the table behind op.h. */
#include "classfile/op.h"

enum {
	SIZE_NONE = 1,
	SIZE_LOCAL0 = 1,
	SIZE_S1 = 2,
	SIZE_S2 = 3,
	SIZE_NEWARRAY = 2,
	SIZE_LOCAL = 2,
	SIZE_IINC = 3,
	SIZE_POOL1 = 2,
	SIZE_POOL2 = 3,
	SIZE_IFACE = 5,
	SIZE_INDY = 5,
	SIZE_MULTI = 4,
	SIZE_BR2 = 3,
	SIZE_BR4 = 5,
	SIZE_TSWITCH = 0,
	SIZE_LSWITCH = 0,
	SIZE_WIDE = 0,
};

const struct op_info op_table[256] = {
#define X(value, NAME, name, format, pops, pushes) \
	[value] = { name, pops, pushes, OP_FORMAT_##format, SIZE_##format },
#include "classfile/opcodes.def"
#undef X
	[OP_COUNT... 254] = { .format = OP_FORMAT_BAD },
	[OP_LABEL] = { "label", "", "", OP_FORMAT_NONE, 0 },
};

/* plain?, index_shift, arg_left, arg_right */
#define SHAPE_NONE 1, 32, 0, 63
#define SHAPE_LOCAL0 1, 32, 0, 63
#define SHAPE_S1 1, 32, 32, 56 /* AA...... */
#define SHAPE_NEWARRAY 1, 32, 32, 56
#define SHAPE_S2 1, 32, 32, 48	 /* AAAA.... */
#define SHAPE_LOCAL 1, 24, 0, 63 /* II...... */
#define SHAPE_POOL1 1, 24, 0, 63
#define SHAPE_POOL2 1, 16, 0, 63 /* IIII.... */
#define SHAPE_IINC 1, 24, 40, 56 /* IIAA.... */
#define SHAPE_IFACE 0, 32, 0, 63
#define SHAPE_INDY 0, 32, 0, 63
#define SHAPE_MULTI 0, 32, 0, 63
#define SHAPE_BR2 0, 32, 0, 63
#define SHAPE_BR4 0, 32, 0, 63
#define SHAPE_TSWITCH 0, 32, 0, 63
#define SHAPE_LSWITCH 0, 32, 0, 63
#define SHAPE_WIDE 0, 32, 0, 63

#define LOCAL_OF(op)                                                           \
	((op) >= OP_ILOAD_0 && (op) <= OP_ALOAD_3     ? ((op)-OP_ILOAD_0) % 4  \
	 : (op) >= OP_ISTORE_0 && (op) <= OP_ASTORE_3 ? ((op)-OP_ISTORE_0) % 4 \
						      : 0)
#define SHAPE(op, bytes, plain, shift, left, right)                              \
	{                                                                        \
		(plain) ? (bytes) : 0, shift, left, right, (uint8_t)LOCAL_OF(op) \
	}
#define SHAPE_OF(op, bytes, shape) SHAPE(op, bytes, shape)

const struct op_shape op_shapes[256] = {
#define X(value, NAME, name, format, pops, pushes) \
	[value] = SHAPE_OF(value, SIZE_##format, SHAPE_##format),
#include "classfile/opcodes.def"
#undef X
};

/* Of the plain instructions all but those that leave (athrow, returns, ret) or make an object;
 * the three of more than four bytes are as good. */
#define RUNS(op)                                                                           \
	((op) != OP_ATHROW && (op) != OP_RET && ((op) < OP_IRETURN || (op) > OP_RETURN) && \
	 (op) != OP_NEW)
#define RUN_NONE 1
#define RUN_LOCAL0 1
#define RUN_S1 1
#define RUN_NEWARRAY 1
#define RUN_S2 1
#define RUN_LOCAL 1
#define RUN_POOL1 1
#define RUN_POOL2 1
#define RUN_IINC 1
#define RUN_IFACE 1
#define RUN_INDY 1
#define RUN_MULTI 1
#define RUN_BR2 0
#define RUN_BR4 0
#define RUN_TSWITCH 0
#define RUN_LSWITCH 0
#define RUN_WIDE 0

const uint8_t op_run_size[256] = {
#define X(value, NAME, name, format, pops, pushes) \
	[value] = RUN_##format && RUNS(value) ? SIZE_##format : 0,
#include "classfile/opcodes.def"
#undef X
};

uint8_t op_inverted(uint8_t op)
{
	if (op == OP_IFNULL || op == OP_IFNONNULL)
		return op ^ 1;
	return (uint8_t)(((op + 1) ^ 1) - 1); /* ifeq is odd, its opposite follows it */
}
