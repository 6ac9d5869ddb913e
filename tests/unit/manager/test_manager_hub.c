/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>

#include "manager/fleet/hub.h"

enum { THREADS = 3, TURNS = 300 };

static const uint32_t alive = 0x5a5a5a5a;

struct listener {
	uint32_t mark;
	unsigned calls, after_its_end;
};

static void on_event(void *ctx)
{
	struct listener *l = ctx;

	if (__atomic_load_n(&l->mark, __ATOMIC_RELAXED) != alive)
		__atomic_add_fetch(&l->after_its_end, 1, __ATOMIC_RELAXED);
	for (volatile unsigned i = 0; i < 200;) /* as long as waking streams takes */
		i = i + 1;
	if (__atomic_load_n(&l->mark, __ATOMIC_RELAXED) != alive)
		__atomic_add_fetch(&l->after_its_end, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&l->calls, 1, __ATOMIC_RELAXED);
}

struct putting {
	struct hub *h;
	bool ends;
};

static void *put_events(void *ctx)
{
	struct putting *p = ctx;

	while (!__atomic_load_n(&p->ends, __ATOMIC_RELAXED))
		hub_put(p->h, slice_str("a"), "x", slice_str("{}"));
	return NULL;
}

TEST(a_listener_that_has_left_is_not_called_any_more)
{
	static struct hub h;
	static struct listener all[TURNS];
	struct putting p = { .h = &h };
	pthread_t threads[THREADS];
	unsigned late = 0, calls = 0;

	hub_init(&h);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, put_events, &p) == 0);
	for (unsigned i = 0; i < TURNS; i++) {
		uint64_t before = hub_now(&h);

		all[i].mark = alive;
		hub_listen(&h, on_event, &all[i]);
		while (hub_now(&h) < before + 20)
			;
		hub_listen(&h, NULL, NULL);
		__atomic_store_n(&all[i].mark, 0, __ATOMIC_RELAXED); /* it is freed here */
	}
	__atomic_store_n(&p.ends, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < TURNS; i++) {
		late += all[i].after_its_end;
		calls += all[i].calls;
	}
	CHECK(late == 0);
	CHECK(calls > 0);
	hub_release(&h);
}

TEST(events_of_other_applications_are_left_out)
{
	static struct hub h;
	struct buf out = { 0 };
	uint64_t at = 0;

	hub_init(&h);
	hub_put(&h, slice_str("a"), "x", slice_str("1"));
	hub_put(&h, slice_str("b"), "x", slice_str("2"));
	hub_put(&h, slice_str(""), "x", slice_str("3"));
	CHECK(hub_read(&h, &at, "a", &out) && at == 3);
	buf_u8(&out, 0);
	CHECK(strcmp((char *)out.p, "id: 0\nevent: x\ndata: 1\n\nid: 2\nevent: x\ndata: 3\n\n") ==
	      0);
	buf_release(&out);
	hub_release(&h);
}

TEST(who_has_fallen_behind_is_told_and_gets_the_last_events)
{
	static struct hub h;
	struct buf out = { 0 };
	uint64_t at = 0;

	hub_init(&h);
	for (unsigned i = 0; i < HUB_EVENTS + 3; i++)
		hub_put(&h, slice_str("a"), "x", slice_str("1"));
	CHECK(!hub_read(&h, &at, NULL, &out) && at == HUB_EVENTS + 3);
	CHECK(out.n > 6 && memcmp(out.p, "id: 3\n", 6) == 0);
	CHECK(hub_read(&h, &at, NULL, &out));
	buf_release(&out);
	hub_release(&h);
}
