/* SPDX-License-Identifier: Apache-2.0 */
/* known.c - findings and times from before, as text.
 *
 *	sonde-known 1
 *	app com.shop.Main
 *	finding 1763274000 Web.handle: 98 % of the time in Price.sum
 *	rule hook com.shop.Web::handle(int) timed
 *	past 1763274000 980 6570000 12700 143000000 com.shop.Web.handle(I)V
 *
 * A rule belongs to the finding before it.  The numbers of a past are the time, calls, and mean,
 * median and 99th percentile in ns; runs of one method come oldest first.
 *
 * All of it comes from an observed program in the end.  So whatever is added, by the program's word
 * or out of a file, fits into one line, and a rule is one that may be kept (rule/kept.h): what does
 * not is left out. */
#include "plan/dig/known.h"

#include <stdlib.h>

#include "base/err.h"
#include "rule/kept.h"
#include "rule/spell.h"

/* Times of a method differ from run to run by load and by data.  So it must be twice as long as in
 * the middle one of the runs, half as long again as in the worst, and a person must be able to
 * notice. */
static const double broken_times = 2, broken_over_worst = 1.5, broken_least = 1e6;

/* A copy without control characters. */
static struct slice copy_line(struct known *k, struct slice text)
{
	struct slice copy = { NULL, 0 };
	struct buf line = { 0 };

	spell_line(&line, text);
	if (!line.err)
		copy = arena_dup(&k->mem, line.n ? buf_slice(&line) : slice_str(""));
	if (!copy.p) {
		copy.n = 0;
		k->err = E_NO_MEMORY;
	}
	buf_release(&line);
	return copy;
}

void known_init(struct known *k, struct slice app)
{
	memset(k, 0, sizeof(*k));
	arena_init(&k->mem);
	k->app = copy_line(k, app);
}

void known_release(struct known *k)
{
	arena_release(&k->mem);
}

/* ---- findings ------------------------------------------------------------------------------ */

static struct known_finding *append_finding(struct known *k, uint64_t when, struct slice text)
{
	struct known_finding *f = arena_zero(&k->mem, sizeof(*f)), **at = &k->findings;

	if (f)
		f->text = copy_line(k, text);
	if (!f || !f->text.p) {
		k->err = E_NO_MEMORY;
		return NULL;
	}
	f->when = when;
	if (k->n_findings == KNOWN_FINDINGS)
		k->findings = k->findings->next;
	else
		k->n_findings++;
	while (*at)
		at = &(*at)->next;
	*at = f;
	return f;
}

static void append_rule(struct known *k, struct known_finding *f, struct slice line)
{
	struct buf all = { 0 };

	if (!spell_is_line(line) || !kept_is_good(line, 1))
		return;
	buf_put(&all, f->rules);
	buf_put(&all, line);
	buf_u8(&all, '\n');
	f->rules = all.err ? (struct slice){ NULL, 0 } : arena_dup(&k->mem, buf_slice(&all));
	if (!f->rules.p) {
		f->rules.n = 0;
		k->err = E_NO_MEMORY;
	}
	buf_release(&all);
}

static bool next_line(struct slice *rest, struct slice *line)
{
	const uint8_t *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;

	if (!rest->n)
		return false;
	*line = (struct slice){ rest->p, end ? (size_t)(end - rest->p) : rest->n };
	rest->p += line->n + (end != NULL);
	rest->n -= line->n + (end != NULL);
	return true;
}

void known_add_finding(struct known *k, const struct known_finding *f)
{
	struct slice rest = f->rules, line;
	struct known_finding *made;

	for (struct known_finding **at = &k->findings; *at; at = &(*at)->next)
		if (slice_eq((*at)->rules, f->rules)) {
			*at = (*at)->next;
			k->n_findings--;
			break;
		}
	made = append_finding(k, f->when, f->text);
	while (made && next_line(&rest, &line))
		append_rule(k, made, line);
}

/* ---- the past ------------------------------------------------------------------------------ */

const struct known_past *known_past_of(const struct known *k, struct slice method)
{
	for (const struct known_past *p = k->past; p; p = p->next)
		if (slice_eq(p->method, method))
			return p;
	return NULL;
}

/* Takes the past of a method out of the list, or the oldest one when the list is full. */
static struct known_past *take_out(struct known *k, struct slice method)
{
	struct known_past **at = &k->past, *p;

	while (*at && !slice_eq((*at)->method, method)) {
		if (!(*at)->next && k->n_past == KNOWN_METHODS) {
			*at = NULL;
			k->n_past--;
			return NULL;
		}
		at = &(*at)->next;
	}
	p = *at;
	if (p) {
		*at = p->next;
		k->n_past--;
	}
	return p;
}

void known_set_run(struct known *k, struct slice method, const struct known_run *run, uint64_t span)
{
	struct known_past *p;

	if (run->calls < KNOWN_CALLS || !method.n || !spell_is_line(method))
		return;
	p = take_out(k, method);
	if (!p) {
		p = arena_zero(&k->mem, sizeof(*p));
		if (p)
			p->method = arena_dup(&k->mem, method);
		if (!p || !p->method.p) {
			k->err = E_NO_MEMORY;
			return;
		}
	}
	if (p->n && span && p->runs[p->n - 1].when + span > run->when)
		p->n--;
	if (p->n == KNOWN_RUNS) {
		memmove(p->runs, p->runs + 1, (KNOWN_RUNS - 1) * sizeof(p->runs[0]));
		p->n--;
	}
	p->runs[p->n++] = *run;
	p->next = k->past;
	k->past = p;
	k->n_past++;
}

