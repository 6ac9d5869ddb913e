/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>

#include "sample/stacks.h"

enum { SLOTS = 64, SPOTS = 256 };

static void *make(struct stacks *s)
{
	void *memory = calloc(1, stacks_bytes(SLOTS, SPOTS));

	stacks_init(s, memory, SLOTS, SPOTS);
	return memory;
}

static bool add(struct stacks *s, const uint64_t *spots, uint32_t n, uint32_t thread)
{
	return stacks_add(s, &(struct stacks_new){
				     .spots = spots, .n = n, .thread = thread, .count = 1 }) != 0;
}

TEST(stacks_count_equal_ones_once)
{
	const uint64_t one[] = { 1, 2, 3 }, other[] = { 1, 2, 4 };
	struct stacks s;
	void *memory = make(&s);
	const struct stack *t;
	uint32_t i = 0, seen = 0;

	for (int k = 0; k < 5; k++)
		CHECK(add(&s, one, 3, 7));
	CHECK(add(&s, other, 3, 7));
	CHECK(add(&s, one, 3, 8));
	while ((t = stacks_next(&s, &i))) {
		seen++;
		if (t->thread == 7 && s.spots[t->at + 2] == 3)
			CHECK_INT(t->count, 5, NULL);
	}
	CHECK_INT(seen, 3, NULL);
	stacks_clear(&s);
	i = 0;
	CHECK(!stacks_next(&s, &i));
	free(memory);
}

TEST(stacks_that_find_no_room_are_counted)
{
	uint64_t spots[8] = { 0 };
	struct stacks s;
	void *memory = make(&s);
	uint32_t lost = 0;

	for (uint64_t k = 1; k <= 100; k++) {
		spots[0] = k;
		lost += !add(&s, spots, 8, 1);
	}
	CHECK(lost >= 100 - SPOTS / 8);
	CHECK_INT(s.lost, lost, NULL);
	CHECK(s.spots_used <= SPOTS);
	free(memory);
}

TEST(stacks_are_added_to_by_hash_alone)
{
	const uint64_t spots[] = { 1, 2 };
	struct stacks_new new = { .spots = spots, .n = 2, .count = 1, .amount = 100 };
	struct stacks s;
	void *memory = make(&s);
	const struct stack *t;
	uint64_t hash = stacks_add(&s, &new);
	uint32_t i = 0;

	stacks_again(&s, hash, 2, 50);
	t = stacks_next(&s, &i);
	CHECK(t && !t->again && t->n == 2);
	CHECK_INT(t ? t->count : 0, 3, NULL);
	CHECK_INT(t ? t->amount : 0, 150, NULL);
	stacks_clear(&s);
	i = 0;
	stacks_again(&s, hash, 1, 7);
	t = stacks_next(&s, &i);
	CHECK(t && t->again && t->hash == hash && !t->n);
	CHECK_INT(t ? t->amount : 0, 7, NULL);
	CHECK(!stacks_next(&s, &i));
	free(memory);
}

enum { ROUNDS = 20000 };

static void *add_many(void *ctx)
{
	for (uint64_t k = 0; k < ROUNDS; k++) {
		uint64_t spots[2] = { k % 20 + 1, 5 };

		(void)add(ctx, spots, 2, 1);
	}
	return NULL;
}

TEST(stacks_of_several_threads_lose_nothing)
{
	struct stacks s;
	void *memory = make(&s);
	const struct stack *t;
	pthread_t threads[4];
	uint64_t sum = 0;
	uint32_t i = 0, n = 0;

	for (unsigned k = 0; k < COUNT(threads); k++)
		pthread_create(&threads[k], NULL, add_many, &s);
	for (unsigned k = 0; k < COUNT(threads); k++)
		pthread_join(threads[k], NULL);
	while ((t = stacks_next(&s, &i))) {
		sum += t->count;
		n++;
	}
	CHECK_INT(n, 20, NULL);
	CHECK_INT(sum + s.lost, COUNT(threads) * ROUNDS, NULL);
	CHECK_INT(s.lost, 0, NULL);
	free(memory);
}
