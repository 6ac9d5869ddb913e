/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "base/tick.h"
#include "probe/histogram.h"

#include <math.h>

static const uint32_t one_in[] = { 2, 3, 10, 64, 1000 };

/* The number of timed calls among n has a mean of n / N, and with gaps uniform in 1 to 2N - 1 a
 * variance of about n / N / 3; five times its root is hardly ever left. */
PROBE_TEST(probe_times_one_call_in_n, MIB)
{
	enum { CALLS = 300000 };

	for (uint32_t i = 0; i < COUNT(one_in); i++) {
		double want = CALLS / (double)one_in[i], bound = 5 * sqrt(want / 3) + 1;
		struct probe_figures f;

		timed(i, one_in[i]);
		for (int k = 0; k < CALLS; k++)
			call(i);
		f = figures(i);
		MUST_INT(f.calls, CALLS);
		MUST(fabs((double)f.timed - want) < bound);
		MUST_INT(f.weight, f.timed * one_in[i]);
		MUST_INT(f.weighted, f.sum * one_in[i]);
		MUST_INT(f.begun, f.timed);
		MUST_INT(histogram_total(i), f.timed);
	}
}

/* Many contexts with few calls each: the first calls must be as likely as any other. */
PROBE_TEST(probe_does_not_prefer_first_calls, 16 * MIB)
{
	enum { CONTEXTS = 20000, CALLS = 3, N = 10 };
	struct probe_figures f;
	double want = CONTEXTS * CALLS / (double)N;

	timed(1, N);
	for (uint32_t id = 2; id < 2 + CONTEXTS; id++)
		timed(id, 1);
	for (uint32_t id = 2; id < 2 + CONTEXTS; id++) {
		uint64_t token = probe_enter(id);

		for (int i = 0; i < CALLS; i++)
			call(1);
		probe_exit(id, token);
	}
	f = figures(1);
	MUST_INT(f.calls, CONTEXTS * CALLS);
	MUST(fabs((double)f.timed - want) < 5 * sqrt(want));
}

static void spin(uint64_t ticks)
{
	uint64_t from = tick_now();

	while (tick_now() - from < ticks)
		;
}

/* Every tenth call is long.  A rhythm of ten in what is timed would see all of these, or none. */
PROBE_TEST(probe_has_no_rhythm_of_its_own, MIB)
{
	enum { CALLS = 40000, N = 10 };
	struct probe_figures f;
	uint64_t longer, token;

	timed(1, N);
	timed(2, 1);
	for (int i = 0; i < 100; i++)
		call(2);
	longer = 20 * (figures(2).sum / 100 + 10);
	for (int i = 0; i < CALLS; i++) {
		token = probe_enter(1);
		if (i % N == 0)
			spin(longer);
		if (token)
			probe_exit(1, token);
	}
	f = figures(1);
	/* 4,000 long calls, of which about 400 are seen: within a quarter is more than 5 sigma. */
	MUST((double)f.weighted > 0.75 * (double)longer * CALLS / N);
	MUST(histogram_total(1) == f.timed);
	{
		uint32_t counts[PROBE_BUCKETS] = { 0 };
		double slow = 0;

		probe_method_read(1, &f, counts);
		for (unsigned i = histogram_bucket(longer); i < PROBE_BUCKETS; i++)
			slow += counts[i];
		MUST(fabs(slow - CALLS / N / N) < 5 * sqrt(CALLS / N / N));
	}
}

/* Times of hooked calls below stand for those of the calls that were not timed, on both sides. */
PROBE_TEST(probe_weighs_what_is_below, MIB)
{
	struct probe_figures outer, inner;

	timed(1, 1);
	timed(2, 4);
	timed(3, 4);
	timed(4, 1);
	for (int i = 0; i < 20000; i++) {
		uint64_t token = probe_enter(1);

		for (int k = 0; k < 4; k++)
			call(2);
		probe_exit(1, token);
		token = probe_enter(3);
		if (!token)
			continue;
		call(4);
		probe_exit(3, token);
	}
	MUST_INT(figures(1).below, figures(2).weighted);
	MUST(figures(2).weighted > 3 * figures(2).sum);
	outer = figures(3);
	inner = figures(4);
	MUST_INT(outer.below, inner.sum * 4);
	MUST(outer.below < outer.weighted);
}

