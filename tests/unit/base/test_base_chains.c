/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>

#include "base/chains.h"
#include "base/err.h"
#include "base/mem.h"

enum { MANY = 5000 };

struct thing {
	struct chains_link link;
	int number;
};

/* Four of a hash. */
static uint64_t hash_of(int i)
{
	return (uint64_t)(i / 4) * 0x9e3779b97f4a7c15u;
}

static struct thing *find(const struct chains *c, int number)
{
	for (struct chains_link *l = chains_first(c, hash_of(number)); l; l = chains_next(l))
		if (((struct thing *)l)->number == number)
			return (struct thing *)l;
	return NULL;
}

TEST(chains_find_what_is_in_and_not_what_was_taken_out)
{
	struct thing *things = calloc(MANY, sizeof(*things));
	struct chains c = { 0 };

	if (!CHECK(things != NULL))
		return;
	CHECK(!chains_first(&c, 1));
	for (int i = 0; i < MANY; i++) {
		things[i].number = i;
		CHECK_INT(chains_add(&c, &things[i].link, hash_of(i)), 0, "add");
	}
	CHECK(c.cap >= MANY && (c.cap & (c.cap - 1)) == 0);
	for (int i = 0; i < MANY; i++)
		CHECK(find(&c, i) == &things[i]);
	for (int i = 0; i < MANY; i += 3)
		chains_remove(&c, &things[i].link);
	for (int i = 0; i < MANY; i++)
		CHECK(find(&c, i) == (i % 3 ? &things[i] : NULL));
	CHECK_INT(c.n, MANY - (MANY + 2) / 3, "how many are left");
	chains_release(&c);
	free(things);
}

TEST(chains_keep_the_newest_of_a_hash_first_when_they_grow)
{
	struct thing things[1000] = { 0 };
	struct chains c = { 0 };

	for (int i = 0; i < 1000; i++) {
		things[i].number = i;
		CHECK_INT(chains_add(&c, &things[i].link, (uint64_t)(i % 2)), 0, "add");
	}
	for (int hash = 0; hash < 2; hash++) {
		int expected = 998 + hash;

		for (struct chains_link *l = chains_first(&c, (uint64_t)hash); l;
		     l = chains_next(l)) {
			CHECK_INT(((struct thing *)l)->number, expected, "order");
			expected -= 2;
		}
		CHECK_INT(expected, hash - 2, "all of them");
	}
	chains_release(&c);
}

TEST(chains_that_cannot_grow_still_take_things_in)
{
	struct thing things[65] = { 0 };
	struct chains c = { 0 };

	mem_fail_at(0);
	CHECK_INT(chains_add(&c, &things[0].link, 7), E_NO_MEMORY, "no table");
	CHECK_INT(c.n, 0, "not in");
	mem_fail_at(-1);
	for (int i = 0; i < 64; i++)
		CHECK_INT(chains_add(&c, &things[i].link, (uint64_t)i), 0, "add");
	mem_fail_at(0);
	CHECK_INT(chains_add(&c, &things[64].link, 64), 0, "a longer chain instead");
	mem_fail_at(-1);
	CHECK(chains_first(&c, 64) == &things[64].link);
	CHECK(chains_first(&c, 0) == &things[0].link);
	chains_release(&c);
}
