/* SPDX-License-Identifier: Apache-2.0 */
/* types.c - sequences of method types: a table of cells, one for each caller's type, method's type, way out
 * and class of lengths.
 *
 * A cell has the shortest call and a histogram, from which a low quantile comes: the shortest of a great many
 * may be an accident of the clock.  Cells are written by all threads, with atomic additions; drawn calls
 * are few.  Types change while a program warms up; a call counts under those known when it ends. */
#include "probe/types.h"

#include "base/err.h"
#include "probe/histogram.h"
#include "probe/pages.h"

#include <string.h>

struct cell {
	uint64_t calls;
	uint64_t unmin; /* ~min, so that 0 is none */
	uint32_t counts[PROBE_BUCKETS];
};

enum { CELLS = TYPES * TYPES * 2 * TYPE_LENGTHS };

static struct {
	struct cell *cells;
	uint64_t borders[TYPE_LENGTHS - 1];
} table;

static uint8_t types[PROBE_METHODS];

void types_set(uint32_t id, unsigned type)
{
	if (id < PROBE_METHODS)
		STORE(types[id], (uint8_t)(type % TYPES));
}

unsigned types_of(uint32_t id)
{
	return id < PROBE_METHODS ? LOAD(types[id]) : TYPE_UNKNOWN;
}

int types_watch(bool on, const uint64_t borders[TYPE_LENGTHS - 1])
{
	if (!on) {
		STORE(probe.types, 0);
		return 0;
	}
	if (!table.cells)
		table.cells = pages_map(CELLS * sizeof(*table.cells));
	if (!table.cells)
		return E_NO_MEMORY;
	for (size_t i = 0; i < CELLS; i++) /* those that nobody touched stay untouched */
		if (LOAD(table.cells[i].calls))
			memset(&table.cells[i], 0, sizeof(table.cells[i]));
	memcpy(table.borders, borders, sizeof(table.borders));
	PUBLISH(probe.types, 1);
	return 0;
}

bool types_are_watched(void)
{
	return LOAD(probe.types) != 0;
}

static unsigned length_of(uint64_t ticks)
{
	unsigned i = 0;

	while (i < TYPE_LENGTHS - 1 && ticks >= table.borders[i])
		i++;
	return i;
}

void types_count(const struct probe_frame *f, uint64_t ticks, bool thrown)
{
	unsigned caller = frame_is_nobodys(f - 1) ? TYPE_UNKNOWN : types_of(frame_id(f - 1));
	unsigned i = caller * TYPES + types_of(frame_id(f));
	uint64_t least;
	struct cell *c;

	if (!TAKE(probe.types) || kin_of(line_of(f->node))->kids)
		return;
	c = &table.cells[(i * 2 + thrown) * TYPE_LENGTHS + length_of(ticks)];
	least = LOAD(c->unmin);
	while (~ticks > least && !__atomic_compare_exchange_n(&c->unmin, &least, ~ticks, true,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	SHARED_ADD(c->counts[histogram_bucket(ticks)], 1);
	SHARED_ADD(c->calls, 1);
}

void types_read(types_visit *visit, void *ctx)
{
	for (unsigned i = 0; table.cells && i < CELLS; i++) {
		const struct cell *c = &table.cells[i];
		struct types_sequence s = { .calls = LOAD(c->calls),
					    .min = ~LOAD(c->unmin),
					    .length = i % TYPE_LENGTHS,
					    .thrown = i / TYPE_LENGTHS % 2,
					    .method = i / TYPE_LENGTHS / 2 % TYPES,
					    .caller = i / TYPE_LENGTHS / 2 / TYPES };
		uint32_t counts[PROBE_BUCKETS];

		if (!s.calls)
			continue;
		for (unsigned k = 0; k < PROBE_BUCKETS; k++)
			counts[k] = LOAD(c->counts[k]);
		s.low = histogram_quantile(counts, 0.05, s.min, UINT64_MAX);
		visit(ctx, &s);
	}
}
