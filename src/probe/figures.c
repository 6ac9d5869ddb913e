/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - what the agent asks for: how methods are observed, and their figures.
 *
 * The figures of a method lie in the nodes and heads of all threads and in the method's own shared
 * words; a reading adds them up.  After a reset those of an older epoch count no more.  Their thread
 * zeroes them when it next comes there, which keeps all words written by one thread alone; until
 * then readers pass over them, except for the calls that run: begun - timed - lost goes on. */
#include "probe/pages.h"

#include "base/err.h"

#include <string.h>

void probe_method_set(uint32_t id, const struct probe_how *how)
{
	struct probe_method *m;
	uint32_t one_in = how->one_in > ONE_IN_MAX ? ONE_IN_MAX : how->one_in;

	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &probe.methods[id];
	if (how->data)
		one_in |= ONE_IN_DATA;
	if (id >= probe.methods_n)
		probe.methods_n = id + 1;
	STORE(m->at_least, how->at_least);
	if (LOAD(m->one_in) == one_in)
		return;
	STORE(m->one_in, one_in);
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
}

/* ---- adding up --------------------------------------------------------------------------- */

void probe_figures_add(struct probe_figures *sum, const struct probe_figures *f)
{
	sum->calls += f->calls;
	sum->errors += f->errors;
	sum->timed += f->timed;
	sum->begun += f->begun;
	sum->lost += f->lost;
	sum->sum += f->sum;
	sum->weighted += f->weighted;
	sum->weight += f->weight;
	sum->squares += f->squares;
	sum->below += f->below;
	sum->min = f->min < sum->min ? f->min : sum->min;
	sum->max = f->max > sum->max ? f->max : sum->max;
	sum->bytes += f->bytes;
	sum->stalls += f->stalls;
}

void figures_of_node(struct probe_figures *f, const struct probe_node *node, uint32_t epoch)
{
	bool counts = TAKE(node->epoch) == epoch;
	uint64_t timed = TAKE(node->timed); /* before begun, so that it is not more */
	struct probe_figures one = { 0 };

	if (!counts) {
		f->begun += LOAD(node->begun) - timed;
		return;
	}
	one.calls = LOAD(node->calls);
	one.errors = LOAD(node->errors);
	one.timed = timed;
	one.begun = LOAD(node->begun);
	one.sum = LOAD(node->sum);
	one.weighted = LOAD(node->weighted);
	one.weight = LOAD(node->weight);
	one.below = LOAD(node->below);
	one.min = LOAD(node->min);
	one.max = LOAD(node->max);
	probe_figures_add(f, &one);
}

void figures_of_head(struct probe_figures *f, const struct probe_head *head, uint32_t epoch)
{
	bool counts = TAKE(head->epoch) == epoch;
	double squares;

	if (!counts) {
		f->begun -= LOAD(head->lost);
		return;
	}
	__atomic_load(&head->squares, &squares, __ATOMIC_RELAXED);
	f->squares += squares;
	f->lost += LOAD(head->lost);
	f->bytes += LOAD(head->bytes);
}

void figures_of_method(struct probe_figures *f, const struct probe_method *m)
{
	struct probe_figures one = { 0 };
	uint64_t bits = LOAD(m->squares);

	one.timed = TAKE(m->timed);
	one.calls = LOAD(m->calls);
	one.errors = LOAD(m->errors);
	one.begun = LOAD(m->begun);
	one.lost = LOAD(m->lost);
	one.sum = LOAD(m->sum);
	one.weighted = LOAD(m->weighted);
	one.weight = LOAD(m->weight);
	memcpy(&one.squares, &bits, sizeof(bits));
	one.below = LOAD(m->below);
	one.min = ~LOAD(m->unmin);
	one.max = LOAD(m->max);
	one.bytes = LOAD(m->bytes);
	one.stalls = LOAD(m->stalls);
	probe_figures_add(f, &one);
}

/* Words of several threads are read one after the other: fewer calls than none cannot run. */
static void settle(struct probe_figures *f)
{
	if ((int64_t)(f->begun - f->timed - f->lost) < 0)
		f->begun = f->timed + f->lost;
}

/* ---- histograms -------------------------------------------------------------------------- */

static void counts_of_head(uint64_t *sum, const struct probe_head *head, uint32_t epoch)
{
	if (TAKE(head->epoch) != epoch)
		return;
	for (size_t i = 0; i < PROBE_BUCKETS; i++) {
		const uint32_t *counts = TAKE(head->counts[i / SEGMENT]);

		if (counts)
			sum[i] += LOAD(counts[i % SEGMENT]);
	}
}

