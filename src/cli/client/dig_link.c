/* SPDX-License-Identifier: Apache-2.0 */
/* dig_link.c - does what dig asks for. */
#include "cli/client/dig_link.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/client/calibration.h"
#include "cli/screen/cli.h"
#include "cli/screen/layout.h"
#include "cli/screen/secrets.h"
#include "jvm/jvm_threads.h"

/* What one event costs the program, in ns, where there is no calibration: taken on the high side of
 * what such machines show.  A call whose arguments are written down is not part of calibrations. */
enum { USUAL_PASSED = 15, USUAL_TIMED = 75, USUAL_SLOW_WAY = 60, COST_WATCHED = 10000 };

static int ask(struct dig_link *l, client_row *row)
{
	l->client.quiet = true;
	return client_ask(&l->client, row, l);
}

/* ---- samples ------------------------------------------------------------------------------- */

static void take_frame(struct dig_link *l, const struct wire_frame *m)
{
	struct sample_row row = { .depth = m->depth,
				  .name = m->name,
				  .flags = m->flags & (SAMPLE_IS_NATIVE | SAMPLE_IS_FIXED |
						       SAMPLE_IS_SYNTHETIC),
				  .self = { [SAMPLE_RUNNING] = m->running,
					    [SAMPLE_NATIVE] = m->native,
					    [SAMPLE_BLOCKED] = m->blocked,
					    [SAMPLE_WAITING] = m->waiting,
					    [SAMPLE_PARKED] = m->parked,
					    [SAMPLE_SLEEPING] = m->sleeping },
				  .stretches = m->stretches,
				  .threads = m->threads };

	samples_add(&l->dig.fresh, &row);
}

static bool take_sample(void *ctx, unsigned type, struct slice payload)
{
	struct dig_link *l = ctx;
	struct wire_frame frame;
	struct wire_lock lock;
	struct wire_vitals v;

	if (type == WIRE_frame && wire_get_frame(payload, &frame) == 0)
		take_frame(l, &frame);
	if (type == WIRE_lock && wire_get_lock(payload, &lock) == 0)
		samples_add_lock(&l->dig.fresh,
				 &(struct sample_lock){ .class = lock.class,
							.waiter = lock.waiter,
							.thread = lock.thread,
							.holder = lock.holder,
							.parked = (lock.flags & LOCK_PARKED) != 0,
							.samples = lock.samples });
	if (type == WIRE_vitals && wire_get_vitals(payload, &v) == 0) {
		l->dig.fresh.vitals = (struct sample_vitals){ .wall = v.wall_ns,
							      .cost = v.cost_ns,
							      .gc = v.gc_ns,
							      .cpu = v.cpu_ns,
							      .delay = v.delay_ns,
							      .gc_cpu = v.gc_cpu_ns,
							      .jit_cpu = v.jit_cpu_ns,
							      .own_cpu = v.own_cpu_ns,
							      .samples = v.samples,
							      .gcs = v.gcs,
							      .threads = v.threads,
							      .cpus = v.cpus };
	}
	return true;
}

static int do_sample(struct dig_link *l, const struct dig_action *a)
{
	int status;

	wire_put_sample(&l->client.out, &(struct wire_sample){ .for_ns = a->for_ns });
	status = ask(l, take_sample);
	if (status == CLI_DONE)
		dig_sampled(&l->dig);
	return status;
}

/* ---- hooks ---------------------------------------------------------------------------------- */

static bool take_hook(void *ctx, unsigned type, struct slice payload)
{
	struct dig_link *l = ctx;
	struct wire_left left;

	if (type == WIRE_left && wire_get_left(payload, &left) == 0)
		l->undecided |= slice_starts(left.reason, slice_str("the rule has `inside`"));
	return true;
}

/* A rule that meets nothing is nothing to be told.  CLI_USAGE: the plan has been told that they are
 * too many. */
