/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - what methods are worth and cost, and the order in which they are closed and opened.
 *
 * Between the share at which methods are closed and that up to which they are opened is a gap, and a
 * method that was closed soon after it had been opened waits longer each time: so none goes to and
 * fro. */
#include "plan/budget/budget.h"

#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

#define TO_CLOSE 1.0	/* of what open hooks may cost: above it, some are closed ... */
#define CLOSED_TO 0.75	/* ... until it is this */
#define ROOMY 0.5	/* below it, some are opened ... */
#define BACK_BELOW 0.25 /* of the budget: below it, hooks come back into the code */
#define OPENED_TO 0.7	/* ... until it is this */
#define IDLE_NS 2e7	/* a second: what so idle a program spends on hooks does not matter */
#define NEGLIGIBLE \
	1e-3	       /* of the budget: what costs less is closed only when nothing else is left */
#define CLOSED_MAX 0.1 /* of the budget: closed hooks that cost more are taken out ... */
#define CLOSED_MIN 0.03 /* ... until they cost this */
#define OPEN_MIN 0.7	/* of the budget is for open hooks, whatever closed ones cost */
#define BELOW 0.125	/* what time in callees is worth, beside own time */
#define UNKNOWN_NS 100	/* worth of a call that is not timed */
#define COLD 0.15	/* of the processor time: a program whose compilers use more is cold */
#define LEAST_CALL_NS 4 /* of a program that does little else than to call methods */
#define COLD_MAX 256
#define INDEX_MIN 200	/* calls a second; fewer tell nothing about others ... */
#define INDEX_PART 1e-4 /* ... and so do fewer than that of all */
#define TRIES 0.05	/* of the budget, for methods that are tried at once */
#define TRY_ALONE 4

enum {
	ROOMY_LOOKS = 3,
	WAIT_S = 15,	  /* a method that was closed; doubled ... */
	WAIT_DOUBLED = 6, /* ... up to 16 minutes */
	TRY_MAX = 8,	  /* methods in one look */
	LONG_S = 120,	  /* open for so long: its earlier closings do not count any more */
	OUT_FIRST_S = 3,  /* from the first closing on, unless calm before */
	OUT_WAIT_S = 10,  /* between two changes of code; doubled ... */
	OUT_WAIT_MAX_S = 320,
	BACK_WAIT_S = 60, /* likewise, until hooks come back into the code */
	BACK_WAIT_MAX_S = 3840,
	TIMED_FIRST = 300,
	TIMED_MIN = 50,
	TIMED_MAX = 20000,
	CHUNK = 1024,
};

struct offer {
	uint32_t id;
	double cost;  /* ns a second */
	double ratio; /* cost for worth */
};

void budget_init(struct budget *b)
{
	*b = (struct budget){ .index = 1, .cold = 1, .timed_rate = TIMED_MAX };
	b->out_wait = OUT_WAIT_S;
	b->back_wait = BACK_WAIT_S;
}

void budget_release(struct budget *b)
{
	mem_free(b->methods);
	budget_init(b);
}

void budget_set(struct budget *b, double share)
{
	if (share > b->share) {
		b->roomy = ROOMY_LOOKS;
		b->next_back = b->now;
		b->raised = true;
		b->back_wait = BACK_WAIT_S;
		for (uint32_t id = 0; id < b->n; id++)
			b->methods[id].due = (float)b->now;
	}
	if (share > 0 && b->share <= 0)
		b->timed_rate = TIMED_FIRST;
	b->share = share;
	if (share > 0)
		return;
	b->n_out = b->n_closed = 0;
	b->timed_rate = TIMED_MAX;
	for (uint32_t id = 0; id < b->n; id++)
		budget_forget(b, id);
}

enum budget_state budget_state(const struct budget *b, uint32_t id)
{
	return id < b->n ? (enum budget_state)b->methods[id].state : BUDGET_OPEN;
}

bool budget_is_shut(const struct budget *b, uint32_t id)
{
	return id < b->n && b->methods[id].state != BUDGET_OPEN && !b->methods[id].tried;
}

void budget_forget(struct budget *b, uint32_t id)
{
	if (id >= b->n)
		return;
	b->weave |= b->methods[id].state == BUDGET_OUT;
	b->methods[id] = (struct budget_method){ .all = -1, .own = -1 };
}

/* ---- a look ------------------------------------------------------------------------------- */

static bool is_open(const struct budget_method *m)
{
	return m->state == BUDGET_OPEN || m->tried;
}

static bool make_room(struct budget *b, uint32_t id)
{
	uint32_t n = (id / CHUNK + 1) * CHUNK;
	struct budget_method *p;

	if (id < b->n)
		return true;
	p = mem_realloc(b->methods, n * sizeof(*p));
	if (!p)
		return false;
	for (uint32_t i = b->n; i < n; i++)
		p[i] = (struct budget_method){ .all = -1, .own = -1 };
	b->methods = p;
	b->n = n;
	return true;
}

