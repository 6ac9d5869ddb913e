/* SPDX-License-Identifier: Apache-2.0 */
/* breaks.h - how much of a processor's time goes to what interrupts it: timers, and the host of a
 * virtual machine.
 *
 * A call of 100 ns in which that happens takes 8 us.  It is one in ten thousand, so the few calls
 * of a method that are measured have one or two of them, or none; and the method's mean would be
 * off by as much as they are worth.  So calls that are out of all proportion are left out of it.
 * But a program is interrupted without measurement, too: 1 % of the time on one machine.  That is the
 * same for all methods, whatever they do; so it is learned from all of them together, by how long
 * such a break is, and a share is added to what each takes.  What a method's calls have to be to be
 * out of proportion depends on how long they are, so for each it is known from which length on
 * breaks were left out.
 *
 * Times in ns.  A plain value; all zero is an empty one. */
#ifndef PLAN_BREAKS_H
#define PLAN_BREAKS_H

enum { BREAKS = 32 }; /* classes of lengths, four to a doubling; what is longer is no break */

struct breaks {
	double time[BREAKS]; /* in which breaks of this length would have been seen ... */
	double sum[BREAKS];  /* ... and were */
};

/* So much time was measured without what was longer than `from`: a break of `more`, if it is not
 * 0. */
void breaks_add(struct breaks *b, double time, double from, double more);

/* What all breaks that are longer are worth, as a share of the time without them. */
double breaks_share(const struct breaks *b, double from);

#endif
