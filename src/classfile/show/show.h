/* SPDX-License-Identifier: Apache-2.0 */
/* show.h - a class as text for people, or as JSON for programs.
 *
 * Works on classes as they were read: a class that has been edited is written and read again
 * first.  Malformed parts are shown as such and never stop the rest.  Whatever a class calls its
 * things, no control character reaches the output. */
#ifndef CLASSFILE_SHOW_SHOW_H
#define CLASSFILE_SHOW_SHOW_H

#include "base/json.h"
#include "classfile/code.h"

struct show_options {
	bool code;	    /* the instructions, too */
	bool pool;	    /* the constant pool, too */
	bool hex;	    /* the bytes of attributes that are not understood */
	const char *method; /* only methods whose "name" or "name(desc)" matches: * and ? */
};

int show_class(struct class *cls, const struct show_options *opt, struct buf *out);
int show_class_json(struct class *cls, const struct show_options *opt, struct json *j);

/* Names for the places of a method that something points at: L0, L1 ... in order. */
struct show_labels {
	uint32_t *at; /* [code length + 1] 1 + number of the label at an offset; 0: none */
	uint32_t n;   /* code length */
};

int show_labels_make(struct show_labels *labels, const struct code *code);
void show_label(struct buf *out, const struct show_labels *labels, uint32_t pc);

/* "invokevirtual a/B.c(I)V", on one line; without labels, branches and switches do not say where
 * they go. */
void show_insn(struct buf *out, const struct code *code, const struct insn *insn,
	       const struct show_labels *labels);
/* "locals [a/B, int] stack []" */
void show_frame(struct buf *out, const struct code *code, const struct frame *frame,
		const struct show_labels *labels);

/* Parts of the listing, for those who compare: what stands before the attributes of a class, the
 * first line of a field or method, and one attribute.  labels may be NULL. */
void show_class_head(struct buf *out, struct class *cls);
void show_member_head(struct buf *out, struct class *cls, const struct member *m, bool method);
void show_attribute(struct buf *out, struct class *cls, const struct attr *a,
		    const struct show_labels *labels);

/* The text of a class file's modified UTF-8, with escapes for what is no harmless character. */
void show_name(struct buf *out, struct slice text);

#endif
