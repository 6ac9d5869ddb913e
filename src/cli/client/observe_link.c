/* SPDX-License-Identifier: Apache-2.0 */
/* observe_link.c - half of the time samples, in slices of a second, so that a program that ends
 * loses at most one; half of it counts; then a few questions about byte code. */
#include "cli/client/observe_link.h"

#include <stdio.h>

#include "base/clock.h"
#include "cli/screen/cli.h"
#include "cli/screen/progress.h"
#include "plan/dig/dig.h"

enum {
	RATE = 50,     /* samples a second */
	CLASSES = 200, /* whose methods are counted */
	ASKED = 60,    /* methods whose code is looked at */
};

static const uint64_t second = 1000000000u;

/* ---- messages ------------------------------------------------------------------------------ */

static bool is_over(const struct observe_link *l)
{
	return l->is_gone || l->why[0] || client_interrupted();
}

/* Reads to `done`, and gives its status; CLI_CANNOT without a message when it is over. */
static int ask(struct observe_link *l, client_row *row)
{
	struct slice payload;
	struct wire_done done;
	unsigned type;
	int rc;

	if (client_send(&l->client) != CLI_DONE)
		l->is_gone = true;
	while (!is_over(l)) {
		rc = client_next(&l->client, 200, &type, &payload);
		l->is_gone = rc < 0;
		if (rc != 1)
			continue;
		if (type == WIRE_done && wire_get_done(payload, &done) == 0) {
			if (done.status == CLI_CANNOT)
				snprintf(l->why, sizeof(l->why), "%.*s", SLICE_FMT(done.text));
			return (int)done.status;
		}
		if (row)
			row(l, type, payload);
	}
	return CLI_CANNOT;
}

static bool take_sample(void *ctx, unsigned type, struct slice payload)
{
	struct observe_link *l = ctx;
	struct wire_frame m;
	struct wire_vitals v;

	if (type == WIRE_frame && wire_get_frame(payload, &m) == 0)
		samples_add(&l->fresh,
			    &(struct sample_row){ .depth = m.depth,
						  .name = m.name,
						  .flags = m.flags,
						  .self = { [SAMPLE_RUNNING] = m.running,
							    [SAMPLE_NATIVE] = m.native,
							    [SAMPLE_BLOCKED] = m.blocked,
							    [SAMPLE_WAITING] = m.waiting,
							    [SAMPLE_PARKED] = m.parked,
							    [SAMPLE_SLEEPING] = m.sleeping },
						  .stretches = m.stretches,
						  .threads = m.threads });
	if (type == WIRE_vitals && wire_get_vitals(payload, &v) == 0)
		l->fresh.vitals = (struct sample_vitals){ .wall = v.wall_ns,
							  .samples = v.samples,
							  .threads = v.threads,
							  .cpus = v.cpus,
							  .answers = 1 };
	return true;
}

static bool take_count(void *ctx, unsigned type, struct slice payload)
{
	struct observe_link *l = ctx;
	struct wire_method m;

	if (type == WIRE_method && wire_get_method(payload, &m) == 0 && !(m.flags & METHOD_GONE))
		observe_count(&l->observe, m.name, m.calls);
	return true;
}

static bool take_code(void *ctx, unsigned type, struct slice payload)
{
	struct observe_link *l = ctx;
	struct wire_callee callee;
	struct wire_code code;

	if (type == WIRE_code && wire_get_code(payload, &code) == 0)
		observe_code(&l->observe, code.method, code.bytes);
	if (type == WIRE_callee && wire_get_callee(payload, &callee) == 0)
		observe_callee(&l->observe, callee.caller, callee.name);
	return true;
}

/* ---- steps --------------------------------------------------------------------------------- */

static void sample(struct observe_link *l, struct progress *p)
{
	uint64_t all = l->for_ns / 2, done = 0;

	while (done < all && !is_over(l)) {
		uint64_t slice = all - done < second ? all - done : second;

		samples_init(&l->fresh);
		wire_put_sample(&l->client.out,
				&(struct wire_sample){ .for_ns = slice, .rate = RATE });
		if (ask(l, take_sample) == CLI_DONE) {
			samples_seal(&l->fresh);
			samples_merge(&l->observe.samples, &l->fresh);
		}
		samples_release(&l->fresh);
		done += slice;
		progress_step(p, 0.5 * (double)done / (double)all, done / second);
	}
	observe_look(&l->observe);
}

