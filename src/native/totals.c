/* SPDX-License-Identifier: Apache-2.0 */
/* totals.c - adds up the cells of all threads while they count on. */
#include "native/totals.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/tick.h"
#include "native/objects.h"
#include "native/near.h"
#include "native/site.h"
#include "wire/wire.h"

enum { BLANKS = 4000, BLANK_N = 12 };

struct sum {
	uint64_t key, calls, timed, ticks, self, least, most, below;
	uint64_t spilled; /* of the calls: those without a cell */
};

static struct {
	struct tick_scale scale;
	uint64_t inner;	  /* ticks between the two readings around an empty function, at least */
	uint64_t outer;	  /* ticks of a hook outside of them */
	struct sum *base; /* what is left out, by key: from before figures were restarted */
	size_t base_n;
	bool begun;
} totals;

uint64_t totals_ns(uint64_t ticks)
{
	return tick_to_ns(totals.scale, ticks);
}

/* ---- sums --------------------------------------------------------------------------------- */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static int by_key(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void add(struct sum *to, const struct sum *s)
{
	to->calls += s->calls;
	to->timed += s->timed;
	to->ticks += s->ticks;
	to->self += s->self;
	to->below += s->below;
	if (s->least && (!to->least || s->least < to->least))
		to->least = s->least;
	if (s->most > to->most)
		to->most = s->most;
}

/* Sorts, and puts sums of the same key together; how many are left. */
static size_t merge(struct sum *s, size_t n)
{
	size_t kept = 0;

	qsort(s, n, sizeof(*s), by_key);
	for (size_t i = 0; i < n; i++) {
		if (kept && s[kept - 1].key == s[i].key)
			add(&s[kept - 1], &s[i]);
		else
			s[kept++] = s[i];
	}
	return kept;
}

static void leave_out(struct sum *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct sum *b =
			bsearch(&s[i], totals.base, totals.base_n, sizeof(*b), by_key);

		if (!b)
			continue;
		s[i].calls = less(s[i].calls, b->calls);
		s[i].timed = less(s[i].timed, b->timed);
		s[i].ticks = less(s[i].ticks, b->ticks);
		s[i].self = less(s[i].self, b->self);
		s[i].below = less(s[i].below, b->below);
	}
}

/* All cells with anything in them, by key; NULL: out of memory. */
static struct sum *collect(size_t *n, bool from_base)
{
	size_t cap = 64, at = 0;
	struct sum *all = mem_alloc(cap * sizeof(*all));

	for (size_t t = 0; all && t < THREADS_MAX; t++)
		for (size_t i = 0; all && native_threads[t].marker && i < CELLS; i++) {
			const struct native_cell *c = &native_threads[t].cells[i];

			if (!c->key || !c->calls)
				continue;
			if (at == cap) {
				void *more = mem_realloc(all, 2 * cap * sizeof(*all));

				if (!more)
					mem_free(all);
				all = more;
				cap *= 2;
			}
			if (all)
				all[at++] = (struct sum){ .key = c->key,
							  .calls = c->calls,
							  .timed = c->timed,
							  .ticks = c->ticks,
							  .self = less(c->ticks, c->in_below),
							  .least = c->least,
							  .most = c->most,
							  .below = c->below };
		}
	*n = all ? merge(all, at) : 0;
	if (all && from_base)
		leave_out(all, *n);
	return all;
}

static uint32_t number_of(const struct sum *s)
{
	return (uint32_t)(s->key & 0xffff);
}

static void sum_of(const struct sum *all, size_t n, uint32_t number, struct sum *out)
{
	*out = (struct sum){ .calls = native_sites[number].spilled,
			     .spilled = native_sites[number].spilled };
	for (size_t i = 0; i < n; i++)
		if (number_of(&all[i]) == number)
			add(out, &all[i]);
}

uint64_t totals_calls(uint32_t number)
{
	struct sum s;
	size_t n;
	struct sum *all = collect(&n, true);

	sum_of(all, n, number, &s);
	mem_free(all);
	return s.calls;
}

static void restart(uint32_t only)
{
	size_t n;
	struct sum *all = collect(&n, false);

	for (size_t i = 0; all && only && i < n; i++) {
		const struct sum *was =
			bsearch(&all[i], totals.base, totals.base_n, sizeof(*was), by_key);

		if (number_of(&all[i]) != only)
			all[i] = was ? *was : (struct sum){ .key = all[i].key };
	}
	for (uint32_t i = 1; i < site_end(); i++)
		if (!only || i == only)
			__atomic_store_n(&native_sites[i].spilled, 0, __ATOMIC_RELAXED);
	mem_free(totals.base);
	totals.base = all;
	totals.base_n = n;
}

void totals_restart(uint32_t number)
{
	restart(number);
}

void totals_restart_all(void)
{
	restart(0);
}

/* ---- the hooks' cost ---------------------------------------------------------------------- */

static volatile uint64_t blank_ran;

/* One store, which is long enough to be patched, and a return. */
__attribute__((noinline)) static void blank(void)
{
	blank_ran = 1;
}

/* The least that one of many calls took, with the clock around it. */
static uint64_t least_call(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < BLANKS; i++) {
		uint64_t begin = tick_now(), ticks;

		blank();
		ticks = tick_now() - begin;
		if (ticks < least)
			least = ticks;
	}
	return least;
}

