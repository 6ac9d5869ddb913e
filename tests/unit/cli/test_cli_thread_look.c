/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_thread_look.c - what two looks at the threads of a JVM tell. */
#include "cli/look/thread_look.h"

#include "test.h"

enum { WALL_NS = 1000000000 };

struct one {
	uint64_t number, holder, cpu_ns;
	const char *lock;
};

static void take(struct thread_look *s, const struct one *all, size_t n)
{
	thread_look_init(s);
	for (size_t i = 0; i < n; i++)
		thread_look_take(s, &(struct wire_thread){
					    .number = all[i].number,
					    .name = slice_str(i ? "pool-1-thread-2" : "main"),
					    .state = THREAD_BLOCKED,
					    .lock = slice_str(all[i].lock),
					    .holder = all[i].holder,
					    .cpu_ns = all[i].cpu_ns,
				    });
}

static unsigned deadlocks(const struct one *before, const struct one *after, size_t n)
{
	struct thread_look a, b;
	unsigned found;

	take(&a, before, n);
	take(&b, after, n);
	CHECK_INT(thread_look_compare(&b, &a, WALL_NS), 0, NULL);
	found = b.deadlocks;
	thread_look_release(&a);
	thread_look_release(&b);
	return found;
}

/* The memory of nothing is NULL, which qsort may not be given. */
TEST(a_look_without_threads_can_be_compared)
{
	CHECK_INT(deadlocks(NULL, NULL, 0), 0, NULL);
}

static const struct one ring[] = {
	{ 1, 2, 50, "L@1" }, { 2, 3, 60, "L@2" }, { 3, 1, 70, "L@3" }, { 4, 1, 80, "L@3" }
};

TEST(threads_that_wait_for_each_other_and_do_not_run_are_a_deadlock)
{
	CHECK_INT(deadlocks(ring, ring, COUNT(ring)), 1, "three in a ring, one behind it");
}

TEST(a_ring_that_moves_is_no_deadlock)
{
	struct one later[COUNT(ring)];

	memcpy(later, ring, sizeof(ring));
	later[1].lock = "L@9";
	CHECK_INT(deadlocks(ring, later, COUNT(ring)), 0, "it waits for another lock now");
	memcpy(later, ring, sizeof(ring));
	later[1].cpu_ns += WALL_NS / 50;
	CHECK_INT(deadlocks(ring, later, COUNT(ring)), 0, "it has run");
	later[1] = (struct one){ 9, 3, 60, "L@2" };
	CHECK_INT(deadlocks(ring, later, COUNT(ring)), 0, "it is another thread");
}

TEST(two_rings_are_two_deadlocks)
{
	static const struct one rings[] = {
		{ 1, 2, 0, "A@1" }, { 2, 1, 0, "A@2" }, { 7, 8, 0, "B@1" },
		{ 8, 7, 0, "B@2" }, { 9, 0, 0, "" },
	};

	CHECK_INT(deadlocks(rings, rings, COUNT(rings)), 2, NULL);
}

TEST(threads_are_found_by_number_name_and_part_of_a_name)
{
	static const struct one some[] = { { 1, 0, 5, "" }, { 12, 0, 5, "" } };
	struct thread_look a, b;
	bool several;

	take(&a, some, COUNT(some));
	take(&b, some, COUNT(some));
	CHECK_INT(thread_look_compare(&b, &a, WALL_NS), 0, NULL);
	CHECK_INT(thread_look_find(&b, "12", &several)->row.number, 12, NULL);
	CHECK_INT(thread_look_find(&b, "#1", &several)->row.number, 1, NULL);
	CHECK_INT(thread_look_find(&b, "main", &several)->row.number, 1, NULL);
	CHECK_INT(thread_look_find(&b, "thread-2", &several)->row.number, 12, NULL);
	CHECK(!thread_look_find(&b, "a", &several) && several);
	CHECK(!thread_look_find(&b, "xyz", &several) && !several);
	thread_look_release(&a);
	thread_look_release(&b);
}

TEST(the_busiest_thread_comes_first_and_equal_stacks_are_one_group)
{
	static const struct one before[] = { { 1, 0, 5, "" }, { 2, 0, 5, "" } };
	static const struct one after[] = { { 1, 0, 6, "" }, { 2, 0, 900, "" } };
	struct thread_look a, b;

	take(&a, before, 2);
	take(&b, after, 2);
	CHECK_INT(thread_look_compare(&b, &a, WALL_NS), 0, NULL);
	CHECK_INT(b.v[0]->row.number, 2, NULL);
	CHECK_INT(b.v[0]->cpu_ns, 895, NULL);
	CHECK_INT(b.n_groups, 1, NULL);
	CHECK_INT(b.groups[0].n, 2, NULL);
	thread_look_release(&a);
	thread_look_release(&b);
}
