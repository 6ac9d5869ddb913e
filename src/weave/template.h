/* SPDX-License-Identifier: Apache-2.0 */
/* template.h - a method that is merged into others: prolog, sentinel, epilog.
 *
 * A template is an ordinary compiled method, static and ()V, in which a call of
 * sonde.Here.body() stands for the method it will be merged into.  What comes before that call
 * is the prolog, what comes after it the epilog.  Other calls of sonde.Here give the template
 * what it may know of its target: its id and name, `this`, arguments, result, exception.
 *
 * When a template has no handler around the sentinel, its epilog is run for exceptional exits,
 * too, and the exception goes on afterwards.  With a handler (catch, finally) it sees to them
 * itself.
 *
 * A template is prepared once by template_read() and never changed after that. */
#ifndef WEAVE_TEMPLATE_H
#define WEAVE_TEMPLATE_H

#include "classfile/code.h"

#define HERE_CLASS "sonde/Here"

/* What a call of sonde.Here asks for: insn.arg of a node with INSN_MARKED. */
enum here {
	HERE_BODY,
	HERE_ID,     /* int: the method's id */
	HERE_METHOD, /* String: "pkg.Class.name(desc)" */
	HERE_SELF,   /* Object: this, null in static methods */
	HERE_ARG,    /* Object: argument insn.index, boxed */
	HERE_INT_ARG,
	HERE_LONG_ARG,
	HERE_FLOAT_ARG,
	HERE_DOUBLE_ARG,
	HERE_ARGS,	 /* Object[]: all arguments, boxed */
	HERE_RESULT,	 /* Object: what the method returns, boxed; null for void or an exception */
	HERE_INT_RESULT, /* what it returns, of that type; 0 for an exception */
	HERE_LONG_RESULT,
	HERE_VALUE,  /* Object: what the rule captures */
	HERE_THROWN, /* Throwable: the exception that ends the method, or null */
	HERE_COUNT
};

/* Where a place in the template stands with regard to the sentinel; kept in insn.pc, which is
 * free until lowering, and a template is never lowered. */
enum stand { STAND_UNKNOWN, STAND_BEFORE, STAND_AFTER, STAND_THROWN };

struct template
{
	struct slice name; /* of the class, as in a/b/Timed */
	struct code *code;
	struct insn *first, *sentinel, *last; /* prolog: first up to sentinel; epilog: behind it
					       * up to last, the end label */
	uint16_t n_labels;    /* those that something points at, numbered in insn.index */
	struct frame at_body; /* locals that live across the sentinel */
	uint16_t n_locals;
	bool catches;			   /* has a handler of its own around the sentinel */
	bool epilog_empty;		   /* nothing to do on the way out */
	bool prolog_framed, epilog_framed; /* there are branches in it; in the epilog, on the way
					    * to a return */
	bool prolog_plain, epilog_plain;   /* stamp.h can write it */
	bool id_first; /* the id is asked for once, before anything else, in a plain prolog */
	uint32_t n_insns;
	bool wants_result, wants_thrown, wants_args;
	bool *sees_to;	       /* [code->n_handlers] is it around the sentinel? */
	struct slice *foreign; /* classes that the code names and that are not in java.base */
	uint32_t n_foreign;
	uint16_t min_major; /* the oldest class version in which the code may stand */
	uint32_t n_in_pool; /* size of the memory that merging needs (struct merge.seen) */
};

/* Reads and checks a template.  `method` may be empty when the class has only one.  On failure f
 * tells in one sentence what is wrong with it (E_TEMPLATE, or an error of class_read). */
int template_read(struct arena *mem, struct slice bytes, struct slice method, struct template **out,
		  struct fault *f);
void template_release(struct template *t); /* what does not live in the arena */

/* The first class that the template's code names, that is not in java.base and that cls does not
 * name itself: its loader need not see it.  Empty: all is visible. */
struct slice template_invisible(const struct template *t, const struct class *cls);

#endif
