/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include <stdio.h>
#include <unistd.h>

enum { OUTER = 1, INNER = 2, PLAIN = 3, MS = 1000000 };

static uint64_t allocated;

static uint64_t so_many_bytes(void)
{
	return allocated;
}

static void metered(uint32_t id)
{
	probe_method_set(id, &(struct probe_how){ .one_in = 1, .meter = true });
}

/* One call of outer that makes one of inner, which allocates. */
static void nested(uint32_t outer, uint32_t inner, uint64_t bytes)
{
	uint64_t out = probe_enter(outer), in;

	allocated += 1;
	in = probe_enter(inner);
	allocated += bytes;
	probe_exit(inner, in);
	probe_exit(outer, out);
}

static struct probe_metered read_metered(uint32_t id)
{
	struct probe_metered m;

	probe_metered_read(id, &m);
	return m;
}

/* What the tree has of a method at a depth. */
struct wanted {
	uint32_t id;
	unsigned depth;
	struct probe_metered found;
};

static void look(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	struct wanted *w = ctx;

	if (id == w->id && depth == w->depth)
		w->found = f->metered;
}

static struct probe_metered node(uint32_t id, unsigned depth)
{
	struct wanted w = { .id = id, .depth = depth };

	MUST_INT(probe_tree(look, &w), 0);
	return w.found;
}

static void blocked(unsigned ms)
{
	probe_blocked(true);
	usleep(ms * 1000);
	probe_blocked(false);
}

PROBE_TEST(what_a_callee_used_is_in_its_callers_sum_but_not_in_their_own, MIB)
{
	struct probe_metered outer, inner;

	probe_meter_bytes(so_many_bytes);
	metered(OUTER);
	metered(INNER);
	for (int i = 0; i < 10; i++)
		nested(OUTER, INNER, 100);
	outer = read_metered(OUTER);
	inner = read_metered(INNER);
	MUST_INT(outer.all.bytes, 1010);
	MUST_INT(outer.below.bytes, 1000);
	MUST_INT(inner.all.bytes, 1000);
	MUST_INT(inner.below.bytes, 0);
	MUST_INT(outer.nested.bytes, 0);
	MUST(outer.all.ticks > outer.below.ticks);
	MUST_INT(outer.below.ticks, inner.all.ticks);
	outer = node(OUTER, 0);
	inner = node(INNER, 1);
	MUST_INT(outer.all.bytes, 1010);
	MUST_INT(outer.below.bytes, 1000);
	MUST_INT(inner.all.bytes, 1000);
	MUST_INT(inner.calls, 10);
}

PROBE_TEST(calls_that_are_not_metered_are_the_business_of_who_made_them, MIB)
{
	uint64_t out, between;

	probe_meter_bytes(so_many_bytes);
	metered(OUTER);
	metered(INNER);
	timed(PLAIN, 1);
	out = probe_enter(OUTER);
	between = probe_enter(PLAIN);
	allocated += 7;
	nested(INNER, PLAIN, 100);
	probe_exit(PLAIN, between);
	probe_exit(OUTER, out);
	MUST_INT(read_metered(OUTER).all.bytes, 108);
	MUST_INT(read_metered(OUTER).below.bytes, 101);
	MUST_INT(read_metered(INNER).below.bytes, 0);
	MUST_INT(read_metered(PLAIN).calls, 0);
	MUST_INT(node(PLAIN, 1).calls, 0);
	MUST_INT(node(INNER, 2).all.bytes, 101);
}

PROBE_TEST(a_method_that_calls_itself_has_its_use_once, MIB)
{
	struct probe_metered m;

	probe_meter_bytes(so_many_bytes);
	metered(OUTER);
	nested(OUTER, OUTER, 100);
	m = read_metered(OUTER);
	MUST_INT(m.calls, 2);
	MUST_INT(m.all.bytes - m.nested.bytes, 101);
	MUST_INT(m.all.bytes - m.below.bytes, 101);
	MUST_INT(node(OUTER, 0).all.bytes, 101);
	MUST_INT(node(OUTER, 1).all.bytes, 100);
}

PROBE_TEST(blocked_time_belongs_to_all_metered_calls_that_run, MIB)
{
	uint64_t out, in;
	struct probe_metered m;

	metered(OUTER);
	metered(INNER);
	out = probe_enter(OUTER);
	in = probe_enter(INNER);
	blocked(20);
	probe_exit(INNER, in);
	usleep(5000);
	probe_exit(OUTER, out);
	m = read_metered(INNER);
	MUST(m.all.blocked_ns > 10 * MS && m.all.blocked_ns < 10000ull * MS);
	MUST_INT(m.below.blocked_ns, 0);
	MUST_INT(read_metered(OUTER).below.blocked_ns, m.all.blocked_ns);
	MUST(read_metered(OUTER).all.blocked_ns >= m.all.blocked_ns);
	MUST(read_metered(OUTER).all.blocked_ns < m.all.blocked_ns + 4 * MS); /* not the 5 ms */
	MUST_INT(node(INNER, 1).all.blocked_ns, m.all.blocked_ns);
	MUST_INT(node(INNER, 1).below.blocked_ns, 0);
	MUST_INT(node(OUTER, 0).below.blocked_ns, m.all.blocked_ns);
}

