/* SPDX-License-Identifier: Apache-2.0 */
/* swap.c - remembers for each changed page how it was, which bytes are ours, and which file it is of.
 *
 * A library may be unloaded while it is hooked, and another one be mapped there.  So a page is read
 * through the kernel, and bytes are put back only where ours still stand.  A program that has changed
 * its user may not open its own memory any more; then the list of mappings has to do. */
#include "native/swap.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct page {
	uintptr_t at;
	unsigned changes;
	bool again; /* mapped from the file again, since the last change went */
	char *path; /* NULL: of no file */
	uint64_t offset, inode;
	uint8_t was[SWAP_PAGE];
	uint8_t ours[SWAP_PAGE]; /* not 0: a byte of a change */
	uint8_t put[SWAP_PAGE];	 /* ... and what was written there */
};

static struct {
	struct page **all;
	size_t n, cap;
} pages;

/* ---- what is mapped ----------------------------------------------------------------------- */

/* Reads where the page is from; false: it is not plain code (readable, executable, private). */
static bool look_up(struct page *p)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long low, high, offset, inode;
	char line[4200], prot[8];
	bool good = false;
	int name;

	while (f && fgets(line, sizeof(line), f)) {
		name = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*x:%*x %lu %n", &low, &high, prot, &offset,
			   &inode, &name) < 5 ||
		    p->at < low || p->at >= high)
			continue;
		good = strcmp(prot, "r-xp") == 0;
		p->offset = offset + (p->at - low);
		p->inode = inode;
		mem_free(p->path);
		p->path = NULL;
		line[strcspn(line, "\n")] = '\0';
		if (inode && line[name] == '/' && (p->path = mem_alloc(strlen(line + name) + 1)))
			memcpy(p->path, line + name, strlen(line + name) + 1);
		break;
	}
	if (f)
		fclose(f);
	return good;
}

static struct page *page_find(uintptr_t at)
{
	for (size_t i = 0; i < pages.n; i++)
		if (pages.all[i]->at == (at & ~(uintptr_t)(SWAP_PAGE - 1)))
			return pages.all[i];
	return NULL;
}

/* What is there now; false: nothing is mapped there. */
static bool page_read(const struct page *p, uint8_t out[SWAP_PAGE])
{
	static struct page is;
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	is.at = p->at;
	if (fd >= 0) {
		n = pread(fd, out, SWAP_PAGE, (off_t)p->at);
		close(fd);
	} else if (look_up(&is)) {
		memcpy(out, (const void *)p->at, SWAP_PAGE);
		n = SWAP_PAGE;
	}
	return n == SWAP_PAGE;
}

/* Do the changes among these n bytes still stand in `now`? */
static bool page_holds(const struct page *p, const uint8_t *now, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		if (p->ours[i] && now[i] != p->put[i])
			return false;
	return true;
}

/* Is what is mapped there another library's?  A page that we have changed is of no file. */
static bool page_is_gone(const struct page *p, const uint8_t *now)
{
	static struct page is;

	is.at = p->at;
	return !look_up(&is) || (p->inode ? is.inode != 0 : !page_holds(p, now, 0, SWAP_PAGE));
}

/* Takes the page as it is, without changes. */
static const char *page_renew(struct page *p)
{
	if (!look_up(p) || !page_read(p, p->was))
		return "its memory is not mapped as code that is only read";
	memset(p->ours, 0, sizeof(p->ours));
	p->changes = 0;
	return NULL;
}

static struct page *page_add(uintptr_t at, const char **why)
{
	struct page *p = mem_alloc(sizeof(*p));

	*why = "out of memory";
	if (p && pages.n == pages.cap) {
		size_t cap = pages.cap ? 2 * pages.cap : 16;
		void *more = mem_realloc(pages.all, cap * sizeof(pages.all[0]));

		if (!more) {
			mem_free(p);
			return NULL;
		}
		pages.all = more;
		pages.cap = cap;
	}
	if (!p)
		return NULL;
	memset(p, 0, sizeof(*p));
	p->at = at & ~(uintptr_t)(SWAP_PAGE - 1);
	*why = page_renew(p);
	if (*why) {
		mem_free(p->path);
		mem_free(p);
		return NULL;
	}
	return pages.all[pages.n++] = p;
}