void totals_begin(void)
{
	struct site_function f = { (uintptr_t)blank, BLANK_N, "blank", "libsonde-native.so" };
	uint64_t bare, hooked;
	struct sum s, *all;
	const char *why;
	uint32_t number;
	size_t n;

	if (totals.begun)
		return;
	totals.begun = true;
	totals.scale = tick_scale_measure(10);
	bare = least_call();
	number = site_hook(&f, SITE_TIMED, &why);
	if (!number)
		return;
	native_watch_self(true);
	hooked = least_call();
	native_watch_self(false);
	site_unhook(number);
	all = collect(&n, false);
	sum_of(all, n, number, &s);
	mem_free(all);
	totals.inner = s.least;
	totals.outer = less(less(hooked, bare), s.least);
}

/* ---- frames ------------------------------------------------------------------------------- */

/* What is left of a time without the hooks. */
static uint64_t without_hooks(const struct sum *s)
{
	return less(s->ticks, s->timed * totals.inner + s->below * (totals.inner + totals.outer));
}

static void put_name(const struct site_info *i, struct buf *name)
{
	buf_printf(name, "%s.%s", i->module, i->name);
}

static void put_method(struct buf *out, uint32_t number, const struct sum *s)
{
	const struct site_info *i = site_info(number);
	double seconds = (double)totals_ns(tick_now() - i->since) / 1e9;
	struct buf name = { 0 };

	put_name(i, &name);
	wire_put_method(out, &(struct wire_method){
				     .id = number,
				     .name = buf_slice(&name),
				     .level = native_sites[number].mode == SITE_TIMED,
				     .one_in = 1,
				     .calls = s->calls,
				     .timed = s->timed,
				     .total_ns = totals_ns(s->ticks),
				     .low_ns = totals_ns(without_hooks(s)),
				     .high_ns = totals_ns(s->ticks),
				     .self_ns = totals_ns(s->self),
				     .min_ns = totals_ns(s->least),
				     .max_ns = totals_ns(s->most),
				     .active = native_sites[number].mode == SITE_TIMED
						       ? less(s->calls, s->timed)
						       : 0,
				     .rate = seconds > 0 ? (double)s->calls / seconds : 0,
				     .rule = i->rule,
				     .flags = METHOD_NO_QUANTILES | (i->in ? 0 : METHOD_GONE) });
	buf_release(&name);
}

void totals_put_methods(struct buf *out)
{
	size_t n;
	struct sum *all = collect(&n, true), s;

	for (uint32_t i = 1; i < site_end(); i++) {
		if (!site_info(i)->rule)
			continue;
		sum_of(all, n, i, &s);
		put_method(out, i, &s);
	}
	mem_free(all);
}

static void put_node(struct buf *out, unsigned depth, uint32_t id, struct slice name,
		     const struct sum *s)
{
	wire_put_node(out, &(struct wire_node){ .depth = depth,
						.id = id,
						.name = name,
						.calls = s->calls,
						.timed = s->timed,
						.total_ns = totals_ns(s->ticks),
						.self_ns = depth ? totals_ns(s->self) : 0,
						.min_ns = totals_ns(s->least),
						.max_ns = totals_ns(s->most) });
}

/* Replaces the place of each call by the function it is in, as an address. */
static void name_callers(const struct objects *all, struct sum *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct object *in = objects_at(all, (uintptr_t)(s[i].key >> 16) - 1);
		const struct function *f = NULL;

		if (in && object_open(in) >= 0)
			f = functions_find(&in->functions, (s[i].key >> 16) - 1 - in->bias);
		if (f)
			s[i].key = (in->bias + f->addr) << 16 | number_of(&s[i]);
	}
}

static void put_caller(struct buf *out, const struct objects *all, const struct sum *s, size_t n)
{
	struct sum total = { 0 };
	struct buf name = { 0 };

	for (size_t i = 0; i < n; i++)
		add(&total, &s[i]);
	objects_name(all, (uintptr_t)(s->key >> 16), &name);
	put_node(out, 0, 0, buf_slice(&name), &total);
	for (size_t i = 0; i < n; i++) {
		buf_clear(&name);
		put_name(site_info(number_of(&s[i])), &name);
		put_node(out, 1, number_of(&s[i]), buf_slice(&name), &s[i]);
	}
	buf_release(&name);
}

void totals_put_callers(struct buf *out)
{
	struct objects modules;
	size_t n, kept = 0, end;
	struct sum *all = collect(&n, true);

	if (!all || objects_read(&modules) < 0) {
		mem_free(all);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].calls && site_info(number_of(&all[i]))->rule)
			all[kept++] = all[i];
	name_callers(&modules, all, kept);
	kept = merge(all, kept);
	for (size_t i = 0; i < kept; i = end) {
		for (end = i + 1; end < kept && all[end].key >> 16 == all[i].key >> 16;)
			end++;
		put_caller(out, &modules, all + i, end - i);
	}
	objects_release(&modules);
	mem_free(all);
}

void totals_put_status(struct buf *out, uint64_t rules)
{
	struct wire_status m = { .rules = rules, .mechanism = slice_str("native") };

	for (uint32_t i = 1; i < site_end(); i++)
		m.methods += site_info(i)->in && site_info(i)->rule;
	for (size_t t = 0; t < THREADS_MAX; t++) {
		m.threads += native_threads[t].tid != 0;
		m.calls_dropped += native_threads[t].untimed;
	}
	m.classes = m.methods != 0;
	m.memory = near_bytes();
	wire_put_status(out, &m);
}

void totals_release(void)
{
	mem_free(totals.base);
	totals.base = NULL;
	totals.base_n = 0;
	totals.begun = false;
}