static void counts_of_method(uint64_t *sum, const struct probe_method *m)
{
	uint32_t line = TAKE(m->counts);
	const uint32_t *segments = line ? line_at(line) : NULL;

	for (size_t i = 0; segments && i < PROBE_BUCKETS; i++) {
		uint32_t segment = TAKE(segments[i / SEGMENT]);
		const uint32_t *counts = segment ? line_at(segment) : NULL;

		if (counts)
			sum[i] += LOAD(counts[i % SEGMENT]);
	}
}

/* What does not fit into 32 bits is scaled down, all of it alike. */
static void add_counts(uint32_t *histogram, const uint64_t *sum)
{
	uint64_t most = 0;
	unsigned shift = 0;

	for (size_t i = 0; i < PROBE_BUCKETS; i++)
		most = sum[i] + histogram[i] > most ? sum[i] + histogram[i] : most;
	while (most >> shift > UINT32_MAX)
		shift++;
	for (size_t i = 0; i < PROBE_BUCKETS; i++)
		histogram[i] = (uint32_t)((sum[i] + histogram[i]) >> shift);
}

/* ---- one method -------------------------------------------------------------------------- */

void probe_method_read(uint32_t id, struct probe_figures *out, uint32_t *histogram)
{
	uint64_t counts[PROBE_BUCKETS] = { 0 };
	const struct probe_method *m;
	struct probe_thread *t;
	uint32_t i = 0, epoch;

	*out = (struct probe_figures){ .min = UINT64_MAX };
	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &probe.methods[id];
	epoch = LOAD(m->epoch);
	figures_of_method(out, m);
	if (histogram)
		counts_of_method(counts, m);
	while ((t = threads_next(&i)) != NULL) {
		const struct probe_head *head = nodes_head(t, id, false);
		const struct probe_node *node;

		if (!head)
			continue;
		figures_of_head(out, head, epoch);
		for (uint32_t line = TAKE(head->nodes); line; line = LOAD(node->same_next)) {
			node = node_at(line);
			figures_of_node(out, node, epoch);
		}
		if (histogram)
			counts_of_head(counts, head, epoch);
	}
	settle(out);
	if (histogram)
		add_counts(histogram, counts);
}

void probe_method_reset(uint32_t id)
{
	struct probe_method *m;
	uint64_t *words[] = { NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL };
	uint64_t ended;
	uint32_t line;

	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &probe.methods[id];
	words[0] = &m->calls;
	words[1] = &m->errors;
	words[2] = &m->sum;
	words[3] = &m->weighted;
	words[4] = &m->weight;
	words[5] = &m->below;
	words[6] = &m->bytes;
	words[7] = &m->squares;
	words[8] = &m->unmin;
	words[9] = &m->max;
	SHARED_ADD(m->epoch, 1);
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		STORE(*words[i], 0);
	STORE(m->stalls, 0);
	ended = __atomic_exchange_n(&m->timed, 0, __ATOMIC_RELAXED);
	ended += __atomic_exchange_n(&m->lost, 0, __ATOMIC_RELAXED);
	SHARED_SUB(m->begun, ended);
	line = TAKE(m->counts);
	for (size_t i = 0; line && i < SEGMENTS; i++) {
		uint32_t segment = TAKE(((uint32_t *)line_at(line))[i]);

		for (size_t k = 0; segment && k < SEGMENT; k++)
			STORE(((uint32_t *)line_at(segment))[k], 0);
	}
}

/* ---- all methods ------------------------------------------------------------------------- */

int probe_methods(probe_visit *visit, void *ctx)
{
	uint32_t n = probe.methods_n, i = 0;
	size_t bytes = n * sizeof(struct probe_figures);
	struct probe_figures *sums;
	struct probe_thread *t;

	if (n == 0)
		return 0;
	sums = pages_map(bytes);
	if (!sums)
		return E_NO_MEMORY;
	for (uint32_t id = 0; id < n; id++) {
		sums[id].min = UINT64_MAX;
		figures_of_method(&sums[id], &probe.methods[id]);
	}
	while ((t = threads_next(&i)) != NULL) {
		uint32_t nodes = TAKE(t->nodes_n), page = 0;

		for (uint32_t k = 0; k < HEADS; k++) {
			const struct probe_head *head;

			for (uint32_t line = TAKE(t->head[k]); line; line = LOAD(head->next)) {
				head = line_at(line);
				if (head->id < n)
					figures_of_head(&sums[head->id], head,
							LOAD(probe.methods[head->id].epoch));
			}
		}
		for (uint32_t k = 0; k < nodes; k++) {
			const struct probe_node *node = nodes_at(t, k, &page);
			uint32_t id = (uint32_t)LOAD(node->key);

			if (id < n)
				figures_of_node(&sums[id], node, LOAD(probe.methods[id].epoch));
		}
	}
	for (uint32_t id = 0; id < n; id++) {
		settle(&sums[id]);
		if (sums[id].calls || sums[id].begun)
			visit(ctx, id, 0, &sums[id]);
	}
	pages_unmap(sums, bytes);
	return 0;
}
