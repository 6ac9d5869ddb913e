/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "test.h"

#include "export/otlp.h"
#include "export/otlp_metrics.h"
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

static const struct {
	const char *parent;
	bool taken;
} parents[] = {
	{ "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true },
	{ "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-later", true },
	{ "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false },
	{ "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false },
	{ "00-00000000000000000000000000000000-00f067aa0ba902b7-01", false },
	{ "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false },
	{ "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01", false },
	{ "00-4bf92f3577b34da6a3ce929d0e0e4736", false },
	{ "", false },
};

TEST(a_transaction_joins_the_trace_that_its_request_named)
{
	for (size_t i = 0; i < COUNT(parents); i++) {
		struct transaction t = example();
		struct buf out = { 0 }, data = { 0 };

		buf_bytes(&data, "user\0u\0traceparent\0", 19);
		buf_bytes(&data, parents[i].parent, strlen(parents[i].parent) + 1);
		t.data = buf_slice(&data);
		otlp_put(&t, slice_str("host"), &out);
		CHECK(has(&out, "\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\"") ==
		      parents[i].taken);
		CHECK(has(&out, "\"parentSpanId\":\"00f067aa0ba902b7\"") == parents[i].taken);
		buf_release(&out);
		buf_release(&data);
	}
}

TEST(figures_become_metrics)
{
	static const double bounds[] = { 0.5, 1 };
	static const uint64_t counts[] = { 3, 2, 1 };
	struct buf out = { 0 };
	struct otlp_metrics m = otlp_metrics_begin(&out, slice_str("h"));

	m.began_ns = 1;
	m.now_ns = 2;
	otlp_metrics_resource(&m, slice_str("app"), slice_str("one"));
	otlp_metrics_family(&m, "a", "s", OTLP_COUNTER);
	otlp_metrics_value(&m, slice_str("x.Y.z()V"), 2.5);
	otlp_metrics_family_end(&m);
	otlp_metrics_family(&m, "b", "s", OTLP_HISTOGRAM);
	otlp_metrics_histogram(&m, slice_str("x.Y.z()V"),
			       &(struct otlp_histogram){ 6, 4, bounds, counts, 2 });
	otlp_metrics_family_end(&m);
	otlp_metrics_resource_end(&m);
	otlp_metrics_end(&m);
	CHECK(has(&out,
		  "\"sum\":{\"aggregationTemporality\":2,\"isMonotonic\":true,\"dataPoints\":["
		  "{\"startTimeUnixNano\":\"1\",\"timeUnixNano\":\"2\""));
	CHECK(has(&out, "\"explicitBounds\":[0.5,1],\"bucketCounts\":[3,2,1]}]}}]}]}]}"));
	buf_release(&out);
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
