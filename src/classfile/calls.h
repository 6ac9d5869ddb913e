/* SPDX-License-Identifier: Apache-2.0 */
/* calls.h - which methods a method may call, read out of its code.
 *
 * An invokedynamic is reported as what it stands for: the body of a lambda, the method of a method
 * reference, a string concatenation, a switch over patterns, a method of a record; other ones by
 * their bootstrap method.  BootstrapMethods may hold anything: what makes no sense there becomes
 * a CALL_UNKNOWN. */
#ifndef CLASSFILE_CALLS_H
#define CLASSFILE_CALLS_H

#include "classfile/code.h"

enum call_kind {
	CALL_METHOD,	/* one of the four plain invokes */
	CALL_LAMBDA,	/* the body of a lambda expression, a method of the same class */
	CALL_REFERENCE, /* a method reference: the method referred to */
	CALL_CONCAT,	/* string concatenation */
	CALL_SWITCH,	/* a switch over patterns or enum constants */
	CALL_RECORD,	/* toString, hashCode or equals of a record */
	CALL_CONSTANT,	/* java.lang.invoke.ConstantBootstraps */
	CALL_DYNAMIC,	/* any other bootstrap method */
	CALL_UNKNOWN,	/* there is no such bootstrap method */
	CALL_KINDS,
};

/* What counts, for calls_options.mask. */
enum {
	CALLS_VIRTUAL = 1,
	CALLS_SPECIAL = 2,
	CALLS_STATIC = 4,
	CALLS_INTERFACE = 8,
	CALLS_DYNAMIC = 16,
	CALLS_CONSTANT = 32, /* dynamic constants loaded by ldc: their bootstrap runs once */
	CALLS_INVOKES = 31,
};

struct calls_options {
	unsigned mask;	    /* CALLS_*; 0: CALLS_INVOKES */
	bool all_sites;	    /* one entry for each call site, not for each method called */
	uint32_t max_class; /* bytes of a class that is still looked at; 0: CALLS_CLASS_MAX */
	uint32_t max_calls; /* entries of one method; 0: CALLS_MAX */
};

enum { CALLS_CLASS_MAX = 8 << 20, CALLS_MAX = 20000, CALLS_TEXT_MAX = 32 << 20 };

struct class_call {
	uint8_t op;	    /* OP_INVOKE..., or OP_LDC... of a dynamic constant */
	uint8_t kind;	    /* enum call_kind */
	bool interface;	    /* owner is an interface */
	struct slice owner; /* internal name; of a bootstrap method, where that is reported */
	struct slice name;
	struct slice desc;	/* of the method; of the call site, where owner is a bootstrap's */
	struct slice site_name; /* what the call site itself is named; else empty */
	uint32_t sites;
	const uint16_t *lines; /* of the call sites, ascending, each once */
	uint32_t n_lines;
};

/* The calls in the order of their first sites, in the code's arena; slices point into the class.
 * The code comes out of code_elevate (not of code_elevate_coarse, which is E_USAGE) and may have
 * been edited: instructions that were put in have no line.  E_LIMIT when the class or the method
 * is larger than wanted, E_NO_MEMORY. */
int calls_of(const struct code *code, const struct calls_options *options, struct class_call **out,
	     uint32_t *n, struct fault *f);

const char *call_kind_text(unsigned kind); /* "lambda" */

#endif
