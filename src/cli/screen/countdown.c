/* SPDX-License-Identifier: Apache-2.0 */
/* countdown.c - the line is written once a second. */
#include "cli/screen/countdown.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/screen/cli.h"
#include "cli/screen/output.h"

static const uint64_t second = 1000000000;

void countdown_start(struct countdown *c, const char *what, uint64_t for_ns)
{
	uint64_t now = clock_steady_ns();

	*c = (struct countdown){ .what = what, .end = for_ns ? now + for_ns : 0 };
	c->next = isatty(STDERR_FILENO) ? now + second : UINT64_MAX;
}

void countdown_text(char line[COUNTDOWN_LINE], const char *what, uint64_t seen, uint64_t left_ns)
{
	char number[32], left[40] = "";

	if (left_ns)
		snprintf(left, sizeof(left), ", %.0f s left", (double)left_ns / 1e9);
	if (seen)
		snprintf(line, COUNTDOWN_LINE, "so far %s %s%s; Ctrl-C ends",
			 cli_number(number, seen), what, left);
	else
		snprintf(line, COUNTDOWN_LINE, "waiting for %s%s; Ctrl-C ends", what, left);
}

void countdown_step(struct countdown *c, uint64_t seen)
{
	uint64_t now = c->next == UINT64_MAX ? 0 : clock_steady_ns();
	char line[COUNTDOWN_LINE];

	if (now < c->next)
		return;
	c->next = now + second;
	c->shown = true;
	countdown_text(line, c->what, seen, c->end > now ? c->end - now : 0);
	output_status(slice_str(line));
}

void countdown_clear(struct countdown *c)
{
	if (c->shown)
		output_status((struct slice){ NULL, 0 });
	c->shown = false;
}
