/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - what a method took in all.
 *
 * When every call is timed the total is the sum.  With 1/N it is estimated: each timed call stands
 * for the N that was in force when it was drawn, and the sum is scaled to the number of calls,
 * which is known exactly.  The interval is that of a mean of `timed` drawings without
 * replacement, at 95 %. */
#include "agent/serve/rows.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/search.h"
#include "agent/classes/cached.h"
#include "agent/classes/rulebook.h"
#include "agent/core/agent.h"
#include "agent/core/reading.h"
#include "agent/natives/callers.h"
#include "agent/natives/data.h"
#include "agent/natives/usage.h"
#include "agent/serve/closing.h"
#include "agent/natives/probes.h"
#include "agent/weaving/recompile.h"
#include "agent/weaving/carry.h"
#include "agent/weaving/instrument.h"
#include "base/mem.h"
#include "classfile/class.h"
#include "probe/histogram.h"
#include "probe/types.h"
#include "rule/print.h"
#include "wire/wire.h"

struct estimate rows_estimate(const struct probe_figures *f)
{
	double n = (double)f->timed, calls = (double)(f->calls > f->timed ? f->calls : f->timed);
	double ended = f->weight ? (double)f->weighted / (double)f->weight : 0; /* mean */
	double mean, variance, error;

	if (f->timed == 0)
		return (struct estimate){ 0, 0, 0 };
	if (f->weight == f->timed) /* every call */
		return (struct estimate){ (double)f->sum, (double)f->sum, (double)f->sum };
	mean = (double)f->sum / n;
	variance = f->squares / n - mean * mean;
	error = variance > 0 && calls > n ? 1.96 * calls * sqrt(variance / n * (1 - n / calls)) : 0;
	return (struct estimate){ ended * calls, fmax(0, ended * calls - error),
				  ended * calls + error };
}

static uint64_t ns_of(double ticks)
{
	return ticks > 0 ? (uint64_t)(ticks * 1e9 / (double)(agent.scale.hz ? agent.scale.hz : 1))
			 : 0;
}

void rows_name(const struct hooked *h, struct buf *out)
{
	buf_dotted(out, slice_str(h->class->name));
	buf_u8(out, '.');
	buf_text(out, h->name);
}

static uint64_t running(const struct probe_figures *f)
{
	uint64_t ended = f->timed + f->lost;

	return f->begun > ended ? f->begun - ended : 0;
}

static void put_buckets(struct buf *out, const uint32_t *buckets)
{
	for (unsigned i = 0; i < PROBE_BUCKETS; i++) {
		uint64_t low = agent_ns(histogram_low(i));

		if (!buckets[i])
			continue;
		buf_u32(out, (uint32_t)(low >> 32));
		buf_u32(out, (uint32_t)low);
		buf_u32(out, buckets[i]);
	}
}

bool rows_is_conditional(const struct hooked *h)
{
	const struct rule_entry *e = rulebook_entry(h->rule);

	return e && e->rule->kind == RULE_HOOK &&
	       (e->rule->hook.condition || e->rule->hook.context_count);
}

/* What was spent in `all` but not in `part`; each metered call stands for N, together for
 * `calls`. */
static struct probe_spent rest(const struct probe_metered *f, const struct probe_spent *part,
			       uint64_t calls)
{
	const struct probe_spent *all = &f->all;
	double scale = (double)calls / (double)f->weight;

#define REST(word) (all->word > part->word ? scale * (double)(all->word - part->word) : 0)
	return (struct probe_spent){ .ticks = ns_of(REST(ticks)), /* ns from here on */
				     .cpu_ns = (uint64_t)REST(cpu_ns),
				     .bytes = (uint64_t)REST(bytes),
				     .blocked_ns = (uint64_t)REST(blocked_ns),
				     .delay_ns = (uint64_t)REST(delay_ns) };
#undef REST
}

/* Into a wire_method or wire_node, which have the same fields. */
#define PUT_METERED(m, f, n)                                           \
	do {                                                           \
		struct probe_spent all = rest((f), &(f)->nested, (n)); \
		struct probe_spent own = rest((f), &(f)->below, (n));  \
                                                                       \
		(m)->metered = (f)->calls;                             \
		(m)->metered_ns = all.ticks;                           \
		(m)->cpu_ns = all.cpu_ns;                              \
		(m)->allocated = all.bytes;                            \
		(m)->blocked_ns = all.blocked_ns;                      \
		(m)->delay_ns = all.delay_ns;                          \
		(m)->self_metered_ns = own.ticks;                      \
		(m)->self_cpu_ns = own.cpu_ns;                         \
		(m)->self_allocated = own.bytes;                       \
		(m)->self_blocked_ns = own.blocked_ns;                 \
		(m)->self_delay_ns = own.delay_ns;                     \
		(m)->unknown = usage_unknown();                        \
	} while (0)

