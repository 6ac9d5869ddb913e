/* SPDX-License-Identifier: Apache-2.0 */
/* perf_events.c - one ring for each processor, into which the events of all threads on it go.
 *
 * An event of a thread on one processor is inherited by the threads that it makes, so none is missed, and
 * a ring may be shared by inherited events only in this way.  Where that were too many descriptors, all
 * processes are sampled, which takes one for each processor and a right that few have. */
#define _GNU_SOURCE
#include "cli/outside/perf_events.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/proc.h"

enum {
	RINGS_BYTES = 128 << 20, /* of all processors, at most */
	RING_MOST = 8 << 20,
	RING_LEAST = 128 << 10,
	FDS_SPARE = 32,
	ROUNDS = 10, /* looks for threads that were made meanwhile */
};

/* ---- one event ----------------------------------------------------------------------------- */

static struct perf_event_attr attributes(const struct perf_events *e)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_CPU_CLOCK;
	a.sample_period = e->period_ns;
	a.sample_type = perf_sample_type();
	a.sample_regs_user = perf_sample_regs();
	a.sample_stack_user = EVENTS_STACK;
	a.exclude_callchain_user = 1; /* stacks are unwound here, by better means */
	a.exclude_kernel = a.exclude_callchain_kernel = !e->kernel;
	a.exclude_hv = 1;
	a.disabled = 1;
	a.watermark = 1;
	a.wakeup_watermark = (uint32_t)(e->ring_bytes / 4);
	a.inherit = !e->machine;
	a.inherit_thread = !e->machine; /* not of child processes */
	return a;
}

static int open_event(const struct perf_events *e, pid_t tid, int cpu)
{
	struct perf_event_attr a = attributes(e);
	int fd = (int)syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 || errno != EINVAL || !a.inherit_thread)
		return fd;
	a.inherit_thread = 0; /* Linux before 5.13: samples of children are dropped later */
	return (int)syscall(SYS_perf_event_open, &a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool keep(struct perf_events *e, int fd)
{
	size_t cap = e->cap_fds ? e->cap_fds * 2 : 64;

	if (e->n_fds == e->cap_fds) {
		int *more = mem_realloc(e->fds, cap * sizeof(*more));

		if (!more) {
			close(fd);
			errno = ENOMEM;
			return false;
		}
		e->fds = more;
		e->cap_fds = cap;
	}
	e->fds[e->n_fds++] = fd;
	return true;
}

/* The first event of a processor has the ring; less memory than wanted will do. */
static bool map_ring(struct perf_events *e, struct perf_events_ring *r, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (;; e->ring_bytes /= 2) {
		void *base =
			mmap(NULL, page + e->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (base != MAP_FAILED) {
			r->base = base;
			r->fd = fd;
			r->ring = (struct perf_ring){ .bytes = (const uint8_t *)base + page,
						      .size = e->ring_bytes,
						      .whole = e->whole };
			return true;
		}
		if (errno != EPERM || e->ring_bytes <= RING_LEAST)
			return false;
	}
}

/* False: errno says why.  True also when the thread has ended, or the processor is off. */
static bool add_event(struct perf_events *e, pid_t tid, unsigned cpu)
{
	struct perf_events_ring *r = &e->rings[cpu];
	int fd = open_event(e, tid, (int)cpu);

	if (fd < 0)
		return errno == ESRCH || errno == ENODEV;
	if (!keep(e, fd))
		return false;
	return r->base ? ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd) == 0 : map_ring(e, r, fd);
}

/* ---- all of them --------------------------------------------------------------------------- */

struct tids {
	pid_t *v;
	size_t n, cap;
};

static bool is_new(struct tids *all, pid_t tid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i] == tid)
			return false;
	if (all->n == all->cap) {
		size_t cap = all->cap ? all->cap * 2 : 64;
		pid_t *more = mem_realloc(all->v, cap * sizeof(*more));

		if (!more)
			return false;
		all->v = more;
		all->cap = cap;
	}
	all->v[all->n++] = tid;
	return true;
}

/* Threads that have none yet.  How many; < 0: errno says why it failed. */
static int add_threads(struct perf_events *e, struct tids *all)
{
	DIR *dir = proc_threads(e->pid);
	const char *name;
	int n = 0;

	while (n >= 0 && (name = proc_next_thread(dir))) {
		pid_t tid = (pid_t)strtol(name, NULL, 10);

		if (!is_new(all, tid))
			continue;
		n++;
		for (unsigned cpu = 0; n > 0 && cpu < e->n_rings; cpu++)
			n = add_event(e, tid, cpu) ? n : -1;
	}
	if (dir) {
		int saved = errno;

		closedir(dir);
		errno = saved;
	}
	return n;
}

/* Those made before their maker had events are found by looking again. */
static bool open_threads(struct perf_events *e)
{
	struct tids all = { 0 };
	int n = 1;

	for (int i = 0; i < ROUNDS && n > 0; i++)
		n = add_threads(e, &all);
	mem_free(all.v);
	return n >= 0;
}

static bool open_machine(struct perf_events *e)
{
	bool good = true;

	for (unsigned cpu = 0; good && cpu < e->n_rings; cpu++)
		good = add_event(e, -1, cpu);
	return good;
}

