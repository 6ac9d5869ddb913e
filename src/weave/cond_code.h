/* SPDX-License-Identifier: Apache-2.0 */
/* cond_code.h - conditions over data: are they possible for a method, and their byte code.
 *
 * Arguments, fields of the woven class, literals, and, or, not become instructions.  Steps into
 * other objects, whose members the woven class may not see, are calls of java.util.SondeData; what
 * a step means is bound to a number there (a site), and found out by the class of the object that
 * comes.  So nothing has to be loaded to weave, and nothing that woven code calls throws.
 *
 * cond_check() needs no more than a method's descriptor; with classes it looks into them, too.  All
 * here is pure and keeps nothing. */
#ifndef WEAVE_COND_CODE_H
#define WEAVE_COND_CODE_H

#include "classfile/code.h"
#include "rule/rule.h"

#define DATA_CLASS "java/util/SondeData"

/* ---- numbers ------------------------------------------------------------------------------ */

enum cond_site_kind { /* as in SondeSite */
		      SITE_FIELD,
		      SITE_CALL,
		      SITE_INDEX,
		      SITE_MATCH, /* name: the regular expression */
		      SITE_LIST,  /* args: the list */
		      SITE_TYPE,  /* name: a/b/C */
};

struct cond_site {
	enum cond_site_kind kind;
	struct slice name;
	const struct value *args;
	bool trusted;
};

/* Who gives numbers; the same for the same site and name, or negative: E_*. */
struct cond_numbers {
	void *ctx;
	int32_t (*site)(void *ctx, const struct cond_site *site);
	int32_t (*slot)(void *ctx, struct slice name); /* of a captured value */
	/* Not NULL: numbers are to be changed afterwards.  Each place of one is an Integer constant
	 * of its own, and this learns its index. */
	void (*placed)(void *ctx, int32_t number, uint16_t index);
};

struct cond_site cond_site_of_step(const struct step *s);
struct cond_site cond_site_of_test(const struct cond *c); /* matches, in, instanceof */

typedef int cond_visit(void *ctx, const struct cond_site *site, struct rule_pos at);

/* All sites of a condition or a value, until one visit is negative. */
int cond_sites(const struct cond *c, cond_visit *visit, void *ctx);
int cond_value_sites(const struct value *v, cond_visit *visit, void *ctx);

bool cond_calls(const struct cond *c); /* code of the program may be run for it */

/* A test of $return is decided at the exit; all others at the entry, since the method may use its
 * arguments' locals for other things.  So the two are joined by `and` alone.  Of a condition,
 * the parts of one kind: cond_put takes NULL for "nothing to test". */
enum cond_when { COND_ENTRY, COND_EXIT };
bool cond_is_late(const struct cond *c);   /* asks for $return somewhere */
bool cond_of_thrown(const struct cond *c); /* what the exit's part is when there is no result */

/* ---- checking ----------------------------------------------------------------------------- */

struct cond_member {
	struct slice name, desc;
	uint16_t access;
	void *id; /* the asked one's own */
};

struct cond_class {
	struct slice name, super;
	const struct slice *interfaces;
	const struct cond_member *fields, *methods;
	size_t n_interfaces, n_fields, n_methods;
	uint16_t access;
	void *id;
};

/* How to ask about classes, as the method's own class sees them. */
struct cond_classes {
	void *ctx;
	const struct cond_class *(*find)(void *ctx, struct slice name); /* NULL: not loaded */
	/* What speaks against calling the method; false: nothing.  May be NULL. */
	bool (*harm)(void *ctx, const struct cond_class *c, const struct cond_member *m, char *why,
		     size_t cap);
};

struct cond_method {
	struct slice class, name, desc;
	uint16_t access;
};

struct cond_trouble {
	struct rule_pos at;
	char text[200], hint[128];
};

/* 0, or E_CONDITION and why.  classes may be NULL. */
int cond_check(const struct cond *c, const struct cond_method *m,
	       const struct cond_classes *classes, struct cond_trouble *t);
int cond_check_value(const struct value *v, const struct cond_method *m,
		     const struct cond_classes *classes, struct cond_trouble *t);

/* The method that a call with these literals means, in c or its ancestors; where it was found in
 * *owner.  NULL: none, or several; t says so. */
const struct cond_member *cond_find_method(const struct cond_class *c, const struct cond_site *call,
					   const struct cond_classes *classes,
					   const struct cond_class **owner, struct cond_trouble *t);

/* ---- byte code ---------------------------------------------------------------------------- */

struct cond_place {
	struct code *code;
	struct insn *before;	   /* code is put before this */
	const struct frame *frame; /* that holds there; NULL: the class has no frames */
	int32_t id;
	int own_id; /* the constant that holds it; 0: none does; negative: E_* */
	const struct cond_numbers *numbers;
	enum cond_when when; /* which part of it */
	struct slice result; /* type of $return, at the exit ... */
	uint16_t kept;	     /* ... and its local */
	int rc;		     /* the first failure */
};

enum { COND_STACK = 8 }; /* slots that the code needs at most */

/* Goes to `unmet` when that part of the condition does not hold, else on.  The condition must have
 * passed cond_check() for the method.  Returns p->rc. */
int cond_put(struct cond_place *p, const struct cond *c, struct insn *unmet);

/* Leaves the value on the stack, as an Object. */
int cond_put_value(struct cond_place *p, const struct value *v);

/* UTF-8 as the constant pool and JNI want it: no zero byte, characters beyond U+FFFF in two. */
struct slice cond_java_text(struct arena *mem, struct slice text); /* .p NULL: out of memory */

#endif
