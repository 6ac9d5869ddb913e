/* SPDX-License-Identifier: Apache-2.0 */
/* handed.c - the callers of work that was given to another thread.
 *
 * Whether a call is inside a sequence is read off the stack of hooked calls.  So the steps that the
 * giving thread is in are put on the stack of the one that does the work, for as long as it does:
 * calls that are hidden, as those of anchors are that no rule reports, and marked, so that only
 * sequences that are `across` go by them.  Their tokens follow each other without a gap, which
 * tells them apart from all calls. */
#include "base/tick.h"
#include "probe/context.h"
#include "probe/nodes.h"

static bool wanted;

void probe_handed_want(bool want)
{
	STORE(wanted, want);
}

static uint32_t kid_of(const struct probe_frame *f)
{
	const struct probe_node *node = f->node;

	return node == &probe_nowhere ? LOAD(f->id) : node_kid(node);
}

size_t probe_handed_take(uint32_t kids[PROBE_HANDED])
{
	const struct probe_frame *f = probe_local.top;
	size_t n = 0;

	if (!LOAD(wanted) || !probe_local.mine || probe_local.muted)
		return 0;
	for (; !frame_is_nobodys(f) && n < PROBE_HANDED; f--) {
		uint32_t kid = (kid_of(f) & (KID_ID | KID_DIRECT)) | KID_HANDED;

		if (!context_is_step(kid & KID_ID))
			continue;
		if (n && kids[n - 1] == kid && !(kid & KID_DIRECT))
			continue; /* it has called itself: once is enough */
		kids[n++] = kid;
	}
	return n;
}

uint64_t probe_handed_begin(const uint32_t *kids, size_t n)
{
	struct probe_thread *t = probe_local.mine;
	const struct probe_frame *top;
	uint64_t first;

	if (!n || probe_local.muted)
		return 0;
	t = t ? t : thread_take();
	top = probe_local.top;
	if (!t || (size_t)(&t->frames[PROBE_DEPTH] - top) < n)
		return 0;
	first = tick_now() << 1;
	first = first > top->token + 1 ? first : (top->token | 1) + 1;
	for (size_t i = 0; i < n; i++) {
		struct kept_frame one = { .token = first + 2 * i,
					  .id = kids[n - 1 - i] | ID_SLOW,
					  .sort = NODE_CLOSED,
					  .weight = 1 };

		if (context_opens(one.id & KID_ID)) {
			SHARED_ADD(probe_words.inside, 1);
			one.id |= ID_OPENS;
		}
		carrier_push(t, &one);
	}
	types_broken(t);
	return first;
}

/* Innermost first.  Calls of the work that lie on them have lost their end. */
void probe_handed_end(const uint32_t *kids, size_t n, uint64_t token)
{
	for (size_t i = 0; token && i < n; i++)
		probe_leave_hidden(kids[i] & KID_ID, token + 2 * (n - 1 - i));
}
