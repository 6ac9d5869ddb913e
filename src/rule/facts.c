/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - collects the ancestors of a class, breadth first.
 *
 * The list is its own queue: every name is put in once and then asked about once, so circles
 * end by themselves and the work is bounded by LINEAGE_MAX. */
#include "rule/facts.h"

static void add(struct rule_lineage *l, struct slice name, bool interface)
{
	if (!name.n)
		return;
	for (size_t i = 0; i < l->n; i++) {
		if (slice_eq(l->list[i].name, name)) {
			l->list[i].interface |= interface;
			return;
		}
	}
	if (l->n == LINEAGE_MAX) {
		l->cut = true;
		return;
	}
	l->list[l->n++] = (struct rule_ancestor){ name, interface, false };
}

static void add_parents(struct rule_lineage *l, const struct rule_class *cls)
{
	add(l, cls->super, false);
	for (size_t i = 0; i < cls->interface_count; i++)
		add(l, cls->interfaces[i], true);
}

const struct rule_lineage *facts_lineage(const struct rule_class *cls, struct rule_lineage *room)
{
	const struct rule_resolver *r = cls->resolver;
	struct rule_lineage *l = cls->lineage ? cls->lineage : room;

	if (l->ready)
		return l;
	l->n = 0;
	l->cut = false;
	add_parents(l, cls);
	for (size_t i = 0; i < l->n; i++) {
		struct rule_class parent = { 0 };

		if (r && r->find && r->find(r->ctx, l->list[i].name, &parent))
			add_parents(l, &parent);
		else
			l->list[i].unknown = true;
	}
	l->ready = true;
	return l;
}
