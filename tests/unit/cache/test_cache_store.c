/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the cache: what is written is found, and damage is not. */
#define _GNU_SOURCE
#include "cache/store_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

enum { SEGMENT = 16 << 10, RECORDS = 20, TABLE_END = 4096 + 64 * 32 };

struct place {
	char dir[64], file[100];
	struct store *s;
};

static struct hash128 key(unsigned i)
{
	return hash128((struct hash128){ i, 7 }, slice_str("key"));
}

/* Contents that tell their number, of different lengths. */
static struct slice contents(unsigned i, uint8_t room[400])
{
	size_t n = 1 + i * 37 % 300;

	for (size_t k = 0; k < n; k++)
		room[k] = (uint8_t)(i + k * 3);
	return (struct slice){ room, n };
}

static int open_with(struct place *p, bool read_only)
{
	struct store_options o = {
		.dir = p->dir, .segment_bytes = SEGMENT, .limit = 1 << 20, .read_only = read_only
	};
	struct fault f = { 0 };

	p->s = NULL;
	return store_open(&o, &p->s, &f);
}

static bool make_place(struct place *p)
{
	snprintf(p->dir, sizeof(p->dir), "/tmp/sonde-unit-XXXXXX");
	if (!CHECK(mkdtemp(p->dir) != NULL))
		return false;
	snprintf(p->file, sizeof(p->file), "%s/00000001.seg", p->dir);
	return CHECK_INT(open_with(p, false), 0, NULL);
}

static void remove_place(struct place *p)
{
	char command[100];

	store_close(p->s);
	snprintf(command, sizeof(command), "rm -rf %s", p->dir);
	CHECK_INT(system(command), 0, NULL);
}

static void add(struct place *p, unsigned from, unsigned to)
{
	uint8_t room[400];

	CHECK_INT(store_lock(p->s), 0, NULL);
	for (unsigned i = from; i < to; i++)
		CHECK_INT(store_add(p->s, key(i), RECORD_CLASS, contents(i, room)), 0, NULL);
	store_unlock(p->s);
}

/* 1: found as it was; 0: not there; -1: something else came. */
static int find(struct store *s, unsigned i)
{
	struct buf got = { 0 };
	uint8_t room[400];
	struct slice want = contents(i, room);
	int rc = store_find(s, key(i), &got), result = 0;

	if (rc > 0)
		result = rc == RECORD_CLASS && slice_eq(buf_slice(&got), want) ? 1 : -1;
	else if (got.n)
		result = -1;
	buf_release(&got);
	return result;
}

static unsigned found(struct store *s, unsigned from, unsigned to)
{
	unsigned n = 0;

	for (unsigned i = from; i < to; i++) {
		int rc = find(s, i);

		if (!CHECK(rc >= 0))
			return 0;
		n += (unsigned)rc;
	}
	return n;
}

TEST(store_finds_what_was_added)
{
	struct place p;

	if (!make_place(&p))
		return;
	CHECK_INT(found(p.s, 0, RECORDS), 0, "nothing yet");
	add(&p, 0, RECORDS);
	CHECK_INT(found(p.s, 0, RECORDS), RECORDS, "in the same process");
	store_close(p.s);
	CHECK_INT(open_with(&p, false), 0, NULL);
	CHECK_INT(found(p.s, 0, RECORDS), RECORDS, "after closing");
	CHECK_INT(found(p.s, RECORDS, 2 * RECORDS), 0, "others");
	remove_place(&p);
}

TEST(store_shows_others_what_is_added_while_they_have_it_open)
{
	struct place p, q;

	if (!make_place(&p))
		return;
	add(&p, 0, 1); /* so that there is a segment */
	q = p;
	CHECK_INT(open_with(&q, true), 0, NULL);
	add(&p, 1, RECORDS);
	CHECK_INT(found(q.s, 0, RECORDS), RECORDS, NULL);
	CHECK_INT(store_lock(q.s), E_LIMIT, "read only");
	store_close(q.s);
	remove_place(&p);
}

