/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - see engine.h.
 *
 * The handler uses static memory alone: a stack of its own would be too small for a buffer of spots,
 * so it takes one of a few.  It is never taken out again: a signal that is still under way must not
 * meet the default action, which would end the process. */
#include "agent/sampling/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/syscalls.h"
#include "agent/sampling/mapped.h"
#include "agent/sampling/peek.h"
#include "agent/sampling/slots.h"
#include "sample/walk.h"
#include "walk_arch.h"

enum {
	N_SLOTS = 1 << 14, /* stacks in one table */
	N_SPOTS = 1 << 18, /* 2 MiB */
	DEPTH = 512,
	STACK_MAX = 64 << 20, /* bytes that are looked at of one whose end is not known */
	BUFFERS = 64,	      /* handlers at once */
	FDS_MAX = 1 << 16,
	SIGNAL_FROM = 6, /* from SIGRTMIN on; the JDK uses the uppermost ones */
};

static struct {
	bool on;
	const struct vm_layout *layout;
	int signal; /* 0: none yet */
	uint64_t period_ns;
	bool perf, kernel;
	uint32_t fds, fds_max;
	struct stacks tables[2];
	uint32_t now;	    /* which of them */
	uint32_t inside[2]; /* handlers in each */
	bool swapped;	    /* the other one was not given out yet */
	void *memory;
	size_t memory_n;
	uint16_t *slot_of_fd;
	uint64_t (*buffers)[DEPTH];
	uint64_t taken; /* bits: buffers in use */
} engine;

/* ---- the handler --------------------------------------------------------------------------- */

