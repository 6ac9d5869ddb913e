/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_countdown.c - what is shown of how long a command still waits. */
#include "cli/screen/countdown.h"

#include <string.h>

#include "test.h"

static bool says(const char *what, uint64_t seen, uint64_t left_ns, const char *wanted)
{
	char line[COUNTDOWN_LINE];

	countdown_text(line, what, seen, left_ns);
	return strcmp(line, wanted) == 0;
}

TEST(a_countdown_says_what_came_and_how_long_it_takes)
{
	CHECK(says("samples", 1204, 8000000000u, "so far 1,204 samples, 8 s left; Ctrl-C ends"));
	CHECK(says("calls", 0, 19600000000u, "waiting for calls, 20 s left; Ctrl-C ends"));
	CHECK(says("a call", 0, 0, "waiting for a call; Ctrl-C ends"));
}
