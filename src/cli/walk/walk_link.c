/* SPDX-License-Identifier: Apache-2.0 */
/* walk_link.c - does what the plan of a walk asks for. */
#include "cli/walk/walk_link.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cli/screen/cli.h"
#include "cli/walk/walk_frame.h"
#include "cli/walk/walk_native.h"
#include "plan/dig/dig_state.h"

enum { RATE = 1000, REFUSED_NS = 100000000 };

/* ---- samples -------------------------------------------------------------------------------- */

static int take_stacks(struct walk_link *l)
{
	const struct profile *p = &l->sampled.profile;
	struct climb_frame *of = mem_alloc((p->n_frames + 1) * sizeof(*of));
	struct climb_frame *frames = mem_alloc(PROFILE_DEPTH_MAX * sizeof(*frames));
	struct buf names = { 0 };
	int status = CLI_DONE;

	if (!of || !frames || walk_frame_all(p, l->native, of, &names) < 0) {
		status = cli_no_memory();
		goto done;
	}
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		for (uint32_t k = 0; k < s->n; k++)
			frames[k] = of[s->frames[k]];
		climb_stacks_add(&l->climb.stacks, &l->climb.list, frames, s->n, s->value);
	}
	climb_sampled(&l->climb);
done:
	buf_release(&names);
	mem_free(frames);
	mem_free(of);
	return status;
}

static int do_sample(struct walk_link *l, const struct climb_action *a)
{
	const struct sampled_wish wish = { .for_ns = a->for_ns, .rate = l->rate ? l->rate : RATE };
	int status = sampled_hear(&l->sampled, &wish, &l->client);

	if (status == CLI_DONE && client_interrupted())
		return CLI_CANNOT;
	if (status == CLI_DONE && l->sampled.profile.err)
		return cli_cannot("%s", err_text(l->sampled.profile.err));
	return status == CLI_DONE ? take_stacks(l) : status;
}

/* ---- hooks ---------------------------------------------------------------------------------- */

/* The hooked function that a row is of; as it is when it is none of ours. */
static struct slice name_of_row(struct walk_link *l, struct slice row)
{
	for (unsigned i = 0; l->native && i < l->climb.n_hooks; i++)
		if (walk_native_is_row(&l->sampled, row, l->climb.hooks[i]->name))
			return l->climb.hooks[i]->name;
	return row;
}

static bool take_status(struct walk_link *l, unsigned type, struct slice payload)
{
	struct wire_status s;

	if (type != WIRE_status || wire_get_status(payload, &s) < 0)
		return false;
	l->hooked = s.methods;
	l->own = s.methods > l->before ? s.methods - l->before : 0;
	l->most_own = l->own > l->most_own ? l->own : l->most_own;
	l->woven = s.classes;
	l->redefined = s.redefined;
	return true;
}

static bool take_hooked(void *ctx, unsigned type, struct slice payload)
{
	struct walk_link *l = ctx;
	struct wire_method m;

	if (type == WIRE_method && wire_get_method(payload, &m) == 0 && !(m.flags & METHOD_GONE))
		climb_is_in(&l->climb, name_of_row(l, m.name));
	(void)take_status(l, type, payload);
	return true;
}

static int set_rules(struct walk_link *l, struct slice rules, unsigned flags)
{
	struct wire_done done;
	int status;

	wire_put_hook(&l->client.out,
		      &(struct wire_hook){ .rules = rules,
					   .origin = slice_str("walk"),
					   .flags = HOOK_HELD | HOOK_INSTEAD | flags });
	status = client_hear(&l->client, NULL, NULL, &done);
	if (status == CLI_DONE && done.status > CLI_NO)
		return cli_cannot("%.*s", SLICE_FMT(done.text));
	return status;
}

static int ask_report(struct walk_link *l, client_row *row)
{
	struct wire_done done;

	wire_put_report(&l->client.out, &(struct wire_report){ 0 });
	return client_hear(&l->client, row, l, &done);
}