/* ---- changes ------------------------------------------------------------------------------ */

static const char *move_over(struct page *p, const uint8_t *bytes)
{
	void *copy =
		mmap(NULL, SWAP_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return "out of memory";
	memcpy(copy, bytes, SWAP_PAGE);
	__builtin___clear_cache((char *)copy, (char *)copy + SWAP_PAGE);
	if (mprotect(copy, SWAP_PAGE, PROT_READ | PROT_EXEC) != 0) {
		munmap(copy, SWAP_PAGE);
		return "the system allows no new code in this process";
	}
	if (mremap(copy, SWAP_PAGE, SWAP_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)p->at) ==
	    MAP_FAILED) {
		munmap(copy, SWAP_PAGE);
		return "the system does not let its page be replaced";
	}
	__builtin___clear_cache((char *)p->at, (char *)p->at + SWAP_PAGE);
	p->again = false;
	return NULL;
}

const char *swap_in(uintptr_t at, const void *bytes, size_t n)
{
	struct page *p = page_find(at);
	const char *why = NULL;
	uint8_t new[SWAP_PAGE];
	size_t from;

	if (!p)
		p = page_add(at, &why);
	else if (!page_read(p, new) || !p->changes || page_is_gone(p, new))
		why = page_renew(p);
	if (why)
		return why;
	if (!page_read(p, new))
		return "its memory cannot be read";
	from = at - p->at;
	memcpy(new + from, bytes, n);
	why = move_over(p, new);
	if (!why) {
		memset(p->ours + from, 1, n);
		memcpy(p->put + from, bytes, n);
		p->changes++;
	}
	return why;
}

/* The file's page, if it is still the same file, with the same bytes there. */
static bool map_file(struct page *p)
{
	int fd = p->path ? open(p->path, O_RDONLY | O_CLOEXEC) : -1;
	uint8_t there[SWAP_PAGE];
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	memset(there, 0, sizeof(there)); /* behind the end of a file there are zeros */
	if (fstat(fd, &st) == 0 && st.st_ino == p->inode)
		n = pread(fd, there, SWAP_PAGE, (off_t)p->offset);
	p->again = n > 0 && memcmp(there, p->was, SWAP_PAGE) == 0 &&
		   mmap((void *)p->at, SWAP_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			fd, (off_t)p->offset) != MAP_FAILED;
	close(fd);
	return p->again;
}

const char *swap_out(uintptr_t at, size_t n)
{
	struct page *p = page_find(at);
	uint8_t new[SWAP_PAGE];
	const char *why;
	size_t from;

	if (!p)
		return "it was not changed";
	from = at - p->at;
	if (!p->ours[from])
		return NULL; /* gone, and the page was taken anew since */
	if (page_read(p, new) && page_holds(p, new, from, n)) {
		memcpy(new + from, p->was + from, n);
		if (p->changes != 1 || memcmp(new, p->was, SWAP_PAGE) != 0 || !map_file(p)) {
			why = move_over(p, new);
			if (why)
				return why;
		}
	}
	memset(p->ours + from, 0, n);
	p->changes--;
	return NULL;
}

bool swap_holds(uintptr_t at, size_t n)
{
	const struct page *p = page_find(at);
	uint8_t now[SWAP_PAGE];

	return p && p->ours[at - p->at] && page_read(p, now) && page_holds(p, now, at - p->at, n);
}

void swap_look(struct swap_state *out)
{
	*out = (struct swap_state){ 0 };
	for (size_t i = 0; i < pages.n; i++) {
		const struct page *p = pages.all[i];
		uint8_t now[SWAP_PAGE];

		if (p->changes)
			out->changed++;
		else if (!page_read(p, now))
			continue; /* its library was unloaded */
		else if (memcmp(now, p->was, SWAP_PAGE) != 0)
			out->different++;
		else if (p->again)
			out->file_again++;
		else
			out->copies++;
	}
}

void swap_release(void)
{
	for (size_t i = 0; i < pages.n; i++) {
		mem_free(pages.all[i]->path);
		mem_free(pages.all[i]);
	}
	mem_free(pages.all);
	pages.all = NULL;
	pages.n = pages.cap = 0;
}
