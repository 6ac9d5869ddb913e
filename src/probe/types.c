/* SPDX-License-Identifier: Apache-2.0 */
/* types.c - sequences of hooked events, by the types of three methods and the two transitions
 * between them.
 *
 * A thread remembers its last event: when it was, which frame was on top of its stack then, and
 * what led there.  If that frame is still the top at the next event, nothing was between the two.
 * Frames are distinguished by their tokens, so an exit that was missed (of a call that began before)
 * is noticed.  A sequence is put down one event later, since an entry that waits for what is under
 * way moves its own time (probe_shift).
 *
 * Cells are found by hashing and never given to another sequence; all threads add to them.  A cell
 * has the shortest time and a histogram, from which a low quantile comes: the shortest of a great
 * many may be an accident of the clock.  Types change while a program warms up; an event counts
 * under those known when it happens. */
#include "probe/types.h"

#include "base/err.h"
#include "probe/histogram.h"
#include "probe/pages.h"

struct cell {
	uint32_t key; /* 0: free */
	uint64_t calls;
	uint64_t unmin; /* ~min, so that 0 is none */
	uint32_t counts[PROBE_BUCKETS];
};

enum {
	CELLS = 1024, /* a power of two; 0.7 MB, of which those in use are touched */
	KEY_USED = 1 << 20,
	COARSE = 16,
};

static struct {
	struct cell *cells;
	uint64_t borders[TYPE_LENGTHS - 1];
	uint64_t missed;
} table;

static uint8_t types[PROBE_METHODS];

void types_set(uint32_t id, unsigned type)
{
	if (id < PROBE_METHODS)
		STORE(types[id], (uint8_t)(type % (2 * TYPE_SETTLED)));
}

static unsigned raw_type(uint32_t id)
{
	return id < PROBE_METHODS ? LOAD(types[id]) : TYPE_UNKNOWN;
}

unsigned types_of(uint32_t id)
{
	return raw_type(id) % TYPE_SETTLED;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* What a sequence is, as one number: all but its length. */
static uint32_t pack(const struct sequence *s)
{
	return KEY_USED | s->types[0] << 15 | (uint32_t)s->transitions[0] << 13 | s->types[1] << 9 |
	       (uint32_t)s->transitions[1] << 7 | s->types[2] << 3 | (uint32_t)s->settled << 2;
}

static struct sequence unpack(uint32_t key)
{
	return (struct sequence){ .types = { key >> 15 & 15, key >> 9 & 15, key >> 3 & 15 },
				  .transitions = { key >> 13 & 3, key >> 7 & 3 },
				  .settled = key >> 2 & 1,
				  .length = key & 3 };
}

static unsigned length_of(uint64_t ticks)
{
	unsigned i = 0;

	while (i < TYPE_LENGTHS - 1 && ticks >= table.borders[i])
		i++;
	return i;
}

static struct cell *cell_of(uint32_t key)
{
	uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40);

	for (uint32_t i = 0; i < CELLS; i++) {
		struct cell *c = &table.cells[(at + i) % CELLS];
		uint32_t has = TAKE(c->key);

		if (has == 0 && __atomic_compare_exchange_n(&c->key, &has, key, false,
							    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return c;
		if (has == key)
			return c;
	}
	return NULL;
}

static void count(uint32_t key, uint64_t ticks)
{
	struct cell *c = cell_of(key | length_of(ticks));
	uint64_t least;

	if (!c) {
		SHARED_ADD(table.missed, 1);
		return;
	}
	least = LOAD(c->unmin);
	while (~ticks > least && !__atomic_compare_exchange_n(&c->unmin, &least, ~ticks, true,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	SHARED_ADD(c->counts[histogram_bucket(ticks)], 1);
	SHARED_ADD(c->calls, 1);
}

/* ---- events -------------------------------------------------------------------------------- */

static unsigned type_of_frame(const struct probe_frame *f)
{
	return frame_is_nobodys(f) ? TYPE_UNKNOWN : types_of(frame_id(f));
}

static void put_down(struct types_last *last)
{
	int64_t ticks = (int64_t)(last->tick - last->begin);

	/* Of a coarse counter tokens run ahead by some ticks; more than that is another core's. */
	if (last->key && ticks > -COARSE)
		count(last->key, ticks > 0 ? (uint64_t)ticks : 1);
	last->key = 0;
}

void types_event(struct probe_thread *t, const struct types_event *e)
{
	struct types_last *last = &t->last;
	uint32_t turn = LOAD(probe.types_turn);
	unsigned middle = type_of_frame(e->from);
	bool settled = (raw_type(e->id) & TYPE_SETTLED) != 0;
	bool follows = last->turn == turn && last->frame == e->from &&
		       last->token == LOAD(e->from->token);
	struct sequence s = { .types = { last->type, middle, type_of_frame(e->to) },
			      .transitions = { last->transition, e->transition },
			      .settled = settled };

	if (!TAKE(probe.types)) {
		last->turn = 0;
		return;
	}
	if (last->turn == turn)
		put_down(last);
	*last = (struct types_last){ .turn = turn,
				     .frame = e->to,
				     .token = e->transition == TRANSITION_ENTER
						      ? e->token
						      : LOAD(e->to->token),
				     .tick = e->tick,
				     .begin = last->tick,
				     .key = follows && last->settled == settled ? pack(&s) : 0,
				     .type = (uint8_t)middle,
				     .transition = e->transition,
				     .settled = settled };
}

void types_moved(struct probe_thread *t, const struct probe_frame *f, uint64_t token)
{
	if (t->last.frame != f)
		return;
	t->last.token = token;
	t->last.tick = token >> 1;
}

/* ---- for the agent ------------------------------------------------------------------------- */

int types_watch(bool on, const uint64_t borders[TYPE_LENGTHS - 1])
{
	if (on && !table.cells)
		table.cells = pages_map(CELLS * sizeof(*table.cells));
	if (on && !table.cells)
		return E_NO_MEMORY;
	for (int i = 0; on && i < TYPE_LENGTHS - 1; i++)
		table.borders[i] = borders[i];
	STORE(probe.types_turn, probe.types_turn + 1 ? probe.types_turn + 1 : 1);
	PUBLISH(probe.types, on);
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
	return 0;
}

/* Cells keep their sequences: somebody may be adding. */
void types_forget(void)
{
	for (size_t i = 0; table.cells && i < CELLS; i++) {
		struct cell *c = &table.cells[i];

		if (!LOAD(c->key))
			continue;
		STORE(c->calls, 0);
		STORE(c->unmin, 0);
		for (unsigned k = 0; k < PROBE_BUCKETS; k++)
			STORE(c->counts[k], 0);
	}
	STORE(table.missed, 0);
}

uint64_t types_missed(void)
{
	return LOAD(table.missed);
}

void types_read(types_visit *visit, void *ctx)
{
	for (unsigned i = 0; table.cells && i < CELLS; i++) {
		const struct cell *c = &table.cells[i];
		struct types_sequence s = { .s = unpack(TAKE(c->key)),
					    .calls = LOAD(c->calls),
					    .min = ~LOAD(c->unmin) };
		uint32_t counts[PROBE_BUCKETS];

		if (!s.calls)
			continue;
		s.s.calls = (double)s.calls;
		for (unsigned k = 0; k < PROBE_BUCKETS; k++)
			counts[k] = LOAD(c->counts[k]);
		s.low = histogram_quantile(counts, 0.05, s.min, UINT64_MAX);
		visit(ctx, &s);
	}
}
