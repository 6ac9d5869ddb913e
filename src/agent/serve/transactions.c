/* SPDX-License-Identifier: Apache-2.0 */
/* transactions.c - transactions, out of the probe's memory to the client that traces.
 *
 * What is kept waits in the probe until it is taken here, written into the client's buffer as
 * messages, and given back.  Names of methods go before they are first used.  A client that does
 * not read misses whole transactions, which are counted. */
#include "agent/serve/transactions.h"

#include <stdio.h>

#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/natives/handover.h"
#include "agent/natives/probes.h"
#include "agent/serve/rows.h"
#include "agent/weaving/carry.h"
#include "agent/weaving/change.h"
#include "base/clock.h"
#include "base/plural.h"
#include "probe/trace.h"
#include "wire/wire.h"

enum {
	BEHIND_MAX = 1 << 20, /* bytes that wait for the client to read */
	SWEEP_MS = 200,
	COUNTS_MS = 1000,
	LINGER_MS = 5000, /* so long is waited for parts when the root has ended */
};

_Static_assert((int)TX_FAILED == TRACE_FAILED && (int)TX_CUT == TRACE_CUT &&
		       (int)TX_LOST == TRACE_LOST && (int)TX_OPEN == TRACE_OPEN &&
		       (int)TX_SLOW == TRACE_SLOW && (int)TX_SAMPLED == TRACE_SAMPLED &&
		       (int)CALL_THREW == TRACE_THROWN && (int)PART_NEVER_BEGUN == TRACE_QUEUED &&
		       (int)CALL_UNMET == TRACE_UNDONE,
	       "flags go over the wire as they are");

/* The agent's thread. */
static struct {
	uint32_t client;      /* number of the connection; 0: no client traces */
	uint32_t first, last; /* its rules; 0: none */
	uint64_t left, sent, missed;
	uint64_t swept, counted; /* ticks */
	uint8_t named[PROBE_METHODS / 8];
	struct buf name;
} trace;

static uint64_t ticks_of_ms(uint64_t ms)
{
	return (uint64_t)((unsigned __int128)ms * agent.scale.hz / 1000u);
}

/* ---- begin and end ------------------------------------------------------------------------ */

void transactions_stop(void)
{
	if (!trace.client)
		return;
	probe_trace_stop();
	if (!carry_is_wanted())
		handover_off();
	trace.client = 0;
	carry_keep(false);
	buf_release(&trace.name);
}

void transactions_client_gone(uint32_t number)
{
	if (number == trace.client)
		transactions_stop();
}

bool transactions_is_for(const struct conn *c)
{
	return trace.client && trace.client == c->number;
}

/* The roots' rules, and the others that are to be hooked besides, which come first: of several
 * rules for one method the last decides. */
static bool hold_rules(struct conn *c, JNIEnv *jni, const struct wire_trace *m)
{
	struct change_rules r = { .origin = "trace", .as = { .holder = c->number } };

	r.flags = m->flags;
	r.rules = handover_rules();
	r.quiet = true;
	if (!carry_is_there() && change_hold(c, jni, &r) < 0)
		return false;
	r.quiet = false;
	handover_on();
	if (m->more.n) {
		r.rules = m->more;
		if (change_hold(c, jni, &r) < 0)
			return false;
	}
	if (m->rules.n) {
		r.rules = m->rules;
		r.as.root = true;
		if (change_hold(c, jni, &r) < 0)
			return false;
	}
	return true;
}

static bool is_of_trace(const struct rule_entry *e, void *ctx)
{
	(void)ctx;
	return trace.first && e->number >= trace.first && e->number <= trace.last &&
	       e->holder == trace.client;
}

