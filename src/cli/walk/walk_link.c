/* SPDX-License-Identifier: Apache-2.0 */
/* walk_link.c - does what the plan of a walk asks for. */
#include "cli/walk/walk_link.h"

#include <stdio.h>

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

	if (!of || !frames || walk_frame_all(p, l->agents[0].native, of, &names) < 0) {
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
static struct slice name_of_row(const struct walk_agent *a, struct slice row)
{
	struct walk_link *l = a->link;

	for (unsigned i = 0; a->native && i < l->climb.n_hooks; i++)
		if (walk_native_is_row(&l->sampled, row, l->climb.hooks[i]->name))
			return l->climb.hooks[i]->name;
	return row;
}

static uint64_t count_own(const struct walk_link *l)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < l->n_agents; i++)
		sum += l->agents[i].own;
	return sum;
}

static void take_status(struct walk_agent *a, unsigned type, struct slice payload)
{
	struct walk_link *l = a->link;
	struct wire_status s;
	uint64_t own;

	if (type != WIRE_status || wire_get_status(payload, &s) < 0)
		return;
	a->own = s.methods > a->before ? s.methods - a->before : 0;
	own = count_own(l);
	l->most_own = own > l->most_own ? own : l->most_own;
}

static bool take_before(void *ctx, unsigned type, struct slice payload)
{
	struct walk_agent *a = ctx;
	struct wire_status s;

	if (type == WIRE_status && wire_get_status(payload, &s) == 0)
		a->before = s.methods;
	return true;
}

static bool take_hooked(void *ctx, unsigned type, struct slice payload)
{
	struct walk_agent *a = ctx;
	struct wire_method m;

	if (type == WIRE_method && wire_get_method(payload, &m) == 0 && !(m.flags & METHOD_GONE))
		climb_is_in(&a->link->climb, name_of_row(a, m.name));
	take_status(a, type, payload);
	return true;
}

static int set_rules(const struct walk_agent *a, struct slice rules, unsigned flags)
{
	struct wire_done done;
	int status;

	wire_put_hook(&a->client->out,
		      &(struct wire_hook){ .rules = rules,
					   .origin = slice_str("walk"),
					   .flags = HOOK_HELD | HOOK_INSTEAD | flags });
	status = client_hear(a->client, NULL, NULL, &done);
	if (status == CLI_DONE && done.status > CLI_NO)
		return cli_cannot("%.*s", SLICE_FMT(done.text));
	return status;
}

static int ask_report(struct walk_agent *a, client_row *row)
{
	struct wire_done done;

	wire_put_report(&a->client->out, &(struct wire_report){ 0 });
	return client_hear(a->client, row, a, &done);
}

static void put_rule(const struct walk_agent *a, const struct caller *c, struct buf *out)
{
	const size_t before = out->n;

	buf_text(out, "hook ");
	if (!a->native) {
		dig_put_target(out, c->name);
		buf_text(out, " template arguments timed\n");
	} else if (walk_native_put_target(&a->link->sampled, c->name, out)) {
		buf_text(out, " timed\n");
	} else {
		out->n = before; /* it cannot be named, so it is not hooked */
	}
}

static bool is_for(const struct walk_agent *a, const struct caller *c)
{
	return a->native == ((c->flags & CALLER_NATIVE) != 0);
}

static int hook_by(struct walk_agent *a, const struct climb_action *action)
{
	struct buf rules = { 0 };
	int status;

	for (unsigned i = 0; i < action->n; i++)
		if (is_for(a, action->hooks[i]))
			put_rule(a, action->hooks[i], &rules);
	status = rules.err ? cli_no_memory() : set_rules(a, buf_slice(&rules), 0);
	buf_release(&rules);
	return status == CLI_DONE ? ask_report(a, take_hooked) : status;
}

static int add_agent(struct walk_link *l, struct client *c, bool native)
{
	struct walk_agent *a = &l->agents[l->n_agents++];

	*a = (struct walk_agent){ .link = l, .client = c, .native = native };
	return ask_report(a, take_before);
}

/* Where no agent can be put beside the JVM's (no right to, a filter), native functions are told by
 * samples alone, as they are without hooks. */
static int bring_native(struct walk_link *l)
{
	const struct target t = l->target;

	if (beside_bring(&l->beside, &t) == CLI_DONE)
		return add_agent(l, &l->beside.client, true);
	if (client_interrupted())
		return CLI_CANNOT;
	fputs("sonde: native functions are not hooked; their callers are those that samples have seen\n",
	      stderr);
	l->alone = true;
	return CLI_DONE;
}

