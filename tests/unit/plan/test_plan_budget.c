/* SPDX-License-Identifier: Apache-2.0 */
/* Which hooks are open to keep to a budget: small populations made by hand, and generated programs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "plan/budget/budget.h"
#include "test.h"

enum { METHODS = 1500, PROGRAMS = 40 };

static const struct budget_price usual = { .count = 10, .timed = 70, .closed = 3, .empty = 20 };

/* A program that serves requests as fast as its hooks let it. */
struct program {
	struct method {
		double calls;	 /* in a request */
		double own, all; /* ns */
		bool may_close;
		unsigned changes; /* of its state, in the time that is looked at */
		enum budget_state was;
	} * m;
	uint32_t n;
	struct budget_price price;
	double cores;	/* that it uses */
	double slow;	/* so many times slower, since it is not compiled yet */
	double request; /* ns, without hooks */
	double cost;	/* share of the last look, as it really was */
	struct budget b;
};

static uint64_t seed;

static double chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 11) / 0x1p53;
}

static double spread(double low, double high)
{
	return low * pow(high / low, chance());
}

static void program_init(struct program *p, uint32_t n)
{
	*p = (struct program){ .n = n, .cores = 1, .slow = 1, .price = usual };
	p->m = calloc(n, sizeof(*p->m));
	for (uint32_t i = 0; i < n; i++)
		p->m[i] =
			(struct method){ .calls = 1, .own = 1000, .all = 1000, .may_close = true };
	budget_init(&p->b);
}

static void program_release(struct program *p)
{
	budget_release(&p->b);
	free(p->m);
}

static double timed_of(const struct program *p, double rate)
{
	return fmin(rate, p->b.timed_rate);
}

/* ns that hooks take in a request, when so many come in a second. */
static double hooks_of(const struct program *p, double requests)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct method *m = &p->m[i];
		double rate = m->calls * requests, timed = timed_of(p, rate);

		if (!budget_is_shut(&p->b, i + 1))
			sum += rate * p->price.count + timed * (p->price.timed - p->price.count);
		else if (budget_state(&p->b, i + 1) == BUDGET_CLOSED)
			sum += rate * p->price.closed;
	}
	return sum / requests;
}

static void look(struct program *p, double seconds)
{
	double cpu = p->cores * 1e9, requests = cpu / p->request / p->slow, hooks = 0;

	for (int i = 0; i < 20; i++) { /* the more hooks cost, the fewer requests come */
		hooks = hooks_of(p, requests);
		requests = cpu / (p->request + hooks) / p->slow;
	}
	p->cost = hooks / p->request;
	budget_begin(&p->b, &(struct budget_look){ .seconds = seconds,
						   .cpu_ns = cpu * seconds,
						   .jit_ns = p->slow > 1 ? cpu * seconds : 0,
						   .price = p->price });
	for (uint32_t i = 0; i < p->n; i++) {
		struct method *m = &p->m[i];
		bool shut = budget_is_shut(&p->b, i + 1);
		double rate = m->calls * requests * (0.95 + 0.1 * chance());
		struct budget_fact f = { .id = i + 1,
					 .may_close = m->may_close,
					 .calls = shut ? 0 : rate * seconds,
					 .timed = shut ? 0 : timed_of(p, rate) * seconds,
					 .all_ns = shut ? -1 : m->all * p->slow + p->price.empty,
					 .own_ns = shut ? -1 : m->own * p->slow + p->price.empty };

		if (budget_state(&p->b, i + 1) != BUDGET_OUT)
			CHECK_INT(budget_take(&p->b, &f), 0, NULL);
	}
	CHECK_INT(budget_end(&p->b), 0, NULL);
	for (uint32_t i = 0; i < p->n; i++) {
		struct method *m = &p->m[i];

		m->changes += budget_state(&p->b, i + 1) != m->was;
		m->was = budget_state(&p->b, i + 1);
	}
}

static void run(struct program *p, int looks)
{
	for (uint32_t i = 0; i < p->n; i++)
		p->m[i].changes = 0;
	while (looks--)
		look(p, 1);
}

static bool is_open(const struct program *p, uint32_t i)
{
	return budget_state(&p->b, i + 1) == BUDGET_OPEN;
}

/* A service that calls a getter some thousand times. */
static void make_service(struct program *p)
{
	program_init(p, 2);
	p->m[0] = (struct method){ .calls = 1, .own = 20000, .all = 25000, .may_close = true };
	p->m[1] = (struct method){ .calls = 5000, .own = 1, .all = 1, .may_close = true };
	p->request = 25000;
}

TEST(a_budget_closes_a_getter_and_not_the_service_that_calls_it)
{
	struct program p;

	make_service(&p);
	budget_set(&p.b, 0.05);
	run(&p, 10);
	CHECK(is_open(&p, 0));
	CHECK(!is_open(&p, 1));
	CHECK(p.cost < 0.05);
	CHECK_INT(p.b.n_closed + p.b.n_out, 1, NULL);
	program_release(&p);
}

