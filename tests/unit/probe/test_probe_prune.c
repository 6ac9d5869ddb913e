/* SPDX-License-Identifier: Apache-2.0 */
/* Trees that are larger than their memory, beside exhaustive ones that the test keeps.
 *
 * A program is a random walk over stacks: a few methods are called far more often than others, so
 * there are some hot contexts among a great many cold ones, and new ones all the time. */
#include "test_probe.h"

#include "probe/inner.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	METHODS = 400,
	DEEP = 14,
	CALLS = 400000,
	ROOM = 1 << 19, /* contexts that the exhaustive tree has room for */
	THREADS = 3,
};

/* ---- the exhaustive tree ---- */

struct context {
	uint32_t parent, id;
	uint64_t calls, shown; /* as they were made, and as the probe tells */
};

struct truth {
	struct context *all; /* 0 is the root */
	uint32_t n, *hash;
	uint64_t calls;
	uint64_t most_gone;
};

static struct truth whole; /* after the threads have ended */

static void truth_init(struct truth *t)
{
	*t = (struct truth){ .n = 1 };
	t->all = calloc(ROOM, sizeof(*t->all));
	t->hash = calloc(2 * ROOM, sizeof(*t->hash));
}

static void truth_release(struct truth *t)
{
	free(t->all);
	free(t->hash);
}

static uint32_t child(struct truth *t, uint32_t parent, uint32_t id)
{
	uint64_t x = ((uint64_t)parent << 32 | id) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(x >> 32) % (2 * ROOM);

	while (t->hash[at]) {
		const struct context *c = &t->all[t->hash[at]];

		if (c->parent == parent && c->id == id)
			return t->hash[at];
		at = (at + 1) % (2 * ROOM);
	}
	if (t->n == ROOM)
		abort();
	t->hash[at] = t->n;
	t->all[t->n] = (struct context){ .parent = parent, .id = id };
	return t->n++;
}

static void add_truth(struct truth *to, const struct truth *from)
{
	uint32_t *into = calloc(from->n, sizeof(*into));

	for (uint32_t i = 1; i < from->n; i++) { /* parents come first */
		const struct context *c = &from->all[i];

		into[i] = child(to, into[c->parent], c->id);
		to->all[into[i]].calls += c->calls;
	}
	to->calls += from->calls;
	free(into);
}

/* ---- the program ---- */

static unsigned scale(void)
{
	return test_is_short() ? 20 : 1;
}

/* Three of four calls are of one of three methods: so there are hot contexts of any depth. */
static uint32_t some_method(uint64_t *random)
{
	if (random_below(random, 4))
		return 1 + random_below(random, 3);
	return 1 + random_below(random, METHODS);
}

/* How many contexts one call has taken out. */
static uint64_t enter(struct truth *t, uint32_t id)
{
	uint64_t before = probe_local.mine ? probe_local.mine->pruned : 0;
	uint64_t token = probe_enter(id), gone = probe_local.mine->pruned - before;

	t->most_gone = gone > t->most_gone ? gone : t->most_gone;
	return token;
}

