/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - single calls, out of the probe's ring to the clients that watch them.
 *
 * A watching client holds its rules; the calls of a method go to whoever holds the rule that
 * decides about it.  Calls that a client is too slow to read are passed over and counted. */
#include "agent/serve/watch.h"

#include "agent/core/agent.h"
#include "agent/natives/probes.h"
#include "agent/natives/value_text.h"
#include "agent/serve/rows.h"
#include "agent/weaving/change.h"
#include "base/plural.h"
#include "wire/wire.h"

enum { BEHIND_MAX = 1 << 20 }; /* bytes of calls that wait for a client to read */

static bool is_alike(const struct conn *a, const struct conn *b)
{
	return a->redact.n == b->redact.n &&
	       (!a->redact.n || memcmp(a->redact.p, b->redact.p, a->redact.n) == 0);
}

/* There is one way for all to show objects: as deep as anybody wants, and without what anybody wants
 * hidden.  What one client must not show does not appear because of another.  False: out of
 * memory. */
static bool set_text(struct conn *mine, JNIEnv *jni)
{
	unsigned depth = mine->depth;
	struct buf redact = { 0 };
	bool set;

	buf_put(&redact, buf_slice(&mine->redact));
	for (struct conn *c = NULL; (c = conn_next(c));) {
		if (c == mine || !c->watch.first)
			continue;
		depth = c->depth > depth ? c->depth : depth;
		if (!c->redact.n || is_alike(c, mine))
			continue;
		if (redact.n)
			buf_u8(&redact, ',');
		buf_put(&redact, buf_slice(&c->redact));
	}
	if (redact.n != mine->redact.n)
		conn_warn(mine, "somebody else watches this program, too, and hides more; so it is "
				"hidden here as well");
	set = !redact.err && value_text_set(jni, depth, buf_slice(&redact));
	buf_release(&redact);
	return set;
}

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
	c->depth = m.depth ? m.depth : 2;
	buf_clear(&c->redact);
	buf_put(&c->redact, m.redact);
	if (c->redact.err || (probes_init(jni) >= 0 && !set_text(c, jni))) {
		/* what should be hidden would be seen */
		conn_done(c, CANNOT, "out of memory");
		return;
	}
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

static bool is_watch_of(const struct rule_entry *e, void *ctx)
{
	struct conn *c = ctx;

	return e->number >= c->watch.first && e->number <= c->watch.last;
}

static bool has_rules(const struct conn *c)
{
	for (size_t i = 0; i < rulebook.n; i++)
		if (is_watch_of(&rulebook.entries[i], (void *)c))
			return true;
	return false;
}

static void end_watch(struct conn *c)
{
	change_remove(is_watch_of, c);
	if (c->watch.missed)
		conn_warn(c, "%llu more call%s passed over while nobody read",
			  (unsigned long long)c->watch.missed,
			  c->watch.missed == 1 ? " was" : "s were");
	conn_done(c, DONE, "%llu call%s", (unsigned long long)c->watch.sent, plural(c->watch.sent));
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
		rows_put_call(&c->out, h, &call);
		c->watch.sent++;
		c->watch.left--;
	}
	for (struct conn *c = NULL; (c = conn_next(c));) {
		if (!c->watch.first)
			continue;
		conn_flush(c, 0);
		if (c->watch.left && has_rules(c))
			continue;
		if (c->watch.left)
			conn_warn(c,
				  "what was watched is hooked no more: somebody has unhooked it, "
				  "or its time was over");
		end_watch(c);
	}
}
