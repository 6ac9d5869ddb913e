/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - single calls, out of the probe's ring to the clients that watch them.
 *
 * A watching client holds its rules; the calls of a method go to whoever holds the rule that
 * decides about it.  Calls that a client is too slow to read are passed over and counted. */
#include "agent/watch.h"

#include "agent/agent.h"
#include "agent/change.h"
#include "agent/figures.h"
#include "agent/probes.h"
#include "agent/text.h"
#include "wire/wire.h"

enum { BEHIND_MAX = 1 << 20 }; /* bytes of calls that wait for a client to read */

void watch_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct change_rules r = { .origin = "watch",
				  .as = { .holder = c->number, .watched = true } };
	struct wire_watch m;
	int first;

	if (wire_get_watch(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	r.rules = m.rules;
	r.flags = m.flags;
	r.as.at_least = (uint64_t)((unsigned __int128)m.at_least_ns * agent.scale.hz / 1000000000u);
	if (probes_init(jni) >= 0)
		text_set(jni, m.depth ? m.depth : 2, m.redact);
	first = change_hold(c, jni, &r);
	if (first >= 0)
		c->watch = (struct watch){ .first = (uint32_t)first,
					   .last = rulebook.next_number,
					   .since = tick_now(),
					   .left = m.limit ? m.limit : UINT64_MAX };
}

static struct conn *watcher_of(uint32_t rule)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (c->watch.first && rule >= c->watch.first && rule <= c->watch.last)
			return c;
	return NULL;
}

static bool is_watch_of(const struct entry *e, void *ctx)
{
	struct conn *c = ctx;

	return e->number >= c->watch.first && e->number <= c->watch.last;
}

static void end_watch(struct conn *c)
{
	change_remove(is_watch_of, c);
	if (c->watch.missed)
		conn_warn(c, "%llu more calls were passed over while nobody read",
			  (unsigned long long)c->watch.missed);
	conn_done(c, DONE, "%llu calls", (unsigned long long)c->watch.sent);
	c->watch = (struct watch){ 0 };
	conn_flush(c, 0);
}

void watch_send(void)
{
	struct probe_call call;

	while (probe_ring_take(&call)) {
		struct hooked *h = woven_method(call.id);
		struct conn *c = h ? watcher_of(h->rule) : NULL;

		/* A method that was hooked before, less fully, goes on without facts until the new
		 * code is in. */
		if (c && call.begin < c->watch.since)
			continue;
		if (c && c->out.n > BEHIND_MAX)
			c->watch.missed++;
		if (!c || !c->watch.left || c->out.n > BEHIND_MAX)
			continue;
		figures_put_call(&c->out, h, &call);
		c->watch.sent++;
		c->watch.left--;
	}
	for (struct conn *c = NULL; (c = conn_next(c));) {
		if (!c->watch.first)
			continue;
		conn_flush(c, 0);
		if (!c->watch.left)
			end_watch(c);
	}
}
