/* SPDX-License-Identifier: Apache-2.0 */
/* rules_explain.c - the same tests as match.c, over all rules, in sentences.
 *
 * match.c skips what the index rules out; here every rule is tested, because the question
 * is often why a rule does not do what its author meant. */
#include "rule/rules_explain.h"

#include <inttypes.h>

#include "base/plural.h"
#include "rule/match.h"
#include "rule/print.h"

struct explain {
	const struct rule_class *cls;
	const struct rule_method *method;
	struct rule_lineage room;
	const struct rule *decides; /* hook or skip, NULL: none */
	bool is_held;		    /* ... before one that was added later */
	const struct rule *skip;    /* the last one that applies, NULL: none */
	const uint32_t *numbers;    /* by index; NULL: positions from 1 */
	struct buf *out;
};

enum { ACC_NATIVE = 0x0100, ACC_ABSTRACT = 0x0400 };

static bool applies(struct explain *x, const struct rule_target *t)
{
	return rule_target_test(t, x->cls, x->method, &x->room).answer == TARGET_HIT;
}

/* "rule 2" by its position, "rule #7" by the number that it has in a program. */
static void say_number(struct explain *x, size_t index)
{
	if (x->numbers)
		buf_printf(x->out, "rule #%u", (unsigned)x->numbers[index]);
	else
		buf_printf(x->out, "rule %u", (unsigned)index + 1);
}

/* The number of a rule says when it was added.  One that stands behind a later one is held by a client
 * (agent/classes/rulebook.h). */
static bool is_held_before(const struct explain *x, const struct rule *by, const struct rule *rule)
{
	return x->numbers && by->index > rule->index &&
	       x->numbers[by->index] < x->numbers[rule->index];
}

static void say_later(struct explain *x, const struct rule *rule, const struct rule *by)
{
	buf_text(x->out, "    applies, but ");
	say_number(x, by->index);
	buf_text(x->out, is_held_before(x, by, rule)
				 ? " decides as long as the client is there that holds it.\n"
				 : " comes later and decides.\n");
}

static void say_method(struct explain *x)
{
	buf_dotted(x->out, x->cls->name);
	buf_text(x->out, "::");
	buf_put(x->out, x->method->name);
	signature_print(x->method->desc, x->out);
}

/* A test of ancestors may fail only because not all of them are known. */
static void say_unknown(struct explain *x)
{
	const struct rule_lineage *l = facts_lineage(x->cls, &x->room);

	for (size_t i = 0; i < l->n; i++) {
		if (!l->list[i].unknown || slice_is(l->list[i].name, "java/lang/Object"))
			continue;
		buf_text(x->out, " (but what ");
		buf_dotted(x->out, l->list[i].name);
		buf_text(x->out, " extends is not known)");
		return;
	}
	if (l->cut)
		buf_printf(x->out, " (but only %d ancestors were looked at)", LINEAGE_MAX);
}

static void say_kin(struct explain *x, const struct kin *k)
{
	static const char *const words[] = {
		[KIN_IMPLEMENTS] = "the class does not implement ",
		[KIN_EXTENDS] = "the class has no ancestor ",
		[KIN_ANNOTATED] = "neither the class nor the method is annotated ",
	};

	buf_text(x->out, words[k->kind]);
	buf_put(x->out, k->name.text);
	if (k->kind != KIN_ANNOTATED)
		say_unknown(x);
}

static void say_not_method(struct explain *x, const struct rule_target *t)
{
	struct slice name = x->method->name;

	buf_text(x->out, "the method is not named ");
	buf_put(x->out, t->method.text);
	if (name.n && name.p[0] == '<' && !t->method.exact) {
		buf_text(x->out, " (wildcards do not reach ");
		buf_put(x->out, name);
		buf_u8(x->out, ')');
	}
}

static void say_access(struct explain *x, const struct rule_target *t, uint16_t flag)
{
	for (const struct target_modifier *m = target_modifiers; m->word; m++)
		if (m->flag == flag)
			buf_printf(x->out, "the method is %s%s", t->access & flag ? "not " : "",
				   m->word);
}

