/* SPDX-License-Identifier: Apache-2.0 */
/* windows.c - keeps what windows with closed hooks found.
 *
 * A machine that has more to do than processors takes them away from threads in the middle of a
 * call.  That belongs to the call's time on the wall, but not to the method.  Long calls are asked
 * for it one by one (probe/taken.h).  Of windows with others in which the system did so to this
 * process the one call that is out of all proportion is left out; windows with few calls, where
 * that cannot be seen, are kept apart and used only when there are few others.  What the system
 * does not tell of (interrupts, and other guests of a virtual machine) plan/stats/steady.h deals with:
 * the one call is left out, too, but its share is reported.  What that comes to on average is
 * the same for all methods, and is added (plan/inplace/breaks.h). */
#include "agent/serve/windows.h"

#include <math.h>
#include <pthread.h>

#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "base/mem.h"
#include "plan/inplace/breaks.h"
#include "plan/stats/steady.h"
#include "plan/stats/tally.h"
#include "wire/wire.h"

enum {
	ENOUGH = 3,   /* calm windows */
	MANY = 8,     /* calls of one window, of which one can be seen to have been interrupted */
	OUTLIER = 8,  /* times as long as the others */
	LONG_US = 20, /* a call that is as long is asked whether its processor was taken away */
	/* A method's calls out of proportion are its own if they are worth so many times what others
	 * have. */
	OWN_TIMES = 3,
	BREAKS_MOST = 33, /* one part in so many of the time goes to breaks, at most */
	/* After a call that was measured, others of the method are to run for so long. */
	REST_NS = 4000,
};

struct alone {
	struct steady calm; /* ticks a call, less those of blank ones */
	struct tally all;
	double blank, calls; /* ticks of blank calls, and how many */
	double time, more;   /* ns of calls; what those out of proportion had more */
	uint32_t cut;
};

/* Guarded by its lock, a leaf. */
static struct {
	pthread_mutex_t lock;
	struct alone **methods; /* by id; NULL: not measured */
	uint32_t n;
	struct breaks breaks;
	struct tally speed; /* of blocks with open hooks: what it was worth, in ticks without */
	uint64_t open, closed, windows, calls; /* windows: blocks */
} windows = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The lock is held.  NULL: out of memory. */
static struct alone *method_for(uint32_t id)
{
	if (id >= windows.n) {
		uint32_t n = woven_ids() > id ? woven_ids() : id + 1;
		struct alone **p = mem_realloc(windows.methods, n * sizeof(*p));

		if (!p)
			return NULL;
		memset(p + windows.n, 0, (n - windows.n) * sizeof(*p));
		windows.methods = p;
		windows.n = n;
	}
	if (!windows.methods[id]) {
		struct alone *m = mem_alloc(sizeof(*m));

		if (m)
			*m = (struct alone){ 0 };
		windows.methods[id] = m;
	}
	return windows.methods[id];
}

static double ns_of(double ticks)
{
	return ticks * 1e9 / (double)(agent.scale.hz ? agent.scale.hz : 1);
}

/* Makes the longest call as long as the others, if it is out of all proportion; by how many
 * ticks. */
static uint64_t trim(struct solo_sum *s)
{
	uint64_t rest;

	if (s->calls < MANY)
		return 0;
	rest = (s->ticks - s->max) / (s->calls - 1);
	if (s->max <= OUTLIER * rest)
		return 0;
	s->ticks -= s->max - rest;
	return s->max - rest;
}

/* From which length on, in ns, what comes in between is left out of such calls. */
static double break_from(double ticks)
{
	return ns_of((OUTLIER - 1) * ticks);
}

/* A window of calls of which one would have been seen to be out of proportion.  What is more than
 * machines do is the program's own. */
static void add_breaks(struct alone *m, const struct solo_sum *s, double more)
{
	double time = ns_of((double)s->ticks), ns = ns_of(more);

	m->time += time;
	m->more += ns;
	if (!steady_has_own(&m->calm) || BREAKS_MOST * m->more <= m->time)
		breaks_add(&windows.breaks, time, break_from((double)s->ticks / (double)s->calls),
			   ns);
}

static void add_calm(struct alone *m, const struct solo_sum *s, double more, double each)
{
	steady_add(&m->calm, each * ((double)s->ticks - (double)s->blank), each * (double)s->calls,
		   (uint32_t)windows.windows);
	if (more > 0)
		steady_longest(&m->calm, each * more);
}

