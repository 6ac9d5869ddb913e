/* SPDX-License-Identifier: Apache-2.0 */
/* synth.c - writes a corpus of one made-up class, to see how the cost grows with the size.
 *
 *	synth METHODS PIECES FILE
 *
 * Each method has PIECES times the same 22 bytes of code, and for each of them four frames, an
 * exception handler, two line numbers and a variable: everything that refers to offsets grows
 * along with the code. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEAD = 2, PIECE = 22, TAIL = 2 };

/* Pool indices. */
enum {
	THIS = 2,
	OBJECT = 4,
	THROWABLE = 6,
	ABS = 12, /* Math.abs(int) */
	CODE = 13,
	LINES,
	FRAMES,
	VARIABLES,
	VARIABLE,
	INT,
	NAMES, /* m0, m1 ... */
};

static void utf8(struct buf *b, const char *text)
{
	buf_u8(b, 1);
	buf_u16(b, (unsigned)strlen(text));
	buf_text(b, text);
}

static void class_entry(struct buf *b, const char *name, unsigned index)
{
	utf8(b, name);
	buf_u8(b, 7);
	buf_u16(b, index);
}

static void pool(struct buf *b, unsigned methods)
{
	char name[16];

	buf_u16(b, NAMES + methods);
	class_entry(b, "Synth", 1);
	class_entry(b, "java/lang/Object", 3);
	class_entry(b, "java/lang/Throwable", 5);
	class_entry(b, "java/lang/Math", 7);
	utf8(b, "abs");
	utf8(b, "(I)I");
	buf_u8(b, 12); /* NameAndType, 11 */
	buf_u16(b, 9);
	buf_u16(b, 10);
	buf_u8(b, 10); /* Methodref */
	buf_u16(b, 8);
	buf_u16(b, 11);
	utf8(b, "Code");
	utf8(b, "LineNumberTable");
	utf8(b, "StackMapTable");
	utf8(b, "LocalVariableTable");
	utf8(b, "x");
	utf8(b, "I");
	for (unsigned i = 0; i < methods; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		utf8(b, name);
	}
}

static void instructions(struct buf *b, unsigned pieces)
{
	static const uint8_t piece[PIECE] = {
		0x1a,	       /*  0: iload_0 */
		0x99, 0, 9,    /*  1: ifeq 10 */
		0x84, 1, 1,    /*  4: iinc 1, 1 */
		0xa7, 0, 6,    /*  7: goto 13 */
		0x84, 1, 0xff, /* 10: iinc 1, -1 */
		0x1b,	       /* 13: iload_1, caught to 18 */
		0xb8, 0, ABS,  /* 14: invokestatic abs */
		0x3c,	       /* 17: istore_1 */
		0xa7, 0, 4,    /* 18: goto 22 */
		0x57,	       /* 21: pop, the handler */
	};

	buf_u32(b, HEAD + PIECE * pieces + TAIL);
	buf_bytes(b, "\x03\x3c", HEAD); /* iconst_0, istore_1 */
	for (unsigned i = 0; i < pieces; i++)
		buf_bytes(b, piece, PIECE);
	buf_bytes(b, "\x1b\xac", TAIL); /* iload_1, ireturn */
}

static void frames(struct buf *b, unsigned pieces)
{
	buf_u16(b, FRAMES);
	buf_u32(b, 2 + 10 + 7 * (pieces - 1));
	buf_u16(b, 4 * pieces);
	for (unsigned i = 0; i < pieces; i++) {
		if (i == 0) {
			buf_u8(b, 252); /* append one local, an int */
			buf_u16(b, HEAD + 10);
			buf_u8(b, 1);
		} else {
			buf_u8(b, 9); /* same */
		}
		buf_u8(b, 2);	   /* same */
		buf_u8(b, 64 + 7); /* same locals, a Throwable on the stack */
		buf_u8(b, 7);
		buf_u16(b, THROWABLE);
		buf_u8(b, 0); /* same */
	}
}

static void code(struct buf *b, unsigned pieces)
{
	buf_u16(b, 2); /* max_stack */
	buf_u16(b, 2); /* max_locals */
	instructions(b, pieces);
	buf_u16(b, pieces);
	for (unsigned i = 0; i < pieces; i++) {
		buf_u16(b, HEAD + PIECE * i + 13);
		buf_u16(b, HEAD + PIECE * i + 18);
		buf_u16(b, HEAD + PIECE * i + 21);
		buf_u16(b, 0);
	}
	buf_u16(b, 3);
	buf_u16(b, LINES);
	buf_u32(b, 2 + 8 * pieces);
	buf_u16(b, 2 * pieces);
	for (unsigned i = 0; i < 2 * pieces; i++) {
		buf_u16(b, HEAD + PIECE * (i / 2) + (i % 2 ? 13 : 0));
		buf_u16(b, 10 + i);
	}
	buf_u16(b, VARIABLES);
	buf_u32(b, 2 + 10 * pieces);
	buf_u16(b, pieces);
	for (unsigned i = 0; i < pieces; i++) {
		buf_u16(b, HEAD + PIECE * i);
		buf_u16(b, PIECE);
		buf_u16(b, VARIABLE);
		buf_u16(b, INT);
		buf_u16(b, 1);
	}
	frames(b, pieces);
}

static void make(struct buf *b, unsigned methods, unsigned pieces)
{
	buf_u32(b, 0xcafebabe);
	buf_u32(b, 52);
	pool(b, methods);
	buf_u16(b, 0x21);
	buf_u16(b, THIS);
	buf_u16(b, OBJECT);
	buf_u32(b, 0); /* no interfaces, no fields */
	buf_u16(b, methods);
	for (unsigned i = 0; i < methods; i++) {
		size_t at;

		buf_u16(b, 9); /* public static */
		buf_u16(b, NAMES + i);
		buf_u16(b, 10);
		buf_u16(b, 1);
		buf_u16(b, CODE);
		at = b->n;
		buf_u32(b, 0);
		code(b, pieces);
		if (!b->err)
			put_u32(b->p + at, (uint32_t)(b->n - at - 4));
	}
	buf_u16(b, 0);
}

int main(int argc, char **argv)
{
	struct buf b = { 0 };
	FILE *f;

	if (argc != 4) {
		fprintf(stderr, "usage: synth METHODS PIECES FILE\n");
		return 2;
	}
	buf_u32(&b, 0);
	make(&b, (unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]));
	f = b.err ? NULL : fopen(argv[3], "wb");
	if (!f) {
		perror(argv[3]);
		return 3;
	}
	put_u32(b.p, (uint32_t)(b.n - 4));
	if (fwrite(b.p, 1, b.n, f) != b.n || fclose(f)) {
		perror(argv[3]);
		return 3;
	}
	buf_release(&b);
	return 0;
}
