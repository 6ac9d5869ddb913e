/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - finds the condition that tells slow calls from the others. */
#define _GNU_SOURCE /* memrchr() */
#include "plan/dig/split.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"

enum {
	FACTS = 40, /* of one call */
	DEPTH = 2,  /* fields of fields */
	SLOW_MIN = 3,
	MET_MIN = 2,
	FAST_MIN = 6,
	VALUE_MAX = 80, /* a longer text is shown by its length */
	TRIED_MAX = 500,
};

static const double slow_share = 0.6, fast_share = 0.12;
static const double chance_most = 0.01; /* that the finding is chance */
static const double much_longer = 8;	/* times as long as usual */
static const double longer = 3;		/* ... where data decide whether that is more than chance */
/* Of numbers that go with time, above an earlier one, or below it; by chance it is half of them. */
static const double clock_share = 0.9;

void split_init(struct split *s)
{
	memset(s, 0, sizeof(*s));
	arena_init(&s->mem);
}

void split_release(struct split *s)
{
	arena_release(&s->mem);
}

void split_call(struct split *s, double ns)
{
	struct split_call *c = s->n < SPLIT_CALLS ? arena_zero(&s->mem, sizeof(*c)) : NULL;

	if (!c) {
		s->err = s->n < SPLIT_CALLS ? E_NO_MEMORY : E_LIMIT;
		return;
	}
	c->ns = ns;
	c->next = s->calls;
	s->calls = c;
	s->n++;
}

/* ---- values ------------------------------------------------------------------------------- */

static struct split_fact *add(struct split *s, struct slice path)
{
	struct split_fact *f = arena_zero(&s->mem, sizeof(*f));
	unsigned n = 0;

	for (const struct split_fact *at = s->calls->facts; at; at = at->next)
		n++;
	if (!f || n >= FACTS)
		return NULL;
	f->path = arena_dup(&s->mem, path);
	if (!f->path.p)
		return NULL;
	f->next = s->calls->facts;
	s->calls->facts = f;
	return f;
}

static void add_size(struct split *s, struct slice path, const char *what, double size)
{
	struct buf text = { 0 };
	struct split_fact *f;

	buf_put(&text, path);
	buf_text(&text, what);
	f = text.err ? NULL : add(s, buf_slice(&text));
	if (f) {
		f->number = size;
		f->has_number = true;
	}
	buf_release(&text);
}

static bool number_of(struct slice text, double *out)
{
	char copy[40], *end;

	if (!text.n || text.n >= sizeof(copy) || !strchr("-0123456789", text.p[0]))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	*out = strtod(copy, &end);
	return *end == '\0';
}

/* The end of one element: the next comma or closing bracket outside of texts and brackets. */
static size_t element(struct slice s)
{
	int open = 0;

	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = s.p[i];

		if (c == '"') {
			for (i++; i < s.n && s.p[i] != '"'; i++)
				i += s.p[i] == '\\';
		} else if (c == '\'' && i + 2 < s.n) {
			i += s.p[i + 1] == '\\' ? 3 : 2;
		} else if (strchr("([{", c)) {
			open++;
		} else if (strchr(")]}", c)) {
			if (open-- == 0)
				return i;
		} else if (c == ',' && open == 0) {
			return i;
		}
	}
	return s.n;
}

static void add_value(struct split *s, struct slice path, struct slice text, int depth);

/* "id=7, name=..." of an object. */
static void add_fields(struct split *s, struct slice path, struct slice inside, int depth)
{
	while (inside.n) {
		size_t n = element(inside);
		const uint8_t *is = memchr(inside.p, '=', n);
		struct buf field = { 0 };

		if (is && is > inside.p) {
			size_t k = (size_t)(is - inside.p);

			buf_put(&field, path);
			buf_u8(&field, '.');
			buf_bytes(&field, inside.p, k);
			if (!field.err)
				add_value(s, buf_slice(&field), (struct slice){ is + 1, n - k - 1 },
					  depth + 1);
		}
		buf_release(&field);
		if (n >= inside.n || inside.p[n] != ',')
			return;
		inside.p += n + 1, inside.n -= n + 1;
		while (inside.n && inside.p[0] == ' ')
			inside.p++, inside.n--;
	}
}

