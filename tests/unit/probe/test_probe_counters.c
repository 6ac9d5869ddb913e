/* SPDX-License-Identifier: Apache-2.0 */
/* test_probe_counters.c - with counters of the kernel, which are there where the processor's are
 * not. */
#include "test_probe.h"

#include <dirent.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "probe/counters.h"
#include "probe/inner.h"

enum { FAULTS, SWITCHES, NONE, MINOR };
enum { STEP = 4096 };

static const struct counter_kind kinds[COUNTERS] = {
	[FAULTS] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	[SWITCHES] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	[NONE] = { PERF_TYPE_SOFTWARE, 0xffff },
	[MINOR] = { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
};
enum { HERE = 1 << FAULTS | 1 << SWITCHES | 1 << MINOR };

/* Page faults, as many as that. */
static void fault(unsigned n)
{
	volatile char *p = mmap(NULL, (size_t)n * STEP, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise((void *)(uintptr_t)p, (size_t)n * STEP, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++)
		p[(size_t)i * STEP] = 1;
	munmap((void *)(uintptr_t)p, (size_t)n * STEP);
}

static unsigned open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* False: this system lets nobody count. */
static bool begins(void)
{
	return counters_begin(kinds) == HERE;
}

TEST(counters_count_what_a_thread_does_and_leave_no_file_open)
{
	struct counters c = { 0 };
	uint64_t before[COUNTERS], after[COUNTERS];
	unsigned files = open_files();

	if (!begins()) {
		SKIP("no perf events here");
		return;
	}
	CHECK_INT(open_files(), files, "asking what there is leaves nothing open");
	if (CHECK(counters_read(&c, before))) {
		fault(100);
		CHECK(counters_read(&c, after));
		CHECK(after[FAULTS] - before[FAULTS] >= 100);
		CHECK(after[FAULTS] - before[FAULTS] < 200);
		CHECK_INT(after[MINOR] - before[MINOR], after[FAULTS] - before[FAULTS],
			  "no file is read");
		CHECK_INT(after[NONE], 0, "which does not exist");
	}
	counters_end();
	CHECK(!counters_read(&c, after));
	CHECK(counters_close(&c));
	CHECK_INT(open_files(), files, "all are closed");
	CHECK(counters_close(&c)); /* twice does no harm */
}

TEST(counters_are_not_closed_while_they_are_read)
{
	struct counters c = { 0 };
	uint64_t now[COUNTERS];

	if (!begins()) {
		SKIP("no perf events here");
		return;
	}
	CHECK(counters_read(&c, now));
	c.reading = 1;
	counters_end();
	CHECK(!counters_close(&c));
	c.reading = 0;
	CHECK(counters_close(&c));
}

TEST(only_so_many_threads_are_counted)
{
	static struct counters many[COUNTERS_THREADS + 1];
	unsigned files = open_files(), n = 0;
	uint64_t now[COUNTERS];

	if (!begins()) {
		SKIP("no perf events here");
		return;
	}
	memset(many, 0, sizeof(many));
	for (unsigned i = 0; i < COUNT(many); i++)
		n += counters_read(&many[i], now);
	CHECK_INT(n, COUNTERS_THREADS, NULL);
	CHECK(counters_close(&many[0]));
	CHECK(counters_close(&many[COUNTERS_THREADS]));
	CHECK(counters_read(&many[COUNTERS_THREADS], now)); /* there is room again */
	counters_end();
	for (unsigned i = 0; i < COUNT(many); i++)
		CHECK(counters_close(&many[i]));
	CHECK_INT(open_files(), files, "all are closed");
}

static void *end_in_a_call(void *files)
{
	struct probe_metered m;
	uint64_t outer = probe_enter(1), inner = probe_enter(1);

	fault(50);
	probe_exit(1, inner);
	fault(50);
	probe_exit(1, outer);
	probe_metered_read(1, &m);
	MUST_INT(m.calls, 2);
	MUST_INT(m.outermost, 1);
	MUST_INT(m.counted, 1);
	MUST(m.counts[FAULTS] >= 100 && m.counts[FAULTS] < 200);
	*(unsigned *)files = open_files();
	probe_thread_end();
	return NULL;
}

PROBE_TEST(a_recursion_is_counted_once_and_a_thread_that_ends_leaves_no_counter, MIB)
{
	unsigned files = open_files(), meanwhile = 0;
	struct probe_metered m;
	pthread_t thread;

	if (!begins())
		return;
	probe_method_set(1, &(struct probe_how){ .one_in = 1, .meter = true });
	MUST_INT(pthread_create(&thread, NULL, end_in_a_call, &meanwhile), 0);
	pthread_join(thread, NULL);
	MUST_INT(meanwhile, files + 3);
	MUST_INT(open_files(), files);
	probe_counters_end();
	probe_method_reset(1);
	probe_metered_read(1, &m);
	MUST_INT(m.counted, 0);
	MUST_INT(m.counts[FAULTS], 0);
}
