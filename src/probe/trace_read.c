/* SPDX-License-Identifier: Apache-2.0 */
/* trace_read.c - transactions, as the agent sees them: start, stop, take, read, give back. */
#include "probe/histogram.h"
#include "probe/trace_priv.h"

#include "base/err.h"

#include <string.h>

enum { ENOUGH = 20 }; /* transactions from which on it is known what is slow */

static int pool_init(struct trace_pool *p, uint32_t total, size_t size)
{
	p->size = ((size_t)total + 1) * size;
	p->base = pages_map(p->size);
	p->chain = pages_map(((size_t)total + 1) * sizeof(*p->chain));
	p->total = total;
	return p->base && p->chain ? 0 : E_NO_MEMORY;
}

static void pool_release(struct trace_pool *p)
{
	pages_unmap(p->base, p->size);
	pages_unmap(p->chain, ((size_t)p->total + 1) * sizeof(*p->chain));
	*p = (struct trace_pool){ 0 };
}

static int set_aside(size_t bytes)
{
	uint32_t chunks = (uint32_t)((bytes ? bytes : TRACE_BYTES) / sizeof(struct trace_chunk));
	int rc;

	if (trace_all.ready)
		return 0;
	trace_all.roots = pages_map(PROBE_METHODS);
	rc = trace_all.roots ? pool_init(&trace_all.txs, TXS, sizeof(struct tx)) : E_NO_MEMORY;
	if (rc >= 0)
		rc = pool_init(&trace_all.parts, PARTS, sizeof(struct tx_part));
	if (rc >= 0)
		rc = pool_init(&trace_all.chunks, chunks, sizeof(struct trace_chunk));
	if (rc < 0) {
		pool_release(&trace_all.txs);
		pool_release(&trace_all.parts);
		pool_release(&trace_all.chunks);
		pages_unmap(trace_all.roots, PROBE_METHODS);
		trace_all.roots = NULL;
		return rc;
	}
	PUBLISH(trace_all.ready, 1);
	return 0;
}

/* Every thread's next call of each method looks again at how it is observed. */
static void tell_threads(void)
{
	__atomic_fetch_add(&probe.generation, (uint64_t)1 << 32, __ATOMIC_RELEASE);
}

int probe_trace_start(const struct probe_tracing *how)
{
	int rc = probe.ready ? set_aside(how->bytes) : E_NO_MEMORY;

	if (rc < 0)
		return rc;
	STORE(trace_all.at_least, how->at_least);
	STORE(trace_all.one_in, how->one_in);
	STORE(trace_all.marked, how->marked);
	STORE(trace_all.slow, 0);
	STORE(trace_all.slowest, 0);
	STORE(trace_all.begun, 0);
	STORE(trace_all.ended, 0);
	STORE(trace_all.failed, 0);
	STORE(trace_all.n_kept, 0);
	STORE(trace_all.passed, 0);
	STORE(trace_all.parts_passed, 0);
	for (uint32_t i = 0; i < PROBE_BUCKETS; i++)
		STORE(trace_all.lengths[i], 0);
	SHARED_ADD(trace_all.session, 1);
	PUBLISH(probe.tracing, 1);
	tell_threads();
	return 0;
}

void probe_trace_stop(void)
{
	struct probe_trace t;

	if (!LOAD(probe.tracing))
		return;
	STORE(probe.tracing, 0);
	tell_threads();
	for (uint32_t id = 0; id < LOAD(probe.methods_n); id++)
		STORE(trace_all.roots[id], 0);
	while (probe_trace_take(&t))
		probe_trace_give(&t);
}

void probe_trace_root(uint32_t id, bool is_root)
{
	if (trace_all.ready && id < PROBE_METHODS)
		STORE(trace_all.roots[id], is_root);
}

/* From the length that 95 of 100 do not exceed. */
static void learn(void)
{
	uint32_t counts[PROBE_BUCKETS];
	uint64_t n = 0;

	for (uint32_t i = 0; i < PROBE_BUCKETS; i++) {
		counts[i] = LOAD(trace_all.lengths[i]);
		n += counts[i];
	}
	if (n >= ENOUGH)
		STORE(trace_all.slow, histogram_quantile(counts, 0.95, 1, UINT64_MAX));
}

