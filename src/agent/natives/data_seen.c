/* SPDX-License-Identifier: Apache-2.0 */
/* data_seen.c - how often which values were captured, in bounded memory.
 *
 * Space-Saving: a slot keeps SEEN_VALUES values.  One that is not among them takes the place of the
 * least frequent and inherits its count as its possible error, so a value that makes up more than
 * 1/SEEN_VALUES of all is always there.  An observed thread never waits: when another is at the
 * same slot, its value counts for the total only. */
#include "agent/natives/data.h"

#include <string.h>

#include "base/fnv.h"
#include "probe/probe.h"
#include "probe/trace.h"

/* Observed threads; a slot is its owner's while busy is 1, and who finds it taken counts nothing. */
static struct slot {
	int busy;
	uint64_t total, passed;
	size_t n;
	struct seen_value v[SEEN_VALUES];
	uint32_t hash[SEEN_VALUES];
} slots[DATA_SLOTS];

static bool take(struct slot *s)
{
	int free = 0;

	return __atomic_compare_exchange_n(&s->busy, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void give(struct slot *s)
{
	__atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
}

static uint32_t hash_of(const char *text, size_t n)
{
	return (uint32_t)fnv_add(FNV_START, text, n);
}

static void count(struct slot *s, const char *text, size_t n)
{
	uint32_t hash = hash_of(text, n);
	size_t at, least = 0;

	for (at = 0; at < s->n; at++) {
		if (s->hash[at] == hash && strcmp(s->v[at].text, text) == 0) {
			s->v[at].count++;
			return;
		}
		if (s->v[at].count < s->v[least].count)
			least = at;
	}
	if (s->n < SEEN_VALUES) {
		at = s->n++;
		s->v[at].count = s->v[at].error = 0;
	} else {
		at = least;
		s->v[at].error = s->v[at].count;
	}
	s->v[at].count++;
	s->hash[at] = hash;
	memcpy(s->v[at].text, text, n + 1);
}

void data_see(uint32_t number, const char *text, size_t n)
{
	struct slot *s = &slots[number & (DATA_SLOTS - 1)];

	__atomic_fetch_add(&s->total, 1, __ATOMIC_RELAXED);
	probe_trace_fact(data_slot_name(number & (DATA_SLOTS - 1)), text);
	if (!take(s)) {
		__atomic_fetch_add(&s->passed, 1, __ATOMIC_RELAXED);
		return;
	}
	count(s, text, n);
	give(s);
}

void data_seen(uint32_t number, struct data_seen *out)
{
	struct slot *s = &slots[number];

	while (!take(s)) /* the agent may wait; it is a matter of nanoseconds */
		;
	out->total = __atomic_load_n(&s->total, __ATOMIC_RELAXED);
	out->passed = __atomic_load_n(&s->passed, __ATOMIC_RELAXED);
	out->n = s->n;
	memcpy(out->v, s->v, s->n * sizeof(s->v[0]));
	give(s);
	for (size_t i = 1; i < out->n; i++) { /* few: insertion */
		struct seen_value x = out->v[i];
		size_t k = i;

		for (; k && out->v[k - 1].count < x.count; k--)
			out->v[k] = out->v[k - 1];
		out->v[k] = x;
	}
}

void data_seen_reset(void)
{
	for (size_t i = 0; i < DATA_SLOTS; i++) {
		while (!take(&slots[i]))
			;
		slots[i].total = slots[i].passed = 0;
		slots[i].n = 0;
		give(&slots[i]);
	}
}
