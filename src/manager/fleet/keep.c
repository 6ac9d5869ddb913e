/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c - a second connection to each agent, on which transactions come, and from there into the
 * store.
 *
 * An agent serves one such client at a time: when another one is there (`sonde trace`), we come back
 * later.  While transactions are collected every call of a hooked method is timed, so a plan can
 * switch that off. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "manager/figures/pack.h"
#include "manager/fleet/relays.h"

enum {
	RETRY_MS = 10000,
	TELL_MS = 250,
	ID_MAX = 1 << 20,
	CALLS_MAX = 100000,
	PARTS_MAX = 20000,
	THREAD_MAX = 1024
};

/* What has come of the transaction that is coming. */
struct gather {
	bool asked;
	uint64_t at_least_ns;
	uint32_t one_in;
	struct named {
		const struct name *name;
		bool conditional;
		uint32_t local, turn; /* its number in transaction `turn` */
	} * named;
	size_t n_named;
	uint32_t turn;
	bool open;
	struct wire_trace_tx tx;
	struct arena texts;
	struct buf names; /* struct txn_name */
	struct buf parts; /* struct txn_part; .calls is a number until all are there */
	struct buf calls; /* struct txn_call */
	struct slice data;
};

static void gather_free(struct gather *g)
{
	if (!g)
		return;
	free(g->named);
	arena_release(&g->texts);
	buf_release(&g->names);
	buf_release(&g->parts);
	buf_release(&g->calls);
	mem_free(g);
}

void keep_stop(struct instance *i)
{
	link_close(&i->tracing);
	gather_free(i->gather);
	i->gather = NULL;
}

static void later(struct instance *i)
{
	keep_stop(i);
	i->trace_retry_ms = clock_steady_ms() + RETRY_MS;
}

/* ---- rows ---- */

static void take_name(struct app *app, struct gather *g, const struct wire_trace_name *m)
{
	size_t want = g->n_named ? g->n_named : 256;
	struct named *all = g->named;

	if (m->id >= ID_MAX)
		return;
	while (want <= m->id)
		want *= 2;
	if (want != g->n_named) {
		all = realloc(all, want * sizeof(*all));
		if (!all)
			return;
		memset(all + g->n_named, 0, (want - g->n_named) * sizeof(*all));
		g->named = all;
		g->n_named = want;
	}
	all[m->id] = (struct named){ .name = names_get(&app->names, m->name),
				     .conditional = (m->flags & NAME_CONDITIONAL) != 0 };
}

static uint32_t local_name(struct gather *g, uint32_t id)
{
	static const char unknown[] = "?";
	struct named none = { 0 }, *n = id < g->n_named ? &g->named[id] : &none;
	struct txn_name name = { n->name ? n->name->text : slice_str(unknown), n->conditional };
	uint32_t next = (uint32_t)(g->names.n / sizeof(name));

	if (n->turn == g->turn)
		return n->local;
	buf_bytes(&g->names, &name, sizeof(name));
	n->turn = g->turn;
	n->local = next;
	return next;
}

static void take_tx(struct gather *g, const struct wire_trace_tx *m)
{
	buf_clear(&g->names);
	buf_clear(&g->parts);
	buf_clear(&g->calls);
	arena_reset(&g->texts);
	g->open = true;
	g->turn++;
	g->tx = *m;
	g->data = arena_dup(&g->texts, m->data);
	local_name(g, m->root); /* the first one */
}

static uint32_t part_flags(uint32_t flags)
{
	return (flags & TX_OPEN ? TX_PART_OPEN : 0u) |
	       (flags & PART_NEVER_BEGUN ? TX_PART_NEVER_BEGUN : 0u);
}

static void take_part(struct gather *g, const struct wire_trace_part *m)
{
	struct txn_part part = { .part = m->part,
				 .from = m->from,
				 .call = m->call,
				 .tid = m->tid,
				 .flags = part_flags(m->flags),
				 .submitted_ns = m->submitted_ns,
				 .begin_ns = m->begin_ns,
				 .end_ns = m->end_ns };
	struct slice thread = { m->thread.p, m->thread.n < THREAD_MAX ? m->thread.n : THREAD_MAX };

	if (!g->open || g->parts.n / sizeof(part) >= PARTS_MAX)
		return;
	part.thread = arena_dup(&g->texts, thread);
	buf_bytes(&g->parts, &part, sizeof(part));
}

