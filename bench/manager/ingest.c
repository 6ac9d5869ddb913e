/* SPDX-License-Identifier: Apache-2.0 */
/* ingest.c - DIRECTORY TRANSACTIONS [CALLS]: how many call events a second the manager's store takes in, how
 * many bytes each needs there, and how long searches take then.
 *
 * Transactions are made here, packed as the manager packs them, and put into a real store by its own
 * functions: one commit for what has come, compression, indexed rows.  The sockets of agents are not in it. */
#define _GNU_SOURCE /* asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "manager/archive/archive.h"
#include "manager/figures/pack.h"

enum { METHODS = 40, CALLS_MAX = 200, QUERIES = 300 };

static uint32_t n_calls = CALLS_MAX; /* of each transaction */

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static struct txn_name names[METHODS];

static void make_names(void)
{
	for (unsigned i = 0; i < METHODS; i++) {
		char *text = NULL;

		if (asprintf(&text, "com.shop.part%u.Component%u.method%u(Ljava/lang/String;I)V",
			     i / 8, i / 4, i) < 0)
			exit(3);
		names[i] = (struct txn_name){ slice_str(text), i % 9 == 0 };
	}
}

/* A tree of calls that take from 100 ns to some ms, in the order of their begin. */
static void make_calls(struct txn_call *calls)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < n_calls; i++) {
		at += 50 + draw(100000);
		calls[i] = (struct txn_call){ .name = i ? (uint32_t)draw(METHODS) : 0,
					      .parent = i ? i - (uint32_t)draw(i < 6 ? i : 6) : 0,
					      .begin_ns = i ? at : 0,
					      .elapsed_ns = 100 + draw(1000000) };
	}
	calls[0].elapsed_ns = at + 2000000;
}

static void put_one(struct archive *s, uint64_t number, uint64_t when_ms)
{
	struct job_trace *job = archive_job(sizeof(*job));
	struct txn_call calls[CALLS_MAX];
	struct txn_part part = {
		.part = 1, .from = 1, .thread = slice_str("worker-1"), .calls = calls, .n = n_calls
	};
	struct transaction t = { .when_ns = when_ms * 1000000,
				 .names = names,
				 .n_names = METHODS,
				 .parts = &part,
				 .n_parts = 1 };
	struct buf packed = { 0 };
	char data[64];
	int n = snprintf(data, sizeof(data), "customer%c%llu%ckind%c%s", 0,
			 (unsigned long long)draw(100000), 0, 0, number % 25 ? "PLAIN" : "GIFT");

	if (!job)
		exit(3);
	make_calls(calls);
	part.end_ns = calls[0].elapsed_ns;
	pack_put(&t, &packed);
	job->job.kind = JOB_TRACE;
	job->t = (struct archive_trace){ .app = slice_str("shop"),
					 .instance = slice_str("h-1"),
					 .root = names[0].method,
					 .thread = slice_str("worker-1") };
	job->t.data = arena_dup(&job->job.mem, (struct slice){ (uint8_t *)data, (size_t)n + 1 });
	job->t.when_ms = when_ms;
	job->t.elapsed_ns = calls[0].elapsed_ns;
	job->t.calls = n_calls;
	job->t.parts = 1;
	job->t.blob = arena_dup(&job->job.mem, buf_slice(&packed));
	buf_release(&packed);
	archive_put(s, &job->job);
}

static uint64_t bytes_in(const char *dir)
{
	char path[5000];
	struct stat st;

	snprintf(path, sizeof(path), "%s/sonde.db", dir);
	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void count(void *ctx, const struct archive_trace *t)
{
	(void)t;
	++*(uint64_t *)ctx;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The 99th percentile in ms. */
static double search(struct archive *s, struct slice name, uint64_t values)
{
	static double took[QUERIES];
	uint64_t found = 0;

	for (int i = 0; i < QUERIES; i++) {
		char value[24];
		struct archive_filter f = { .to_ms = INT64_MAX,
					    .max_ns = UINT64_MAX,
					    .limit = 100 };
		double begin;

		snprintf(value, sizeof(value), "%llu",
			 (unsigned long long)draw(values ? values : 1));
		f.n_data = name.n ? 1 : 0;
		f.data[0][0] = name;
		f.data[0][1] = values ? slice_str(value) : slice_str("GIFT");
		f.app = slice_str("shop");
		begin = now();
		if (archive_traces(s, &f, count, &found) < 0)
			exit(3);
		took[i] = (now() - begin) * 1e3;
	}
	if (!found)
		exit(3);
	qsort(took, QUERIES, sizeof(*took), by_value);
	return took[QUERIES * 99 / 100];
}

int main(int argc, char **argv)
{
	struct archive_limits limits = { .keep_days = 10000, .keep_bytes = UINT64_MAX };
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, before;
	struct archive *s;
	double begin, took, cpu;

	n_calls = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : CALLS_MAX;
	if (argc < 3 || !n || !n_calls || n_calls > CALLS_MAX ||
	    archive_open(&s, argv[1], "", &limits) < 0)
		return 2;
	make_names();
	before = bytes_in(argv[1]);
	begin = now();
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	for (uint64_t i = 0; i < n; i++) {
		while (archive_is_behind(s))
			usleep(1000);
		put_one(s, i, 1700000000000u + i * 3);
	}
	for (;;) { /* until all is on disk */
		struct archive_state state;

		archive_state(s, &state);
		if (state.failed)
			return 3;
		if (!state.queued)
			break;
		usleep(1000);
	}
	took = now() - begin;
	cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("transactions %llu\n", (unsigned long long)n);
	printf("calls_per_s %.0f\n", (double)n * n_calls / took);
	printf("cpu_us_per_transaction %.1f\n", cpu / (double)n * 1e6);
	printf("rare_p99_ms %.3f\n", search(s, slice_str("customer"), 100000));
	printf("often_p99_ms %.3f\n", search(s, slice_str("kind"), 0));
	printf("any_p99_ms %.3f\n", search(s, (struct slice){ NULL, 0 }, 1));
	archive_close(s); /* folds the log into the file */
	printf("bytes_per_call %.2f\n", (double)(bytes_in(argv[1]) - before) / (double)n / n_calls);
	return 0;
}
