/* SPDX-License-Identifier: Apache-2.0 */
/* heat.c - a rule that says `timed` and no N leaves it to us.  A method is timed at every call until it
 * is called more than so many times a second; from there N is such that about so many calls a
 * second are timed.  A timed call costs some 50 ns, so this is a thousandth of one core. */
#include "agent/serve/heat.h"

#include "agent/core/agent.h"
#include "probe/probe.h"

enum {
	TIMED_MAX = 20000, /* calls of one method that are timed in a second */
	ONE_IN_MAX = 1 << 16,
};

static double limit = TIMED_MAX; /* of the agent's thread */

void heat_limit(double calls)
{
	limit = calls < TIMED_MAX ? calls : TIMED_MAX;
}

void heat_follow(struct hooked *h, const struct rule_entry *e, double rate)
{
	uint32_t one_in = 1;
	struct probe_how how;

	if (agent.options.steady || h->level != LEVEL_TIMED || e->rule->hook.one_in || e->watched ||
	    h->anchor)
		return;
	while (rate / one_in > limit && one_in < ONE_IN_MAX)
		one_in *= 2;
	/* back to a smaller N only when it is clearly too large */
	if (one_in == h->one_in || (one_in < h->one_in && one_in * 4 > h->one_in))
		return;
	h->one_in = one_in;
	how = (struct probe_how){ .one_in = one_in, .meter = e->rule->hook.metered };
	how.settle = true; /* no rule says that every call is to be timed */
	probe_method_set(h->id, &how);
}