void budget_begin(struct budget *b, const struct budget_look *look)
{
	b->look = *look;
	b->now += look->seconds;
	b->index_new = b->index_old = b->closed_now = 0;
	for (uint32_t id = 0; id < b->n; id++)
		b->methods[id].fresh = false;
}

static float blend(float old, double now)
{
	return old < 0 ? (float)now : (old + (float)now) / 2;
}

int budget_take(struct budget *b, const struct budget_fact *f)
{
	double rate = f->calls / b->look.seconds;
	struct budget_method *m;

	if (!make_room(b, f->id))
		return E_NO_MEMORY;
	m = &b->methods[f->id];
	m->fresh = true;
	m->may_close = f->may_close;
	if (!is_open(m)) {
		m->was_open = false;
		return 0;
	}
	if (m->index > 0) { /* what was expected, and what came */
		b->index_new += rate;
		b->index_old += m->rate * b->index / m->index;
	}
	m->was_open = true;
	m->rate = (float)rate;
	m->timed = (float)(f->timed / b->look.seconds);
	m->all_now = f->all_ns < 0 ? -1 : (float)fmax(f->all_ns - b->look.price.empty, 1);
	m->own_now = f->own_ns < 0 ? -1 : (float)fmax(f->own_ns - b->look.price.empty, 1);
	return 0;
}

/* ---- what it costs, and what it is worth -------------------------------------------------- */

/* Calls a second, for a closed one an estimate. */
static double rate_of(const struct budget *b, const struct budget_method *m)
{
	return is_open(m) || m->index <= 0 ? m->rate : m->rate * b->index / m->index;
}

/* ns a second, open as it is or would be. */
static double cost_of(const struct budget *b, const struct budget_method *m)
{
	const struct budget_price *p = &b->look.price;
	double rate = rate_of(b, m) * b->cold, timed = m->timed;

	if (!is_open(m) || b->cold > 1)
		timed = m->timed > 0 ? fmin(rate, b->timed_rate) : 0;
	return rate * p->count + timed * fmax(p->timed - p->count, 0);
}

static double worth_of(const struct budget *b, const struct budget_method *m)
{
	double call = m->all < 0 ? UNKNOWN_NS : m->own + BELOW * m->all;

	return fmax(rate_of(b, m) * b->cold, 1e-3) * call;
}

/* ns a second, closed. */
static double closed_cost_of(const struct budget *b, const struct budget_method *m)
{
	return rate_of(b, m) * b->cold * b->look.price.closed;
}

static int by_ratio(const void *a, const void *b)
{
	const struct offer *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? 1 : -1;
	return x->cost < y->cost ? 1 : x->cost > y->cost ? -1 : 0;
}

static int by_cost(const void *a, const void *b)
{
	const struct offer *x = a, *y = b;

	return x->cost < y->cost ? 1 : x->cost > y->cost ? -1 : 0;
}

static struct offer *offers(const struct budget *b, enum budget_state state, size_t *n)
{
	struct offer *list = mem_alloc((b->n + 1) * sizeof(*list));

	*n = 0;
	for (uint32_t id = 0; list && id < b->n; id++) {
		const struct budget_method *m = &b->methods[id];
		double cost = cost_of(b, m);

		if (m->state != state || (state != BUDGET_OUT && (!m->fresh || !m->may_close)) ||
		    (state == BUDGET_OPEN && cost <= 0))
			continue;
		list[(*n)++] = (struct offer){ id, cost, cost / worth_of(b, m) };
	}
	return list;
}

/* ---- decisions ---------------------------------------------------------------------------- */

static void set_state(struct budget *b, struct budget_method *m, enum budget_state state)
{
	bool out = m->state == BUDGET_OUT || state == BUDGET_OUT;

	m->state = (uint8_t)state;
	m->tried = false;
	m->since = (float)b->now;
	b->weave |= out;
}

static void wait_for(struct budget *b, struct budget_method *m)
{
	m->due = (float)(b->now + ldexp(WAIT_S, m->closings));
	if (m->closings < WAIT_DOUBLED)
		m->closings++;
}

static void close_one(struct budget *b, struct offer *c)
{
	struct budget_method *m = &b->methods[c->id];

	if (b->now - m->since > LONG_S)
		m->closings = 0;
	set_state(b, m, BUDGET_CLOSED);
	wait_for(b, m);
	b->open_ns -= c->cost;
	b->closed_ns += closed_cost_of(b, m);
	b->closed_now += c->cost;
	c->cost = 0;
	if (b->begun == 0)
		b->begun = b->now;
}

