/* SPDX-License-Identifier: Apache-2.0 */
/* spread.c - counts by length of calls. */
#include "manager/figures/spread.h"

#include "manager/figures/varint.h"

enum { PAIR = 12 };

/* Below 8 ns a cell is a nanosecond wide. */
uint64_t spread_low(unsigned cell)
{
	return cell < 8 ? cell : (uint64_t)(8 + cell % 8) << (cell / 8 - 1);
}

static unsigned cell_of(uint64_t ns)
{
	unsigned top = ns < 8 ? 0 : 63 - (unsigned)__builtin_clzll(ns), cell;

	if (ns < 8)
		return (unsigned)ns;
	cell = (top - 2) * 8 + (unsigned)(ns >> (top - 3) & 7);
	return cell < SPREAD_CELLS ? cell : SPREAD_CELLS - 1;
}

static uint64_t low_at(struct slice raw, size_t i)
{
	return (uint64_t)get_u32(raw.p + i * PAIR) << 32 | get_u32(raw.p + i * PAIR + 4);
}

static uint32_t count_at(struct slice raw, size_t i)
{
	return get_u32(raw.p + i * PAIR + 8);
}

/* `count` calls of low to high ns, evenly; what does not divide goes where the sum gets to it. */
static void lay(struct call_spread *s, uint64_t low, uint64_t high, uint64_t count)
{
	unsigned first = cell_of(low), last = cell_of(high > low ? high - 1 : low);
	uint64_t done = 0;

	for (unsigned c = first; c <= last; c++) {
		uint64_t end = c == last ? high : spread_low(c + 1);
		double share = high > low ? (double)(end - low) / (double)(high - low) : 1;
		uint64_t upto = c == last ? count : (uint64_t)(share * (double)count + 0.5);

		upto = upto < count ? upto : count;
		if (upto > done)
			s->counts[c] += upto - done;
		done = upto > done ? upto : done;
	}
	s->n += count;
}

/* A bucket ends where the next begins; one without a neighbour is a fifth wide, which they are on
 * average. */
static uint64_t high_at(struct slice raw, size_t i)
{
	uint64_t low = low_at(raw, i), usual = low + low / 5 + 1;
	uint64_t next = (i + 2) * PAIR <= raw.n ? low_at(raw, i + 1) : 0;

	return next > low && next < low + low / 3 + 2 ? next : usual;
}

void spread_add_raw(struct call_spread *s, struct slice before, struct slice now)
{
	size_t old = 0;

	for (size_t i = 0; (i + 1) * PAIR <= now.n; i++) {
		uint64_t low = low_at(now, i);
		uint32_t had = 0, has = count_at(now, i);

		while ((old + 1) * PAIR <= before.n && low_at(before, old) < low)
			old++;
		if ((old + 1) * PAIR <= before.n && low_at(before, old) == low)
			had = count_at(before, old);
		if (has > had)
			lay(s, low, high_at(now, i), has - had);
	}
}

void spread_put(const struct call_spread *s, struct buf *out)
{
	unsigned last = 0;

	for (unsigned c = 0; c < SPREAD_CELLS; c++) {
		if (!s->counts[c])
			continue;
		varint_put(out, c - last);
		varint_put(out, s->counts[c]);
		last = c;
	}
}

int spread_add(struct call_spread *s, struct slice packed)
{
	uint64_t step, count, cell = 0;

	while (packed.n) {
		if (!varint_take(&packed, &step) || !varint_take(&packed, &count) ||
		    step >= SPREAD_CELLS || (cell += step) >= SPREAD_CELLS)
			return E_DAMAGED;
		s->counts[cell] += count;
		s->n += count;
	}
	return 0;
}

uint64_t spread_quantile(const struct call_spread *s, double q)
{
	double want = q * (double)s->n, seen = 0;

	for (unsigned c = 0; c < SPREAD_CELLS && s->n; c++) {
		double in = (double)s->counts[c];

		if (in > 0 && seen + in >= want) {
			double low = (double)spread_low(c), high = (double)spread_low(c + 1);

			return (uint64_t)(low + (high - low) * (want - seen) / in);
		}
		seen += in;
	}
	return 0;
}

uint64_t spread_longest(const struct call_spread *s)
{
	for (unsigned c = SPREAD_CELLS; c-- > 0;)
		if (s->counts[c])
			return spread_low(c + 1);
	return 0;
}
