/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made of call graphs with a known culprit, sampled and hooked as the walk asks for it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "plan/walk/climb.h"
#include "plan/walk/climb_print.h"
#include "plan/walk/roots.h"
#include "test.h"

enum { METHODS = 64, CALLS = 8, DEEP = 24, PATHS = 512 };

/* ---- a made program: methods that call others so many times a call, and take so long themselves --- */

struct made {
	char name[METHODS][40];
	unsigned flags[METHODS];
	double own[METHODS]; /* ns a call */
	struct {
		unsigned to;
		double times;
	} calls[METHODS][CALLS];
	unsigned n_calls[METHODS], n;
	/* All ways from a root, with how often each is gone in a second. */
	struct {
		unsigned way[DEEP], n;
		double rate;
	} paths[PATHS];
	unsigned n_paths;
	double busy; /* ns a second */
	unsigned most_hooks;
};

static unsigned method(struct made *p, const char *name, double own)
{
	snprintf(p->name[p->n], sizeof(p->name[0]), "app.%s()V", name);
	p->flags[p->n] = roots_flags(slice_str(p->name[p->n]));
	p->own[p->n] = own;
	return p->n++;
}

static void calls(struct made *p, unsigned from, unsigned to, double times)
{
	if (p->n_calls[from] == CALLS)
		return;
	p->calls[from][p->n_calls[from]].to = to;
	p->calls[from][p->n_calls[from]++].times = times;
}

struct made_call {
	unsigned from, to;
	double times;
};

#define CALLS(p, ...)                                           \
	add_calls(p, (const struct made_call[]){ __VA_ARGS__ }, \
		  sizeof((const struct made_call[]){ __VA_ARGS__ }) / sizeof(struct made_call))

static void add_calls(struct made *p, const struct made_call *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		calls(p, all[i].from, all[i].to, all[i].times);
}

static void run_from(struct made *p, unsigned m, double rate, unsigned *way, unsigned depth)
{
	if (depth == DEEP || p->n_paths == PATHS || rate <= 0)
		return;
	way[depth] = m;
	memcpy(p->paths[p->n_paths].way, way, (depth + 1) * sizeof(*way));
	p->paths[p->n_paths].n = depth + 1;
	p->paths[p->n_paths++].rate = rate;
	p->busy += rate * p->own[m];
	for (unsigned i = 0; i < p->n_calls[m]; i++)
		run_from(p, p->calls[m][i].to, rate * p->calls[m][i].times, way, depth + 1);
}

static void run_program(struct made *p, unsigned root, double rate)
{
	unsigned way[DEEP];

	run_from(p, root, rate, way, 0);
}

static void sample(const struct made *p, struct climb *c, double samples)
{
	for (unsigned i = 0; i < p->n_paths; i++) {
		unsigned n = p->paths[i].n, leaf = p->paths[i].way[n - 1];
		double share = p->paths[i].rate * p->own[leaf] / p->busy;
		struct climb_frame frames[DEEP];

		for (unsigned k = 0; k < n; k++)
			frames[k] = (struct climb_frame){ slice_str(p->name[p->paths[i].way[k]]),
							  p->flags[p->paths[i].way[k]] };
		if (share * samples >= 1)
			climb_stacks_add(&c->stacks, &c->list, frames, n,
					 (uint64_t)(share * samples));
	}
	climb_sampled(c);
}

static bool is_hooked(const struct climb *c, const char *name)
{
	const struct caller *m = caller_list_find(&c->list, slice_str(name));

	return m && m->in;
}

/* Time of one call of what a path ends with, with all that it calls. */
static double whole(const struct made *p, unsigned m, unsigned depth)
{
	double ns = p->own[m];

	for (unsigned i = 0; i < p->n_calls[m] && depth < DEEP; i++)
		ns += p->calls[m][i].times * whole(p, p->calls[m][i].to, depth + 1);
	return ns;
}

