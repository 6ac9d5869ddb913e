/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_dig.c - any frames as what an agent answers while "sonde dig" goes down: it must come to an
 * end, and to rules that can be read. */
#include <stdlib.h>

#include "base/reader.h"
#include "plan/dig/dig.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 4000, ROWS = 12 };

static const double second = 1e9;

/* The next message; false: all were taken, and they begin anew. */
static bool next(struct slice all, struct slice *left, unsigned *type, struct slice *payload)
{
	long n = left->n ? wire_frame(*left, type, payload) : 0;

	if (n <= 0) {
		*left = all;
		return false;
	}
	*left = (struct slice){ left->p + n, left->n - (size_t)n };
	return true;
}

static void take_sample(struct dig *d, unsigned type, struct slice payload)
{
	struct wire_frame m;
	struct wire_lock lock;
	struct wire_vitals v;

	if (type == WIRE_frame && wire_get_frame(payload, &m) == 0)
		samples_add(&d->fresh,
			    &(struct sample_row){ .depth = m.depth,
						  .name = m.name,
						  .flags = m.flags & 7,
						  .self = { m.running, m.native, m.blocked,
							    m.waiting, m.parked, m.sleeping },
						  .stretches = m.stretches,
						  .threads = m.threads });
	if (type == WIRE_lock && wire_get_lock(payload, &lock) == 0)
		samples_add_lock(&d->fresh, &(struct sample_lock){ .class = lock.class,
								   .waiter = lock.waiter,
								   .thread = lock.thread,
								   .holder = lock.holder,
								   .samples = lock.samples });
	if (type == WIRE_vitals && wire_get_vitals(payload, &v) == 0)
		d->fresh.vitals = (struct sample_vitals){ .wall = v.wall_ns,
							  .gc = v.gc_ns,
							  .cpu = v.cpu_ns,
							  .delay = v.delay_ns,
							  .gc_cpu = v.gc_cpu_ns,
							  .samples = v.samples,
							  .gcs = v.gcs,
							  .threads = v.threads,
							  .cpus = v.cpus };
}

static void take_figures(struct dig *d, unsigned type, struct slice payload)
{
	struct wire_method m;
	struct wire_node node;

	if (type == WIRE_method && wire_get_method(payload, &m) == 0) {
		struct dig_figures f = { .name = m.name,
					 .calls = m.calls,
					 .timed = m.timed,
					 .total_ns = m.total_ns,
					 .max_ns = m.max_ns,
					 .rate = m.rate };
		const uint8_t *p = m.buckets.p;

		for (size_t n = m.buckets.n; n >= 12 && f.n < DIG_BUCKETS; n -= 12, p += 12) {
			f.low[f.n] = get_u64(p);
			f.count[f.n++] = get_u32(p + 8);
		}
		dig_method(d, &f);
	}
	if (type == WIRE_node && wire_get_node(payload, &node) == 0)
		dig_row(d, &(struct measure_row){ .depth = node.depth,
						  .name = node.name,
						  .calls = node.calls,
						  .ended = node.timed,
						  .ns = node.total_ns });
}

static void take_other(struct dig *d, enum dig_step step, unsigned type, struct slice payload)
{
	struct wire_callee callee;
	struct wire_call call;

	if (step == DIG_CALLEES && type == WIRE_callee && wire_get_callee(payload, &callee) == 0)
		dig_callee(d, callee.name);
	if (step == DIG_WATCH && type == WIRE_call && wire_get_call(payload, &call) == 0) {
		dig_call(d, call.name, (double)call.elapsed_ns);
		dig_value(d, 1, call.facts);
		dig_value(d, 2, call.thread);
	}
}

static void step(struct dig *d, const struct dig_action *a, struct slice all, struct slice *left,
		 double now)
{
	struct slice payload;
	unsigned type;

	if (a->step == DIG_MEASURE)
		measure_begin(&d->measure);
	for (int i = 0; i < ROWS && next(all, left, &type, &payload); i++) {
		if (a->step == DIG_SAMPLE)
			take_sample(d, type, payload);
		else if (a->step == DIG_MEASURE)
			take_figures(d, type, payload);
		else
			take_other(d, a->step, type, payload);
	}
	switch (a->step) {
	case DIG_SAMPLE:
		dig_sampled(d);
		break;
	case DIG_HOOK:
		dig_hooked(d, left->n % 5 != 0, left->n % 7 == 0);
		break;
	case DIG_MEASURE:
		measure_end(&d->measure);
		dig_measured(d);
		break;
	case DIG_CALLEES:
		dig_callees_end(d);
		break;
	case DIG_WATCH:
		(void)dig_has_enough(d, now);
		dig_watched(d);
		break;
	default:
		dig_waited(d);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dig d;
	struct slice all = { data + 1, size - 1 }, left = all;
	struct dig_options options = { .for_ns = 55e9, .budget = 0.01 };
	struct buf out = { 0 };
	struct dig_action a;
	double now = second;
	int n = 0;

	if (!size)
		return 0;
	if (data[0] & 1)
		options.method = slice_str("a.B::c");
	dig_init(&d, &options);
	d.starved = data[0] & 2 ? 0.9 : -1;
	for (;; n++) {
		dig_next(&d, now, &a);
		if (a.step == DIG_DONE)
			break;
		if (n == STEPS_MAX || (double)a.for_ns > 366 * 86400e9)
			abort();
		step(&d, &a, all, &left, now);
		buf_clear(&d.said);
		now += (double)a.for_ns + second / 20;
	}
	dig_print(&d, &out);
	dig_print_rules(&d, &out);
	dig_print_short(&d, &out);
	buf_release(&out);
	dig_release(&d);
	return 0;
}