/* What some outermost calls were counted to need stands for all of them. */
static void put_counts(struct wire_method *m, const struct probe_metered *f)
{
	double scale = (double)m->calls / (double)f->weight;
	uint64_t *to[PROBE_COUNTERS] = { &m->instructions, &m->cache_misses, &m->branches,
					 &m->branch_misses };

	if (!f->counted) {
		m->unknown |= METER_NO_COUNTERS;
		return;
	}
	scale *= (double)f->outermost / (double)f->counted;
	for (unsigned i = 0; i < PROBE_COUNTERS; i++)
		*to[i] = (uint64_t)(scale * (double)f->counts[i]);
}

static void put_metered(struct wire_method *m)
{
	struct probe_metered f;

	probe_metered_read(m->id, &f);
	if (!f.calls || !f.weight)
		return;
	PUT_METERED(m, &f, m->calls);
	put_counts(m, &f);
}

/* With those of the same method in other classes of that name, when all were unloaded. */
static void read_all(const struct hooked *h, struct probe_figures *f, uint32_t *buckets)
{
	struct probe_figures more;

	reading_method(h->id, f, buckets);
	for (const struct hooked *o = h->same; o; o = o->same) {
		reading_method(o->id, &more, buckets);
		probe_figures_add(f, &more);
	}
}

static void put_method(struct buf *out, struct hooked *h, struct buf *name, uint32_t flags)
{
	uint32_t buckets[PROBE_BUCKETS] = { 0 };
	struct probe_figures f;
	struct wire_method m = { .id = h->id, .level = h->level };
	struct buf spread = { 0 };
	struct estimate e;
	double seconds;
	uint64_t counted = 0;

	if (h->is_same || (!woven_is_in(h) && h->held && !rulebook_entry(h->rule)))
		return;
	read_all(h, &f, buckets);
	m.rule = woven_is_in(h) ? h->rule : 0;
	if (!m.rule && !f.calls)
		return;
	buf_clear(name);
	rows_name(h, name);
	e = rows_estimate(&f);
	for (int i = 0; i < PROBE_BUCKETS; i++)
		counted += buckets[i];
	seconds = (double)agent_age_ns(h->since) / 1e9;
	m.name = buf_slice(name);
	m.one_in = f.timed ? (uint32_t)(f.weight / f.timed) : h->one_in;
	m.calls = f.calls;
	m.errors = f.errors;
	m.timed = f.timed;
	m.total_ns = ns_of(e.total);
	m.low_ns = ns_of(e.low);
	m.high_ns = ns_of(e.high);
	m.self_ns = ns_of(e.total - (double)f.below);
	m.min_ns = f.timed ? agent_ns(f.min) : 0;
	m.max_ns = agent_ns(f.max);
	m.p50_ns = agent_ns(histogram_quantile(buckets, 0.5, f.min, f.max));
	m.p90_ns = agent_ns(histogram_quantile(buckets, 0.9, f.min, f.max));
	m.p99_ns = agent_ns(histogram_quantile(buckets, 0.99, f.min, f.max));
	m.active = running(&f);
	if (m.active > h->peak)
		h->peak = m.active;
	m.active_peak = h->peak;
	m.stalls = f.stalls;
	m.bytes = f.bytes;
	m.rate = seconds > 0 ? (double)f.calls / seconds : 0;
	m.flags = (woven_is_in(h) ? 0 : METHOD_GONE) | (h->anchor && !h->rule ? METHOD_ANCHOR : 0) |
		  (counted < f.timed ? METHOD_NO_QUANTILES : 0) |
		  (probe_method_settles(h->id) ? METHOD_SETTLED : 0) |
		  (f.weight > f.timed ? METHOD_DRAWN : 0) |
		  (flags & REPORT_PARTLY && rows_is_conditional(h) ? METHOD_PARTLY : 0) |
		  closing_flags(h->id);
	m.type = types_of(h->id) | (h->access & ACC_STATIC ? TYPE_STATIC : 0);
	put_metered(&m);
	if (flags & REPORT_BUCKETS)
		put_buckets(&spread, buckets);
	m.buckets = buf_slice(&spread);
	wire_put_method(out, &m);
	buf_release(&spread);
}

