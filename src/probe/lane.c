/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - the slots in which Java finds a thread's table, and how words come into it.
 *
 * A slot is found by the thread's key alone.  When it is another thread's, this one counts in C, as
 * it does when it has no tree, or no memory for a node.  Tables are mapped when they are first
 * needed, and stay with their slot. */
#include "probe/lane.h"

#include "probe/pages.h"

#include <string.h>

static struct lane_slot slots[LANE_SLOTS] __attribute__((aligned(LINE)));

static struct lane_slot closed; /* of threads that have closed theirs; nobody finds it */

/* As in SondeProbe.counted(). */
static struct lane_slot *slot_of(uint64_t key)
{
	return &slots[key * 0x9e3779b97f4a7c15u >> 56];
}
_Static_assert(LANE_SLOTS == 1 << 8, "eight bits are taken of the product");

static struct lane_slot *claim(struct probe_thread *t, uint64_t key, uint64_t generation)
{
	struct lane_slot *s = slot_of(key);
	const struct probe_thread *nobody = NULL;

	if (!__atomic_compare_exchange_n(&s->taken, &nobody, t, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return NULL;
	if (s->table)
		generation = UINT64_MAX; /* what is in it is of the thread before */
	else
		s->table = pages_map(PROBE_METHODS * sizeof(*s->table));
	if (!s->table) {
		STORE(s->taken, NULL);
		return NULL;
	}
	s->key = key;
	s->generation = generation;
	STORE(s->owner, key + 1);
	t->lane = s;
	return s;
}

void probe_lane_count(uint32_t id, uint64_t key)
{
	struct probe_thread *t;
	struct probe_node *node;
	struct lane_slot *s;
	uint64_t generation;

	probe_count(id);
	t = probe_local.mine;
	node = probe_local.recent; /* of nobody, while the thread is muted */
	generation = LOAD(probe.generation);
	if (!t || !key || node->key != (generation | id) || node->parent ||
	    !LOAD(probe_words.lanes))
		return;
	s = t->lane ? t->lane : claim(t, key, generation);
	if (!s || s == &closed)
		return;
	if (s->generation != generation) {
		memset(s->table, 0, LOAD(probe.methods_n) * sizeof(*s->table));
		s->generation = generation;
	}
	s->table[id] = &node->counted;
}

void probe_lanes_end(void)
{
	STORE(probe_words.lanes, 0);
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
}

struct probe_lanes probe_lanes(void)
{
	return (struct probe_lanes){ slots, &probe.generation };
}

void lane_mute(const struct probe_thread *t, bool begins)
{
	if (t->lane && t->lane != &closed)
		STORE(t->lane->owner, begins ? 0 : t->lane->key + 1);
}

void lane_release(struct probe_thread *t)
{
	struct lane_slot *s = t->lane;

	t->lane = NULL;
	if (!s || s == &closed)
		return;
	STORE(s->owner, 0);
	PUBLISH(s->taken, NULL);
}

void lane_close(struct probe_thread *t)
{
	lane_release(t);
	t->lane = &closed;
}
