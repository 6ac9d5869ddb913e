/* SPDX-License-Identifier: Apache-2.0 */
/* poll.c - asks each agent for its figures and its tree, again and again, and keeps what is new.
 *
 * Agents send totals.  What was added since the last slot goes to the store together with the
 * totals themselves, so that it is added exactly once: whoever starts anew reads them back and goes
 * on from there.  Totals that have shrunk begin anew at 0 (`sonde reset`, or a hook that came
 * again). */
#include <stdlib.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "jvm/jvm_threads.h"
#include "manager/figures/spread.h"
#include "manager/fleet/fleet.h"

enum {
	PATIENCE_S = 120,
	TREE_EVERY_MS = 5000,
	TREE_WANTED_MS = 60000, /* after somebody has looked at it */
	STATUS_EVERY_MS = 60000,
	FIGURES_MAX = 300000,
	BUCKETS_MAX = 64 << 10, /* bytes of a method's histogram */
	COUNTED_NS = 15,	/* what a call of a hooked method costs, roughly; and a timed one */
	TIMED_NS = 75,
};

static void figure_free(struct figure *g)
{
	buf_release(&g->raw);
	buf_release(&g->base_raw);
}

static void figures_free(struct figure *g, size_t n)
{
	for (size_t k = 0; k < n; k++)
		figure_free(&g[k]);
	free(g);
}

void poll_forget(struct instance *i)
{
	figures_free(i->figures, i->n);
	figures_free(i->fresh, i->n_fresh);
	free(i->tree);
	free(i->fresh_tree);
	i->figures = i->fresh = NULL;
	i->tree = i->fresh_tree = NULL;
	i->n = i->n_fresh = i->n_tree = i->n_fresh_tree = 0;
	i->cap_fresh = i->cap_fresh_tree = 0;
}

/* ---- rows ---- */

static void *grow(void *v, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 64;

	if (n < *cap)
		return v;
	v = realloc(v, want * size);
	if (v)
		*cap = want;
	return v;
}

static void take_method(struct instance *i, const struct wire_method *m)
{
	const struct name *name = names_get(&i->app->names, m->name);
	struct figure *all, *g;

	if (!name || i->n_fresh >= FIGURES_MAX || (m->flags & METHOD_ANCHOR && !m->calls))
		return;
	all = grow(i->fresh, i->n_fresh, &i->cap_fresh, sizeof(*all));
	if (!all)
		return;
	i->fresh = all;
	g = &all[i->n_fresh++];
	*g = (struct figure){ .id = m->id, .name = name, .level = m->level, .one_in = m->one_in };
	g->flags = m->flags;
	g->rule = m->rule;
	g->sums[SUM_CALLS] = m->calls;
	g->sums[SUM_ERRORS] = m->errors;
	g->sums[SUM_TIMED] = m->timed;
	g->sums[SUM_TOTAL_NS] = m->total_ns;
	g->sums[SUM_SELF_NS] = m->self_ns;
	g->sums[SUM_STALLS] = m->stalls;
	g->sums[SUM_CPU_NS] = m->cpu_ns;
	g->sums[SUM_BLOCKED_NS] = m->blocked_ns;
	g->sums[SUM_ALLOCATED] = m->allocated;
	g->low_ns = m->low_ns;
	g->high_ns = m->high_ns;
	g->min_ns = m->min_ns;
	g->max_ns = m->max_ns;
	g->p50_ns = m->p50_ns;
	g->p90_ns = m->p90_ns;
	g->p99_ns = m->p99_ns;
	g->active = m->active;
	g->active_peak = m->active_peak;
	g->unknown = m->metered ? m->unknown : ~0u;
	g->rate = m->rate;
	if (m->buckets.n <= BUCKETS_MAX)
		buf_put(&g->raw, m->buckets);
}

static void take_status(struct instance *i, const struct wire_status *s)
{
	i->status = *s;
	snprintf(i->mechanism, sizeof(i->mechanism), "%.*s", SLICE_FMT(s->mechanism));
	i->status.mechanism = i->status.notes = i->status.cache = (struct slice){ NULL, 0 };
}