PROBE_TEST(blocked_time_outside_of_metered_calls_is_nobodys, MIB)
{
	uint64_t token;

	metered(OUTER);
	timed(PLAIN, 1);
	call(OUTER); /* the thread is known */
	token = probe_enter(PLAIN);
	blocked(2);
	probe_exit(PLAIN, token);
	probe_blocked(false); /* ... and of something that nobody saw begin */
	call(OUTER);
	MUST_INT(read_metered(OUTER).all.blocked_ns, 0);
}

PROBE_TEST(what_blocked_before_it_was_to_be_told_does_not_count, MIB)
{
	uint64_t token;

	metered(OUTER);
	token = probe_enter(OUTER);
	probe_blocked(true);
	usleep(2000);
	probe_meter_blocked();
	probe_blocked(false);
	probe_exit(OUTER, token);
	MUST_INT(read_metered(OUTER).all.blocked_ns, 0);
}

/* Who runs all the time is neither blocked nor does it wait; that it is delayed depends on the
 * machine. */
PROBE_TEST(a_busy_call_has_processor_time, MIB)
{
	struct probe_metered m;
	uint64_t token;

	metered(OUTER);
	token = probe_enter(OUTER);
	for (volatile uint64_t i = 0; i < 20000000; i++)
		;
	probe_exit(OUTER, token);
	m = read_metered(OUTER);
	MUST(m.all.cpu_ns > MS);
	MUST_INT(m.all.blocked_ns, 0);
}

/* For how long the calling thread was delayed since it began; 0: not known. */
static uint64_t delayed(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ran, delay = 0;

	if (f && fscanf(f, "%llu %llu", &ran, &delay) != 2)
		delay = 0;
	if (f)
		fclose(f);
	return delay;
}

static uint64_t all_delays;

static void many_short_ones(unsigned number)
{
	(void)number;
	for (int i = 0; i < 3000; i++)
		call(OUTER);
	__atomic_fetch_add(&all_delays, delayed(), __ATOMIC_RELAXED);
	probe_thread_end();
}

/* With more threads than processors: most delays come while meters are read, which is not in the
 * calls. */
PROBE_TEST(delays_while_meters_are_read_are_not_in_the_calls, MIB)
{
	struct probe_metered m;

	metered(OUTER);
	probe_test_threads(8, many_short_ones);
	m = read_metered(OUTER);
	MUST_INT(m.calls, 24000);
	if (all_delays > 100 * MS)
		MUST(m.all.delay_ns < all_delays / 2);
}

PROBE_TEST(a_reset_forgets_what_nodes_used, MIB)
{
	probe_meter_bytes(so_many_bytes);
	metered(OUTER);
	metered(INNER);
	nested(OUTER, INNER, 100);
	probe_method_reset(INNER);
	MUST_INT(node(INNER, 1).all.bytes, 0);
	MUST_INT(read_metered(INNER).all.bytes, 0);
	nested(OUTER, INNER, 30);
	MUST_INT(node(INNER, 1).all.bytes, 30);
	MUST_INT(node(OUTER, 0).all.bytes, 132);
}

static void one_of_many(unsigned number)
{
	(void)number;
	nested(OUTER, INNER, 0);
	probe_thread_end();
}

PROBE_TEST(what_nodes_of_ended_threads_used_is_kept, MIB)
{
	metered(OUTER);
	metered(INNER);
	probe_test_threads(8, one_of_many);
	probe_sweep();
	nested(OUTER, INNER, 0);
	MUST_INT(node(INNER, 1).calls, 9);
	MUST_INT(node(INNER, 1).all.ticks, read_metered(INNER).all.ticks);
	MUST_INT(node(OUTER, 0).below.ticks, read_metered(OUTER).below.ticks);
}

static uint64_t sum_of_tree;

static void sum_up(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	(void)ctx;
	if (depth == 1)
		sum_of_tree += f->metered.all.bytes;
	MUST(id == PROBE_PRUNED || f->metered.calls <= f->calls);
}

/* Memory for few contexts: most are taken out, and what they used stays below their caller. */
PROBE_TEST(what_contexts_used_that_were_taken_out_stays_below_their_caller, 64 << 10)
{
	enum { METHODS = 2000 };
	struct probe_state s;

	probe_meter_bytes(so_many_bytes);
	metered(OUTER);
	for (uint32_t id = 10; id < 10 + METHODS; id++) {
		metered(id);
		nested(OUTER, id, 3);
	}
	probe_state_read(&s);
	MUST(s.pruned > METHODS / 2);
	MUST_INT(probe_tree(sum_up, NULL), 0);
	/* A node that found no memory for its meter has its use with the method alone. */
	MUST(sum_of_tree > METHODS * 3 / 2 && sum_of_tree <= METHODS * 3);
	MUST_INT(read_metered(OUTER).all.bytes, METHODS * 4);
}
