/* SPDX-License-Identifier: Apache-2.0 */
/* warm.c - the usual work of compilers.
 *
 * What they took for each second that the program had of a processor before the hooks came is taken to go down to that
 * of the quietest span since, in which what hooks have caused is over. */
#include "plan/warm.h"

#include <math.h>

static const double warming = 6e9; /* ns of the program, in which they come down to 1/e */
static const double span_least = 0.5e9;

static struct warm_times since(struct warm_times from, struct warm_times to)
{
	struct warm_times t = { to.run - from.run, to.jit - from.jit };

	t.run = t.run > 0 ? t.run : 0; /* threads that have ended took their times along */
	t.jit = t.jit > 0 ? t.jit : 0;
	return t;
}

static double ratio(struct warm_times t)
{
	return t.run > 0 ? t.jit / t.run : 0;
}

void warm_see(struct warm *w, struct warm_times now)
{
	struct warm_times span;

	if (!w->has_begun)
		w->begun = now;
	w->has_begun = true;
	w->last = now;
	if (!w->is_hooked)
		return;
	span = since(w->span, now);
	if (span.run < span_least)
		return;
	if (!w->has_quiet || ratio(span) < w->quiet)
		w->quiet = ratio(span);
	w->has_quiet = true;
	w->span = now;
}

void warm_hooked(struct warm *w)
{
	if (w->is_hooked || !w->has_begun)
		return;
	w->is_hooked = true;
	w->hooked = w->span = w->last;
}

double warm_caused(const struct warm *w)
{
	struct warm_times t = since(w->hooked, w->last);
	double before, quiet, x = t.run, usual;

	if (!w->is_hooked)
		return 0;
	before = ratio(since(w->begun, w->hooked));
	quiet = !w->has_quiet ? 0 : w->quiet < before ? w->quiet : before;
	usual = quiet * x + (before - quiet) * warming * (1 - exp(-x / warming));
	return t.jit > usual ? t.jit - usual : 0;
}
