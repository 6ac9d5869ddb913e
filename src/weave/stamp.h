/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.h - a template's part as bytes.  Only graft.c uses this. */
#ifndef WEAVE_STAMP_H
#define WEAVE_STAMP_H

#include "weave/graft.h"

/* Can all of this stretch of a template (first included, last not) be stamped: no branches, and no
 * questions but the simple ones?  Asked once, when the template is read. */
bool stamp_can(const struct insn *first, const struct insn *last);

/* The stretch with its questions answered, for this way out, or GRAFT_NO_EXTRA in the prolog; one
 * node, in no list yet.  NULL: *rc. */
struct insn *stamp_make(struct graft *g, const struct insn *first, const struct insn *last,
			enum graft_way way, int *rc);

#endif
