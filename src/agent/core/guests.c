/* SPDX-License-Identifier: Apache-2.0 */
/* guests.c - a thread first announces itself and then looks whether the door is closed; whoever
 * closes it first does that and then looks who is announced.  Both in one order that all agree on
 * (sequentially consistent), so either the one sees the other or the other the one.
 *
 * Virtual threads come by at each of their switches, on all processors at once; hence several
 * counts, each in a cache line of its own, of which a thread always uses the same. */
#include "agent/core/guests.h"

#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"

enum { PLACES = 64, LINE = 64, LOOK_US = 500 };

/* Any thread; atomic.  A place for each few threads, so that they do not share a cache line. */
static struct {
	bool closed;
	struct place {
		uint32_t n;
	} __attribute__((aligned(LINE))) places[PLACES];
} guests;

/* How often this thread has come in. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

/* Of this thread, by where its own variables lie. */
static uint32_t *place(void)
{
	uint64_t x = (uint64_t)(uintptr_t)&depth * 0x9e3779b97f4a7c15u;

	return &guests.places[x >> 58].n;
}

bool guests_come(void)
{
	if (depth++)
		return true;
	__atomic_fetch_add(place(), 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&guests.closed, __ATOMIC_SEQ_CST))
		return true;
	guests_go();
	return false;
}

void guests_go(void)
{
	if (--depth == 0)
		__atomic_fetch_sub(place(), 1, __ATOMIC_RELEASE);
}

/* Not at one moment: once the door is closed, a count that is 0 stays so but for threads that turn
 * back at once. */
unsigned guests_count(void)
{
	unsigned n = 0;

	for (int i = 0; i < PLACES; i++)
		n += __atomic_load_n(&guests.places[i].n, __ATOMIC_SEQ_CST);
	return n;
}

bool guests_close(int ms)
{
	int64_t end = (int64_t)clock_steady_ms() + ms;

	__atomic_store_n(&guests.closed, true, __ATOMIC_SEQ_CST);
	while (guests_count()) {
		if ((int64_t)clock_steady_ms() >= end) {
			guests_open();
			return false;
		}
		usleep(LOOK_US);
	}
	return true;
}

void guests_open(void)
{
	__atomic_store_n(&guests.closed, false, __ATOMIC_SEQ_CST);
}
