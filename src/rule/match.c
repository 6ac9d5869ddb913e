/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - decides by the index: visit the possible targets, keep the latest that holds.
 *
 * The room for ancestors is on the stack; it is filled only when a rule asks for them. */
#include "rule/match.h"

#include "rule/index.h"
#include "rule/print.h"

static enum target_answer test(const struct rule_index_entry *e, const struct rule_class *cls,
			       const struct rule_method *method, struct rule_lineage *room)
{
	return rule_target_test(e->target, cls, method, room).answer;
}

/* Does a skip with this target leave no method of the class? */
static bool takes_whole_class(const struct rule_target *t)
{
	return t->any_method && !t->has_returns && !t->access && !t->access_not;
}

bool rules_class_may_match(const struct rules *rules, const struct rule_class *cls)
{
	struct rule_index_walk walk = rule_index_walk(rules, cls->name);
	const struct rule_index_entry *e;
	struct rule_lineage room;
	int64_t wanted = -1, skipped = -1; /* the latest rule of each kind */

	room.ready = false;
	while ((e = rule_index_next(&walk))) {
		int64_t index = e->rule->index;
		enum target_answer a;

		if (e->role == ROLE_PLACE || index <= (e->role == ROLE_SKIP ? skipped : wanted))
			continue;
		if (e->role == ROLE_SKIP && !takes_whole_class(e->target))
			continue;
		a = test(e, cls, NULL, &room);
		if (e->role == ROLE_SKIP && a == TARGET_HIT)
			skipped = index;
		else if (e->role != ROLE_SKIP && a <= TARGET_MAYBE)
			wanted = index;
	}
	return wanted > skipped;
}

const struct rule *rules_match_method(const struct rules *rules, const struct rule_class *cls,
				      const struct rule_method *method)
{
	struct rule_index_walk walk = rule_index_walk(rules, cls->name);
	const struct rule *best = NULL;
	const struct rule_index_entry *e;
	struct rule_lineage room;

	room.ready = false;
	while ((e = rule_index_next(&walk))) {
		if (e->role != ROLE_HOOK && e->role != ROLE_SKIP)
			continue;
		if (best && e->rule->index < best->index)
			continue;
		if (test(e, cls, method, &room) == TARGET_HIT)
			best = e->rule;
	}
	return best && best->kind == RULE_HOOK ? best : NULL;
}

/* Into the sorted list, the last rule first. */
static void choose(struct rule_choice *c, const struct rule *rule, bool sure)
{
	size_t i = c->n;

	if (c->n == RULE_CHOICE_MAX) {
		c->cut = true;
		return;
	}
	for (; i && c->v[i - 1].rule->index < rule->index; i--)
		c->v[i] = c->v[i - 1];
	c->v[i].rule = rule;
	c->v[i].sure = sure;
	c->n++;
}

void rules_choose(const struct rules *rules, const struct rule_class *cls, struct rule_choice *out)
{
	struct rule_index_walk walk = rule_index_walk(rules, cls->name);
	const struct rule_index_entry *e;
	struct rule_lineage room;

	room.ready = false;
	out->rules = rules;
	out->cls = cls;
	out->n = 0;
	out->cut = false;
	while ((e = rule_index_next(&walk)) && !out->cut) {
		enum target_answer a;

		if (e->role != ROLE_HOOK && e->role != ROLE_SKIP)
			continue;
		a = test(e, cls, NULL, &room);
		if (a <= TARGET_MAYBE)
			choose(out, e->rule, a == TARGET_HIT);
	}
}

const struct rule *rules_match_chosen(const struct rule_choice *c, const struct rule_method *method)
{
	struct rule_lineage room;

	if (c->cut)
		return rules_match_method(c->rules, c->cls, method);
	room.ready = false;
	for (size_t i = 0; i < c->n; i++) {
		const struct rule *rule = c->v[i].rule;
		struct target_verdict v =
			c->v[i].sure ? rule_target_test_method(&rule->target, method)
				     : rule_target_test(&rule->target, c->cls, method, &room);

		if (v.answer == TARGET_HIT)
			return rule->kind == RULE_HOOK ? rule : NULL;
	}
	return NULL;
}

static bool comes_before(struct rule_anchor a, struct rule_anchor b)
{
	if (a.rule != b.rule)
		return a.rule->index < b.rule->index;
	return a.context != b.context ? a.context < b.context : a.step < b.step;
}

/* Insertion into a short sorted list; what does not fit falls off its end. */
static void insert(struct rule_anchor *out, size_t cap, size_t n, struct rule_anchor a)
{
	size_t i = n < cap ? n : cap;

	for (; i > 0 && comes_before(a, out[i - 1]); i--)
		if (i < cap)
			out[i] = out[i - 1];
	if (i < cap)
		out[i] = a;
}

