/* SPDX-License-Identifier: Apache-2.0 */
/* meter.c - what single calls used besides time: processor, memory, and why they had no processor.
 *
 * A thread that has no processor has given it up itself, or was ready to run and had to stand in
 * line.  For how long it stood in line the kernel knows (schedstat); to ask takes some
 * microseconds, so it is only asked when the thread has changed places with another one since the
 * last time.  What a virtual machine's host takes is in no such account; but who has given up
 * nothing in a call was ready all the time.  Of the rest, what it was blocked for by a monitor is
 * known by the JVM's events, which the agent passes on (probe_blocked).  What is left, it waited:
 * for a notification, for another thread to unpark it, for a time to pass, for input.  So no
 * waiting has to be observed itself, which is not possible: park and sleep raise no event.
 *
 * Reading a thread's processor time is a system call, some hundred ns to a microsecond.  So only
 * calls that are timed are metered, and only of methods for which it was asked.  The processor time
 * is read next to the clock, before it at the begin of a call and after it at its end: the call's
 * own time has nothing of that, its processor time has what one reading costs, which is found out
 * once and taken off.  A thread that is taken off its processor while it reads its meter is
 * delayed, but not in its call: so no call is delayed for longer than it had no processor.
 *
 * What a call used goes to its method, to its node, and is `below` of the nearest metered call
 * under it.  A virtual thread that moves on has another carrier's meter at its end: such calls are
 * not metered. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "probe/nodes.h"

#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
	struct probe_metered *methods;
	uint64_t (*bytes)(void);
	uint64_t cost_ns; /* of reading the processor time */
	bool has_delay;
	uint32_t turn; /* grows when probe_blocked is to be believed from now on; from 1 on */
} meter = { .turn = 1 };

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- the kernel's account of delays ------------------------------------------------------- */

static uint64_t number(const char **p)
{
	uint64_t n = 0;

	while (**p == ' ')
		++*p;
	for (; **p >= '0' && **p <= '9'; ++*p)
		n = n * 10 + (uint64_t)(**p - '0');
	return n;
}

/* Of the calling thread.  The file has the time that it ran, the time it was delayed, and how often
 * it got a processor, which is 0 when the kernel keeps no such account.  false: not to be had. */
static bool read_delay(uint64_t *ns)
{
	int before = errno, fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[96];
	const char *p = text;
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t delay;

	if (fd >= 0)
		close(fd);
	errno = before;
	if (n <= 0)
		return false;
	text[n] = '\0';
	number(&p);
	delay = number(&p);
	if (!number(&p))
		return false;
	*ns = delay;
	return true;
}

/* While a thread runs it is not delayed: without a switch nothing has changed. */
static uint64_t delay_ns(struct probe_thread *t)
{
	struct meter_off *off = &t->off;
	struct rusage use;
	uint64_t switches;

	if (!meter.has_delay || getrusage(RUSAGE_THREAD, &use) != 0)
		return off->delay_ns;
	off->given_up = (uint64_t)use.ru_nvcsw + 1;
	switches = off->given_up + (uint64_t)use.ru_nivcsw;
	if (switches != off->switches && read_delay(&off->delay_ns))
		off->switches = switches;
	return off->delay_ns;
}

bool probe_meter_has_delay(void)
{
	return meter.has_delay;
}

/* ---- monitors ------------------------------------------------------------------------------ */

void probe_meter_blocked(void)
{
	uint32_t turn = LOAD(meter.turn) + 1;

	STORE(meter.turn, turn ? turn : 1);
}

static bool is_metered(const struct probe_thread *t, const struct probe_frame *top)
{
	for (; top > t->frames; top--)
		if (!frame_is_nobodys(top) && top->id & ID_METERED)
			return true;
	return false;
}

/* It may run for a part of that time, in the hope that it will not be long, or stand in line. */
static uint64_t blocked_for(struct probe_thread *t)
{
	const struct meter_off *off = &t->off;
	uint64_t other = cpu_ns() - off->since_cpu_ns + delay_ns(t) - off->since_delay_ns;
	uint64_t wall = clock_steady_ns() - off->since_ns;

	return wall > other ? wall - other : 0;
}

void probe_blocked(bool begins)
{
	struct probe_thread *t = probe_local.mine;
	struct meter_off *off = t ? &t->off : NULL;
	uint32_t turn = LOAD(meter.turn);

	if (!t || !is_metered(t, thread_top()))
		return;
	if (begins) {
		/* Outermost: it has all that the others have. */
		off->since_ns = clock_steady_ns();
		off->since_delay_ns = delay_ns(t);
		off->since_cpu_ns = cpu_ns();
		off->since_turn = turn;
	} else {
		if (off->since_turn == turn)
			off->blocked_ns += blocked_for(t);
		off->since_turn = 0;
	}
}

/* ---- the processor's counters -------------------------------------------------------------- */

