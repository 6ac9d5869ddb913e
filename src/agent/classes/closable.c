/* SPDX-License-Identifier: Apache-2.0 */
/* closable.c - hooks with a condition or a sequence are open for some calls only, and left alone. */
#include "agent/classes/closable.h"

#include "agent/core/gates.h"

bool closable_now(const struct hooked *h, const struct rule_entry *e)
{
	return h && e && e->rule->kind == RULE_HOOK && !h->anchor && !e->watched && !e->root &&
	       !e->rule->hook.condition && !e->rule->hook.context_count && !e->rule->hook.calls &&
	       !e->rule->hook.good_ns && gates_of(h->id) == GATE_OPEN;
}