void transactions_run(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct probe_tracing how = { 0 };
	struct wire_trace m;

	if (wire_get_trace(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	if (trace.client) {
		conn_done(c, CANNOT, "somebody traces this program already");
		return;
	}
	if (!m.rules.n && !m.more.n && !rulebook.n) {
		conn_done(c, USAGE,
			  "nothing is hooked. Name the method that begins a transaction, as in\n"
			  "  sonde trace PID com.shop.Web::handle --hook 'com.shop.**::*'\n"
			  "or hook some with `sonde hook` before");
		return;
	}
	how.at_least = (uint64_t)((unsigned __int128)m.at_least_ns * agent.scale.hz / 1000000000u);
	how.one_in = m.one_in;
	how.marked = m.rules.n != 0;
	if (probes_init(jni) < 0 || probe_trace_start(&how) < 0) {
		conn_done(c, CANNOT, "there is no memory for transactions");
		return;
	}
	memset(trace.named, 0, sizeof(trace.named));
	trace.client = c->number;
	carry_keep(true);
	trace.first = rulebook.next_number + 1;
	trace.left = m.limit ? m.limit : UINT64_MAX;
	trace.sent = trace.missed = 0;
	trace.swept = trace.counted = tick_now();
	if (!hold_rules(c, jni, &m)) {
		trace.last = rulebook.next_number;
		change_remove(is_of_trace, NULL);
		transactions_stop();
		return;
	}
	trace.last = rulebook.next_number;
}

/* ---- one transaction ---------------------------------------------------------------------- */

struct sending {
	struct buf *out;
	uint64_t begin; /* tick */
};

static void name_method(struct buf *out, uint32_t id)
{
	const struct hooked *h = woven_method(id);

	if (!h || id >= PROBE_METHODS || trace.named[id / 8] & 1u << id % 8)
		return;
	trace.named[id / 8] |= (uint8_t)(1u << id % 8);
	buf_clear(&trace.name);
	rows_name(h, &trace.name);
	wire_put_trace_name(out, &(struct wire_trace_name){
					 .id = id,
					 .name = buf_slice(&trace.name),
					 .flags = rows_is_conditional(h) ? NAME_CONDITIONAL : 0 });
}

void transactions_forget(uint32_t id)
{
	trace.named[id / 8] &= (uint8_t) ~(1u << id % 8);
}

static uint64_t since(const struct sending *s, uint64_t tick)
{
	return tick > s->begin ? agent_ns(tick - s->begin) : 0;
}

static void put_part(void *ctx, const struct probe_trace_part *p)
{
	struct sending *s = ctx;
	char thread[32] = "";

	if (p->tid)
		rows_thread(p->tid, thread);
	wire_put_trace_part(s->out,
			    &(struct wire_trace_part){ .part = p->part,
						       .from = p->from,
						       .call = p->call,
						       .tid = p->tid,
						       .thread = slice_str(thread),
						       .submitted_ns = since(s, p->submitted),
						       .begin_ns = since(s, p->begin),
						       .end_ns = since(s, p->end),
						       .flags = p->flags | (p->end ? 0 : TX_OPEN),
						       .calls = p->calls });
}

static void put_call(void *ctx, const struct probe_trace_call *c)
{
	struct sending *s = ctx;
	uint64_t begin = since(s, c->begin), end = since(s, c->end);

	name_method(s->out, c->id);
	wire_put_trace_call(
		s->out, &(struct wire_trace_call){ .id = c->id,
						   .parent = c->parent,
						   .begin_ns = begin,
						   .elapsed_ns = end > begin ? end - begin : 0,
						   .flags = c->flags | (c->end ? 0 : CALL_RUNS) });
}

static void put_trace(struct buf *out, const struct probe_trace *t)
{
	struct sending s = { out, t->begin };
	struct probe_trace_visitor v = { put_part, put_call, &s };
	uint64_t when;

	when = clock_day_ns() - agent_age_ns(t->begin);
	name_method(out, t->root);
	wire_put_trace_tx(out, &(struct wire_trace_tx){ .number = ++trace.sent,
							.root = t->root,
							.when_ns = when,
							.elapsed_ns = agent_ns(t->ticks),
							.flags = t->flags,
							.missed = t->missed,
							.data = slice_str(t->data) });
	probe_trace_read(t, &v);
	wire_put_trace_end(out, &(struct wire_trace_end){ trace.sent });
}

static void put_counts(struct buf *out)
{
	struct probe_trace_counts n;

	probe_trace_counts(&n);
	wire_put_trace_counts(out, &(struct wire_trace_counts){ .begun = n.begun,
								.ended = n.ended,
								.failed = n.failed,
								.kept = n.kept,
								.passed = n.passed,
								.parts_passed = n.parts_passed,
								.slow_ns = agent_ns(n.slow),
								.missed = trace.missed });
}

/* It had rules of its own, and somebody has taken them out. */
static bool has_lost_rules(void)
{
	for (size_t i = 0; i < rulebook.n; i++)
		if (is_of_trace(&rulebook.entries[i], NULL))
			return false;
	return trace.last >= trace.first;
}

static struct conn *client(void)
{
	struct conn *c = NULL;

	while ((c = conn_next(c)) && c->number != trace.client)
		;
	return c;
}

void transactions_send(void)
{
	struct conn *c = trace.client ? client() : NULL;
	uint64_t now = tick_now();
	struct probe_trace t;

	if (!c)
		return;
	if (trace.left && has_lost_rules()) {
		conn_warn(c, "the methods that begin transactions are hooked no more: somebody has "
			     "unhooked them, or their time was over");
		trace.left = 0;
	}
	if (now - trace.swept >= ticks_of_ms(SWEEP_MS)) {
		probe_trace_sweep(now - ticks_of_ms(LINGER_MS));
		trace.swept = now;
	}
	while (trace.left && probe_trace_take(&t)) {
		if (c->out.n > BEHIND_MAX) {
			trace.missed++;
		} else {
			put_trace(&c->out, &t);
			trace.left--;
		}
		probe_trace_give(&t);
	}
	if (!trace.left || now - trace.counted >= ticks_of_ms(COUNTS_MS)) {
		put_counts(&c->out);
		trace.counted = now;
	}
	if (!trace.left) {
		change_remove(is_of_trace, NULL);
		conn_done(c, DONE, "%llu transaction%s", (unsigned long long)trace.sent,
			  plural(trace.sent));
		transactions_stop();
	}
	conn_flush(c, 0);
}
