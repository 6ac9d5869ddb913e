/* SPDX-License-Identifier: Apache-2.0 */
/* callers.c - from rules with `inside` to what src/probe wants to know of each method.
 *
 * A step's number is the number of its rule, which is never given twice, and its place in it.  Of a
 * method the probe learns which steps it is, which steps it matters to be called by directly, and
 * the shapes of the sequences it is reported in. */
#include "agent/natives/callers.h"

#include "agent/core/agent.h"
#include "base/mem.h"
#include "probe/probe.h"

_Static_assert((int)CONTEXT_MAX <= (int)PROBE_SEQUENCES &&
		       (int)CONTEXT_STEPS_MAX <= (int)PROBE_STEPS,
	       "what a rule can say, the probe can decide");

static struct { /* numbers of the rules that are decided by the stack; guarded by agent.lock */
	uint32_t *numbers;
	size_t n, cap;
} by_stack;

static uint32_t step_number(const struct edition *e, const struct rule *rule, size_t context,
			    size_t step)
{
	return e->by_index[rule->index].number << 8 | (uint32_t)context << 4 | (uint32_t)step;
}

static bool is_by_stack(uint32_t rule)
{
	for (size_t i = 0; i < by_stack.n; i++)
		if (by_stack.numbers[i] == rule)
			return true;
	return false;
}

bool callers_is_by_stack(uint32_t rule)
{
	bool is;

	pthread_mutex_lock(&agent.lock);
	is = is_by_stack(rule);
	pthread_mutex_unlock(&agent.lock);
	return is;
}

static const struct rule_hook *hook_of(const struct context_how *how)
{
	return how->rule && how->rule->kind == RULE_HOOK ? &how->rule->hook : NULL;
}

static void add_sequences(const struct context_how *how, struct probe_sequence *to,
			  struct probe_context *c)
{
	const struct rule_hook *hook = &how->rule->hook;

	for (size_t k = 0; k < hook->context_count; k++) {
		const struct context *from = &hook->contexts[k];
		uint16_t direct = 0;

		for (size_t i = 0; i < from->n; i++)
			direct |= (uint16_t)((from->steps[i].direct ? 1u : 0u) << i);
		to[k] = (struct probe_sequence){ step_number(how->edition, how->rule, k, 0),
						 (uint16_t)from->n, direct, hook->across };
	}
	c->sequences = to;
	c->n_sequences = hook->context_count;
	c->by_stack = is_by_stack(how->edition->by_index[how->rule->index].number);
}

/* Steps that come right before this method in some sequence, and want to call it themselves. */
static size_t add_callers(const struct context_how *how, uint32_t *to)
{
	const struct rule_hook *hook = hook_of(how);
	size_t n = 0;

	for (size_t k = 0; hook && k < hook->context_count; k++) {
		size_t last = hook->contexts[k].n - 1;

		if (hook->contexts[k].steps[last].direct)
			to[n++] = step_number(how->edition, how->rule, k, last);
	}
	for (size_t i = 0; i < how->n_anchors; i++) {
		const struct rule_anchor *a = &how->anchors[i];

		if (a->step > 0 && a->rule->hook.contexts[a->context].steps[a->step - 1].direct)
			to[n++] = step_number(how->edition, a->rule, a->context, a->step - 1u);
	}
	return n;
}

void callers_set(struct hooked *h, const struct context_how *how)
{
	struct probe_sequence sequences[CONTEXT_MAX];
	struct probe_context c = { .n_steps = how->n_anchors };
	const struct rule_hook *hook = hook_of(how);
	uint32_t *steps = NULL, *callers;

	if (!how->n_anchors && (!hook || !hook->context_count)) {
		probe_method_context(h->id, NULL);
		return;
	}
	steps = mem_alloc((2 * how->n_anchors + CONTEXT_MAX) * sizeof(*steps));
	if (!steps)
		goto failed;
	callers = steps + how->n_anchors;
	for (size_t i = 0; i < how->n_anchors; i++) {
		steps[i] = step_number(how->edition, how->anchors[i].rule, how->anchors[i].context,
				       how->anchors[i].step);
		c.outermost |= how->anchors[i].step == 0;
	}
	c.steps = steps;
	c.callers = callers;
	c.n_callers = add_callers(how, callers);
	if (hook)
		add_sequences(how, sequences, &c);
	if (probe_method_context(h->id, &c) >= 0)
		goto done;
failed:
	agent_note("%s.%s: no room for its sequences of callers", h->class->name, h->name);
done:
	mem_free(steps);
}

/* ---- what cannot be woven ----------------------------------------------------------------- */

/* Patterns mean what can be woven; who names one method means that one. */
static bool names_one(const struct rule_target *t)
{
	return !t->any_class && t->class.exact && !t->any_method && t->method.exact;
}

static void decide_by_stack(uint32_t rule)
{
	if (is_by_stack(rule))
		return;
	if (by_stack.n == by_stack.cap) {
		size_t cap = by_stack.cap ? 2 * by_stack.cap : 16;
		uint32_t *p = mem_realloc(by_stack.numbers, cap * sizeof(*p));

		if (!p)
			return;
		by_stack.numbers = p;
		by_stack.cap = cap;
	}
	by_stack.numbers[by_stack.n++] = rule;
	probe_inside_hold(); /* what cannot be woven is not counted */
	for (const struct woven *w = woven_first(); w; w = w->all)
		for (const struct hooked *h = w->methods; h; h = h->next)
			if (h->rule == rule)
				probe_method_by_stack(h->id);
}

void callers_unplaced(const struct edition *e, const struct rule_anchor *a)
{
	if (names_one(&a->rule->hook.contexts[a->context].steps[a->step].target))
		decide_by_stack(e->by_index[a->rule->index].number);
}

static bool has_step_in(const struct rule_hook *hook, const struct rule_class *facts)
{
	struct rule_lineage room;

	room.ready = false;
	for (size_t c = 0; c < hook->context_count; c++)
		for (size_t i = 0; i < hook->contexts[c].n; i++) {
			const struct rule_target *t = &hook->contexts[c].steps[i].target;

			if (names_one(t) &&
			    rule_target_test(t, facts, NULL, &room).answer <= TARGET_MAYBE)
				return true;
		}
	return false;
}

void callers_unplaced_class(const struct edition *e, const struct rule_class *facts)
{
	for (size_t i = 0; i < e->rules->n; i++) {
		const struct rule *rule = e->rules->all[i];

		if (rule->kind != RULE_HOOK || !has_step_in(&rule->hook, facts))
			continue;
		pthread_mutex_lock(&agent.lock);
		decide_by_stack(e->by_index[i].number);
		pthread_mutex_unlock(&agent.lock);
	}
}
