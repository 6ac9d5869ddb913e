/* SPDX-License-Identifier: Apache-2.0 */
/* closing.c - what plan/budget is told, and what is done as it says.
 *
 * A look reads the figures of all methods in one go.  Prices are what hooks cost in compiled code; where
 * contexts are made and taken out all the time, that is added.
 *
 * Gates are held closed (gates.h), so that rules may come and go meanwhile.  Methods that are to have
 * no hook in their code get `skip` rules, all in one change: then classes are woven, cached and
 * compared when the agent leaves as with rules of anybody else. */
#include "agent/serve/closing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agent/core/agent.h"
#include "agent/core/gates.h"
#include "agent/core/reading.h"
#include "agent/hotspot/vitals.h"
#include "agent/natives/probes.h"
#include "agent/classes/closable.h"
#include "agent/serve/heat.h"
#include "agent/weaving/change.h"
#include "base/clock.h"
#include "base/mem.h"
#include "plan/budget/budget.h"
#include "probe/probe.h"
#include "rule/signature.h"

enum {
	RULES_OWN_MAX = 4000,
	PRUNED_NS = 2000, /* to take a context out, and make the one that wants its room */
	LOOK_SHARE = 100, /* a look takes not more than such a part of the time ... */
	LOOK_MAX_S = 5,	  /* ... unless it would be too long until the next one */
	RARE_NS = 100,
	RARE_HALF = 1500000,
	TIMED_TOUCHES = 5,
};

static const char own[] = "budget";

struct seen { /* of a method, at the last look */
	uint64_t calls, timed, weight, weighted, below;
};

struct noted { /* of a method */
	struct seen was, is;
	uint32_t rule; /* that hooked it before it was taken out; 0: it is not */
	bool fewer;    /* it was closed since its figures began */
};

static struct {
	bool on;
	struct budget budget;
	struct noted *noted; /* by id */
	uint32_t n;
	uint64_t looked, next;		    /* ticks; 0: not yet */
	uint64_t cpu_ns, jit, rest, pruned; /* at the last look; rest: our own processor time */
	uint32_t n_rules;
} closing;

/* ---- outside ------------------------------------------------------------------------------ */

bool closing_is_on(void)
{
	return closing.on;
}

bool closing_is_own(const struct rule_entry *e)
{
	return strcmp(e->origin, own) == 0;
}

uint32_t closing_rules(void)
{
	return __atomic_load_n(&closing.n_rules, __ATOMIC_RELAXED);
}

uint32_t closing_flags(uint32_t id)
{
	bool closed = closing.on && budget_state(&closing.budget, id) != BUDGET_OPEN;

	return (closed ? METHOD_CLOSED : 0) |
	       (closed || (id < closing.n && closing.noted[id].fewer) ? METHOD_FEWER : 0);
}

void closing_status(struct wire_status *m)
{
	const struct budget *b = &closing.budget;
	double rest = b->cpu_ns - b->open_ns - b->closed_ns;

	if (!closing.on)
		return;
	m->budget = b->share;
	m->closed = b->n_closed + b->n_out;
	m->taken_out = b->n_out;
	if (rest <= 0)
		return;
	m->cost = b->open_ns / rest;
	m->cost_closed = b->closed_ns / rest;
}

void closing_explain(uint32_t id, struct buf *out)
{
	const struct budget *b = &closing.budget;
	const struct budget_method *m = id < b->n ? &b->methods[id] : NULL;

	if (!closing.on || !m || m->state == BUDGET_OPEN)
		return;
	buf_printf(out, "  %s to keep to the budget of %g %%: %.0f calls a second",
		   m->state == BUDGET_OUT ? "has no hook in its code" : "closed", b->share * 100,
		   (double)m->rate);
	if (m->all >= 0)
		buf_printf(out, ", of %.0f ns each, %.0f ns by itself", (double)m->all,
			   (double)m->own);
	buf_text(out, " when it was last seen\n");
}

/* ---- gates -------------------------------------------------------------------------------- */

