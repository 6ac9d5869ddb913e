/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/fnv.h"
#include "base/mem.h"
#include "export/collapsed.h"
#include "export/stretch.h"

static const char text[] =
	"main;work;hash 30\nmain;work 10\nmain;idle 5\nmain;work;hash;work 5\nmaintain 1\n";

static const struct stretch_facts facts = { .began_ns = 1700000000123456789u,
					    .wall_ns = 60000000000u,
					    .samples = 51,
					    .lost = 3,
					    .mode = 1,
					    .threads = 7,
					    .pid = 4711,
					    .ends = { [2] = 9 },
					    .states = { [15] = 8 } };

/* The text as a profile and a file. */
static void make(struct profile *p, struct buf *out)
{
	struct stretch_facts f = facts;
	size_t line;

	f.name = slice_str("shop.jar");
	f.engine = slice_str("perf events");
	profile_init(p);
	(void)collapsed_read(p, slice_str(text), &line);
	profile_add(p, &(struct profile_stack){ 0 }); /* nothing was seen of it */
	stretch_put(out, &f, p);
}

TEST(a_stretch_is_read_as_it_was_written)
{
	struct profile p, q;
	struct buf bytes = { 0 }, again = { 0 };
	struct stretch_facts f;

	make(&p, &bytes);
	profile_init(&q);
	CHECK_INT(stretch_read(buf_slice(&bytes), &f, &q), 0, NULL);
	collapsed_put(&again, &q);
	CHECK_MEM(again.p, again.n, text, sizeof(text) - 1, NULL);
	CHECK_INT(q.total, 51, NULL);
	CHECK(f.began_ns == facts.began_ns && f.wall_ns == facts.wall_ns && f.samples == 51);
	CHECK(f.lost == 3 && f.mode == 1 && f.threads == 7 && f.pid == 4711);
	CHECK(f.ends[2] == 9 && f.states[15] == 8);
	CHECK(slice_is(f.name, "shop.jar") && slice_is(f.engine, "perf events"));
	CHECK_INT(stretch_read(buf_slice(&bytes), &f, &q), 0, "a second time");
	CHECK_INT(q.total, 102, "adds");
	CHECK_INT(q.n_stacks, 5, "the same stacks");
	profile_release(&p);
	profile_release(&q);
	buf_release(&bytes);
	buf_release(&again);
}

TEST(frames_keep_their_kind_and_file)
{
	struct profile p, q;
	struct buf bytes = { 0 };
	struct stretch_facts f = { 0 };
	uint32_t frames[2];

	profile_init(&p);
	profile_init(&q);
	frames[0] = profile_frame(
		&p, &(struct profile_frame){ slice_str("f"), slice_str("/lib/x.so"), 7 });
	frames[1] = profile_frame(
		&p, &(struct profile_frame){ slice_str("f"), slice_str("/lib/y.so"), 7 });
	profile_add(&p, &(struct profile_stack){
				.frames = frames, .n = 2, .kind = 3, .value = 4, .count = 2 });
	stretch_put(&bytes, &f, &p);
	CHECK_INT(stretch_read(buf_slice(&bytes), &f, &q), 0, NULL);
	CHECK_INT(q.n_frames, 2, NULL);
	CHECK(q.n_stacks == 1 && q.stacks[0].kind == 3 && q.stacks[0].count == 2);
	CHECK(slice_is(q.frames[q.stacks[0].frames[0]].file, "/lib/x.so"));
	CHECK(slice_is(q.frames[q.stacks[0].frames[1]].file, "/lib/y.so"));
	CHECK_INT(q.frames[q.stacks[0].frames[1]].kind, 7, NULL);
	profile_release(&p);
	profile_release(&q);
	buf_release(&bytes);
}

TEST(a_stretch_that_is_cut_off_or_changed_is_refused)
{
	struct profile p, q;
	struct buf bytes = { 0 };
	struct stretch_facts f;

	make(&p, &bytes);
	profile_init(&q);
	for (size_t n = 0; n < bytes.n; n++)
		if (!CHECK_INT(stretch_read((struct slice){ bytes.p, n }, &f, &q), E_DAMAGED,
			       "cut"))
			break;
	for (size_t i = 0; i < bytes.n; i++) {
		bytes.p[i] ^= 0x10;
		if (!CHECK_INT(stretch_read(buf_slice(&bytes), &f, &q), E_DAMAGED, "changed"))
			break;
		bytes.p[i] ^= 0x10;
	}
	CHECK_INT(q.total, 0, NULL);
	profile_release(&p);
	profile_release(&q);
	buf_release(&bytes);
}

/* As if somebody had made it: the sum is right, the body is not. */
static int read_changed(const struct buf *bytes, size_t at, uint8_t to)
{
	struct buf b = { 0 };
	struct profile q;
	struct stretch_facts f;
	uint64_t sum;
	int rc;

	buf_put(&b, buf_slice(bytes));
	b.p[at] = to;
	sum = fnv_add(FNV_START, b.p + 12, b.n - 20);
	put_u32(b.p + b.n - 8, (uint32_t)(sum >> 32));
	put_u32(b.p + b.n - 4, (uint32_t)sum);
	profile_init(&q);
	rc = stretch_read(buf_slice(&b), &f, &q);
	profile_release(&q);
	buf_release(&b);
	return rc;
}

TEST(a_stretch_made_by_somebody_else_does_no_harm)
{
	struct profile p;
	struct buf bytes = { 0 };
	size_t refused = 0;

	make(&p, &bytes);
	for (size_t i = 12; i < bytes.n - 8; i++)
		for (unsigned to = 0; to < 256; to += 51)
			refused += read_changed(&bytes, i, (uint8_t)to) == E_DAMAGED;
	CHECK(refused > bytes.n);
	profile_release(&p);
	buf_release(&bytes);
}

TEST(a_stretch_survives_every_failed_allocation)
{
	struct profile p, q;
	struct buf bytes = { 0 }, again = { 0 };
	struct stretch_facts f;
	int rc = -1;

	make(&p, &bytes);
	for (long n = 0; rc < 0; n++) {
		profile_init(&q);
		mem_fail_at(n);
		rc = stretch_read(buf_slice(&bytes), &f, &q);
		mem_fail_at(-1);
		CHECK(rc == 0 || rc == E_NO_MEMORY);
		profile_release(&q);
	}
	again.err = -1;
	for (long n = 0; again.err; n++) {
		buf_release(&again);
		again = (struct buf){ 0 };
		mem_fail_at(n);
		stretch_put(&again, &f, &p);
		mem_fail_at(-1);
		CHECK(!again.err || again.err == E_NO_MEMORY);
	}
	profile_release(&p);
	buf_release(&bytes);
	buf_release(&again);
}