static void take_call(struct gather *g, const struct wire_trace_call *m)
{
	struct txn_call call = { .begin_ns = m->begin_ns, .elapsed_ns = m->elapsed_ns };
	struct txn_part *part;

	if (!g->open || !g->parts.n || g->parts.err || g->calls.n / sizeof(call) >= CALLS_MAX)
		return;
	part = (struct txn_part *)(void *)(g->parts.p + g->parts.n) - 1;
	call.name = local_name(g, m->id);
	call.parent = m->parent <= part->n ? m->parent : 0;
	call.flags = (m->flags & CALL_THREW ? TX_CALL_THREW : 0u) |
		     (m->flags & CALL_RUNS ? TX_CALL_RUNS : 0u) |
		     (m->flags & CALL_UNMET ? TX_CALL_UNMET : 0u);
	buf_bytes(&g->calls, &call, sizeof(call));
	part->n += !g->calls.err;
}

/* ---- into the store ---- */

static uint32_t tx_flags(uint32_t flags)
{
	return (flags & TX_FAILED ? TX_IS_FAILED : 0u) | (flags & TX_SLOW ? TX_IS_SLOW : 0u) |
	       (flags & TX_SAMPLED ? TX_IS_SAMPLED : 0u) |
	       (flags & (TX_CUT | TX_LOST) ? TX_IS_CUT : 0u);
}

static struct transaction view_of(struct gather *g)
{
	struct transaction t = { .when_ns = g->tx.when_ns,
				 .elapsed_ns = g->tx.elapsed_ns,
				 .missed = g->tx.missed,
				 .flags = tx_flags(g->tx.flags) };
	struct txn_call *calls = (struct txn_call *)(void *)g->calls.p;

	t.names = (struct txn_name *)(void *)g->names.p;
	t.n_names = g->names.n / sizeof(*t.names);
	t.parts = (struct txn_part *)(void *)g->parts.p;
	t.n_parts = g->parts.n / sizeof(*t.parts);
	for (size_t k = 0; k < t.n_parts; k++) {
		t.parts[k].calls = calls;
		calls += t.parts[k].n;
	}
	return t;
}

static bool fill_job(struct job_trace *job, struct instance *i, const struct transaction *t)
{
	struct buf packed = { 0 }, data = { 0 };
	struct arena *mem = &job->job.mem;

	pack_put(t, &packed);
	pack_data(i->gather->data, &data);
	job->job.kind = JOB_TRACE;
	job->t = (struct archive_trace){
		.app = slice_str(i->app->name),
		.instance = arena_dup(mem, slice_str(i->id)),
		.root = t->names[0].method, /* names stay */
		.thread = arena_dup(mem, t->n_parts ? t->parts[0].thread : slice_str("")),
		.data = arena_dup(mem, buf_slice(&data)),
		.when_ms = t->when_ns / 1000000,
		.elapsed_ns = t->elapsed_ns,
		.flags = t->flags,
		.calls = (uint32_t)(i->gather->calls.n / sizeof(struct txn_call)),
		.parts = (uint32_t)t->n_parts,
		.blob = arena_dup(mem, buf_slice(&packed)),
	};
	buf_release(&data);
	buf_release(&packed);
	return job->t.blob.p != NULL;
}

/* One event for all that came in a while, since thousands a second would push others out of the ring. */
static void tell(struct fleet *f, struct app *a, uint64_t now)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	if (!a->untold.count || now < a->untold.next_ms)
		return;
	json_open(&j, '{');
	json_put_text(&j, "application", a->name);
	json_put_u64(&j, "count", a->untold.count);
	json_put_u64(&j, "newest_ms", a->untold.newest_ms);
	json_close(&j, '}');
	hub_put(&f->hub, slice_str(a->name), "traces", buf_slice(&out));
	buf_release(&out);
	a->untold.count = 0;
	a->untold.next_ms = now + TELL_MS;
}

static void will_tell(struct app *a, uint64_t when_ms)
{
	a->untold.count++;
	if (when_ms > a->untold.newest_ms)
		a->untold.newest_ms = when_ms;
}

