/* SPDX-License-Identifier: Apache-2.0 */
/* graft.h - copying a template's instructions, frames and handlers into a method.
 * Only merge_into.c uses this. */
#ifndef WEAVE_GRAFT_H
#define WEAVE_GRAFT_H

#include "weave/graft_state.h"

int graft_init(struct graft *g, struct code *code, const struct merge *m, struct fault *f);

/* Copies the prolog before `place`; `entry` is the method's frame there, or NULL when the prolog
 * needs none. */
int graft_prolog(struct graft *g, struct insn *place, const struct frame *entry);

/* The same behind a condition, when there is one: where it does not hold, the template's locals get
 * values that mean that there is nothing to tell.  `entry` is needed from version 50 on. */
int graft_guarded(struct graft *g, struct insn *place, const struct frame *entry);

/* Copies the epilog before `place`. */
int graft_epilog(struct graft *g, struct insn *place, enum graft_way way);

/* A further copy begins: labels get new twins. */
void graft_reset(struct graft *g);

/* Appends a handler of the template; start and end replace its own when not NULL. */
int graft_handler(struct graft *g, const struct handler *h, struct insn *start, struct insn *end);

/* A frame with the method's locals (all TOP when `method` is NULL), then the template's, then what
 * is kept.  Its stack is empty.  NULL: g->rc. */
struct frame *graft_frame(struct graft *g, const struct frame *method, const struct frame *own,
			  enum graft_way kept);

vtype graft_result_type(const struct graft *g);

#endif
