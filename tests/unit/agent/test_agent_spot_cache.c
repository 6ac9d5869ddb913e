/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "agent/sampling/spot_cache.h"
#include "base/mem.h"

static void keep(struct spot_cache *c, uint64_t spot, const char *numbers, uint32_t round)
{
	spot_cache_put(c, &(struct spot_known){ .spot = spot,
						.round = round,
						.n = (uint32_t)strlen(numbers),
						.numbers = (const uint8_t *)numbers });
}

static bool has(const struct spot_cache *c, uint64_t spot, const char *numbers, uint32_t round)
{
	const struct spot_known *k = spot_cache_get(c, spot);

	return k && k->spot == spot && k->round == round && k->n == strlen(numbers) &&
	       memcmp(k->numbers, numbers, k->n) == 0;
}

TEST(a_spot_is_known_as_it_was_put_last)
{
	struct spot_cache c = { 0 };

	CHECK(!spot_cache_get(&c, 7));
	keep(&c, 7, "twelve bytes", 1);
	keep(&c, 8, "four", 2);
	CHECK(has(&c, 7, "twelve bytes", 1) && has(&c, 8, "four", 2) && !spot_cache_get(&c, 9));
	keep(&c, 7, "less", 3); /* into the same room */
	keep(&c, 8, "more than it has room", 4);
	CHECK(has(&c, 7, "less", 3) && has(&c, 8, "more than it has room", 4));
	keep(&c, 7, "twelve again", 5);
	CHECK(has(&c, 7, "twelve again", 5));
	spot_cache_clear(&c);
	CHECK(!spot_cache_get(&c, 7));
	keep(&c, 7, "new", 6);
	CHECK(has(&c, 7, "new", 6));
	spot_cache_clear(&c);
}

TEST(known_spots_take_bounded_memory)
{
	struct spot_cache c = { 0 };
	size_t most = 0;

	for (uint64_t i = 0; i < 3 * SPOT_CACHE_MAX; i++) {
		keep(&c, i, "four", 1);
		CHECK(has(&c, i, "four", 1));
		most = c.mem.total > most ? c.mem.total : most;
	}
	CHECK(c.map.n <= SPOT_CACHE_MAX);
	CHECK(most < (size_t)SPOT_CACHE_MAX * 256);
	spot_cache_clear(&c);
}

TEST(known_spots_survive_every_failed_allocation)
{
	bool hit = true;

	for (long n = 0; hit; n++) {
		struct spot_cache c = { 0 };

		mem_fail_at(n);
		for (uint64_t i = 0; i < 3000; i++)
			keep(&c, i, "some numbers", 1);
		hit = mem_fail_hit();
		mem_fail_at(-1);
		keep(&c, 5, "known", 2);
		CHECK(has(&c, 5, "known", 2));
		spot_cache_clear(&c);
	}
}
