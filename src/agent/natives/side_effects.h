/* SPDX-License-Identifier: Apache-2.0 */
/* side_effects.h - what a getter does beside giving a value, as far as its byte code shows. */
#ifndef AGENT_NATIVES_SIDE_EFFECTS_H
#define AGENT_NATIVES_SIDE_EFFECTS_H

#include "weave/cond_code.h"

/* False: nothing.  Otherwise `why` says what, as in "writes the field com.shop.Cart.hits".  ctx is
 * a struct members; classes that it does not know are not looked into, and may do anything. */
bool side_effects_of(void *ctx, const struct cond_class *c, const struct cond_member *m, char *why,
		     size_t cap);

/* The field of c that a getter gives, doing nothing else; NULL: it is not as plain as that. */
const struct cond_member *side_effects_plain(const struct cond_class *c,
					     const struct cond_member *m);

#endif