unsigned probe_counters_begin(void)
{
	static const struct counter_kind kinds[PROBE_COUNTERS] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	};

	return probe.ready ? counters_begin(kinds) : 0;
}

void probe_counters_end(void)
{
	enum { PATIENCE = 1000 }; /* a thread that reads may have no processor just now */
	struct probe_thread *t;
	uint32_t i = 0;

	counters_end();
	while (probe.ready && (t = thread_next(&i)) != NULL)
		for (int left = PATIENCE; !counters_close(&t->counters) && left > 0; left--)
			sched_yield();
}

/* ---- sums ---------------------------------------------------------------------------------- */

static void spent_add(struct probe_spent *to, const struct probe_spent *s, uint64_t times)
{
	ADD(to->ticks, s->ticks * times);
	ADD(to->cpu_ns, s->cpu_ns * times);
	ADD(to->bytes, s->bytes * times);
	ADD(to->blocked_ns, s->blocked_ns * times);
	ADD(to->delay_ns, s->delay_ns * times);
}

/* The same where many threads add. */
static void spent_share(struct probe_spent *to, const struct probe_spent *s, uint64_t times)
{
	SHARED_ADD(to->ticks, s->ticks * times);
	SHARED_ADD(to->cpu_ns, s->cpu_ns * times);
	SHARED_ADD(to->bytes, s->bytes * times);
	SHARED_ADD(to->blocked_ns, s->blocked_ns * times);
	SHARED_ADD(to->delay_ns, s->delay_ns * times);
}

/* Adds words that somebody may be adding to. */
static void spent_read(struct probe_spent *to, const struct probe_spent *s)
{
	to->ticks += LOAD(s->ticks);
	to->cpu_ns += LOAD(s->cpu_ns);
	to->bytes += LOAD(s->bytes);
	to->blocked_ns += LOAD(s->blocked_ns);
	to->delay_ns += LOAD(s->delay_ns);
}

static void spent_reset(struct probe_spent *s)
{
	STORE(s->ticks, 0);
	STORE(s->cpu_ns, 0);
	STORE(s->bytes, 0);
	STORE(s->blocked_ns, 0);
	STORE(s->delay_ns, 0);
}

void meter_add_node(struct node_meter *to, const struct probe_metered *from)
{
	spent_add(&to->all, &from->all, 1);
	spent_add(&to->below, &from->below, 1);
	ADD(to->weight, from->weight);
	ADD(to->calls, from->calls);
}

void meter_of_node(struct probe_metered *sum, const struct probe_node *node, uint32_t epoch)
{
	uint32_t line = TAKE(kin_of(line_of(node))->meter);
	const struct node_meter *m = line ? line_at(line) : NULL;

	if (!m || LOAD(node->epoch) != epoch)
		return;
	sum->calls += LOAD(m->calls);
	sum->weight += LOAD(m->weight);
	spent_read(&sum->all, &m->all);
	spent_read(&sum->below, &m->below);
}

void meter_reset_node(uint32_t line)
{
	struct node_meter *m = line ? line_at(line) : NULL;

	if (!m)
		return;
	STORE(m->calls, 0);
	STORE(m->weight, 0);
	spent_reset(&m->all);
	spent_reset(&m->below);
}

/* ---- calls --------------------------------------------------------------------------------- */

int meter_init(void)
{
	uint64_t ns;

	meter.methods = pages_map(PROBE_METHODS * sizeof(*meter.methods));
	if (!meter.methods)
		return E_NO_MEMORY;
	meter.has_delay = read_delay(&ns);
	meter.cost_ns = UINT64_MAX;
	for (int i = 0; i < 20; i++) {
		uint64_t begin = cpu_ns();

		clock_steady_ns(); /* as at the begin and the end of a call */
		clock_steady_ns();
		ns = cpu_ns() - begin;
		meter.cost_ns = ns < meter.cost_ns ? ns : meter.cost_ns;
	}
	return 0;
}

void probe_meter_bytes(uint64_t (*bytes)(void))
{
	__atomic_store_n(&meter.bytes, bytes, __ATOMIC_RELEASE);
}

static uint64_t bytes_now(void)
{
	uint64_t (*bytes)(void) = __atomic_load_n(&meter.bytes, __ATOMIC_ACQUIRE);

	return bytes ? bytes() : 0;
}

