/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

enum { MANY = 20000, KEY = 12 };

/* Keys "key 00000" and so on, in one piece of memory. */
static char *many_keys(void)
{
	char *keys = malloc((size_t)MANY * KEY);

	for (int i = 0; keys && i < MANY; i++)
		snprintf(keys + i * KEY, KEY, "key %05d", i);
	return keys;
}

TEST(map_finds_every_key_again_after_growing)
{
	char *keys = many_keys();
	struct map m = { 0 };
	size_t walked = 0;
	bool fresh;

	if (!CHECK(keys != NULL))
		return;
	for (int i = 0; i < MANY; i++) {
		uintptr_t *v = map_put(&m, slice_str(keys + i * KEY), &fresh);

		CHECK(v && fresh && *v == 0);
		*v = (uintptr_t)i;
	}
	CHECK_INT(m.n, MANY, NULL);
	CHECK(m.cap >= MANY && (m.cap & (m.cap - 1)) == 0);
	for (int i = 0; i < MANY; i++) {
		uintptr_t *v = map_get(&m, slice_str(keys + i * KEY));

		CHECK(v && *v == (uintptr_t)i);
		v = map_put(&m, slice_str(keys + i * KEY), &fresh);
		CHECK(v && !fresh && *v == (uintptr_t)i);
	}
	CHECK_INT(m.n, MANY, "nothing was added");
	CHECK(!map_get(&m, slice_str("no such key")));
	for (struct map_slot *s = NULL; (s = map_next(&m, s));)
		walked++;
	CHECK_INT(walked, MANY, "walk");
	map_release(&m);
	free(keys);
}

TEST(map_of_nothing_finds_nothing)
{
	struct map m;

	map_init(&m);
	CHECK(!map_get(&m, slice_str("x")));
	CHECK(!map_next(&m, NULL));
	map_release(&m);
}

TEST(map_knows_the_empty_key)
{
	struct map m = { 0 };
	bool fresh;

	CHECK(!map_get(&m, (struct slice){ NULL, 0 }));
	*map_put(&m, (struct slice){ NULL, 0 }, &fresh) = 7;
	CHECK(fresh);
	CHECK_INT(*map_put(&m, slice_str(""), &fresh), 7, "with a pointer or without");
	CHECK(!fresh);
	CHECK_INT(m.n, 1, NULL);
	map_release(&m);
}

TEST(map_tells_keys_apart_that_differ_in_one_bit_or_in_length)
{
	uint8_t keys[17 * 8][17];
	uint8_t zeros[17] = { 0 };
	struct map m = { 0 };
	size_t want = 0;

	memset(keys, 0, sizeof(keys));
	for (size_t i = 0; i < COUNT(keys); i++) {
		keys[i][i / 8] = (uint8_t)(1 << i % 8);
		CHECK(map_put(&m, (struct slice){ keys[i], 17 }, NULL) != NULL);
		want++;
	}
	for (size_t n = 0; n <= 17; n++) {
		CHECK(map_put(&m, (struct slice){ zeros, n }, NULL) != NULL);
		want++;
	}
	CHECK_INT(m.n, want, NULL);
	map_release(&m);
}

/* Keys cannot be made to have equal hashes from outside, so put equal hashes into the slots. */
TEST(map_finds_keys_whose_hashes_are_equal)
{
	struct map_slot slots[16] = { 0 };
	struct map m = { slots, 0, 16 };
	struct slice a = slice_str("a"), b = slice_str("b"), c = slice_str("c");
	uint64_t hash = hash_bytes(b.p, b.n);

	slots[hash & 15] = (struct map_slot){ a, hash, 1 };
	slots[(hash + 1) & 15] = (struct map_slot){ b, hash, 2 };
	m.n = 2;
	CHECK(map_get(&m, b) && *map_get(&m, b) == 2);
	CHECK(!map_get(&m, c) || c.p[0] == 'a');
}

TEST(map_is_unchanged_when_it_cannot_grow)
{
	char keys[64][4];
	struct map m = { 0 };
	size_t n;

	for (size_t i = 0; i < COUNT(keys); i++)
		snprintf(keys[i], sizeof(keys[i]), "%zu", i);
	for (n = 0; n < COUNT(keys); n++) {
		mem_fail_at(0);
		if (!map_put(&m, slice_str(keys[n]), NULL)) {
			CHECK_INT(m.n, n, "unchanged");
			CHECK(!map_get(&m, slice_str(keys[n])));
			CHECK(map_put(&m, slice_str(keys[n]), NULL) != NULL);
		}
		for (size_t i = 0; i <= n; i++)
			CHECK(map_get(&m, slice_str(keys[i])) != NULL);
	}
	mem_fail_at(-1);
	map_release(&m);
}