static void report_row(struct ask *a, unsigned type, struct slice payload)
{
	struct wire_method m;
	struct wire_status s;

	if (type == WIRE_method && wire_get_method(payload, &m) == 0)
		take_method(a->of, &m);
	if (type == WIRE_status && wire_get_status(payload, &s) == 0)
		take_status(a->of, &s);
}

/* ---- what is new ---- */

struct flush {
	struct job_figures *job;
	uint64_t slot_ms;
};

static struct slice spread_of(struct figure *g, struct arena *mem, uint64_t *longest)
{
	static struct call_spread s; /* only the fleet's thread comes here */
	struct slice out = { NULL, 0 };
	struct buf packed = { 0 };

	s = (struct call_spread){ 0 };
	spread_add_raw(&s, buf_slice(&g->base_raw), buf_slice(&g->raw));
	spread_put(&s, &packed);
	*longest = spread_longest(&s);
	if (!packed.err && packed.n)
		out = arena_dup(mem, buf_slice(&packed));
	buf_release(&packed);
	return out;
}

static void put_base(const struct figure *g, struct arena *mem, struct archive_base *b)
{
	*b = (struct archive_base){ .id = g->id, .method = g->name->text, .max_ns = g->max_ns };
	memcpy(b->sums, g->sums, sizeof(b->sums));
	b->raw = g->raw.n ? arena_dup(mem, buf_slice(&g->raw)) : (struct slice){ NULL, 0 };
}

static void put_new(struct figure *g, struct flush *fl)
{
	struct job_figures *job = fl->job;
	struct archive_figure *row = &job->rows[job->n];
	uint64_t longest = 0;
	bool anew = g->sums[SUM_CALLS] < g->base[SUM_CALLS];

	if (anew) {
		memset(g->base, 0, sizeof(g->base));
		g->base_max_ns = 0;
		buf_clear(&g->base_raw);
	}
	if (!anew && g->sums[SUM_CALLS] == g->base[SUM_CALLS] && !g->active &&
	    g->sums[SUM_STALLS] == g->base[SUM_STALLS] && g->sums[SUM_TIMED] == g->base[SUM_TIMED])
		return;
	*row = (struct archive_figure){ .slot_ms = fl->slot_ms,
					.method = g->name->text,
					.active_peak = g->active };
	/* estimates can shrink while calls are added */
	for (unsigned k = 0; k < SUMS; k++)
		row->sums[k] = g->sums[k] > g->base[k] ? g->sums[k] - g->base[k] : 0;
	row->spread = spread_of(g, &job->job.mem, &longest);
	row->max_ns = g->max_ns > g->base_max_ns || longest > g->max_ns ? g->max_ns : longest;
	put_base(g, &job->job.mem, &job->bases[job->n_bases++]);
	job->n++;
	memcpy(g->base, g->sums, sizeof(g->base));
	g->base_max_ns = g->max_ns;
	buf_clear(&g->base_raw);
	buf_put(&g->base_raw, buf_slice(&g->raw));
}

static void put_instance(struct fleet *f, const struct instance *i)
{
	struct job_instance *job = archive_job(sizeof(*job));
	struct buf out = { 0 };
	struct json j = json_to(&out);

	if (!job)
		return;
	json_open(&j, '{');
	json_put_text(&j, "id", i->id);
	json_put_text(&j, "application", i->app->name);
	json_put_u64(&j, "pid", (uint64_t)i->peer.pid);
	json_put_text(&j, "jvm", i->jvm);
	json_close(&j, '}');
	job->job.kind = JOB_INSTANCE;
	job->ident = arena_dup(&job->job.mem, slice_str(i->id));
	job->app = slice_str(i->app->name); /* applications stay */
	job->text = arena_dup(&job->job.mem, buf_slice(&out));
	job->seen_ms = i->seen_ms;
	archive_put(f->store, &job->job);
	buf_release(&out);
}

/* What could not be stored is found again: everybody goes on from the totals that the store has. */
static void see_failures(struct fleet *f)
{
	struct archive_state store;

	archive_state(f->store, &store);
	if (store.failed == f->store_failed)
		return;
	f->store_failed = store.failed;
	f->store_until = store.written + store.failed + store.queued;
	for (struct instance *i = f->instances; i; i = i->next)
		i->has_bases = false;
}

