/* SPDX-License-Identifier: Apache-2.0 */
/* trace_priv.h - how transactions lie in memory; shared by trace.c and trace_read.c.
 *
 * Everything is named by its number in a pool; 0 is none.  What is free is in a chain of its pool,
 * whose head carries a tag, so that a head that came back is not mistaken.
 *
 * Who may touch what.  tx.word is the number of the transaction's life << 32 | parts that have not
 * ended; whoever takes the count to 0 owns the transaction from then on.  part.word is a life << 8
 * | PART_*; the thread that runs a part owns its other words while it is PART_RUNS.  When the agent
 * gives up on it (PART_LEFT) the thread writes no more once it has noticed; which of both lets the
 * part go at last is settled by the next two states. */
#ifndef PROBE_TRACE_PRIV_H
#define PROBE_TRACE_PRIV_H

#include "probe/pages.h"
#include "probe/trace.h"

enum {
	TXS = 1 << 12,
	PARTS = 1 << 14,
	CALLS = 10,	      /* of one chunk */
	CALLS_MAX = 20000,    /* of one transaction, about */
	TRACE_BYTES = 4 << 20 /* of chunks, by default */
};

enum {
	PART_FREE,
	PART_QUEUED, /* handed over, not begun */
	PART_RUNS,
	PART_ENDED,
	PART_LEFT,    /* the agent reads it, its thread may still write once */
	PART_DROPPED, /* ended without having begun, and not reported */
	PART_ORPHAN,  /* the agent is done; its thread gives it back */
};

#define CALL_THROWN (1u << 31) /* in a call's parent */
#define CALL_UNDONE (1u << 30)
#define CALL_WHERE (CALL_UNDONE - 1)

struct tx_call {
	uint64_t begin, end;
	uint32_t id, parent; /* parent: where it lies, 0 is none; with CALL_THROWN */
};

struct trace_chunk {
	uint32_t next;
	uint32_t before; /* calls of the part in the chunks before this one */
	uint32_t spare[2];
	struct tx_call calls[CALLS];
};

struct tx {
	uint64_t word;
	uint64_t parts; /* life << 32 | first part */
	uint32_t root, flags;
	uint32_t calls, missed;
	uint64_t begin, ticks;
	uint64_t ended; /* tick, 0: the root runs */
	uint32_t session;
	uint32_t next;	 /* of those that are kept */
	uint32_t data_n; /* bytes that are taken */
	char data[TRACE_DATA];
};

struct tx_part {
	uint64_t word;
	uint32_t tx, life; /* the transaction's life */
	uint32_t next;	   /* of the same transaction */
	uint32_t from, from_call;
	uint32_t tid, outer; /* outer: part that the thread goes on with afterwards */
	uint32_t floor;	     /* depth of its stack where the part begins */
	uint32_t flags;
	uint32_t first, last; /* chunks */
	uint32_t n;	      /* calls, published when they are complete */
	uint32_t open;	      /* the call that runs */
	uint64_t submitted, begin, end;
};

struct trace_pool {
	char *base;
	size_t size;
	uint32_t *chain;
	uint32_t total, fresh; /* fresh: those that were used at least once */
	uint64_t free;	       /* tag << 32 | number */
};

struct trace_global {
	struct trace_pool txs, parts, chunks;
	uint32_t ready, session, marked, one_in;
	uint64_t at_least, slow, slowest;
	uint64_t kept; /* tag << 32 | first of those that wait for the agent */
	uint64_t counter;
	uint64_t begun, ended, failed, n_kept, passed, parts_passed;
	uint32_t lengths[PROBE_BUCKETS]; /* of transactions */
	uint8_t *roots;			 /* by method */
};

extern HIDDEN struct trace_global trace_all;

uint32_t trace_pool_take(struct trace_pool *p); /* 0: none left */
void trace_pool_put(struct trace_pool *p, uint32_t number);

static inline struct tx *tx_at(uint32_t number)
{
	return (struct tx *)(void *)(trace_all.txs.base + number * sizeof(struct tx));
}

static inline struct tx_part *part_at(uint32_t number)
{
	return (struct tx_part *)(void *)(trace_all.parts.base + number * sizeof(struct tx_part));
}

static inline struct trace_chunk *chunk_at(uint32_t number)
{
	return (struct trace_chunk *)(void *)(trace_all.chunks.base +
					      number * sizeof(struct trace_chunk));
}

/* A call is named by chunk * CALLS + its place there. */
static inline struct tx_call *call_at(uint32_t where)
{
	return &chunk_at(where / CALLS)->calls[where % CALLS];
}

static inline uint32_t part_state(const struct tx_part *p)
{
	return (uint32_t)TAKE(p->word) & 0xff;
}

/* Changes a part's state, unless it is another one by now. */
static inline bool part_change(struct tx_part *p, uint64_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&p->word, &from, (from & ~(uint64_t)0xff) | to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The count of the transaction's parts is 0: it is kept, or let go. */
void trace_close(uint32_t tx);
void trace_let_go(uint32_t tx); /* with its parts */
void trace_free_part(uint32_t number);

#endif
