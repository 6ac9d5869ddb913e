/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - prints what src/elf reads of a file, for comparison with other readers.
 *
 *     dump functions FILE     address size name, one a line
 *     dump unwind FILE        address CFA fp ra, one row a line
 *     dump find FILE ADDR...  the function at each address */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "elf/functions.h"
#include "elf/unwind.h"

static bool map_file(const char *path, struct slice *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0)
		return false;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	*out = (struct slice){ p, (size_t)st.st_size };
	return p != MAP_FAILED;
}

static void put_place(const char *what, int16_t at)
{
	if (at == UNWIND_SAME)
		printf(" %s=same", what);
	else
		printf(" %s=c%+d", what, at * UNWIND_UNIT);
}

static int dump_unwind(const struct image *image)
{
	static const char *const by[] = { "unknown", "sp", "fp", "plt", "end" };
	struct unwind u;

	if (unwind_build(&u, image) < 0)
		return 3;
	for (size_t i = 0; i < u.n; i++) {
		const struct unwind_row *r = &u.rows[i];

		printf("%llx %s", (unsigned long long)(u.base + r->at), by[r->cfa_by]);
		if (r->cfa_by == UNWIND_SP || r->cfa_by == UNWIND_FP)
			printf("%+d", r->cfa);
		if (r->cfa_by != UNWIND_UNKNOWN && r->cfa_by != UNWIND_END) {
			put_place("fp", r->fp);
			put_place("ra", r->ra);
		}
		puts("");
	}
	fprintf(stderr, "%zu functions, %zu rows, %zu bad\n", u.functions, u.n, u.bad);
	unwind_release(&u);
	return 0;
}

static void put_function(const struct function *f)
{
	printf("%llx %llx %.*s%s\n", (unsigned long long)f->addr, (unsigned long long)f->size,
	       SLICE_FMT(f->name), f->is_plt ? "@plt" : "");
}

static int dump_functions(const struct image *image, char **addrs)
{
	struct functions t;

	if (functions_build(&t, image, NULL) < 0)
		return 3;
	for (size_t i = 0; !addrs && i < t.n; i++)
		put_function(&t.f[i]);
	for (; addrs && *addrs; addrs++) {
		const struct function *f = functions_find(&t, strtoull(*addrs, NULL, 16));

		if (f)
			put_function(f);
		else
			puts("none");
	}
	functions_release(&t);
	return 0;
}

int main(int argc, char **argv)
{
	struct slice file;
	struct image image;

	if (argc < 3 || !map_file(argv[2], &file) || image_open(&image, file) < 0)
		return 2;
	if (argv[1][0] == 'u')
		return dump_unwind(&image);
	return dump_functions(&image, argv[1][1] == 'i' ? argv + 3 : NULL);
}