void poll_flush(struct fleet *f, struct instance *i)
{
	struct job_figures *job;
	struct flush fl;

	see_failures(f);
	if (!i->n || !i->has_bases || !i->app)
		return;
	job = archive_job(sizeof(*job));
	fl = (struct flush){ job, f->slot_ms };
	if (job)
		job->rows = arena_alloc(&job->job.mem, i->n * sizeof(*job->rows));
	if (job && job->rows)
		job->bases = arena_alloc(&job->job.mem, i->n * sizeof(*job->bases));
	if (!job || !job->rows || !job->bases) {
		log_put(LOG_ERROR, "out of memory: figures of %s wait", i->id);
		return;
	}
	job->job.kind = JOB_FIGURES;
	job->app = slice_str(i->app->name);
	job->instance = arena_dup(&job->job.mem, slice_str(i->id));
	job->job.chained_to = job->instance;
	job->job.chain = i->chain;
	for (size_t k = 0; k < i->n; k++)
		put_new(&i->figures[k], &fl);
	put_instance(f, i);
	archive_put(f->store, &job->job);
}

/* ---- the new in place of the old ---- */

static int by_id(const void *a, const void *b)
{
	const struct figure *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct figure *find(struct figure *v, size_t n, uint32_t id)
{
	return n ? bsearch(&(struct figure){ .id = id }, v, n, sizeof(*v), by_id) : NULL;
}

static void set_base(void *ctx, const struct archive_base *b)
{
	struct instance *i = ctx;
	struct figure *g = find(i->fresh, i->n_fresh, b->id);

	if (!g || !slice_eq(g->name->text, b->method))
		return;
	memcpy(g->base, b->sums, sizeof(g->base));
	g->base_max_ns = b->max_ns;
	buf_put(&g->base_raw, b->raw);
}

/* Of a method with that number and name; a number that stands for another one now says nothing. */
static void inherit(struct figure *old, struct figure *g)
{
	if (old->name != g->name)
		return;
	memcpy(g->base, old->base, sizeof(g->base));
	g->base_max_ns = old->base_max_ns;
	g->base_raw = old->base_raw;
	old->base_raw = (struct buf){ 0 };
}

/* What is not there any more would be lost with its last calls. */
static bool any_went(const struct instance *i)
{
	for (size_t k = 0; k < i->n; k++) {
		const struct figure *g = find(i->fresh, i->n_fresh, i->figures[k].id);

		if (!g || g->name != i->figures[k].name)
			return true;
	}
	return false;
}

/* An estimate of what hooks cost, from how often they were run. */
static void see_cost(struct instance *i)
{
	uint64_t ns = 0, now = clock_steady_ms();
	struct jvm_threads t;
	double wall = (double)(now - i->cost_at_ms) * 1e6;

	for (size_t k = 0; k < i->n; k++) {
		uint64_t timed = i->figures[k].sums[SUM_TIMED],
			 calls = i->figures[k].sums[SUM_CALLS];

		timed = timed < calls ? timed : calls;
		ns += timed * TIMED_NS + (calls - timed) * COUNTED_NS;
	}
	if (i->relay)
		t = (struct jvm_threads){ .own_ns = i->told_own_ns };
	else
		jvm_threads_read(i->peer.pid, &t);
	if (i->cost_at_ms && wall > 0) {
		i->hooks_share = ns > i->cost_ns ? (double)(ns - i->cost_ns) / wall : 0;
		i->agent_share = t.own_ns > i->own_ns ? (double)(t.own_ns - i->own_ns) / wall : 0;
	}
	i->cost_ns = ns;
	i->own_ns = t.own_ns;
	i->cost_at_ms = now;
}

static void drop_fresh(struct instance *i)
{
	figures_free(i->fresh, i->n_fresh);
	i->fresh = NULL;
	i->n_fresh = i->cap_fresh = 0;
}

/* False: the store does not say now, and without bases all would be counted once more.  Meanwhile the
 * API may go on: only this thread knows what has just come, and takes processes away. */
static bool read_bases(struct fleet *f, struct instance *i)
{
	struct archive_state store;
	int rc;

	archive_state(f->store, &store);
	if (store.written + store.failed < f->store_until)
		return false;
	pthread_mutex_unlock(&f->lock);
	rc = archive_bases(f->store, slice_str(i->id), set_base, i);
	pthread_mutex_lock(&f->lock);
	i->chain++;
	return rc >= 0;
}

static void inherit_all(struct instance *i)
{
	for (size_t k = 0; k < i->n; k++) {
		struct figure *g = find(i->fresh, i->n_fresh, i->figures[k].id);

		if (g)
			inherit(&i->figures[k], g);
	}
}

static void report_done(struct ask *a, int status, struct slice text)
{
	struct fleet *f = a->ctx;
	struct instance *i = a->of;

	(void)text;
	if (i->n_fresh)
		qsort(i->fresh, i->n_fresh, sizeof(*i->fresh), by_id);
	if (status != 0 || (!i->has_bases && !read_bases(f, i))) {
		drop_fresh(i);
		return;
	}
	if (any_went(i))
		poll_flush(f, i);
	if (i->has_bases)
		inherit_all(i);
	i->has_bases = true;
	figures_free(i->figures, i->n);
	i->figures = i->fresh;
	i->n = i->n_fresh;
	i->fresh = NULL;
	i->n_fresh = i->cap_fresh = 0;
	see_cost(i);
}

/* ---- tree ---- */

static void tree_row(struct ask *a, unsigned type, struct slice payload)
{
	struct instance *i = a->of;
	const struct name *name;
	struct tree_row *all;
	struct wire_node m;

	if (type != WIRE_node || wire_get_node(payload, &m) < 0 || i->n_fresh_tree >= TREE_MAX ||
	    m.depth > WIRE_DEPTH_MAX)
		return;
	name = names_get(&i->app->names, m.name);
	all = grow(i->fresh_tree, i->n_fresh_tree, &i->cap_fresh_tree, sizeof(*all));
	if (!name || !all)
		return;
	i->fresh_tree = all;
	all[i->n_fresh_tree++] = (struct tree_row){ .name = name,
						    .depth = m.depth,
						    .flags = m.flags,
						    .calls = m.calls,
						    .errors = m.errors,
						    .timed = m.timed,
						    .total_ns = m.total_ns,
						    .self_ns = m.self_ns,
						    .min_ns = m.min_ns,
						    .max_ns = m.max_ns };
}

static void tree_done(struct ask *a, int status, struct slice text)
{
	struct instance *i = a->of;

	(void)text;
	if (status == 0) {
		free(i->tree);
		i->tree = i->fresh_tree;
		i->n_tree = i->n_fresh_tree;
	} else {
		free(i->fresh_tree);
	}
	i->fresh_tree = NULL;
	i->n_fresh_tree = i->cap_fresh_tree = 0;
}

/* ---- when ---- */

static void ask_report(struct fleet *f, struct instance *i)
{
	struct ask *a = session_ask(i, PATIENCE_S);

	if (!a)
		return;
	a->ctx = f;
	a->row = report_row;
	a->done = report_done;
	wire_put_report(&a->frame, &(struct wire_report){ REPORT_BUCKETS | REPORT_PARTLY });
	session_send(f, a);
}

static void ask_tree(struct fleet *f, struct instance *i)
{
	struct ask *a = session_ask(i, PATIENCE_S);

	if (!a)
		return;
	a->ctx = f;
	a->row = tree_row;
	a->done = tree_done;
	wire_put_tree(&a->frame, &(struct wire_tree){ 0 });
	session_send(f, a);
}

void poll_step(struct fleet *f, struct instance *i, uint64_t now)
{
	if (i->state != INSTANCE_CONNECTED || i->asks)
		return;
	if (i->plan_version != i->app->plan.version)
		reconcile_step(f, i);
	if (now >= i->next_report_ms) {
		i->next_report_ms = now + f->config->interval_ms;
		ask_report(f, i);
		reconcile_step(f, i);
	}
	if (now >= i->next_tree_ms && (!i->tree || now - i->tree_asked_ms < TREE_WANTED_MS)) {
		i->next_tree_ms = now + TREE_EVERY_MS;
		ask_tree(f, i);
	}
	if (now >= i->next_status_ms && i->app) {
		i->next_status_ms = now + STATUS_EVERY_MS;
		put_instance(f, i);
	}
}
