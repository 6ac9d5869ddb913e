/* SPDX-License-Identifier: Apache-2.0 */
/* report_calls.c - what one call of a method took: its mean, and the times of single calls in the same
 * kind of figure, so that a row says one thing.
 *
 * A total that is compensated has a mean that is; then min, max and percentiles, which were measured
 * of single calls, have their own hook's cost taken off and are scaled as the mean was
 * (agree_one).  Where only a bound is known, single calls were at most as long as measured. */
#include <math.h>

#include "cli/report/report_rows.h"
#include "tree/agree.h"

void report_take_raw(struct report_method *m)
{
	const struct wire_method *w = &m->m;
	double total = (double)w->total_ns, high = fmax(total, (double)w->high_ns);

	m->raw_ns = m->raw_all_ns = m->least = total;
	m->raw_self_ns = fmin((double)w->self_ns, total);
	m->total =
		(struct span){ w->high_ns ? fmin((double)w->low_ns, total) : total, total, high };
	m->self = (struct span){ 0, m->raw_self_ns, m->raw_self_ns };
	m->outermost = -1;
	m->bounded = w->timed && fmax(total - m->total.low, high - total) > total;
	m->self_bounded = m->bounded;
	m->unknown = !w->timed;
}

/* The calls that raw figures are of: with 1/N all, else those that have ended. */
static double calls_of(const struct wire_method *m)
{
	bool drawn = m->flags & METHOD_DRAWN || m->one_in > 1;

	return (double)(drawn ? m->calls : m->timed);
}

static double raw_avg(const struct report_method *r)
{
	return r->m.timed && calls_of(&r->m) > 0 ? r->raw_all_ns / calls_of(&r->m) : 0;
}

/* All calls, inner ones of a recursion as well: as much shorter as the outermost ones. */
double report_avg_ns(const struct report_method *r)
{
	double avg = raw_avg(r);

	return r->raw_ns > 0 ? avg * r->total.mid / r->raw_ns : avg;
}

double report_avg_high_ns(const struct report_method *r)
{
	double avg = raw_avg(r);

	return r->raw_ns > 0 ? avg * r->total.high / r->raw_ns : avg;
}

double report_one_ns(const struct report_method *r, double measured)
{
	if (!r->compensated || r->bounded)
		return measured;
	return agree_one(&(struct agree_call){ raw_avg(r), r->inner, report_avg_ns(r) }, measured);
}

struct report_calls report_calls(const struct report_method *r)
{
	const struct wire_method *m = &r->m;
	double avg = r->bounded ? 0 : report_avg_ns(r);
	struct report_calls c = { .min = report_one_ns(r, (double)m->min_ns),
				  .p50 = report_one_ns(r, (double)m->p50_ns),
				  .p90 = report_one_ns(r, (double)m->p90_ns),
				  .p99 = report_one_ns(r, (double)m->p99_ns),
				  .max = report_one_ns(r, (double)m->max_ns) };

	if (!r->bounded) { /* an estimate for all calls may lie beside those that were timed */
		c.min = fmin(c.min, avg);
		c.max = fmax(c.max, avg);
	}
	return c;
}

bool report_is_recursive(const struct report_method *r)
{
	return r->flags & TREE_CALLS_ITSELF;
}

struct states report_states(const struct report_method *r)
{
	return states_without_hooks(states_of_method(&r->m), r->raw_ns,
				    r->compensated ? r->total.mid : r->raw_ns);
}

struct states report_states_self(const struct report_method *r)
{
	return states_without_hooks(states_of_method_self(&r->m), r->raw_self_ns,
				    r->compensated ? r->self.mid : r->raw_self_ns);
}
