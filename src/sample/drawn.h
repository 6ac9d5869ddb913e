/* SPDX-License-Identifier: Apache-2.0 */
/* drawn.h - what one event that was drawn at random stands for.  Pure arithmetic. */
#ifndef SAMPLE_DRAWN_H
#define SAMPLE_DRAWN_H

/* How many events of this size there were for each that is seen when, of what they come to (bytes), one
 * unit in `interval` is drawn: 1 / (1 - e^-(size / interval)). */
static inline double drawn_weight(double size, double interval)
{
	double x = size / interval, r;
	int doubled = 0;

	if (x > 40 || !(size > 0) || !(interval > 0))
		return 1;
	for (; x > 1.0 / 64; x /= 2)
		doubled++;
	r = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4))); /* 1 - e^-x */
	while (doubled--)
		r *= 2 - r; /* of x to that of 2 x */
	return 1 / r;
}

#endif
