/* SPDX-License-Identifier: Apache-2.0 */
/* tour.c - see tour.h.
 *
 * A signal wakes a thread that waits, so its processor time moves once more after its handler.  That was
 * all it did if it was put on a processor exactly once, by the signal, and ran no longer than it takes to
 * go back to its wait. */
#include "agent/sampling/tour.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/task.h"
#include "agent/sampling/peek.h"
#include "agent/sampling/tables.h"
#include "base/clock.h"
#include "base/random.h"
#include "wire/wire.h"
#include "walk_arch.h"

enum {
	VISITS = 64,  /* of threads at a tick */
	SIGNALS = 16, /* ... that get a signal */
	/* Processor time from the end of a handler until the thread waits again. */
	BACK_NS = 200000,
	SPIN_NS = 200000,
	LONG_NS = 1000000000, /* without an answer */
};

/* The agent's thread. */
static struct {
	const struct vm_layout *layout;
	uint64_t period_ns, next, random, silent;
	int signal;
	uint32_t at; /* the slot to visit next */
	bool exact;  /* processor times and slices can be had, and are not rounded */
} tour;

/* How often a thread was put on a processor; 0: not known. */
static uint64_t slices_of(pid_t tid)
{
	unsigned long long n = 0;
	char text[100];

	if (!task_text(tid, "schedstat", text, sizeof(text)) ||
	    sscanf(text, "%*u %*u %llu", &n) != 1)
		return 0;
	return n;
}

/* Does this thread's clock move while it runs for a moment? */
static bool is_exact(void)
{
	uint64_t begin = clock_steady_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_steady_ns() - begin < SPIN_NS)
		if (clock_ns(CLOCK_THREAD_CPUTIME_ID) != cpu)
			return slices_of((pid_t)syscall(SYS_gettid)) != 0;
	return false;
}

void tour_begin(const struct vm_layout *l, uint64_t period_ns, int signal)
{
	memset(&tour, 0, sizeof(tour));
	tour.layout = l;
	tour.period_ns = period_ns;
	tour.signal = signal;
	tour.next = clock_steady_ns();
	tour.random = tour.next | 1;
	tour.exact = is_exact();
}

void tour_come(struct thread_slot *s)
{
	s->visited = (struct visited){ .seen = clock_steady_ns() };
}

/* ---- in the handler ------------------------------------------------------------------------ */

uint64_t tour_weight(struct thread_slot *s)
{
	uint64_t now = clock_steady_ns();
	uint64_t weight = now > s->visited.seen ? now - s->visited.seen : 0;

	s->visited.seen = now;
	return weight;
}

unsigned tour_state(const struct thread_slot *s, const void *context)
{
	const struct vm_layout *l = tour.layout;
	int32_t state;

	if (!walk_arch_waited(context, peek))
		return STACK_RUNS;
	if (!s->os || !l->thread.has_states)
		return STACK_CALLS;
	state = (int32_t)peek_number(s->os + l->thread.state);
	return state == l->thread.blocked  ? STACK_BLOCKED
	       : state == l->thread.parked ? STACK_PARKED
	       : state == l->thread.waits  ? STACK_WAITS
					   : STACK_CALLS;
}

void tour_answer(struct thread_slot *s, uint64_t hash, bool waits)
{
	struct visited *v = &s->visited;

	v->hash = hash;
	v->waits = waits;
	v->after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	__atomic_store_n(&v->answered, __atomic_load_n(&v->asked, __ATOMIC_RELAXED),
			 __ATOMIC_RELEASE);
}

/* ---- visits -------------------------------------------------------------------------------- */

/* Has it done nothing since its handler but go back to its wait?  cpu was read before. */
static bool is_back(const struct thread_slot *s, uint64_t cpu)
{
	const struct visited *v = &s->visited;

	return tour.exact && v->hash && v->waits && v->slices && cpu >= v->after &&
	       cpu - v->after <= BACK_NS && slices_of(s->tid) == v->slices + 1;
}

static void count_again(struct thread_slot *s, uint32_t samples)
{
	struct tables_guest g;

	if (!tables_enter(&g))
		return;
	stacks_again(g.table, s->visited.hash, samples, tour_weight(s));
	tables_leave(&g);
}

static bool ask(struct thread_slot *s, uint32_t number)
{
	struct visited *v = &s->visited;
	siginfo_t info;

	v->slices = tour.exact && v->waits ? slices_of(s->tid) : 0;
	v->kept = false;
	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_value.sival_int = (int)number;
	__atomic_store_n(&v->asked, v->asked + 1, __ATOMIC_RELAXED);
	if (syscall(SYS_rt_tgsigqueueinfo, info.si_pid, s->tid, tour.signal, &info) == 0)
		return true;
	__atomic_store_n(&v->asked, v->asked - 1, __ATOMIC_RELAXED); /* it has gone */
	return false;
}

/* True: it got a signal.  One whose signal is still under way is passed over: it waits where nothing
 * wakes it, or for a processor; its time is accounted for when it comes. */
static bool visit(struct thread_slot *s, uint32_t number)
{
	struct visited *v = &s->visited;
	uint64_t cpu;

	if (__atomic_load_n(&v->answered, __ATOMIC_ACQUIRE) != v->asked) {
		tour.silent += clock_steady_ns() - v->seen > LONG_NS;
		return false;
	}
	cpu = clock_ns(slots_clock(s));
	if (!cpu)
		return false;
	if (!v->kept && is_back(s, cpu)) {
		v->kept = true;
		v->clock = cpu;
	}
	if (!v->kept || v->clock != cpu)
		return ask(s, number);
	count_again(s, 1);
	return false;
}

void tour_tick(void)
{
	uint64_t now = clock_steady_ns();
	uint32_t top = slots_top(), visits = 0, signals = 0;

	if (now < tour.next)
		return;
	/* never in step with what the program does by the clock */
	tour.next += tour.period_ns / 2 + random_below(&tour.random, (uint32_t)tour.period_ns);
	tour.next = tour.next > now ? tour.next : now;
	for (uint32_t i = 0; i < top && visits < VISITS && signals < SIGNALS; i++) {
		uint32_t number = tour.at < top ? tour.at : 0;
		struct thread_slot *s = slots_at(number);

		tour.at = number + 1;
		if (!s->tid)
			continue;
		visits++;
		signals += visit(s, number);
	}
}

static void finish(struct thread_slot *s)
{
	if (s->visited.hash &&
	    __atomic_load_n(&s->visited.answered, __ATOMIC_ACQUIRE) == s->visited.asked)
		count_again(s, 0);
}

void tour_finish(void)
{
	slots_each(finish);
}

uint64_t tour_next_ns(void)
{
	uint64_t now = clock_steady_ns();

	return now < tour.next ? tour.next - now : 0;
}

uint64_t tour_silent(void)
{
	return tour.silent;
}
