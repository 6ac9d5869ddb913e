/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "manager/figures/pack.h"
#include "manager/figures/spread.h"
#include "manager/figures/varint.h"

/* ---- numbers ---- */

TEST(numbers_come_back_from_varints)
{
	static const uint64_t values[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX };

	for (size_t i = 0; i < COUNT(values); i++) {
		struct buf b = { 0 };
		struct slice s;
		uint64_t v = 1;
		int64_t n = 1;

		varint_put(&b, values[i]);
		varint_put_signed(&b, (int64_t)values[i]);
		s = buf_slice(&b);
		CHECK(varint_take(&s, &v) && v == values[i]);
		CHECK(varint_take_signed(&s, &n) && n == (int64_t)values[i]);
		CHECK_INT(s.n, 0, NULL);
		buf_release(&b);
	}
}

TEST(a_varint_that_ends_early_is_none)
{
	static const uint8_t cut[] = { 0x80, 0x80 }, endless[11] = { [0 ... 10] = 0xff };
	struct slice s = { cut, sizeof(cut) }, e = { endless, sizeof(endless) };
	uint64_t v;

	CHECK(!varint_take(&s, &v));
	CHECK(!varint_take(&e, &v));
}

/* ---- spreads ---- */

static void put_bucket(struct buf *b, uint64_t low, uint32_t count)
{
	buf_u32(b, (uint32_t)(low >> 32));
	buf_u32(b, (uint32_t)low);
	buf_u32(b, count);
}

TEST(a_spread_has_what_was_added_between_two_histograms)
{
	struct buf before = { 0 }, now = { 0 };
	struct call_spread s = { 0 };

	put_bucket(&before, 1000, 10);
	put_bucket(&now, 1000, 25);
	put_bucket(&now, 1000000, 5);
	spread_add_raw(&s, buf_slice(&before), buf_slice(&now));
	CHECK_INT(s.n, 20, "15 short ones and 5 long ones");
	CHECK(spread_quantile(&s, 0.5) >= 1000 && spread_quantile(&s, 0.5) <= 1250);
	CHECK(spread_quantile(&s, 0.99) >= 1000000 && spread_quantile(&s, 0.99) <= 1300000);
	CHECK(spread_longest(&s) >= 1000000);
	buf_release(&before);
	buf_release(&now);
}

TEST(spreads_add_up_after_packing)
{
	struct buf raw = { 0 }, packed = { 0 };
	struct call_spread s = { 0 }, sum = { 0 };

	for (uint64_t ns = 1; ns < UINT64_C(1) << 46; ns *= 3)
		put_bucket(&raw, ns, 7);
	spread_add_raw(&s, (struct slice){ NULL, 0 }, buf_slice(&raw));
	spread_put(&s, &packed);
	CHECK_INT(spread_add(&sum, buf_slice(&packed)), 0, NULL);
	CHECK_INT(spread_add(&sum, buf_slice(&packed)), 0, NULL);
	CHECK_INT(sum.n, 2 * s.n, NULL);
	for (unsigned c = 0; c < SPREAD_CELLS; c++)
		CHECK(sum.counts[c] == 2 * s.counts[c]);
	buf_release(&raw);
	buf_release(&packed);
}

TEST(a_damaged_spread_is_refused)
{
	static const uint8_t far[] = { 0xff, 0x7f, 1 }, cut[] = { 3 };
	struct call_spread s = { 0 };

	CHECK_INT(spread_add(&s, (struct slice){ far, sizeof(far) }), E_DAMAGED, NULL);
	CHECK_INT(spread_add(&s, (struct slice){ cut, sizeof(cut) }), E_DAMAGED, NULL);
}

TEST(cells_of_a_spread_follow_each_other)
{
	for (unsigned c = 1; c < SPREAD_CELLS; c++)
		CHECK(spread_low(c) > spread_low(c - 1));
}

/* ---- transactions ---- */

static struct transaction example(struct txn_name *names, struct txn_part *parts,
				  struct txn_call *calls)
{
	names[0] = (struct txn_name){ slice_str("a.B.c()V"), false };
	names[1] = (struct txn_name){ slice_str("a.B.d()V"), true };
	calls[0] = (struct txn_call){ .name = 0, .begin_ns = 0, .elapsed_ns = 900 };
	calls[1] = (struct txn_call){ .name = 1, .parent = 1, .begin_ns = 100, .elapsed_ns = 50 };
	calls[2] = (struct txn_call){
		.name = 1, .parent = 1, .flags = TX_CALL_THREW, .begin_ns = 300, .elapsed_ns = 7
	};
	parts[0] =
		(struct txn_part){ .part = 1, .from = 1, .tid = 77, .thread = slice_str("main") };
	parts[0].calls = calls;
	parts[0].n = 3;
	return (struct transaction){ .when_ns = 1795035372967000000,
				     .missed = 2,
				     .names = names,
				     .n_names = 2,
				     .parts = parts,
				     .n_parts = 1 };
}

TEST(a_transaction_comes_back_from_its_bytes)
{
	struct txn_name names[2];
	struct txn_part parts[1];
	struct txn_call calls[3];
	struct transaction t = example(names, parts, calls), back;
	struct buf packed = { 0 };
	struct arena mem;

	arena_init(&mem);
	pack_put(&t, &packed);
	CHECK_INT(pack_read(buf_slice(&packed), &mem, &back), 0, NULL);
	CHECK(back.when_ns == t.when_ns && back.missed == 2 && back.n_names == 2 &&
	      back.n_parts == 1);
	CHECK(back.names[1].conditional && slice_is(back.names[1].method, "a.B.d()V"));
	CHECK_INT(back.parts[0].n, 3, NULL);
	CHECK(slice_is(back.parts[0].thread, "main"));
	for (int i = 0; i < 3; i++) {
		const struct txn_call *got = &back.parts[0].calls[i];

		CHECK(got->name == calls[i].name && got->parent == calls[i].parent);
		CHECK(got->flags == calls[i].flags && got->begin_ns == calls[i].begin_ns);
		CHECK(got->elapsed_ns == calls[i].elapsed_ns);
	}
	arena_release(&mem);
	buf_release(&packed);
}

TEST(a_transaction_that_is_cut_anywhere_is_refused)
{
	struct txn_name names[2];
	struct txn_part parts[1];
	struct txn_call calls[3];
	struct transaction t = example(names, parts, calls), back;
	struct buf packed = { 0 };
	struct arena mem;

	arena_init(&mem);
	pack_put(&t, &packed);
	for (size_t n = 0; n < packed.n; n++)
		CHECK_INT(pack_read((struct slice){ packed.p, n }, &mem, &back), E_DAMAGED, NULL);
	arena_release(&mem);
	buf_release(&packed);
}

static const struct {
	const char *text, *want;
	size_t n;
} data[] = {
	{ "", "", 0 },
	{ "kind=GIFT ", "kind\0GIFT", 10 },
	{ "kind=GIFT user=Ann Lee ", "kind\0GIFT\0user\0Ann Lee", 23 },
	{ "q=a=b x=", "q\0a=b\0x\0", 9 },
	{ "no value here", "", 0 },
};

TEST(captured_data_is_split_into_names_and_values)
{
	for (size_t i = 0; i < COUNT(data); i++) {
		struct buf out = { 0 };

		pack_data(slice_str(data[i].text), &out);
		CHECK_MEM(out.p, out.n, data[i].want, data[i].n, data[i].text);
		buf_release(&out);
	}
}
