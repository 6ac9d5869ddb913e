/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c - one group of perf events a thread, read with one system call.
 *
 * A descriptor that is closed may be the program's next socket.  So a thread says that it reads
 * before it looks whether it may, and who closes forbids it before looking whether somebody reads:
 * one of the two sees the other.  The events count what the thread does outside of the kernel, so
 * that asking needs no rights and costs none of what is counted but some dozens of instructions. */
#include "probe/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	struct counter_kind kinds[COUNTERS];
	uint32_t has;	  /* a set of bits; 0: nothing is counted */
	uint32_t threads; /* with open counters */
} all;

static int open_one(const struct counter_kind *kind, int leader)
{
	struct perf_event_attr attr = {
		.type = kind->type,
		.size = sizeof(attr),
		.config = kind->config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

unsigned counters_begin(const struct counter_kind kinds[COUNTERS])
{
	unsigned has = 0;
	int before = errno;

	__atomic_store_n(&all.has, 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < COUNTERS; i++) {
		int fd = open_one(&kinds[i], -1);

		all.kinds[i] = kinds[i];
		if (fd >= 0) {
			has |= 1u << i;
			close(fd);
		}
	}
	__atomic_store_n(&all.has, has, __ATOMIC_SEQ_CST);
	errno = before;
	return has;
}

void counters_end(void)
{
	__atomic_store_n(&all.has, 0, __ATOMIC_SEQ_CST);
}

static bool is_open(const struct counters *c)
{
	bool any = false;

	for (unsigned i = 0; i < COUNTERS; i++)
		any |= c->fds[i] != 0;
	return any;
}

static void close_all(struct counters *c)
{
	if (is_open(c))
		__atomic_fetch_sub(&all.threads, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < COUNTERS; i++) {
		if (c->fds[i])
			close(c->fds[i] - 1);
		c->fds[i] = 0;
	}
	c->refused = false;
}

/* All that the system has, or none. */
static bool open_all(struct counters *c, unsigned has)
{
	int leader = -1;

	if (__atomic_fetch_add(&all.threads, 1, __ATOMIC_RELAXED) >= COUNTERS_THREADS) {
		__atomic_fetch_sub(&all.threads, 1, __ATOMIC_RELAXED);
		return false;
	}
	for (unsigned i = 0; i < COUNTERS; i++) {
		int fd = has & 1u << i ? open_one(&all.kinds[i], leader) : -1;

		if (!(has & 1u << i))
			continue;
		if (fd < 0) {
			if (leader < 0)
				__atomic_fetch_sub(&all.threads, 1, __ATOMIC_RELAXED);
			close_all(c);
			return false;
		}
		c->fds[i] = fd + 1;
		if (leader < 0)
			leader = fd;
	}
	return true;
}

/* Several groups may have to take turns on the processor's counters: then what was seen stands for
 * the whole time. */
static bool read_group(const struct counters *c, unsigned has, uint64_t out[COUNTERS])
{
	struct {
		uint64_t n, enabled, running, values[COUNTERS];
	} said;
	unsigned first = (unsigned)__builtin_ctz(has), at = 0;
	ssize_t n = read(c->fds[first] - 1, &said, sizeof(said));

	if (n < 0 || (size_t)n < 3 * sizeof(uint64_t) ||
	    said.n != (unsigned)__builtin_popcount(has) || !said.running)
		return false;
	for (unsigned i = 0; i < COUNTERS; i++) {
		out[i] = 0;
		if (has & 1u << i)
			out[i] = said.running == said.enabled
					 ? said.values[at++]
					 : (uint64_t)((double)said.values[at++] *
						      (double)said.enabled / (double)said.running);
	}
	return true;
}

bool counters_read(struct counters *c, uint64_t out[COUNTERS])
{
	int before = errno;
	unsigned has;
	bool known = false;

	if (!__atomic_load_n(&all.has, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&c->reading, 1, __ATOMIC_SEQ_CST);
	has = __atomic_load_n(&all.has, __ATOMIC_SEQ_CST);
	if (has && !c->refused && !is_open(c))
		c->refused = !open_all(c, has);
	if (has && is_open(c))
		known = read_group(c, has, out);
	__atomic_store_n(&c->reading, 0, __ATOMIC_RELEASE);
	errno = before;
	return known;
}

bool counters_close(struct counters *c)
{
	int before = errno;

	if (__atomic_load_n(&c->reading, __ATOMIC_SEQ_CST))
		return false;
	close_all(c);
	errno = before;
	return true;
}
