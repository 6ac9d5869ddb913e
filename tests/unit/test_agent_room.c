/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/room.h"

#include "base/mem.h"
#include "test.h"

TEST(room_is_used_again_and_empty_then)
{
	struct room *first = room_take(), *second;
	const uint8_t *memory;

	if (!CHECK(first != NULL))
		return;
	CHECK(arena_alloc(&first->mem, 5000) != NULL);
	buf_text(&first->out, "something");
	memory = first->out.p;
	room_give(first);
	second = room_take();
	CHECK(second == first && second->out.n == 0 && second->out.p == memory);
	room_give(second);
	room_drop();
}

TEST(room_is_made_for_each_thread_and_one_is_kept)
{
	struct room *first = room_take(), *second = room_take();

	if (!CHECK(first && second && first != second))
		return;
	room_give(first);
	room_give(second);
	first = room_take();
	CHECK(first == second);
	room_give(first);
	room_drop();
}

TEST(room_that_is_large_is_given_back)
{
	struct room *r = room_take();

	if (!CHECK(r != NULL))
		return;
	CHECK(buf_room(&r->out, 3 << 20) != NULL);
	room_give(r);
	mem_fail_at(0);
	CHECK(room_take() == NULL);
	mem_fail_at(-1);
	room_drop();
}
