/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - numbers, times and shares as people read them: "812 ns", "1.21 us", "12.3 M".
 *
 * Three digits are shown, which is more than any measured time is worth.  Every function writes
 * into the caller's text and returns it. */
#ifndef CLI_SCREEN_FIGURES_H
#define CLI_SCREEN_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

enum { FIGURE_MAX = 32 };

const char *figure_time(char text[FIGURE_MAX], double ns);
/* "< 1.21 s": a bound, which is rounded up to a ns, since nothing takes less than 0. */
const char *figure_bound(char text[FIGURE_MAX], double ns);
/* "850 ms", "12 s", "3 min 20 s", "5 h 2 min", "4 d 3 h": since when, and how long still. */
const char *figure_age(char text[FIGURE_MAX], uint64_t ns);
const char *figure_count(char text[FIGURE_MAX], uint64_t n); /* exact below ten millions */
const char *figure_rate(char text[FIGURE_MAX], double per_second);
const char *figure_share(char text[FIGURE_MAX], double share); /* 0.031 is "3.1 %" */
const char *figure_bytes(char text[FIGURE_MAX], uint64_t n);
/* "1 thread", "12 threads", "1,204 classes": the word is short. */
const char *figure_of(char text[2 * FIGURE_MAX], uint64_t n, const char *one);

/* How far the truth may be from an estimate: "+-3 %", with the sign that the terminal can show. */
const char *figure_margin(char text[FIGURE_MAX], double share, bool utf8);

/* "10ms", "1.5 s", "2m": a number and ns, us, ms, s, m (or min), h.  False when it is none. */
bool figure_parse_time(const char *text, uint64_t *ns);

/* "1%" or "1" as 0.01; false when it is not above 0 and at most 100. */
bool figure_parse_share(const char *text, double *out);

#endif
