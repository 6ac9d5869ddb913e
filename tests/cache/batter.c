/* SPDX-License-Identifier: Apache-2.0 */
/* batter.c - damages a cache at random places, and sees to it that nothing wrong ever comes out.
 *
 *	batter DIR TIMES SEED
 *
 * DIR is a cache that was filled; each time bytes of one of its files are flipped, zeroed or cut
 * off, in a copy, and every record that the whole cache has is asked for.  It must come as it was,
 * or not at all. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/cache.h"

struct known { /* a record of the whole cache */
	struct hash128 key, sum;
	uint8_t kind;
};

struct batter {
	struct known *v;
	size_t n, cap;
	uint64_t seed, found, missed, wrong;
	char dir[4096], file[4200];
	uint8_t *bytes; /* of the file, as it was */
	size_t size;
};

static struct hash128 sum_of(struct slice s)
{
	return hash128((struct hash128){ 1, 1 }, s);
}

static uint64_t next(struct batter *b)
{
	b->seed ^= b->seed << 13;
	b->seed ^= b->seed >> 7;
	b->seed ^= b->seed << 17;
	return b->seed;
}

static int keep(void *ctx, const struct store_record *r)
{
	struct batter *b = ctx;

	if (!r->live)
		return 0;
	if (b->n == b->cap) {
		b->cap = b->cap ? 2 * b->cap : 256;
		b->v = mem_realloc(b->v, b->cap * sizeof(*b->v));
		if (!b->v)
			return E_NO_MEMORY;
	}
	b->v[b->n++] = (struct known){ r->key, sum_of(r->contents), r->kind };
	return 0;
}

static struct store *open_cache(const char *dir)
{
	struct store_options o = { .dir = dir };
	struct store *s = NULL;
	struct fault f = { 0 };

	if (store_open(&o, &s, &f) < 0)
		fprintf(stderr, "batter: %s\n", f.text);
	return s;
}

static bool write_file(const struct batter *b, size_t n)
{
	int fd = open(b->file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	bool good = fd >= 0 && write(fd, b->bytes, n) == (ssize_t)n &&
		    ftruncate(fd, (off_t)b->size) == 0;

	close(fd);
	return good;
}

static bool read_file(struct batter *b, const char *dir)
{
	struct stat st;
	int fd;

	snprintf(b->file, sizeof(b->file), "%s/00000001.seg", dir);
	fd = open(b->file, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	b->size = (size_t)st.st_size;
	b->bytes = mem_alloc(b->size);
	if (!b->bytes || read(fd, b->bytes, b->size) != (ssize_t)b->size)
		return false;
	close(fd);
	return true;
}

/* Asks for some of the records. */
static void ask(struct batter *b, struct store *s, size_t times)
{
	for (size_t i = 0; i < times; i++) {
		const struct known *k = &b->v[next(b) % b->n];
		struct buf got = { 0 };
		struct recipe r;
		int rc = store_find(s, k->key, &got);

		if (rc < 0)
			b->missed++;
		else if (rc != k->kind || !hash128_eq(sum_of(buf_slice(&got)), k->sum))
			b->wrong++;
		else
			b->found++;
		if (rc == RECORD_CLASS && recipe_get(buf_slice(&got), &r) < 0)
			b->wrong++;
		buf_release(&got);
	}
}

static void damage(struct batter *b, size_t used)
{
	int fd = open(b->file, O_RDWR);
	unsigned n = 1 + (unsigned)(next(b) % 64);

	if (next(b) % 8 == 0 && ftruncate(fd, (off_t)(next(b) % b->size)) < 0)
		b->wrong++;
	while (n--) {
		uint64_t what = next(b);
		uint8_t byte = (uint8_t)(what >> 8);
		off_t at = (off_t)(what % 3 == 0 ? next(b) % 4200 : next(b) % used);

		if (at < lseek(fd, 0, SEEK_END) && pwrite(fd, &byte, 1, at) != 1)
			b->wrong++;
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct batter b = { 0 };
	uint64_t damaged;
	size_t used;
	struct store *s;
	long times = argc > 2 ? atol(argv[2]) : 0;

	b.seed = argc > 3 ? strtoull(argv[3], NULL, 0) | 1 : 1;
	if (times <= 0 || !(s = open_cache(argv[1])))
		return fprintf(stderr, "usage: batter DIR TIMES SEED\n"), 2;
	if (store_walk(s, keep, &b, &damaged) < 0 || !b.n || damaged || !read_file(&b, argv[1]))
		return fprintf(stderr, "batter: %s is no sound cache\n", argv[1]), 2;
	store_close(s);
	for (used = b.size; used && !b.bytes[used - 1];)
		used--;
	snprintf(b.dir, sizeof(b.dir), "/tmp/sonde-batter-XXXXXX");
	if (!mkdtemp(b.dir))
		return 2;
	snprintf(b.file, sizeof(b.file), "%s/00000001.seg", b.dir);
	for (long i = 0; i < times; i++) {
		if (i % 5 == 0 && !write_file(&b, used))
			return 2;
		if (i % 5 == 0 || next(&b) % 2) {
			s = open_cache(b.dir);
			damage(&b, used); /* while it is open */
		} else {
			damage(&b, used);
			s = open_cache(b.dir);
		}
		if (!s)
			return 2;
		ask(&b, s, 40);
		store_close(s);
	}
	unlink(b.file);
	snprintf(b.file, sizeof(b.file), "%s/lock", b.dir);
	unlink(b.file);
	rmdir(b.dir);
	printf("%ld times damaged, %zu records: %llu came as they were, %llu did not come, %llu wrong\n",
	       times, b.n, (unsigned long long)b.found, (unsigned long long)b.missed,
	       (unsigned long long)b.wrong);
	return b.wrong != 0 || !b.found || !b.missed;
}