void meter_begin(struct probe_thread *t, const struct probe_frame *f)
{
	struct meter_frame *m = &t->meter[f - t->frames];

	m->below = (struct probe_spent){ 0 };
	m->begin.bytes = bytes_now();
	m->begin.blocked_ns = t->off.blocked_ns;
	m->begin.delay_ns = delay_ns(t);
	m->given_up = t->off.given_up;
	m->counted = counters_read(&t->counters, m->counts);
	m->begin.cpu_ns = cpu_ns();
	m->begin.ns = clock_steady_ns();
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct probe_spent spent_since(struct probe_thread *t, const struct meter_frame *m)
{
	const struct probe_meter *begin = &m->begin;
	uint64_t wall = clock_steady_ns() - begin->ns, cpu = cpu_ns() - begin->cpu_ns, off;
	struct probe_spent s = { .delay_ns = delay_ns(t) - begin->delay_ns,
				 .blocked_ns = t->off.blocked_ns - begin->blocked_ns,
				 .bytes = bytes_now() - begin->bytes };

	s.cpu_ns = cpu > meter.cost_ns ? cpu - meter.cost_ns : 0;
	off = wall > s.cpu_ns ? wall - s.cpu_ns : 0;
	s.blocked_ns = least(s.blocked_ns, off);
	off -= s.blocked_ns;
	if (m->given_up && m->given_up == t->off.given_up)
		s.delay_ns = off; /* it did not wait */
	s.delay_ns = least(s.delay_ns, off);
	return s;
}

/* Adds to what the nearest metered call under this one has below it.  Is one of them of the same
 * method? */
static bool add_below(struct probe_thread *t, const struct probe_frame *f,
		      const struct probe_spent *spent)
{
	const struct probe_frame *under = f - 1;
	bool told = false;

	for (; under > t->frames && !frame_is_nobodys(under); under--) {
		if (!(under->id & ID_METERED))
			continue;
		if (!told)
			spent_add(&t->meter[under - t->frames].below, spent, f->weight);
		told = true;
		if (frame_id(under) == frame_id(f))
			return true;
	}
	return false;
}

/* Of an outermost call: what is in it once must not be in it twice. */
static void count_in(struct probe_thread *t, const struct probe_frame *f, struct probe_metered *m)
{
	const struct meter_frame *begin = &t->meter[f - t->frames];
	uint64_t now[PROBE_COUNTERS];

	SHARED_ADD(m->outermost, f->weight);
	if (!begin->counted || !counters_read(&t->counters, now))
		return;
	for (unsigned i = 0; i < PROBE_COUNTERS; i++)
		if (now[i] > begin->counts[i])
			SHARED_ADD(m->counts[i], (now[i] - begin->counts[i]) * f->weight);
	SHARED_ADD(m->counted, f->weight);
}

void meter_end(struct probe_thread *t, const struct probe_frame *f, uint64_t ticks)
{
	const struct meter_frame *begin = &t->meter[f - t->frames];
	struct probe_metered *m = &meter.methods[frame_id(f)];
	struct probe_spent spent = spent_since(t, begin);
	struct node_meter *of_node = f->node == &probe_nowhere ? NULL : nodes_meter(t, f->node);

	spent.ticks = ticks;
	if (add_below(t, f, &spent))
		spent_share(&m->nested, &spent, f->weight);
	else
		count_in(t, f, m);
	spent_share(&m->all, &spent, f->weight);
	spent_share(&m->below, &begin->below, f->weight);
	SHARED_ADD(m->weight, f->weight);
	SHARED_ADD(m->calls, 1);
	if (!of_node)
		return;
	spent_add(&of_node->all, &spent, f->weight);
	spent_add(&of_node->below, &begin->below, f->weight);
	ADD(of_node->weight, f->weight);
	ADD(of_node->calls, 1);
}

void meter_reset(uint32_t id)
{
	struct probe_metered *m = &meter.methods[id];

	STORE(m->calls, 0);
	STORE(m->weight, 0);
	spent_reset(&m->all);
	spent_reset(&m->below);
	spent_reset(&m->nested);
	STORE(m->outermost, 0);
	STORE(m->counted, 0);
	for (unsigned i = 0; i < PROBE_COUNTERS; i++)
		STORE(m->counts[i], 0);
}

void meter_move(uint32_t id, uint32_t to)
{
	struct probe_metered *m = &meter.methods[to], f;

	probe_metered_read(id, &f);
	if (!f.calls)
		return;
	SHARED_ADD(m->calls, f.calls);
	SHARED_ADD(m->weight, f.weight);
	spent_share(&m->all, &f.all, 1);
	spent_share(&m->below, &f.below, 1);
	spent_share(&m->nested, &f.nested, 1);
	SHARED_ADD(m->outermost, f.outermost);
	SHARED_ADD(m->counted, f.counted);
	for (unsigned i = 0; i < PROBE_COUNTERS; i++)
		SHARED_ADD(m->counts[i], f.counts[i]);
}

void probe_metered_read(uint32_t id, struct probe_metered *out)
{
	const struct probe_metered *m;

	*out = (struct probe_metered){ 0 };
	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &meter.methods[id];
	out->calls = LOAD(m->calls);
	out->weight = LOAD(m->weight);
	spent_read(&out->all, &m->all);
	spent_read(&out->below, &m->below);
	spent_read(&out->nested, &m->nested);
	out->outermost = LOAD(m->outermost);
	out->counted = LOAD(m->counted);
	for (unsigned i = 0; i < PROBE_COUNTERS; i++)
		out->counts[i] = LOAD(m->counts[i]);
}
