/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - which kind of stored samples, and which part of a history. */
#include "cli/hot/stored.h"

#include <stdio.h>

#include "base/whole.h"
#include "cli/hot/history.h"
#include "cli/hot/when.h"
#include "cli/screen/cli.h"
#include "export/collapsed.h"
#include "export/jfr.h"

enum { FILE_MAX = 1 << 30 };
#define MINUTE UINT64_C(60000000000)

static bool is_jfr(const char *path)
{
	return path && strlen(path) > 4 && slice_ends(slice_str(path), ".jfr");
}

bool stored_is(const char *target)
{
	return sampled_is_file(target) || is_jfr(target) || history_is(target);
}

/* ---- files --------------------------------------------------------------------------------- */

static bool read_all(FILE *file, struct buf *out)
{
	uint8_t *p;
	size_t n = 1;

	while (n && out->n < FILE_MAX && (p = buf_room(out, 1 << 20))) {
		n = fread(p, 1, 1 << 20, file);
		out->n += n;
	}
	return !n && !out->err && !ferror(file);
}

static int take_collapsed(struct sampled *s, const char *path, struct slice text)
{
	size_t line;
	int rc = collapsed_read(&s->profile, text, &line);

	if (rc >= 0)
		return CLI_DONE;
	return cli_cannot("%s, line %zu: %s", path, line,
			  rc == E_SYNTAX ? "not 'outer;inner;leaf NUMBER'" : err_text(rc));
}

static void tell_jfr(struct sampled *s, const struct jfr_about *about)
{
	char from[WHEN_TEXT], to[WHEN_TEXT];

	s->samples = about->events - about->without_stack;
	s->ends[WALK_DEEP] = about->cut;
	s->ends[WALK_WHOLE] = s->samples - about->cut;
	snprintf(s->when, sizeof(s->when), "%s to %s", when_text(from, about->start_ns),
		 when_text(to, whole_add(about->start_ns, about->wall_ns)));
	if (about->without_stack)
		fprintf(stderr, "sonde: %s: %llu event%s no stack, left out\n", s->name,
			(unsigned long long)about->without_stack,
			about->without_stack == 1 ? " has" : "s have");
}

/* A recording's samples of threads in native code have no length: with --wall, too, samples are counted. */
static int take_jfr(struct sampled *s, const struct sampled_wish *wish, struct slice bytes)
{
	static const struct jfr_kinds kinds = {
		PLACE_INTERPRETED, SAMPLED_COMPILED, PLACE_INLINED,
		PLACE_JNI,	   PLACE_CLASS,	     PLACE_UNKNOWN,
	};
	enum jfr_what what = wish->wall	   ? JFR_WALL
			     : wish->alloc ? JFR_ALLOC
			     : wish->lock  ? JFR_LOCK
					   : JFR_CPU;
	struct jfr_about about;
	int rc;

	if (wish->live)
		return cli_cannot("%s: a recording does not tell what is still there (--live)",
				  wish->target);
	rc = jfr_read(bytes, what, &kinds, &s->profile, &about);

	if (rc < 0)
		return cli_cannot("%s: %s (chunk %u)", wish->target,
				  about.why ? about.why : err_text(rc), about.chunk);
	s->mode = wish->alloc ? STACKS_ALLOC : wish->lock ? STACKS_LOCK : STACKS_CPU;
	tell_jfr(s, &about);
	return CLI_DONE;
}

static int read_file(struct sampled *s, const struct sampled_wish *wish)
{
	FILE *file = fopen(wish->target, "re");
	struct buf bytes = { 0 };
	int status;

	if (!file)
		return cli_cannot("%s: %m", wish->target);
	snprintf(s->name, sizeof(s->name), "%s", wish->target);
	if (!read_all(file, &bytes))
		status = cli_cannot("%s: cannot be read, or is larger than 1 GiB", wish->target);
	else if (is_jfr(wish->target))
		status = take_jfr(s, wish, buf_slice(&bytes));
	else
		status = take_collapsed(s, wish->target, buf_slice(&bytes));
	fclose(file);
	buf_release(&bytes);
	return status;
}

/* ---- histories ----------------------------------------------------------------------------- */

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
				: read_file(s, wish);
	status = span_of(wish, &span);
	return status == CLI_DONE ? history_read(s, wish->target, &span) : status;
}

int stored_before(struct sampled *s, const struct sampled_wish *wish, const char *what)
{
	struct sampled_wish all = *wish;
	struct history_span span, before;
	int status;

	all.target = what;
	all.at = NULL;
	all.for_given = false;
	if (stored_is(what))
		return stored_read(s, &all);
	if (!history_is(wish->target))
		return cli_cannot(
			"%s: no file of stacks, which ends with .collapsed, .folded, .txt or .jfr, "
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