void windows_alone(uint32_t id, const struct found_window *w)
{
	struct solo_sum s = *w->sum;
	double more = (double)trim(&s), each = 1.0 + w->rest;
	bool calm = w->calm;
	struct alone *m;

	if (!calm && s.calls >= MANY) {
		more = 0; /* the system's doing, and no break */
		calm = true;
	}
	pthread_mutex_lock(&windows.lock);
	m = method_for(id);
	if (m) {
		tally_add(&m->all, each * ((double)s.ticks + more - (double)s.blank),
			  each * (double)s.calls);
		m->blank += (double)s.blank;
		m->calls += (double)s.calls;
		if (w->calm && s.calls >= MANY)
			add_breaks(m, &s, more);
		if (calm || s.asked == s.calls)
			add_calm(m, &s, more, each);
		windows.calls += s.calls;
	}
	pthread_mutex_unlock(&windows.lock);
}

struct solo_way windows_way(uint32_t id)
{
	const struct alone *m;
	double ns = -1;

	pthread_mutex_lock(&windows.lock);
	m = id < windows.n ? windows.methods[id] : NULL;
	if (m && m->all.n && m->all.down > 0)
		ns = fmax(1, ns_of(m->all.up / m->all.down));
	pthread_mutex_unlock(&windows.lock);
	if (ns < 0)
		return (struct solo_way){ 0 };
	return (struct solo_way){ .is_long = ns >= LONG_US * 1000,
				  .rest = (uint8_t)fmin(SOLO_REST, REST_NS / ns) };
}

uint32_t windows_cut(uint32_t id)
{
	struct alone *m;
	uint32_t cut = 0;

	pthread_mutex_lock(&windows.lock);
	m = method_for(id);
	if (m)
		cut = ++m->cut;
	pthread_mutex_unlock(&windows.lock);
	return cut;
}

void windows_block(bool open, uint64_t ticks)
{
	pthread_mutex_lock(&windows.lock);
	*(open ? &windows.open : &windows.closed) += ticks;
	windows.windows++;
	pthread_mutex_unlock(&windows.lock);
}

void windows_speed(double open, double closed, uint64_t ticks)
{
	pthread_mutex_lock(&windows.lock);
	if (closed > 0)
		tally_add(&windows.speed, (double)ticks * open / closed, (double)ticks);
	pthread_mutex_unlock(&windows.lock);
}

/* What calls take, in ticks, when it is as with all others that they are interrupted. */
static struct estimated calm_mean(const struct alone *m)
{
	struct estimated mean = steady_without(&m->calm);
	double blank = m->calls > 0 ? m->blank / m->calls : 0;
	double share = breaks_share(&windows.breaks, break_from(mean.value + blank));

	if (steady_has_own(&m->calm) && m->more > OWN_TIMES * share * m->time)
		return steady_ratio(&m->calm);
	mean.value += mean.value * share;
	return mean;
}

static void put_method(struct buf *out, uint32_t id, const struct alone *m)
{
	bool calm = m->calm.windows >= ENOUGH;
	struct estimated mean = calm ? calm_mean(m) : tally_ratio(&m->all);
	double plain = calm ? steady_plain(&m->calm) : mean.value;

	wire_put_solo(
		out, &(struct wire_solo){ .id = id,
					  .calls = (uint64_t)(calm ? m->calm.down : m->all.down),
					  .windows = calm ? m->calm.windows : m->all.n,
					  .mean_ns = ns_of(mean.value),
					  .margin_ns = mean.margin < 0 ? -1 : ns_of(mean.margin),
					  .cut = m->cut,
					  .blank_ns = m->calls > 0 ? ns_of(m->blank / m->calls) : 0,
					  .plain_ns = ns_of(plain) });
}

void windows_put(struct buf *out, const struct found_more *more)
{
	struct estimated speed;
	uint64_t open, closed;

	pthread_mutex_lock(&windows.lock);
	for (uint32_t id = 0; id < windows.n; id++)
		if (windows.methods[id])
			put_method(out, id, windows.methods[id]);
	speed = tally_ratio(&windows.speed);
	open = windows.open + more->open;
	closed = windows.closed + more->closed;
	if (windows.windows)
		wire_put_program(out, &(struct wire_program){ .elapsed_ns = agent_ns(open + closed),
							      .open_ns = agent_ns(open),
							      .closed_ns = agent_ns(closed),
							      .speed = speed.value,
							      .speed_margin = speed.margin,
							      .windows = windows.windows,
							      .alone = windows.calls,
							      .flags = more->flags });
	pthread_mutex_unlock(&windows.lock);
}

void windows_forget(uint32_t id)
{
	pthread_mutex_lock(&windows.lock);
	if (id < windows.n) {
		mem_free(windows.methods[id]);
		windows.methods[id] = NULL;
	}
	pthread_mutex_unlock(&windows.lock);
}

void windows_reset(void)
{
	pthread_mutex_lock(&windows.lock);
	for (uint32_t id = 0; id < windows.n; id++) {
		mem_free(windows.methods[id]);
		windows.methods[id] = NULL;
	}
	windows.breaks = (struct breaks){ 0 };
	windows.speed = (struct tally){ 0 };
	windows.open = windows.closed = windows.windows = windows.calls = 0;
	pthread_mutex_unlock(&windows.lock);
}