TEST(store_takes_the_later_record_of_a_key)
{
	struct place p;
	struct buf got = { 0 };

	if (!make_place(&p))
		return;
	add(&p, 0, RECORDS);
	CHECK_INT(store_lock(p.s), 0, NULL);
	CHECK_INT(store_add(p.s, key(3), RECORD_LINK, slice_str("new")), 0, NULL);
	store_unlock(p.s);
	CHECK_INT(store_find(p.s, key(3), &got), RECORD_LINK, NULL);
	CHECK_MEM(got.p, got.n, "new", 3, NULL);
	buf_release(&got);
	remove_place(&p);
}

TEST(store_lets_one_process_write_at_a_time)
{
	struct place p, q;

	if (!make_place(&p))
		return;
	q = p;
	CHECK_INT(open_with(&q, false), 0, NULL);
	CHECK_INT(store_lock(p.s), 0, NULL);
	CHECK_INT(store_lock(q.s), E_LIMIT, "and it does not wait");
	store_unlock(p.s);
	CHECK_INT(store_lock(q.s), 0, NULL);
	store_unlock(q.s);
	store_close(q.s);
	remove_place(&p);
}

static size_t segments(const struct store *s, uint64_t *used)
{
	struct store_segment v[STORE_SEGMENTS_MAX];
	size_t n = store_segments(s, v, COUNT(v));

	*used = 0;
	for (size_t i = 0; i < n; i++)
		*used += v[i].used;
	return n;
}

TEST(store_drops_the_oldest_when_the_limit_is_reached)
{
	struct place p;
	struct store_options o = { .segment_bytes = SEGMENT, .limit = 4 * SEGMENT };
	struct fault f = { 0 };
	uint64_t used;

	if (!make_place(&p))
		return;
	store_close(p.s);
	o.dir = p.dir;
	CHECK_INT(store_open(&o, &p.s, &f), 0, f.text);
	add(&p, 0, 600);
	CHECK(segments(p.s, &used) <= 4);
	CHECK(used <= o.limit);
	store_close(p.s);
	CHECK_INT(open_with(&p, false), 0, NULL);
	CHECK_INT(found(p.s, 0, 100), 0, "the oldest");
	CHECK_INT(found(p.s, 550, 600), 50, "the newest");
	CHECK(store_prune(p.s, 0) > 0);
	CHECK_INT(segments(p.s, &used), 0, "pruned");
	remove_place(&p);
}

TEST(store_goes_on_in_a_new_segment_when_the_table_is_full)
{
	struct place p;
	uint64_t used;

	if (!make_place(&p))
		return;
	CHECK_INT(store_lock(p.s), 0, NULL);
	for (unsigned i = 0; i < 200; i++) /* small ones: there are 64 slots */
		CHECK_INT(store_add(p.s, key(i), RECORD_LINK, slice_str("x")), 0, NULL);
	store_unlock(p.s);
	CHECK(segments(p.s, &used) >= 3);
	for (unsigned i = 0; i < 200; i++) {
		struct buf got = { 0 };

		CHECK_INT(store_find(p.s, key(i), &got), RECORD_LINK, NULL);
		buf_release(&got);
	}
	remove_place(&p);
}

/* ---- damage ---- */

static bool flip(const char *file, long at, uint8_t with)
{
	int fd = open(file, O_RDWR);
	uint8_t b = 0;
	bool good = fd >= 0 && pread(fd, &b, 1, at) == 1;

	b ^= with;
	good = good && pwrite(fd, &b, 1, at) == 1;
	close(fd);
	return good;
}

static long bytes_in_use(struct place *p)
{
	struct store_segment v[STORE_SEGMENTS_MAX];

	if (store_segments(p->s, v, COUNT(v)) != 1)
		return 0;
	return (long)(TABLE_END + v[0].used);
}

/* Every byte of head, table and records is changed in turn: what comes out is right or nothing,
 * most is still there, and the cache can be added to. */
