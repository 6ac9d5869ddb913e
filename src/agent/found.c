/* SPDX-License-Identifier: Apache-2.0 */
/* found.c - keeps what windows with closed hooks found.
 *
 * A machine that has more to do than processors takes them away from threads in the middle of a
 * call.  That belongs to the call's time on the wall, but not to the method.  Long calls are asked
 * for it one by one (probe/taken.h).  Of windows with others in which the system did so to this
 * process the one call that is out of all proportion is left out; windows with few calls, where
 * that cannot be told, are kept apart and used only when there are few others.  What the system
 * does not tell of (interrupts, and other guests of a virtual machine) plan/steady.h deals with:
 * the one call is left out, too, but it is told how much it was.  What that comes to on average is
 * the same for all methods, and is added (plan/breaks.h). */
#include "agent/found.h"

#include <math.h>
#include <pthread.h>

#include "agent/agent.h"
#include "agent/woven.h"
#include "base/mem.h"
#include "plan/breaks.h"
#include "plan/steady.h"
#include "plan/tally.h"
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

static struct {
	pthread_mutex_t lock;
	struct alone **methods; /* by id; NULL: not measured */
	uint32_t n;
	struct breaks breaks;
	struct tally speed; /* of blocks with open hooks: what it was worth, in ticks without */
	uint64_t open, closed, windows, calls; /* windows: blocks */
} found = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The lock is held.  NULL: out of memory. */
static struct alone *method_for(uint32_t id)
{
	if (id >= found.n) {
		uint32_t n = woven_ids() > id ? woven_ids() : id + 1;
		struct alone **p = mem_realloc(found.methods, n * sizeof(*p));

		if (!p)
			return NULL;
		memset(p + found.n, 0, (n - found.n) * sizeof(*p));
		found.methods = p;
		found.n = n;
	}
	if (!found.methods[id]) {
		struct alone *m = mem_alloc(sizeof(*m));

		if (m)
			*m = (struct alone){ 0 };
		found.methods[id] = m;
	}
	return found.methods[id];
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
		breaks_add(&found.breaks, time, break_from((double)s->ticks / (double)s->calls),
			   ns);
}

static void add_calm(struct alone *m, const struct solo_sum *s, double more, double each)
{
	steady_add(&m->calm, each * ((double)s->ticks - (double)s->blank), each * (double)s->calls,
		   (uint32_t)found.windows);
	if (more > 0)
		steady_longest(&m->calm, each * more);
}

void found_alone(uint32_t id, const struct found_window *w)
{
	struct solo_sum s = *w->sum;
	double more = (double)trim(&s), each = 1.0 + w->rest;
	bool calm = w->calm;
	struct alone *m;

	if (!calm && s.calls >= MANY) {
		more = 0; /* the system's doing, and no break */
		calm = true;
	}
	pthread_mutex_lock(&found.lock);
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
		found.calls += s.calls;
	}
	pthread_mutex_unlock(&found.lock);
}

struct solo_way found_way(uint32_t id)
{
	const struct alone *m;
	double ns = -1;

	pthread_mutex_lock(&found.lock);
	m = id < found.n ? found.methods[id] : NULL;
	if (m && m->all.n && m->all.down > 0)
		ns = fmax(1, ns_of(m->all.up / m->all.down));
	pthread_mutex_unlock(&found.lock);
	if (ns < 0)
		return (struct solo_way){ 0 };
	return (struct solo_way){ .is_long = ns >= LONG_US * 1000,
				  .rest = (uint8_t)fmin(SOLO_REST, REST_NS / ns) };
}

uint32_t found_cut(uint32_t id)
{
	struct alone *m;
	uint32_t cut = 0;

	pthread_mutex_lock(&found.lock);
	m = method_for(id);
	if (m)
		cut = ++m->cut;
	pthread_mutex_unlock(&found.lock);
	return cut;
}

bool found_is_any(uint32_t id)
{
	bool any;

	pthread_mutex_lock(&found.lock);
	any = id < found.n && found.methods[id] && found.methods[id]->all.n;
	pthread_mutex_unlock(&found.lock);
	return any;
}

void found_block(bool open, uint64_t ticks)
{
	pthread_mutex_lock(&found.lock);
	*(open ? &found.open : &found.closed) += ticks;
	found.windows++;
	pthread_mutex_unlock(&found.lock);
}

void found_speed(double open, double closed, uint64_t ticks)
{
	pthread_mutex_lock(&found.lock);
	if (closed > 0)
		tally_add(&found.speed, (double)ticks * open / closed, (double)ticks);
	pthread_mutex_unlock(&found.lock);
}

/* What calls take, in ticks, when it is as with all others that they are interrupted. */
static struct estimated calm_mean(const struct alone *m)
{
	struct estimated mean = steady_without(&m->calm);
	double blank = m->calls > 0 ? m->blank / m->calls : 0;
	double share = breaks_share(&found.breaks, break_from(mean.value + blank));

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

void found_put(struct buf *out, const struct found_more *more)
{
	struct estimated speed;
	uint64_t open, closed;

	pthread_mutex_lock(&found.lock);
	for (uint32_t id = 0; id < found.n; id++)
		if (found.methods[id])
			put_method(out, id, found.methods[id]);
	speed = tally_ratio(&found.speed);
	open = found.open + more->open;
	closed = found.closed + more->closed;
	if (found.windows)
		wire_put_program(out, &(struct wire_program){ .elapsed_ns = agent_ns(open + closed),
							      .open_ns = agent_ns(open),
							      .closed_ns = agent_ns(closed),
							      .speed = speed.value,
							      .speed_margin = speed.margin,
							      .windows = found.windows,
							      .alone = found.calls,
							      .flags = more->flags });
	pthread_mutex_unlock(&found.lock);
}

void found_reset(void)
{
	pthread_mutex_lock(&found.lock);
	for (uint32_t id = 0; id < found.n; id++) {
		mem_free(found.methods[id]);
		found.methods[id] = NULL;
	}
	found.breaks = (struct breaks){ 0 };
	found.speed = (struct tally){ 0 };
	found.open = found.closed = found.windows = found.calls = 0;
	pthread_mutex_unlock(&found.lock);
}
