/* SPDX-License-Identifier: Apache-2.0 */
/* sampled_mode.h - what samples can be of, and in which unit: processor time, time by the clock, bytes
 * allocated, time waited for locks. */
#ifndef CLI_HOT_SAMPLED_MODE_H
#define CLI_HOT_SAMPLED_MODE_H

#include "cli/screen/figures.h"

struct sampled_mode {
	const char *name;	 /* "wall" */
	const char *what;	 /* "wall-clock": samples of this kind */
	const char *column;	 /* over values in a table */
	const char *type, *unit; /* of values, for pprof: "wall", "nanoseconds" */
	const char *counts;	 /* of how often, likewise: "samples" */
	const char *column_2;	 /* over what is counted besides, or over what runs the function */
	bool is_event; /* frames end with a class; profile_stack.count is objects, or waits */
	const char *(*figure)(char text[FIGURE_MAX], uint64_t value);
};

const struct sampled_mode *sampled_mode(unsigned mode); /* STACKS_* */

#endif