TEST(store_never_gives_out_what_a_changed_byte_has_made)
{
	struct place p;
	long end;

	if (!make_place(&p))
		return;
	add(&p, 0, RECORDS);
	end = bytes_in_use(&p);
	CHECK(end > 8000);
	for (long at = 0; at < end; at += at == 64 ? 4096 - 64 : 1) {
		unsigned n;

		store_close(p.s);
		CHECK(flip(p.file, at, (uint8_t)(1u << at % 8)));
		CHECK_INT(open_with(&p, false), 0, NULL);
		n = found(p.s, 0, RECORDS);
		if (!CHECK(n >= RECORDS - 1 || at < 32))
			break;
		store_close(p.s);
		CHECK(flip(p.file, at, (uint8_t)(1u << at % 8)));
		CHECK_INT(open_with(&p, true), 0, NULL);
	}
	CHECK_INT(found(p.s, 0, RECORDS), RECORDS, "mended");
	remove_place(&p);
}

TEST(store_can_be_added_to_after_any_byte_of_its_head_was_changed)
{
	for (long at = 0; at < 64; at++) {
		struct place p;
		unsigned n;

		if (!make_place(&p))
			return;
		add(&p, 0, RECORDS);
		store_close(p.s);
		CHECK(flip(p.file, at, 0x81));
		CHECK_INT(open_with(&p, false), 0, NULL);
		add(&p, RECORDS, 2 * RECORDS);
		CHECK_INT(found(p.s, RECORDS, 2 * RECORDS), RECORDS, "the new ones");
		n = found(p.s, 0, RECORDS); /* the old ones may have been overwritten */
		CHECK(n <= RECORDS);
		remove_place(&p);
	}
}

TEST(store_never_reads_behind_the_end_of_a_file_cut_short)
{
	struct place p;

	if (!make_place(&p))
		return;
	add(&p, 0, RECORDS);
	for (off_t n = 0; n < SEGMENT; n += n < 4200 ? 1 : 97) {
		struct place q = p;
		off_t cut = SEGMENT - 1 - n;

		CHECK_INT(open_with(&q, false), 0, NULL); /* while it has it open ... */
		CHECK_INT(truncate(p.file, cut), 0, NULL);
		CHECK_INT(found(q.s, 0, RECORDS), 0, "cut while open");
		store_close(q.s);
		CHECK_INT(open_with(&q, false), 0, NULL); /* ... and before */
		CHECK_INT(found(q.s, 0, RECORDS), 0, "cut before");
		store_close(q.s);
		CHECK_INT(truncate(p.file, SEGMENT), 0, NULL);
	}
	CHECK_INT(truncate(p.file, 100), 0, NULL);
	add(&p, RECORDS, 2 * RECORDS);
	CHECK_INT(found(p.s, RECORDS, 2 * RECORDS), RECORDS, "in a new segment");
	remove_place(&p);
}

static int skip_record(void *ctx, const struct store_record *r)
{
	unsigned *n = ctx;

	*n += r->live;
	return 0;
}

TEST(store_walks_over_damage_and_counts_it)
{
	struct place p;
	uint64_t damaged;
	unsigned n = 0;

	if (!make_place(&p))
		return;
	add(&p, 0, RECORDS);
	CHECK_INT(store_walk(p.s, skip_record, &n, &damaged), 0, NULL);
	CHECK_INT(n, RECORDS, NULL);
	CHECK_INT(damaged, 0, NULL);
	CHECK(flip(p.file, TABLE_END + 500, 1));
	n = 0;
	CHECK_INT(store_walk(p.s, skip_record, &n, &damaged), 0, NULL);
	CHECK_INT(n, RECORDS - 1, NULL);
	CHECK_INT(damaged, 1, NULL);
	remove_place(&p);
}

