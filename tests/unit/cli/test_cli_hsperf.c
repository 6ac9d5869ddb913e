/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/buf.h"
#include "jvm/hsperf.h"

static void put(struct buf *b, const void *p, size_t n)
{
	buf_bytes(b, p, n);
}

static void put_word(struct buf *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

/* A file as HotSpot writes it, in this machine's byte order. */
static void head(struct buf *b, uint32_t entries)
{
	static const uint8_t start[8] = {
		0xca, 0xfe, 0xc0, 0xc0, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, 2, 0, 1
	};

	put(b, start, sizeof(start));
	for (int i = 0; i < 4; i++)
		put_word(b, 0);
	put_word(b, 32);
	put_word(b, entries);
}

static void entry(struct buf *b, const char *name, char type, const void *data, uint32_t n)
{
	uint32_t text = ((uint32_t)strlen(name) + 8) / 8 * 8, vector = type == 'B' ? n : 0;
	static const char zeros[64];
	const char kind[4] = { type, 0, 0, 0 };

	put_word(b, 20 + text + n);
	put_word(b, 20);
	put_word(b, vector);
	put(b, kind, 4);
	put_word(b, 20 + text);
	put(b, name, strlen(name));
	put(b, zeros, text - strlen(name));
	put(b, data, n);
}

static void number(struct buf *b, const char *name, uint64_t v)
{
	entry(b, name, 'J', &v, sizeof(v));
}

static void account(struct buf *b, const char *policy)
{
	head(b, 13);
	number(b, "sun.gc.generation.0.maxCapacity", 64);
	number(b, "sun.gc.generation.1.maxCapacity", 64);
	number(b, "sun.gc.generation.0.space.0.maxCapacity", 1000);
	number(b, "sun.gc.generation.0.space.0.used", 3);
	number(b, "sun.gc.generation.1.space.0.used", 4);
	number(b, "sun.gc.generation.1.space.0.capacity", 50);
	number(b, "sun.gc.collector.0.invocations", 5);
	number(b, "sun.gc.collector.1.invocations", 6);
	number(b, "sun.gc.collector.1.time", 700);
	number(b, "sun.os.hrt.frequency", 1000);
	number(b, "java.threads.live", 8);
	number(b, "sun.gc.metaspace.used", 9999);
	entry(b, "sun.gc.policy.name", 'B', policy, (uint32_t)strlen(policy) + 1);
}

TEST(hsperf_adds_up_generations_and_collectors)
{
	struct buf b = { 0 };
	struct hsperf h;

	account(&b, "Copy:MSC");
	CHECK_INT(hsperf_parse(buf_slice(&b), &h), 0, NULL);
	CHECK_INT(h.counts.heap_used, 7, NULL);
	CHECK_INT(h.counts.heap_capacity, 50, NULL);
	CHECK_INT(h.counts.heap_max, 128, NULL);
	CHECK_INT(h.counts.gcs, 11, NULL);
	CHECK_INT(h.counts.gc_ticks, 700, NULL);
	CHECK_INT(h.counts.hz, 1000, NULL);
	CHECK_INT(h.counts.threads, 8, NULL);
	buf_release(&b);
}

TEST(hsperf_knows_that_generations_of_g1_share_the_heap)
{
	struct buf b = { 0 };
	struct hsperf h;

	account(&b, "GarbageFirst");
	CHECK_INT(hsperf_parse(buf_slice(&b), &h), 0, NULL);
	CHECK_INT(h.counts.heap_max, 64, NULL);
	buf_release(&b);
}

TEST(hsperf_reads_no_number_beyond_its_entry)
{
	struct buf b = { 0 };
	struct hsperf h;

	head(&b, 1);
	entry(&b, "sun.os.hrt.frequency", 'J', "1234", 4); /* eight bytes are wanted */
	CHECK_INT(hsperf_parse(buf_slice(&b), &h), 0, NULL);
	CHECK_INT(h.counts.hz, 0, NULL);
	for (size_t n = 0; n < b.n; n++)
		CHECK(hsperf_parse((struct slice){ b.p, n }, &h) < 0);
	buf_release(&b);
}
