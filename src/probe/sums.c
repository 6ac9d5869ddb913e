/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c - what the agent asks for: how methods are observed, and their figures.
 *
 * The figures of a method lie in the nodes and heads of all threads, in the method's own shared
 * words and, of calls that are only counted, in lanes; a reading adds them up.  After a reset those
 * of an older epoch count no more.  Their thread zeroes them when it next comes there, which keeps
 * all words written by one thread alone; until then readers pass over them, except for the calls
 * that run: begun - timed - lost goes on. */
#include "probe/nodes.h"

#include "base/err.h"
#include "base/tick.h"
#include "probe/histogram.h"
#include "probe/lane.h"

#include <time.h>

void probe_method_set(uint32_t id, const struct probe_how *how)
{
	struct probe_method *m;
	uint32_t one_in = how->one_in > ONE_IN_MAX ? ONE_IN_MAX : how->one_in;

	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &probe.methods[id];
	if (how->data)
		one_in |= ONE_IN_DATA;
	if (how->meter && one_in & ONE_IN_N)
		one_in |= ONE_IN_METER;
	if (how->settle && one_in & ONE_IN_N)
		one_in |= ONE_IN_SETTLE;
	if (id >= probe.methods_n)
		probe.methods_n = id + 1;
	STORE(m->at_least, how->at_least);
	if (one_in)
		STORE(probe_words.lanes, 0);
	if (LOAD(m->one_in) == one_in)
		return;
	STORE(m->one_in, one_in);
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
}

bool probe_method_settles(uint32_t id)
{
	return id < PROBE_METHODS && probe.ready && LOAD(probe.methods[id].one_in) & ONE_IN_SETTLE;
}

/* ---- while pruning waits ------------------------------------------------------------------ */

enum {
	A_MOMENT = 512, /* looks: as long as a step of pruning takes mostly */
	POLITE = 20,
	A_SECOND = 20000, /* sleeps, at least */
};

static const struct timespec a_while = { .tv_nsec = 50000 };

static bool somebody_prunes(void)
{
	return __atomic_load_n(&probe.pruning, __ATOMIC_SEQ_CST) != 0;
}

/* True: no thread begins to prune from now on, and none is at it. */
static bool begin_between(void)
{
	for (int i = 0; i < A_MOMENT && somebody_prunes(); i++)
		(void)tick_now(); /* takes its time */
	__atomic_fetch_add(&probe.reading, 1, __ATOMIC_SEQ_CST);
	if (!somebody_prunes())
		return true;
	__atomic_fetch_sub(&probe.reading, 1, __ATOMIC_SEQ_CST);
	return false;
}

/* A thread that cannot prune meanwhile may lose contexts, so it comes first.  But where many threads
 * do, there is always one, so at last they have to wait.  Who has waited for a whole second reads
 * what there is. */
void sums_begin(void)
{
	for (int i = 0; i < POLITE; i++) {
		if (begin_between())
			return;
		nanosleep(&a_while, NULL);
	}
	__atomic_fetch_add(&probe.reading, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < A_SECOND && somebody_prunes(); i++)
		nanosleep(&a_while, NULL);
}