/* The n of "ArrayList(20)[..." or "int[20]{..."; the way to ask for it in *ask. */
static bool size_of(struct slice text, double *out, const char **ask)
{
	const uint8_t *open = memchr(text.p, '(', text.n), *brace = memchr(text.p, '{', text.n);
	const uint8_t *square = memchr(text.p, '[', text.n);
	char *end;

	if (square && (!open || square < open) && (!brace || square < brace) &&
	    square + 1 < text.p + text.n && square[1] >= '0' && square[1] <= '9') {
		*out = strtod((const char *)square + 1, &end);
		*ask = ".length";
		return true;
	}
	if (!open || (brace && brace < open) || (square && square < open) || open == text.p)
		return false;
	*out = strtod((const char *)open + 1, &end);
	*ask = ".size()";
	return (const uint8_t *)end > open + 1 && *end == ')';
}

static void add_text(struct split *s, struct slice path, struct slice text)
{
	double length = (double)text.n - 2;
	const uint8_t *end = memrchr(text.p, '"', text.n);

	/* "abc..."(1234): the first of so many characters */
	if (end && end + 2 < text.p + text.n && end[1] == '(')
		length = strtod((const char *)end + 2, NULL);
	add_size(s, path, ".length()", length);
}

static void add_value(struct split *s, struct slice path, struct slice text, int depth)
{
	struct split_fact *f;
	const uint8_t *brace;
	const char *ask;
	double size;

	if (!text.n || slice_is(text, "***") || slice_is(text, "?"))
		return;
	brace = memchr(text.p, '{', text.n);
	if (text.p[0] != '"' && size_of(text, &size, &ask)) {
		add_size(s, path, ask, size);
		return;
	}
	if (text.p[0] != '"' && brace && depth < DEPTH && text.p[text.n - 1] == '}') {
		add_fields(s, path,
			   (struct slice){ brace + 1, (size_t)(text.p + text.n - brace) - 2 },
			   depth);
		return;
	}
	if (text.p[0] == '"')
		add_text(s, path, text);
	if (text.n > VALUE_MAX || (text.p[0] != '"' && memchr(text.p, '@', text.n)) ||
	    text.p[0] == '^')
		return; /* an object without its contents */
	f = add(s, path);
	if (!f)
		return;
	f->value = arena_dup(&s->mem, text);
	f->has_number = number_of(text, &f->number);
}

void split_value(struct split *s, unsigned number, struct slice text)
{
	char path[16];

	snprintf(path, sizeof(path), "$%u", number);
	if (s->calls && !s->err)
		add_value(s, slice_str(path), text, 0);
}

/* ---- conditions --------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

size_t split_count(const struct split *s, double limit_ns)
{
	size_t n = 0;

	for (const struct split_call *c = s->calls; c; c = c->next)
		n += c->ns >= limit_ns;
	return n;
}

/* Half of the least time among the calls that have most of the time beyond what is usual.  On a
 * busy machine calls of all lengths are stalled, so that there is no gap; but the slow ones still
 * have the time. */
static double limit_by_time(const double *all, size_t n)
{
	double usual = all[n / 2], beyond = 0, sum = 0, part = 0;
	size_t i = n;

	for (size_t k = 0; k < n; k++) {
		sum += all[k];
		beyond += all[k] > usual ? all[k] - usual : 0;
	}
	if (beyond < 0.3 * sum)
		return 0;
	while (i > 0 && part < 0.8 * beyond)
		part += all[--i] - usual;
	return n - i >= 2 && i >= FAST_MIN && all[i] > much_longer * usual ? all[i] / 2 : 0;
}

/* The times of all calls, ascending; to be freed.  NULL: there are none, or no memory. */
static double *sorted(const struct split *s)
{
	double *all = s->n ? mem_alloc(s->n * sizeof(*all)) : NULL;
	size_t n = 0;

	for (const struct split_call *c = s->calls; all && c; c = c->next)
		all[n++] = c->ns > 1 ? c->ns : 1;
	if (all)
		qsort(all, n, sizeof(*all), by_value);
	return all;
}

size_t split_limits(const struct split *s, double out[SPLIT_LIMITS])
{
	static const unsigned longest[SPLIT_LIMITS] = {
		2, 3, 4, 6, 9, 14, 22, 32, 50, 80, 125, 200
	};
	double *all = sorted(s), beyond = 0, part = 0, usual;
	size_t n = 0, taken = 0;

	if (!all)
		return 0;
	usual = all[s->n / 2];
	for (size_t i = s->n / 2; i < s->n; i++)
		beyond += all[i] - usual;
	for (size_t i = 0; i < SPLIT_LIMITS && longest[i] + FAST_MIN <= s->n; i++) {
		double limit = all[s->n - longest[i]];

		for (; taken < longest[i]; taken++)
			part += all[s->n - 1 - taken] - usual;
		if (limit > longer * usual && part >= 0.5 * beyond)
			out[n++] = limit;
	}
	mem_free(all);
	return n;
}