void rows_put_methods(struct buf *out, uint32_t flags)
{
	struct buf name = { 0 };

	woven_link_same();
	for (uint32_t id = 1; id < woven_ids(); id++) {
		struct hooked *h = woven_method(id);

		if (h)
			put_method(out, h, &name, flags);
	}
	buf_release(&name);
}

/* Which of the rules a method is hooked by; NULL: none. */
static struct wire_rule *rule_of(struct wire_rule *rules, uint32_t number)
{
	size_t low = SEARCH(rulebook.n, i, rules[i].number < number);

	return number && low < rulebook.n && rules[low].number == number ? &rules[low] : NULL;
}

/* A class counts once for each rule that has a method of it; `last`, of each rule: its last class. */
static void count_methods(struct wire_rule *rules, const struct woven **last)
{
	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = woven_first(); w; w = w->all) {
		for (const struct hooked *h = w->loader ? w->methods : NULL; h; h = h->next) {
			struct wire_rule *r = rule_of(rules, h->rule);

			if (!r)
				continue;
			r->methods++;
			r->classes += last[r - rules] != w;
			last[r - rules] = w;
		}
	}
	pthread_mutex_unlock(&agent.lock);
	for (uint32_t id = 1; id < woven_ids(); id++) {
		const struct hooked *h = woven_method(id);
		struct wire_rule *r = h ? rule_of(rules, h->rule) : NULL;
		struct probe_figures f;

		if (!r)
			continue;
		reading_method(id, &f, NULL);
		r->calls += f.calls;
	}
}

/* Does a rule that hooks nothing wait for a class, rather than stand behind one about the same
 * methods? */
static bool waits(size_t at)
{
	struct buf own = { 0 }, other = { 0 };
	const struct rule *rule = rulebook.entries[at].rule;
	bool alone = true;

	if ((rule->kind != RULE_HOOK && rule->kind != RULE_CAPTURE) || rule->repeated)
		return false;
	rule_target_print(&rule->target, &own);
	for (size_t i = 0; i < rulebook.n && rule->kind == RULE_HOOK && alone; i++) {
		const struct rule *later = rulebook.entries[i].rule;

		if (later->index <= rule->index ||
		    (later->kind != RULE_HOOK && later->kind != RULE_SKIP))
			continue;
		buf_clear(&other);
		rule_target_print(&later->target, &other);
		alone = !slice_eq(buf_slice(&own), buf_slice(&other));
	}
	buf_release(&own);
	buf_release(&other);
	return alone;
}

void rows_put_rules(struct buf *out)
{
	struct wire_rule *rules = mem_alloc((rulebook.n + 1) * sizeof(*rules));
	const struct woven **last = mem_alloc((rulebook.n + 1) * sizeof(*last));

	for (size_t i = 0; rules && last && i < rulebook.n; i++) {
		const struct rule_entry *e = &rulebook.entries[i];

		last[i] = NULL;
		rules[i] = (struct wire_rule){
			.number = e->number,
			.text = slice_str(e->text),
			.origin = slice_str(e->origin),
			.age_ns = agent_age_ns(e->added),
			.calls = e->unloaded,
			.flags = (e->holder ? RULE_HELD : 0) |
				 (callers_is_by_stack(e->number) ? RULE_BY_STACK : 0)
		};
	}
	if (rules && last)
		count_methods(rules, last);
	for (size_t i = 0; rules && last && i < rulebook.n; i++) {
		const struct rule_entry *e = &rulebook.entries[i];
		const struct rule *rule = e->rule;
		struct wire_rule *m = &rules[i];

		if (!m->methods && waits(i))
			m->flags |= RULE_WAITS;
		if (rule->kind == RULE_HOOK && rule->hook.for_ns > m->age_ns)
			m->leaves_ns = rule->hook.for_ns - m->age_ns;
		if (rule->kind == RULE_HOOK && rule->hook.calls > m->calls)
			m->leaves_calls = rule->hook.calls - m->calls;
		if (!carry_is_inner(e) && !closing_is_own(e))
			wire_put_rule(out, m);
	}
	mem_free(rules);
	mem_free(last);
}

