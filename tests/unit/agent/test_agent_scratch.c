/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/core/scratch.h"

#include "base/mem.h"
#include "test.h"

TEST(room_is_used_again_and_empty_then)
{
	struct scratch *first = scratch_take(), *second;
	const uint8_t *memory;

	if (!CHECK(first != NULL))
		return;
	CHECK(arena_alloc(&first->mem, 5000) != NULL);
	buf_text(&first->out, "something");
	memory = first->out.p;
	scratch_give(first);
	second = scratch_take();
	CHECK(second == first && second->out.n == 0 && second->out.p == memory);
	scratch_give(second);
	scratch_drop();
}

TEST(room_is_made_for_each_thread_and_one_is_kept)
{
	struct scratch *first = scratch_take(), *second = scratch_take();

	if (!CHECK(first && second && first != second))
		return;
	scratch_give(first);
	scratch_give(second);
	first = scratch_take();
	CHECK(first == second);
	scratch_give(first);
	scratch_drop();
}

TEST(room_that_is_large_is_given_back)
{
	struct scratch *r = scratch_take();

	if (!CHECK(r != NULL))
		return;
	CHECK(buf_room(&r->out, 3 << 20) != NULL);
	scratch_give(r);
	mem_fail_at(0);
	CHECK(scratch_take() == NULL);
	mem_fail_at(-1);
	scratch_drop();
}
