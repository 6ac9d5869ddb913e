/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include <string.h>

#define MUST_STR(got, want) (probe_test_good &= CHECK_STR(got, want, NULL))

enum { MIB = 1 << 20 };

static void hundred_thousand(unsigned number)
{
	for (unsigned i = 0; i < 50000; i++) {
		uint64_t token = probe_enter(1);

		call(2 + number % 2);
		probe_exit(1, token);
	}
	if (number % 2)
		probe_thread_end();
}

PROBE_TEST(probe_adds_up_threads_exactly, 4 * MIB)
{
	struct probe_state s;

	for (uint32_t id = 1; id <= 3; id++)
		timed(id, 1);
	probe_test_threads(8, hundred_thousand);
	MUST_INT(figures(1).calls, 400000);
	probe_sweep();
	probe_state_read(&s);
	MUST_INT(s.threads, 0);
	MUST_INT(s.lost, 0);
	MUST_INT(s.strayed, 0);
	MUST_INT(figures(1).calls, 400000);
	MUST_INT(figures(1).timed, 400000);
	MUST_INT(figures(2).timed, 200000);
	MUST_INT(figures(3).timed, 200000);
	MUST_INT(histogram_total(1), 400000);
	MUST(strstr(tree(), "1*400000(") == tree());
	MUST(strstr(tree(), "3*200000") != NULL);
}
