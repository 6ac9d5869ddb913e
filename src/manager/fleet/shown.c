/* SPDX-License-Identifier: Apache-2.0 */
/* shown.c - what the API and other managers are shown of a process. */
#include "manager/fleet/shown.h"

#include "base/clock.h"
#include "manager/fleet/relays.h"

static void put_overhead(struct json *j, const struct instance *i)
{
	json_put_open(j, "overhead", '{');
	json_put_double(j, "share", i->hooks_share + i->agent_share);
	json_put_double(j, "hooks_share", i->hooks_share);
	json_put_double(j, "agent_share", i->agent_share);
	json_close(j, '}');
}

static void put_status(struct json *j, const struct instance *i)
{
	const struct wire_status *s = &i->status;

	json_put_nonempty(j, "mechanism", i->mechanism);
	json_put_u64(j, "rules", s->rules);
	json_put_u64(j, "methods", s->methods);
	json_put_u64(j, "classes", s->classes);
	json_put_u64(j, "threads", s->threads);
	json_put_u64(j, "memory", s->memory);
	json_put_u64(j, "memory_limit", s->memory_limit);
	json_put_u64(j, "events", s->events);
	json_put_u64(j, "contexts_lost", s->contexts_lost);
	json_put_u64(j, "contexts_pruned", s->contexts_pruned);
	put_overhead(j, i);
}

void shown_instance(struct json *j, const struct instance *i)
{
	json_open(j, '{');
	json_put_nonempty(j, "id", i->id);
	json_put_nonempty(j, "application", i->app ? i->app->name : "");
	json_put_u64(j, "pid", (uint64_t)i->peer.pid);
	json_put_nonempty(j, "host", i->host);
	json_put_nonempty(j, "manager", i->hold == HOLD_OURS ? i->holder : "");
	if (i->relay) {
		json_put_nonempty(j, "relay", i->relay->name);
		json_put_u64(j, "relay_heard_ms", relays_heard_ms(i->relay));
	}
	json_put_nonempty(j, "user", i->user);
	json_put_nonempty(j, "state", instance_state_word(i->state));
	json_put_nonempty(j, "why", i->why);
	json_put_u64(j, "since_ms", i->since_ms);
	json_put_u64(j, "last_seen_ms", i->seen_ms);
	json_put_nonempty(j, "jvm", i->jvm);
	json_put_nonempty(j, "build", i->build);
	if (i->started_ms)
		json_put_u64(j, "uptime_ms", clock_day_ms() - i->started_ms);
	if (i->state == INSTANCE_CONNECTED)
		put_status(j, i);
	json_close(j, '}');
}

/* ---- sums ---- */

/* The rate of an application is that of its busiest method; its time is that method's. */
static void add_figures(struct shown_sum *s, const struct instance *i)
{
	const struct figure *most = NULL;

	for (size_t k = 0; k < i->n; k++) {
		const struct figure *g = &i->figures[k];

		if (!(g->flags & METHOD_GONE) &&
		    (!most || g->sums[SUM_TOTAL_NS] > most->sums[SUM_TOTAL_NS]))
			most = g;
	}
	if (!most)
		return;
	s->rate += most->rate;
	if (most->sums[SUM_CALLS])
		s->errors_rate +=
			most->rate * (double)most->sums[SUM_ERRORS] / (double)most->sums[SUM_CALLS];
	s->calls += most->sums[SUM_CALLS];
	s->total_ns += most->sums[SUM_TOTAL_NS];
}

void shown_add(struct shown_sum *s, const struct instance *i)
{
	s->known++;
	s->seen_ms = i->seen_ms > s->seen_ms ? i->seen_ms : s->seen_ms;
	if (i->state != INSTANCE_CONNECTED)
		return;
	s->connected++;
	s->methods = i->status.methods > s->methods ? i->status.methods : s->methods;
	s->share += i->hooks_share + i->agent_share;
	add_figures(s, i);
}