double split_limit(const struct split *s)
{
	double *all = sorted(s), limit = 0, best = 4;
	size_t n = s->n;

	if (!all)
		return 0;
	/* The widest gap between neighbours, as a ratio; a machine that stalls makes single
	 * ones. */
	for (size_t i = FAST_MIN; i + SLOW_MIN <= n; i++)
		if (all[i] / all[i - 1] > best / 2 && all[(i + n) / 2] / all[i / 2] > best) {
			best = all[(i + n) / 2] / all[i / 2];
			limit = all[i];
		}
	if (limit == 0)
		limit = limit_by_time(all, n);
	mem_free(all);
	return limit;
}

struct tried {			  /* a condition */
	struct slice path, value; /* value .p NULL: above */
	double above;
};

static const struct split_fact *fact_of(const struct split_call *c, struct slice path)
{
	for (const struct split_fact *f = c->facts; f; f = f->next)
		if (slice_eq(f->path, path))
			return f;
	return NULL;
}

static bool holds(const struct tried *t, const struct split_call *c)
{
	const struct split_fact *f = fact_of(c, t->path);

	if (!f)
		return false;
	return t->value.p ? slice_eq(f->value, t->value) : f->has_number && f->number > t->above;
}

static void count(const struct split *s, double limit, const struct tried *t,
		  struct split_answer *out)
{
	double ns[2] = { 0, 0 }, time[2] = { 0, 0 };
	size_t n[2] = { 0, 0 };

	memset(out, 0, sizeof(*out));
	for (const struct split_call *c = s->calls; c; c = c->next) {
		bool slow = c->ns >= limit, met = holds(t, c);

		out->slow += slow, out->slow_met += slow && met;
		out->fast += !slow, out->fast_met += !slow && met;
		time[met] += slow ? c->ns : 0;
		ns[met] += c->ns;
		n[met]++;
	}
	out->slow_ns = n[1] ? ns[1] / (double)n[1] : 0;
	out->fast_ns = n[0] ? ns[0] / (double)n[0] : 0;
	out->slow_time = out->slow ? time[1] / (time[0] + time[1]) : 0;
}

/* How probable it is that as many slow calls meet it, if it holds for them as often as for others:
 * the upper end of a binomial distribution. */
static double chance(const struct split_answer *a)
{
	double often = ((double)a->fast_met + 1) / ((double)a->fast + 2), sum = 0;
	double n = (double)a->slow;

	for (size_t i = a->slow_met; i <= a->slow; i++) {
		double k = (double)i;

		sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(often) +
			   (n - k) * log(1 - often));
	}
	return sum;
}

static double score(struct split_answer *a, size_t tried)
{
	double fast;

	if (a->slow_met < MET_MIN || a->fast < FAST_MIN)
		return 0;
	fast = (double)a->fast_met / (double)a->fast;
	if (a->slow_time < slow_share || fast > fast_share)
		return 0;
	a->chance = chance(a) * (double)tried;
	return a->chance < chance_most ? a->slow_time - fast : 0;
}

/* The largest number that a fast call had, among those that stay clear of the slow ones. */
static double cut_of(const struct split *s, double limit, struct slice path)
{
	double *fast = mem_alloc((s->n + 1) * sizeof(*fast)), cut = 0;
	size_t n = 0;

	for (const struct split_call *c = s->calls; fast && c; c = c->next) {
		const struct split_fact *f = c->ns < limit ? fact_of(c, path) : NULL;

		if (f && f->has_number)
			fast[n++] = f->number;
	}
	if (fast && n) {
		qsort(fast, n, sizeof(*fast), by_value);
		cut = fast[(n - 1) * 95 / 100];
	}
	mem_free(fast);
	return n ? cut : -1e300;
}

static bool is_word(struct slice text)
{
	uint8_t c = text.n ? text.p[0] : 0;

	return ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') &&
	       !slice_is(text, "true") && !slice_is(text, "false") && !slice_is(text, "null");
}

