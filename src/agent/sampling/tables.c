/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c - see tables.h.  A signal's stack may be too small for a buffer of spots, hence a few in
 * memory of our own, taken by a bit each. */
#include "agent/sampling/tables.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
	N_SLOTS = 1 << 14, /* stacks in one table */
	N_SPOTS = 1 << 18, /* 2 MiB */
	BUFFERS = 64,	   /* guests at once */
};

static struct {
	bool open;
	struct stacks all[2];
	uint32_t now;	    /* which of them */
	uint32_t inside[2]; /* guests in each */
	bool swapped;	    /* the other one was not given out yet */
	void *memory;
	size_t memory_n;
	uint64_t (*buffers)[TABLES_DEPTH];
	uint64_t taken; /* bits: buffers in use */
	uint64_t missed;
} tables;

static bool take_memory(void)
{
	size_t table = stacks_bytes(N_SLOTS, N_SPOTS);
	size_t all = 2 * table + BUFFERS * sizeof(*tables.buffers);
	uint8_t *p = mmap(NULL, all, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return false;
	tables.memory = p;
	tables.memory_n = all;
	stacks_init(&tables.all[0], p, N_SLOTS, N_SPOTS);
	stacks_init(&tables.all[1], p + table, N_SLOTS, N_SPOTS);
	tables.buffers = (void *)(p + 2 * table);
	return true;
}

bool tables_begin(void)
{
	if (!tables.memory && !take_memory())
		return false;
	stacks_clear(&tables.all[0]);
	stacks_clear(&tables.all[1]);
	tables.now = 0;
	tables.swapped = false;
	tables.missed = 0;
	__atomic_store_n(&tables.open, true, __ATOMIC_SEQ_CST);
	return true;
}

static bool is_empty(uint32_t which)
{
	for (int i = 0; i < 200 && __atomic_load_n(&tables.inside[which], __ATOMIC_SEQ_CST); i++)
		usleep(50);
	return !__atomic_load_n(&tables.inside[which], __ATOMIC_SEQ_CST);
}

/* Waits for as long as it takes: a thread that the scheduler has put aside comes back. */
bool tables_end(void)
{
	bool gone = true;

	__atomic_store_n(&tables.open, false, __ATOMIC_SEQ_CST);
	for (int i = 0; i < 500 && !(gone = is_empty(0) && is_empty(1)); i++)
		;
	if (gone && tables.memory) /* guests that come late find it empty, but there */
		(void)madvise(tables.memory, tables.memory_n, MADV_DONTNEED);
	return gone;
}

bool tables_are_open(void)
{
	return __atomic_load_n(&tables.open, __ATOMIC_SEQ_CST);
}

static int take_buffer(void)
{
	uint64_t all = __atomic_load_n(&tables.taken, __ATOMIC_RELAXED);

	while (~all) {
		int i = __builtin_ctzll(~all);

		if (__atomic_compare_exchange_n(&tables.taken, &all, all | (uint64_t)1 << i, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return i;
	}
	return -1;
}

bool tables_enter(struct tables_guest *g)
{
	g->which = __atomic_load_n(&tables.now, __ATOMIC_SEQ_CST);
	g->buffer = take_buffer();
	if (g->buffer < 0) {
		__atomic_fetch_add(&tables.missed, 1, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_fetch_add(&tables.inside[g->which], 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&tables.now, __ATOMIC_SEQ_CST) == g->which && tables_are_open()) {
		g->table = &tables.all[g->which];
		g->spots = tables.buffers[g->buffer];
		return true;
	}
	tables_leave(g);
	return false;
}

void tables_leave(const struct tables_guest *g)
{
	__atomic_fetch_sub(&tables.inside[g->which], 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_and(&tables.taken, ~((uint64_t)1 << g->buffer), __ATOMIC_RELEASE);
}

/* Guests that came before the swap have counted themselves in; later ones see the new table. */
struct stacks *tables_take(void)
{
	uint32_t other = !tables.now;

	if (!tables.swapped) {
		stacks_clear(&tables.all[other]);
		__atomic_store_n(&tables.now, other, __ATOMIC_SEQ_CST);
		tables.swapped = true;
		other = !other;
	}
	if (!is_empty(other))
		return NULL;
	tables.swapped = false;
	return &tables.all[other];
}

bool tables_swapped(void)
{
	return tables.swapped;
}

uint64_t tables_missed(void)
{
	return __atomic_load_n(&tables.missed, __ATOMIC_RELAXED);
}
