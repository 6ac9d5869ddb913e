/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "agent/core/reading.h"
#include "base/tick.h"

#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 120 };

static bool done;

/* As the JVM's end does, while the agent's own thread goes on. */
static void *report_again_and_again(void *ctx)
{
	uint64_t *most = ctx;
	struct probe_figures f;

	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		for (uint32_t id = 1; id <= 40; id++) {
			reading_method(id, &f, NULL);
			*most = f.calls > *most ? f.calls : *most;
		}
		sched_yield();
	}
	return NULL;
}

static void call_forty(unsigned number)
{
	(void)number;
	for (uint32_t id = 1; id <= 40; id++)
		call(id);
	probe_thread_end();
}

PROBE_TEST(reading_and_sweeping_take_turns, 4 * MIB)
{
	uint64_t most = 0;
	pthread_t reader;

	for (uint32_t id = 1; id <= 40; id++)
		timed(id, 1);
	done = false;
	MUST_INT(pthread_create(&reader, NULL, report_again_and_again, &most), 0);
	for (int i = 0; i < ROUNDS; i++) {
		probe_test_threads(4, call_forty);
		reading_sweep(tick_now(), UINT32_MAX);
	}
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	MUST(most <= 4 * ROUNDS); /* nothing was counted twice */
	MUST_INT(figures(40).calls, 4 * ROUNDS);
}