/* What open hooks may cost. */
static double room(const struct budget *b)
{
	return fmax(b->limit - b->closed_ns, OPEN_MIN * b->limit);
}

static int close_some(struct budget *b)
{
	struct offer *list;
	size_t n;

	if (b->open_ns <= TO_CLOSE * room(b))
		return 0;
	list = offers(b, BUDGET_OPEN, &n);
	if (!list)
		return E_NO_MEMORY;
	qsort(list, n, sizeof(*list), by_ratio);
	for (int all = 0; all < 2; all++)
		for (size_t i = 0; i < n && b->open_ns > CLOSED_TO * room(b); i++)
			if (list[i].cost > (all ? 0 : NEGLIGIBLE * b->limit))
				close_one(b, &list[i]);
	mem_free(list);
	return 0;
}

static int open_some(struct budget *b)
{
	struct offer *list;
	size_t n;

	b->roomy = b->open_ns < ROOMY * room(b) ? b->roomy + 1 : 0;
	if (b->roomy < ROOMY_LOOKS)
		return 0;
	list = offers(b, BUDGET_CLOSED, &n);
	if (!list)
		return E_NO_MEMORY;
	qsort(list, n, sizeof(*list), by_ratio);
	while (n--) {
		struct budget_method *m = &b->methods[list[n].id];

		if (b->now < m->due || b->open_ns + list[n].cost > OPENED_TO * room(b))
			continue;
		set_state(b, m, BUDGET_OPEN);
		b->open_ns += list[n].cost;
	}
	mem_free(list);
	return 0;
}

/* Those that were tried have told how they are now. */
static void end_tries(struct budget *b)
{
	for (uint32_t id = 0; id < b->n; id++)
		if (b->methods[id].fresh)
			b->methods[id].tried = false;
}

/* ... and are tried again after a while, if they have not been opened for that. */
static void put_off(struct budget *b)
{
	if (b->cold > 1)
		return;
	for (uint32_t id = 0; id < b->n; id++) {
		struct budget_method *m = &b->methods[id];

		if (m->state == BUDGET_CLOSED && m->was_open && m->due <= b->now)
			wait_for(b, m);
	}
}

static void try_some(struct budget *b)
{
	double left = TRIES * b->limit;
	unsigned n = 0;

	if (b->cold > 1) /* it would tell little */
		return;
	for (uint32_t id = 0; id < b->n && n < TRY_MAX; id++) {
		struct budget_method *m = &b->methods[id];

		double cost = cost_of(b, m);

		if (m->state != BUDGET_CLOSED || !m->fresh || m->due > b->now ||
		    cost > (n ? left : TRY_ALONE * b->limit))
			continue;
		left -= cost;
		m->tried = true;
		m->was_open = false;
		n++;
	}
}

/* ---- hooks that leave the code, and come back --------------------------------------------- */

static double later(double *wait, double most)
{
	double now = *wait;

	*wait = fmin(2 * now, most);
	return now;
}

/* Have the hooks that cost most been closed already? */
static bool is_calm(const struct budget *b)
{
	return b->closed_now < b->open_ns / 5 || b->now - b->begun >= OUT_FIRST_S;
}

/* What methods of a cold program will cost is an upper bound: the most worthy ones that are closed may
 * be opened soon.  Gives how many are left without them. */
static size_t spare(const struct budget *b, struct offer *list, size_t n)
{
	double sum = 0;

	qsort(list, n, sizeof(*list), by_ratio);
	while (n && (sum += list[n - 1].cost) < b->limit)
		n--;
	return n;
}

static int take_out(struct budget *b)
{
	double least = CLOSED_MIN * b->limit;
	struct offer *list;
	size_t n;

	if (b->closed_ns <= CLOSED_MAX * b->limit || b->now < b->next_out || !is_calm(b))
		return 0;
	list = offers(b, BUDGET_CLOSED, &n);
	if (!list)
		return E_NO_MEMORY;
	if (b->cold > 1)
		n = spare(b, list, n);
	qsort(list, n, sizeof(*list), by_cost);
	for (size_t i = 0; i < n && b->closed_ns > least; i++) {
		struct budget_method *m = &b->methods[list[i].id];

		if (m->tried)
			continue;
		b->closed_ns -= closed_cost_of(b, m);
		set_state(b, m, BUDGET_OUT);
	}
	b->next_out = b->now + later(&b->out_wait, OUT_WAIT_MAX_S);
	b->next_back = fmax(b->next_back, b->now + b->back_wait);
	mem_free(list);
	return 0;
}