/* All as the machine has it. */
static void hold_gates(void)
{
	bool any = false;
	JNIEnv *jni;

	for (uint32_t id = 1; id < woven_ids(); id++) {
		bool hold = closing.on && budget_is_shut(&closing.budget, id);

		any |= hold != gates_is_held(id);
		gates_hold(id, hold);
		if (hold && id < closing.n)
			closing.noted[id].fewer = true;
	}
	jni = any && gates_are_there() ? agent_enter_jvm() : NULL;
	if (!jni)
		return;
	gates_tell(jni);
	agent_leave_jvm();
}

/* ---- hooks that leave the code ------------------------------------------------------------ */

static bool is_plain(const char *name)
{
	for (; *name && *name != '('; name++)
		if (!(*name >= '0' && *name <= '9') &&
		    !((*name | 32) >= 'a' && (*name | 32) <= 'z') && !strchr("_$/<>", *name) &&
		    !(*name & 0x80))
			return false;
	return true;
}

static void skip_text(const struct hooked *h, struct buf *out)
{
	const char *desc = strchr(h->name, '(');

	if (!desc || !is_plain(h->name) || !is_plain(h->class->name))
		return; /* it stays closed */
	buf_text(out, "skip ");
	buf_dotted(out, slice_str(h->class->name));
	buf_printf(out, "::%.*s", (int)(desc - h->name), h->name);
	signature_print(slice_str(desc), out);
	buf_u8(out, '\n');
}

static bool is_own(const struct rule_entry *e, void *ctx)
{
	(void)ctx;
	return closing_is_own(e);
}

static uint32_t skips(struct buf *text)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id < closing.n && id < woven_ids(); id++) {
		struct hooked *h = woven_method(id);
		struct noted *k = &closing.noted[id];

		if (!h || budget_state(&closing.budget, id) != BUDGET_OUT) {
			k->rule = 0;
			continue;
		}
		k->rule = k->rule ? k->rule : h->rule;
		if (n++ < RULES_OWN_MAX)
			skip_text(h, text);
	}
	return n < RULES_OWN_MAX ? n : RULES_OWN_MAX;
}

/* Puts into the code what is to be there, and out of it what is not. */
static void weave(void)
{
	JNIEnv *jni = agent_enter_jvm();
	struct buf text = { 0 }, why = { 0 };
	uint32_t n;

	if (!jni)
		return;
	closing.budget.weave = false;
	n = skips(&text);
	rulebook_remove(is_own, NULL);
	if (n && (text.err ||
		  rulebook_add(buf_slice(&text), own, &(struct rule_entry){ 0 }, &why) < 0)) {
		agent_note("hooks closed for the budget stay in the code: %.*s", (int)why.n,
			   why.n ? (const char *)why.p : "");
		n = 0;
	}
	__atomic_store_n(&closing.n_rules, n, __ATOMIC_RELAXED);
	change_to_rules_at_once(jni);
	agent_leave_jvm();
	buf_release(&text);
	buf_release(&why);
}

/* ---- a look ------------------------------------------------------------------------------- */

static bool make_room(void)
{
	uint32_t n = woven_ids() + 1;
	struct noted *p;

	if (n <= closing.n)
		return true;
	n += n / 8;
	p = mem_realloc(closing.noted, n * sizeof(*p));
	if (!p)
		return false;
	memset(p + closing.n, 0, (n - closing.n) * sizeof(*p));
	closing.noted = p;
	closing.n = n;
	return true;
}

static void see(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	(void)ctx, (void)depth;
	if (id < closing.n)
		closing.noted[id].is =
			(struct seen){ f->calls, f->timed, f->weight, f->weighted, f->below };
}

static uint64_t since(uint64_t is, uint64_t was)
{
	return is >= was ? is - was : is; /* it was reset */
}

static double ns_of(uint64_t ticks, uint64_t weight)
{
	return (double)ticks / (double)weight * 1e9 / (double)agent.scale.hz;
}

