/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_walk.c - any frames as what an agent answers while "sonde walk" goes up, and while "sonde observe" looks:
 * both come to an end, and the rules of observe can be read.  The first byte says how. */
#include <stdlib.h>

#include "plan/observe/observe.h"
#include "plan/walk/climb.h"
#include "plan/walk/climb_print.h"
#include "plan/walk/roots.h"
#include "rule/rules.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 4000, ROWS = 24, DEPTH = 32 };

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

/* ---- walk ---------------------------------------------------------------------------------- */

static void take(struct climb *c, enum climb_step step, unsigned type, struct slice payload,
		 struct climb_frame *frames, size_t *n)
{
	struct wire_method method;
	struct wire_node node;

	if (type == WIRE_method && wire_get_method(payload, &method) == 0 && step == CLIMB_HOOK)
		climb_is_in(c, method.name);
	if (type != WIRE_node || wire_get_node(payload, &node) < 0)
		return;
	if (step == CLIMB_SAMPLE) {
		frames[*n % DEPTH] = (struct climb_frame){ node.name, roots_flags(node.name) };
		++*n;
		climb_stacks_add(&c->stacks, &c->list, frames, *n < DEPTH ? *n : DEPTH, node.calls);
	} else if (step == CLIMB_MEASURE && node.depth & 0x10000) {
		climb_told(c, node.name, c->n_hooks ? c->hooks[0]->name : node.name, node.calls,
			   node.total_ns);
	} else if (step == CLIMB_MEASURE) {
		measure_row(&c->measure, &(struct measure_row){ .depth = node.depth,
								.name = node.name,
								.calls = node.calls,
								.ended = node.timed,
								.ns = node.total_ns });
	}
}

static void step(struct climb *c, const struct climb_action *a, struct slice all,
		 struct slice *left, double now)
{
	struct climb_frame frames[DEPTH] = { { { NULL, 0 }, 0 } };
	struct slice payload;
	unsigned type;
	size_t n = 0;

	if (a->step == CLIMB_MEASURE)
		measure_begin(&c->measure);
	for (int i = 0; i < ROWS && next(all, left, &type, &payload); i++)
		take(c, a->step, type, payload, frames, &n);
	if (a->step == CLIMB_SAMPLE) {
		climb_sampled(c);
	} else if (a->step == CLIMB_HOOK) {
		for (unsigned i = 0; i < a->n && left->n % 3; i++)
			climb_is_in(c, a->hooks[i]->name);
		climb_hooked(c);
	} else {
		measure_end(&c->measure);
		climb_measured(c, now);
	}
}

static void walk(struct slice all, unsigned how)
{
	static struct climb c;
	struct climb_options options = { .above = how & 1 ? 0.05 : 0,
					 .top = 3,
					 .bound = CLIMB_HOOKS_MAX,
					 .sample_ns = 1e9,
					 .for_ns = 30e9,
					 .calls = 10,
					 .most_ns = 5e9,
					 .to_root = how & 2 };
	struct climb_action a;
	struct slice left = all;
	struct buf out = { 0 };
	double now = 1e9;

	if (how & 4)
		options.from = slice_str("a.B.c()V");
	climb_init(&c, &options);
	for (int n = 0;; n++) {
		climb_next(&c, now, &a);
		if (a.step == CLIMB_DONE)
			break;
		if (n == STEPS_MAX)
			abort();
		step(&c, &a, all, &left, now);
		buf_clear(&c.said);
		now += (double)a.for_ns + 5e7;
	}
	for (unsigned i = 0; i < c.n_spots; i++)
		climb_put_tree(&c, &c.spots[i], &out);
	climb_put_answer(&c, &out);
	buf_release(&out);
	climb_release(&c);
}

/* ---- observe ------------------------------------------------------------------------------- */

static void sample(struct observe *o, unsigned type, struct slice payload)
{
	struct wire_frame m;

	if (type == WIRE_frame && wire_get_frame(payload, &m) == 0)
		samples_add(&o->samples,
			    &(struct sample_row){ .depth = m.depth,
						  .name = m.name,
						  .flags = m.flags,
						  .self = { m.running, m.native, m.blocked,
							    m.waiting, m.parked, m.sleeping },
						  .stretches = m.stretches,
						  .threads = m.threads });
}

static void tell(struct observe *o, unsigned type, struct slice payload)
{
	struct wire_method method;
	struct wire_callee callee;
	struct wire_code code;

	if (type == WIRE_method && wire_get_method(payload, &method) == 0)
		observe_count(o, method.name, method.calls);
	if (type == WIRE_code && wire_get_code(payload, &code) == 0)
		observe_code(o, code.method, code.bytes);
	if (type == WIRE_callee && wire_get_callee(payload, &callee) == 0)
		observe_callee(o, callee.caller, callee.name);
}

static void need_rules(struct slice text)
{
	static struct rule_errors errors;
	struct rules *rules;
	struct arena mem;

	errors.n = errors.more = 0;
	arena_init(&mem);
	rules = rules_new(&mem);
	if (!rules || rules_add(rules, text, "observe", &errors) < 0 || errors.n)
		abort();
	arena_release(&mem);
}

static void observe(struct slice all, unsigned how)
{
	const struct observe_options options = { .budget = how & 1 ? 0.001 : 0.5, .most = 20 };
	struct slice left = all, payload, asked[8];
	struct buf out = { 0 };
	struct observe o;
	unsigned type;

	observe_init(&o, &options);
	while (next(all, &left, &type, &payload))
		sample(&o, type, payload);
	samples_seal(&o.samples);
	observe_look(&o);
	if (observe_put_counting(&o, 50, &out))
		need_rules(buf_slice(&out));
	while (next(all, &left, &type, &payload))
		tell(&o, type, payload);
	observe_counted(&o, 2);
	buf_clear(&out);
	if (observe_put_hot(&o, &out))
		need_rules(buf_slice(&out));
	(void)observe_ask(&o, asked, COUNT(asked));
	while (next(all, &left, &type, &payload))
		tell(&o, type, payload);
	observe_decide(&o);
	buf_clear(&out);
	observe_print(&o, slice_str("# fuzz\n"), &out);
	need_rules(buf_slice(&out));
	for (size_t i = 0; i < o.n; i++)
		observe_put_reason(&o, o.list[i], &out);
	observe_release(&o);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice all = { data + 1, size - 1 };

	if (!size)
		return 0;
	if (data[0] & 8)
		observe(all, data[0]);
	else
		walk(all, data[0]);
	return 0;
}
