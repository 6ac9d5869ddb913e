/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <linux/perf_event.h>

#include "outside/anonymous.h"
#include "outside/listed.h"
#include "outside/perf_sample.h"
#include "outside/perf_ring.h"

static uint8_t whole[PERF_RING_RECORD_MAX];

/* A ring as the kernel leaves it: records one behind the other, also over the end. */
struct kernel {
	uint8_t bytes[256];
	struct perf_ring ring;
};

static void start(struct kernel *k, uint64_t at)
{
	memset(k->bytes, 0xee, sizeof(k->bytes));
	k->ring = (struct perf_ring){
		.bytes = k->bytes, .size = sizeof(k->bytes), .head = at, .tail = at, .whole = whole
	};
}

static void write(struct kernel *k, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->bytes[k->ring.head++ & 255] = ((const uint8_t *)from)[i];
}

static void write_record(struct kernel *k, uint32_t type, uint16_t size, uint8_t fill)
{
	struct perf_event_header h = { .type = type, .size = size };

	write(k, &h, sizeof(h));
	for (unsigned i = sizeof(h); i < size; i++)
		write(k, &fill, 1);
}

TEST(ring_gives_records_that_go_over_its_end_in_one_piece)
{
	struct kernel k;
	struct perf_ring_record r;

	for (uint64_t at = 0; at < 512; at += 8) {
		start(&k, at);
		write_record(&k, PERF_RECORD_LOST, 24, 1);
		write_record(&k, PERF_RECORD_SAMPLE, 48, 2);
		CHECK(perf_ring_take(&k.ring, &r));
		CHECK_INT(r.type, PERF_RECORD_LOST, NULL);
		CHECK(perf_ring_take(&k.ring, &r));
		CHECK_INT(r.payload.n, 40, NULL);
		for (size_t i = 0; i < r.payload.n; i++)
			CHECK_INT(r.payload.p[i], 2, NULL);
		CHECK(!perf_ring_take(&k.ring, &r));
		CHECK_INT(k.ring.damaged, 0, NULL);
	}
}

TEST(ring_drops_what_is_no_record)
{
	static const struct {
		uint16_t size;
		const char *what;
	} cases[] = {
		{ 0, "empty" }, { 4, "no header" }, { 12, "odd" }, { 200, "more than is there" }
	};
	struct kernel k;
	struct perf_ring_record r;

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct perf_event_header h = { .type = 9, .size = cases[i].size };

		start(&k, 0);
		write(&k, &h, sizeof(h));
		write(&k, &h, sizeof(h));
		CHECK(!perf_ring_take(&k.ring, &r));
		CHECK_INT(k.ring.damaged, 16, cases[i].what);
		CHECK(k.ring.tail == k.ring.head);
	}
	start(&k, 0);
	k.ring.head = 4096; /* more than the ring has */
	CHECK(!perf_ring_take(&k.ring, &r));
	CHECK(k.ring.tail == k.ring.head);
}

/* ---- samples ------------------------------------------------------------------------------- */

static void put64(struct buf *b, uint64_t v)
{
	buf_bytes(b, &v, sizeof(v));
}

/* ip, thread 8 of process 7, three numbers of a chain, all registers, 16 bytes of a stack of which 8
 * are good */
static void put_sample(struct buf *b)
{
	put64(b, 0x1000);
	put64(b, (uint64_t)8 << 32 | 7);
	put64(b, 3);
	put64(b, PERF_CONTEXT_KERNEL);
	put64(b, 0xffffffff81000010);
	put64(b, 0xffffffff81000020);
	put64(b, 2);
	for (unsigned i = 0; i < (unsigned)__builtin_popcountll(perf_sample_regs()); i++)
		put64(b, 0x7000 + 8 * i);
	put64(b, 16);
	put64(b, 0x1111);
	put64(b, 0x2222);
	put64(b, 8);
}

TEST(perf_sample_has_what_the_kernel_wrote)
{
	struct buf b = { 0 };
	struct perf_sample s;
	uint64_t spots[4];

	put_sample(&b);
	CHECK(perf_sample_read(buf_slice(&b), &s));
	CHECK_INT(s.pid, 7, NULL);
	CHECK_INT(s.tid, 8, NULL);
	CHECK(s.has_regs);
	CHECK_INT(s.regs.fp, 0x7000, "the frame pointer has the lowest number");
	CHECK_INT(s.regs.pc, 0x7000 + 8 * (__builtin_popcountll(perf_sample_regs()) - 1), NULL);
	CHECK_INT(s.regs.sp, s.regs.pc - 8, NULL);
	CHECK_INT(s.stack.n, 8, NULL);
	CHECK_INT(perf_sample_kernel(&s, spots, 4), 2, NULL);
	CHECK(spots[0] == 0xffffffff81000010 && spots[1] == 0xffffffff81000020);
	CHECK_INT(perf_sample_kernel(&s, spots, 1), 1, NULL);
	buf_release(&b);
}

