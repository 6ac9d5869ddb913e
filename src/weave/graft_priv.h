/* SPDX-License-Identifier: Apache-2.0 */
/* graft_priv.h - what the parts of graft share.  The first failure is kept in g->rc, and given
 * back. */
#ifndef WEAVE_GRAFT_PRIV_H
#define WEAVE_GRAFT_PRIV_H

#include "weave/graft.h"

int graft_fail(struct graft *g, int rc);

/* The template does not fit the method.  The number is for a %u in `why`. */
int graft_misfit(struct graft *g, const char *why, unsigned number);

/* Put an instruction before `place`, marked; n may be NULL: out of memory. */
void graft_put(struct graft *g, struct insn *place, struct insn *n);
void graft_put_op(struct graft *g, struct insn *place, uint8_t op);
/* ... with a constant, whose index may be an error. */
void graft_put_pool(struct graft *g, struct insn *place, uint8_t op, int index);
void graft_put_load(struct graft *g, struct insn *place, struct slice type, unsigned slot);

void graft_put_id(struct graft *g, struct insn *place); /* the method's number */

/* Answers one question of the template. */
void graft_put_here(struct graft *g, struct insn *place, const struct insn *n, enum graft_way way);

#endif