static void walk(struct truth *t, uint64_t random)
{
	struct {
		uint64_t token;
		uint32_t id, context;
	} stack[DEEP + 1] = { { 0 } };
	unsigned depth = 0;

	while (t->calls < CALLS / scale() || depth > 0) {
		if (depth > 0 && (depth == DEEP || t->calls >= CALLS / scale() ||
				  random_below(&random, 100) < 55)) {
			probe_exit(stack[depth].id, stack[depth].token);
			depth--;
			continue;
		}
		depth++;
		stack[depth].id = some_method(&random);
		stack[depth].context = child(t, stack[depth - 1].context, stack[depth].id);
		stack[depth].token = enter(t, stack[depth].id);
		t->all[stack[depth].context].calls++;
		t->calls++;
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void walk_in_thread(unsigned number)
{
	struct truth mine;

	truth_init(&mine);
	walk(&mine, 88172645463325252u + number * 7919);
	pthread_mutex_lock(&lock);
	add_truth(&whole, &mine);
	pthread_mutex_unlock(&lock);
	truth_release(&mine);
}

/* ---- comparing ---- */

struct sums {
	uint32_t path[DEEP + 2];
	uint64_t calls, self, pruned_calls;
	unsigned strangers;
};

static void visit_tree(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	struct sums *s = ctx;

	s->calls += f->calls;
	s->self += f->weighted - f->below;
	if (id == PROBE_PRUNED) {
		s->pruned_calls += f->calls;
		return;
	}
	if (depth > DEEP) {
		s->strangers++;
		return;
	}
	s->path[depth + 1] = child(&whole, s->path[depth], id);
	whole.all[s->path[depth + 1]].shown += f->calls;
}

static void visit_method(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	struct sums *s = ctx;

	(void)id;
	s->calls += f->calls;
	s->self += f->weighted - f->below;
	s->strangers += depth > 0 || f->begun != f->timed;
}

/* Nothing is lost, nothing is too much, and what is hot is there. */
static void agrees_with_truth(void)
{
	struct sums tree = { 0 }, methods = { 0 };
	unsigned hot = 0, missing = 0, beyond = 0, too_many = 0;
	uint32_t known = whole.n;
	struct probe_state s;

	MUST_INT(probe_tree(visit_tree, &tree), 0);
	MUST_INT(probe_methods(visit_method, &methods), 0);
	probe_state_read(&s);
	for (uint32_t i = 1; i < whole.n; i++) {
		const struct context *c = &whole.all[i];
		bool is_hot = c->calls * 100 > whole.calls;

		too_many += c->shown > c->calls;
		beyond += c->calls - c->shown > s.bound_calls;
		hot += is_hot;
		missing += is_hot && c->shown < c->calls - c->calls / 50;
	}
	MUST_INT(tree.strangers, 0);
	MUST_INT(whole.n, known);
	MUST_INT(tree.calls, whole.calls);
	MUST_INT(methods.calls, whole.calls);
	MUST_INT(tree.self, methods.self);
	MUST_INT(methods.strangers, 0);
	MUST_INT(too_many, 0);
	MUST_INT(beyond, 0);
	MUST(hot > 4);
	MUST_INT(missing, 0);
	MUST(s.pruned > whole.n / 2);
	MUST(tree.pruned_calls > 0);
	MUST(s.bound_calls < whole.calls / 50); /* seen: 0.5 to 1.1 % */
	MUST(s.bytes_used <= s.bytes_total);
}

static void every_method_timed(void)
{
	for (uint32_t id = 1; id <= METHODS; id++)
		timed(id, 1);
	truth_init(&whole);
}

PROBE_TEST(probe_keeps_what_is_hot_in_little_memory, MIB)
{
	struct probe_state s;

	every_method_timed();
	walk(&whole, 1);
	agrees_with_truth();
	probe_state_read(&s);
	MUST_INT(s.nodes_refused, 0);
}

/* The whole tree has some 5,000 nodes: no call goes over it all. */
PROBE_TEST(probe_makes_room_in_small_steps, MIB)
{
	every_method_timed();
	walk(&whole, 1);
	MUST(whole.most_gone > 0);
	MUST(whole.most_gone <= 200);
}

PROBE_TEST(probe_keeps_what_is_hot_in_several_threads, 2 * MIB)
{
	every_method_timed();
	probe_test_threads(THREADS, walk_in_thread);
	agrees_with_truth();
}

PROBE_TEST(probe_keeps_what_is_hot_of_threads_that_have_ended, 2 * MIB)
{
	every_method_timed();
	for (unsigned i = 0; i < THREADS; i++) {
		probe_test_threads(1, walk_in_thread);
		probe_sweep();
	}
	agrees_with_truth();
}

static bool stop;

static void grow(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	(void)id, (void)depth;
	*(uint64_t *)ctx += f->calls;
}

static void *read_again(void *arg)
{
	uint64_t last = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t calls = 0;

		MUST_INT(probe_methods(grow, &calls), 0);
		MUST(calls >= last); /* once, in the tree or in the method: never neither */
		last = calls;
		calls = 0;
		MUST_INT(probe_tree(grow, &calls), 0);
		usleep(2000);
	}
	return arg;
}

/* What comes while somebody reads has perhaps no context: calls of methods are right all the
 * same. */
PROBE_TEST(probe_is_exact_when_it_is_read_while_it_prunes, 256 << 10)
{
	struct sums methods = { 0 };
	struct probe_state s;
	pthread_t reader;

	every_method_timed();
	pthread_create(&reader, NULL, read_again, NULL);
	walk(&whole, 3);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	MUST_INT(probe_methods(visit_method, &methods), 0);
	MUST_INT(methods.calls, whole.calls);
	MUST_INT(methods.strangers, 0);
	probe_state_read(&s);
	MUST(s.pruned > 0);
}

static uint64_t refused(void)
{
	struct probe_state s;

	probe_state_read(&s);
	return s.nodes_refused;
}

/* A twentieth of a walk. */
static void walk_some(uint64_t random)
{
	struct truth t;

	truth_init(&t);
	t.calls = CALLS / scale() / 20 * 19;
	walk(&t, random);
	truth_release(&t);
}

static bool seen;

static void *look_for_who_waits(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		if (LOAD(probe.pruning))
			__atomic_store_n(&seen, true, __ATOMIC_RELAXED);
	return arg;
}

/* Nobody prunes meanwhile, so who says so waits. */
PROBE_TEST(a_thread_without_room_waits_for_who_reads, 256 << 10)
{
	pthread_t looks;

	every_method_timed();
	walk(&whole, 5);
	sums_begin();
	pthread_create(&looks, NULL, look_for_who_waits, NULL);
	for (uint64_t k = 0; k < 2000 && !__atomic_load_n(&seen, __ATOMIC_RELAXED); k++)
		walk_some(6 + k);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(looks, NULL);
	sums_end();
	MUST(seen);
}

/* But not at each call that it lasts. */
PROBE_TEST(calls_go_on_without_a_context_while_somebody_reads_for_long, 256 << 10)
{
	uint64_t before;
	bool waited = false;

	every_method_timed();
	walk(&whole, 5);
	before = refused();
	sums_begin();
	for (uint64_t k = 0; k < 20; k++) {
		walk_some(6 + k);
		waited |= probe_local.mine->prune.in_vain > 0;
	}
	sums_end();
	MUST(waited);
	MUST_INT(LOAD(probe.pruning), 0);
	MUST(refused() > before);
	walk_some(27); /* makes room */
	before = refused();
	for (uint64_t k = 0; k < 4; k++)
		walk_some(28 + k);
	MUST_INT(refused(), before);
	MUST_INT(probe_local.mine->prune.in_vain, 0);
}

/* Histograms of methods whose nodes have all gone are the methods' own then. */
PROBE_TEST(probe_keeps_histograms_of_what_was_taken_out, MIB)
{
	struct probe_state s;

	for (uint32_t id = 1; id <= 9000; id++)
		timed(id, 1);
	for (uint32_t i = 0; i < 90000 / scale(); i++)
		call(1 + i * 7 % 9000);
	probe_state_read(&s);
	MUST(s.pruned > 0);
	for (uint32_t id = 1; id <= 9000; id += 100)
		MUST(histogram_total(id) <= figures(id).timed);
	MUST_INT(figures(8).timed, scale() == 1 ? 10 : figures(8).calls);
}

PROBE_TEST(probe_forgets_what_was_taken_out_at_a_reset, 512 << 10)
{
	struct sums tree = { 0 };
	struct probe_state s;

	every_method_timed();
	walk(&whole, 5);
	for (uint32_t id = 0; id <= METHODS; id++)
		probe_method_reset(id);
	MUST_INT(probe_tree(visit_tree, &tree), 0);
	MUST_INT(tree.calls, 0);
	probe_state_read(&s);
	MUST_INT(s.bound_calls, 0);
	call(1);
	MUST_INT(figures(1).calls, 1);
}

/* Calls that hide have no figures, but those of a context that was taken out are counted. */
PROBE_TEST(probe_counts_outside_calls_when_their_context_goes, 64 << 10)
{
	struct probe_sequence inside = { .first = 1, .n = 1 };
	struct probe_context c = { .sequences = &inside, .n_sequences = 1 };

	timed(1, 1);
	MUST_INT(probe_method_context(1, &c), 0);
	for (uint32_t id = 10; id < 500; id++)
		timed(id, 1);
	for (uint32_t i = 0; i < 49000; i++) {
		uint32_t id = 10 + i % 490;
		uint64_t token = probe_enter(id);

		call(1);
		probe_exit(id, token);
	}
	MUST_INT(figures(1).calls, 0);
	MUST(probe_method_outside(1) <= 49000);
	MUST(probe_method_outside(1) > 1000);
}

TEST(probe_tells_its_state_before_it_has_memory)
{
	struct probe_state s;

	probe_state_read(&s); /* in this process nobody has set memory aside */
	CHECK_INT(s.pruned, 0, NULL);
	CHECK_INT(s.bytes_total, 0, NULL);
}

/* Thirty calls one inside the other, of each of which one in ten has a frame. */
PROBE_TEST(calls_that_chance_has_drawn_do_not_make_ever_new_contexts, MIB)
{
	enum { NESTED = 30, ROUNDS = 20000 };
	struct probe_state s;

	for (uint32_t id = 1; id <= NESTED; id++)
		timed(id, 10);
	for (int k = 0; k < ROUNDS; k++) {
		uint64_t tokens[NESTED + 1];

		for (uint32_t id = 1; id <= NESTED; id++)
			tokens[id] = probe_enter(id);
		for (uint32_t id = NESTED; id >= 1; id--)
			if (tokens[id])
				probe_exit(id, tokens[id]);
	}
	for (uint32_t id = 1; id <= NESTED; id++) {
		struct probe_figures f = figures(id);

		MUST_INT(f.calls, ROUNDS);
		MUST_INT(f.begun, f.timed);
		MUST(f.timed > ROUNDS / 15 && f.timed < ROUNDS / 7);
	}
	probe_state_read(&s);
	MUST_INT(s.lost, 0);
	MUST(s.pruned < 3000);
}