void sums_end(void)
{
	__atomic_fetch_sub(&probe.reading, 1, __ATOMIC_SEQ_CST);
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

void sums_of_node(struct probe_figures *f, const struct probe_node *node, uint32_t epoch)
{
	bool counts = TAKE(node->epoch) == epoch;
	struct probe_figures one = { .timed = TAKE(node->timed) }; /* first: not more than begun */

	if (node_is_hidden(node))
		return;
	one.begun = LOAD(node->begun);
	if (!counts) {
		f->begun += one.begun - one.timed;
		return;
	}
	one.calls = one.begun + LOAD(node->counted);
	one.errors = LOAD(node->errors);
	one.sum = LOAD(node->sum);
	one.weighted = one.sum + LOAD(node->weighted);
	one.weight = one.timed + LOAD(node->weight);
	one.below = LOAD(node->below);
	one.min = LOAD(node->min);
	one.max = LOAD(node->max);
	probe_figures_add(f, &one);
}

void sums_of_head(struct probe_figures *f, const struct probe_head *head, uint32_t epoch)
{
	if (TAKE(head->epoch) != epoch) {
		f->begun -= LOAD(head->lost);
		return;
	}
	f->lost += LOAD(head->lost);
	f->bytes += LOAD(head->bytes);
}

void sums_of_method(struct probe_figures *f, const struct probe_method *m)
{
	struct probe_figures one = { .timed = TAKE(m->timed) };

	one.calls = LOAD(m->calls);
	one.errors = LOAD(m->errors);
	one.begun = LOAD(m->begun);
	one.lost = LOAD(m->lost);
	one.sum = LOAD(m->sum);
	one.weighted = LOAD(m->weighted);
	one.weight = LOAD(m->weight);
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

/* What to add counts to: one or the other may be NULL. */
struct counts {
	uint64_t *each;	 /* PROBE_BUCKETS */
	double *total;	 /* of all counts */
	double *squares; /* of the times, about */
};

static void count(const struct counts *c, unsigned bucket, uint32_t n)
{
	if (n == 0)
		return;
	if (c->each)
		c->each[bucket] += n;
	*c->total += n;
	*c->squares += histogram_squares(bucket, n);
}

static void counts_of_head(const struct counts *c, const struct probe_head *head, uint32_t epoch)
{
	const struct probe_window *w = TAKE(head->window);
	uint32_t low = LOAD(w->low), n = LOAD(w->n);

	if (TAKE(head->epoch) != epoch)
		return;
	for (uint32_t i = 0; i < n; i++)
		count(c, low + i, LOAD(w->counts[i]));
}

static void counts_of_method(const struct counts *c, const struct probe_method *m)
{
	uint32_t line = TAKE(m->segments);
	const uint32_t *segments = line ? line_at(line) : NULL;

	for (unsigned i = 0; segments && i < PROBE_BUCKETS; i++) {
		uint32_t segment = TAKE(segments[i / SEGMENT]);
		const uint32_t *counts = segment ? line_at(segment) : NULL;

		if (counts)
			count(c, i, LOAD(counts[i % SEGMENT]));
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

/* From the times in the histogram to all that were timed, of which it may lack some. */
static void settle_squares(struct probe_figures *f, double total)
{
	double timed = (double)f->timed, sum = (double)f->sum;

	if (total > 0)
		f->squares *= timed / total;
	if (timed > 0 && f->squares < sum * sum / timed)
		f->squares = sum * sum / timed; /* as if all were alike: it cannot be less */
}

/* ---- one method -------------------------------------------------------------------------- */

void probe_method_read(uint32_t id, struct probe_figures *out, uint32_t *histogram)
{
	uint64_t each[PROBE_BUCKETS] = { 0 };
	const struct probe_method *m;
	struct probe_thread *t;
	uint32_t i = 0, epoch;
	double total = 0;
	struct counts c = { each, &total, &out->squares };

	*out = (struct probe_figures){ .min = UINT64_MAX };
	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &probe.methods[id];
	sums_begin();
	epoch = LOAD(m->epoch);
	sums_of_method(out, m);
	out->calls += lane_calls(id);
	counts_of_method(&c, m);
	while ((t = thread_next(&i)) != NULL) {
		const struct probe_head *head = nodes_head(t, id, false);
		const struct probe_node *node;

		if (!head)
			continue;
		sums_of_head(out, head, epoch);
		for (uint32_t line = TAKE(head->nodes); line; line = LOAD(node->same_next)) {
			node = node_at(line);
			sums_of_node(out, node, epoch);
		}
		counts_of_head(&c, head, epoch);
	}
	sums_end();
	settle(out);
	settle_squares(out, total);
	if (histogram)
		add_counts(histogram, each);
}

uint64_t probe_method_outside(uint32_t id)
{
	struct probe_thread *t;
	uint64_t sum = 0;
	uint32_t i = 0;

	if (id >= PROBE_METHODS || !probe.ready)
		return 0;
	sums_begin();
	while ((t = thread_next(&i)) != NULL) {
		const struct probe_head *head = nodes_head(t, id, false);
		const struct probe_node *node;

		sum += head ? LOAD(head->outside) : 0;
		for (uint32_t line = head ? TAKE(head->nodes) : 0; line;
		     line = LOAD(node->same_next)) {
			node = node_at(line);
			if (node_is_hidden(node))
				sum += LOAD(node->counted);
		}
	}
	sums_end();
	return sum;
}

static void reset_segments(const struct probe_method *m)
{
	uint32_t line = TAKE(m->segments);

	for (size_t i = 0; line && i < SEGMENTS; i++) {
		uint32_t segment = TAKE(((uint32_t *)line_at(line))[i]);

		for (size_t k = 0; segment && k < SEGMENT; k++)
			STORE(((uint32_t *)line_at(segment))[k], 0);
	}
}

void probe_method_reset(uint32_t id)
{
	struct probe_method *m;
	uint64_t ended;

	if (id >= PROBE_METHODS || !probe.ready)
		return;
	m = &probe.methods[id];
	sums_begin(); /* or figures from before come to the method afterwards */
	SHARED_ADD(m->epoch, 1);
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
	STORE(m->calls, 0);
	STORE(m->errors, 0);
	STORE(m->sum, 0);
	STORE(m->weighted, 0);
	STORE(m->weight, 0);
	STORE(m->below, 0);
	STORE(m->bytes, 0);
	STORE(m->unmin, 0);
	STORE(m->max, 0);
	STORE(m->stalls, 0);
	ended = __atomic_exchange_n(&m->timed, 0, __ATOMIC_RELAXED);
	ended += __atomic_exchange_n(&m->lost, 0, __ATOMIC_RELAXED);
	SHARED_SUB(m->begun, ended);
	reset_segments(m);
	lane_reset(id);
	meter_reset(id);
	if (id == 0)
		pulse_reset();
	sums_end();
}

void probe_method_move(uint32_t id, uint32_t to)
{
	uint32_t histogram[PROBE_BUCKETS] = { 0 };
	struct probe_figures f;
	struct probe_method *m;

	if (id >= PROBE_METHODS || to >= PROBE_METHODS || !probe.ready)
		return;
	m = &probe.methods[to];
	probe_method_read(id, &f, histogram);
	f.lost = f.begun - f.timed;
	shared_add(to, &f);
	SHARED_ADD(m->stalls, f.stalls);
	for (unsigned i = 0; i < PROBE_BUCKETS; i++)
		if (histogram[i])
			shared_bucket(m, i, histogram[i]);
	meter_move(id, to);
	if (to >= probe.methods_n)
		probe.methods_n = to + 1;
	probe_method_reset(id);
}

/* ---- all methods ------------------------------------------------------------------------- */

struct sum {
	struct probe_figures f;
	double total; /* of counts in histograms */
};

static void sum_thread(struct sum *sums, uint32_t n, struct probe_thread *t)
{
	uint32_t nodes = TAKE(t->nodes_n), page = 0;
	const struct probe_head *head;

	for (uint32_t i = 0; i < HEADS; i++) {
		for (uint32_t line = TAKE(t->head[i]); line; line = LOAD(head->next)) {
			struct sum *s;
			uint32_t epoch;

			head = line_at(line);
			if (head->id >= n)
				continue;
			s = &sums[head->id];
			epoch = LOAD(probe.methods[head->id].epoch);
			sums_of_head(&s->f, head, epoch);
			counts_of_head(&(struct counts){ NULL, &s->total, &s->f.squares }, head,
				       epoch);
		}
	}
	for (uint32_t i = 0; i < nodes; i++) {
		const struct probe_node *node = nodes_at(t, i, &page);
		uint32_t kid = node_kid(node), id = kid & KID_ID;

		if (id < n && !(kid & (KID_FREE | KID_PRUNED)))
			sums_of_node(&sums[id].f, node, LOAD(probe.methods[id].epoch));
	}
}

int probe_methods(probe_visit *visit, void *ctx)
{
	uint32_t n = probe.methods_n, i = 0;
	size_t bytes = n * sizeof(struct sum);
	struct probe_thread *t;
	struct sum *sums;

	if (n == 0)
		return 0;
	sums = pages_map(bytes);
	if (!sums)
		return E_NO_MEMORY;
	sums_begin();
	for (uint32_t id = 0; id < n; id++) {
		struct sum *s = &sums[id];

		s->f.min = UINT64_MAX;
		sums_of_method(&s->f, &probe.methods[id]);
		s->f.calls += lane_calls(id);
		counts_of_method(&(struct counts){ NULL, &s->total, &s->f.squares },
				 &probe.methods[id]);
	}
	while ((t = thread_next(&i)) != NULL)
		sum_thread(sums, n, t);
	sums_end();
	for (uint32_t id = 0; id < n; id++) {
		struct probe_figures *f = &sums[id].f;

		settle(f);
		settle_squares(f, sums[id].total);
		if (f->calls || f->begun || f->errors)
			visit(ctx, id, 0, f);
	}
	pages_unmap(sums, bytes);
	return 0;
}
