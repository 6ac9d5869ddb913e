/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.h - a template's part as bytes.  Only graft.c uses this. */
#ifndef WEAVE_STAMP_H
#define WEAVE_STAMP_H

#include "weave/graft_state.h"

/* The stretch with its questions answered, for this way out, or GRAFT_NO_EXTRA in the prolog; one
 * node, in no list yet.  NULL: *rc. */
struct insn *stamp_make(struct graft *g, const struct insn *first, const struct insn *last,
			enum graft_way way, int *rc);

#endif