/* Tests that could not be made, by rule and reason. */
void rows_put_missed(struct buf *out)
{
	struct wire_missed *rows = mem_alloc((rulebook.n * MISS_KINDS + 1) * sizeof(*rows));
	struct buf name = { 0 }, reason = { 0 };
	char refused[256];

	if (!rows)
		return;
	memset(rows, 0, rulebook.n * MISS_KINDS * sizeof(*rows));
	for (uint32_t id = 1; id < woven_ids(); id++) {
		const struct hooked *h = woven_method(id);
		uint64_t counts[MISS_KINDS];
		size_t at = 0;

		while (h && at < rulebook.n && rulebook.entries[at].number != h->rule)
			at++;
		if (!h || !h->rule || at == rulebook.n)
			continue;
		data_missed(id, counts);
		for (int k = 0; k < MISS_KINDS; k++) {
			struct wire_missed *m = &rows[at * MISS_KINDS + (size_t)k];

			m->rule = counts[k] && !m->count ? id : m->rule; /* the first, for now */
			m->count += counts[k];
		}
	}
	for (size_t i = 0; i < rulebook.n * MISS_KINDS; i++) {
		const struct hooked *h = rows[i].count ? woven_method(rows[i].rule) : NULL;

		if (!h)
			continue;
		buf_clear(&name);
		rows_name(h, &name);
		rows[i].rule = rulebook.entries[i / MISS_KINDS].number;
		buf_clear(&reason);
		buf_text(&reason, data_miss_text((enum data_miss)(i % MISS_KINDS)));
		if (i % MISS_KINDS == MISS_REFUSED) {
			data_refused(refused, sizeof(refused));
			buf_printf(&reason, ": %s", refused);
		}
		rows[i].reason = buf_slice(&reason);
		rows[i].example = buf_slice(&name);
		wire_put_missed(out, &rows[i]);
	}
	buf_release(&name);
	buf_release(&reason);
	mem_free(rows);
}

enum { PIECE = 1 << 20 }; /* of a tree, that is sent at once */

struct tree_ctx {
	struct buf *out;
	void (*send)(void *to);
	void *to;
	struct buf name;
};

static uint32_t node_flags(const struct hooked *h, const struct probe_figures *f)
{
	uint32_t closing = closing_flags(h->id);

	return (f->weight > f->timed ? NODE_DRAWN
		: f->timed	     ? NODE_EVERY
				     : 0) |
	       (probe_method_settles(h->id) ? NODE_SETTLED : 0) |
	       (closing & METHOD_CLOSED ? NODE_SHUT : 0) |
	       (closing & METHOD_FEWER ? NODE_FEWER : 0) |
	       (h->level == LEVEL_LIGHT ? NODE_LIGHT : 0);
}

enum { COLD_CALLS = 250 }; /* of a method before the JVM compiles it, about */

static uint32_t cold_calls(const struct hooked *h)
{
	return h->forgotten < COLD_CALLS ? COLD_CALLS - (uint32_t)h->forgotten : 0;
}

static double jni_share(const struct hooked *h)
{
	uint64_t calls = h->calls > h->jni_calls ? h->calls : h->jni_calls;

	if (!probes_is_fast())
		return 1;
	return calls ? (double)h->jni_calls / (double)calls : 0;
}

/* The time is that of the calls made here; calls are also those that they made in turn, of which as
 * many were timed. */
static void put_pruned(struct buf *out, unsigned depth, const struct probe_figures *f)
{
	double timed = f->weight ? (double)f->timed / (double)f->weight : 0;
	struct wire_node m = { .depth = depth,
			       .name = slice_str("(pruned)"),
			       .calls = f->calls,
			       .errors = f->errors,
			       .timed = (uint64_t)(timed * (double)f->calls),
			       .total_ns = ns_of((double)f->weighted),
			       .self_ns = ns_of((double)f->weighted),
			       .min_ns = f->timed ? agent_ns(f->min) : 0,
			       .max_ns = agent_ns(f->max),
			       .flags = NODE_PRUNED | NODE_SETTLED };
	struct probe_metered metered = f->metered;

	metered.below = (struct probe_spent){ 0 };
	if (metered.calls && metered.weight)
		PUT_METERED(&m, &metered, metered.weight);
	wire_put_node(out, &m);
}

