/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - the figures of a method that belong to no node: of threads that have no tree, of calls
 * whose context could not be kept, of exits that were not on the stack.  Every thread adds to
 * them, atomically; they are as exact as the others, and only slower. */
#include "probe/histogram.h"
#include "probe/pages.h"

#include <string.h>

static void shared_max(uint64_t *word, uint64_t value)
{
	uint64_t old = LOAD(*word);

	while (value > old && !__atomic_compare_exchange_n(word, &old, value, true,
							   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* A line of zeros under *line, of which the first thread that needs it puts one. */
static void *line_under(uint32_t *line)
{
	uint32_t at = TAKE(*line);
	void *cell;

	if (at)
		return line_at(at);
	cell = pages_cell();
	if (!cell)
		return NULL;
	memset(cell, 0, LINE);
	if (__atomic_compare_exchange_n(line, &at, line_of(cell), false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return cell;
	pages_cell_give(cell);
	return line_at(at);
}

void shared_bucket(struct probe_method *m, unsigned bucket, uint32_t count)
{
	uint32_t *segments = line_under(&m->segments);
	uint32_t *counts = segments ? line_under(&segments[bucket / SEGMENT]) : NULL;

	if (counts && LOAD(counts[bucket % SEGMENT]) < UINT32_MAX - count)
		SHARED_ADD(counts[bucket % SEGMENT], count);
}

bool shared_begin(uint32_t id, uint32_t one_in, uint64_t *random)
{
	struct probe_method *m = &probe.methods[id];

	one_in &= ONE_IN_N;
	SHARED_ADD(m->calls, 1);
	if (one_in == 0 || (one_in > 1 && random_below(random, one_in) != 0))
		return false;
	SHARED_ADD(m->begun, 1);
	return true;
}

void shared_end(uint32_t id, const struct shared_end *end)
{
	struct probe_method *m = &probe.methods[id];

	SHARED_ADD(m->sum, end->ticks);
	SHARED_ADD(m->weighted, end->ticks * end->weight);
	SHARED_ADD(m->weight, end->weight);
	SHARED_ADD(m->below, end->below * end->weight);
	shared_max(&m->unmin, ~end->ticks);
	shared_max(&m->max, end->ticks);
	shared_bucket(m, histogram_bucket(end->ticks), 1);
	SHARED_ADD(m->timed, 1);
}

void shared_add(uint32_t id, const struct probe_figures *f)
{
	struct probe_method *m = &probe.methods[id];

	SHARED_ADD(m->calls, f->calls);
	SHARED_ADD(m->errors, f->errors);
	SHARED_ADD(m->timed, f->timed);
	SHARED_ADD(m->begun, f->begun);
	SHARED_ADD(m->lost, f->lost);
	SHARED_ADD(m->sum, f->sum);
	SHARED_ADD(m->weighted, f->weighted);
	SHARED_ADD(m->weight, f->weight);
	SHARED_ADD(m->below, f->below);
	SHARED_ADD(m->bytes, f->bytes);
	shared_max(&m->unmin, ~f->min);
	shared_max(&m->max, f->max);
}