static void put_rule(struct walk_link *l, const struct caller *c, struct buf *out)
{
	buf_text(out, "hook ");
	if (l->native)
		walk_native_put_target(&l->sampled, c->name, out);
	else
		dig_put_target(out, c->name);
	buf_text(out, l->native ? " timed\n" : " template arguments timed\n");
}

static int do_hook(struct walk_link *l, const struct climb_action *a)
{
	struct buf rules = { 0 };
	int status;

	for (unsigned i = 0; i < a->n; i++)
		put_rule(l, a->hooks[i], &rules);
	status = rules.err ? cli_no_memory() : set_rules(l, buf_slice(&rules), 0);
	buf_release(&rules);
	if (status == CLI_DONE)
		status = ask_report(l, take_hooked);
	for (unsigned i = 0; l->native && status == CLI_DONE && i < a->n; i++)
		if (!a->hooks[i]->in) { /* a thread stood in the way, for some time */
			status = client_pause(&l->client, REFUSED_NS);
			break;
		}
	if (status == CLI_DONE)
		climb_hooked(&l->climb);
	return status;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void take_pair(struct walk_link *l, const struct wire_node *m)
{
	if (m->depth) {
		climb_told(&l->climb, buf_slice(&l->caller), name_of_row(l, m->name), m->calls,
			   m->total_ns);
		return;
	}
	buf_clear(&l->caller);
	walk_native_put_caller(&l->sampled, m->name, &l->caller);
}

static void take_node(struct walk_link *l, const struct wire_node *m)
{
	if (l->native)
		take_pair(l, m);
	else
		measure_row(&l->climb.measure, &(struct measure_row){ .depth = m->depth,
								      .name = m->name,
								      .calls = m->calls,
								      .ended = m->timed,
								      .ns = m->total_ns });
}

static bool take_tree(void *ctx, unsigned type, struct slice payload)
{
	struct walk_link *l = ctx;
	struct wire_node m;

	if (type == WIRE_node && wire_get_node(payload, &m) == 0)
		take_node(l, &m);
	(void)take_status(l, type, payload);
	return true;
}

static int do_measure(struct walk_link *l, const struct climb_action *a)
{
	int status = client_pause(&l->client, a->for_ns);
	struct wire_done done;

	if (status != CLI_DONE)
		return status;
	measure_begin(&l->climb.measure);
	wire_put_tree(&l->client.out, &(struct wire_tree){ 0 });
	status = client_hear(&l->client, take_tree, l, &done);
	if (status != CLI_DONE)
		return status;
	measure_end(&l->climb.measure);
	climb_measured(&l->climb, (double)clock_steady_ns());
	return CLI_DONE;
}

/* ---- begin and end -------------------------------------------------------------------------- */

int walk_link_begin(struct walk_link *l, const struct target *t)
{
	int status;

	sampled_init(&l->sampled);
	sampled_is_of(&l->sampled, &(struct sampled_wish){ 0 }, t);
	l->native = slice_is(l->client.welcome.jvm, "native");
	l->sampled.symbols.raw = l->native;
	status = ask_report(l, take_hooked);
	l->before = l->hooked;
	l->own = l->most_own = 0;
	return status;
}

int walk_link_leave(struct walk_link *l)
{
	int status = set_rules(l, slice_str(""), HOOK_NOW);

	for (unsigned i = 0; i < l->climb.n_hooks; i++)
		l->climb.hooks[i]->in = false;
	if (status == CLI_DONE)
		status = ask_report(l, take_hooked);
	l->left = l->own;
	l->is_out = status == CLI_DONE && !l->own;
	return status;
}

void walk_link_release(struct walk_link *l)
{
	sampled_release(&l->sampled);
	buf_release(&l->caller);
}

int walk_link_do(struct walk_link *l, const struct climb_action *a)
{
	switch (a->step) {
	case CLIMB_SAMPLE:
		return do_sample(l, a);
	case CLIMB_HOOK:
		return do_hook(l, a);
	case CLIMB_MEASURE:
		return do_measure(l, a);
	default:
		return CLI_DONE;
	}
}
