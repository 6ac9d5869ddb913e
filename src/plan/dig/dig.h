/* SPDX-License-Identifier: Apache-2.0 */
/* dig.h - finds out why a program is slow: which facts to ask for next, and what follows from them.
 *
 * A machine without hands.  Whoever drives it calls dig_next, does what that says, hands in what
 * came of it, and calls dig_next again until it says DIG_DONE:
 *
 *	DIG_SAMPLE	take samples; fill dig.fresh (samples_add...), then dig_sampled
 *	DIG_HOOK	put these rules in, in place of those before; then dig_hooked
 *	DIG_MEASURE	wait, then read: dig_method for each; measure_begin, dig_row for each node and
 *			measure_end of dig.measure; dig_measured
 *	DIG_CALLEES	ask what a method calls: dig_callee for each, then dig_callees_end
 *	DIG_WATCH	watch calls: dig_call and dig_value for each, then dig_watched
 *	DIG_WAIT	do nothing for a while; then dig_waited
 *
 * dig.said is what there is to tell a person; the driver prints and empties it.  Nothing here knows
 * a JVM or a clock: time comes in by dig_next.  Out of memory is sticky, in dig.err.  One
 * thread. */
#ifndef PLAN_DIG_H
#define PLAN_DIG_H

#include "plan/dig/dig_state.h"

enum dig_step { DIG_SAMPLE, DIG_HOOK, DIG_MEASURE, DIG_CALLEES, DIG_WATCH, DIG_WAIT, DIG_DONE };

struct dig_action {
	enum dig_step step;
	uint64_t for_ns;     /* of SAMPLE, MEASURE, WATCH and WAIT */
	struct slice rules;  /* of HOOK (empty: none) and WATCH; valid until the next dig_next */
	struct slice method; /* of CALLEES, as in rules */
	uint64_t limit;	     /* of WATCH: calls */
};

void dig_init(struct dig *d, const struct dig_options *options);
void dig_release(struct dig *d);

void dig_next(struct dig *d, double now_ns, struct dig_action *out);

void dig_sampled(struct dig *d);
void dig_hooked(struct dig *d, bool any, bool undecided); /* undecided: `inside` was left alone */
/* In place of dig_hooked: the agent finds that the rules mean too many methods.  False: there is no
 * smaller set. */
bool dig_too_many(struct dig *d);
/* Of all methods that have hooks, whoever's.  False: dig has not hooked it. */
bool dig_method(struct dig *d, const struct dig_figures *f); /* copied */
void dig_row(struct dig *d, const struct measure_row *row);
void dig_measured(struct dig *d);
void dig_callee(struct dig *d, struct slice name);
void dig_callees_end(struct dig *d);
void dig_call(struct dig *d, struct slice name, double ns);
void dig_value(struct dig *d, unsigned number, struct slice text);
/* While calls are watched, about once a second; true: that is enough.  Else it ends when for_ns is
 * over. */
bool dig_has_enough(struct dig *d, double now_ns);
void dig_watched(struct dig *d);
void dig_waited(struct dig *d);

/* The answer in two lines, and the rules that keep an eye on it. */
void dig_print(const struct dig *d, struct buf *out);
void dig_print_rules(const struct dig *d, struct buf *out);
void dig_print_short(const struct dig *d, struct buf *out); /* what was found, in one short line */

#endif