static int64_t last_skip(const struct rules *rules, const struct rule_class *cls,
			 const struct rule_method *method, struct rule_lineage *room)
{
	struct rule_index_walk walk = rule_index_walk(rules, cls->name);
	const struct rule_index_entry *e;
	int64_t last = -1;

	while ((e = rule_index_next(&walk)))
		if (e->role == ROLE_SKIP && e->rule->index > last &&
		    test(e, cls, method, room) == TARGET_HIT)
			last = e->rule->index;
	return last;
}

size_t rules_match_anchors(const struct rules *rules, const struct rule_class *cls,
			   const struct rule_method *method, struct rule_anchor *out, size_t cap)
{
	struct rule_index_walk walk = rule_index_walk(rules, cls->name);
	const struct rule_index_entry *e;
	struct rule_lineage room;
	int64_t skipped;
	size_t n = 0;

	room.ready = false;
	skipped = last_skip(rules, cls, method, &room);
	while ((e = rule_index_next(&walk))) {
		if ((e->role != ROLE_ANCHOR && e->role != ROLE_CAPTURE) || e->rule->index < skipped)
			continue;
		if (test(e, cls, method, &room) != TARGET_HIT)
			continue;
		insert(out, cap, n, (struct rule_anchor){ e->rule, e->context, e->step });
		n++;
	}
	return n;
}

enum rule_place rules_match_place(const struct rules *rules, const struct rule_class *cls,
				  const struct rule **by)
{
	struct rule_index_walk walk = rule_index_walk(rules, cls->name);
	const struct rule *best = NULL;
	const struct rule_index_entry *e;
	struct rule_lineage room;

	room.ready = false;
	while ((e = rule_index_next(&walk)))
		if (e->role == ROLE_PLACE && (!best || e->rule->index > best->index) &&
		    test(e, cls, NULL, &room) == TARGET_HIT)
			best = e->rule;
	if (by)
		*by = best;
	return best ? best->place : PLACE_LOAD;
}

/* Can the rule, as a hook, skip, capture or by a step of its sequences, touch the class? */
static bool touches(const struct rule *rule, const struct rule_class *cls,
		    struct rule_lineage *room)
{
	if (rule->kind == RULE_TEMPLATE || rule->kind == RULE_PLACE)
		return false;
	if (rule_target_test(&rule->target, cls, NULL, room).answer <= TARGET_MAYBE)
		return true;
	if (rule->kind != RULE_HOOK)
		return false;
	for (size_t c = 0; c < rule->hook.context_count; c++)
		for (size_t i = 0; i < rule->hook.contexts[c].n; i++)
			if (rule_target_test(&rule->hook.contexts[c].steps[i].target, cls, NULL,
					     room)
				    .answer <= TARGET_MAYBE)
				return true;
	return false;
}

size_t rules_touching(const struct rules *rules, const struct rule_class *cls,
		      const struct rule **out)
{
	struct rule_lineage room;
	size_t n = 0;

	room.ready = false;
	for (size_t i = 0; i < rules->n; i++)
		if (!rules->all[i]->repeated && touches(rules->all[i], cls, &room))
			out[n++] = rules->all[i];
	return n;
}

static void print_captures(const struct rule *rule, struct buf *out)
{
	for (const struct rule_use *use = rule->captures; use; use = use->next)
		for (const struct rule *c = use->capture; c; c = c->capture.also)
			rule_print(c, out);
}

static void print_rule(const struct rule *rule, bool weave, struct buf *out)
{
	if (weave)
		rule_print_weave(rule, out);
	else
		rule_print(rule, out);
	if (rule->kind != RULE_HOOK)
		return;
	if (rule->hook.template_rule)
		rule_print(rule->hook.template_rule, out);
	print_captures(rule, out);
}

static void print_touching(const struct rules *rules, const struct rule_class *cls, bool weave,
			   struct buf *out)
{
	struct rule_lineage room;

	room.ready = false;
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = rules->all[i];

		if (!(weave && rule->repeated) && touches(rule, cls, &room))
			print_rule(rule, weave, out);
	}
}

void rules_digest_text(const struct rules *rules, const struct rule_class *cls, struct buf *out)
{
	print_touching(rules, cls, false, out);
}

void rules_weave_text(const struct rules *rules, const struct rule_class *cls, struct buf *out)
{
	print_touching(rules, cls, true, out);
}

void rules_touching_text(const struct rule *const *touching, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		print_rule(touching[i], true, out);
}