/* Rows as the agent tells them: each path becomes that of its hooked methods. */
static void read_tree(const struct made *p, struct climb *c, double now)
{
	measure_begin(&c->measure);
	for (unsigned i = 0; i < p->n_paths; i++) {
		const unsigned *way = p->paths[i].way;
		unsigned n = p->paths[i].n, depth = 0;
		double calls = p->paths[i].rate * now / 1e9;

		for (unsigned k = 0; k < n; k++) {
			bool last = k == n - 1;

			if (!is_hooked(c, p->name[way[k]]))
				continue;
			measure_row(
				&c->measure,
				&(struct measure_row){
					.depth = depth++,
					.name = slice_str(p->name[way[k]]),
					.calls = last ? (uint64_t)calls : 0,
					.ended = last ? (uint64_t)calls : 0,
					.ns = last ? (uint64_t)(calls * whole(p, way[k], k)) : 0,
				});
		}
	}
	measure_end(&c->measure);
	climb_measured(c, now);
}

static void walk_up(struct made *p, struct climb *c, const struct climb_options *o)
{
	struct climb_action a;
	double now = 0;
	unsigned n = 0;

	climb_init(c, o);
	for (climb_next(c, now, &a); a.step != CLIMB_DONE && n++ < 2000; climb_next(c, now, &a)) {
		now += (double)a.for_ns + 1e6;
		if (a.step == CLIMB_SAMPLE)
			sample(p, c, 5000);
		if (a.step == CLIMB_HOOK) {
			p->most_hooks = a.n > p->most_hooks ? a.n : p->most_hooks;
			for (unsigned i = 0; i < a.n; i++)
				climb_is_in(c, a.hooks[i]->name);
			climb_hooked(c);
		}
		if (a.step == CLIMB_MEASURE)
			read_tree(p, c, now);
	}
	CHECK(n < 2000);
	CHECK_INT(c->err, 0, NULL);
}

static const struct climb_options usual = { .above = 0.1,
					    .top = 2,
					    .bound = 8,
					    .sample_ns = 4e9,
					    .for_ns = 50e9,
					    .calls = 300,
					    .most_ns = 3e9 };

static void check_responsible(const struct climb *c, const struct made *p, unsigned who,
			      const char *label)
{
	const struct climb_node *n = c->n_spots ? c->spots[0].verdict.node : NULL;
	struct buf text = { 0 };

	buf_put(&text, n ? n->method->name : slice_str("nobody"));
	if (!CHECK_MEM(text.p, text.n, p->name[who], strlen(p->name[who]), label) && c->n_spots) {
		buf_clear(&text);
		climb_put_tree(c, &c->spots[0], &text);
		climb_put_answer(c, &text);
		printf("%.*s", SLICE_FMT(buf_slice(&text)));
	}
	buf_release(&text);
}

TEST(the_caller_that_makes_most_of_the_calls_is_responsible)
{
	struct made p = { 0 };
	unsigned run = method(&p, "Main.run", 100), page = method(&p, "Page.make", 1000);
	unsigned export = method(&p, "Export.write", 500), cart = method(&p, "Cart.total", 500);
	unsigned view = method(&p, "View.first", 500), price = method(&p, "Price.sum", 1000);
	struct climb c;

	CALLS(&p, { run, page, 100 }, { page, export, 1 }, { page, cart, 1 }, { page, view, 1 },
	      { export, price, 2000 }, { cart, price, 3 }, { view, price, 60 });
	run_program(&p, run, 2);
	walk_up(&p, &c, &usual);
	check_responsible(&c, &p, export, NULL);
	CHECK(c.spots[0].verdict.fan > 1900 && c.spots[0].verdict.fan < 2100);
	CHECK_INT(c.spots[0].verdict.clear, true, NULL);
	CHECK_INT(p.most_hooks, 3, "the hot spot and the two callers that matter");
	climb_release(&c);
}

