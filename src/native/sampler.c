/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.c - timers, the handler that walks its own thread's stack, and the rows that come of it.
 *
 * Words of the stack are read through the kernel, so nothing can fault whatever the stack is.  The
 * handler stays when sampling ends: a signal still under way must not meet the default action.  When
 * the library goes, such signals are thrown away first. */
#include "native/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/tick.h"
#include "native/objects.h"
#include "native/totals.h"
#include "sample/free_signal.h"
#include "sample/modules.h"
#include "sample/sparse.h"
#include "sample/stacks.h"
#include "sample/walk.h"
#include "walk_arch.h"
#include "wire/wire.h"

enum {
	N_SLOTS = 1 << 12,
	N_SPOTS = 1 << 17,
	DEPTH = 200,
	STACK_MAX = 64 << 20, /* bytes of a stack that are looked at */
	TIMERS = 256,
	LOOK_MS = 100,
	RATE_MAX = 1000,
	MAPS_MAX = 64 << 20,
};

static struct {
	bool on;
	int signal;	 /* 0: none yet */
	uint32_t inside; /* handlers */
	struct stacks table;
	void *memory;
	struct modules modules;
	bool has_modules;
	struct {
		pid_t tid; /* 0: free */
		int timer;
	} timers[TIMERS];
	uint64_t begin, end, period_ns, cpu_before; /* ticks; ns */
} sampler;

/* ---- the handler --------------------------------------------------------------------------- */

static bool read_own(uint64_t address, void *to, size_t n)
{
	const struct iovec local = { to, n };
	const struct iovec remote = { (void *)(uintptr_t)address, n };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

static void count(const void *context, uint32_t times)
{
	const struct walk_world world = { &sampler.modules, NULL };
	uint64_t spots[DEPTH];
	struct stack_walk w = { .at = walk_arch_regs(context),
				.spots = spots,
				.cap = DEPTH,
				.read = read_own,
				.interrupted = true };

	w.lo = w.at.sp & ~(uint64_t)7;
	w.hi = w.lo + STACK_MAX;
	walk_run(&w, &world);
	(void)stacks_add(&sampler.table,
			 &(struct stacks_new){
				 .spots = spots, .n = w.n, .count = times, .end = (uint8_t)w.end });
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)number;
	__atomic_fetch_add(&sampler.inside, 1, __ATOMIC_SEQ_CST);
	if (info->si_code == SI_TIMER && __atomic_load_n(&sampler.on, __ATOMIC_SEQ_CST))
		count(context, 1 + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0));
	__atomic_fetch_sub(&sampler.inside, 1, __ATOMIC_SEQ_CST);
	errno = saved;
}

static bool take_signal(void)
{
	if (!sampler.signal)
		sampler.signal = free_signal_take(on_signal);
	return sampler.signal != 0;
}

/* ---- what is mapped ------------------------------------------------------------------------- */

static bool fetch(void *ctx, const struct mapping *map, struct slice *file)
{
	char path[4096];

	(void)ctx;
	if (map->path.n >= sizeof(path) || !map->path.n || map->path.p[0] != '/')
		return false;
	memcpy(path, map->path.p, map->path.n);
	path[map->path.n] = '\0';
	return sparse_read(path, file);
}

static void drop(void *ctx, struct slice file)
{
	(void)ctx;
	sparse_drop(file);
}

static bool read_modules(void)
{
	static const struct modules_source source = { fetch, drop, NULL };
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct buf maps = { 0 };
	ssize_t n = fd < 0 ? -1 : 1;
	uint8_t *p;

	while (n > 0 && maps.n < MAPS_MAX && (p = buf_room(&maps, 64 << 10))) {
		n = read(fd, p, 64 << 10);
		maps.n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	sampler.has_modules = n == 0 && !maps.err &&
			      modules_build(&sampler.modules, buf_slice(&maps), &source, NULL) >= 0;
	buf_release(&maps);
	return sampler.has_modules;
}

/* ---- timers --------------------------------------------------------------------------------- */

/* The kernel's numbers of threads' clocks. */
static clockid_t clock_of(pid_t tid)
{
	return (clockid_t)(~(uint32_t)tid << 3 | 6);
}

static void watch_thread(pid_t tid)
{
	struct timespec period = { (time_t)(sampler.period_ns / 1000000000u),
				   (long)(sampler.period_ns % 1000000000u) };
	const struct itimerspec spec = { period, period };
	struct sigevent how = { .sigev_signo = sampler.signal, .sigev_notify = SIGEV_THREAD_ID };
	size_t place = TIMERS;
	int timer;

	for (size_t i = 0; i < TIMERS; i++) {
		if (sampler.timers[i].tid == tid)
			return;
		if (!sampler.timers[i].tid && place == TIMERS)
			place = i;
	}
	how._sigev_un._tid = tid;
	if (place == TIMERS || syscall(SYS_timer_create, clock_of(tid), &how, &timer) < 0)
		return;
	(void)syscall(SYS_timer_settime, timer, 0, &spec, NULL);
	sampler.timers[place].tid = tid;
	sampler.timers[place].timer = timer;
}

static void watch_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	pid_t own = (pid_t)syscall(SYS_gettid), tid;

	for (struct dirent *e; d && (e = readdir(d));) {
		tid = (pid_t)strtol(e->d_name, NULL, 10);
		if (tid > 0 && tid != own)
			watch_thread(tid);
	}
	if (d)
		closedir(d);
}