static int put_rules(struct observe_link *l, const struct buf *rules)
{
	wire_put_hook(&l->client.out, &(struct wire_hook){ .rules = buf_slice(rules),
							   .origin = slice_str("observe"),
							   .flags = HOOK_HELD | HOOK_INSTEAD });
	return ask(l, NULL);
}

/* Hooks that count; fewer classes when they have too many methods.  False: none are in. */
static bool hook(struct observe_link *l, struct buf *rules)
{
	int status = CLI_USAGE;

	for (unsigned n = CLASSES; n && status == CLI_USAGE && !is_over(l); n /= 2) {
		buf_clear(rules);
		if (!observe_put_counting(&l->observe, n, rules))
			break;
		status = put_rules(l, rules);
	}
	return status == CLI_DONE;
}

static bool read_counts(struct observe_link *l)
{
	wire_put_report(&l->client.out, &(struct wire_report){ 0 });
	return ask(l, take_count) == CLI_DONE;
}

/* True: hooks of hot methods are out, and counting begins anew. */
static bool cool(struct observe_link *l, struct buf *rules)
{
	if (!observe_put_hot(&l->observe, rules) || put_rules(l, rules) > CLI_NO)
		return false;
	observe_base(&l->observe, true);
	read_counts(l);
	observe_base(&l->observe, false);
	return true;
}

/* Once a second what was counted is fetched, so that it is there when the program ends. */
static void count(struct observe_link *l, struct progress *p)
{
	uint64_t began = clock_steady_ns(), end = began + l->for_ns / 2, now = began;
	uint64_t next = began + second / 4; /* soon: hot methods are not to be counted for long */
	struct buf rules = { 0 };
	struct slice payload;
	unsigned type;

	if (!hook(l, &rules))
		goto done;
	began = clock_steady_ns();
	while (!is_over(l) && now < end) {
		l->is_gone = client_next(&l->client, 50, &type, &payload) < 0;
		now = clock_steady_ns();
		if (now < next && now < end)
			continue;
		if (read_counts(l))
			observe_counted(&l->observe, (double)(now - began) / 1e9);
		if (cool(l, &rules))
			began = clock_steady_ns();
		next = now + second;
		progress_step(p,
			      1 - 0.5 * (double)(end - (now < end ? now : end)) /
					      (double)(l->for_ns / 2),
			      l->observe.samples.vitals.samples);
	}
done:
	buf_release(&rules);
}

static void ask_code(struct observe_link *l)
{
	struct slice names[ASKED];
	size_t n = observe_ask(&l->observe, names, ASKED);
	struct buf method = { 0 };

	for (size_t i = 0; i < n && !is_over(l); i++) {
		buf_clear(&method);
		dig_put_target(&method, names[i]);
		wire_put_callees(&l->client.out,
				 &(struct wire_callees){ .method = buf_slice(&method) });
		ask(l, take_code);
	}
	buf_release(&method);
}

int observe_link_watch(struct observe_link *l)
{
	struct progress p;
	char gone[80];

	l->client.quiet = true;
	progress_start(&p, "observe");
	sample(l, &p);
	count(l, &p);
	ask_code(l);
	progress_clear(&p);
	observe_decide(&l->observe);
	if (l->observe.err)
		return cli_cannot("%s", err_text(l->observe.err));
	if (l->observe.busy && l->observe.n) {
		if (l->is_gone && !l->why[0] && client_runs(&l->client))
			snprintf(l->why, sizeof(l->why), "somebody has detached the agent");
		if (l->why[0])
			fprintf(stderr, "sonde: this is what was seen until it was over: %s\n",
				l->why);
		return CLI_DONE;
	}
	if (l->why[0])
		return cli_cannot("%s", l->why);
	if (client_interrupted())
		return cli_cannot("interrupted before anything was seen");
	if (l->is_gone)
		return cli_cannot("%s before anything was seen", client_gone(&l->client, gone));
	fprintf(stderr,
		"sonde: no method of the program was at work; watch it while it has something to do\n");
	return CLI_NO;
}

int observe_link_apply(struct observe_link *l, struct slice rules)
{
	int status;

	wire_put_hook(&l->client.out, &(struct wire_hook){ .rules = rules,
							   .origin = slice_str("observe"),
							   .flags = HOOK_YES });
	l->client.quiet = true;
	status = client_ask(&l->client, NULL, NULL);
	if (status == CLI_DONE) /* stdout has the rules, or JSON */
		fprintf(stderr, "%.*s\n", SLICE_FMT(buf_slice(&l->client.done)));
	return status;
}