static int take_buffer(void)
{
	uint64_t all = __atomic_load_n(&engine.taken, __ATOMIC_RELAXED);

	while (~all) {
		int i = __builtin_ctzll(~all);

		if (__atomic_compare_exchange_n(&engine.taken, &all, all | (uint64_t)1 << i, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return i;
	}
	return -1;
}

static void give_buffer(int i)
{
	__atomic_fetch_and(&engine.taken, ~((uint64_t)1 << i), __ATOMIC_RELEASE);
}

/* Where the thread's Java code went into native code, when the walk over that did not find back. */
static void go_on_from_anchor(struct stack_walk *w, const struct thread_slot *s,
			      const struct walk_world *world)
{
	const struct vm_layout *l = engine.layout;
	uint64_t anchor = s->java + l->thread.anchor, sp, pc, fp;

	if (!s->java || !(sp = peek_word(anchor + l->thread.last_sp)) || sp <= w->at.sp)
		return;
	pc = peek_word(anchor + l->thread.last_pc);
	fp = peek_word(anchor + l->thread.last_fp);
	if (!pc)
		pc = peek_word(sp - 8);
	if (!heaps_contain(&l->heaps, pc))
		return;
	w->at = (struct walk_regs){ .pc = pc, .sp = sp, .fp = fp };
	w->interrupted = false;
	walk_run(w, world);
	if (walk_end_is_good(w->end))
		w->end = WALK_HOLE;
}

/* On a stack whose bounds are known to be mapped words are read directly; on another one, of a thread
 * that is new or switches stacks by itself, through the kernel. */
static void walk_thread(struct stack_walk *w, struct thread_slot *s)
{
	const struct walk_world world = { mapped_now(), &engine.layout->heaps };
	uint64_t hi = __atomic_load_n(&s->hi, __ATOMIC_ACQUIRE);
	bool known = w->at.sp >= s->lo && w->at.sp < hi;

	if (!hi && !s->sp) {
		s->descriptor = walk_arch_thread_pointer();
		__atomic_store_n(&s->sp, w->at.sp, __ATOMIC_RELEASE);
	}
	w->lo = w->at.sp & ~(uint64_t)7;
	w->hi = known ? hi : w->lo + STACK_MAX;
	w->bytes = known ? (const uint8_t *)(uintptr_t)w->lo : NULL;
	w->read = peek;
	w->interrupted = true;
	walk_run(w, &world);
	if (!walk_end_is_good(w->end))
		go_on_from_anchor(w, s, &world);
}

static void count(uint32_t slot, const void *context, uint32_t times)
{
	uint32_t which = __atomic_load_n(&engine.now, __ATOMIC_SEQ_CST);
	int buffer = take_buffer();
	struct thread_slot *s;
	struct stack_walk w;

	if (buffer < 0)
		return;
	__atomic_fetch_add(&engine.inside[which], 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&engine.now, __ATOMIC_SEQ_CST) == which &&
	    __atomic_load_n(&engine.on, __ATOMIC_SEQ_CST)) {
		s = slots_at(slot); /* not before: engine_end gives the slots back */
		memset(&w, 0, sizeof(w));
		w.at = walk_arch_regs(context);
		w.spots = engine.buffers[buffer];
		w.cap = DEPTH;
		walk_thread(&w, s);
		(void)stacks_add(&engine.tables[which],
				 &(struct stacks_new){ .spots = w.spots,
						       .n = w.n,
						       .thread = (uint32_t)s->tid,
						       .count = times,
						       .end = (uint8_t)w.end });
	}
	__atomic_fetch_sub(&engine.inside[which], 1, __ATOMIC_SEQ_CST);
	give_buffer(buffer);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	bool timer = info->si_code == SI_TIMER;
	uint32_t slot = timer ? (uint32_t)info->si_value.sival_int : 0;
	uint32_t times = 1;

	(void)number;
	if (!__atomic_load_n(&engine.on, __ATOMIC_ACQUIRE))
		return;
	if (timer)
		times += info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0;
	else if (info->si_code == POLL_HUP || info->si_code == POLL_IN)
		slot = info->si_fd >= 0 && info->si_fd < FDS_MAX ? engine.slot_of_fd[info->si_fd]
								 : UINT16_MAX;
	else
		return;
	if (slot >= SLOTS_MAX) /* the descriptor may be the program's by now */
		return;
	count(slot, context, times);
	if (!timer && __atomic_load_n(&engine.on, __ATOMIC_ACQUIRE))
		(void)ioctl(info->si_fd, PERF_EVENT_IOC_REFRESH, 1);
	errno = saved;
}

/* A real-time signal that nobody uses.  Runtimes with small stacks of their own (Go) set an alternate
 * one, and need SA_ONSTACK of every handler. */
static bool take_signal(void)
{
	struct sigaction old, ours;

	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = on_signal;
	ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	for (int s = SIGRTMIN + SIGNAL_FROM; !engine.signal && s <= SIGRTMAX - 4; s++)
		if (sigaction(s, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL && sigaction(s, &ours, NULL) == 0)
			engine.signal = s;
	return engine.signal != 0;
}

/* ---- what wakes a thread ------------------------------------------------------------------- */

static int open_event(pid_t tid, bool with_kernel)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = engine.period_ns;
	attr.disabled = 1;
	attr.wakeup_events = 1;
	attr.exclude_kernel = !with_kernel;
	attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool begin_event(struct thread_slot *s, uint32_t number)
{
	const struct f_owner_ex owner = { F_OWNER_TID, s->tid };
	int fd = engine.fds < engine.fds_max ? open_event(s->tid, engine.kernel) : -1;

	if (fd < 0)
		return false;
	if (fd >= FDS_MAX || fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETSIG, engine.signal) < 0 || fcntl(fd, F_SETOWN_EX, &owner) < 0) {
		close(fd);
		return false;
	}
	engine.slot_of_fd[fd] = (uint16_t)number;
	engine.fds++;
	s->fd = fd;
	(void)ioctl(fd, PERF_EVENT_IOC_REFRESH, 1);
	return true;
}

/* The kernel's numbers of threads' clocks. */
static clockid_t clock_of(pid_t tid)
{
	return (clockid_t)(~(uint32_t)tid << 3 | 6);
}

static bool begin_timer(struct thread_slot *s, uint32_t number)
{
	struct timespec period = { (time_t)(engine.period_ns / 1000000000u),
				   (long)(engine.period_ns % 1000000000u) };
	const struct itimerspec spec = { period, period };
	struct {
		sigval_t value;
		int signo, notify, tid;
		int unused[12];
	} how = { .value.sival_int = (int)number,
		  .signo = engine.signal,
		  .notify = SIGEV_THREAD_ID,
		  .tid = s->tid };

	if (syscall(SYS_timer_create, clock_of(s->tid), &how, &s->timer) < 0) {
		s->timer = -1;
		return false;
	}
	return syscall(SYS_timer_settime, s->timer, 0, &spec, NULL) == 0;
}

static void begin_thread(struct thread_slot *s, uint32_t number)
{
	if (!engine.perf || !begin_event(s, number))
		(void)begin_timer(s, number);
}

static void end_thread(struct thread_slot *s)
{
	if (s->fd >= 0) {
		engine.slot_of_fd[s->fd] = UINT16_MAX;
		close(s->fd);
		engine.fds--;
	}
	if (s->timer >= 0)
		(void)syscall(SYS_timer_delete, s->timer);
	s->fd = s->timer = -1;
}

/* ---- beginning and end --------------------------------------------------------------------- */

/* What a container or a hardened kernel may not let us do. */
static void choose(void)
{
	int fd;

	engine.kernel = true;
	fd = open_event(0, true);
	if (fd < 0) {
		engine.kernel = false;
		fd = open_event(0, false);
	}
	engine.perf = fd >= 0;
	if (fd >= 0)
		close(fd);
}

static bool take_memory(void)
{
	size_t table = stacks_bytes(N_SLOTS, N_SPOTS), buffers = BUFFERS * sizeof(*engine.buffers);
	size_t all = 2 * table + buffers + FDS_MAX * sizeof(uint16_t);
	uint8_t *p = mmap(NULL, all, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	engine.memory = p;
	engine.memory_n = all;
	stacks_init(&engine.tables[0], p, N_SLOTS, N_SPOTS);
	stacks_init(&engine.tables[1], p + table, N_SLOTS, N_SPOTS);
	engine.buffers = (void *)(p + 2 * table);
	engine.slot_of_fd = (void *)(p + 2 * table + buffers);
	return true;
}

const char *engine_begin(const struct vm_layout *l, uint32_t rate)
{
	long fds = sysconf(_SC_OPEN_MAX);

	if (syscalls_filtered())
		return "a seccomp filter is in force, which may end the program for the system calls "
		       "that sampling needs";
	if (!take_signal())
		return "no real-time signal is free";
	engine.layout = l;
	engine.period_ns = 1000000000u / rate;
	engine.fds = 0;
	engine.fds_max = fds > 0 ? (uint32_t)fds / 4 : 256;
	engine.now = 0;
	engine.swapped = false;
	if (!engine.memory && !take_memory())
		return "memory is out";
	stacks_clear(&engine.tables[0]);
	stacks_clear(&engine.tables[1]);
	memset(engine.slot_of_fd, 0xff, FDS_MAX * sizeof(uint16_t));
	if (!peek_begin() || !slots_begin() || !mapped_begin()) {
		engine_end();
		return "/proc/self cannot be read";
	}
	choose();
	__atomic_store_n(&engine.on, true, __ATOMIC_SEQ_CST);
	engine_scan();
	return NULL;
}

static bool is_empty(uint32_t which)
{
	for (int i = 0; i < 200 && __atomic_load_n(&engine.inside[which], __ATOMIC_SEQ_CST); i++)
		usleep(50);
	return !__atomic_load_n(&engine.inside[which], __ATOMIC_SEQ_CST);
}

/* Waits for handlers, for as long as it takes: a thread that the scheduler has put aside in one comes
 * back.  Tables and slots stay where they are if it does not. */
void engine_end(void)
{
	bool gone = true;

	slots_each(end_thread);
	__atomic_store_n(&engine.on, false, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 500 && !(gone = is_empty(0) && is_empty(1)); i++)
		;
	if (!gone)
		return;
	slots_end();
	mapped_end();
	peek_end();
	if (engine.memory) /* handlers that come late find it empty, but there */
		(void)madvise(engine.memory, engine.memory_n, MADV_DONTNEED);
}

void engine_scan(void)
{
	static const struct slots_calls calls = { begin_thread, end_thread };

	if (!engine.swapped) /* handlers in the new table may be in the old list until the next swap */
		(void)mapped_update();
	slots_scan(engine.layout, &calls);
}

/* Handlers that began before the swap have counted themselves in; later ones see the new table, and
 * the new list of modules as well. */
struct stacks *engine_take(void)
{
	uint32_t other = !engine.now;

	if (!engine.swapped) {
		stacks_clear(&engine.tables[other]);
		__atomic_store_n(&engine.now, other, __ATOMIC_SEQ_CST);
		engine.swapped = true;
		other = !other;
	}
	if (!is_empty(other))
		return NULL;
	engine.swapped = false;
	mapped_drop_old();
	return &engine.tables[other];
}

const char *engine_name(void)
{
	return !engine.perf    ? "timers on processor time; the kernel's tick bounds their rate"
	       : engine.kernel ? "perf events"
			       : "perf events; what the kernel does for the program is not seen";
}

uint64_t engine_period_ns(void)
{
	return engine.period_ns;
}
