/* SPDX-License-Identifier: Apache-2.0 */
/* sampled_mode.c - one row for each mode. */
#include "cli/hot/sampled_mode.h"

#include "base/mem.h"
#include "wire/wire.h"

static const char *time_of(char text[FIGURE_MAX], uint64_t ns)
{
	return figure_time(text, (double)ns);
}

const struct sampled_mode *sampled_mode(unsigned mode)
{
	static const struct sampled_mode modes[] = {
		[STACKS_CPU] = { "cpu", "processor", "samples", "cpu", "nanoseconds", "samples",
				 "run by", false, figure_count },
		[STACKS_WALL] = { "wall", "wall-clock", "time", "wall", "nanoseconds", "samples",
				  "does", false, time_of },
		[STACKS_ALLOC] = { "alloc", "allocation", "bytes", "alloc_space", "bytes",
				   "alloc_objects", "objects", true, figure_bytes },
		[STACKS_LOCK] = { "lock", "lock", "waited", "delay", "nanoseconds", "contentions",
				  "waits", true, time_of },
	};

	return &modes[mode < COUNT(modes) ? mode : STACKS_CPU];
}
