/* SPDX-License-Identifier: Apache-2.0 */
/* native_rule.c - the name of the class decides: no class of Java is called libz.so.1. */
#include "rule/native_rule.h"

#include "rule/print.h"

static bool is_end_of_so(struct slice rest)
{
	return !rest.n || rest.p[0] == '.' || rest.p[0] == '*' || rest.p[0] == '?';
}

bool native_rule_is_library(struct slice class)
{
	static const char more[] = "abcdefghijklmnopqrstuvwxyz0123456789_-+*?";

	if (class.n < 4 || !slice_starts(class, slice_str("lib")))
		return false;
	for (size_t i = 3; i + 3 <= class.n; i++)
		if (memcmp(class.p + i, ".so", 3) == 0 &&
		    is_end_of_so((struct slice){ class.p + i + 3, class.n - i - 3 }))
			return true;
	for (size_t i = 3; i < class.n; i++)
		if (!memchr(more, class.p[i], sizeof(more) - 1))
			return false;
	return true;
}

static bool is_native(const struct rule_target *t)
{
	return !t->any_class && native_rule_is_library(t->class.text);
}

bool native_rule_is(const struct rule *r)
{
	return r->kind != RULE_TEMPLATE && is_native(&r->target);
}

const struct rule_target *native_rule_caller(const struct rule *r)
{
	if (r->kind != RULE_HOOK || native_rule_is(r))
		return NULL;
	for (size_t i = 0; i < r->hook.context_count; i++)
		for (size_t k = 0; k < r->hook.contexts[i].n; k++)
			if (is_native(&r->hook.contexts[i].steps[k].target))
				return &r->hook.contexts[i].steps[k].target;
	return NULL;
}

static const char *wrong_target(const struct rule_target *t)
{
	if (t->kin_count)
		return "ancestors and annotations do not apply to native functions";
	if (t->params.given || t->has_returns || t->access || t->access_not)
		return "parameters, results and modifiers of native functions are not known";
	return NULL;
}

static const char *wrong_hook(const struct rule_hook *h)
{
	if (h->context_count)
		return "`inside` does not apply to native functions";
	if (h->condition)
		return "`if` does not apply to native functions";
	if (h->template.n)
		return "templates do not apply to native functions";
	if (h->level == LEVEL_FULL)
		return "`full` does not apply to native functions: use timed";
	if (h->for_ns || h->good_ns || h->calls)
		return "hooks in native functions do not leave by themselves: use 'sonde unhook', or --hold";
	if (h->one_in > 1 || h->slow_ns || h->metered)
		return "calls of native functions are all timed alike";
	return NULL;
}

const char *native_rule_wrong(const struct rule *r)
{
	if (r->kind != RULE_HOOK && r->kind != RULE_SKIP)
		return "only hooks and skips apply to native functions";
	if (wrong_target(&r->target) || r->kind == RULE_SKIP)
		return wrong_target(&r->target);
	return wrong_hook(&r->hook);
}

/* "libz" is "libz.so.1", or whatever version is there. */
static void complete(struct rule_target *t, char text[PATTERN_MAX + 8])
{
	struct slice s = t->class.text;

	if (t->any_class || !t->class.exact || memchr(s.p, '.', s.n) || s.n > PATTERN_MAX)
		return;
	memcpy(text, s.p, s.n);
	memcpy(text + s.n, ".so**", 5);
	t->class.text = (struct slice){ (const uint8_t *)text, s.n + 5 };
}

void native_rule_print(const struct rule *r, struct buf *out)
{
	char text[PATTERN_MAX + 8];
	struct rule copy = *r;

	if (native_rule_is(r))
		complete(&copy.target, text);
	rule_print(&copy, out);
}

void native_rule_print_target(const struct rule_target *t, struct buf *out)
{
	char text[PATTERN_MAX + 8];
	struct rule_target copy = *t;

	complete(&copy, text);
	rule_target_print(&copy, out);
}