TEST(a_recursion_of_two_methods_is_one_step)
{
	struct made p = { 0 };
	unsigned main = method(&p, "Main.main", 100), audit = method(&p, "Audit.all", 1000);
	unsigned look = method(&p, "Look.some", 1000), even = method(&p, "Tree.even", 50);
	unsigned odd = method(&p, "Tree.odd", 800);
	struct climb c;

	CALLS(&p, { main, audit, 1 }, { main, look, 1 }, { audit, even, 500 }, { look, even, 5 },
	      { even, odd, 0.9 }, { odd, even, 0.9 });
	run_program(&p, main, 50);
	walk_up(&p, &c, &usual);
	check_responsible(&c, &p, audit, NULL);
	CHECK(p.most_hooks <= 5);
	climb_release(&c);
}

TEST(a_hot_spot_in_a_library_is_the_work_of_who_asks_for_it)
{
	struct made p = { 0 };
	unsigned run = method(&p, "Main.run", 100), join = method(&p, "Names.join", 100);
	unsigned get, node, other = method(&p, "Other.look", 1000);
	struct climb c;

	get = method(&p, "x", 100);
	snprintf(p.name[get], sizeof(p.name[get]), "java.util.LinkedList.get(I)V");
	p.flags[get] = roots_flags(slice_str(p.name[get]));
	node = method(&p, "x", 1500);
	snprintf(p.name[node], sizeof(p.name[node]), "java.util.LinkedList.node(I)V");
	p.flags[node] = roots_flags(slice_str(p.name[node]));
	CALLS(&p, { run, join, 20 }, { run, other, 20 }, { join, get, 400 }, { other, get, 3 },
	      { get, node, 1 });
	run_program(&p, run, 5);
	walk_up(&p, &c, &usual);
	check_responsible(&c, &p, join, "neither LinkedList.get nor who runs both");
	climb_release(&c);
}

TEST(two_hot_spots_are_walked_up_from_one_after_the_other)
{
	struct made p = { 0 };
	unsigned run = method(&p, "Main.run", 100), a = method(&p, "A.a", 100);
	unsigned b = method(&p, "B.b", 100), hot = method(&p, "Hot.one", 1000);
	unsigned warm = method(&p, "Hot.two", 1000), far = method(&p, "Far.off", 100);
	struct climb c;

	CALLS(&p, { run, a, 10 }, { run, b, 10 }, { run, far, 10 }, { a, hot, 600 },
	      { b, warm, 300 }, { far, hot, 1 }, { far, warm, 20 });
	run_program(&p, run, 10);
	walk_up(&p, &c, &usual);
	CHECK_INT(c.n_spots, 2, NULL);
	check_responsible(&c, &p, a, "the hotter one first");
	CHECK(c.spots[1].verdict.node &&
	      slice_is(c.spots[1].verdict.node->method->name, p.name[b]));
	climb_release(&c);
}

TEST(what_nobody_calls_often_is_responsible_itself)
{
	struct made p = { 0 };
	unsigned run = method(&p, "Main.run", 100), step = method(&p, "Step.take", 100);
	unsigned slow = method(&p, "Slow.one", 5e6);
	struct climb c;

	CALLS(&p, { run, step, 1 }, { step, slow, 1 });
	run_program(&p, run, 100);
	walk_up(&p, &c, &usual);
	check_responsible(&c, &p, slow, NULL);
	CHECK(c.spots[0].verdict.by_itself);
	climb_release(&c);
}

TEST(where_many_share_it_evenly_nobody_alone_is_responsible)
{
	struct made p = { 0 };
	unsigned users[4], hot = method(&p, "x", 2000);
	struct buf text = { 0 };
	struct climb c;

	snprintf(p.name[hot], sizeof(p.name[hot]), "java.lang.Math.pow(D)V");
	p.flags[hot] = roots_flags(slice_str(p.name[hot]));
	for (unsigned i = 0; i < 4; i++) {
		char name[20];

		snprintf(name, sizeof(name), "User%u.go", i);
		users[i] = method(&p, name, 100);
		calls(&p, users[i], hot, 20);
		run_program(&p, users[i], 100);
	}
	walk_up(&p, &c, &usual);
	CHECK(!c.spots[0].verdict.node);
	climb_put_answer(&c, &text);
	buf_u8(&text, 0);
	CHECK(strstr((const char *)text.p, "nobody alone") != NULL);
	buf_release(&text);
	climb_release(&c);
}

