/* SPDX-License-Identifier: Apache-2.0 */
/* states.c - what metered calls did with their time.
 *
 * The agent tells what it has measured: how long calls took, on a processor, blocked by monitors
 * and ready to run.  They waited for the rest.  All are sums of clocks that are not the same one,
 * so the rest may come out a little below nothing: then it is nothing. */
#include "cli/report/states.h"

#include <string.h>

#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/table.h"

static struct states with_rest(struct states s)
{
	uint64_t other = s.run + s.blocked + s.descheduled;

	s.known = s.metered > 0;
	s.waiting = s.elapsed > other ? s.elapsed - other : 0;
	return s;
}

/* Of a wire_method or wire_node, which have the same fields; self_ before them: less metered calls
 * below. */
#define STATES_OF(m, self)                                             \
	with_rest((struct states){ .metered = (m)->metered,            \
				   .unknown = (m)->unknown,            \
				   .elapsed = (m)->self##metered_ns,   \
				   .run = (m)->self##cpu_ns,           \
				   .blocked = (m)->self##blocked_ns,   \
				   .descheduled = (m)->self##delay_ns, \
				   .allocated = (m)->self##allocated })

struct states states_of_method(const struct wire_method *m)
{
	struct states s = STATES_OF(m, );
	const uint64_t counts[STATES_COUNTS] = { m->instructions, m->cache_misses, m->branches,
						 m->branch_misses };

	memcpy(s.counts, counts, sizeof(counts));
	return s;
}

struct states states_of_method_self(const struct wire_method *m)
{
	return STATES_OF(m, self_);
}

struct states states_of_node(const struct wire_node *m)
{
	return STATES_OF(m, );
}

struct states states_of_node_self(const struct wire_node *m)
{
	return STATES_OF(m, self_);
}

static uint64_t part_of(uint64_t ns, double share)
{
	return (uint64_t)((double)ns * share);
}

struct states states_without_hooks(struct states s, double before, double now)
{
	double share = before > 0 ? now / before : 1, away;
	uint64_t less;

	if (!s.known || !(share < 1))
		return s;
	less = part_of(s.elapsed, 1 - share);
	if (less <= s.run) {
		s.run -= less;
		s.elapsed -= less;
		return s;
	}
	away = (double)(s.elapsed - s.run); /* what is left is of all the rest alike */
	share = away > 0 ? 1 - (double)(less - s.run) / away : 0;
	share = share > 0 ? share : 0;
	s.run = 0;
	s.blocked = part_of(s.blocked, share);
	s.waiting = part_of(s.waiting, share);
	s.descheduled = part_of(s.descheduled, share);
	s.elapsed = s.blocked + s.waiting + s.descheduled;
	return s;
}

static void cell(struct table *t, uint64_t ns, bool known)
{
	char text[FIGURE_MAX];

	table_cell(t, known ? figure_time(text, (double)ns) : "");
}

void states_cells(struct table *t, const struct states *s)
{
	cell(t, s->run, s->known);
	cell(t, s->blocked, s->known && !(s->unknown & METER_NO_BLOCKED));
	cell(t, s->waiting, s->known);
	cell(t, s->descheduled, s->known && !(s->unknown & METER_NO_DELAY));
}

void states_count_cells(struct table *t, const struct states *s, bool exact)
{
	char text[FIGURE_MAX];

	for (unsigned i = 0; i < STATES_COUNTS; i++) {
		bool known = s->known && !(s->unknown & (unsigned)METER_NO_COUNTER << i);

		if (known && exact)
			table_cell(t, cli_number(text, s->counts[i]));
		else
			table_cell(t, known ? figure_count(text, s->counts[i]) : "");
	}
}

static void put(struct json *j, const char *key, uint64_t value, bool known)
{
	json_key(j, key);
	if (known)
		json_u64(j, value);
	else
		json_null(j);
}

void states_json(struct json *j, const struct states *all, const struct states *own)
{
	bool blocked = !(all->unknown & METER_NO_BLOCKED), delay = !(all->unknown & METER_NO_DELAY);
	bool bytes = !(all->unknown & METER_NO_BYTES);

	if (!all->known)
		return;
	json_put_u64(j, "metered", all->metered);
	json_put_u64(j, "metered_ns", all->elapsed);
	json_put_u64(j, "cpu_ns", all->run);
	put(j, "blocked_ns", all->blocked, blocked);
	json_put_u64(j, "waiting_ns", all->waiting);
	put(j, "descheduled_ns", all->descheduled, delay);
	put(j, "allocated_bytes", all->allocated, bytes);
	json_put_u64(j, "self_metered_ns", own->elapsed);
	json_put_u64(j, "self_cpu_ns", own->run);
	put(j, "self_blocked_ns", own->blocked, blocked);
	json_put_u64(j, "self_waiting_ns", own->waiting);
	put(j, "self_descheduled_ns", own->descheduled, delay);
	put(j, "self_allocated_bytes", own->allocated, bytes);
}

void states_counts_json(struct json *j, const struct states *s)
{
	static const char *const names[STATES_COUNTS] = { "instructions", "cache_misses",
							  "branches", "branch_misses" };

	for (unsigned i = 0; i < STATES_COUNTS && s->known; i++)
		put(j, names[i], s->counts[i], !(s->unknown & (unsigned)METER_NO_COUNTER << i));
}
