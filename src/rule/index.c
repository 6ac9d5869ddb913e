/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - a hash table from the fixed beginnings of class patterns to targets.
 *
 * The beginning is cut at a package border: com.shop.Ca* is filed under com/shop/, an exact
 * name under itself, **.Cart and `implements X` under nothing.  So a class is looked up
 * under each of its packages and under its name: a handful of look-ups, however many rules
 * there are. */
#include "rule/index.h"

#include "base/map.h"

struct rule_index_slot {
	struct slice key;
	uint64_t hash;
	struct rule_index_entry *entries; /* NULL: free */
};

struct rule_index {
	size_t mask;
	size_t longest_key;
	struct rule_index_slot slots[];
};

/* The slot of the key, or the free one where it would be. */
static struct rule_index_slot *slot_of(struct rule_index *x, struct slice key)
{
	uint64_t hash = hash_bytes(key.p, key.n);
	size_t i = hash & x->mask;
	struct rule_index_slot *s;

	for (;; i = (i + 1) & x->mask) {
		s = &x->slots[i];
		if (!s->entries || (s->hash == hash && slice_eq(s->key, key)))
			return s;
	}
}

static int file_target(struct rules *rules, struct rule_index *x, struct rule_index_entry entry)
{
	struct slice key = { (const uint8_t *)"", 0 };
	struct rule_index_slot *s;
	struct rule_index_entry *e = arena_copy(rules->mem, &entry, sizeof(entry));

	if (!e)
		return E_NO_MEMORY;
	if (!entry.target->any_class)
		key = pattern_key(&entry.target->class);
	s = slot_of(x, key);
	if (!s->entries) {
		s->key = key;
		s->hash = hash_bytes(key.p, key.n);
	}
	e->next = s->entries;
	s->entries = e;
	if (key.n > x->longest_key)
		x->longest_key = key.n;
	return 0;
}

static int file_anchors(struct rules *rules, struct rule_index *x, const struct rule *rule)
{
	int rc = 0;

	for (size_t c = 0; c < rule->hook.context_count && rc == 0; c++)
		for (size_t i = 0; i < rule->hook.contexts[c].n && rc == 0; i++)
			rc = file_target(rules, x,
					 (struct rule_index_entry){
						 .rule = rule,
						 .target = &rule->hook.contexts[c].steps[i].target,
						 .role = ROLE_ANCHOR,
						 .context = (uint16_t)c,
						 .step = (uint16_t)i });
	return rc;
}

static int file_rule(struct rules *rules, struct rule_index *x, const struct rule *rule)
{
	static const enum index_role roles[] = { [RULE_HOOK] = ROLE_HOOK,
						 [RULE_SKIP] = ROLE_SKIP,
						 [RULE_CAPTURE] = ROLE_CAPTURE,
						 [RULE_PLACE] = ROLE_PLACE };
	struct rule_index_entry entry = { .rule = rule, .target = &rule->target };
	int rc;

	if (rule->kind == RULE_TEMPLATE)
		return 0;
	entry.role = roles[rule->kind];
	rc = file_target(rules, x, entry);
	return rc == 0 && rule->kind == RULE_HOOK ? file_anchors(rules, x, rule) : rc;
}

static size_t count_targets(const struct rules *rules)
{
	size_t n = rules->n;

	for (size_t i = 0; i < rules->n; i++)
		if (rules->all[i]->kind == RULE_HOOK)
			for (size_t c = 0; c < rules->all[i]->hook.context_count; c++)
				n += rules->all[i]->hook.contexts[c].n;
	return n;
}

int rule_index_build(struct rules *rules)
{
	size_t cap = 16, targets = count_targets(rules);
	struct rule_index *x;

	while (cap < 2 * targets)
		cap *= 2;
	x = arena_zero(rules->mem, sizeof(*x) + cap * sizeof(x->slots[0]));
	if (!x)
		return E_NO_MEMORY;
	x->mask = cap - 1;
	for (size_t i = 0; i < rules->n; i++) {
		int rc = file_rule(rules, x, rules->all[i]);

		if (rc < 0)
			return rc;
	}
	rules->index = x;
	return 0;
}

struct rule_index_walk rule_index_walk(const struct rules *rules, struct slice name)
{
	return (struct rule_index_walk){ .index = rules->index, .name = name };
}

/* The next longer beginning that ends with a slash, and at last the whole name. */
static void lengthen(struct rule_index_walk *w)
{
	size_t n = w->length;

	if (n >= w->name.n || n >= w->index->longest_key) {
		w->done = true;
		return;
	}
	do
		n++;
	while (n < w->name.n && w->name.p[n - 1] != '/');
	w->length = n;
}

const struct rule_index_entry *rule_index_next(struct rule_index_walk *w)
{
	const struct rule_index_entry *e;

	while (!w->at && !w->done) {
		w->at = slot_of(w->index, (struct slice){ w->name.p, w->length })->entries;
		lengthen(w);
	}
	e = w->at;
	if (e)
		w->at = e->next;
	return e;
}
