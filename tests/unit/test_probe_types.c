/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of method types: what drawn calls took, by caller, method and way out. */
#include "test_probe.h"

#include "probe/types.h"

enum { OUTER = 1, INNER, FAILS, DRAWN = 2 };

static const uint64_t borders[] = { 1ull << 40, 1ull << 41,
				    1ull << 42 }; /* ticks: nothing takes so long */

struct seen {
	struct types_sequence all[8];
	unsigned n;
};

static void keep(void *ctx, const struct types_sequence *s)
{
	struct seen *seen = ctx;

	if (seen->n < 8)
		seen->all[seen->n] = *s;
	seen->n++;
}

static struct seen read_all(void)
{
	struct seen seen = { .n = 0 };

	types_read(keep, &seen);
	return seen;
}

static void inner_calls(unsigned n)
{
	while (n-- > 0) {
		uint64_t token = probe_enter(OUTER), below = probe_enter(INNER);

		if (below)
			probe_exit(INNER, below);
		if (token)
			probe_exit(OUTER, token);
	}
}

static void set_up(void)
{
	timed(OUTER, 1);
	timed(INNER, DRAWN);
	timed(FAILS, DRAWN);
	types_set(OUTER, TYPE_C1);
	types_set(INNER, TYPE_C2 | TYPE_STATIC);
	types_set(FAILS, TYPE_INTERPRETED);
}

PROBE_TEST(types_tell_the_least_by_caller_and_method, MIB)
{
	struct seen seen;

	set_up();
	MUST_INT(types_watch(true, borders), 0);
	inner_calls(2000);
	seen = read_all();
	MUST_INT(seen.n, 1);
	MUST_INT(seen.all[0].caller, TYPE_C1);
	MUST_INT(seen.all[0].method, TYPE_C2 | TYPE_STATIC);
	MUST_INT(seen.all[0].thrown, 0);
	MUST_INT(seen.all[0].length, 0);
	MUST_INT(seen.all[0].calls, figures(INNER).timed);
	MUST_INT(seen.all[0].min, figures(INNER).min);
	MUST(seen.all[0].low >= seen.all[0].min);
	MUST(seen.all[0].low <= figures(INNER).max);
}

PROBE_TEST(types_tell_exits_by_exception_apart, MIB)
{
	struct seen seen;

	set_up();
	MUST_INT(types_watch(true, borders), 0);
	for (int i = 0; i < 200; i++) {
		uint64_t token = probe_enter(FAILS);

		probe_thrown(FAILS, token);
	}
	seen = read_all();
	MUST_INT(seen.n, 1);
	MUST_INT(seen.all[0].thrown, 1);
	MUST_INT(seen.all[0].caller, TYPE_UNKNOWN);
	MUST_INT(seen.all[0].method, TYPE_INTERPRETED);
	MUST_INT(seen.all[0].calls, figures(FAILS).timed);
}

/* OUTER itself is drawn here, but calls something that is hooked. */
PROBE_TEST(types_keep_to_calls_with_nothing_hooked_below, MIB)
{
	set_up();
	timed(OUTER, DRAWN);
	inner_calls(10);
	MUST_INT(types_watch(true, borders), 0);
	inner_calls(500);
	for (unsigned i = 0; i < read_all().n; i++)
		MUST_INT(read_all().all[i].method, TYPE_C2 | TYPE_STATIC);
	MUST(read_all().n > 0);
}

PROBE_TEST(types_are_kept_only_while_somebody_wants_them, MIB)
{
	set_up();
	inner_calls(500);
	MUST_INT(read_all().n, 0);
	MUST_INT(types_watch(true, borders), 0);
	inner_calls(500);
	MUST_INT(types_watch(false, NULL), 0);
	MUST(read_all().n > 0);
	MUST_INT(types_watch(true, borders), 0);
	MUST_INT(read_all().n, 0);
}
