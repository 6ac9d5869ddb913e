/* SPDX-License-Identifier: Apache-2.0 */
/* near.c - keeps a list of mappings, each with the bytes of it that are in use.
 *
 * For free room the list of this process's mappings is read, nearest gap first; the kernel is asked
 * not to put the pages elsewhere.  A mapping for a single address (of a jump whose bytes are
 * prescribed) is one page, and serves other such addresses, too. */
#include "native/near.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { CHUNK = 64 << 10, PAGE = 4096, UNIT = 16, CHUNKS_MAX = 4096, SPARE = 1 << 20 };

struct chunk {
	uintptr_t at;
	size_t n, used; /* used: from the start on */
	uint8_t *taken; /* of a single page: which bytes; NULL: used counts */
};

static struct {
	struct chunk *all;
	size_t n, cap;
	uintptr_t stack; /* of the main thread; 0: not looked up */
	struct native_range *ranges;
} near;

/* Also on kernels that do not know the flag: they put it elsewhere then. */
static bool map_at(uintptr_t at, size_t n)
{
	void *p = mmap((void *)at, n, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != MAP_FAILED && (uintptr_t)p != at)
		munmap(p, n);
	return (uintptr_t)p == at;
}

static struct chunk *add(uintptr_t at, size_t n, bool single)
{
	struct chunk c = { .at = at, .n = n };

	if (near.n == near.cap) {
		size_t cap = near.cap ? 2 * near.cap : 16;
		void *p = cap > CHUNKS_MAX ? NULL
					   : mem_realloc(near.all, cap * sizeof(near.all[0]));

		if (!p)
			return NULL;
		near.all = p;
		near.cap = cap;
	}
	if (single && !(c.taken = mem_alloc(PAGE)))
		return NULL;
	if (c.taken)
		memset(c.taken, 0, PAGE);
	if (!map_at(at, n)) {
		mem_free(c.taken);
		return NULL;
	}
	near.all[near.n] = c;
	return &near.all[near.n++];
}

/* The main thread's stack grows downwards: nothing may be put in its way. */
static bool is_below_stack(uintptr_t at)
{
	static const uintptr_t room = (uintptr_t)1 << 30;
	FILE *f = near.stack ? NULL : fopen("/proc/self/maps", "re");
	char line[4200];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[stack]"))
			near.stack = strtoul(line, NULL, 16);
	if (f)
		fclose(f);
	return at < near.stack && near.stack - at < room;
}

static uint64_t distance(uintptr_t a, uintptr_t b)
{
	return a > b ? a - b : b - a;
}

/* The gap [low, high) has room for a chunk: where in it, as near as may be to `at`; 0: nowhere. */
static uintptr_t place_in(uintptr_t low, uintptr_t high, uintptr_t at)
{
	if (low < SPARE)
		low = SPARE;
	if (high < low + CHUNK + 2 * SPARE) /* stacks and heaps want to grow */
		return 0;
	return at < low ? low + SPARE : (high - CHUNK - SPARE) & ~(uintptr_t)(PAGE - 1);
}

static uintptr_t find_gap(uintptr_t at, uint64_t reach)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uintptr_t last = 0, best = 0;
	unsigned long low, high;
	char line[4200];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		uintptr_t found;

		if (sscanf(line, "%lx-%lx", &low, &high) != 2)
			continue;
		found = low > last && low < UINT64_C(1) << 47 ? place_in(last, low, at) : 0;
		last = high;
		if (found && distance(found, at) + CHUNK < reach &&
		    (!best || distance(found, at) < distance(best, at)))
			best = found;
	}
	fclose(f);
	return best;
}

static struct chunk *chunk_for(uintptr_t at, uint64_t reach, size_t n)
{
	uintptr_t gap;

	for (size_t i = 0; i < near.n; i++) {
		struct chunk *c = &near.all[i];

		if (!c->taken && c->n - c->used >= n && distance(c->at, at) + c->n < reach)
			return c;
	}
	gap = find_gap(at, reach);
	return gap ? add(gap, CHUNK, false) : NULL;
}

uintptr_t near_take(uintptr_t at, uint64_t reach, size_t n)
{
	struct chunk *c = chunk_for(at, reach, n);
	uintptr_t to;

	if (!c)
		return 0;
	to = c->at + c->used;
	c->used += (n + UNIT - 1) & ~(size_t)(UNIT - 1);
	if (c->used > c->n)
		c->used = c->n;
	return to;
}

static struct chunk *page_of(uintptr_t page)
{
	for (size_t i = 0; i < near.n; i++)
		if (near.all[i].taken && near.all[i].at == page)
			return &near.all[i];
	return add(page, PAGE, true);
}

bool near_take_at(uintptr_t addr, size_t n)
{
	uintptr_t page = addr & ~(uintptr_t)(PAGE - 1);
	size_t at = addr - page;
	struct chunk *c;

	if (page < SPARE || at + n > PAGE || is_below_stack(page) || !(c = page_of(page)))
		return false;
	for (size_t i = 0; i < n; i++)
		if (c->taken[at + i])
			return false;
	memset(c->taken + at, 1, n);
	return true;
}

bool near_write(uintptr_t to, const void *from, size_t n)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ssize_t done = fd < 0 ? -1 : pwrite(fd, from, n, (off_t)to);

	if (fd >= 0)
		close(fd);
	if (done != (ssize_t)n || memcmp((const void *)to, from, n) != 0)
		return false;
	__builtin___clear_cache((char *)to, (char *)to + n);
	return true;
}

size_t near_bytes(void)
{
	size_t n = 0;

	for (size_t i = 0; i < near.n; i++)
		n += near.all[i].n;
	return n;
}

uint64_t near_ranges(uint64_t *list)
{
	struct native_range *p = mem_realloc(near.ranges, (near.n + 1) * sizeof(*p));

	*list = 0;
	if (!p)
		return UINT64_MAX; /* not known: nobody may take it for none */
	near.ranges = p;
	for (size_t i = 0; i < near.n; i++)
		p[i] = (struct native_range){ near.all[i].at, near.all[i].n };
	*list = (uintptr_t)p;
	return near.n;
}

void near_release(void)
{
	for (size_t i = 0; i < near.n; i++) {
		munmap((void *)near.all[i].at, near.all[i].n);
		mem_free(near.all[i].taken);
	}
	mem_free(near.ranges);
	mem_free(near.all);
	near.ranges = NULL;
	near.all = NULL;
	near.n = near.cap = 0;
}
