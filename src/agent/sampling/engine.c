/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - see engine.h.
 *
 * The handler uses static memory alone.  It is never taken out again: a signal that is still under way
 * must not meet the default action, which would end the process. */
#include "agent/sampling/engine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/syscalls.h"
#include "agent/sampling/anchor.h"
#include "agent/sampling/mapped.h"
#include "agent/sampling/peek.h"
#include "agent/sampling/slots.h"
#include "agent/sampling/tables.h"
#include "agent/sampling/tour.h"
#include "agent/sampling/wakers.h"
#include "sample/free_signal.h"
#include "sample/walk.h"
#include "walk_arch.h"
#include "wire/wire.h"

enum {
	STACK_MAX = 64 << 20, /* bytes that are looked at of one whose end is not known */
};

static struct {
	const struct vm_layout *layout;
	unsigned mode; /* STACKS_* */
	int signal;    /* 0: none yet */
	uint64_t period_ns;
} engine;

/* ---- the handler --------------------------------------------------------------------------- */

/* Where the thread's Java code went into native code, when the walk over that did not find back. */
static void go_on_from_anchor(struct stack_walk *w, const struct thread_slot *s,
			      const struct walk_world *world)
{
	struct walk_regs at;

	if (!anchor_find(engine.layout, s->java, &at) || at.sp <= w->at.sp)
		return;
	w->at = at;
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

/* The slots are there as long as the tables are open: engine_end gives them back. */
static void count(uint32_t slot, const void *context, uint32_t times)
{
	struct stacks_new new = { .count = times };
	struct thread_slot *s;
	struct tables_guest g;
	struct stack_walk w;
	uint64_t hash;

	if (!tables_enter(&g))
		return;
	s = slots_at(slot);
	if (engine.mode == STACKS_WALL && s->tid != (pid_t)syscall(SYS_gettid)) {
		tables_leave(&g); /* a signal of an earlier session */
		return;
	}
	memset(&w, 0, sizeof(w));
	w.at = walk_arch_regs(context);
	w.spots = g.spots;
	w.cap = TABLES_DEPTH;
	walk_thread(&w, s);
	new.spots = w.spots;
	new.n = w.n;
	new.thread = (uint32_t)s->tid;
	new.end = (uint8_t)w.end;
	if (engine.mode == STACKS_WALL) {
		new.state = (uint8_t)tour_state(s, context);
		new.amount = tour_weight(s);
	}
	hash = stacks_add(g.table, &new);
	if (engine.mode == STACKS_WALL)
		tour_answer(s, hash, new.state != STACK_RUNS);
	tables_leave(&g);
}

static uint32_t slot_of(const siginfo_t *info, uint32_t *times)
{
	if (engine.mode == STACKS_CPU)
		return wakers_slot_of(info, times);
	*times = 1;
	return info->si_code == SI_QUEUE ? (uint32_t)info->si_value.sival_int : SLOTS_MAX;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	uint32_t times, slot;

	(void)number;
	if (!tables_are_open())
		return;
	slot = slot_of(info, &times);
	if (slot >= SLOTS_MAX) /* a descriptor may be the program's by now */
		return;
	count(slot, context, times);
	if (engine.mode == STACKS_CPU && tables_are_open())
		wakers_go_on(info);
	errno = saved;
}

static bool take_signal(void)
{
	if (!engine.signal)
		engine.signal = free_signal_take(on_signal);
	return engine.signal != 0;
}

/* ---- beginning and end --------------------------------------------------------------------- */

static void come(struct thread_slot *s, uint32_t number)
{
	if (engine.mode == STACKS_CPU)
		wakers_come(s, number);
	else if (engine.mode == STACKS_WALL)
		tour_come(s);
}

static void gone(struct thread_slot *s)
{
	if (engine.mode == STACKS_CPU)
		wakers_gone(s);
}

static bool begin_waking(void)
{
	if (engine.mode == STACKS_CPU)
		return wakers_begin(engine.period_ns, engine.signal);
	if (engine.mode == STACKS_WALL)
		tour_begin(engine.layout, engine.period_ns, engine.signal);
	return true;
}

const char *engine_begin(const struct vm_layout *l, uint32_t rate, unsigned mode)
{
	bool by_signals = mode == STACKS_CPU || mode == STACKS_WALL;

	if (by_signals && syscalls_filtered())
		return "a seccomp filter is in force, which may end the program for the system calls "
		       "that sampling needs";
	if (by_signals && !take_signal())
		return "no real-time signal is free";
	engine.layout = l;
	engine.mode = mode;
	engine.period_ns = 1000000000u / rate;
	if (!peek_begin() || !slots_begin() || !mapped_begin()) {
		engine_end();
		return "/proc/self cannot be read";
	}
	if (!begin_waking() || !tables_begin()) { /* handlers count from now on */
		engine_end();
		return "memory is out";
	}
	engine_scan(false);
	return NULL;
}

/* Tables, slots and modules stay where they are if a handler does not come out. */
void engine_end(void)
{
	slots_each(gone);
	if (!tables_end())
		return;
	wakers_end();
	slots_end();
	mapped_end();
	peek_end();
}

void engine_scan(bool files)
{
	static const struct slots_calls calls = { come, gone };

	slots_scan(engine.layout, &calls);
	files |= slots_lack_stacks();
	if (!files || !mapped_read())
		return;
	if (!tables_swapped()) /* handlers in the new table may be in the old list until the next swap */
		(void)mapped_update();
	slots_find_stacks();
}

/* Who sees the new table sees the new list of modules as well. */
struct stacks *engine_take(void)
{
	struct stacks *table = tables_take();

	if (table)
		mapped_drop_old();
	return table;
}

void engine_tick(void)
{
	if (engine.mode == STACKS_WALL)
		tour_tick();
}

void engine_finish(void)
{
	if (engine.mode == STACKS_WALL)
		tour_finish();
}

uint64_t engine_next_ns(void)
{
	return engine.mode == STACKS_WALL ? tour_next_ns() : UINT64_MAX;
}

uint64_t engine_lost(void)
{
	return tables_missed() + (engine.mode == STACKS_WALL ? tour_silent() : 0);
}

const char *engine_name(void)
{
	static const char *const others[] = { [STACKS_WALL] = "signals, by the clock",
					      [STACKS_ALLOC] = "the JVM's events of allocation",
					      [STACKS_LOCK] = "the JVM's events of monitors" };

	return engine.mode == STACKS_CPU ? wakers_name() : others[engine.mode];
}

uint64_t engine_period_ns(void)
{
	return engine.period_ns;
}
