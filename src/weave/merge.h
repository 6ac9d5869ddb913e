/* SPDX-License-Identifier: Apache-2.0 */
/* merge.h - a template and a method become one.
 *
 * The result is prolog, the method's own code, epilog; its returns become branches to the
 * epilog, and exceptions that leave it go through the epilog (or the template's own handler),
 * too.  The method's locals keep their numbers, the template's come behind them.  In frames of
 * the epilog the method's locals are TOP, so that types never have to be merged and no class has
 * to be loaded.  The template is not changed. */
#ifndef WEAVE_MERGE_H
#define WEAVE_MERGE_H

#include "weave/cond_code.h"
#include "weave/template.h"

struct merge {
	const struct template *template;
	uint16_t *seen;	  /* template->n_in_pool zeroes; kept for all methods of one class */
	int32_t id;	  /* what Here.id() gives */
	uint16_t *own_id; /* not NULL: the id is a constant of its own; its index, 0: none yet */
	struct insn **
		brief; /* not NULL: an id that is asked for once may be in a `sipush` instead; that one */
	uint16_t *throwable; /* the class's Class entry for it, 0: not there yet; kept likewise */
	int16_t *depths;     /* what depth.h remembers of the class */
	const struct cond *cond; /* the prolog runs only when this holds; NULL: always */
	bool passes_by; /* so does the epilog; else it has to see by its locals that there is nothing to tell */
	bool anchor; /* others ask whether they are inside it, also when it does not hold */
	const struct value *value;	    /* what Here.value() gives */
	const struct cond_numbers *numbers; /* for both */
};

/* Changes the elevated code; lower it afterwards.  On failure (E_MISFIT, E_STACK_AT_RETURN,
 * E_NO_INIT_CALL, E_RETURN_TYPE, E_TOO_LARGE, E_POOL_FULL, E_NO_MEMORY) throw the list away:
 * the method is as it was. */
int merge_into(struct code *code, const struct merge *m, struct fault *f);

#endif