static int by_mean(const void *a, const void *b)
{
	double x = ((const struct known_run *)a)->mean, y = ((const struct known_run *)b)->mean;

	return (x > y) - (x < y);
}

double known_usual(const struct known_past *p)
{
	struct known_run runs[KNOWN_RUNS];

	if (!p || p->n < KNOWN_LEAST)
		return 0;
	memcpy(runs, p->runs, sizeof(runs));
	qsort(runs, p->n, sizeof(runs[0]), by_mean);
	return runs[p->n / 2].mean;
}

bool known_is_broken(const struct known_past *p, const struct known_run *now)
{
	double usual = known_usual(p), worst = 0;

	if (usual <= 0 || now->calls < KNOWN_CALLS_NOW)
		return false;
	for (unsigned i = 0; i < p->n; i++)
		worst = p->runs[i].mean > worst ? p->runs[i].mean : worst;
	return now->mean > broken_times * usual && now->mean > broken_over_worst * worst &&
	       now->mean - usual > broken_least;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Takes "KEY " off a line. */
static bool take_key(struct slice *line, const char *key)
{
	size_t n = strlen(key);

	if (line->n <= n || !slice_starts(*line, slice_str(key)) || line->p[n] != ' ')
		return false;
	line->p += n + 1;
	line->n -= n + 1;
	return true;
}

/* Takes a number and the blank behind it off a line. */
static bool take_number(struct slice *line, double *out)
{
	const uint8_t *blank = line->n ? memchr(line->p, ' ', line->n) : NULL;
	size_t n = blank ? (size_t)(blank - line->p) : 0;
	char text[32], *end;

	if (!n || n >= sizeof(text))
		return false;
	memcpy(text, line->p, n);
	text[n] = '\0';
	*out = strtod(text, &end);
	line->p += n + 1;
	line->n -= n + 1;
	return !*end && *out >= 0 && *out < 1e18;
}

static void read_past(struct known *k, struct slice line)
{
	struct known_run run;
	double when;

	if (take_number(&line, &when) && take_number(&line, &run.calls) &&
	    take_number(&line, &run.mean) && take_number(&line, &run.p50) &&
	    take_number(&line, &run.p99) && line.n) {
		run.when = (uint64_t)when;
		known_set_run(k, line, &run, 0);
	}
}

struct slice known_app_of(struct slice text)
{
	struct slice line;

	if (next_line(&text, &line) && slice_is(line, "sonde-known 1") && next_line(&text, &line) &&
	    take_key(&line, "app"))
		return line;
	return (struct slice){ NULL, 0 };
}

int known_read(struct known *k, struct slice text)
{
	struct slice line = known_app_of(text);
	struct known_finding *f = NULL;
	double when;

	if (!line.n || !slice_eq(line, k->app))
		return E_SYNTAX;
	while (next_line(&text, &line)) {
		if (take_key(&line, "finding"))
			f = take_number(&line, &when) ? append_finding(k, (uint64_t)when, line)
						      : NULL;
		else if (take_key(&line, "rule") && f)
			append_rule(k, f, line);
		else if (take_key(&line, "past"))
			read_past(k, line);
	}
	return k->err;
}

/* The list has the newest first; when it is read, it is turned round. */
static void print_past(const struct known_past *p, struct buf *out)
{
	if (!p)
		return;
	print_past(p->next, out);
	for (unsigned i = 0; i < p->n; i++) {
		const struct known_run *r = &p->runs[i];

		buf_printf(out, "past %llu %.0f %.0f %.0f %.0f ", (unsigned long long)r->when,
			   r->calls, r->mean, r->p50, r->p99);
		buf_put(out, p->method);
		buf_u8(out, '\n');
	}
}

void known_print(const struct known *k, struct buf *out)
{
	buf_text(out, "sonde-known 1\napp ");
	buf_put(out, k->app);
	buf_u8(out, '\n');
	for (const struct known_finding *f = k->findings; f; f = f->next) {
		struct slice rest = f->rules, line;

		buf_printf(out, "finding %llu %.*s\n", (unsigned long long)f->when,
			   SLICE_FMT(f->text));
		while (next_line(&rest, &line))
			buf_printf(out, "rule %.*s\n", SLICE_FMT(line));
	}
	print_past(k->past, out);
}

static bool is_later(const struct known_finding *f, struct slice after, struct slice line)
{
	struct slice other;

	for (; f; f = f->next, after = f ? f->rules : after)
		while (next_line(&after, &other))
			if (slice_eq(other, line))
				return true;
	return false;
}

void known_print_rules(const struct known *k, struct buf *out)
{
	for (const struct known_finding *f = k->findings; f; f = f->next) {
		struct slice rest = f->rules, line;
		bool told = false;

		while (next_line(&rest, &line)) {
			if (is_later(f, rest, line))
				continue;
			if (!told)
				buf_printf(out, "# %.*s\n", SLICE_FMT(f->text));
			told = true;
			buf_put(out, line);
			buf_u8(out, '\n');
		}
	}
}
