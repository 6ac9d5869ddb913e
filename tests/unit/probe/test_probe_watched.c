/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

PROBE_TEST(probe_shift_takes_time_out_of_a_call, MIB)
{
	uint64_t outer, token, begin;

	timed(1, 1);
	probe_method_set(2, &(struct probe_how){ .one_in = 1, .data = true });
	outer = probe_enter(1);
	token = probe_enter(2);
	begin = probe_now();
	while (probe_now() - begin < 100000000)
		continue;
	token = probe_shift(2, token, begin);
	MUST_INT(token & 1, 1);
	probe_exit(2, token);
	probe_exit(1, outer);
	MUST_INT(figures(2).timed, 1);
	MUST(figures(2).sum < 100000000);
	MUST(figures(1).sum >= 100000000);
	MUST_INT(figures(2).lost, 0);
}
