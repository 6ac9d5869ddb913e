/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - the parser in its strict mode. */
#include "rule/kept.h"

#include "base/mem.h"
#include "rule/parse.h"

int kept_add(struct rules *rules, struct slice text, const char *origin, struct rule_errors *errors)
{
	return rules_add_as(rules, text, origin, true, errors);
}

static size_t count_lines(struct slice text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n' || i + 1 == text.n;
	return n;
}

bool kept_is_good(struct slice text, size_t want)
{
	struct rule_errors *errors = mem_alloc(sizeof(*errors));
	struct rules *rules;
	struct arena mem;
	bool good;

	if (!errors)
		return false;
	*errors = (struct rule_errors){ 0 };
	arena_init(&mem);
	rules = rules_new(&mem);
	good = rules && kept_add(rules, text, "kept", errors) >= 0 &&
	       rules_seal(rules, errors) >= 0 && rules->n == want && count_lines(text) == want;
	arena_release(&mem);
	mem_free(errors);
	return good;
}