static struct budget_fact fact_of(struct hooked *h, const struct rule_entry *e,
				  const struct noted *k)
{
	uint64_t weight = since(k->is.weight, k->was.weight);
	uint64_t all = since(k->is.weighted, k->was.weighted);
	uint64_t below = since(k->is.below, k->was.below);
	struct budget_fact f = { .id = h->id,
				 .may_close = closable_now(h, e),
				 .calls = (double)since(k->is.calls, k->was.calls),
				 .timed = (double)since(k->is.timed, k->was.timed),
				 .all_ns = -1,
				 .own_ns = -1 };

	if (weight) {
		f.all_ns = ns_of(all, weight);
		f.own_ns = ns_of(all > below ? all - below : 0, weight);
	}
	return f;
}

/* Its rule has gone, or it has been unloaded: it is nothing to us any more. */
static bool is_orphan(const struct hooked *h, const struct noted *k)
{
	if (!h)
		return true;
	if (k->rule)
		return !rulebook_entry(k->rule);
	return !h->rule;
}

static void tell(struct hooked *h, struct noted *k, double seconds)
{
	const struct rule_entry *e = h->rule ? rulebook_entry(h->rule) : NULL;
	struct budget_fact f = fact_of(h, e, k);

	if (!e || e->rule->kind != RULE_HOOK)
		return;
	if (f.calls == 0 && k->was.calls == 0 &&
	    budget_state(&closing.budget, h->id) == BUDGET_OPEN)
		return; /* most methods of a program are never called */
	budget_take(&closing.budget, &f);
	if (!budget_is_shut(&closing.budget, h->id))
		heat_follow(h, e, f.calls / seconds);
}

static double fresh_calls(void)
{
	double sum = 0;

	for (uint32_t id = 1; id < closing.n; id++)
		sum += (double)since(closing.noted[id].is.calls, closing.noted[id].was.calls);
	return sum;
}

/* ns by which a counted call costs more than `hot` in a program that does other things meanwhile: it finds
 * its code, its node and its histogram no more in the caches, the less the rarer calls are.  With RARE_NS ns
 * for one that comes alone, and half of it when there are RARE_HALF a second, x calls a second cost
 *
 *	x (hot + RARE_NS / (1 + x / RARE_HALF))
 *
 * and what counts is how many of them fill the budget: that is what closing leads to.  A timed call
 * touches TIMED_TOUCHES times as much. */
static double when_cold(double hot)
{
	double all = closing.budget.share * 1e9, a = hot / RARE_HALF,
	       b = hot + RARE_NS - all / RARE_HALF;

	return all > 0 ? all * 2 * a / (sqrt(b * b + 4 * a * all) - b) - hot : 0;
}

/* calls: since the last look. */
static struct budget_price price_now(double calls)
{
	struct budget_price p = { .count = 25, .timed = 110, .closed = 3, .empty = 25 };
	struct probe_state s;
	double pressure, cold;

	if (agent.jdk >= 22) /* the cheaper way is taken as soon as there are many calls */
		p.count = 10, p.timed = 70;
	else if (probes_is_fast())
		p.count = 14, p.timed = 90;
	cold = when_cold(p.count);
	p.timed += TIMED_TOUCHES * cold;
	p.count += cold;
	if (__atomic_load_n(&probe_words.lanes, __ATOMIC_RELAXED))
		p.count = 4;
	probe_state_read(&s);
	pressure = (double)(s.pruned - closing.pruned) * PRUNED_NS / (calls > 1 ? calls : 1);
	if (pressure > p.count) /* it ends when hooks are closed */
		pressure = p.count;
	closing.pruned = s.pruned;
	p.count += pressure;
	p.timed += pressure;
	return p;
}

/* Threads that end take what they have used with them. */
static double more(uint64_t is, uint64_t *was)
{
	double d = is > *was ? (double)(is - *was) : 0;

	*was = is;
	return d;
}