static int ask_hook(struct dig_link *l)
{
	struct wire_done done;
	int status = client_hear(&l->client, take_hook, l, &done);

	if (status != CLI_DONE)
		return status;
	if (done.status == CLI_USAGE && dig_too_many(&l->dig))
		return CLI_USAGE;
	if (done.status > CLI_NO)
		return cli_cannot("%.*s", SLICE_FMT(done.text));
	return (int)done.status;
}

static int do_hook(struct dig_link *l, const struct dig_action *a)
{
	int status;

	l->undecided = false;
	wire_put_hook(&l->client.out,
		      &(struct wire_hook){ .rules = a->rules,
					   .origin = slice_str("dig"),
					   .flags = HOOK_HELD | HOOK_INSTEAD | HOOK_ACCOUNT });
	status = ask_hook(l);
	if (status == CLI_USAGE)
		return CLI_DONE; /* the plan will ask for fewer */
	if (status > CLI_NO)
		return status;
	dig_hooked(&l->dig, status == CLI_DONE, l->undecided);
	return CLI_DONE;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void take_method(struct dig_link *l, const struct wire_method *m, uint64_t *events,
			uint64_t *timed)
{
	struct dig_figures f = { .name = m->name,
				 .calls = m->calls,
				 .timed = m->timed,
				 .total_ns = m->total_ns,
				 .max_ns = m->max_ns,
				 .rate = m->rate };
	const uint8_t *p = m->buckets.p;

	if (m->flags & METHOD_GONE)
		return;
	for (size_t left = m->buckets.n; left >= 12 && f.n < DIG_BUCKETS; left -= 12, p += 12) {
		f.low[f.n] = (uint64_t)get_u32(p) << 32 | get_u32(p + 4);
		f.count[f.n++] = get_u32(p + 8);
	}
	if (!dig_method(&l->dig, &f))
		return; /* what hooks of others cost is none of ours */
	*events += m->calls;
	*timed += m->timed;
}

static bool take_status(void *ctx, unsigned type, struct slice payload)
{
	struct dig_link *l = ctx;
	struct wire_status s;

	if (type == WIRE_status && wire_get_status(payload, &s) == 0) {
		l->fast = s.fast != 0;
		l->cost.recompile_ns = s.recompile_ns;
	}
	return true;
}

static bool take_report(void *ctx, unsigned type, struct slice payload)
{
	struct dig_link *l = ctx;
	struct wire_method m;

	if (type == WIRE_method && wire_get_method(payload, &m) == 0)
		take_method(l, &m, &l->cost.events, &l->cost.timed);
	return take_status(ctx, type, payload);
}

static bool take_tree(void *ctx, unsigned type, struct slice payload)
{
	struct dig_link *l = ctx;
	struct wire_node m;

	if (type == WIRE_node && wire_get_node(payload, &m) == 0)
		dig_row(&l->dig, &(struct measure_row){ .depth = m.depth,
							.name = m.name,
							.calls = m.calls,
							.ended = m.timed,
							.ns = m.total_ns });
	return true;
}

struct machine_time dig_link_machine(void)
{
	FILE *f = fopen("/proc/stat", "re");
	struct machine_time now = { 0 };
	char text[512];

	if (!f)
		return now;
	(void)machine_read((struct slice){ (uint8_t *)text, fread(text, 1, sizeof(text), f) },
			   &now);
	fclose(f);
	return now;
}

/* How much the program waits for a processor, since the first reading. */
static void see_starved(struct dig_link *l)
{
	struct machine_time now = dig_link_machine();
	struct machine_had had;
	struct jvm_threads t;
	uint64_t run, delay;

	jvm_threads_read(l->client.pid, &t);
	if (!l->dig.measure.readings) {
		l->threads = t;
		l->machine = now;
	}
	run = t.run_ns > l->threads.run_ns ? t.run_ns - l->threads.run_ns : 0;
	delay = t.delay_ns > l->threads.delay_ns ? t.delay_ns - l->threads.delay_ns : 0;
	had = machine_had((double)run, (double)delay, machine_stolen(&l->machine, &now));
	l->dig.ran_ns = had.ran_ns;
	l->dig.starved = had.starved;
}

static int do_measure(struct dig_link *l, const struct dig_action *a)
{
	uint64_t before = l->cost.events, timed = l->cost.timed;
	int status = client_pause(&l->client, a->for_ns);

	if (status != CLI_DONE)
		return status;
	l->cost.events = l->cost.timed = 0;
	see_starved(l);
	wire_put_report(&l->client.out, &(struct wire_report){ REPORT_BUCKETS });
	status = ask(l, take_report);
	if (status != CLI_DONE)
		return status;
	if (l->dig.measure.readings && l->cost.events > before) {
		uint64_t n = l->cost.events - before, now = clock_steady_ns();
		uint64_t t = l->cost.timed > timed ? l->cost.timed - timed : 0;
		const double *price = l->price[l->fast ? 0 : 1];
		double ns = (double)(n > t ? n - t : 0) * price[0] + (double)t * price[1];

		l->cost.events_ns += ns;
		l->dig.cost_share = now > l->cost.read_at ? ns / (double)(now - l->cost.read_at)
							  : 0;
	}
	l->cost.read_at = clock_steady_ns();
	measure_begin(&l->dig.measure);
	wire_put_tree(&l->client.out, &(struct wire_tree){ 0 });
	status = ask(l, take_tree);
	if (status != CLI_DONE)
		return status;
	measure_end(&l->dig.measure);
	dig_measured(&l->dig);
	return CLI_DONE;
}

/* ---- callees --------------------------------------------------------------------------------- */

static bool take_callee(void *ctx, unsigned type, struct slice payload)
{
	struct dig_link *l = ctx;
	struct wire_callee m;

	if (type == WIRE_callee && wire_get_callee(payload, &m) == 0 &&
	    (!(m.flags & CALLEE_ABSTRACT) || sample_node_is_jdk(m.name)))
		dig_callee(&l->dig, m.name);
	return true;
}

static int do_callees(struct dig_link *l, const struct dig_action *a)
{
	struct wire_done done; /* a method that it cannot find calls nothing */
	int status;

	wire_put_callees(&l->client.out, &(struct wire_callees){ .method = a->method });
	status = client_hear(&l->client, take_callee, l, &done);
	dig_callees_end(&l->dig);
	return status;
}

/* ---- watched calls ---------------------------------------------------------------------------- */

static void take_call(struct dig_link *l, const struct wire_call *m)
{
	struct slice facts = m->facts, key, value, one;
	unsigned n = 1;

	l->cost.watched++;
	dig_call(&l->dig, m->name, (double)m->elapsed_ns);
	while (wire_fact(&facts, &key, &value)) {
		struct slice rest = layout_inside(value);

		if (!slice_is(key, "args"))
			continue;
		while (layout_next(&rest, &one))
			dig_value(&l->dig, n++, one);
	}
}

static int do_watch(struct dig_link *l, const struct dig_action *a)
{
	uint64_t end = clock_steady_ns() + a->for_ns, look = clock_steady_ns() + 1000000000u, now;
	struct wire_call call;
	struct slice payload;
	unsigned type = 0;
	char gone[80];
	int status, rc;

	/* In place of the hooks that have done their work, in one change.  They are of the same
	 * code, so nothing has to be redefined. */
	wire_put_watch(&l->client.out, &(struct wire_watch){ .rules = a->rules,
							     .limit = a->limit,
							     .depth = 3,
							     .redact = slice_str(SECRETS_USUAL),
							     .flags = HOOK_INSTEAD });
	status = client_send(&l->client);
	while (status == CLI_DONE && type != WIRE_done && (now = clock_steady_ns()) < end) {
		uint64_t until = look < end ? look : end;

		rc = client_next(&l->client, until > now ? (int)((until - now) / 1000000) + 1 : 1,
				 &type, &payload);
		if (client_interrupted())
			return CLI_CANNOT;
		if (rc < 0)
			return cli_cannot("%s", client_gone(&l->client, gone));
		if (rc == 1 && type == WIRE_call && wire_get_call(payload, &call) == 0)
			take_call(l, &call);
		now = clock_steady_ns();
		if (now < look && now < end)
			continue;
		look = now + 1000000000u;
		end = dig_has_enough(&l->dig, (double)now) ? now : now < end ? end : look;
	}
	l->watches = type != WIRE_done;
	dig_watched(&l->dig);
	return status;
}

/* ---- waiting ---------------------------------------------------------------------------------- */

static int do_wait(struct dig_link *l, const struct dig_action *a)
{
	int status = client_pause(&l->client, a->for_ns);

	if (status == CLI_DONE)
		dig_waited(&l->dig);
	return status;
}

/* ---- cost ------------------------------------------------------------------------------------- */

/* Of short calls, which are those that are called often; the middle, since they are added up. */
static double pair_of(const struct costs *c, enum cost_tier tier, enum cost_kind kind)
{
	return c->of[tier][kind][1].pair.mid;
}

/* What was measured on this machine with this JVM counts; where nothing was, what is usual. */
static void find_prices(struct dig_link *l)
{
	struct calibration_key key;
	struct buf text = { 0 };
	struct costs c;

	if (calibration_key(l->client.welcome.jvm, &key) >= 0 &&
	    calibration_load(&key, &text, &c) >= 0) {
		l->price[0][0] = pair_of(&c, COST_COMPILED, COST_PASSED);
		l->price[0][1] = pair_of(&c, COST_COMPILED, COST_SETTLED);
		l->price[1][0] = pair_of(&c, COST_JNI, COST_PASSED);
		l->price[1][1] = pair_of(&c, COST_JNI, COST_SETTLED);
		l->is_calibrated = true;
	} else {
		l->price[0][0] = USUAL_PASSED;
		l->price[0][1] = USUAL_TIMED;
		l->price[1][0] = USUAL_PASSED + USUAL_SLOW_WAY;
		l->price[1][1] = USUAL_TIMED + USUAL_SLOW_WAY;
	}
	for (int i = 0; i < 4; i++) /* a calibration can find nothing, but a hook is never free */
		l->price[i / 2][i % 2] = l->price[i / 2][i % 2] > 1 ? l->price[i / 2][i % 2] : 1;
	buf_release(&text);
}

void dig_link_begin(struct dig_link *l)
{
	struct jvm_threads t;

	find_prices(l);
	l->cost.began_ns = clock_steady_ns();
	jvm_threads_read(l->client.pid, &t);
	l->cost.own_before = t.own_ns;
}

struct dig_cost dig_link_cost(struct dig_link *l)
{
	double wall = (double)(clock_steady_ns() - l->cost.began_ns);
	struct dig_cost c = { .hooks = l->cost.events_ns + (double)l->cost.watched * COST_WATCHED };
	struct jvm_threads t;

	jvm_threads_read(l->client.pid, &t);
	if (t.own_ns > l->cost.own_before)
		c.agent = (double)(t.own_ns - l->cost.own_before);
	c.compilers = (double)l->cost.recompile_ns;
	wall = wall > 0 ? wall : 1;
	c.hooks /= wall, c.agent /= wall, c.compilers /= wall;
	c.all = c.hooks + c.agent + c.compilers;
	return c;
}

double dig_link_spent(struct dig_link *l)
{
	struct dig_cost c;

	if (!l->watches) {
		wire_put_ask_status(&l->client.out, &(struct wire_ask_status){ 0 });
		(void)ask(l, take_status); /* if the agent has gone, the next step tells */
	}
	c = dig_link_cost(l);
	return (c.all + 0.5 * c.compilers) * (double)(clock_steady_ns() - l->cost.began_ns);
}

int dig_link_do(struct dig_link *l, const struct dig_action *a)
{
	switch (a->step) {
	case DIG_SAMPLE:
		return do_sample(l, a);
	case DIG_HOOK:
		return do_hook(l, a);
	case DIG_MEASURE:
		return do_measure(l, a);
	case DIG_CALLEES:
		return do_callees(l, a);
	case DIG_WATCH:
		return do_watch(l, a);
	case DIG_WAIT:
		return do_wait(l, a);
	default:
		return CLI_DONE;
	}
}
