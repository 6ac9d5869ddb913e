/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - the line is written at most five times a second. */
#include "cli/screen/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cli/screen/output.h"

enum { STEPS_A_LOOK = 16 };

static const uint64_t second = 1000000000;

void progress_start(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what, .start = clock_steady_ns() };
	p->next = isatty(STDERR_FILENO) ? p->start + 2 * second : UINT64_MAX;
}

void progress_step(struct progress *p, double done, uint64_t n)
{
	uint64_t now;
	double left;
	char line[120];

	if (p->next == UINT64_MAX || ++p->steps % STEPS_A_LOOK)
		return;
	now = clock_steady_ns();
	if (now < p->next)
		return;
	p->next = now + second / 5;
	left = done > 0 ? (double)(now - p->start) / 1e9 * (1 - done) / done : 0;
	snprintf(line, sizeof(line), "%s: %3.0f %%, %llu class%s, %.0f s left", p->what, 100 * done,
		 (unsigned long long)n, plural_es(n), left);
	output_status(slice_str(line));
	p->shown = true;
}

void progress_clear(struct progress *p)
{
	if (p->shown)
		output_status(slice_str(""));
	p->shown = false;
}
