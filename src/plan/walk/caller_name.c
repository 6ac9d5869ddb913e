/* SPDX-License-Identifier: Apache-2.0 */
/* caller_name.c - what is left out of names when they are shown. */
#include "plan/walk/caller_name.h"

#include "plan/dig/dig_state.h"

void caller_put_whole(const struct caller *c, struct buf *out)
{
	struct slice plain = c->flags & CALLER_NATIVE ? c->name : sample_node_plain(c->name);

	for (size_t i = 0; i < plain.n; i++)
		buf_u8(out, plain.p[i] < ' ' || plain.p[i] == 127 ? '?' : plain.p[i]);
}

void caller_put_short(const struct caller *c, struct buf *out)
{
	if (c->flags & CALLER_NATIVE)
		caller_put_whole(c, out);
	else
		dig_put_name(out, c->name);
}