/* ---- made from seeds ------------------------------------------------------------------------ */

static void add_noise(struct made *p, uint64_t *seed, unsigned below, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char name[20];
		unsigned from;

		snprintf(name, sizeof(name), "N%u.n%u", i, random_below(seed, 1000));
		from = method(p, name, 200 + random_below(seed, 2000));
		calls(p, below, from, 1 + random_below(seed, 3));
	}
}

/* A chain from a root to the culprit, one to the hot spot below it, and others who use what lies
 * between a little. */
static unsigned make(struct made *p, uint64_t *seed)
{
	unsigned root = method(p, "Main.run", 100), at = root, culprit, hot, next;
	unsigned above = 1 + random_below(seed, 4), under = random_below(seed, 3);
	char name[20];

	for (unsigned i = 0; i < above; i++, at = next) {
		snprintf(name, sizeof(name), "Up%u.go", i);
		next = method(p, name, 500);
		calls(p, at, next, 1 + random_below(seed, 2));
		add_noise(p, seed, at, random_below(seed, 3));
	}
	culprit = method(p, "Culprit.loops", 1000);
	calls(p, at, culprit, 1);
	next = method(p, "Hot.entry", 100);
	calls(p, culprit, next, 200 + random_below(seed, 2000));
	for (unsigned i = 0; i < 1 + random_below(seed, 3); i++) {
		snprintf(name, sizeof(name), "Innocent%u.calls", i);
		hot = method(p, name, 300);
		calls(p, at, hot, 1);
		calls(p, hot, next, 1 + random_below(seed, 4));
	}
	for (unsigned i = 0; i < under; i++) {
		snprintf(name, sizeof(name), "Under%u.go", i);
		hot = method(p, name, 50);
		calls(p, next, hot, 1);
		if (random_below(seed, 3) == 0) /* one that calls itself */
			calls(p, hot, hot, 0.3);
		next = hot;
	}
	hot = method(p, "Hot.spot", 5000);
	calls(p, next, hot, 1 + random_below(seed, 3));
	run_program(p, root, 1 + random_below(seed, 5));
	return culprit;
}

TEST(the_culprit_of_programs_made_from_seeds_is_found)
{
	uint64_t seed = (uint64_t)time(NULL) | 1;
	unsigned rounds = test_is_short() ? 10 : 300;
	static struct made p;

	printf("seed %llu\n", (unsigned long long)seed);
	for (unsigned i = 0; i < rounds; i++) {
		uint64_t began = seed;
		unsigned culprit;
		struct climb c;
		char label[40];

		memset(&p, 0, sizeof(p));
		culprit = make(&p, &seed);
		snprintf(label, sizeof(label), "seed %llu", (unsigned long long)began);
		walk_up(&p, &c, &usual);
		check_responsible(&c, &p, culprit, label);
		CHECK(p.most_hooks <= 8);
		climb_release(&c);
	}
}

TEST(the_bound_of_hooks_holds_and_the_walk_goes_on)
{
	struct made p = { 0 };
	unsigned run = method(&p, "Main.run", 100), hot = method(&p, "Hot.spot", 1000);
	struct climb_options few = usual;
	struct climb c;

	for (unsigned i = 0; i < 7; i++) {
		char name[20];
		unsigned user;

		snprintf(name, sizeof(name), "User%u.go", i);
		user = method(&p, name, 100);
		calls(&p, run, user, 1);
		calls(&p, user, hot, i == 3 ? 200 : 10);
	}
	run_program(&p, run, 100);
	few.bound = 3;
	walk_up(&p, &c, &few);
	CHECK_INT(p.most_hooks, 3, NULL);
	CHECK(c.spots[0].verdict.node &&
	      slice_is(c.spots[0].verdict.node->method->name, "app.User3.go()V"));
	climb_release(&c);
}