TEST(perf_sample_that_is_cut_off_or_noise_is_none)
{
	struct buf b = { 0 };
	struct perf_sample s;

	put_sample(&b);
	for (size_t n = 0; n < b.n; n++)
		CHECK(!perf_sample_read((struct slice){ b.p, n }, &s));
	for (size_t at = 16; at < b.n; at += 8) { /* each number becomes a huge one */
		uint64_t before, huge = UINT64_MAX - at;

		memcpy(&before, b.p + at, 8);
		memcpy(b.p + at, &huge, 8);
		if (perf_sample_read(buf_slice(&b), &s))
			CHECK(s.stack.n <= 16 && s.n_chain <= 3);
		memcpy(b.p + at, &before, 8);
	}
	buf_release(&b);
}

TEST(perf_sample_of_a_thread_without_registers_is_read)
{
	struct buf b = { 0 };
	struct perf_sample s;

	put64(&b, 1);
	put64(&b, 7);
	put64(&b, 0);
	put64(&b, 0);
	put64(&b, 0);
	CHECK(perf_sample_read(buf_slice(&b), &s));
	CHECK(!s.has_regs && s.stack.n == 0);
	buf_release(&b);
}

/* ---- lists --------------------------------------------------------------------------------- */

static bool is_at(const struct listed *l, uint64_t address, const char *name)
{
	const struct listed_function *f = listed_find(l, address);

	return name ? f && slice_is(f->name, name) : !f;
}

TEST(listed_gives_the_last_function_at_an_address)
{
	static const char map[] =
		"1000 100 old\n1080 10 inner\n2000 40 JS:*f a.js:1\n1000 100 new\n"
		"0x3000 0x20 with prefix\nnonsense\n\n4000 zz x\n5000 0 empty\n"
		"ffffffffffffffff 10 over\n12345678901234567 1 long\n";
	struct listed l = { 0 };

	CHECK(listed_add_map(&l, slice_str(map)));
	listed_sort(&l);
	CHECK(is_at(&l, 0x1000, "new"));
	CHECK(is_at(&l, 0x1085, "new"));
	CHECK(is_at(&l, 0x10ff, "new"));
	CHECK(is_at(&l, 0x1100, NULL));
	CHECK(is_at(&l, 0xfff, NULL));
	CHECK(is_at(&l, 0x203f, "JS:*f a.js:1"));
	CHECK(is_at(&l, 0x3001, "with prefix"));
	CHECK(is_at(&l, 0x5000, NULL));
	CHECK_INT(l.n, 5, NULL);
	listed_release(&l);
}

TEST(listed_reads_functions_of_the_kernel_alone)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 d data\n"
				   "ffffffff81000200 t read\t[ext4]\n0000000000000000 T hidden\n";
	struct listed l = { 0 };

	CHECK(listed_add_kernel(&l, slice_str(text)));
	listed_sort(&l);
	CHECK(is_at(&l, 0xffffffff81000150, "_text"));
	CHECK(is_at(&l, 0xffffffff81000999, "read"));
	CHECK(is_at(&l, 0x1000, NULL));
	listed_release(&l);
}

TEST(anonymous_code_gets_a_name_and_data_go)
{
	static const char maps[] =
		"1000-2000 r-xp 00000000 fe:00 12     /bin/x\n2000-3000 rw-p 00001000 fe:00 12     /bin/x\n"
		"4000-5000 rwxp 00000000 00:00 0 \n5000-6000 r-xp 00000000 00:00 0     [anon:v8]\n"
		"6000-7000 r-xp 00000000 00:00 0     [vdso]\n7000-8000 --xp 00000000 00:00 0     [vsyscall]\n";
	static const char want[] = "1000-2000 r-xp 00000000 fe:00 12     /bin/x\n"
				   "4000-5000 r-xp 00000000 00:00 0 //anon\n"
				   "5000-6000 r-xp 00000000 00:00 0 //anon\n"
				   "6000-7000 r-xp 00000000 00:00 0     [vdso]\n";
	struct buf out = { 0 };

	anonymous_name_code(slice_str(maps), &out);
	CHECK_MEM(out.p, out.n, want, sizeof(want) - 1, NULL);
	buf_release(&out);
}