static bool has_agent_for(const struct walk_link *l, const struct caller *c)
{
	for (unsigned i = 0; i < l->n_agents; i++)
		if (is_for(&l->agents[i], c))
			return true;
	return false;
}

static int need_agents(struct walk_link *l, const struct climb_action *action)
{
	int status = CLI_DONE;

	for (unsigned i = 0; i < action->n && status == CLI_DONE; i++) {
		if (!has_agent_for(l, action->hooks[i]) && !l->alone)
			status = bring_native(l);
		if (!has_agent_for(l, action->hooks[i]))
			action->hooks[i]->flags |= CALLER_NO_HOOK;
	}
	return status;
}

static int do_hook(struct walk_link *l, const struct climb_action *action)
{
	int status = need_agents(l, action);

	for (unsigned i = 0; i < l->n_agents && status == CLI_DONE; i++)
		status = hook_by(&l->agents[i], action);
	for (unsigned i = 0; status == CLI_DONE && i < action->n; i++) {
		const struct caller *c = action->hooks[i];

		/* a thread stood in the way, for some time */
		if (c->flags & CALLER_NATIVE && !(c->flags & CALLER_NO_HOOK) && !c->in) {
			status = client_pause(&l->client, REFUSED_NS);
			break;
		}
	}
	if (status == CLI_DONE)
		climb_hooked(&l->climb);
	return status;
}

/* ---- figures -------------------------------------------------------------------------------- */

static void take_pair(struct walk_agent *a, const struct wire_node *m)
{
	struct walk_link *l = a->link;

	if (m->depth) {
		climb_told(&l->climb, buf_slice(&l->caller), name_of_row(a, m->name), m->calls,
			   m->total_ns);
		return;
	}
	buf_clear(&l->caller);
	if (l->agents[0].native || !slice_starts(m->name, slice_str("0x"))) /* compiled Java code */
		walk_native_put_caller(&l->sampled, m->name, &l->caller);
}

static void take_node(struct walk_agent *a, const struct wire_node *m)
{
	if (a->native)
		take_pair(a, m);
	else
		measure_row(&a->link->climb.measure, &(struct measure_row){ .depth = m->depth,
									    .name = m->name,
									    .calls = m->calls,
									    .ended = m->timed,
									    .ns = m->total_ns });
}

static bool take_tree(void *ctx, unsigned type, struct slice payload)
{
	struct wire_node m;

	if (type == WIRE_node && wire_get_node(payload, &m) == 0)
		take_node(ctx, &m);
	take_status(ctx, type, payload);
	return true;
}

static int do_measure(struct walk_link *l, const struct climb_action *a)
{
	int status = client_pause(&l->client, a->for_ns);
	struct wire_done done;

	measure_begin(&l->climb.measure);
	for (unsigned i = 0; i < l->n_agents && status == CLI_DONE; i++) {
		struct walk_agent *agent = &l->agents[i];

		wire_put_tree(&agent->client->out, &(struct wire_tree){ 0 });
		status = client_hear(agent->client, take_tree, agent, &done);
	}
	if (status != CLI_DONE)
		return status;
	measure_end(&l->climb.measure);
	climb_measured(&l->climb, (double)clock_steady_ns());
	return CLI_DONE;
}

/* ---- begin and end -------------------------------------------------------------------------- */

int walk_link_begin(struct walk_link *l, const struct target *t)
{
	const bool native = slice_is(l->client.welcome.jvm, "native");

	sampled_init(&l->sampled);
	sampled_is_of(&l->sampled, &(struct sampled_wish){ 0 }, t);
	l->target = *t;
	l->alone = native;
	l->sampled.symbols.raw = true;
	return add_agent(l, &l->client, native);
}

int walk_link_leave(struct walk_link *l)
{
	int status = CLI_DONE;

	for (unsigned i = 0; i < l->n_agents && status == CLI_DONE; i++) {
		status = set_rules(&l->agents[i], slice_str(""), HOOK_NOW);
		if (status == CLI_DONE)
			status = ask_report(&l->agents[i], take_hooked);
	}
	for (unsigned i = 0; i < l->climb.n_hooks; i++)
		l->climb.hooks[i]->in = false;
	l->left = count_own(l);
	l->is_out = status == CLI_DONE && !l->left;
	return status;
}

void walk_link_end(struct walk_link *l)
{
	beside_end(&l->beside, false);
	l->n_agents = 0;
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
