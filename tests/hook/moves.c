/* SPDX-License-Identifier: Apache-2.0 */
/* moves.c - moves the first instructions of every function of a file, for comparison.
 *
 *     moves FILE OUT NEED ADDRESS: writes the copies one behind the other to OUT, MOVE_OUT bytes each,
 *     as if OUT lay at ADDRESS, and one line for each function: address, bytes taken, bytes of the
 *     copy, and pairs old:new of offsets; or its address and why it cannot be moved. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "elf/functions.h"
#include "hook/move.h"

static void put_one(struct move *m, bool good, FILE *out)
{
	printf("%llx", (unsigned long long)m->from_addr);
	if (!good) {
		printf(" no: %s\n", m->why);
		return;
	}
	printf(" %zu %zu", m->taken, m->to_n);
	for (unsigned i = 0; i < m->n; i++)
		printf(" %u:%u", m->at[i], m->to_at[i]);
	puts("");
	memset(m->to + m->to_n, 0x90,
	       MOVE_OUT - m->to_n); /* nop, so that what follows is read right */
	fwrite(m->to, 1, MOVE_OUT, out);
}

/* Up to where the function's bytes are its own, or filler. */
static struct slice bytes_of(const struct image *image, const struct functions *t, size_t i)
{
	struct slice s = image_at(image, t->f[i].addr);
	size_t next = i + 1;

	while (next < t->n && t->f[next].addr == t->f[i].addr)
		next++;
	if (next < t->n && t->f[next].addr - t->f[i].addr < s.n)
		s.n = (size_t)(t->f[next].addr - t->f[i].addr);
	return s;
}

int main(int argc, char **argv)
{
	int fd = argc == 5 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	FILE *out = fd >= 0 ? fopen(argv[2], "w") : NULL;
	struct move m = { 0 };
	struct functions t;
	struct image image;
	struct stat st;
	void *p;

	if (!out || fstat(fd, &st) < 0)
		return 2;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED || image_open(&image, (struct slice){ p, (size_t)st.st_size }) < 0 ||
	    functions_build(&t, &image, NULL) < 0)
		return 2;
	m.need = strtoul(argv[3], NULL, 10);
	m.to_addr = strtoull(argv[4], NULL, 16);
	for (size_t i = 0; i < t.n; i++) {
		bool good;

		if (t.f[i].is_plt || (i && t.f[i - 1].addr == t.f[i].addr))
			continue;
		m.from = bytes_of(&image, &t, i);
		m.from_addr = t.f[i].addr;
		good = image.machine == EM_X86_64 ? x86_move(&m) : a64_move(&m);
		put_one(&m, good, out);
		m.to_addr += good ? MOVE_OUT : 0;
	}
	functions_release(&t);
	return fclose(out) == 0 ? 0 : 3;
}
