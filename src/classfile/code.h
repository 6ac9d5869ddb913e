/* SPDX-License-Identifier: Apache-2.0 */
/* code.h - the body of one method as a doubly linked list that can be edited.
 *
 * code_elevate() turns the bytes of a Code attribute into a list; code_lower() turns the list
 * into bytes again.  Between the two no offset counts: branches, switches, exception ranges,
 * frames and Uninitialized types point at nodes, and tables (lines, variables, type annotations)
 * name an instruction by the offset at which it was read, which it keeps.  So any instruction may
 * be put in or taken out anywhere, and everything else stays right.
 *
 * The list begins with the start label and ends with the end label; both always stay.  What
 * belongs to "offset 0" in tables (the first line, the scope of the arguments) hangs on the
 * start label; branches and exception ranges have labels of their own.  So code that is put in
 * directly behind the start label belongs to the first line, and a loop back to the first
 * instruction does not run it again.
 *
 * Everything lives in the class's arena.  One thread at a time. */
#ifndef CLASSFILE_CODE_H
#define CLASSFILE_CODE_H

#include "classfile/class.h"
#include "classfile/op.h"

/* A verification type (JVMS 4.7.4) in one word: the tag below and a 24-bit value above it. */
typedef uint32_t vtype;

enum {
	VT_TOP = 0,
	VT_INT = 1,
	VT_FLOAT = 2,
	VT_DOUBLE = 3,
	VT_LONG = 4,
	VT_NULL = 5,
	VT_UNINIT_THIS = 6,
	VT_OBJECT = 7, /* value: pool index of a Class, or VT_DESC + a place in the descriptor */
	VT_UNINIT = 8, /* value: index into code.news */
};

/* The arguments' types in the implicit first frame need not have Class entries: they are known by
 * where they stand in the method's descriptor. */
enum { VT_DESC = 0x10000 };

static inline vtype vt(uint8_t tag, uint32_t value)
{
	return tag | value << 8;
}

static inline uint8_t vt_tag(vtype t)
{
	return (uint8_t)t;
}

static inline uint32_t vt_value(vtype t)
{
	return t >> 8;
}

/* The state of locals and stack at a label, written out in full (not as the difference to the
 * one before).  As in the class file, a long or double is one entry.  Arrays may be shared
 * between frames: to change one, make a new array. */
struct frame {
	const vtype *locals, *stack;
	uint16_t n_locals, n_stack;
};

struct insn_switch {
	struct insn *other; /* the default */
	int32_t low;	    /* tableswitch: the key of cases[0] */
	uint32_t n;
	struct insn_case {
		int32_t key; /* tableswitch: low + index */
		struct insn *target;
	} cases[];
};

enum {
	INSN_READ = 1,	   /* came out of the file: `old` is its offset there */
	INSN_COPY = 2,	   /* its bytes there are still what must be written */
	INSN_WIDE = 4,	   /* was, or has to be, behind a wide prefix */
	INSN_ANCHORED = 8, /* something besides branches points at it */
	INSN_LONG = 16,	   /* lowering: the short branch does not reach */
	INSN_MARKED = 32,  /* free for whoever edits: e.g. "this is the template's part" */
};

struct insn {
	struct insn *prev, *next;
	union {
		struct insn *target;	/* branches: a label */
		struct insn_switch *sw; /* switches */
		struct frame *frame;	/* labels: the frame here, or NULL */
		const uint8_t *bytes;	/* stamps: index is their number */
	};
	uint32_t pc;	/* offset after lowering */
	uint16_t old;	/* offset before elevating, with INSN_READ */
	uint16_t index; /* pool index; or number of the local, also of iload_0 and the like */
	int16_t arg;   /* bipush, sipush, newarray, iinc's increment, dimensions, interface slots */
	uint8_t op;    /* OP_*, as it was written: iload_0 stays iload_0 */
	uint8_t flags; /* INSN_* */
	uint16_t size; /* bytes as read, with INSN_READ; else 0 */
};

struct handler {
	struct insn *start, *end, *handler; /* labels; end is exclusive */
	uint16_t type;			    /* pool index of the class caught; 0: all */
};

/* One attribute of the Code attribute.  Offsets in it are those of the code as it was read; they
 * name the instructions there, and lowering replaces them by where those have gone (an instruction
 * that was taken out: the next that is still there).  The StackMapTable stands here only to keep
 * its place; its frames hang on labels. */
struct code_table {
	struct attr attr;
	bool unread; /* a StackMapTable of version 50 that makes no sense: written as it is, and the
		      * JVM infers types instead */
};

struct code {
	struct class *cls;
	struct member *method;
	struct arena *mem;
	struct slice bytes; /* the instructions as they were read */
	struct insn *start, *end;
	struct insn *read_end;	  /* the label that was the end when the code was read */
	struct handler *handlers; /* in the order in which the JVM asks them */
	uint32_t n_handlers;
	struct code_table *tables;
	uint32_t n_tables;
	struct insn **news; /* the `new` instructions that Uninitialized types name */
	uint32_t n_news;
	struct frame *frames; /* as read, in their order */
	uint32_t n_frames;
	struct insn *returns; /* as read, the last one first, chained by insn.target */
	uint32_t n_returns;
	bool has_jsr;
	struct frame first; /* the implicit first frame, from the descriptor */
	uint16_t max_stack, max_locals;
	bool old_header; /* version 45.0 to 45.2: the sizes are one and two bytes long */
};

/* Method must have code.  f tells the place: fault.at is an offset in the class file. */
int code_elevate(struct class *cls, struct member *m, struct code **out, struct fault *f);

/* The same, several times as fast, but instructions that are no branch target and hold no offset
 * are not split: a stretch of them is one node, OP_RUN.  Branches, switches, returns, athrow,
 * ret, wide and new, and in constructors invokespecial, stand alone.  Enough for who puts code in
 * at the start, at the exits or at labels. */
int code_elevate_coarse(struct class *cls, struct member *m, struct code **out, struct fault *f);

/* Replaces all runs and stamps by their instructions. */
int code_expand(struct code *code);

/* The bytes of a method's instructions as they were read; empty: none, or malformed. */
struct slice code_instructions(const struct class *cls, const struct member *m);

/* Computes offsets, widens what has to be wide and makes method->lowered.  On failure
 * (E_TOO_LARGE, E_POOL_FULL, E_NO_MEMORY ...) the method stays as it was. */
int code_lower(struct code *code, struct fault *f);

/* After code_lower: where each instruction that was read has gone, as pairs of (old, new) offset
 * at the places where the distance changes: u2 count, then u2 old, u2 new each. */
void code_offset_map(const struct code *code, struct buf *out);

/* Visible for the checker: "a/B.name(desc)" into f's text, and the place in the file. */
int code_fault(const struct code *code, const struct insn *at, struct fault *f, int rc,
	       const char *fmt, ...) __attribute__((format(printf, 5, 6), cold));

#endif