/* Processor time since the last look, of the program and of the compilers. */
static void read_cpu(struct budget_look *l)
{
	struct vitals v;
	double cpu;

	vitals_read(&v);
	cpu = more(clock_ns(CLOCK_PROCESS_CPUTIME_ID), &closing.cpu_ns);
	l->jit_ns = more(v.jit_cpu, &closing.jit);
	cpu -= l->jit_ns + more(v.own_cpu, &closing.rest);
	l->cpu_ns = cpu > 0 ? cpu : 0;
}

static void look(double seconds)
{
	struct budget_look l = { .seconds = seconds };

	read_cpu(&l);
	for (uint32_t id = 0; id < closing.n; id++)
		closing.noted[id].is = (struct seen){ 0 };
	reading_methods(see, NULL);
	l.price = price_now(fresh_calls());
	budget_begin(&closing.budget, &l);
	for (uint32_t id = 1; id < woven_ids() && id < closing.n; id++) {
		struct hooked *h = woven_method(id);
		struct noted *k = &closing.noted[id];

		if (budget_state(&closing.budget, id) != BUDGET_OPEN && is_orphan(h, k))
			budget_forget(&closing.budget, id);
		if (h && h->rule)
			tell(h, k, seconds);
		k->was = k->is;
	}
	budget_end(&closing.budget);
	heat_limit(closing.budget.timed_rate);
}

/* The first one only reads where everything begins. */
static void first_look(void)
{
	for (uint32_t id = 0; id < closing.n; id++)
		closing.noted[id].is = (struct seen){ 0 };
	reading_methods(see, NULL);
	for (uint32_t id = 0; id < closing.n; id++)
		closing.noted[id].was = closing.noted[id].is;
	read_cpu(&(struct budget_look){ 0 });
	price_now(0);
}

static void forget_all(void)
{
	bool had = closing.n_rules != 0;

	closing.on = false;
	hold_gates();
	heat_limit(1e9);
	if (had && rulebook.n)
		weave();
	closing.n_rules = 0;
	budget_release(&closing.budget);
	mem_free(closing.noted);
	closing.noted = NULL;
	closing.n = 0;
	closing.looked = closing.next = 0;
}

/* When the next look is due. */
static uint64_t next_look(uint64_t t, uint64_t cost_ns)
{
	uint64_t ns = cost_ns * LOOK_SHARE, most = LOOK_MAX_S * 1000000000ull;

	return t + (ns < most ? ns : most) * agent.scale.hz / 1000000000u;
}

void closing_tick(void)
{
	uint64_t t = tick_now(), begin;

	if (!closing.on)
		return;
	if (!rulebook.n) {
		forget_all();
		return;
	}
	if (t < closing.next || !make_room())
		return;
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (closing.looked)
		look((double)agent_ns(t - closing.looked) / 1e9);
	else
		first_look();
	closing.looked = t;
	closing.next = next_look(t, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
	hold_gates();
	if (closing.budget.weave)
		weave();
}

/* ---- commands ----------------------------------------------------------------------------- */

void closing_set(double share)
{
	if (share <= 0) {
		budget_set(&closing.budget, 0);
		if (closing.on)
			forget_all();
		return;
	}
	if (!closing.on)
		budget_init(&closing.budget);
	closing.on = true;
	closing.next = 0;
	budget_set(&closing.budget, share);
}

void closing_hook(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_hook m;

	if (wire_get_hook(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	if (!rulebook.n && closing.on)
		forget_all();
	if (m.budget > 0 || m.budget < 0)
		closing_set(m.budget > 1 ? 1 : m.budget);
	if (m.rules.n || m.budget == 0)
		change_hook(c, jni, payload);
	else if (m.budget < 0)
		conn_done(c, DONE, "all hooks are open, whatever they cost");
	else
		conn_done(c, DONE,
			  "hooks may cost %g %% of the processor time that the program uses",
			  m.budget * 100);
}

void closing_forget(uint32_t id)
{
	budget_forget(&closing.budget, id);
	gates_hold(id, false);
	if (id < closing.n)
		closing.noted[id] = (struct noted){ 0 };
}

void closing_reset(void)
{
	for (uint32_t id = 0; id < closing.n; id++)
		closing.noted[id].fewer = false;
}
