/* SPDX-License-Identifier: Apache-2.0 */
/* hook_rows.h - what the agent tells of rules: those in force, and what they left alone.
 *
 * The rows of one answer are gathered, as text or as JSON, and printed when all have come. */
#ifndef CLI_REPORT_HOOK_ROWS_H
#define CLI_REPORT_HOOK_ROWS_H

#include "base/json.h"
#include "wire/wire.h"

struct hook_rows {
	bool json;
	bool native; /* may be set: they are of native functions in a JVM */
	struct buf rules, left, missed, grown; /* lines of a table, and lines; or JSON objects */
	struct json rules_json, left_json, missed_json, grown_json;
	uint64_t n, classes,
		methods;  /* rules, and what they hook; a class counts for each of its rules */
	uint32_t above;	  /* may be set: rules up to this number are passed over */
	uint32_t highest; /* number of a rule */
	/* Of the whole program, from the row `status`. */
	bool has_totals;
	uint64_t all_rules, all_classes, all_methods;
	uint64_t resting; /* classes with closed hooks that no rule wants */
	/* With a budget: a share, methods closed for it (of which so many have no hook in their code), what
	 * hooks cost, open and closed ones. */
	double budget, cost, cost_closed;
	uint64_t closed, taken_out;
	uint64_t redefined; /* how often classes got other code since they were loaded */
	struct buf notes;   /* what the agent found wrong, a line each */
};

void hook_rows_init(struct hook_rows *h, bool json);
void hook_rows_release(struct hook_rows *h);

bool hook_rows_take(void *ctx, unsigned type, struct slice payload); /* a client_row */

void hook_rows_table(struct hook_rows *h, struct buf *out); /* with its head, when not empty */
/* "Hooks now in the program: 41 methods in 3 classes, 1 rule" */
void hook_rows_totals(const struct hook_rows *h, struct buf *out);
void hook_rows_notes(const struct hook_rows *h, struct buf *out); /* "note: ..." */
/* "rules": [...], "left": [...], "missed": [...], "grown": [...], and "program": { ... }, for an open object. */
void hook_rows_json(const struct hook_rows *h, struct json *j);

/* "left alone: abstract: there is no code (e.g. com.shop.Cart)", behind the number of them; and as an object. */
void left_put_line(struct buf *out, const struct wire_left *m);
void left_put_json(struct json *j, const struct wire_left *m);

void hook_rows_totals_json(const struct hook_rows *h, struct json *j);

#endif
