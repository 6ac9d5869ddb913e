/* SPDX-License-Identifier: Apache-2.0 */
/* climb_answer.c - from a tree of callers to one that is responsible.
 *
 * Going up along the callers that have most of the hot spot's time, libraries are passed by: they do
 * what they are told.  A function of the program that has nearly all of that time is it if others call
 * the same thing and hardly matter.  Where nobody else does, whoever makes the many calls is; and
 * where there are not many, the hot spot itself. */
#include "plan/walk/climb_answer.h"

#define CLEAR 0.75 /* of the hot spot's samples */
#define HALF 0.5
#define SAME 0.9    /* of the share of the one below: the same stacks go on */
#define OTHERS 0.02 /* they call it as well */
#define FEW 0.001   /* ... which is enough if it makes many calls itself */
enum { MANY_CALLS = 10, ABOVE = 2 };

/* The share of the hot spot's samples that have passed a function, on whatever way. */
static double share_of(const struct climb_spot *s, const struct caller *c)
{
	uint64_t sum = 0;

	for (struct climb_node *n = s->top; n; n = climb_tree_next(n, s->top))
		sum += n->method == c ? n->samples : 0;
	return s->top->samples ? (double)sum / (double)s->top->samples : 0;
}

static double rate(const struct caller *c)
{
	return c->seconds > 0 ? c->calls / c->seconds : 0;
}

/* By how often both are called, for its share of the time of what is below. */
static double fan_by_rates(const struct climb_node *n, const struct climb_node *below)
{
	double own = rate(n->method);

	return own > 0 && below->samples
		       ? rate(below->method) / own * (double)n->samples / (double)below->samples
		       : 0;
}

/* The nearest below that was hooked.  Native methods of Java cannot be, the C functions that they stand for can. */
static const struct climb_node *hooked_below(const struct climb_node *n)
{
	for (n = n->below; n && !(n->method->seconds > 0); n = n->below)
		if (!(n->method->flags & CALLER_NO_HOOK))
			return NULL;
	return n;
}

const struct climb_node *climb_answer_callee(const struct climb_node *n)
{
	if (!n->below || n->recursive || (n->link && n->link->caller_calls >= 1))
		return n->below;
	return hooked_below(n);
}

/* Of a recursion not every call leaves a frame that the next one could be counted below, so there
 * the rates of calls are compared; and so they are across the border between Java and native code. */
double climb_answer_fan(const struct climb_node *n)
{
	const struct climb_node *callee = climb_answer_callee(n);

	if (!callee)
		return 0;
	if (n->link && n->link->caller_calls >= 1 && !(n->recursive && rate(n->method) > 0))
		return n->link->paired_calls / n->link->caller_calls;
	return n->recursive || callee != n->below ? fan_by_rates(n, callee) : 0;
}

/* The caller that goes on with most of the time. */
static const struct climb_node *main_caller(const struct climb_spot *s, const struct climb_node *n)
{
	const struct climb_node *best = NULL;
	double most = 0, share;

	for (const struct climb_node *k = n->first; k; k = k->next) {
		share = share_of(s, k->method);
		if (k->samples && share > most)
			best = k, most = share;
	}
	return best;
}

static bool is_further_up(struct climb_node *k, const struct caller *c)
{
	for (struct climb_node *n = k; n; n = climb_tree_next(n, k))
		if (n->method == c)
			return true;
	return false;
}

/* Do others call the same as n does, and how much of it?  Those that n calls are no rivals. */
static double rivals(const struct climb_node *n)
{
	double calls = 0, samples = 0, other_calls = 0, other_samples = 0;

	for (struct climb_node *k = n->below->first; k; k = k->next) {
		double made = k->link ? k->link->calls : 0;

		samples += (double)k->samples;
		calls += made;
		if (is_further_up(k, n->method))
			continue;
		other_samples += (double)k->samples;
		other_calls += made;
	}
	samples = samples > 0 ? other_samples / samples : 0;
	calls = calls > 0 ? other_calls / calls : 0;
	return samples > calls ? samples : calls;
}

static bool is_program(const struct climb_node *n)
{
	return !(n->method->flags & (CALLER_LIBRARY | CALLER_FRAME));
}

/* The lowest of the program that has so much. */
static const struct climb_node *first_with(const struct climb_spot *s, double share)
{
	const struct climb_node *n = main_caller(s, s->top);

	while (n && (!is_program(n) || share_of(s, n->method) < share))
		n = main_caller(s, n);
	return n;
}

/* From a candidate upwards, as long as the same time goes on: one that has rivals, or the one that
 * makes the most calls; else the candidate itself. */
static const struct climb_node *choose(const struct climb_spot *s, const struct climb_node *first,
				       bool *has)
{
	const struct climb_node *busiest = NULL;
	double least = SAME * share_of(s, first->method), fan = MANY_CALLS;

	least = least < CLEAR ? least : CLEAR;
	for (const struct climb_node *n = first; n; n = main_caller(s, n)) {
		if (share_of(s, n->method) < least)
			break;
		if (!is_program(n) || !n->below)
			continue;
		*has = rivals(n) >= (climb_answer_fan(n) >= MANY_CALLS ? FEW : OTHERS);
		if (climb_answer_fan(n) >= fan) {
			busiest = n;
			fan = climb_answer_fan(n);
		}
		if (*has)
			return busiest ? busiest : n;
	}
	return busiest ? busiest : first;
}

/* Nobody has half of it: then it is nobody alone.  */
static bool is_divided(const struct climb_spot *s)
{
	return s->top->first && !first_with(s, HALF);
}

void climb_answer_find(const struct climb_spot *s, struct climb_verdict *out)
{
	const struct climb_node *n = is_program(s->top) ? s->top : first_with(s, CLEAR);
	bool has = false;

	*out = (struct climb_verdict){ .share = 1 };
	n = n ? n : first_with(s, HALF);
	n = n && !is_divided(s) ? choose(s, n, &has) : NULL;
	out->by_itself = n == s->top || (!s->top->first && is_program(s->top));
	out->node = out->by_itself ? s->top : n;
	if (!out->node)
		return;
	out->share = share_of(s, out->node->method);
	out->fan = climb_answer_fan(out->node);
	for (const struct climb_node *k = out->node; k; k = main_caller(s, k))
		out->outer = k;
	out->clear = has && out->share >= CLEAR && out->outer->depth >= out->node->depth + ABOVE;
}