static void take_end(struct fleet *f, struct instance *i)
{
	struct gather *g = i->gather;
	struct transaction t;
	struct job_trace *job;

	if (!g->open)
		return;
	g->open = false;
	job = archive_is_behind(f->store) ? NULL : archive_job(sizeof(*job));
	if (!job || g->names.err || g->parts.err || g->calls.err || !g->names.n) {
		f->traces_passed++;
		if (job)
			archive_job_drop(&job->job);
		return;
	}
	t = view_of(g);
	if (!fill_job(job, i, &t)) {
		f->traces_passed++;
		archive_job_drop(&job->job);
		return;
	}
	push_trace(f->push, &job->t);
	f->traces_kept++;
	f->calls_kept += job->t.calls;
	archive_put(f->store, &job->job);
	will_tell(i->app, t.when_ns / 1000000);
}

/* ---- the connection ---- */

static void ask(struct instance *i)
{
	const struct plan *p = &i->app->plan;
	struct gather *g = i->gather;

	g->asked = true;
	g->at_least_ns = p->at_least_ns;
	g->one_in = p->one_in;
	wire_put_trace(&i->tracing.out,
		       &(struct wire_trace){ .at_least_ns = p->at_least_ns, .one_in = p->one_in });
}

static void take(struct fleet *f, struct instance *i, unsigned type, struct slice payload)
{
	struct gather *g = i->gather;
	union {
		struct wire_welcome welcome;
		struct wire_trace_name name;
		struct wire_trace_tx tx;
		struct wire_trace_part part;
		struct wire_trace_call call;
		struct wire_done done;
	} m;

	if (type == WIRE_welcome && !g->asked && wire_get_welcome(payload, &m.welcome) == 0)
		ask(i);
	else if (type == WIRE_trace_name && wire_get_trace_name(payload, &m.name) == 0)
		take_name(i->app, g, &m.name);
	else if (type == WIRE_trace_tx && wire_get_trace_tx(payload, &m.tx) == 0)
		take_tx(g, &m.tx);
	else if (type == WIRE_trace_part && wire_get_trace_part(payload, &m.part) == 0)
		take_part(g, &m.part);
	else if (type == WIRE_trace_call && wire_get_trace_call(payload, &m.call) == 0)
		take_call(g, &m.call);
	else if (type == WIRE_trace_end)
		take_end(f, i);
	else if (type == WIRE_done && wire_get_done(payload, &m.done) == 0) {
		log_put(LOG_DEBUG, "%s: no transactions: %.*s", i->id, SLICE_FMT(m.done.text));
		later(i);
	}
}

void keep_io(struct fleet *f, struct instance *i)
{
	struct slice payload;
	unsigned type;
	int rc = link_pump(&i->tracing), got = 1;

	while (i->tracing.fd >= 0 && (got = link_next(&i->tracing, &type, &payload)) > 0)
		take(f, i, type, payload);
	if (i->tracing.fd >= 0 && (rc < 0 || got < 0))
		later(i);
}

static bool is_wanted(const struct instance *i)
{
	return i->state == INSTANCE_CONNECTED && i->app->plan.version && i->app->plan.keep_traces &&
	       i->status.methods;
}

static bool is_as_wanted(const struct instance *i)
{
	const struct plan *p = &i->app->plan;

	return !i->gather->asked ||
	       (i->gather->at_least_ns == p->at_least_ns && i->gather->one_in == p->one_in);
}

void keep_step(struct fleet *f, struct instance *i, uint64_t now)
{
	if (i->app)
		tell(f, i->app, now);
	if (i->tracing.fd >= 0) {
		if (!is_wanted(i) || !is_as_wanted(i))
			keep_stop(i);
		return;
	}
	if (!is_wanted(i) || now < i->trace_retry_ms)
		return;
	i->gather = mem_alloc(sizeof(*i->gather));
	if (!i->gather)
		return;
	*i->gather = (struct gather){ 0 };
	if ((i->relay ? relays_open(f, i, &i->tracing) : link_open(&i->tracing, &i->peer)) < 0) {
		later(i);
		return;
	}
	wire_put_hello(&i->tracing.out, &(struct wire_hello){ WIRE_MAGIC, WIRE_VERSION,
							      slice_str("sonded traces") });
}
