/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - calibrations as text, and back.
 *
 *	sonde calibration 3
 *	cpu ...
 *	mechanism FFM critical
 *	pulse 27.50
 *	cost compiled settled 1 inner 25.1 28.0 33.9 outer 40.2 44.0 49.5 pair 68.0 72.1 80.2
 *	...
 *	end
 *
 * The last line tells that nothing is missing. */
#include "tree/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char head[] = "sonde calibration 3\n";
static const char *const kinds[COST_KINDS] = { "every", "settled", "rare",  "passed",
					       "light", "solo",	   "closed" };
static const char *const tiers[COST_TIERS] = { "compiled", "interpreted", "jni" };

unsigned cost_class(double ns)
{
	static const double ends[COST_CLASSES - 1] = { 40, 400, 4000 };
	unsigned i = 0;

	while (i < COST_CLASSES - 1 && ns >= ends[i])
		i++;
	return i;
}

/* What is more than that is not the clock's pace. */
#define PACE_MIN 0.5
#define PACE_MAX 3.0
/* By so much of the change the costs may have changed otherwise. */
#define PACE_OFF 0.3

static struct span at_pace(const struct span *s, double pace)
{
	double off = PACE_OFF * fabs((pace - 1) * s->mid);

	return (struct span){ s->low * pace - off, s->mid * pace, s->high * pace + off };
}

void cost_at(const struct costs *c, double pulse, struct costs *out)
{
	double pace = 1;

	if (pulse > 0 && c->pulse > 0)
		pace = fmin(PACE_MAX, fmax(PACE_MIN, pulse / c->pulse));
	*out = *c;
	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < COST_CLASSES; i++) {
				const struct cost *one = &c->of[t][k][i];

				out->of[t][k][i] = (struct cost){ at_pace(&one->inner, pace),
								  at_pace(&one->outer, pace),
								  at_pace(&one->pair, pace) };
			}
}

static void put_span(struct buf *out, const char *name, const struct span *s)
{
	buf_printf(out, " %s %.2f %.2f %.2f", name, s->low, s->mid, s->high);
}

void cost_write(const struct costs *c, struct buf *out)
{
	buf_printf(out, "mechanism %s\npulse %.2f\nnoise %.4f\n", c->mechanism, c->pulse, c->noise);
	for (unsigned t = 0; t < COST_TIERS; t++) {
		for (unsigned k = 0; k < COST_KINDS; k++) {
			for (unsigned i = 0; i < COST_CLASSES; i++) {
				const struct cost *one = &c->of[t][k][i];

				buf_printf(out, "cost %s %s %u", tiers[t], kinds[k], i);
				put_span(out, "inner", &one->inner);
				put_span(out, "outer", &one->outer);
				put_span(out, "pair", &one->pair);
				buf_u8(out, '\n');
			}
		}
	}
}

struct slice cost_line(struct slice text, const char *key)
{
	size_t n = strlen(key);

	while (text.n) {
		const uint8_t *end = memchr(text.p, '\n', text.n);
		size_t line = end ? (size_t)(end - text.p) : text.n;

		if (line > n && memcmp(text.p, key, n) == 0 && text.p[n] == ' ')
			return (struct slice){ text.p + n + 1, line - n - 1 };
		line += end != NULL;
		text = (struct slice){ text.p + line, text.n - line };
	}
	return (struct slice){ NULL, 0 };
}

static unsigned index_of(const char *const *names, unsigned n, const char *name)
{
	unsigned i = 0;

	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

static bool is_span(const struct span *s)
{
	return s->low >= -1e6 && s->low <= s->mid && s->mid <= s->high && s->high <= 1e6;
}

/* One line behind "cost "; false: damaged. */
static bool take_cost(struct costs *out, const char *line, unsigned *seen)
{
	char tier[16], kind[16];
	struct cost c;
	unsigned t, k, i;

	if (sscanf(line, "%15s %15s %u inner %lf %lf %lf outer %lf %lf %lf pair %lf %lf %lf", tier,
		   kind, &i, &c.inner.low, &c.inner.mid, &c.inner.high, &c.outer.low, &c.outer.mid,
		   &c.outer.high, &c.pair.low, &c.pair.mid, &c.pair.high) != 12)
		return false;
	t = index_of(tiers, COST_TIERS, tier);
	k = index_of(kinds, COST_KINDS, kind);
	if (t == COST_TIERS || k == COST_KINDS || i >= COST_CLASSES || !is_span(&c.inner) ||
	    !is_span(&c.outer) || !is_span(&c.pair))
		return false;
	out->of[t][k][i] = c;
	++*seen;
	return true;
}

/* A number from 0 to most. */
static bool take_number(struct slice value, double most, double *out)
{
	char text[16] = "";

	if (!value.p || value.n >= sizeof(text))
		return false;
	memcpy(text, value.p, value.n);
	return sscanf(text, "%lf", out) == 1 && *out >= 0 && *out <= most;
}

int cost_read(struct slice text, struct costs *out)
{
	struct costs c = { 0 };
	unsigned seen = 0;
	struct slice value;
	bool ended = false;

	if (text.n < sizeof(head) - 1 || memcmp(text.p, head, sizeof(head) - 1) != 0)
		return E_MAGIC;
	value = cost_line(text, "mechanism");
	if (!value.p || value.n >= sizeof(c.mechanism))
		return E_SYNTAX;
	memcpy(c.mechanism, value.p, value.n);
	value = cost_line(text, "noise");
	if (!take_number(value, 1, &c.noise))
		return E_SYNTAX;
	value = cost_line(text, "pulse");
	if (!take_number(value, 1e6, &c.pulse))
		return E_SYNTAX;
	while (text.n) {
		const uint8_t *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		char line[400];

		if (!end || n >= sizeof(line))
			return E_SYNTAX;
		memcpy(line, text.p, n);
		line[n] = '\0';
		if (strncmp(line, "cost ", 5) == 0 && !take_cost(&c, line + 5, &seen))
			return E_SYNTAX;
		ended = strcmp(line, "end") == 0;
		text = (struct slice){ text.p + n + 1, text.n - n - 1 };
	}
	if (!ended || seen != COST_TIERS * COST_KINDS * COST_CLASSES)
		return E_SYNTAX;
	*out = c;
	return 0;
}
