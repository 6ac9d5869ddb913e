/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - which kind of stored samples, and which part of a history. */
#include "cli/hot/stored.h"

#include "base/whole.h"
#include "cli/hot/history.h"
#include "cli/hot/when.h"
#include "cli/screen/cli.h"

#define MINUTE UINT64_C(60000000000)

bool stored_is(const char *target)
{
	return sampled_is_file(target) || history_is(target);
}

static int no_moment(const struct sampled_wish *wish, const char *option, const char *text)
{
	return cli_usage(wish->verb,
			 "%s: '%s' is no moment such as 14:05, 2026-11-18T14:05, 'yesterday 14:05' "
			 "or -2h",
			 option, text);
}

/* CLI_DONE, or an exit status after a message. */
static int span_of(const struct sampled_wish *wish, struct history_span *span)
{
	struct history_span all = { 0 };
	int status = history_extent(wish->target, &all);

	if (status != CLI_DONE)
		return status;
	*span = all;
	if (wish->at) {
		if (!when_parse(wish->at, all.to, &span->from))
			return no_moment(wish, "--at", wish->at);
		span->to = whole_add(span->from, wish->for_given ? wish->for_ns : MINUTE);
	} else if (wish->for_given && wish->for_ns < all.to - all.from) {
		span->from = all.to - wish->for_ns;
	}
	return CLI_DONE;
}

int stored_read(struct sampled *s, const struct sampled_wish *wish)
{
	struct history_span span;
	int status;

	if (!history_is(wish->target))
		return wish->at ? cli_usage(wish->verb,
					    "--at is for a history, not for a file of stacks")
				: sampled_read(s, wish->target);
	status = span_of(wish, &span);
	return status == CLI_DONE ? history_read(s, wish->target, &span) : status;
}

int stored_before(struct sampled *s, const struct sampled_wish *wish, const char *what)
{
	const struct sampled_wish all = { .verb = wish->verb, .target = what };
	struct history_span span, before;
	int status;

	if (stored_is(what))
		return stored_read(s, &all);
	if (!history_is(wish->target))
		return cli_cannot(
			"%s: no file of stacks, which ends with .collapsed, .folded or .txt, "
			"and no directory of 'sonde record'",
			what);
	status = span_of(wish, &span);
	if (status != CLI_DONE)
		return status;
	if (!when_parse(what, span.from, &before.from))
		return no_moment(wish, "--compare", what);
	before.to = whole_add(before.from, span.to - span.from);
	return history_read(s, wish->target, &before);
}
