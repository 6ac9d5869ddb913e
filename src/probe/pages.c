/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - pages and cells, each from a free list without locks.
 *
 * A list's head is one 64-bit word: what is first, and a tag that grows with each change.  Without
 * the tag a thread that had read "A, and after it B" could be overtaken by others who take A and
 * B and give A back, and would then hand out B a second time.
 *
 * Pages that were never used are taken from the end of the used part, so their memory is touched
 * only when it is needed.  Page 0 is not used: 0 says none. */
#include "probe/pages.h"

#include "base/err.h"

#include <string.h>
#include <sys/mman.h>

enum { FEW = 4 }; /* pages; who has more gets no more when little is left */

struct probe_pages probe_pages;

void *pages_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* Huge pages would make every first touch cost 2 MiB. */
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

void pages_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

int pages_init(size_t bytes)
{
	struct probe_pages *p = &probe_pages;
	size_t total = bytes / PAGE;

	if (total > UINT32_MAX / (PAGE / LINE) - 1)
		total = UINT32_MAX / (PAGE / LINE) - 1;
	p->base = pages_map((total + 1) * PAGE);
	p->next = pages_map((total + 1) * sizeof(*p->next));
	p->kin = pages_map((total + 1) * NODES_A_PAGE * sizeof(*p->kin));
	if (!p->base || !p->next || !p->kin) {
		pages_unmap(p->base, (total + 1) * PAGE);
		pages_unmap(p->next, (total + 1) * sizeof(*p->next));
		pages_unmap(p->kin, (total + 1) * NODES_A_PAGE * sizeof(*p->kin));
		return E_NO_MEMORY;
	}
	p->total = (uint32_t)total;
	p->chains = 2 * HASH_MIN;
	while (p->chains < total * NODES_A_PAGE / 2)
		p->chains *= 2;
	return 0;
}

/* ---- pages ------------------------------------------------------------------------------- */

static uint32_t take_again(struct probe_pages *p)
{
	uint64_t head = TAKE(p->free), after;
	uint32_t page;

	do {
		page = (uint32_t)head;
		if (!page)
			return 0;
		after = ((head >> 32) + 1) << 32 | LOAD(p->next[page]);
	} while (!__atomic_compare_exchange_n(&p->free, &head, after, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return page;
}

static uint32_t take_fresh(struct probe_pages *p)
{
	uint32_t n = LOAD(p->fresh);

	do {
		if (n >= p->total)
			return 0;
	} while (!__atomic_compare_exchange_n(&p->fresh, &n, n + 1, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return n + 1;
}

/* What an owner may have, at most: three times of what is left then, less an eighth of all, which
 * is for those who have few. */
static uint32_t left_for_many(const struct probe_pages *p, uint32_t used)
{
	uint32_t kept = p->total / 8, left = p->total - used;

	return left > kept ? 3 * (left - kept) : 0;
}

uint32_t pages_to_come(uint32_t have)
{
	uint32_t used = LOAD(probe_pages.used), left = left_for_many(&probe_pages, used) + FEW;

	return left > have ? (left - have) / 4
			   : 0; /* each is one more for it and three less here */
}

uint32_t pages_take(uint32_t have)
{
	struct probe_pages *p = &probe_pages;
	uint32_t used = LOAD(p->used), page;

	if (used >= p->total || (have >= FEW && have - FEW >= left_for_many(p, used)))
		return 0;
	page = take_again(p);
	if (!page)
		page = take_fresh(p);
	if (!page)
		return 0;
	SHARED_ADD(p->used, 1);
	STORE(p->next[page], 0);
	return page;
}

void pages_give(uint32_t page)
{
	struct probe_pages *p = &probe_pages;
	uint64_t head = LOAD(p->free), after;

	do {
		STORE(p->next[page], (uint32_t)head);
		after = ((head >> 32) + 1) << 32 | page;
	} while (!__atomic_compare_exchange_n(&p->free, &head, after, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
	SHARED_SUB(p->used, 1);
}

void *pages_cut(struct probe_store *s, uint32_t n, uint32_t *have)
{
	uint32_t page;
	void *piece;

	if (!s->last || s->used + n > PAGE) {
		page = pages_take(*have);
		if (!page)
			return NULL;
		++*have;
		if (s->last)
			PUBLISH(probe_pages.next[s->last], page);
		else
			PUBLISH(s->first, page);
		s->last = page;
		s->used = 0;
	}
	piece = page_at(s->last) + s->used;
	s->used += n;
	return piece;
}

void pages_give_all(struct probe_store *s)
{
	uint32_t page = s->first, next;

	for (; page; page = next) {
		next = LOAD(probe_pages.next[page]);
		memset(page_at(page), 0, PAGE);
		pages_give(page);
	}
	memset(s, 0, sizeof(*s));
}

/* ---- cells ------------------------------------------------------------------------------- */

/* The first word of a free cell is the line of the next one. */
static uint32_t *link_of(uint32_t line)
{
	return line_at(line);
}

static void push_cells(uint32_t first, uint32_t last)
{
	struct probe_pages *p = &probe_pages;
	uint64_t head = LOAD(p->cells), after;

	do {
		STORE(*link_of(last), (uint32_t)head);
		after = ((head >> 32) + 1) << 32 | first;
	} while (!__atomic_compare_exchange_n(&p->cells, &head, after, true, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

static void *cell_of_new_page(void)
{
	enum { CELLS = PAGE / LINE };
	uint32_t page = pages_take(LOAD(probe_pages.cell_pages)), first = page * CELLS;

	if (!page)
		return NULL;
	SHARED_ADD(probe_pages.cell_pages, 1);
	for (uint32_t i = 1; i < CELLS - 1; i++)
		STORE(*link_of(first + i), first + i + 1);
	push_cells(first + 1, first + CELLS - 1);
	return line_at(first);
}

void *pages_cell(void)
{
	struct probe_pages *p = &probe_pages;
	uint64_t head = TAKE(p->cells), after;
	uint32_t line;

	do {
		line = (uint32_t)head;
		if (!line)
			return cell_of_new_page();
		/* The cell may be somebody's by now, and this word anything: then the tag has
		 * changed and nothing comes of it. */
		after = ((head >> 32) + 1) << 32 | LOAD(*link_of(line));
	} while (!__atomic_compare_exchange_n(&p->cells, &head, after, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return line_at(line);
}

void pages_cell_give(void *cell)
{
	push_cells(line_of(cell), line_of(cell));
}