static void check_earlier_version(uint64_t magic)
{
	struct seg_head head;
	struct place p;
	uint64_t damaged;
	unsigned n = 0;
	int fd;

	if (!make_place(&p))
		return;
	add(&p, 0, RECORDS);
	store_close(p.s);
	fd = open(p.file, O_RDWR);
	CHECK_INT(pread(fd, &head, sizeof(head), 0), (long)sizeof(head), NULL);
	head.magic = magic;
	head.check =
		hash128((struct hash128){ 0, head.magic },
			(struct slice){ (const uint8_t *)&head, offsetof(struct seg_head, check) })
			.a |
		1;
	CHECK_INT(pwrite(fd, &head, sizeof(head), 0), (long)sizeof(head), NULL);
	close(fd);
	CHECK_INT(open_with(&p, false), 0, NULL);
	CHECK_INT(found(p.s, 0, RECORDS), 0, NULL);
	add(&p, 0, RECORDS);
	CHECK_INT(store_walk(p.s, skip_record, &n, &damaged), 0, NULL);
	CHECK_INT(n, RECORDS, "in a file of its own");
	CHECK_INT(damaged, 0, NULL);
	CHECK(flip(p.file, 2, 1)); /* now it is damage */
	store_close(p.s);
	CHECK_INT(open_with(&p, true), 0, NULL);
	CHECK_INT(store_walk(p.s, skip_record, &n, &damaged), 0, NULL);
	CHECK_INT(damaged, 1, NULL);
	remove_place(&p);
}

TEST(store_passes_over_what_an_earlier_version_wrote_and_calls_it_no_damage)
{
	check_earlier_version(SEG_MAGIC_1);
	check_earlier_version(SEG_MAGIC_2);
}

/* ---- whose it is ---- */

TEST(store_refuses_a_directory_that_others_can_enter)
{
	struct place p;

	if (!make_place(&p))
		return;
	store_close(p.s);
	CHECK_INT(chmod(p.dir, 0750), 0, NULL);
	CHECK_INT(open_with(&p, false), E_IO, NULL);
	CHECK_INT(chmod(p.dir, 0700), 0, NULL);
	CHECK_INT(open_with(&p, false), 0, NULL);
	remove_place(&p);
}

TEST(store_does_not_look_at_files_of_others_or_links)
{
	struct place p;
	char elsewhere[120];

	if (!make_place(&p))
		return;
	add(&p, 0, RECORDS);
	store_close(p.s);
	CHECK_INT(chmod(p.file, 0620), 0, NULL);
	CHECK_INT(open_with(&p, false), 0, NULL);
	CHECK_INT(found(p.s, 0, RECORDS), 0, "others may write it");
	store_close(p.s);
	CHECK_INT(chmod(p.file, 0600), 0, NULL);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", p.dir);
	CHECK_INT(rename(p.file, elsewhere), 0, NULL);
	CHECK_INT(symlink(elsewhere, p.file), 0, NULL);
	CHECK_INT(open_with(&p, false), 0, NULL);
	CHECK_INT(found(p.s, 0, RECORDS), 0, "a link");
	store_close(p.s);
	CHECK_INT(unlink(p.file), 0, NULL);
	CHECK_INT(link(elsewhere, p.file), 0, NULL);
	CHECK_INT(open_with(&p, false), 0, NULL);
	CHECK_INT(found(p.s, 0, RECORDS), 0, "has another name");
	store_close(p.s);
	CHECK_INT(unlink(elsewhere), 0, NULL);
	CHECK_INT(open_with(&p, false), 0, NULL);
	CHECK_INT(found(p.s, 0, RECORDS), RECORDS, "as it was");
	remove_place(&p);
}

TEST(store_refuses_a_link_to_a_directory)
{
	struct place p, q;

	if (!make_place(&p))
		return;
	q = p;
	snprintf(q.dir, sizeof(q.dir), "%.50s-link", p.dir);
	CHECK_INT(symlink(p.dir, q.dir), 0, NULL);
	CHECK_INT(open_with(&q, false), E_IO, NULL);
	CHECK_INT(unlink(q.dir), 0, NULL);
	remove_place(&p);
}