/* Parameters as the rule has them. */
static void say_params(struct explain *x, const struct params *p)
{
	buf_text(x->out, "the parameters are not (");
	for (size_t i = 0; i < p->n; i++) {
		buf_text(x->out, i ? ", " : "");
		signature_print_type(&p->types[i], x->out);
	}
	buf_text(x->out, p->open ? p->n ? ", ..)" : "..)" : ")");
}

static void say_miss(struct explain *x, const struct rule_target *t)
{
	struct target_verdict v = rule_target_test(t, x->cls, x->method, &x->room);

	buf_text(x->out, "does not apply: ");
	switch (v.answer) {
	case TARGET_NOT_CLASS:
		buf_text(x->out, "the class is not named ");
		buf_put(x->out, t->class.text);
		break;
	case TARGET_NOT_KIN:
		say_kin(x, v.kin);
		break;
	case TARGET_NOT_METHOD:
		say_not_method(x, t);
		break;
	case TARGET_NOT_PARAMS:
		say_params(x, &t->params);
		break;
	case TARGET_NOT_RETURNS:
		buf_text(x->out, "the method does not return ");
		signature_print_type(&t->returns, x->out);
		break;
	case TARGET_NOT_ACCESS:
		say_access(x, t, v.flag);
		break;
	case TARGET_HIT:
	case TARGET_MAYBE:
		break;
	}
	buf_text(x->out, ".\n");
}

static void say_limits(struct explain *x, const struct rule_hook *h)
{
	if (h->context_count)
		buf_printf(x->out, "    It reports only inside %s.\n",
			   h->context_count == 1 ? "its sequence of callers"
						 : "one of its sequences of callers");
	if (h->across)
		buf_text(x->out,
			 "    It is there, too, in work that was given to another thread.\n");
	if (h->condition) {
		buf_text(x->out, "    It reports only if ");
		cond_print(h->condition, x->out);
		buf_text(x->out, ".\n");
	}
	if (h->for_ns) {
		buf_text(x->out, "    It leaves after ");
		rule_print_time(h->for_ns, true, x->out);
		buf_text(x->out, ".\n");
	}
	if (h->metered)
		buf_text(
			x->out,
			"    Timed calls also tell their processor time, why they had no processor, and "
			"allocated bytes.\n");
	if (h->good_ns) {
		buf_text(x->out, "    It leaves when no call was slow for ");
		rule_print_time(h->good_ns, true, x->out);
		buf_text(x->out, ".\n");
	}
	if (h->calls)
		buf_printf(x->out, "    It leaves after %" PRIu64 " call%s.\n", h->calls,
			   plural(h->calls));
}

static void say_decision(struct explain *x, const struct rule *rule)
{
	if (!applies(x, &rule->target)) {
		buf_text(x->out, "    ");
		say_miss(x, &rule->target);
	} else if (rule != x->decides) {
		say_later(x, rule, x->decides);
	} else {
		buf_text(x->out, x->is_held ? "    applies and decides: a client holds it.\n"
					    : "    applies and decides: it is the last that "
					      "applies.\n");
		if (rule->kind == RULE_HOOK)
			say_limits(x, &rule->hook);
	}
}

/* A skip takes away what the rules before it want of a method. */
static bool is_skipped(struct explain *x, const struct rule *rule)
{
	if (!x->skip || rule->index > x->skip->index)
		return false;
	buf_text(x->out, ", but ");
	say_number(x, x->skip->index);
	buf_text(x->out, is_held_before(x, x->skip, rule)
				 ? " is held by a client and leaves the method alone"
				 : " comes later and leaves the method alone");
	return true;
}

static void say_anchors(struct explain *x, const struct rule *rule)
{
	for (size_t c = 0; c < rule->hook.context_count; c++) {
		const struct context *context = &rule->hook.contexts[c];

		for (size_t i = 0; i < context->n; i++) {
			if (!applies(x, &context->steps[i].target))
				continue;
			buf_printf(x->out, "    The method is caller %zu of %zu in its sequence",
				   i + 1, context->n);
			if (!is_skipped(x, rule))
				buf_text(x->out, ", so it gets an anchor");
			buf_text(x->out, ".\n");
		}
	}
}

