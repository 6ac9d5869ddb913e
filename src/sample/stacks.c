/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - open addressing.  Who swaps a hash into a free slot writes the stack; who finds the hash
 * there already only counts, also while the other one still writes. */
#include "sample/stacks.h"

#include <string.h>

enum { PROBES = 32 };

size_t stacks_bytes(uint32_t n_slots, uint32_t n_spots)
{
	return n_slots * sizeof(struct stack) + n_spots * sizeof(uint64_t);
}

void stacks_init(struct stacks *s, void *memory, uint32_t n_slots, uint32_t n_spots)
{
	*s = (struct stacks){ .slots = memory, .n_slots = n_slots, .n_spots = n_spots };
	s->spots = (uint64_t *)(void *)(s->slots + n_slots);
}

void stacks_clear(struct stacks *s)
{
	memset(s->slots, 0, s->n_slots * sizeof(*s->slots));
	s->used = s->spots_used = 0;
	s->lost = 0;
}

static uint64_t mixed(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t hash_of(const struct stacks_new *new)
{
	uint64_t h = mixed(new->thread, (uint64_t) new->end << 8 | new->state);

	for (uint32_t i = 0; i < new->n; i++)
		h = mixed(h, new->spots[i]);
	return mixed(h, new->n) | 1;
}

/* The slot of that hash; *mine: it was free, and the caller is to write it.  NULL: no room. */
static struct stack *take(struct stacks *s, uint64_t hash, bool *mine)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct stack *t = &s->slots[((hash >> 20) + i) & (s->n_slots - 1)];
		uint64_t there = __atomic_load_n(&t->hash, __ATOMIC_RELAXED);

		if (!there && __atomic_compare_exchange_n(&t->hash, &there, hash, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			*mine = true;
			return t;
		}
		if (there == hash) /* also when another thread was faster with it just now */
			return t;
	}
	return NULL;
}

/* False: the row of spots is full; the slot stays, without a stack, and counts nothing. */
static bool write_stack(struct stacks *s, struct stack *t, const struct stacks_new *new)
{
	uint32_t at = __atomic_load_n(&s->spots_used, __ATOMIC_RELAXED);

	do {
		if (new->n > s->n_spots - at)
			return false;
	} while (!__atomic_compare_exchange_n(&s->spots_used, &at, at + new->n, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	memcpy(s->spots + at, new->spots, new->n * sizeof(*new->spots));
	t->at = at;
	t->n = new->n;
	t->thread = new->thread;
	t->end = new->end;
	t->state = new->state;
	__atomic_fetch_add(&s->used, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&t->whole, true, __ATOMIC_RELEASE);
	return true;
}

static void count(struct stack *t, uint32_t samples, uint64_t amount, uint64_t many)
{
	__atomic_fetch_add(&t->count, samples, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->amount, amount, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->many, many, __ATOMIC_RELAXED);
}

uint64_t stacks_add(struct stacks *s, struct stacks_new *new)
{
	bool mine = false;
	uint64_t hash = hash_of(new);
	struct stack *t = take(s, hash, &mine);

	new->hash = 0;
	if (t && (!mine || write_stack(s, t, new))) {
		count(t, new->count, new->amount, new->many);
		new->hash = hash;
	} else {
		__atomic_fetch_add(&s->lost, new->count, __ATOMIC_RELAXED);
	}
	return new->hash;
}

void stacks_again(struct stacks *s, uint64_t hash, uint32_t samples, uint64_t amount)
{
	bool mine = false;
	struct stack *t = take(s, hash, &mine);

	if (!t) {
		__atomic_fetch_add(&s->lost, samples, __ATOMIC_RELAXED);
		return;
	}
	if (mine) {
		t->again = true;
		__atomic_fetch_add(&s->used, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&t->whole, true, __ATOMIC_RELEASE);
	}
	count(t, samples, amount, 0);
}

const struct stack *stacks_next(const struct stacks *s, uint32_t *i)
{
	while (*i < s->n_slots) {
		const struct stack *t = &s->slots[(*i)++];

		if (t->hash && t->whole)
			return t;
	}
	return NULL;
}
