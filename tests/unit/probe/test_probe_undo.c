/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that turn out at their exit not to be meant. */
#include "test_probe.h"

PROBE_TEST(probe_takes_back_a_timed_call, MIB)
{
	uint64_t outer, token;

	timed(1, 1);
	timed(2, 1);
	outer = probe_enter(1);
	token = probe_enter(2);
	call(1);
	probe_undo(2, token);
	MUST_INT(active(2), 0);
	probe_exit(1, outer);
	MUST_INT(figures(2).calls, 0);
	MUST_INT(figures(2).timed, 0);
	MUST_INT(figures(1).calls, 2);
	MUST_INT(figures(1).lost, 0);
	call(2);
	MUST_INT(figures(2).calls, 1);
	MUST_INT(figures(2).timed, 1);
}

PROBE_TEST(probe_takes_back_a_counted_call, MIB)
{
	timed(1, 0);
	for (int i = 0; i < 10; i++) {
		MUST_INT(probe_enter(1), 0);
		if (i % 2)
			probe_undo(1, 0);
	}
	MUST_INT(figures(1).calls, 5);
}

PROBE_TEST(probe_takes_back_what_is_not_on_the_stack, MIB)
{
	timed(1, 1);
	call(1);
	call(1);
	probe_undo(1, 2468);
	MUST_INT(figures(1).calls, 1);
}

PROBE_TEST(probe_may_is_no_while_the_thread_is_muted, MIB)
{
	timed(1, 1);
	MUST(probe_may(1));
	probe_mute(true);
	MUST(!probe_may(1));
	probe_mute(false);
	MUST(probe_may(1));
	MUST(!probe_may(PROBE_METHODS));
}