static void end_timers(void)
{
	for (size_t i = 0; i < TIMERS; i++)
		if (sampler.timers[i].tid)
			(void)syscall(SYS_timer_delete, sampler.timers[i].timer);
	memset(sampler.timers, 0, sizeof(sampler.timers));
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static bool take_memory(void)
{
	void *p = mmap(NULL, stacks_bytes(N_SLOTS, N_SPOTS), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	sampler.memory = p;
	stacks_init(&sampler.table, p, N_SLOTS, N_SPOTS);
	return true;
}

const char *sampler_begin(uint32_t rate, uint64_t for_ns)
{
	if (sampler.on || sampler.has_modules)
		return "somebody else samples this program; try again later";
	if (!for_ns)
		return "samples of a native process come at the end, so it must be said for how long";
	if (!take_signal())
		return "no real-time signal is free";
	if (!sampler.memory && !take_memory())
		return "memory is out";
	stacks_clear(&sampler.table);
	if (!read_modules())
		return "/proc/self/maps cannot be read";
	rate = rate && rate < RATE_MAX ? rate : RATE_MAX;
	sampler.period_ns = 1000000000u / rate;
	sampler.cpu_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	sampler.begin = tick_now();
	sampler.end = for_ns;
	__atomic_store_n(&sampler.on, true, __ATOMIC_SEQ_CST);
	watch_threads();
	return NULL;
}

bool sampler_is_on(void)
{
	return sampler.on;
}

int sampler_patience_ms(void)
{
	return sampler.on ? LOOK_MS : -1;
}

bool sampler_look(void)
{
	if (!sampler.on)
		return false;
	watch_threads();
	return totals_ns(tick_now() - sampler.begin) >= sampler.end;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct numbering {
	struct arena mem;
	struct objects objects; /* files by the names that the dynamic linker, and so rules, have */
	struct map by_address;
	struct buf row, *out;
};

static uint32_t number_of(struct numbering *n, uint64_t pc)
{
	const struct object *in = objects_at(&n->objects, pc);
	uint64_t *kept = arena_copy(&n->mem, &pc, sizeof(pc));
	struct slice key = { (const uint8_t *)kept, sizeof(pc) };
	bool fresh = false;
	uintptr_t *place = kept ? map_put(&n->by_address, key, &fresh) : NULL;

	if (!place)
		return 0;
	if (!fresh)
		return (uint32_t)*place;
	*place = n->by_address.n;
	wire_put_stack_place(n->out, &(struct wire_stack_place){
					     .id = (uint32_t)*place,
					     .kind = in ? PLACE_NATIVE : PLACE_UNKNOWN,
					     .name = slice_str(in ? in->path : "unknown code"),
					     .address = in ? pc - in->bias : 0 });
	return (uint32_t)*place;
}

static void put_stack(struct numbering *n, const struct stack *s)
{
	buf_clear(&n->row);
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t spot = sampler.table.spots[s->at + i];

		buf_u32(&n->row,
			number_of(n, spot_address(spot) - (spot_kind(spot) == SPOT_RETURN)));
	}
	wire_put_stack_row(n->out, &(struct wire_stack_row){ .end = s->end,
							     .count = s->count,
							     .places = buf_slice(&n->row) });
}

static uint64_t put_rows(struct buf *out)
{
	struct numbering n = { .out = out };
	const struct stack *s;
	uint64_t samples = 0;
	uint32_t i = 0;

	arena_init(&n.mem);
	if (objects_read(&n.objects) < 0)
		return 0;
	while ((s = stacks_next(&sampler.table, &i))) {
		put_stack(&n, s);
		samples += s->count;
	}
	objects_release(&n.objects);
	map_release(&n.by_address);
	arena_release(&n.mem);
	buf_release(&n.row);
	return samples;
}

/* Without its timers no handler comes any more, but one may be on its way. */
static bool is_empty(void)
{
	for (int i = 0; i < 2000 && __atomic_load_n(&sampler.inside, __ATOMIC_SEQ_CST); i++)
		usleep(500);
	return !__atomic_load_n(&sampler.inside, __ATOMIC_SEQ_CST);
}

uint64_t sampler_end(struct buf *out)
{
	uint32_t threads = 0;
	uint64_t samples = 0;

	for (size_t i = 0; i < TIMERS; i++)
		threads += sampler.timers[i].tid != 0;
	end_timers();
	__atomic_store_n(&sampler.on, false, __ATOMIC_SEQ_CST);
	if (!is_empty())
		return 0; /* its memory stays, and nobody samples again */
	if (out)
		samples = put_rows(out);
	if (out)
		wire_put_stacks_state(
			out,
			&(struct wire_stacks_state){
				.samples = samples,
				.lost = sampler.table.lost,
				.wall_ns = totals_ns(tick_now() - sampler.begin),
				.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - sampler.cpu_before,
				.period_ns = sampler.period_ns,
				.threads = threads,
				.engine = slice_str("timers on processor time") });
	modules_release(&sampler.modules);
	sampler.has_modules = false;
	return samples;
}

bool sampler_release(void)
{
	struct sigaction now, none = { .sa_handler = SIG_IGN };

	if (sampler.on)
		(void)sampler_end(NULL);
	if (!is_empty())
		return false;
	if (sampler.signal && sigaction(sampler.signal, NULL, &now) == 0 &&
	    now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_signal) {
		(void)sigaction(sampler.signal, &none, NULL);
		none.sa_handler = SIG_DFL;
		(void)sigaction(sampler.signal, &none, NULL);
	}
	sampler.signal = 0;
	if (sampler.memory)
		munmap(sampler.memory, stacks_bytes(N_SLOTS, N_SPOTS));
	sampler.memory = NULL;
	return is_empty();
}