/* Takes the count of parts to 0 in spite of those that have not ended. */
static void give_up(uint32_t number, uint64_t ended_before)
{
	struct tx *tx = tx_at(number);
	uint64_t word = TAKE(tx->word), ended = LOAD(tx->ended);

	if (!(uint32_t)word || !ended || ended >= ended_before)
		return;
	if (!__atomic_compare_exchange_n(&tx->word, &word, word >> 32 << 32, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	tx->flags |= TRACE_OPEN;
	for (uint32_t n = (uint32_t)TAKE(tx->parts); n; n = LOAD(part_at(n)->next)) {
		struct tx_part *p = part_at(n);
		uint64_t was = TAKE(p->word);

		if ((was & 0xff) == PART_QUEUED && part_change(p, was, PART_ENDED)) {
			p->flags |= TRACE_QUEUED;
			continue;
		}
		was = TAKE(p->word);
		if ((was & 0xff) == PART_RUNS)
			part_change(p, was, PART_LEFT);
	}
	trace_close(number);
}

void probe_trace_sweep(uint64_t ended_before)
{
	if (!trace_all.ready)
		return;
	learn();
	for (uint32_t n = 1; n <= LOAD(trace_all.txs.fresh); n++)
		give_up(n, ended_before);
}

bool probe_trace_take(struct probe_trace *out)
{
	uint64_t head = TAKE(trace_all.kept);
	const struct tx *tx;

	/* only the agent takes, so what is first stays so but for new ones */
	do {
		if (!(uint32_t)head)
			return false;
		tx = tx_at((uint32_t)head);
	} while (!__atomic_compare_exchange_n(&trace_all.kept, &head,
					      ((head >> 32) + 1) << 32 | LOAD(tx->next), true,
					      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	*out = (struct probe_trace){ .tx = (uint32_t)head,
				     .root = tx->root,
				     .flags = tx->flags | (tx->missed ? TRACE_CUT : 0),
				     .missed = tx->missed,
				     .begin = tx->begin,
				     .ticks = tx->ticks };
	memcpy(out->data, tx->data, sizeof(out->data));
	return true;
}

static uint32_t number_of(uint32_t where)
{
	return where ? LOAD(chunk_at(where / CALLS)->before) + where % CALLS + 1 : 0;
}

static void read_calls(const struct tx_part *p, uint32_t n, const struct probe_trace_visitor *v)
{
	const struct trace_chunk *chunk = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct tx_call *c;
		struct probe_trace_call call;
		uint32_t parent;

		if (i % CALLS == 0)
			chunk = chunk_at(chunk ? LOAD(chunk->next) : LOAD(p->first));
		c = &chunk->calls[i % CALLS];
		parent = LOAD(c->parent);
		call = (struct probe_trace_call){ .id = LOAD(c->id),
						  .parent = number_of(parent & CALL_WHERE),
						  .flags = parent & CALL_THROWN ? TRACE_THROWN : 0,
						  .begin = LOAD(c->begin),
						  .end = LOAD(c->end) };
		if (parent & CALL_UNDONE)
			call.flags |= TRACE_UNDONE;
		if (!call.begin)
			call.begin = LOAD(p->begin); /* it begins just now */
		v->call(v->ctx, &call);
	}
}

void probe_trace_read(const struct probe_trace *t, const struct probe_trace_visitor *v)
{
	for (uint32_t at = (uint32_t)TAKE(tx_at(t->tx)->parts), next; at; at = next) {
		const struct tx_part *p = part_at(at);
		struct probe_trace_part part = { .part = at,
						 .from = p->from,
						 .call = number_of(p->from_call),
						 .tid = p->tid,
						 .flags = p->flags,
						 .submitted = p->submitted,
						 .begin = LOAD(p->begin),
						 .end = LOAD(p->end),
						 .calls = TAKE(p->n) };

		next = p->next;
		if (part_state(p) == PART_DROPPED)
			continue;
		v->part(v->ctx, &part);
		read_calls(p, part.calls, v);
	}
}

void probe_trace_give(const struct probe_trace *t)
{
	trace_let_go(t->tx);
}

void probe_trace_counts(struct probe_trace_counts *out)
{
	*out = (struct probe_trace_counts){ .begun = LOAD(trace_all.begun),
					    .ended = LOAD(trace_all.ended),
					    .failed = LOAD(trace_all.failed),
					    .kept = LOAD(trace_all.n_kept),
					    .passed = LOAD(trace_all.passed),
					    .parts_passed = LOAD(trace_all.parts_passed),
					    .slow = LOAD(trace_all.slow) };
}
