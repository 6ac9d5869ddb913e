/* SPDX-License-Identifier: Apache-2.0 */
/* right_rules.c - see right_rules.h. */
#include "right_rules.h"

#include "test.h"

struct rules *right_rules(struct arena *mem, const char *text)
{
	static struct rule_errors errors;
	struct rules *rules = NULL;

	errors.n = 0;
	arena_init(mem);
	rules_parse(mem, slice_str(text), "in", &rules, &errors);
	CHECK_STR(errors.n ? errors.list[0].text : "", "", text);
	return rules;
}
