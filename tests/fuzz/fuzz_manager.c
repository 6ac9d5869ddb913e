/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_manager.c - any bytes as what reaches the manager before anything else has judged it: paths,
 * parameters, hosts, packed transactions, packed spreads, captured data, records of a
 * dig beside a relay. */
#include <stdlib.h>

#include "export/otlp.h"
#include "export/perfetto.h"
#include "manager/figures/pack.h"
#include "manager/figures/spread.h"
#include "manager/fleet/dig_far.h"
#include "manager/http/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool held)
{
	if (!held)
		abort();
}

static void as_request(struct slice in, struct arena *mem)
{
	static const char *const patterns[] = { "/api/v1/applications/*/plan/history/*", "/a/*",
						"*" };
	struct slice args[QUERY_ARGS];
	struct query q = { 0 };
	char name[256], *path = arena_str(mem, in);
	uint64_t n;

	for (size_t i = 0; path && i < COUNT(patterns); i++)
		query_match(mem, patterns[i], path, args);
	if (query_add(&q, mem, slice_str("from"), in)) {
		need(strlen((const char *)q.v[0].value.p) == q.v[0].value.n);
		query_time(&q, "from", 1000, &n);
		query_number(&q, "from", 0, 10, &n);
	}
	if (query_host(in, name))
		need(strlen(name) <= in.n);
}

static void as_transaction(struct slice in, struct arena *mem)
{
	struct buf out = { 0 }, again = { 0 };
	struct transaction t, twice;

	if (pack_read(in, mem, &t) < 0)
		return;
	perfetto_put(&t, &out);
	otlp_put(&t, slice_str("h"), &out);
	pack_put(&t, &again);
	need(pack_read(buf_slice(&again), mem, &twice) == 0 && twice.n_parts == t.n_parts &&
	     twice.n_names == t.n_names);
	buf_release(&out);
	buf_release(&again);
}

static void as_figures(struct slice in)
{
	static struct call_spread s;
	struct buf out = { 0 };

	s = (struct call_spread){ 0 };
	if (spread_add(&s, in) == 0)
		spread_quantile(&s, 0.9);
	spread_add_raw(&s, (struct slice){ in.p, in.n / 2 }, in);
	pack_data(in, &out);
	buf_release(&out);
}

static void as_far_dig(struct slice in)
{
	struct buf all = { 0 }, out = { 0 }, err = { 0 }, rules = { 0 };
	size_t before;

	buf_put(&all, in);
	before = all.n;
	if (dig_far_take(&all, &out, &err, &rules) >= DIG_FAR_MORE)
		need(out.n + err.n + rules.n + all.n <= before);
	buf_release(&all);
	buf_release(&out);
	buf_release(&err);
	buf_release(&rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data, size };
	struct arena mem;

	arena_init(&mem);
	as_request(in, &mem);
	as_transaction(in, &mem);
	as_figures(in);
	as_far_dig(in);
	arena_release(&mem);
	return 0;
}
