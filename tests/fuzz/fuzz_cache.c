/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_cache.c - any bytes as a recipe of the cache, all of which lies in them; and written over a segment with
 * one record, which is then found as it was, or not at all.  The first byte says which. */
#define _GNU_SOURCE /* nftw */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cache/recipe.h"
#include "cache/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool held)
{
	if (!held)
		abort();
}

static void need_inside(struct slice part, struct slice all)
{
	need(!part.n || (part.p >= all.p && part.p + part.n <= all.p + all.n));
}

/* ---- recipes ------------------------------------------------------------------------------- */

static void recipe(struct slice in)
{
	struct recipe_number number;
	struct recipe_method m;
	struct recipe r;
	size_t at = 0;

	if (recipe_get(in, &r) < 0)
		return;
	need_inside(r.name, in);
	need_inside(r.why, in);
	need_inside(r.woven, in);
	while (recipe_next(&r, &at, &m)) {
		need_inside(m.name, in);
		need_inside(m.desc, in);
		need_inside(m.template, in);
		need_inside(m.map, in);
		need(!m.id_at || m.id_at < r.woven.n);
		for (uint32_t i = 0; i < m.n_anchors; i++)
			(void)recipe_anchor(&m, i);
	}
	for (at = 0; recipe_next_number(&r, &at, &number);)
		need(number.at < r.woven.n);
}

/* ---- segments ------------------------------------------------------------------------------ */

static char dir[64], path[96];

static int drop(const char *name, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(name);
}

static void clean(void)
{
	nftw(dir, drop, 4, FTW_DEPTH | FTW_PHYS);
}

static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/fuzz_cache.XXXXXX");
	if (!mkdtemp(dir))
		abort();
	atexit(clean);
	snprintf(path, sizeof(path), "%s/00000001.seg", dir);
}

static int take(void *ctx, const struct store_record *r)
{
	unsigned *sum = ctx;

	for (size_t i = 0; i < r->contents.n; i++)
		*sum += r->contents.p[i];
	return 0;
}

/* Two bytes say where, in units of 8; 2 MB is what the file may have at most. */
static void spoil(struct slice in)
{
	int fd = in.n > 2 ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	if (pwrite(fd, in.p + 2, in.n - 2, (in.p[0] << 8 | in.p[1]) * 8) < 0)
		abort();
	close(fd);
}

static void segment(struct slice in)
{
	static const struct hash128 key = { 1, 2 };
	const struct slice contents = slice_str("what is kept");
	const struct store_options o = { .dir = dir, .segment_bytes = 1 << 16 };
	struct store_segment all[4];
	struct store *s;
	struct fault f = { 0 };
	struct buf out = { 0 };
	uint64_t damaged;
	unsigned sum = 0;

	if (!*dir)
		make_dir();
	(void)unlink(path);
	if (store_open(&o, &s, &f) < 0)
		abort();
	need(store_lock(s) == 0 && store_add(s, key, RECORD_CLASS, contents) == 0);
	store_unlock(s);
	spoil(in);
	if (store_find(s, key, &out) >= 0)
		need(slice_eq(buf_slice(&out), contents));
	store_close(s);
	if (store_open(&o, &s, &f) < 0)
		abort();
	buf_clear(&out);
	if (store_find(s, key, &out) >= 0)
		need(slice_eq(buf_slice(&out), contents));
	(void)store_walk(s, take, &sum, &damaged);
	(void)store_segments(s, all, COUNT(all));
	if (store_lock(s) == 0) {
		(void)store_add(s, key, RECORD_CLASS, in);
		store_unlock(s);
	}
	(void)store_prune(s, 0);
	store_close(s);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 };

	if (!size)
		return 0;
	if (data[0] & 1)
		recipe(in);
	else
		segment(in);
	return 0;
}