static void close_all(struct perf_events *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < e->n_rings; i++) {
		if (e->rings[i].base)
			munmap(e->rings[i].base, page + (size_t)e->rings[i].ring.size);
		e->rings[i] = (struct perf_events_ring){ 0 };
	}
	for (size_t i = 0; i < e->n_fds; i++)
		close(e->fds[i]);
	e->n_fds = 0;
}

void perf_events_close(struct perf_events *e)
{
	close_all(e);
	mem_free(e->rings);
	mem_free(e->fds);
	mem_free(e->whole);
	*e = (struct perf_events){ 0 };
}

/* ---- what the kernel refuses --------------------------------------------------------------- */

static int paranoia(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -100;

	if (f && fscanf(f, "%d", &level) != 1)
		level = -100;
	if (f)
		fclose(f);
	return level;
}

static void say_why(const struct perf_events *e, int error, char why[EVENTS_WHY])
{
	int level = paranoia();

	if (error == ENOSYS || level == -100)
		snprintf(why, EVENTS_WHY,
			 "this kernel has no perf events, by which processes without "
			 "an agent are sampled");
	else if ((error == EACCES || error == EPERM) && level > 1 && geteuid() != 0)
		snprintf(
			why, EVENTS_WHY,
			"the kernel lets only root sample %d (kernel.perf_event_paranoid is %d): run as "
			"root, or have 'sysctl kernel.perf_event_paranoid=1' set",
			(int)e->pid, level);
	else if (error == EACCES || error == EPERM)
		snprintf(
			why, EVENTS_WHY,
			"the kernel does not let us sample %d: it belongs to somebody else, or a "
			"container's seccomp filter forbids perf_event_open (CAP_PERFMON allows it)",
			(int)e->pid);
	else if (error == EMFILE || error == ENFILE)
		snprintf(
			why, EVENTS_WHY,
			"%d has more threads than there may be descriptors: 'ulimit -n' sets how many",
			(int)e->pid);
	else
		snprintf(why, EVENTS_WHY, "perf_event_open: %s", strerror(error));
}

static bool is_refused(int error)
{
	return error == EACCES || error == EPERM;
}

/* With the kernel if that is allowed, else without. */
static bool try_all(struct perf_events *e, bool (*open_them)(struct perf_events *))
{
	e->kernel = true;
	if (open_them(e))
		return true;
	if (is_refused(errno)) {
		close_all(e);
		e->kernel = false;
		if (open_them(e))
			return true;
	}
	return false;
}

static void want_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static size_t ring_size(unsigned processors)
{
	size_t n = RING_MOST;

	while (n > RING_LEAST && n * processors > RINGS_BYTES)
		n /= 2;
	return n;
}

bool perf_events_open(struct perf_events *e, pid_t pid, uint32_t rate, char why[EVENTS_WHY])
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);
	int error;

	*e = (struct perf_events){ .pid = pid,
				   .n_rings = processors > 0 ? (unsigned)processors : 1 };
	e->period_ns = 1000000000u / rate;
	e->ring_bytes = ring_size(e->n_rings);
	e->rings = mem_alloc(e->n_rings * sizeof(*e->rings));
	e->whole = mem_alloc(PERF_RING_RECORD_MAX);
	if (!e->rings || !e->whole) {
		snprintf(why, EVENTS_WHY, "out of memory");
		return false;
	}
	memset(e->rings, 0, e->n_rings * sizeof(*e->rings));
	want_descriptors();
	if (try_all(e, open_threads))
		return true;
	error = errno;
	close_all(e);
	e->machine = true;
	if ((error == EMFILE || error == ENFILE) && try_all(e, open_machine))
		return true;
	say_why(e, error, why);
	return false;
}

/* ---- samples ------------------------------------------------------------------------------- */

void perf_events_start(struct perf_events *e)
{
	for (size_t i = 0; i < e->n_fds; i++)
		(void)ioctl(e->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

void perf_events_wait(const struct perf_events *e, int timeout_ms)
{
	struct pollfd fds[64];
	unsigned n = 0;

	for (unsigned i = 0; i < e->n_rings && n < 64; i++)
		if (e->rings[i].base)
			fds[n++] = (struct pollfd){ .fd = e->rings[i].fd, .events = POLLIN };
	if (poll(fds, n, timeout_ms) > 0)
		for (unsigned i = 0; i < n; i++)
			if (fds[i].revents &
			    POLLHUP) { /* of a thread that has ended: always ready */
				poll(NULL, 0, timeout_ms < 10 ? timeout_ms : 10);
				return;
			}
}

static void take_record(struct perf_events *e, const struct perf_ring_record *r,
			perf_events_visit *visit, void *ctx)
{
	struct perf_sample s;
	uint64_t lost;

	if (r->type == PERF_RECORD_LOST && r->payload.n >= 16) {
		memcpy(&lost, r->payload.p + 8, 8);
		e->lost += lost;
	} else if (r->type == PERF_RECORD_SAMPLE && perf_sample_read(r->payload, &s) &&
		   s.pid == (uint32_t)e->pid) {
		visit(ctx, &s);
	}
}

void perf_events_take(struct perf_events *e, perf_events_visit *visit, void *ctx)
{
	for (unsigned i = 0; i < e->n_rings; i++) {
		struct perf_event_mmap_page *page = e->rings[i].base;
		struct perf_ring *ring = &e->rings[i].ring;
		struct perf_ring_record r;

		if (!page)
			continue;
		ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
		while (perf_ring_take(ring, &r)) {
			take_record(e, &r, visit, ctx);
			__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
		}
		__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
	}
}
