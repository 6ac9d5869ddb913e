/* SPDX-License-Identifier: Apache-2.0 */
/* floor.c - what timing a call must cost at least: two raw counter reads around it, in C.  It counts what the reads have
 * timed, in ns. */
#include "../lib/slices.h"
#include "base/tick.h"

static uint64_t ticks, calls;

static __attribute__((noinline)) uint64_t run_bare(unsigned n, uint64_t x)
{
	for (; n > 0; n--) {
		x = step(x);
		__asm__ volatile("" : "+r"(x)); /* else gcc takes several steps at once */
	}
	return x;
}

static __attribute__((noinline)) uint64_t run_timed(unsigned n, uint64_t x)
{
	uint64_t sum = 0;

	calls += n;
	for (; n > 0; n--) {
		uint64_t begin = tick_now();

		x = step(x);
		__asm__ volatile("" : "+r"(x));
		sum += tick_now() - begin;
	}
	ticks += sum;
	return x;
}

static void tell(void)
{
	struct tick_scale scale = tick_scale_measure(100);

	printf("@ %llu %llu\n", (unsigned long long)calls,
	       (unsigned long long)tick_to_ns(scale, ticks));
}

int main(void)
{
	struct side bare = { .run = run_bare }, timed = { .run = run_timed };

	return answer(&bare, &timed, tell);
}
