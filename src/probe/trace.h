/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - transactions: every hooked call below a root, with its times, across threads.
 *
 * A transaction begins when a root is entered in a thread that has none, and consists of parts:
 * what runs in one thread for it.  The first part ends with the root.  Others are made when the
 * work is handed over (probe_trace_submit), begin when another thread takes it up and end when that
 * is done with it.  When the last part has ended the transaction is complete: it is kept for the
 * agent if it was slow, failed or is the one in N that is sampled, else its memory is used again.
 *
 * A part is written by its thread alone; the agent reads it when it is complete, or when it has
 * waited long enough for the rest.  All memory is set aside by probe_trace_start(); when it is used
 * up calls are missing from a transaction, which says so, or whole transactions are only
 * counted. */
#ifndef PROBE_TRACE_H
#define PROBE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- for observed threads ---------------------------------------------------------------- */

/* The calling thread hands work over: what probe_trace_begin() will want; 0: it is in no
 * transaction, or there is no memory. */
uint64_t probe_trace_submit(void);
/* The thread takes the work up.  True: it is in that transaction until probe_trace_end().  False,
 * too, when it is in it already: the work belongs to the part that runs. */
bool probe_trace_begin(uint64_t work);
void probe_trace_end(uint64_t work);	/* also ends what was begun since and never ended */
void probe_trace_cancel(uint64_t work); /* it will not be taken up */
bool probe_trace_is_in(void);		/* is the calling thread in a transaction? */
/* A fact about the transaction; reported with it as "name=value name=value". */
void probe_trace_fact(const char *name, const char *value);

/* ---- for the agent: one thread at a time ------------------------------------------------- */

struct probe_tracing {
	uint64_t at_least; /* ticks from which a transaction is slow; 0: learned */
	uint32_t one_in;   /* so many of the others are kept, too; 0: none */
	bool marked;	   /* only methods set by probe_trace_root() are roots; else those that are
			    * called by nothing hooked */
	size_t bytes;	   /* memory to set aside, the first time */
};

int probe_trace_start(const struct probe_tracing *how); /* 0 or E_NO_MEMORY */
void probe_trace_stop(void);
void probe_trace_root(uint32_t id, bool is_root);

/* Gives up waiting: transactions whose root ended before the tick, but not all parts.  Also learns
 * how long is slow.  To be called once in a while. */
void probe_trace_sweep(uint64_t ended_before);

enum {
	TRACE_FAILED = 1, /* the root was left by exception */
	TRACE_CUT = 2,	  /* calls are missing: memory was used up */
	TRACE_LOST = 4,	  /* the end of a root or part was never reported */
	TRACE_OPEN = 8,	  /* not all parts had ended */
	TRACE_SLOW = 16,  /* why it was kept */
	TRACE_SAMPLED = 32,
	TRACE_THROWN = 64,  /* of a call: left by exception */
	TRACE_QUEUED = 128, /* of a part: it was never begun */
	TRACE_UNDONE = 512, /* of a call: taken back, it did not meet its condition */
};

enum { TRACE_DATA = 128 }; /* bytes about a transaction, with a NUL */

struct probe_trace {
	uint32_t tx;
	uint32_t root, flags, missed; /* missed: calls that are not there */
	uint64_t begin, ticks;	      /* of the root */
	char data[TRACE_DATA];
};

struct probe_trace_part {
	uint32_t part, from; /* its number; the one that handed it over, itself for the first */
	uint32_t call;	     /* ... in which call of that (number + 1); 0: none */
	uint32_t tid, flags;
	uint64_t submitted, begin, end; /* ticks; end is 0 when it had not ended */
	uint32_t calls;
};

struct probe_trace_call {
	uint32_t id, parent; /* parent: number + 1 of a call of the same part; 0: none */
	uint32_t flags;
	uint64_t begin, end; /* end is 0 when it was never reported */
};

struct probe_trace_visitor {
	void (*part)(void *ctx, const struct probe_trace_part *p);
	void (*call)(void *ctx, const struct probe_trace_call *c); /* in order of their begin */
	void *ctx;
};

/* The next transaction that was kept; false: none.  It has to be given back. */
bool probe_trace_take(struct probe_trace *out);
/* Parts, newest first, each followed by its calls. */
void probe_trace_read(const struct probe_trace *t, const struct probe_trace_visitor *v);
void probe_trace_give(const struct probe_trace *t);

struct probe_trace_counts { /* since the start */
	uint64_t begun, ended, failed, kept;
	uint64_t passed; /* were only counted, because there was no memory */
	uint64_t parts_passed;
	uint64_t slow; /* ticks that are slow now */
};
void probe_trace_counts(struct probe_trace_counts *out);

#endif
