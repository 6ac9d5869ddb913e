/* SPDX-License-Identifier: Apache-2.0 */
/* carry.c - puts the rules of handover.c in while captured values are read. */
#include "agent/weaving/carry.h"

#include <string.h>

#include "agent/core/agent.h"
#include "agent/natives/data.h"
#include "agent/natives/handover.h"
#include "probe/probe.h"

static const char inner[] = "hops";
/* Written by the agent's thread. */
static size_t n_inner; /* for whoever may not look into the rulebook */
static bool kept;      /* somebody traces: they stay */

bool carry_is_inner(const struct rule_entry *e)
{
	return strcmp(e->origin, inner) == 0;
}

bool carry_is_there(void)
{
	for (size_t i = 0; i < rulebook.n; i++) {
		const struct rule *r = rulebook.entries[i].rule;

		if (r->kind == RULE_CAPTURE && data_is_hop(r->capture.name))
			return true;
	}
	return false;
}

static bool is_across(const struct rule *r)
{
	return r->kind == RULE_HOOK && r->hook.across;
}

static bool any(bool (*is)(const struct rule *))
{
	for (size_t i = 0; i < rulebook.n; i++)
		if (is(rulebook.entries[i].rule))
			return true;
	return false;
}

static bool has_captures(const struct rule *r)
{
	return r->kind == RULE_HOOK && r->captures;
}

bool carry_is_wanted(void)
{
	return any(has_captures) || any(is_across);
}

static int bind(JNIEnv *jni, struct slice text, struct buf *why)
{
	struct rule_errors errors = { 0 };
	struct rules *rules;
	struct arena mem;
	int rc;

	arena_init(&mem);
	rules = rules_new(&mem);
	rc = rules ? rules_add(rules, text, inner, &errors) : E_NO_MEMORY;
	if (rc >= 0)
		rc = data_init(jni);
	if (rc >= 0)
		rc = data_bind(jni, rules, why);
	arena_release(&mem);
	return rc;
}

static bool is_inner(const struct rule_entry *e, void *ctx)
{
	(void)ctx;
	return carry_is_inner(e);
}

void carry_keep(bool keep)
{
	kept = keep;
}

void carry_follow(JNIEnv *jni)
{
	bool wanted = carry_is_wanted(), there = carry_is_there();
	struct buf why = { 0 };

	probe_handed_want(any(is_across));
	if (wanted && !there) {
		if (bind(jni, handover_rules(), &why) < 0 ||
		    rulebook_add(handover_rules(), inner, &(struct rule_entry){ 0 }, &why) < 0)
			agent_note("captured values and sequences stay in their thread: %.*s",
				   (int)why.n, why.n ? (const char *)why.p : "");
		else
			handover_on();
	} else if (!wanted && there && !kept && rulebook_remove(is_inner, NULL) > 0) {
		handover_off();
	}
	n_inner = 0;
	for (size_t i = 0; i < rulebook.n; i++)
		n_inner += carry_is_inner(&rulebook.entries[i]);
	buf_release(&why);
}

size_t carry_rules(void)
{
	return n_inner;
}
