/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire.c - every message there and back, whole and cut at every byte; frames in pieces; lies.
 *
 * The list of messages makes the tests, too: for each message one function fills its fields at
 * random and knows where each of them ends. */
#include "test.h"

#include <math.h>

#include "base/mem.h"
#include "wire/wire.h"

enum { ROUNDS = 20 };

static uint64_t seed = 20;
static uint8_t pool[256]; /* what texts are cut from: any bytes */

static uint64_t roll(void)
{
	uint64_t x;

	seed += 0x9e3779b97f4a7c15;
	x = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static double roll_double(void) /* any but NaN and infinity, which are not read as such */
{
	double d;

	do {
		uint64_t bits = roll();

		memcpy(&d, &bits, sizeof(d));
	} while (!isfinite(d));
	return d;
}

static struct slice roll_text(void)
{
	for (size_t i = 0; i < sizeof(pool) && !pool[255]; i++)
		pool[i] = i == 255 ? 1 : (uint8_t)roll();
	return (struct slice){ pool + roll() % 200, roll() % 4 ? roll() % 40 : 0 };
}

static bool same_double(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0; /* the bits: NaN == NaN here */
}

/* The payload of the only frame in b. */
static struct slice payload_of(const struct buf *b, unsigned type, const char *name)
{
	struct slice payload = { 0 };
	unsigned found = 0;

	CHECK_INT(wire_frame(buf_slice(b), &found, &payload), b->n, name);
	CHECK_INT(found, type, name);
	return payload;
}

/* Filling: `end` is where the last field filled ends, `borders` has a true for every end. */
#define FILL(size)   \
	end += size; \
	borders[end] = true;
#define U8(f)                   \
	m->f = (uint8_t)roll(); \
	FILL(1)
#define U32(f)                   \
	m->f = (uint32_t)roll(); \
	FILL(4)
#define U64(f)         \
	m->f = roll(); \
	FILL(8)
#define F64(f)                \
	m->f = roll_double(); \
	FILL(8)
#define STR(f)              \
	m->f = roll_text(); \
	FILL(4 + m->f.n)
#define MESSAGE(name, fields)                                           \
	static size_t fill_##name(struct wire_##name *m, bool *borders) \
	{                                                               \
		size_t end = 0;                                         \
                                                                        \
		borders[0] = true;                                      \
		fields return end;                                      \
	}
#include "wire/messages.def"

/* Comparing: fields that end behind `cut` were not sent, and must read as 0. */
#define U8(f) good &= back->f == ((end += 1) <= cut ? m->f : 0);
#define U32(f) good &= back->f == ((end += 4) <= cut ? m->f : 0);
#define U64(f) good &= back->f == ((end += 8) <= cut ? m->f : 0);
#define F64(f) good &= same_double(back->f, (end += 8) <= cut ? m->f : 0);
#define STR(f) good &= slice_eq(back->f, (end += 4 + m->f.n) <= cut ? m->f : (struct slice){ 0 });
#define MESSAGE(name, fields)                                                                \
	static bool same_##name(const struct wire_##name *m, const struct wire_##name *back, \
				size_t cut)                                                  \
	{                                                                                    \
		size_t end = 0;                                                              \
		bool good = true;                                                            \
                                                                                             \
		fields return good;                                                          \
	}
#include "wire/messages.def"

static const uint8_t zeros[1024];

