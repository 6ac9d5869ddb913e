/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "test.h"

#include "export/otlp.h"
#include "export/perfetto.h"
#include "export/prometheus.h"

static struct txn_name names[] = { { { (const uint8_t *)"a.B.c()V", 8 }, false },
				   { { (const uint8_t *)"a.B.\"d\"()V", 10 }, true } };
static struct txn_call calls[] = {
	{ .name = 0, .elapsed_ns = 2500 },
	{ .name = 1, .parent = 1, .flags = TX_CALL_THREW, .begin_ns = 1001, .elapsed_ns = 5 }
};
static struct txn_part parts[] = {
	{ .part = 1, .from = 1, .calls = calls, .n = 2, .thread = { (const uint8_t *)"main", 4 } }
};

static struct transaction example(void)
{
	return (struct transaction){ .id = slice_str("1f"),
				     .app = slice_str("shop"),
				     .instance = slice_str("h-1"),
				     .when_ns = 1000000000,
				     .data = { (const uint8_t *)"kind\0GIFT", 10 },
				     .names = names,
				     .n_names = 2,
				     .parts = parts,
				     .n_parts = 1 };
}

static bool has(const struct buf *b, const char *text)
{
	return memmem(b->p, b->n, text, strlen(text)) != NULL;
}

TEST(a_transaction_becomes_a_trace_file)
{
	struct transaction t = example();
	struct buf out = { 0 };

	perfetto_put(&t, &out);
	CHECK(has(&out, "\"name\":\"a.B.\\\"d\\\"()V\",\"ts\":1.001,\"dur\":0.005"));
	CHECK(has(&out, "\"kind\":\"GIFT\""));
	CHECK(has(&out, "\"thrown\":\"yes\""));
	buf_release(&out);
}

TEST(a_transaction_becomes_spans_with_the_same_ids_each_time)
{
	struct transaction t = example();
	struct buf once = { 0 }, twice = { 0 };

	otlp_put(&t, slice_str("host"), &once);
	otlp_put(&t, slice_str("host"), &twice);
	CHECK_MEM(once.p, once.n, twice.p, twice.n, NULL);
	CHECK(has(&once, "\"startTimeUnixNano\":\"1000001001\""));
	CHECK(has(&once, "\"name\":\"B.c\""));
	CHECK(has(&once, "\"status\":{\"code\":2}"));
	buf_release(&once);
	buf_release(&twice);
}

TEST(label_values_of_prometheus_are_escaped)
{
	struct buf out = { 0 };
	struct prometheus p = { .out = &out };

	prometheus_family(&p, "x_total", "counter", "Xs.");
	prometheus_label(&p, "m", slice_str("a\"b\\c\nd\xff"));
	prometheus_value(&p, "", 3);
	CHECK_MEM(
		out.p, out.n,
		"# HELP x_total Xs.\n# TYPE x_total counter\nx_total{m=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 3\n",
		strlen("# HELP x_total Xs.\n# TYPE x_total counter\nx_total{m=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 3\n"),
		NULL);
	prometheus_release(&p);
	buf_release(&out);
}
