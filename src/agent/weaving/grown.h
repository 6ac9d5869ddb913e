/* SPDX-License-Identifier: Apache-2.0 */
/* grown.h - hooked methods that grew past a limit of the JVM's compilers: what their hooks did to
 * them. */
#ifndef AGENT_WEAVING_GROWN_H
#define AGENT_WEAVING_GROWN_H

#include "agent/classes/woven.h"
#include "base/buf.h"

/* Appends a line if the method's hook took it past an inlining limit. */
void grown_tell(const struct hooked *h, struct buf *out);

/* Messages `grown`: how many hooked methods were, by limit. */
void grown_put(struct buf *out);

#endif