/* One message, cut after every byte. */
#define MESSAGE(name, fields)                                                               \
	static void trip_##name(void)                                                       \
	{                                                                                   \
		struct wire_##name m, back;                                                 \
		bool borders[1024] = { 0 };                                                 \
		size_t n = fill_##name(&m, borders);                                        \
		struct buf b = { 0 };                                                       \
		struct slice p;                                                             \
                                                                                            \
		wire_put_##name(&b, &m);                                                    \
		p = payload_of(&b, WIRE_##name, #name);                                     \
		CHECK_INT(p.n, n, #name);                                                   \
		for (size_t cut = 0; cut <= p.n; cut++) {                                   \
			int rc = wire_get_##name((struct slice){ p.p, cut }, &back);        \
                                                                                            \
			CHECK_INT(rc, borders[cut] ? 0 : E_TRUNCATED, #name);               \
			if (rc == 0)                                                        \
				CHECK(same_##name(&m, &back, cut));                         \
			else                                                                \
				CHECK_MEM(&back, sizeof(back), zeros, sizeof(back), #name); \
		}                                                                           \
		buf_put(&b, roll_text()); /* a newer peer's fields */                       \
		p = (struct slice){ b.p + WIRE_HEAD, b.n - WIRE_HEAD };                     \
		CHECK_INT(wire_get_##name(p, &back), 0, #name);                             \
		CHECK(same_##name(&m, &back, p.n));                                         \
		buf_release(&b);                                                            \
	}
#include "wire/messages.def"

TEST(every_message_comes_back_as_it_was_sent_and_tells_damage_from_an_older_peer)
{
	for (int i = 0; i < ROUNDS; i++) {
#define MESSAGE(name, fields) trip_##name();
#include "wire/messages.def"
	}
}

/* What peers of any version rely on: once released, these bytes must not change. */
TEST(the_first_frame_has_the_bytes_it_always_had)
{
	static const uint8_t want[] = { 0, 0, 0, 19, 0, 1, 0, 0, 'S', 'O', 'N', 'D',
					0, 0, 0, 1,  0, 0, 0, 3, 'a', 0,   0xff };
	struct buf b = { 0 };

	wire_put_hello(&b, &(struct wire_hello){ .magic = WIRE_MAGIC,
						 .version = 1,
						 .client = { (const uint8_t *)"a\0\xff", 3 } });
	CHECK_MEM(b.p, b.n, want, sizeof(want), NULL);
	buf_release(&b);
}

TEST(messages_keep_their_numbers)
{
	static const struct {
		unsigned got, want;
	} numbers[] = {
		{ WIRE_hello, 1 },     { WIRE_hook, 2 },  { WIRE_detach, 11 }, { WIRE_welcome, 12 },
		{ WIRE_progress, 13 }, { WIRE_done, 15 }, { WIRE_rule, 17 },   { WIRE_proof, 23 },
	};

	for (size_t i = 0; i < COUNT(numbers); i++)
		CHECK_INT(numbers[i].got, numbers[i].want, wire_name(numbers[i].want));
	CHECK_STR(wire_name(WIRE_ask_status), "ask_status", NULL);
	CHECK_STR(wire_name(WIRE_none), "?", NULL);
	CHECK_STR(wire_name(WIRE_TYPES), "?", NULL);
	CHECK_STR(wire_name(70000), "?", NULL);
}

TEST(frames_are_found_when_all_of_them_has_come_and_not_before)
{
	struct buf b = { 0 };
	struct slice payload;
	struct wire_done done;
	size_t first, start = 0, frames = 0;
	unsigned type;
	long n;

	wire_put_progress(&b, &(struct wire_progress){ .what = slice_str("weaving"), .at = 3 });
	first = b.n;
	wire_put_reset(&b, &(struct wire_reset){ 0 });
	wire_put_done(&b, &(struct wire_done){ .status = 3, .text = slice_str("no") });
	for (size_t have = 0; have < first; have++)
		CHECK_INT(wire_frame((struct slice){ b.p, have }, &type, &payload), 0, "a part");
	for (; start < b.n; start += (size_t)n, frames++) {
		n = wire_frame((struct slice){ b.p + start, b.n - start }, &type, &payload);
		if (!CHECK(n > 0))
			break;
	}
	CHECK_INT(frames, 3, NULL);
	CHECK_INT(type, WIRE_done, "the last");
	CHECK_INT(wire_get_done(payload, &done), 0, NULL);
	CHECK_INT(done.status, 3, NULL);
	CHECK(slice_is(done.text, "no"));
	CHECK_INT(wire_frame((struct slice){ 0 }, &type, &payload), 0, "nothing");
	buf_release(&b);
}

TEST(a_frame_that_lies_about_its_length_is_refused_as_soon_as_its_length_is_there)
{
	static const struct {
		const char *label;
		uint8_t bytes[9];
		size_t n;
		long want;
	} cases[] = {
		{ "longest number", { 0xff, 0xff, 0xff, 0xff }, 4, E_LIMIT },
		{ "sign bit", { 0x80, 0, 0, 4 }, 4, E_LIMIT },
		{ "one byte too long", { 0, 0x7f, 0xff, 0xfd }, 4, E_LIMIT },
		{ "longest there is", { 0, 0x7f, 0xff, 0xfc, 0, 1, 0, 0 }, 8, 0 },
		{ "no head", { 0, 0, 0, 3 }, 4, E_SYNTAX },
		{ "nothing at all", { 0 }, 4, E_SYNTAX },
		{ "type 0", { 0, 0, 0, 4, 0, 0, 0, 0 }, 8, E_SYNTAX },
		{ "spare bytes in use", { 0, 0, 0, 4, 0, 1, 0, 1 }, 8, E_SYNTAX },
		{ "empty payload", { 0, 0, 0, 4, 0, 1, 0, 0 }, 8, 8 },
		{ "and the next frame behind it", { 0, 0, 0, 4, 0, 1, 0, 0, 0xff }, 9, 8 },
		{ "HTTP", "GET / HTT", 9, E_LIMIT },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct slice in = { cases[i].bytes, cases[i].n }, payload = { 0 };
		unsigned type = 77;
		long rc = wire_frame(in, &type, &payload);

		CHECK_INT(rc, cases[i].want, cases[i].label);
		if (rc <= 0)
			CHECK_INT(type, 77, "written on success only");
	}
}

TEST(a_message_of_a_newer_peer_is_a_frame_like_any_other)
{
	static const uint8_t bytes[] = { 0, 0, 0, 6, 0x27, 0x0f, 0, 0, 1, 2 };
	struct slice payload = { 0 };
	unsigned type = 0;

	CHECK_INT(wire_frame((struct slice){ bytes, sizeof(bytes) }, &type, &payload), 10, NULL);
	CHECK_INT(type, 9999, NULL);
	CHECK_INT(payload.n, 2, NULL);
}

TEST(a_text_that_is_longer_than_its_message_is_refused)
{
	static const uint32_t lengths[] = { 3, 4, 0x7fffffff, 0x80000000, 0xffffffff };
	struct wire_warning m;

	for (size_t i = 0; i < COUNT(lengths); i++) {
		uint8_t bytes[6] = { 0, 0, 0, 0, 'h', 'i' };

		put_u32(bytes, lengths[i]);
		CHECK_INT(wire_get_warning((struct slice){ bytes, 6 }, &m), E_TRUNCATED, NULL);
		CHECK_INT(m.text.n, 0, NULL);
	}
}

TEST(a_frame_that_nobody_would_read_is_not_written)
{
	static uint8_t much[WIRE_FRAME_MAX];
	struct wire_warning longest = { { much, WIRE_FRAME_MAX - WIRE_HEAD - 4 } };
	struct wire_warning longer = { { much, longest.text.n + 1 } };
	struct wire_warning absurd = { { much, SIZE_MAX } }; /* must not be looked at */
	struct slice payload;
	struct buf b = { 0 };
	unsigned type;

	wire_put_warning(&b, &longest);
	CHECK_INT(b.err, 0, "just fits");
	CHECK_INT(wire_frame(buf_slice(&b), &type, &payload), WIRE_FRAME_MAX, NULL);
	wire_put_warning(&b, &longer);
	CHECK_INT(b.err, E_LIMIT, NULL);
	CHECK_INT(b.n, WIRE_FRAME_MAX, "what was there stays");
	wire_put_reset(&b, &(struct wire_reset){ 0 });
	CHECK_INT(b.n, WIRE_FRAME_MAX, "the error is sticky");
	buf_clear(&b);
	wire_put_warning(&b, &absurd);
	CHECK_INT(b.err, E_LIMIT, NULL);
	CHECK_INT(b.n, 0, NULL);
	buf_clear(&b);
	wire_put_reset(&b, &(struct wire_reset){ 7 });
	CHECK_INT(b.err, 0, "and works again");
	CHECK_INT(wire_frame(buf_slice(&b), &type, &payload), 12, NULL);
	buf_release(&b);
}

TEST(without_memory_no_half_frame_is_left)
{
	static const uint8_t text[1000];
	struct wire_warning m = { { text, sizeof(text) } };
	struct buf b = { 0 };

	for (long fail = 0; fail < 2; fail++) { /* the head, and the text behind it */
		mem_fail_at(fail);
		wire_put_warning(&b, &m);
		CHECK(mem_fail_hit());
		CHECK_INT(b.err, E_NO_MEMORY, NULL);
		CHECK_INT(b.n, 0, NULL);
		buf_release(&b);
	}
	mem_fail_at(-1);
}

TEST(facts_are_taken_pair_by_pair_and_a_torn_one_ends_them)
{
	static const char bytes[] = "sql\0select 1\0empty\0\0torn";
	struct slice facts = { (const uint8_t *)bytes, sizeof(bytes) - 1 }, key, value;

	CHECK(wire_fact(&facts, &key, &value));
	CHECK(slice_is(key, "sql") && slice_is(value, "select 1"));
	CHECK(wire_fact(&facts, &key, &value));
	CHECK(slice_is(key, "empty") && value.n == 0);
	CHECK(!wire_fact(&facts, &key, &value));
	facts = (struct slice){ (const uint8_t *)"key\0cut", 7 };
	CHECK(wire_fact(&facts, &key, &value));
	CHECK(slice_is(value, "cut") && facts.n == 0);
	CHECK(!wire_fact(&facts, &key, &value));
}

TEST(what_is_no_number_reads_as_zero)
{
	static const double doubles[] = { INFINITY, -INFINITY, NAN };

	for (size_t i = 0; i < COUNT(doubles); i++) {
		struct wire_program m = { .speed = doubles[i], .speed_margin = -1 };
		struct buf b = { 0 };

		wire_put_program(&b, &m);
		CHECK_INT(wire_get_program((struct slice){ b.p + WIRE_HEAD, b.n - WIRE_HEAD }, &m),
			  0, "it is a message");
		CHECK(m.speed == 0 && m.speed_margin == -1);
		buf_release(&b);
	}
}
