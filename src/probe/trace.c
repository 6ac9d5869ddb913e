/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - transactions, as observed threads write them.
 *
 * While somebody traces, the nodes of all timed methods have ONE_IN_TRACE, so that their entries
 * and exits take the slow paths, which come here; otherwise nothing of this is run.  A thread knows
 * the part it writes by its number (struct probe_thread.trace), and a virtual thread takes that
 * along.
 *
 * A call is put down when it begins and completed when it ends.  The chain from the call that runs
 * up over its parents stands for the stack; an exit that finds its call further up shows that those
 * below it have lost theirs. */
#include "base/tick.h"
#include "probe/histogram.h"
#include "probe/trace_priv.h"
#include "probe/tracing.h"

#include <string.h>

struct trace_global trace_all;

_Static_assert(sizeof(((struct probe_thread *)0)->note) == TRACE_DATA,
	       "a note is a transaction's data");

/* ---- pools ------------------------------------------------------------------------------- */

uint32_t trace_pool_take(struct trace_pool *p)
{
	uint64_t head = TAKE(p->free);
	uint32_t number;

	while ((uint32_t)head) {
		uint64_t next = ((head >> 32) + 1) << 32 | LOAD(p->chain[(uint32_t)head]);

		if (__atomic_compare_exchange_n(&p->free, &head, next, true, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return (uint32_t)head;
	}
	number = LOAD(p->fresh);
	while (number < p->total)
		if (__atomic_compare_exchange_n(&p->fresh, &number, number + 1, true,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return number + 1;
	return 0;
}

static void chain_put(uint64_t *head, uint32_t *next, uint32_t number)
{
	uint64_t old = LOAD(*head);

	do {
		STORE(*next, (uint32_t)old);
	} while (!__atomic_compare_exchange_n(head, &old, ((old >> 32) + 1) << 32 | number, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

void trace_pool_put(struct trace_pool *p, uint32_t number)
{
	chain_put(&p->free, &p->chain[number], number);
}

/* ---- the ends of things ------------------------------------------------------------------ */

void trace_free_part(uint32_t number)
{
	struct tx_part *p = part_at(number);
	uint32_t chunk = p->first;

	while (chunk) {
		uint32_t next = chunk_at(chunk)->next;

		trace_pool_put(&trace_all.chunks, chunk);
		chunk = next;
	}
	p->first = p->last = 0;
	PUBLISH(p->word, ((LOAD(p->word) >> 8) + 1) << 8 | PART_FREE);
	trace_pool_put(&trace_all.parts, number);
}

/* Slower than so many ticks is slow. */
static bool is_slow(uint64_t ticks)
{
	uint64_t most = LOAD(trace_all.slowest), limit = LOAD(trace_all.at_least);

	if (limit)
		return ticks >= limit;
	limit = LOAD(trace_all.slow);
	if (limit)
		return ticks >= limit;
	while (ticks > most) /* as long as little is known, the slowest so far */
		if (__atomic_compare_exchange_n(&trace_all.slowest, &most, ticks, true,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	return false;
}

static bool is_sampled(void)
{
	uint32_t one_in = LOAD(trace_all.one_in);

	return one_in && SHARED_ADD(trace_all.counter, 1) % one_in == 0;
}

/* From the begin of the root to the end of the last part: work in other threads often ends after
 * the root. */
static uint64_t whole_ticks(const struct tx *tx)
{
	uint64_t most = tx->ticks;

	for (uint32_t at = (uint32_t)TAKE(tx->parts); at; at = part_at(at)->next) {
		uint64_t end = LOAD(part_at(at)->end);

		if (end > tx->begin && end - tx->begin > most)
			most = end - tx->begin;
	}
	return most;
}

void trace_close(uint32_t number)
{
	struct tx *tx = tx_at(number);
	uint64_t whole = whole_ticks(tx);

	SHARED_ADD(trace_all.ended, 1);
	SHARED_ADD(trace_all.lengths[histogram_bucket(whole)], 1);
	if (tx->flags & TRACE_FAILED)
		SHARED_ADD(trace_all.failed, 1);
	if (is_slow(whole))
		tx->flags |= TRACE_SLOW;
	if (is_sampled())
		tx->flags |= TRACE_SAMPLED;
	if (LOAD(probe.tracing) && !(tx->flags & TRACE_UNDONE) &&
	    tx->session == LOAD(trace_all.session) &&
	    tx->flags & (TRACE_FAILED | TRACE_SLOW | TRACE_SAMPLED)) {
		SHARED_ADD(trace_all.n_kept, 1);
		chain_put(&trace_all.kept, &tx->next, number);
		return;
	}
	trace_let_go(number);
}

void trace_let_go(uint32_t number)
{
	uint32_t next;

	for (uint32_t at = (uint32_t)TAKE(tx_at(number)->parts); at; at = next) {
		struct tx_part *p = part_at(at);
		uint64_t word = TAKE(p->word);

		next = p->next;
		if ((word & 0xff) != PART_LEFT || !part_change(p, word, PART_ORPHAN))
			trace_free_part(at);
	}
	trace_pool_put(&trace_all.txs, number);
}

/* One more part that has not ended; false: the transaction is over. */
static bool tx_hold(struct tx *tx, uint32_t life)
{
	uint64_t word = TAKE(tx->word);

	while (word >> 32 == life && (uint32_t)word)
		if (__atomic_compare_exchange_n(&tx->word, &word, word + 1, true, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return true;
	return false;
}

static void tx_let_go(uint32_t number, uint32_t life)
{
	struct tx *tx = tx_at(number);
	uint64_t word = TAKE(tx->word);

	while (word >> 32 == life && (uint32_t)word) {
		if (!__atomic_compare_exchange_n(&tx->word, &word, word - 1, true, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			continue;
		if ((uint32_t)word == 1)
			trace_close(number);
		return;
	}
}

/* The thread is done with the part that it writes. */
static void part_end(uint32_t *trace, uint64_t now, uint32_t flags)
{
	uint32_t number = *trace, tx, life;
	struct tx_part *p = part_at(number);
	uint64_t word = TAKE(p->word);

	*trace = p->outer;
	tx = p->tx;
	life = p->life;
	if ((word & 0xff) == PART_RUNS) {
		p->flags |= flags;
		STORE(p->end, now);
		if (part_change(p, word, PART_ENDED)) {
			tx_let_go(tx, life);
			return;
		}
		word = TAKE(p->word);
	}
	if ((word & 0xff) == PART_LEFT && part_change(p, word, PART_ENDED))
		return; /* the agent gives it back */
	trace_free_part(number);
}

/* The part that a thread writes; what the agent has given up is let go here. */
static struct tx_part *mine(uint32_t *trace)
{
	while (*trace) {
		struct tx_part *p = part_at(*trace);

		if (LIKELY(part_state(p) == PART_RUNS))
			return p;
		part_end(trace, 0, 0);
	}
	return NULL;
}

static void root_end(uint32_t *trace, uint64_t now, uint32_t flags)
{
	struct tx_part *p = part_at(*trace);
	struct tx *tx = tx_at(p->tx);

	tx->ticks = now > tx->begin ? now - tx->begin : 1;
	tx->flags |= flags;
	STORE(tx->ended, now);
	part_end(trace, now, 0);
}

/* ---- beginnings -------------------------------------------------------------------------- */

/* A part like this one, but for `from` when that is 0, in its transaction's list.  0: no memory. */
static uint32_t part_new(const struct tx_part *like, uint32_t state, uint64_t *life_of_it)
{
	struct tx *tx = tx_at(like->tx);
	uint32_t n = trace_pool_take(&trace_all.parts), life = like->life;
	uint64_t head = LOAD(tx->parts), word;
	struct tx_part *p;

	if (!n) {
		SHARED_ADD(trace_all.parts_passed, 1);
		return 0;
	}
	p = part_at(n);
	word = LOAD(p->word) & ~(uint64_t)0xff;
	*life_of_it = word >> 8;
	*p = *like;
	if (!p->from)
		p->from = n;
	PUBLISH(p->word, word | state);
	do {
		if (head >> 32 != life) {
			trace_free_part(n);
			return 0;
		}
		STORE(p->next, (uint32_t)head);
	} while (!__atomic_compare_exchange_n(&tx->parts, &head, (uint64_t)life << 32 | n, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	return n;
}

static bool root_begin(struct probe_thread *t, uint32_t id, uint32_t depth)
{
	uint32_t number = trace_pool_take(&trace_all.txs), life, part;
	uint64_t now = tick_now(), part_life;
	struct tx *tx;

	SHARED_ADD(trace_all.begun, 1);
	if (!number)
		goto no_memory;
	tx = tx_at(number);
	life = (uint32_t)(LOAD(tx->word) >> 32) + 1;
	*tx = (struct tx){
		.word = LOAD(tx->word), .root = id, .begin = now, .session = LOAD(trace_all.session)
	};
	if (t->note_n && t->note_top == probe_local.top) {
		memcpy(tx->data, t->note, t->note_n);
		tx->data_n = t->note_n;
	}
	t->note_n = 0;
	STORE(tx->parts, (uint64_t)life << 32);
	PUBLISH(tx->word, (uint64_t)life << 32 | 1);
	part = part_new(&(struct tx_part){ .tx = number,
					   .life = life,
					   .tid = t->tid,
					   .floor = depth,
					   .submitted = now,
					   .begin = now },
			PART_RUNS, &part_life);
	if (!part) {
		STORE(tx->word, (uint64_t)life << 32);
		trace_pool_put(&trace_all.txs, number);
		goto no_memory;
	}
	t->trace = part;
	return true;
no_memory:
	SHARED_ADD(trace_all.passed, 1);
	return false;
}

/* Room for one more call of the part; 0: there is none. */
static uint32_t call_new(struct tx_part *p)
{
	struct tx *tx = tx_at(p->tx);
	uint32_t slot = p->n % CALLS, chunk;

	if (slot == 0) {
		chunk = SHARED_ADD(tx->calls, CALLS) < CALLS_MAX
				? trace_pool_take(&trace_all.chunks)
				: 0;
		if (!chunk) {
			SHARED_ADD(tx->missed, 1);
			p->flags |= TRACE_CUT;
			return 0;
		}
		chunk_at(chunk)->next = 0;
		chunk_at(chunk)->before = p->n;
		if (p->last)
			STORE(chunk_at(p->last)->next, chunk);
		else
			STORE(p->first, chunk);
		p->last = chunk;
	}
	return p->last * CALLS + slot;
}

static bool is_root(const struct probe_frame *top, uint32_t id)
{
	if (LOAD(trace_all.marked))
		return trace_all.roots[id] != 0;
	while (!frame_is_nobodys(top) && frame_is_hidden(top))
		top--;
	return frame_is_nobodys(top);
}

uint64_t *trace_enter(uint32_t id)
{
	struct probe_thread *t = probe_local.mine;
	const struct probe_frame *top = probe_local.top;
	uint32_t depth = (uint32_t)(top + 1 - t->base), where;
	struct tx_part *p = mine(&t->trace);
	struct tx_call *c;

	if (p && p->from == t->trace && depth <= p->floor) {
		root_end(&t->trace, tick_now(), TRACE_LOST); /* its exit never came */
		p = mine(&t->trace);
	}
	if (!p) {
		if (!is_root(top, id) || !root_begin(t, id, depth))
			return NULL;
		p = part_at(t->trace);
	}
	where = call_new(p);
	if (!where)
		return NULL;
	c = call_at(where);
	STORE(c->end, 0);
	STORE(c->id, id);
	STORE(c->parent, p->open);
	STORE(c->begin, 0); /* the caller knows it */
	p->open = where;
	PUBLISH(p->n, p->n + 1);
	return &c->begin;
}

/* The call that runs in the part and began then, with those below it that have lost their end. */
static struct tx_call *call_of(const struct tx_part *p, uint32_t id, uint64_t begin)
{
	struct tx_call *c;

	for (uint32_t where = p ? p->open : 0; where; where = LOAD(c->parent)) {
		c = call_at(where);
		if (c->begin < begin)
			return NULL; /* it was not put down */
		if (c->begin == begin && c->id == id)
			return c;
	}
	return NULL;
}

void trace_exit(uint32_t id, uint64_t begin, uint64_t now, bool thrown)
{
	struct probe_thread *t = probe_local.mine;
	struct tx_part *p = mine(&t->trace);
	struct tx_call *c = call_of(p, id, begin);

	if (!c)
		return;
	p->open = LOAD(c->parent);
	if (thrown)
		STORE(c->parent, c->parent | CALL_THROWN);
	STORE(c->end, now);
	if (p->open || p->from != t->trace)
		return;
	tx_at(p->tx)->begin = p->begin = p->submitted = begin; /* without what beginning took */
	root_end(&t->trace, now, thrown ? TRACE_FAILED : 0);
}

void trace_undo(uint32_t id, uint64_t begin)
{
	struct probe_thread *t = probe_local.mine;
	struct tx_part *p = mine(&t->trace);
	struct tx_call *c = call_of(p, id, begin);

	if (!c)
		return;
	p->open = LOAD(c->parent);
	STORE(c->parent, c->parent | CALL_UNDONE);
	STORE(c->end, tick_now());
	if (!p->open && p->from == t->trace)
		root_end(&t->trace, c->end, TRACE_UNDONE);
}

void trace_shift(uint32_t id, uint64_t begin, uint64_t later)
{
	struct tx_call *c = call_of(mine(&probe_local.mine->trace), id, begin);

	if (c)
		STORE(c->begin, later);
}

void trace_gone(uint32_t *trace, uint64_t now)
{
	struct tx_part *p;

	while ((p = mine(trace)) != NULL) {
		if (p->from == *trace)
			root_end(trace, now, TRACE_LOST);
		else
			part_end(trace, now, 0); /* as the part of a thread ends */
	}
}

/* ---- work that is handed over ------------------------------------------------------------ */

uint64_t probe_trace_submit(void)
{
	struct probe_thread *t = probe_local.mine;
	struct tx_part *p = t && t->trace ? mine(&t->trace) : NULL;
	uint64_t life;
	uint32_t n;

	if (!p || !LOAD(probe.tracing) || !tx_hold(tx_at(p->tx), p->life))
		return 0;
	n = part_new(&(struct tx_part){ .tx = p->tx,
					.life = p->life,
					.from = t->trace,
					.from_call = p->open,
					.submitted = tick_now() },
		     PART_QUEUED, &life);
	if (!n) {
		tx_let_go(p->tx, p->life);
		return 0;
	}
	return (uint64_t)n << 40 | (life & 0xffffffffff);
}

/* The part that is meant, if it is that still. */
static struct tx_part *part_meant(uint64_t work, uint64_t *word)
{
	uint32_t n = (uint32_t)(work >> 40);
	struct tx_part *p = part_at(n);

	if (!n || n > trace_all.parts.total || !TAKE(trace_all.ready))
		return NULL;
	*word = TAKE(p->word);
	return (*word >> 8 & 0xffffffffff) == (work & 0xffffffffff) ? p : NULL;
}

/* A part that waits ends without having begun. */
static void drop(struct tx_part *p, uint64_t word)
{
	uint32_t tx = p->tx, life = p->life;

	if (!part_change(p, word, PART_DROPPED))
		return;
	tx_let_go(tx, life);
}

void probe_trace_cancel(uint64_t work)
{
	uint64_t word;
	struct tx_part *p = work ? part_meant(work, &word) : NULL;

	if (p && (word & 0xff) == PART_QUEUED)
		drop(p, word);
}

bool probe_trace_begin(uint64_t work)
{
	struct probe_thread *t = probe_local.mine;
	struct tx_part *p, *now;
	uint64_t word;

	if (!work || !TAKE(probe.ready))
		return false;
	if (!t)
		t = thread_take();
	p = part_meant(work, &word);
	if (!t || !p || (word & 0xff) != PART_QUEUED)
		return false;
	now = mine(&t->trace);
	if (now && now->tx == p->tx && now->life == p->life) {
		drop(p, word);
		return false;
	}
	if (!part_change(p, word, PART_RUNS))
		return false;
	p->outer = t->trace;
	p->tid = t->tid;
	p->floor = (uint32_t)(thread_top() - t->base);
	STORE(p->begin, tick_now());
	t->trace = (uint32_t)(work >> 40);
	return true;
}

void probe_trace_end(uint64_t work)
{
	struct probe_thread *t = probe_local.mine;
	uint32_t n = (uint32_t)(work >> 40), at;
	uint64_t now = tick_now();

	for (at = t ? t->trace : 0; at && at != n; at = part_at(at)->outer)
		;
	if (!at)
		return;
	do {
		at = t->trace;
		if (part_at(at)->from == at && part_state(part_at(at)) == PART_RUNS)
			root_end(&t->trace, now, TRACE_LOST);
		else
			part_end(&t->trace, now, 0);
	} while (at != n);
}

bool probe_trace_is_in(void)
{
	struct probe_thread *t = probe_local.mine;

	return t && t->trace && LOAD(probe.tracing) && mine(&t->trace);
}

/* Appends "name=value " to a text of TRACE_DATA bytes, of which *n are taken.  Threads take their
 * piece before they write it, so none is overwritten. */
static void put_fact(char *text, uint32_t *n, const char *name, const char *value)
{
	uint32_t name_n = (uint32_t)strnlen(name, TRACE_DATA);
	uint32_t value_n = (uint32_t)strnlen(value, TRACE_DATA);
	uint32_t more = name_n + value_n + 2, at = LOAD(*n);

	do {
		if (at + more >= TRACE_DATA)
			return;
	} while (!__atomic_compare_exchange_n(n, &at, at + more, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	memcpy(text + at, name, name_n);
	text[at + name_n] = '=';
	memcpy(text + at + name_n + 1, value, value_n);
	text[at + more - 1] = ' ';
}

/* A value is captured before the call is put down at whose begin that happens: facts that come when
 * there is no transaction wait for one that begins on the same frame. */
void probe_trace_fact(const char *name, const char *value)
{
	struct probe_thread *t = probe_local.mine;
	struct tx_part *p;
	struct probe_frame *top;

	if (!LOAD(probe.tracing))
		return;
	if (!t)
		t = thread_take();
	if (!t)
		return;
	p = mine(&t->trace);
	if (p) {
		put_fact(tx_at(p->tx)->data, &tx_at(p->tx)->data_n, name, value);
		return;
	}
	top = thread_top();
	if (t->note_top != top)
		t->note_n = 0;
	t->note_top = top;
	put_fact(t->note, &t->note_n, name, value);
}
