/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_known.c - any bytes as what is known of an application: nothing comes of them that could do
 * harm when it is read again.
 *
 * They are read as the file, and used as the names that a program says.  What is printed must be
 * read again as the same, and its rules must be such as may be kept. */
#include <stdlib.h>

#include "plan/dig/known.h"
#include "rule/kept.h"
#include "rule/spell.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rules(const struct known *k)
{
	static struct rule_errors errors;
	struct buf text = { 0 };
	struct rules *rules;
	struct arena mem;

	known_print_rules(k, &text);
	errors.n = errors.more = 0;
	arena_init(&mem);
	rules = rules_new(&mem);
	if (!rules || kept_add(rules, buf_slice(&text), "fuzz", &errors) < 0)
		abort();
	for (size_t i = 0; i < rules->n; i++)
		if (rules->all[i]->kind != RULE_HOOK)
			abort();
	arena_release(&mem);
	buf_release(&text);
}

/* What is printed is the same when it is read and printed again. */
static void check_text(const struct known *k)
{
	struct buf first = { 0 }, second = { 0 };
	struct known again;

	known_print(k, &first);
	known_init(&again, k->app);
	if (k->app.n && known_read(&again, buf_slice(&first)) < 0)
		abort();
	known_print(&again, &second);
	if (k->app.n && !slice_eq(buf_slice(&first), buf_slice(&second)))
		abort();
	known_release(&again);
	buf_release(&first);
	buf_release(&second);
}

static void check_names(struct slice bytes)
{
	struct known_run run = { .when = 5, .calls = 100, .mean = 1, .p50 = 1, .p99 = 1 };
	struct slice half = { bytes.p, bytes.n / 2 };
	struct known_finding f = { .when = 1, .text = half, .rules = bytes };
	struct buf rule = { 0 };
	struct known k;

	known_init(&k, half);
	known_add_finding(&k, &f);
	known_set_run(&k, bytes, &run, 0);
	buf_text(&rule, "hook ");
	spell_target(&rule, half, bytes, (struct slice){ bytes.p + half.n, bytes.n - half.n });
	buf_text(&rule, " timed");
	if (rule.n < RULES_RULE_MAX && !kept_is_good(buf_slice(&rule), 1))
		abort();
	f = (struct known_finding){ .when = 2, .text = bytes, .rules = buf_slice(&rule) };
	known_add_finding(&k, &f);
	check_rules(&k);
	check_text(&k);
	known_release(&k);
	buf_release(&rule);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = { data, size };
	struct known k;

	if (!size)
		return 0;
	known_init(&k, known_app_of(bytes));
	if (known_read(&k, bytes) >= 0) {
		check_rules(&k);
		check_text(&k);
	}
	known_release(&k);
	check_names(bytes);
	return 0;
}
