/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - the slots in which Java finds a thread's counts.
 *
 * A slot is found by the thread's key alone.  When it is another thread's, this one counts in C, as
 * it does when it has no tree.  Tables are mapped when they are first needed, and stay with their
 * slot. */
#include "probe/lane.h"

#include "base/err.h"
#include "probe/pages.h"

static struct lane_slot slots[LANE_SLOTS] __attribute__((aligned(LINE)));

static struct lane_slot *in_use; /* those that have counts; only grows */
static uint64_t *before;	 /* by method: what all tables came to at the last reset */

/* As in SondeProbe.count(). */
static struct lane_slot *slot_of(uint64_t key)
{
	return &slots[key * 0x9e3779b97f4a7c15u >> 56];
}
_Static_assert(LANE_SLOTS == 1 << 8, "eight bits are taken of the product");

int lane_init(void)
{
	before = pages_map(PROBE_METHODS * sizeof(*before));
	return before ? 0 : E_NO_MEMORY;
}

/* Only who has taken the slot comes here. */
static bool make_counts(struct lane_slot *s)
{
	s->counts = pages_map(PROBE_METHODS * sizeof(*s->counts));
	if (!s->counts)
		return false;
	s->next = LOAD(in_use);
	while (!__atomic_compare_exchange_n(&in_use, &s->next, s, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return true;
}

static struct lane_slot *claim(struct probe_thread *t, uint64_t key)
{
	struct lane_slot *s = slot_of(key);
	const struct probe_thread *nobody = NULL;

	if (!__atomic_compare_exchange_n(&s->taken, &nobody, t, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return NULL;
	if (!s->counts && !make_counts(s)) {
		STORE(s->taken, NULL);
		return NULL;
	}
	s->key = key;
	STORE(s->owner, key + 1);
	t->lane = s;
	return s;
}

static struct lane_slot *lane_of(uint64_t key)
{
	struct probe_thread *t;

	if (!key || probe_local.muted || !LOAD(probe_words.lanes))
		return NULL;
	t = probe_local.mine ? probe_local.mine : thread_take();
	if (!t)
		return NULL;
	return t->lane ? t->lane : claim(t, key);
}

void probe_lane_count(uint32_t id, uint64_t key)
{
	struct lane_slot *s = id < PROBE_METHODS ? lane_of(key) : NULL;

	if (s)
		ADD(s->counts[id], 1);
	else
		probe_count(id);
}

void probe_lanes_end(void)
{
	STORE(probe_words.lanes, 0);
}

void *probe_lanes(void)
{
	return slots;
}

void lane_mute(const struct probe_thread *t, bool begins)
{
	if (t->lane)
		STORE(t->lane->owner, begins ? 0 : t->lane->key + 1);
}

void lane_release(struct probe_thread *t)
{
	struct lane_slot *s = t->lane;

	t->lane = NULL;
	if (!s)
		return;
	STORE(s->owner, 0);
	PUBLISH(s->taken, NULL);
}

static uint64_t all_calls(uint32_t id)
{
	uint64_t sum = 0;

	for (const struct lane_slot *s = TAKE(in_use); s; s = s->next)
		sum += LOAD(s->counts[id]);
	return sum;
}

uint64_t lane_calls(uint32_t id)
{
	uint64_t then = TAKE(before[id]); /* first: it is not more than what all come to now */

	return all_calls(id) - then;
}

void lane_reset(uint32_t id)
{
	PUBLISH(before[id], all_calls(id));
}
