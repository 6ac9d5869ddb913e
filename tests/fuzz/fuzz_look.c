/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_look.c - any frames as the answers to threads, hot, top and flame, and any text as the histogram of a heap:
 * compared, ranked, drawn and written as JSON, all of it harmless.  The first byte says how. */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>

#include "base/utf8.h"
#include "base/visible.h"
#include "cli/hot/flame_page.h"
#include "cli/hot/hot_show.h"
#include "cli/look/heap_rows.h"
#include "cli/look/thread_show.h"
#include "cli/top/top_list.h"
#include "export/collapsed.h"
#include "export/pprof.h"
#include "memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need_harmless(struct buf *out)
{
	for (size_t i = 0; i < out->n;) {
		uint32_t c;
		size_t n = utf8_decode(out->p + i, out->n - i, &c);

		if (!n || !(visible_is(c) || c == '\n'))
			abort();
		i += n;
	}
	buf_clear(out);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void take_thread(struct thread_look *look, unsigned type, struct slice payload)
{
	struct wire_thread row;

	if (type == WIRE_thread && wire_get_thread(payload, &row) == 0)
		thread_look_take(look, &row);
}

static void show_threads(struct thread_look *now, const struct thread_look *before, unsigned how)
{
	struct thread_view v = {
		.set = now,
		.before = before,
		.wall_ns = 1000000,
		.frames = 8,
		.width = how,
	};
	struct buf out = { 0 };
	bool several;

	if (thread_look_compare(now, before, v.wall_ns) < 0)
		return;
	(void)thread_look_find(now, "1", &several);
	thread_show(&v, &out);
	need_harmless(&out);
	thread_json(&v, &out);
	need_harmless(&out);
	if (now->n)
		thread_show_one(&v, now->v[0], &out);
	need_harmless(&out);
	buf_release(&out);
}

/* ---- samples ------------------------------------------------------------------------------- */

static void show_top(const struct sampled *s, const struct ranking *r)
{
	struct top_look look = { .page = TOP_FUNCTIONS };
	struct top_list l = { 0 };

	for (look.page = TOP_FUNCTIONS; look.page <= TOP_FUNCTION; look.page++) {
		if (r->n)
			look.trail[0] = r->v[0].name;
		look.depth = r->n ? 1 : 0;
		if ((look.page != TOP_FUNCTION || r->n) && top_list_build(&l, &look, s, r))
			top_list_release(&l);
	}
}

static void show_samples(const struct sampled *s, unsigned how)
{
	const struct pprof_about about = {
		.type = "a", .unit = "b", .counts = "c", .value_each = 1
	};
	struct hot_view v = {
		.s = s, .top = 20, .lines = how & 1, .by_total = how & 2, .width = how
	};
	struct ranking r;
	struct buf out = { 0 };

	if (ranking_build(&r, &s->profile) < 0)
		return;
	v.r = &r;
	hot_put_about(s, &out);
	(void)hot_show(&v, &out);
	need_harmless(&out);
	hot_json(&v, &out);
	need_harmless(&out);
	show_top(s, &r);
	flame_page_put(&out, s, NULL);
	buf_clear(&out);
	collapsed_put(&out, &s->profile);
	pprof_put(&out, &s->profile, &about);
	buf_release(&out);
	ranking_release(&r);
}

/* ---- the heap ------------------------------------------------------------------------------ */

static void show_heap(struct slice text)
{
	struct heap_rows h;
	struct buf out = { 0 };

	if (heap_rows_read(&h, text) == 0) {
		heap_rows_show(&h, NULL, 10, &out);
		need_harmless(&out);
		heap_rows_json(&h, "a", 0, &out);
		need_harmless(&out);
	}
	heap_rows_release(&h);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 }, payload;
	struct thread_look look[2];
	struct sampled s;
	unsigned type, n = 0;
	long step;

	if (!size)
		return 0;
	memfile_hush();
	show_heap(in);
	thread_look_init(&look[0]);
	thread_look_init(&look[1]);
	sampled_init(&s);
	s.symbols.left = 0; /* no files are read */
	s.mode = data[0] % (STACKS_LOCK + 1);
	s.by_thread = data[0] & 0x80;
	s.live = data[0] & 0x40;
	for (; in.n && (step = wire_frame(in, &type, &payload)) > 0; n++) {
		take_thread(&look[n & 1], type, payload);
		if (n % 3 == 0)
			take_thread(&look[!(n & 1)], type, payload);
		(void)sampled_take(&s, type, payload);
		in = (struct slice){ in.p + step, in.n - (size_t)step };
	}
	show_threads(&look[0], &look[1], data[0]);
	show_samples(&s, data[0]);
	sampled_release(&s);
	thread_look_release(&look[0]);
	thread_look_release(&look[1]);
	return 0;
}
