/* SPDX-License-Identifier: Apache-2.0 */
/* slices.h - a contestant of rounds.c in C: runs the same work without and with a hook in slices that take turns.
 *
 * "go MS" is answered by "@ BARE HOOKED BARE HOOKED", ns a call without and with it, by processor time and by the wall
 * clock, medians of the slices; any other line by what the contestant counted itself, "@ CALLS NS". */
#ifndef BENCH_SLICES_H
#define BENCH_SLICES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLICES = 9, BATCH = 2048 };

struct side {
	uint64_t (*run)(unsigned n, uint64_t x); /* n calls */
	double cpu[SLICES], wall[SLICES];
};

/* What is done each time: some 2 ns. */
static inline uint64_t step(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void slice(struct side *s, int i, double ns, uint64_t *state)
{
	double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), begin = now_ns(CLOCK_MONOTONIC), now;
	uint64_t done = 0;

	do {
		*state = s->run(BATCH, *state);
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

static void go(struct side *bare, struct side *hooked, double ms, uint64_t *state)
{
	double ns = ms * 1e6 / (2 * SLICES);

	for (int i = 0; i < SLICES; i++) {
		slice(bare, i, ns, state);
		slice(hooked, i, ns, state);
	}
	printf("@ %.4f %.4f %.4f %.4f\n", median(bare->cpu), median(hooked->cpu),
	       median(bare->wall), median(hooked->wall));
}

/* Answers lines until there are none; 0. */
static inline int answer(struct side *bare, struct side *hooked, void (*tell)(void))
{
	uint64_t state = 88172645463325252u;
	char line[64];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("@ ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "go ", 3) == 0)
			go(bare, hooked, strtod(line + 3, NULL), &state);
		else
			tell();
	}
	return state == 0;
}

#endif
