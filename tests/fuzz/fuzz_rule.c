/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rule.c - any bytes as rules: they are parsed, or there is an error; nothing else.
 *
 * What parses must come back unchanged from printing and parsing again.  The bytes also serve
 * as the names and descriptors of a class, so that matching and explaining see strange ones,
 * in a hierarchy that goes round in circles. */
#include <stdlib.h>

#include "rule/rules_explain.h"
#include "rule/match.h"
#include "rule/print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool find(void *ctx, struct slice name, struct rule_class *out)
{
	const struct rule_class *cls = ctx;

	(void)name;
	out->super = cls->name;
	out->interfaces = cls->interfaces;
	out->interface_count = cls->interface_count;
	return true;
}

static void match(const struct rules *rules, struct slice bytes, struct buf *out)
{
	struct slice pieces[] = { { bytes.p, bytes.n / 2 }, { bytes.p, bytes.n / 3 } };
	struct rule_class cls = { .name = { bytes.p, bytes.n / 4 },
				  .super = pieces[0],
				  .interfaces = pieces,
				  .interface_count = 2,
				  .annotations = pieces,
				  .annotation_count = 2 };
	struct rule_resolver resolver = { .ctx = &cls, .find = find };
	struct rule_method method = { .name = pieces[1],
				      .desc = { bytes.p + bytes.n / 2, bytes.n / 2 },
				      .access = (uint16_t)bytes.n,
				      .annotations = pieces,
				      .annotation_count = 2 };
	struct rule_anchor anchors[4];
	struct rule_choice choice;
	const struct rule *hook;

	cls.resolver = &resolver;
	hook = rules_match_method(rules, &cls, &method);
	if (hook && !rules_class_may_match(rules, &cls))
		abort();
	rules_choose(rules, &cls, &choice);
	if (rules_match_chosen(&choice, &method) != hook)
		abort();
	rules_match_anchors(rules, &cls, &method, anchors, 4);
	rules_match_place(rules, &cls, NULL);
	rules_explain(rules, NULL, &cls, &method, out);
	rules_digest_text(rules, &cls, out);
	rules_weave_text(rules, &cls, out);
}

/* Parses text and prints it into out; false: it has errors, which were printed. */
static bool pass(struct slice text, struct slice names, struct buf *out)
{
	static struct rule_errors errors;
	struct rules *rules = NULL;
	struct buf scratch = { 0 };
	struct arena mem;
	int rc;

	errors.n = errors.more = 0;
	arena_init(&mem);
	rc = rules_parse(&mem, text, "fuzz", &rules, &errors);
	if ((rc < 0) != (errors.n > 0))
		abort();
	if (rc < 0) {
		rule_errors_print(&errors, &scratch);
	} else {
		rules_print(rules, out);
		match(rules, names, &scratch);
	}
	buf_release(&scratch);
	arena_release(&mem);
	return rc == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = { data, size };
	struct buf once = { 0 }, twice = { 0 };

	if (pass(text, text, &once)) {
		if (!pass(buf_slice(&once), text, &twice))
			abort();
		if (!slice_eq(buf_slice(&once), buf_slice(&twice)))
			abort();
	}
	buf_release(&once);
	buf_release(&twice);
	return 0;
}
