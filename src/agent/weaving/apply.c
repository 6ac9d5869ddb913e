/* SPDX-License-Identifier: Apache-2.0 */
/* apply.c - levels, gates, contexts of one method, under agent.lock; the JVM is informed afterwards. */
#include "agent/weaving/apply.h"

#include "agent/classes/rulebook.h"
#include "agent/core/agent.h"
#include "agent/core/gates.h"
#include "agent/core/reading.h"
#include "agent/natives/data.h"
#include "agent/natives/usage.h"
#include "agent/natives/natives.h"
#include "probe/probe.h"
#include "probe/trace.h"

static uint64_t calls_of(const struct hooked *h)
{
	struct probe_figures f;

	reading_method(h->id, &f, NULL);
	return f.calls;
}

/* A hook that serves others, too, knows more than this rule may want reported. */
static enum natives_tell tell_of(const struct hooked *h, const struct rule_hook *hook)
{
	if (!h->class->whole || hook->condition || hook->template_rule)
		return CALLS_TELL_ALL;
	if (slice_is(hook->template, "arguments") && hook->level != LEVEL_LIGHT)
		return CALLS_TELL_ARGUMENTS;
	if (hook->template.n || hook->level == LEVEL_FULL)
		return CALLS_TELL_ALL;
	return hook->level == LEVEL_LIGHT ? CALLS_TELL_CALLS : CALLS_TELL_TIMES;
}

static void set_level(struct hooked *h, const struct edition_rule *er, const struct rule_hook *hook)
{
	uint32_t one_in = hook->one_in ? hook->one_in : 1;
	struct probe_how how = { .one_in = hook->level == LEVEL_LIGHT ? 0 : one_in,
				 .data = er->watched,
				 .meter = hook->metered,
				 .settle = hook->one_in != 1,
				 .at_least = er->at_least };

	if (h->rule != er->number)
		h->before = h->rule ? calls_of(h) : 0;
	h->rule = er->number;
	h->held = er->held;
	h->level = (uint8_t)hook->level;
	h->one_in = one_in;
	if (hook->metered)
		usage_start();
	natives_tell(h->id, tell_of(h, hook));
	probe_method_set(h->id, &how);
	probe_trace_root(h->id, er->root);
}

void apply_set(struct hooked *h, const struct context_how *how)
{
	static const struct rule_hook capture = { .level = LEVEL_LIGHT };
	const struct rule *rule = how->rule;

	if (rule) {
		set_level(h, &how->edition->by_index[rule->index],
			  rule->kind == RULE_HOOK ? &rule->hook : &capture);
	} else {
		h->rule = 0;
		h->level = LEVEL_TIMED;
		h->one_in = 1;
		natives_tell(h->id, CALLS_TELL_ALL);
		probe_method_set(h->id, &(struct probe_how){ .one_in = 1 });
	}
	h->anchor = how->n_anchors != 0;
	callers_set(h, how);
}

static bool is_of_platform(struct slice class)
{
	return slice_starts(class, slice_str("java/")) || slice_starts(class, slice_str("jdk/")) ||
	       slice_starts(class, slice_str("sun/"));
}

const struct cond *apply_condition(const struct rule *rule)
{
	return rule && rule->kind == RULE_HOOK ? rule->hook.condition : NULL;
}

/* Must C be asked before the condition is looked at?  It knows whether the call is inside what the
 * rule names.  And only it knows whether the probe itself runs just now: code of the program that a
 * condition calls, or code of the JDK that it needs, would come back here for ever. */
static bool asks(const struct rule *rule, struct slice class)
{
	const struct cond *c = apply_condition(rule);

	return c && (rule->hook.context_count || cond_calls(c) || is_of_platform(class));
}

static bool is_catch_all(const struct rule *rule)
{
	return rule->hook.level == LEVEL_FULL && slice_is(rule->hook.template, "catch-all");
}

enum apply_code apply_code(const struct rule *rule, bool whole)
{
	if (!rule)
		return CODE_PLAIN;
	if (rule->kind != RULE_HOOK || rule->hook.template_rule || rule->hook.condition ||
	    rule->captures)
		return CODE_OWN;
	if (rule->hook.level >= LEVEL_TIMED && slice_is(rule->hook.template, "arguments"))
		return CODE_ARGUMENTS;
	if (rule->hook.template.n)
		return whole && is_catch_all(rule) ? CODE_FULL : CODE_OWN;
	if (rule->hook.level == LEVEL_TIMED)
		return CODE_PLAIN;
	if (!whole)
		return CODE_OWN;
	return rule->hook.level == LEVEL_FULL ? CODE_KIND : CODE_PLAIN;
}

bool apply_serves(enum apply_code has, enum apply_code wanted)
{
	switch (wanted) {
	case CODE_PLAIN:
		return has != CODE_OWN;
	case CODE_ARGUMENTS:
		return has == CODE_ARGUMENTS || has == CODE_FULL;
	case CODE_FULL:
		return has == CODE_FULL;
	case CODE_KIND: /* all other methods are of none */
		return has == CODE_FULL || has == CODE_KIND;
	default:
		return false;
	}
}

/* What this thread has yet to tell the JVM, beside gates. */
static __thread bool guard_wanted;

void apply_tell(JNIEnv *jni)
{
	if (guard_wanted)
		data_guard(jni);
	guard_wanted = false;
	gates_tell(jni);
}

static bool is_in_force(const struct edition *e, uint32_t number)
{
	for (size_t i = 0; i < e->rules->n; i++)
		if (e->by_index[i].number == number)
			return true;
	return false;
}

/* Is it observed already, so that its figures go on?  Those of an unloaded class do when the rule
 * under which they were taken is still there. */
static bool goes_on(const struct hooked *h, const struct context_how *how)
{
	if (h->earlier)
		return h->rule ? is_in_force(how->edition, h->rule) : h->anchor && !how->rule;
	return woven_is_in(h) && !(how->rule && !h->rule);
}

void apply_open(struct hooked *h, const struct context_how *how)
{
	const struct rule *rule = how->rule;
	struct slice class = slice_str(h->class->name);
	bool captures = rule && rule->kind == RULE_CAPTURE;

	if (!goes_on(h, how)) {
		h->since = tick_now();
		h->calls = 0;
		if (h->original || h->earlier) /* hooked again: its figures begin anew */
			reading_reset(h->id);
	}
	h->earlier = false;
	h->bound = apply_condition(rule) || captures;
	apply_set(h, how);
	if ((apply_condition(rule) || (captures && !data_is_hop(rule->capture.name))) &&
	    is_of_platform(class))
		guard_wanted = true;
	gates_open(h->id, asks(rule, class),
		   !how->n_anchors && rule && rule->kind == RULE_HOOK && rule->hook.context_count);
}