TEST(histogram_buckets_are_at_most_a_quarter_wide)
{
	CHECK_INT(histogram_bucket(0), 0, NULL);
	CHECK_INT(histogram_low(0), 0, NULL);
	for (uint64_t ticks = 1; ticks < (uint64_t)1 << 41; ticks += 1 + ticks / 4096) {
		unsigned bucket = histogram_bucket(ticks);
		uint64_t low = histogram_low(bucket), high = histogram_low(bucket + 1);

		CHECK(low <= ticks || ticks == 1);
		CHECK(ticks < high);
		CHECK((high - low) * 4 <= low || high - low <= 2);
		CHECK(high - low == 1 || ticks < 2 || (high - low) * 4 <= low);
	}
	CHECK_INT(histogram_bucket(UINT64_MAX), PROBE_BUCKETS - 1, NULL);
	CHECK_INT(histogram_bucket((uint64_t)1 << 41), PROBE_BUCKETS - 1, NULL);
	CHECK_INT(histogram_bucket(((uint64_t)1 << 41) - 1), PROBE_BUCKETS - 1, NULL);
}

TEST(histogram_quantiles_are_near)
{
	uint32_t counts[PROBE_BUCKETS] = { 0 };

	CHECK_INT(histogram_quantile(counts, 0.5, UINT64_MAX, 0), 0, "empty");
	for (uint64_t ticks = 1000; ticks < 11000; ticks++)
		counts[histogram_bucket(ticks)]++;
	for (double q = 0.01; q < 1; q += 0.01) {
		double want = 1000 + q * 10000;
		double got = (double)histogram_quantile(counts, q, 1000, 10999);

		CHECK(fabs(got - want) < 0.02 * want); /* evenly spread: interpolation is exact */
	}
	CHECK_INT(histogram_quantile(counts, 0, 1000, 10999), 1000, NULL);
	CHECK_INT(histogram_quantile(counts, 1, 1000, 10999), 10999, NULL);
}

TEST(histogram_of_one_time_has_it_everywhere)
{
	uint32_t counts[PROBE_BUCKETS] = { 0 };

	counts[histogram_bucket(777)] = 5;
	for (double q = 0; q <= 1; q += 0.25)
		CHECK_INT(histogram_quantile(counts, q, 777, 777), 777, NULL);
}

PROBE_TEST(probe_histogram_grows_with_the_times, MIB)
{
	uint64_t now = tick_now();
	struct probe_figures f;

	/* Exits of calls that are not on the stack have whatever time the token says. */
	timed(1, 1);
	for (unsigned bit = 0; bit < 41; bit++)
		probe_exit(1, (now - ((uint64_t)1 << bit)) << 1);
	MUST_INT(histogram_total(1), 41);
	f = figures(1);
	MUST_INT(f.timed, 41);
	MUST(f.max >= (uint64_t)1 << 40);
	/* And in a thread's own: times that grow by the quarter. */
	timed(2, 1);
	for (uint64_t ticks = 1; ticks < 3000000; ticks += 1 + ticks / 3) {
		uint64_t token = probe_enter(2);

		spin(ticks);
		probe_exit(2, token);
	}
	f = figures(2);
	MUST_INT(histogram_total(2), f.timed);
	MUST(f.squares >= (double)f.max * (double)f.max * 0.6);
}

/* A short call inside a long one, of a method that had only long ones. */
PROBE_TEST(probe_histogram_grows_under_a_running_call, MIB)
{
	uint64_t token;

	timed(2, 1);
	for (int i = 0; i < 2; i++) {
		token = probe_enter(2);
		spin(1000000);
		if (i == 1)
			call(2);
		probe_exit(2, token);
	}
	MUST_INT(histogram_total(2), 3);
}

static uint64_t allocated;

static uint64_t so_many_bytes(void)
{
	return allocated;
}

PROBE_TEST(probe_meters_the_calls_that_it_times, MIB)
{
	struct probe_metered m;
	uint64_t token;

	probe_meter_bytes(so_many_bytes);
	probe_method_set(1, &(struct probe_how){ .one_in = 1, .meter = true });
	timed(2, 1);
	for (int i = 0; i < 10; i++) {
		token = probe_enter(1);
		allocated += 100;
		call(2);
		probe_exit(1, token);
	}
	probe_metered_read(1, &m);
	MUST_INT(m.calls, 10);
	MUST_INT(m.weight, 10);
	MUST_INT(m.all.bytes, 1000);
	MUST_INT(m.all.ticks, figures(1).sum);
	probe_metered_read(2, &m);
	MUST_INT(m.calls, 0);
	probe_method_reset(1);
	probe_metered_read(1, &m);
	MUST_INT(m.calls + m.all.bytes + m.all.ticks, 0);
	token = probe_enter(1);
	probe_thrown(1, token);
	probe_metered_read(1, &m);
	MUST_INT(m.calls, 1);
}
