/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - the memory of the probe: a fixed number of pages of 4 KiB, and cells of 64 bytes.
 *
 * Pages are zeroed, and belong to one owner (a thread's tree) until it gives them back.  Cells
 * belong to whoever holds them and may be given back by another thread.  All functions may be
 * called by any thread at any time; none waits.  A page or cell that was given back is never
 * unmapped, so a late reader reads rubbish at worst. */
#ifndef PROBE_PAGES_H
#define PROBE_PAGES_H

#include "probe/inner.h"

struct probe_pages {
	char *base;
	uint32_t *next;	       /* by page: the next in its chain */
	struct probe_kin *kin; /* by a node's line / 2 */
	uint32_t chains;       /* of a thread's hash, at most: a power of two */
	uint32_t total;	       /* pages are 1 to total */
	uint32_t fresh;	       /* pages that were handed out at least once */
	uint32_t used;
	uint32_t cell_pages;
	uint64_t free;	/* tag << 32 | page */
	uint64_t cells; /* tag << 32 | line */
};

extern HIDDEN struct probe_pages probe_pages;

/* Zeroed memory that costs nothing until it is touched, or NULL. */
void *pages_map(size_t bytes);
void pages_unmap(void *p, size_t bytes);

int pages_init(size_t bytes); /* 0 or E_NO_MEMORY */

/* A page for an owner that has `have` already, or 0.  Who has much is refused first. */
uint32_t pages_take(uint32_t have);
uint32_t pages_to_come(
	uint32_t have); /* how many it would get if no other thread took any, or slightly fewer */
void pages_give(uint32_t page); /* must be zeroed */

/* The next n bytes of a store, cut from a new page when the last is used up.  NULL: no memory. */
void *pages_cut(struct probe_store *s, uint32_t n, uint32_t *have);
void pages_give_all(struct probe_store *s);

void *pages_cell(void); /* 64 bytes, not zeroed; or NULL */
void pages_cell_give(void *cell);

static inline void *line_at(uint32_t line)
{
	return probe_pages.base + (size_t)line * LINE;
}

static inline uint32_t line_of(const void *p)
{
	return (uint32_t)((size_t)((const char *)p - probe_pages.base) / LINE);
}

static inline char *page_at(uint32_t page)
{
	return probe_pages.base + (size_t)page * PAGE;
}

static inline struct probe_node *node_at(uint32_t line)
{
	return line_at(line);
}

static inline struct probe_kin *kin_of(uint32_t line)
{
	return &probe_pages.kin[line / 2];
}

#endif
