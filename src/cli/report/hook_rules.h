/* SPDX-License-Identifier: Apache-2.0 */
/* hook_rules.h - rules from files and arguments, checked, and as one text for the agent.
 *
 * What is wrong with a rule is shown here, with its line and a caret, before the agent is asked.
 * What rules need of each other (captures, templates) is left to the agent: it may have it
 * already. */
#ifndef CLI_REPORT_HOOK_RULES_H
#define CLI_REPORT_HOOK_RULES_H

#include "base/arena.h"
#include "base/buf.h"

struct hook_rules {
	struct arena mem;
	struct rules *rules;
	struct buf origin;  /* "shop.rules, command line" */
	size_t last_origin; /* where the last of them begins */
	/* For a JVM: rules for native functions, which are for another agent, are not in the text. */
	bool split;
};

/* All give CLI_DONE; or, after a message, an exit status. */
int hook_rules_init(struct hook_rules *h); /* release it in any case */
int hook_rules_add_file(struct hook_rules *h, const char *path);
int hook_rules_add(struct hook_rules *h, const char *text); /* the word `hook` may be left out */
/* One rule a line; the files of templates with their whole path, as the agent works elsewhere. */
int hook_rules_text(const struct hook_rules *h, struct buf *out);
/* Those for native functions, if split; .n 0: there are none. */
int hook_rules_native(const struct hook_rules *h, struct buf *out);
bool hook_rules_any_native(const struct hook_rules *h);
bool hook_rules_any_java(const struct hook_rules *h);
size_t hook_rules_count(const struct hook_rules *h);
void hook_rules_release(struct hook_rules *h);

/* Is this argument a rule, and not a program?  It has a "::", or begins with `skip ` or the
 * like. */
bool hook_rules_is_rule(const char *text);

/* The target of a rule, or of what could be one, in the form in which the agent has it: for
 * "com.shop.Cart::*", "hook com.shop.Cart::* timed", or a class alone. */
int hook_rules_target(const char *text, struct buf *out);

/* Of native functions, in the form in which the agent beside a JVM's has it; others leave it empty. */
int hook_rules_native_target(const char *text, struct buf *out);

#endif