static void put_node(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	struct tree_ctx *t = ctx;
	const struct hooked *h = id == PROBE_PRUNED ? NULL : woven_method(id);
	struct estimate e = rows_estimate(f);
	struct wire_node m;

	if (id == PROBE_PRUNED)
		put_pruned(t->out, depth, f);
	if (!h)
		return;
	buf_clear(&t->name);
	rows_name(h, &t->name);
	m = (struct wire_node){ .depth = depth,
				.id = id,
				.name = buf_slice(&t->name),
				.calls = f->calls,
				.errors = f->errors,
				.timed = f->timed,
				.total_ns = ns_of(e.total),
				.self_ns = ns_of(e.total - (double)f->below),
				.min_ns = f->timed ? agent_ns(f->min) : 0,
				.max_ns = agent_ns(f->max),
				.flags = node_flags(h, f),
				.running = f->begun > f->timed ? f->begun - f->timed : 0,
				.jni = jni_share(h),
				.cold = cold_calls(h),
				.type = types_of(id) | (h->access & ACC_STATIC ? TYPE_STATIC : 0) };
	if (f->metered.calls && f->metered.weight)
		PUT_METERED(&m, &f->metered, f->calls);
	wire_put_node(t->out, &m);
	if (t->send && t->out->n >= PIECE)
		t->send(t->to);
}

int rows_put_tree(struct buf *out, void (*send)(void *to), void *to)
{
	struct tree_ctx t = { .out = out, .send = send, .to = to };
	int rc = reading_tree(put_node, &t);

	buf_release(&t.name);
	return rc;
}

void rows_thread(uint32_t tid, char out[32])
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
	f = fopen(path, "re");
	if (!f || !fgets(out, 32, f))
		snprintf(out, 32, "%u", tid);
	out[strcspn(out, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* The same for many calls one after another, mostly of a few threads: to read a name takes longer
 * than all the rest.  On the agent's thread. */
static const char *thread_again(uint32_t tid)
{
	static struct {
		uint32_t tid;
		uint64_t since;
		char name[32];
	} kept[16];
	uint64_t now = tick_now();
	size_t at = tid % COUNT(kept);

	if (kept[at].tid != tid || now - kept[at].since > agent.scale.hz) {
		rows_thread(tid, kept[at].name);
		kept[at].tid = tid;
		kept[at].since = now;
	}
	return kept[at].name;
}

void rows_put_call(struct buf *out, const struct hooked *h, const struct probe_call *call)
{
	struct buf name = { 0 };
	uint64_t when;

	rows_name(h, &name);
	when = clock_day_ns() - agent_age_ns(call->begin);
	wire_put_call(out, &(struct wire_call){
				   .name = buf_slice(&name),
				   .tid = call->tid,
				   .thread = slice_str(thread_again(call->tid)),
				   .when_ns = when,
				   .elapsed_ns = agent_ns(call->ticks),
				   .thrown = call->thrown,
				   .facts = { (const uint8_t *)call->facts, call->facts_n } });
	buf_release(&name);
}

void rows_put_status(struct buf *out)
{
	struct probe_state s;
	struct wire_status m = { .rules = rulebook.n - carry_rules() - closing_rules() };
	struct cached_figures cache;
	char notes[NOTES_MAX];
	size_t n;

	probe_state_read(&s);
	pthread_mutex_lock(&agent.notes_lock);
	n = agent.notes_n;
	memcpy(notes, agent.notes, n);
	pthread_mutex_unlock(&agent.notes_lock);
	woven_count(&m.classes, &m.methods);
	m.resting = woven_count_resting();
	m.redefined = woven_count_redefined();
	m.threads = s.threads;
	m.memory = s.bytes_used;
	m.memory_limit = s.bytes_total;
	m.contexts_lost = s.nodes_refused + s.too_deep;
	m.contexts_deep = s.too_deep;
	m.contexts_pruned = s.pruned;
	m.bound_ns = agent_ns(s.bound_ticks);
	m.bound_calls = s.bound_calls;
	m.exits_lost = s.lost;
	m.exits_strayed = s.strayed;
	m.calls_dropped = s.ring_dropped;
	m.pulse_ns = s.pulses ? (double)agent_ns(s.pulse_ticks * 1000 / s.pulses) / 1000 : 0;
	m.recompile_ns = recompile_ns();
	m.fast = probes_is_fast();
	m.mechanism = slice_str(probes_mechanism());
	m.weave_ns = agent_ns(agent.spent.weaving);
	m.retransform_ns = agent_ns(agent.spent.retransforming);
	m.notes = (struct slice){ (const uint8_t *)notes, n };
	cached_figures(&cache);
	m.cache = slice_str(cache.place);
	m.cache_hits = cache.hits;
	m.cache_misses = cache.misses;
	m.cache_damaged = cache.damaged;
	m.cache_read = cache.bytes_read;
	m.cache_written = cache.bytes_written;
	closing_status(&m);
	wire_put_status(out, &m);
}
