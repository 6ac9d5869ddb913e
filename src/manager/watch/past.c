/* SPDX-License-Identifier: Apache-2.0 */
/* past.c - rows come by method and time, so windows are added up as they pass. */
#include "manager/watch/past.h"

enum { TIMED_LEAST = 5, CALLS_LEAST = 20 };

struct passing {
	struct past_window now;
	bool any;
	uint8_t name[4096];
	past_on_window *on;
	void *ctx;
};

static void hand_over(struct passing *p)
{
	if (p->any)
		p->on(p->ctx, &p->now);
	p->any = false;
}

static void take(void *ctx, const struct archive_figure *f)
{
	struct passing *p = ctx;
	struct past_window *w = &p->now;
	uint64_t begin = f->slot_ms - f->slot_ms % w->width_ms;
	struct slice name = { f->method.p,
			      f->method.n < sizeof(p->name) ? f->method.n : sizeof(p->name) };

	if (!p->any || begin != w->begin_ms || !slice_eq(name, w->method)) {
		hand_over(p);
		memcpy(p->name, name.p, name.n);
		*w = (struct past_window){ .method = { p->name, name.n },
					   .begin_ms = begin,
					   .width_ms = w->width_ms };
		p->any = true;
	}
	for (unsigned k = 0; k < SUMS; k++)
		w->sums[k] += f->sums[k];
}

int past_read(struct archive *s, const struct past_span *span, past_on_window *on, void *ctx)
{
	struct passing p = { .now = { .width_ms = span->width_ms }, .on = on, .ctx = ctx };
	struct archive_span all = { .app = span->app,
				    .instance = span->instance,
				    .method = span->method,
				    .from_ms = span->from_ms,
				    .to_ms = span->to_ms - 1,
				    .level = span->level };
	int rc = archive_figures(s, &all, take, &p);

	hand_over(&p);
	return rc;
}

unsigned past_level(uint64_t width_ms)
{
	unsigned level = ARCHIVE_LEVELS - 1;

	while (level > 0 && width_ms % archive_step_ms[level])
		level--;
	return level;
}

bool past_value(const struct past_window *w, enum usual_kind kind, double *out)
{
	double calls = (double)w->sums[SUM_CALLS];

	if (kind == USUAL_TIME) {
		*out = calls > 0 ? (double)w->sums[SUM_TOTAL_NS] / calls : 0;
		return w->sums[SUM_TIMED] >= TIMED_LEAST && *out > 0;
	}
	if (kind == USUAL_ERRORS) {
		*out = calls > 0 ? (double)w->sums[SUM_ERRORS] / calls : 0;
		return calls >= CALLS_LEAST;
	}
	*out = (double)w->sums[SUM_STALLS] * 1000 / (double)w->width_ms;
	return true;
}