static int take_back(struct budget *b)
{
	double sum = b->open_ns + b->closed_ns;
	struct offer *list;
	bool any = false;
	size_t n;

	if (sum >= (b->raised ? ROOMY : BACK_BELOW) * b->limit || b->roomy < ROOMY_LOOKS ||
	    b->now < b->next_back)
		return 0;
	list = offers(b, BUDGET_OUT, &n);
	if (!list)
		return E_NO_MEMORY;
	qsort(list, n, sizeof(*list), by_ratio);
	while (n--) {
		struct budget_method *m = &b->methods[list[n].id];

		if (sum + list[n].cost > OPENED_TO * b->limit)
			continue;
		sum += list[n].cost;
		set_state(b, m, BUDGET_CLOSED);
		m->due = (float)b->now;
		any = true;
	}
	b->raised = false;
	if (any)
		b->next_back = b->now + later(&b->back_wait, BACK_WAIT_MAX_S);
	mem_free(list);
	return 0;
}

/* ---- the end of a look -------------------------------------------------------------------- */

static void follow_index(struct budget *b)
{
	double all = 0;

	b->blind = false;
	for (uint32_t id = 0; id < b->n; id++)
		all += rate_of(b, &b->methods[id]);
	if (b->index_old > fmax(INDEX_MIN, INDEX_PART * all) && b->index_new > 0)
		b->index *= fmin(fmax(b->index_new / b->index_old, 0.01), 100);
	else
		b->blind = true;
	for (uint32_t id = 0; id < b->n; id++)
		if (b->methods[id].fresh && is_open(&b->methods[id]))
			b->methods[id].index = (float)b->index;
}

static void follow_compilers(struct budget *b)
{
	const struct budget_look *l = &b->look;
	double calls = 0;

	b->cold = 1;
	if (l->jit_ns < COLD * (l->jit_ns + l->cpu_ns) && !(b->blind && b->n_out))
		return;
	for (uint32_t id = 0; id < b->n; id++)
		calls += rate_of(b, &b->methods[id]);
	calls *= l->seconds * LEAST_CALL_NS;
	if (calls > 0)
		b->cold = fmin(fmax(l->cpu_ns / calls, 1), COLD_MAX);
}

/* What is not compiled yet takes as much longer as it will be called more often then. */
static void follow_times(struct budget *b)
{
	for (uint32_t id = 0; id < b->n; id++) {
		struct budget_method *m = &b->methods[id];

		if (!m->fresh || !is_open(m) || m->all_now < 0)
			continue;
		m->all = blend(m->all, m->all_now / b->cold);
		m->own = blend(m->own, m->own_now / b->cold);
	}
}

static void sum_up(struct budget *b)
{
	b->open_ns = b->closed_ns = 0;
	for (uint32_t id = 0; id < b->n; id++) {
		const struct budget_method *m = &b->methods[id];

		if (!m->fresh)
			continue;
		if (is_open(m))
			b->open_ns += cost_of(b, m);
		else
			b->closed_ns += closed_cost_of(b, m);
	}
}

static void count(struct budget *b)
{
	b->n_closed = b->n_out = 0;
	for (uint32_t id = 0; id < b->n; id++) {
		const struct budget_method *m = &b->methods[id];

		b->n_out += m->state == BUDGET_OUT;
		b->n_closed += m->state == BUDGET_CLOSED && m->fresh;
	}
}

/* A third of the budget is for timing, the same for all methods that are called often. */
static void share_timing(struct budget *b)
{
	double extra = fmax(b->look.price.timed - b->look.price.count, 1);
	uint32_t n = 1;

	for (uint32_t id = 0; id < b->n; id++)
		n += b->methods[id].fresh && is_open(&b->methods[id]) &&
		     b->methods[id].rate * b->cold > b->timed_rate / 2;
	b->timed_rate = fmin(fmax(b->limit / 3 / extra / n, TIMED_MIN), TIMED_MAX);
}

/* What the program would use without hooks.  While it is cold, costs are what they will be when it
 * uses its time for calls alone. */
static double own_cpu(const struct budget *b)
{
	if (b->cold > 1)
		return b->cpu_ns;
	return fmax(b->cpu_ns - b->open_ns - b->closed_ns, b->cpu_ns / 5);
}

int budget_end(struct budget *b)
{
	int rc;

	follow_index(b);
	follow_compilers(b);
	follow_times(b);
	sum_up(b);
	b->cpu_ns = b->look.cpu_ns / b->look.seconds;
	if (b->share <= 0 || b->cpu_ns < IDLE_NS)
		return 0;
	b->limit = b->share * own_cpu(b);
	end_tries(b);
	rc = close_some(b);
	if (rc == 0)
		rc = take_out(b);
	if (rc == 0)
		rc = open_some(b);
	if (rc == 0)
		rc = take_back(b);
	put_off(b);
	try_some(b);
	share_timing(b);
	count(b);
	return rc;
}
