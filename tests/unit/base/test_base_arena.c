/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/arena.h"
#include "base/mem.h"

TEST(arena_pieces_are_aligned_and_do_not_overlap)
{
	struct arena a;
	uint8_t *last = NULL;

	arena_init(&a);
	for (size_t n = 0; n < 3000; n++) {
		uint8_t *p = arena_alloc(&a, n);

		if (!CHECK(p != NULL))
			break;
		CHECK_INT((uintptr_t)p % ARENA_ALIGN, 0, "alignment");
		memset(p, (int)n, n);
		if (n > 1)
			CHECK_INT(last[n - 2], (uint8_t)(n - 1), "the piece before");
		last = p;
	}
	arena_release(&a);
}

TEST(arena_gives_pieces_larger_than_a_chunk)
{
	struct arena a;
	uint8_t *p;

	arena_init(&a);
	p = arena_zero(&a, 5 << 20);
	if (CHECK(p != NULL)) {
		CHECK_INT(p[0] + p[(5 << 20) - 1], 0, "zeroed");
		CHECK(a.total >= 5 << 20);
	}
	arena_release(&a);
	CHECK_INT(a.total, 0, "after release");
	CHECK(!a.chunks);
}

TEST(arena_reset_keeps_one_chunk_and_uses_it_again)
{
	struct arena a;
	size_t total;

	arena_init(&a);
	arena_reset(&a); /* of an empty one: nothing happens */
	for (int i = 0; i < 1000; i++)
		arena_alloc(&a, 1000);
	arena_reset(&a);
	total = a.total;
	mem_fail_at(0); /* from here on the heap is not asked */
	CHECK(arena_alloc(&a, total) != NULL);
	CHECK(!mem_fail_hit());
	mem_fail_at(-1);
	arena_release(&a);
}

TEST(arena_says_null_when_memory_is_out_and_goes_on_later)
{
	struct arena a;

	arena_init(&a);
	mem_fail_at(0);
	CHECK(!arena_alloc(&a, 10));
	CHECK(mem_fail_hit());
	CHECK(arena_alloc(&a, 10) != NULL);
	CHECK(!arena_alloc(&a, SIZE_MAX / 2 + 100));
	arena_release(&a);
}

TEST(arena_trim_gives_back_the_tail_of_the_newest_piece_only)
{
	struct arena a;
	uint8_t *p, *q;

	arena_init(&a);
	p = arena_alloc(&a, 100);
	arena_trim(&a, p, 100, 10);
	q = arena_alloc(&a, 8);
	CHECK_INT(q - p, 16, "10 bytes, aligned");
	arena_trim(&a, p, 16, 0); /* not the newest: kept */
	CHECK(arena_alloc(&a, 8) == q + 8);
	arena_release(&a);
}

TEST(arena_copies_are_their_own)
{
	struct arena a;
	char text[] = "abc";
	struct slice s = slice_str(text), dup;
	char *str;

	arena_init(&a);
	dup = arena_dup(&a, s);
	str = arena_str(&a, s);
	text[0] = 'x';
	CHECK(slice_is(dup, "abc"));
	CHECK_STR(str, "abc", NULL);
	CHECK(arena_copy(&a, NULL, 0) != NULL);
	CHECK_STR(arena_str(&a, (struct slice){ NULL, 0 }), "", "empty");
	arena_release(&a);
}
