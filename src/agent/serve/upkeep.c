/* SPDX-License-Identifier: Apache-2.0 */
/* upkeep.c - the clockwork behind hooks. */
#include "agent/serve/upkeep.h"

#include <stdlib.h>

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/core/reading.h"
#include "agent/natives/probes.h"
#include "agent/serve/closing.h"
#include "agent/serve/heat.h"
#include "agent/serve/in_place.h"
#include "agent/weaving/change.h"
#include "probe/histogram.h"
#include "probe/probe.h"

enum {
	HOT = 50000,	/* calls in a second, over all, from which the cheaper way pays ... */
	PAYS = 5000000, /* ... after so many, which have cost more by what it takes to set it up */
	STALL_S = 30,
	METHODS_A_TICK = 4096, /* looked at in one second; the others wait their turn */
};

struct limit { /* of one rule, while the methods are walked over */
	uint64_t calls, slow;
};

static uint64_t slow_calls(const uint32_t *buckets, uint64_t ticks)
{
	uint64_t n = 0;

	for (unsigned i = histogram_bucket(ticks) + 1; i < PROBE_BUCKETS; i++)
		n += buckets[i];
	return n;
}

static uint64_t slow_ticks(const struct rule_hook *hook, const uint32_t *buckets,
			   const struct probe_figures *f)
{
	if (hook->slow_ns)
		return (uint64_t)((unsigned __int128)hook->slow_ns * agent.scale.hz / 1000000000u);
	return 4 * histogram_quantile(buckets, 0.5, f->min, f->max); /* learned: four times usual */
}

/* Looks at one method; gives its calls since the last look. */
static uint64_t look_at(struct hooked *h, struct limit *limits, double seconds)
{
	uint32_t buckets[PROBE_BUCKETS] = { 0 };
	struct probe_figures f;
	const struct rule_entry *e;
	uint64_t fresh, running;
	size_t at;

	e = rulebook_entry(h->rule);
	if (!e || e->rule->kind != RULE_HOOK)
		return 0;
	at = (size_t)(e - rulebook.entries);
	reading_method(h->id, &f, e->rule->hook.good_ns ? buckets : NULL);
	fresh = f.calls > h->calls ? f.calls - h->calls : 0;
	h->calls = f.calls;
	running = f.begun > f.timed + f.lost ? f.begun - f.timed - f.lost : 0;
	if (running > h->peak)
		h->peak = running;
	limits[at].calls += f.calls - (f.calls < h->before ? f.calls : h->before);
	if (e->rule->hook.good_ns && f.timed)
		limits[at].slow += slow_calls(buckets, slow_ticks(&e->rule->hook, buckets, &f));
	if (!closing_is_on()) /* it looks more often */
		heat_follow(h, e, (double)fresh / seconds);
	if (e->rule->hook.context_count) {
		uint64_t outside = probe_method_outside(h->id);

		fresh += outside > h->outside ? outside - h->outside : 0;
		h->outside = outside;
	}
	return fresh;
}

/* While Java counts by itself (probe/lane.h), how often a method is called changes nothing, unless
 * its rule says so; and a program that starts has thousands of them. */
static bool matters(const struct hooked *h, bool lanes)
{
	const struct rule_entry *e = lanes && h->level == LEVEL_LIGHT ? rulebook_entry(h->rule)
								      : NULL;

	return !e || e->rule->kind != RULE_HOOK || e->rule->hook.calls || e->rule->hook.good_ns;
}

struct due {
	const struct limit *limits;
	uint64_t now;
};

static bool is_due(const struct rule_entry *e, void *ctx)
{
	const struct due *d = ctx;
	const struct rule_hook *hook = &e->rule->hook;
	const struct limit *l = &d->limits[e - rulebook.entries];

	if (e->rule->kind != RULE_HOOK)
		return false;
	return (hook->for_ns && agent_ns(d->now - e->added) >= hook->for_ns) ||
	       (hook->calls && l->calls >= hook->calls) ||
	       (hook->good_ns && agent_ns(d->now - e->last_slow) >= hook->good_ns);
}

/* What the calls up to now cost was something else. */
static void go_fast(JNIEnv *jni)
{
	struct probe_figures f;

	probes_go_fast(jni);
	for (uint32_t id = 1; id < woven_ids(); id++) {
		struct hooked *h = woven_method(id);

		if (!h)
			continue;
		reading_method(id, &f, NULL);
		h->jni_calls = f.calls;
	}
}

void upkeep_tick(void)
{
	static uint64_t last, dear;	       /* dear: calls that took the other way */
	static uint32_t next = 1, passed_over; /* ticks until all have been looked at again */
	bool lanes = __atomic_load_n(&probe_words.lanes, __ATOMIC_RELAXED);
	uint64_t now = tick_now(), fresh = 0;
	double seconds = last ? (double)agent_ns(now - last) / 1e9 : 1;
	struct limit *limits = calloc(rulebook.n + 1, sizeof(*limits));
	struct due due = { limits, now };
	uint32_t n = woven_ids();
	bool any = false;

	if (!limits)
		return;
	reading_sweep(now, (uint64_t)STALL_S * agent.scale.hz);
	seconds *= in_place_open_share(); /* nothing is counted while hooks are closed */
	if (n > METHODS_A_TICK)
		seconds *= (n + METHODS_A_TICK - 1) / METHODS_A_TICK;
	for (uint32_t k = 1; k < n && k <= METHODS_A_TICK; k++) {
		struct hooked *h = woven_method(next);

		next = next + 1 < n ? next + 1 : 1;
		if (h && h->rule && matters(h, lanes))
			fresh += look_at(h, limits, seconds);
	}
	for (size_t i = 0; i < rulebook.n; i++) {
		struct rule_entry *e = &rulebook.entries[i];

		limits[i].calls += e->unloaded;
		if (limits[i].slow > e->slow_seen)
			e->last_slow = now;
		e->slow_seen = limits[i].slow;
		any |= is_due(e, &due);
	}
	if (any)
		change_remove(is_due, &due);
	if (lanes)
		passed_over = n / METHODS_A_TICK + 2;
	passed_over -= passed_over != 0;
	dear += lanes || passed_over ? 0 : fresh;
	if (!probes_is_fast() && !lanes && (double)fresh / seconds > HOT &&
	    (dear > PAYS || closing_is_on())) {
		JNIEnv *jni = agent_enter_jvm();

		if (jni) {
			go_fast(jni);
			agent_leave_jvm();
		}
	}
	last = now;
	free(limits);
}