TEST(pairs_of_caller_and_callee_are_counted_from_the_first_reading_on)
{
	struct climb_frame stack[2] = { { slice_str("prog::main"), CALLER_NATIVE },
					{ slice_str("lib::hot"), CALLER_NATIVE } };
	struct climb_action a;
	struct climb c;

	climb_init(&c, &usual);
	climb_next(&c, 0, &a);
	climb_stacks_add(&c.stacks, &c.list, stack, 2, 100);
	climb_sampled(&c);
	climb_next(&c, 1e9, &a);
	CHECK_INT(a.step, CLIMB_HOOK, NULL);
	climb_is_in(&c, slice_str("lib::hot"));
	climb_is_in(&c, slice_str("prog::main"));
	climb_hooked(&c);
	for (uint64_t i = 0; i < 4; i++) {
		climb_next(&c, 2e9 + (double)i * 1e9, &a);
		CHECK_INT(a.step, CLIMB_MEASURE, NULL);
		measure_begin(&c.measure);
		climb_told(&c, stack[0].name, stack[1].name, 5000 + 100 * i, 1000 * i);
		climb_told(&c, slice_str("prog::other"), stack[1].name, 10 * i, 50 * i);
		measure_end(&c.measure);
		climb_measured(&c, 2e9 + (double)i * 1e9);
	}
	climb_next(&c, 6e9, &a);
	CHECK_INT(caller_list_find(&c.list, stack[1].name)->calls, 330, NULL);
	CHECK(c.spots[0].top->first->next && c.spots[0].top->first->next->samples == 0);
	climb_release(&c);
}

/* Of a JVM: Java above, one native method, C below.  Who calls C is compiled code, which has no name. */
TEST(the_java_method_that_makes_the_calls_of_native_code_is_responsible)
{
	static const char *const names[] = { "app.Main.run()V", "app.Batch.send(D)D",
					     "app.Table.split(D)D",
					     "libsplit.so::Java_app_Table_split",
					     "libsplit.so::split" };
	const struct slice hot = slice_str(names[4]), stub = slice_str(names[3]);
	struct climb_frame stack[5];
	struct climb_action a;
	double now = 0;
	struct climb c;

	for (unsigned i = 0; i < 5; i++)
		stack[i] = (struct climb_frame){ slice_str(names[i]), i > 2    ? CALLER_NATIVE
								      : i == 2 ? CALLER_NO_HOOK
									       : 0 };
	climb_init(&c, &usual);
	for (climb_next(&c, now, &a); a.step != CLIMB_DONE && now < 60e9; climb_next(&c, now, &a)) {
		now += (double)a.for_ns + 1e6;
		if (a.step == CLIMB_SAMPLE) {
			climb_stacks_add(&c.stacks, &c.list, stack, 5, 1000);
			climb_sampled(&c);
		}
		for (unsigned i = 0; a.step == CLIMB_HOOK && i < a.n; i++)
			if (!slice_eq(a.hooks[i]->name, stub)) /* it is too short */
				climb_is_in(&c, a.hooks[i]->name);
		if (a.step == CLIMB_HOOK)
			climb_hooked(&c);
		if (a.step != CLIMB_MEASURE)
			continue;
		measure_begin(&c.measure);
		for (unsigned i = 0; i < 2; i++)
			if (is_hooked(&c, names[i]))
				measure_row(&c.measure,
					    &(struct measure_row){ .name = slice_str(names[i]),
								   .calls = (uint64_t)(now / 1e7),
								   .ended = (uint64_t)(now / 1e7),
								   .ns = (uint64_t)(now / 2) });
		/* two places in compiled code */
		climb_told(&c, slice_str(""), hot, (uint64_t)(now / 1e5), (uint64_t)(now / 4));
		climb_told(&c, slice_str("libsplit.so::Java_app_Table_split"), hot,
			   (uint64_t)(now / 1e5), (uint64_t)(now / 4));
		measure_end(&c.measure);
		climb_measured(&c, now);
	}
	CHECK(now < 60e9);
	if (CHECK(c.spots[0].verdict.node)) {
		CHECK(slice_is(c.spots[0].verdict.node->method->name, names[1]));
		CHECK(c.spots[0].verdict.fan > 90 && c.spots[0].verdict.fan < 110);
		CHECK(climb_answer_callee(c.spots[0].verdict.node)->method ==
		      caller_list_find(&c.list, hot));
	}
	climb_release(&c);
}