static void print(struct split *s, const struct tried *t, struct split_answer *out)
{
	struct buf text = { 0 };

	buf_put(&text, t->path);
	if (t->value.p && is_word(t->value)) /* the name of an enum constant */
		buf_printf(&text, " == \"%.*s\"", SLICE_FMT(t->value));
	else if (t->value.p)
		buf_printf(&text, " == %.*s", SLICE_FMT(t->value));
	else
		buf_printf(&text, " > %.15g", t->above);
	out->condition = text.err ? (struct slice){ NULL, 0 }
				  : arena_dup(&s->mem, buf_slice(&text));
	buf_release(&text);
}

/* So many slow calls must meet a condition: one may have any value. */
static bool is_met(const struct split *s, double limit, const struct tried *t, size_t least)
{
	for (const struct split_call *c = s->calls; c && least; c = c->next)
		least -= c->ns >= limit && holds(t, c);
	return !least;
}

/* A number that goes with time, as one that counts calls or a clock: what was slow for a while is
 * slow above some such number, whatever the cause was.  Each is compared with the one a quarter of
 * all calls before it. */
static bool is_clock(const struct split *s, struct slice path)
{
	double *all = mem_alloc(s->n * sizeof(*all));
	size_t n = 0, apart, up = 0, down = 0;

	for (const struct split_call *c = s->calls; all && c; c = c->next) {
		const struct split_fact *f = fact_of(c, path);

		if (f && f->has_number)
			all[n++] = f->number;
	}
	apart = n / 4;
	for (size_t i = apart; i < n; i++) {
		up += all[i] > all[i - apart];
		down += all[i] < all[i - apart];
	}
	mem_free(all);
	return apart && (double)(up > down ? up : down) >= clock_share * (double)(n - apart);
}

static void try_one(struct split *s, double limit, const struct tried *t, struct split_answer *best)
{
	struct split_answer a;

	if (!is_met(s, limit, t, MET_MIN))
		return;
	count(s, limit, t, &a);
	a.score = score(&a, s->tried);
	a.is_value = t->value.p != NULL;
	if (a.score > 0 && !a.is_value && is_clock(s, t->path))
		return;
	/* Of two that say the same, a value says it more plainly than a size. */
	if (a.score > best->score + (best->score > 0 ? 0.01 : 0) ||
	    (a.score > 0 && a.score >= best->score && a.is_value && !best->is_value)) {
		print(s, t, &a);
		*best = a;
	}
}

/* Calls for each fact of a slow call, once for each value; gives how many there are. */
static size_t each_fact(struct split *s, double limit, struct split_answer *best)
{
	struct map seen = { 0 };
	size_t n = 0;

	for (const struct split_call *c = s->calls; c; c = c->next)
		for (const struct split_fact *f = c->ns >= limit ? c->facts : NULL; f;
		     f = f->next) {
			struct buf key = { 0 };
			bool fresh = true;

			buf_printf(&key, "%.*s=%.*s", SLICE_FMT(f->path), SLICE_FMT(f->value));
			if (!key.err) {
				struct slice kept = arena_dup(&s->mem, buf_slice(&key));

				if (kept.p)
					map_put(&seen, kept, &fresh);
			}
			buf_release(&key);
			if (!fresh || seen.n > TRIED_MAX)
				continue;
			n += (f->value.n ? 1u : 0u) + (f->has_number ? 1u : 0u);
			if (best && f->value.n)
				try_one(s, limit, &(struct tried){ f->path, f->value, 0 }, best);
			if (best && f->has_number)
				try_one(s, limit,
					&(struct tried){
						f->path, { NULL, 0 }, cut_of(s, limit, f->path) },
					best);
		}
	map_release(&seen);
	return n;
}

void split_find(struct split *s, double limit_ns, struct split_answer *out)
{
	struct split_answer best = { .condition = { NULL, 0 } };

	/* Only what slow calls had can be the condition.  The more are tried, the more is found by
	 * chance. */
	s->tried = each_fact(s, limit_ns, NULL);
	each_fact(s, limit_ns, &best);
	*out = best;
}

void split_find_among(struct split *s, const double *limits, size_t n, struct split_answer *out)
{
	struct split_answer best = { .condition = { NULL, 0 } };

	s->tried = 0;
	for (size_t i = 0; i < n; i++)
		s->tried += each_fact(s, limits[i], NULL);
	for (size_t i = 0; i < n; i++) {
		struct split_answer a = { .condition = { NULL, 0 } };

		each_fact(s, limits[i], &a);
		if (a.condition.n && (!best.condition.n || a.chance < best.chance))
			best = a;
	}
	*out = best;
}