static void say_capture(struct explain *x, const struct rule *rule)
{
	buf_text(x->out, "    ");
	if (!applies(x, &rule->target)) {
		say_miss(x, &rule->target);
		return;
	}
	buf_text(x->out, "captures $");
	buf_put(x->out, rule->capture.name);
	buf_text(x->out, " here");
	is_skipped(x, rule);
	buf_text(x->out, ".\n");
}

static void say_place(struct explain *x, const struct rule *rule, const struct rule *by)
{
	struct target_verdict v = rule_target_test(&rule->target, x->cls, NULL, &x->room);

	if (rule == by)
		buf_text(x->out, "    decides where the class is woven.\n");
	else if (v.answer == TARGET_HIT)
		say_later(x, rule, by);
	else if (v.answer == TARGET_MAYBE)
		buf_text(x->out, "    does not apply: the class itself is not annotated so.\n");
	else {
		buf_text(x->out, "    ");
		say_miss(x, &rule->target);
	}
}

static void say_rule(struct explain *x, const struct rule *rule, const struct rule *place)
{
	say_number(x, rule->index);
	buf_printf(x->out, ", %s:%u: ", rule->source->origin, rule->at.line);
	rule_print(rule, x->out);
	switch (rule->kind) {
	case RULE_HOOK:
		say_decision(x, rule);
		say_anchors(x, rule);
		break;
	case RULE_SKIP:
		say_decision(x, rule);
		break;
	case RULE_CAPTURE:
		say_capture(x, rule);
		break;
	case RULE_PLACE:
		say_place(x, rule, place);
		break;
	case RULE_TEMPLATE:
		break; /* not shown */
	}
}

static void decide(struct explain *x, const struct rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = rules->all[i];

		if ((rule->kind != RULE_HOOK && rule->kind != RULE_SKIP) ||
		    !applies(x, &rule->target))
			continue;
		x->decides = rule;
		if (rule->kind == RULE_SKIP)
			x->skip = rule;
	}
	for (size_t i = 0; x->decides && i < x->decides->index; i++)
		x->is_held |= is_held_before(x, x->decides, rules->all[i]) &&
			      rules->all[i]->kind <= RULE_SKIP &&
			      applies(x, &rules->all[i]->target);
}

static void say_answer(struct explain *x)
{
	const struct rule *by = x->decides;

	say_method(x);
	if (!by) {
		buf_text(x->out, " is not hooked: no rule applies.\n");
	} else if (by->kind == RULE_SKIP) {
		buf_text(x->out, " is not hooked: ");
		say_number(x, by->index);
		buf_text(x->out, " leaves it alone.\n");
	} else {
		buf_text(x->out, " is hooked by ");
		say_number(x, by->index);
		buf_printf(x->out, ", %s", rule_level_text(by->hook.level));
		if (by->hook.one_in)
			buf_printf(x->out, " 1/%u", by->hook.one_in);
		buf_text(x->out, ".\n");
	}
	if (x->method->access & (ACC_ABSTRACT | ACC_NATIVE))
		buf_printf(x->out, "It is %s and has no byte code: nothing can be woven into it.\n",
			   x->method->access & ACC_ABSTRACT ? "abstract" : "native");
}

void rules_explain(const struct rules *rules, const uint32_t *numbers, const struct rule_class *cls,
		   const struct rule_method *method, struct buf *out)
{
	struct explain x = { .cls = cls, .method = method, .numbers = numbers, .out = out };
	const struct rule *place;
	enum rule_place where = rules_match_place(rules, cls, &place);

	decide(&x, rules);
	say_answer(&x);
	for (size_t i = 0; i < rules->n; i++)
		if (rules->all[i]->kind != RULE_TEMPLATE)
			say_rule(&x, rules->all[i], place);
	buf_printf(out, "The class is woven %s",
		   where == PLACE_AHEAD	 ? "ahead of time"
		   : where == PLACE_LOAD ? "at load"
					 : "live");
	if (place) {
		buf_text(out, ", by ");
		say_number(&x, place->index);
		buf_text(out, ".\n");
	} else {
		buf_text(out, ": no rule says otherwise.\n");
	}
}