TEST(calls_from_several_places_in_compiled_code_are_those_of_one_caller)
{
	struct climb_frame stack[2] = { { slice_str("app.Table.split(D)D"), CALLER_NO_HOOK },
					{ slice_str("lib::hot"), CALLER_NATIVE } };
	struct climb_action a;
	struct climb c;

	climb_init(&c, &usual);
	climb_next(&c, 0, &a);
	climb_stacks_add(&c.stacks, &c.list, stack, 2, 100);
	climb_sampled(&c);
	climb_next(&c, 1e9, &a);
	climb_is_in(&c, slice_str("lib::hot"));
	climb_hooked(&c);
	for (uint64_t i = 0; i < 4; i++) {
		climb_next(&c, 2e9 + (double)i * 1e9, &a);
		CHECK_INT(a.step, CLIMB_MEASURE, NULL);
		measure_begin(&c.measure);
		climb_told(&c, slice_str(""), slice_str("lib::hot"), 7000 + 100 * i, 1000 * i);
		if (i > 1) /* it has been compiled anew */
			climb_told(&c, slice_str(""), slice_str("lib::hot"), 50 * (i - 1), 50 * i);
		measure_end(&c.measure);
		climb_measured(&c, 2e9 + (double)i * 1e9);
	}
	climb_next(&c, 6e9, &a);
	CHECK_INT(caller_list_find(&c.list, stack[1].name)->calls, 400, NULL);
	climb_release(&c);
}

TEST(a_native_hook_is_tried_again_but_not_for_ever)
{
	struct climb_frame stack[2] = { { slice_str("prog::main"), CALLER_NATIVE },
					{ slice_str("lib::hot"), CALLER_NATIVE } };
	struct climb_action a;
	unsigned tries = 0;
	struct climb c;

	climb_init(&c, &usual);
	climb_next(&c, 0, &a);
	climb_stacks_add(&c.stacks, &c.list, stack, 2, 100);
	climb_sampled(&c);
	for (climb_next(&c, 1e9, &a); a.step == CLIMB_HOOK && tries < 100;
	     climb_next(&c, 1e9, &a)) {
		climb_hooked(&c);
		tries++;
	}
	CHECK(tries > 1 && tries < 20);
	CHECK_INT(a.step, CLIMB_DONE, "by samples alone");
	climb_release(&c);
}

TEST(names_tell_what_only_runs_or_carries_the_programs_work)
{
	CHECK(roots_flags(slice_str("java.lang.Thread.run()V")) & CALLER_FRAME);
	CHECK(roots_flags(slice_str("jdk.internal.reflect.X.invoke()V")) & CALLER_INNER);
	CHECK(roots_flags(slice_str("a.B$$Lambda/0x1234.run()V")) & CALLER_INNER);
	CHECK(roots_flags(slice_str("a.B.service(Ljakarta/servlet/ServletRequest;Ljakarta/servlet/"
				    "ServletResponse;)V")) &
	      CALLER_REQUEST);
	CHECK_INT(roots_flags(slice_str("com.shop.Cart.lambda$run$0()V")), 0, NULL);
	CHECK_INT(roots_flags(
			  slice_str("java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;")),
		  CALLER_LIBRARY, NULL);
}
