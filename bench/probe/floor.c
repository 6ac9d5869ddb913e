/* SPDX-License-Identifier: Apache-2.0 */
/* floor.c - what timing a call must cost at least: two raw counter reads around it, in C.
 *
 * Speaks as java/bench/Victim.java does: "go MS" is answered by "@ BARE HOOKED BARE HOOKED", ns a
 * call without and with the reads, by processor time and by the wall clock; "end" by "@ CALLS SUM",
 * what the reads have timed, in ns. */
#include "base/tick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLICES = 9, BATCH = 2048 };

struct side {
	uint64_t (*run)(unsigned n, uint64_t x);
	double cpu[SLICES], wall[SLICES];
};

static uint64_t state = 88172645463325252u, ticks, calls;

static inline uint64_t step(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

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

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void slice(struct side *s, int i, double ns)
{
	double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns(CLOCK_MONOTONIC), now;
	uint64_t done = 0;

	do {
		state = s->run(BATCH, state);
		done += BATCH;
		now = now_ns(CLOCK_MONOTONIC);
	} while (now - begin < ns);
	s->wall[i] = (now - begin) / (double)done;
	s->cpu[i] = (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / (double)done;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v)
{
	qsort(v, SLICES, sizeof(*v), by_value);
	return v[SLICES / 2];
}

int main(void)
{
	struct side bare = { .run = run_bare }, timed = { .run = run_timed };
	struct tick_scale scale = tick_scale_measure(100);
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("@ ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		double ns = strtod(line + 2, NULL) * 1e6 / (2 * SLICES);

		if (strncmp(line, "go ", 3) == 0) {
			for (int i = 0; i < SLICES; i++) {
				slice(&bare, i, ns);
				slice(&timed, i, ns);
			}
			printf("@ %.4f %.4f %.4f %.4f\n", median(bare.cpu), median(timed.cpu),
			       median(bare.wall), median(timed.wall));
		} else {
			printf("@ %llu %llu\n", (unsigned long long)calls,
			       (unsigned long long)tick_to_ns(scale, ticks));
		}
	}
	return state == 0;
}
