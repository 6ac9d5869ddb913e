/* SPDX-License-Identifier: Apache-2.0 */
/* wakers.c - see wakers.h.  A descriptor's slot is noted by its number, since that is what a signal
 * tells; it may be the program's own by the time the signal comes. */
#include "agent/sampling/wakers.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { FDS_MAX = 1 << 16 };

static struct {
	uint64_t period_ns;
	int signal;
	bool perf, kernel;
	uint32_t fds, fds_max;
	uint16_t *slot_of_fd;
} wakers;

static int open_event(pid_t tid, bool with_kernel)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = wakers.period_ns;
	attr.disabled = 1;
	attr.wakeup_events = 1;
	attr.exclude_kernel = !with_kernel;
	attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool begin_event(struct thread_slot *s, uint32_t number)
{
	const struct f_owner_ex owner = { F_OWNER_TID, s->tid };
	int fd = wakers.fds < wakers.fds_max ? open_event(s->tid, wakers.kernel) : -1;

	if (fd < 0)
		return false;
	if (fd >= FDS_MAX || fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETSIG, wakers.signal) < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0) {
		close(fd);
		return false;
	}
	wakers.slot_of_fd[fd] = (uint16_t)number;
	wakers.fds++;
	s->fd = fd;
	(void)ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
	return true;
}

static bool begin_timer(struct thread_slot *s, uint32_t number)
{
	struct timespec period = { (time_t)(wakers.period_ns / 1000000000u),
				   (long)(wakers.period_ns % 1000000000u) };
	const struct itimerspec spec = { period, period };
	struct {
		sigval_t value;
		int signo, notify, tid;
		int unused[12];
	} how = { .value.sival_int = (int)number,
		  .signo = wakers.signal,
		  .notify = SIGEV_THREAD_ID,
		  .tid = s->tid };

	if (syscall(SYS_timer_create, slots_clock(s), &how, &s->timer) < 0) {
		s->timer = -1;
		return false;
	}
	return syscall(SYS_timer_settime, s->timer, 0, &spec, NULL) == 0;
}

void wakers_come(struct thread_slot *s, uint32_t number)
{
	if (!wakers.perf || !begin_event(s, number))
		(void)begin_timer(s, number);
}

void wakers_gone(struct thread_slot *s)
{
	if (s->fd >= 0) {
		wakers.slot_of_fd[s->fd] = UINT16_MAX;
		close(s->fd);
		wakers.fds--;
	}
	if (s->timer >= 0)
		(void)syscall(SYS_timer_delete, s->timer);
	s->fd = s->timer = -1;
}

/* What a container or a hardened kernel may not let us do. */
static void choose(void)
{
	int fd;

	wakers.kernel = true;
	fd = open_event(0, true);
	if (fd < 0) {
		wakers.kernel = false;
		fd = open_event(0, false);
	}
	wakers.perf = fd >= 0;
	if (fd >= 0)
		close(fd);
}

bool wakers_begin(uint64_t period_ns, int signal)
{
	long fds = sysconf(_SC_OPEN_MAX);
	size_t n = FDS_MAX * sizeof(*wakers.slot_of_fd);
	void *p = wakers.slot_of_fd ? wakers.slot_of_fd
				    : mmap(NULL, n, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	wakers.slot_of_fd = p;
	memset(p, 0xff, n);
	wakers.period_ns = period_ns;
	wakers.signal = signal;
	wakers.fds = 0;
	wakers.fds_max = fds > 0 ? (uint32_t)fds / 4 : 256;
	choose();
	return true;
}

void wakers_end(void)
{
	if (wakers.slot_of_fd) /* a signal that comes late finds it empty, but there */
		(void)madvise(wakers.slot_of_fd, FDS_MAX * sizeof(*wakers.slot_of_fd),
			      MADV_DONTNEED);
}

uint32_t wakers_slot_of(const siginfo_t *info, uint32_t *times)
{
	uint32_t slot = SLOTS_MAX;

	*times = 1;
	if (info->si_code == SI_TIMER) {
		*times += info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0;
		slot = (uint32_t)info->si_value.sival_int;
	} else if ((info->si_code == POLL_HUP || info->si_code == POLL_IN) && info->si_fd >= 0 &&
		   info->si_fd < FDS_MAX && wakers.slot_of_fd) {
		slot = wakers.slot_of_fd[info->si_fd];
	}
	return slot < SLOTS_MAX ? slot : SLOTS_MAX;
}

void wakers_go_on(const siginfo_t *info)
{
	if (info->si_code != SI_TIMER)
		(void)ioctl(info->si_fd, PERF_EVENT_IOC_REFRESH, 1);
}

const char *wakers_name(void)
{
	return !wakers.perf    ? "timers on processor time; the kernel's tick bounds their rate"
	       : wakers.kernel ? "perf events"
			       : "perf events; what the kernel does for the program is not seen";
}