TEST(a_getter_whose_closed_hook_is_still_dear_leaves_the_code)
{
	struct program p;

	make_service(&p);
	budget_set(&p.b, 0.05);
	run(&p, 20);
	CHECK_INT(budget_state(&p.b, 2), BUDGET_OUT, NULL);
	CHECK(p.b.weave);
	program_release(&p);
}

TEST(a_greater_budget_brings_a_getter_back_and_no_budget_everything)
{
	struct program p;

	make_service(&p);
	p.m[1].calls = 500; /* 5,000 ns of 25,000 */
	budget_set(&p.b, 0.05);
	run(&p, 20);
	CHECK(!is_open(&p, 1));
	budget_set(&p.b, 1);
	run(&p, 10);
	CHECK(is_open(&p, 1));
	budget_set(&p.b, 0.05);
	run(&p, 40);
	CHECK(!is_open(&p, 1));
	budget_set(&p.b, 0);
	CHECK(is_open(&p, 1));
	CHECK_INT(p.b.n_closed + p.b.n_out, 0, NULL);
	program_release(&p);
}

TEST(a_hook_that_others_need_stays_open_whatever_it_costs)
{
	struct program p;

	make_service(&p);
	p.m[1].may_close = false;
	budget_set(&p.b, 0.05);
	run(&p, 100);
	CHECK(is_open(&p, 1));
	program_release(&p);
}

TEST(an_idle_program_is_left_as_it_is)
{
	struct program p;

	make_service(&p);
	p.cores = 0.01;
	budget_set(&p.b, 0.05);
	run(&p, 100);
	CHECK(is_open(&p, 0) && is_open(&p, 1));
	program_release(&p);
}

TEST(a_method_that_became_rare_is_tried_and_opened_again)
{
	struct program p;

	make_service(&p);
	p.m[1].calls = 200;
	p.price.closed = 0.1; /* it stays in the code */
	budget_set(&p.b, 0.05);
	run(&p, 4);
	CHECK(!is_open(&p, 1));
	p.m[1].calls = 1;
	run(&p, 120);
	CHECK(is_open(&p, 1));
	program_release(&p);
}

/* ---- generated programs ------------------------------------------------------------------- */

static void make_program(struct program *p)
{
	program_init(p, METHODS);
	p->cores = spread(0.5, 8);
	for (uint32_t i = 0; i < p->n; i++) {
		struct method *m = &p->m[i];

		m->calls = spread(1e-3, 100);
		m->own = spread(1, 1e5) / fmax(m->calls, 1);
		m->all = m->own * spread(1, 20);
		m->may_close = chance() > 0.01;
		p->request += m->calls * m->own;
		if (!m->may_close)
			m->calls *= 1e-3;
	}
}

/* What a request spends in methods that are open, as a share. */
static double told(const struct program *p)
{
	double sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (is_open(p, i))
			sum += p->m[i].calls * p->m[i].own;
	return sum / p->request;
}

struct choice {
	double worth, cost;
};

static int by_ratio(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	double d = x->worth * y->cost - y->worth * x->cost;

	return d < 0 ? 1 : d > 0 ? -1 : 0;
}

/* What could be told at such a cost, if all were known from the beginning. */
static double could_tell(const struct program *p, double share)
{
	struct choice *all = calloc(p->n, sizeof(*all));
	double cost = 0, sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		all[i] = (struct choice){ p->m[i].calls * p->m[i].own,
					  p->m[i].calls * p->price.count };
	qsort(all, p->n, sizeof(*all), by_ratio);
	for (uint32_t i = 0; i < p->n && (cost += all[i].cost) < share * p->request; i++)
		sum += all[i].worth;
	free(all);
	return sum / p->request;
}

static void check_program(struct program *p, double share)
{
	uint32_t to_and_fro = 0;

	budget_set(&p->b, share);
	p->slow = spread(1, 100);
	for (; p->slow > 1.5; p->slow /= 1.3)
		look(p, 1);
	p->slow = 1;
	run(p, 60);
	CHECK(p->cost <= share * 1.1);
	run(p, 120);
	for (uint32_t i = 0; i < p->n; i++) {
		to_and_fro += p->m[i].changes > 2;
		CHECK(p->m[i].may_close || !budget_is_shut(&p->b, i + 1));
	}
	CHECK_INT(to_and_fro, 0, NULL);
	CHECK(p->cost <= share * 1.1);
	CHECK(told(p) >= 0.4 * could_tell(p, share / 4));
	p->cores /= 10; /* fewer requests: the same share */
	run(p, 60);
	CHECK(p->cost <= share * 1.3);
	CHECK(told(p) >= 0.4 * could_tell(p, share / 4));
}

TEST(any_program_keeps_to_its_budget_and_tells_what_it_can)
{
	uint64_t first = 0;

	CHECK_INT(getrandom(&first, sizeof(first), 0), sizeof(first), NULL);
	for (int i = 0; i < PROGRAMS; i++) {
		struct program p;
		char label[80];

		seed = first + (uint64_t)i;
		snprintf(label, sizeof(label), "seed %llu", (unsigned long long)seed);
		make_program(&p);
		check_program(&p, spread(0.02, 0.1));
		program_release(&p);
	}
}
