/* SPDX-License-Identifier: Apache-2.0 */
/* graft_state.h - what is known of one template that goes into one method; for graft*.c and
 * stamp.c. */
#ifndef WEAVE_GRAFT_STATE_H
#define WEAVE_GRAFT_STATE_H

#include "weave/merge.h"

enum graft_way {
	GRAFT_NO_EXTRA,
	GRAFT_RETURN, /* the way out with a result */
	GRAFT_THROW,  /* the way out with an exception */
};

struct graft {
	struct code *code;
	const struct template *template;
	uint16_t *seen;
	int32_t id;
	const struct merge *merge;
	uint16_t *own_id; /* see merge.h */
	bool brief;	  /* likewise: the prolog, of which there is one, begins with the id */
	struct fault *fault;
	int rc;		     /* the first failure */
	uint16_t base;	     /* behind the method's locals: the template's begin here */
	uint32_t max_locals; /* of both */
	struct slice result; /* the method's return type */
	uint8_t result_slots;
	/* Result or exception wait in a local, not on the stack, where the epilog asks for them or
	 * has branches, whose frames would have to know them. */
	bool late; /* the condition asks for the result */
	/* The epilog, too, is only for calls that have met the condition: a local before the
	 * template's tells. */
	bool flagged;
	bool epilog_branches;
	bool keep_result, keep_thrown;
	uint16_t kept; /* that local, of either */
	uint16_t *throwable_index;
	int16_t *depths;
	const struct frame *exit; /* locals where the method's code has been left; NULL: not made */
	vtype throwable;	  /* set before the way out with an exception is written */
	struct insn *undo;	  /* where a call goes whose result does not meet the condition */
	struct insn **twins;	  /* the copy of each of the template's labels, or NULL */
	struct insn *body_end;	  /* the label behind the method's own code */
};

/* The constant that holds the method's id, when it has one of its own. */
int graft_own_id(struct graft *g);

/* Offset of the typed forms of load, store and return from their int form: i l f d a. */
uint8_t graft_kind_of(struct slice type);

#endif
