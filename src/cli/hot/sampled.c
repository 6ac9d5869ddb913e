/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.c - a session with an agent, or a file, becomes one profile. */
#include "cli/hot/sampled.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/attach/target.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"

#define USUAL_FOR UINT64_C(10000000000)

static const char *const file_ends[] = { ".collapsed", ".folded", ".txt" };

const char *sampled_kind_text(unsigned kind)
{
	static const char *const texts[] = {
		[PLACE_UNKNOWN] = "unknown", [PLACE_INTERPRETED] = "interpreted",
		[PLACE_C1] = "C1",	     [PLACE_C2] = "C2",
		[PLACE_INLINED] = "inlined", [PLACE_JNI] = "JNI",
		[PLACE_STUB] = "stub",	     [PLACE_NATIVE] = "native",
		[PLACE_KERNEL] = "kernel",   [PLACE_CLASS] = "class",
	};

	if (kind > SAMPLED_STATES && kind < SAMPLED_STATES + STACK_STATES)
		return sampled_state_text(kind - SAMPLED_STATES);
	if (kind == SAMPLED_COMPILED)
		return "compiled";
	return kind < COUNT(texts) ? texts[kind] : texts[0];
}

const char *sampled_state_text(unsigned state)
{
	static const char *const texts[STACK_STATES] = {
		[STACK_RUNS] = "running",    [STACK_CALLS] = "in a system call",
		[STACK_BLOCKED] = "blocked", [STACK_PARKED] = "parked",
		[STACK_WAITS] = "waiting",   [STACK_SLEEPS] = "sleeping",
	};

	return texts[state < STACK_STATES ? state : STACK_RUNS];
}

bool sampled_is_java(unsigned kind)
{
	return (kind >= PLACE_INTERPRETED && kind <= PLACE_JNI) || kind == SAMPLED_COMPILED;
}

void sampled_init(struct sampled *s)
{
	*s = (struct sampled){ 0 };
	profile_init(&s->profile);
	arena_init(&s->mem);
	s->began_ns = clock_day_ns();
}

void sampled_release(struct sampled *s)
{
	profile_release(&s->profile);
	symbols_release(&s->symbols);
	map_release(&s->threads);
	map_release(&s->told);
	arena_release(&s->mem);
	buf_release(&s->texts);
	mem_free(s->frame_of);
}

uint64_t sampled_count(const struct sampled *s)
{
	return s->samples ? s->samples : s->profile.total;
}

uint64_t sampled_broken(const struct sampled *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < WALK_ENDS; i++)
		n += walk_end_is_good((enum walk_end)i) ? 0 : s->ends[i];
	return n;
}

void sampled_begin_anew(struct sampled *s)
{
	profile_zero(&s->profile);
	memset(s->ends, 0, sizeof(s->ends));
	memset(s->states, 0, sizeof(s->states));
	s->samples = s->left_out = 0;
}

/* ---- asking -------------------------------------------------------------------------------- */

static unsigned mode_of(const struct sampled_wish *wish)
{
	return wish->wall		   ? STACKS_WALL
	       : wish->alloc || wish->live ? STACKS_ALLOC
	       : wish->lock		   ? STACKS_LOCK
					   : STACKS_CPU;
}

void sampled_is_of(struct sampled *s, const struct sampled_wish *wish, const struct target *t)
{
	s->pid = t->pid;
	s->mode = mode_of(wish);
	s->all = wish->all;
	s->live = wish->live;
	s->by_thread = wish->threads;
	snprintf(s->name, sizeof(s->name), "%s", t->name);
	symbols_init(&s->symbols, t->pid);
}

void sampled_ask(struct buf *out, const struct sampled_wish *wish, uint64_t for_ns)
{
	wire_put_ask_stacks(out,
			    &(struct wire_ask_stacks){ .for_ns = for_ns,
						       .rate = (uint32_t)wish->rate,
						       .mode = mode_of(wish),
						       .flags = (wish->live ? STACKS_LIVE : 0) |
								(wish->slow ? STACKS_SLOW : 0),
						       .interval = wish->interval });
}

int sampled_hear(struct sampled *s, const struct sampled_wish *wish, struct client *client)
{
	struct wire_done done = { 0 };
	const struct client_flow flow = { .about_ns = wish->for_ns,
					  .is_silent = true,
					  .waiting = "samples",
					  .seen = &s->state.samples,
					  .row = sampled_take,
					  .ctx = s };
	char gone[80];
	int status;

	sampled_ask(&client->out, wish, wish->for_ns);
	status = client_send(client);
	if (status == CLI_DONE)
		switch (client_listen(client, &flow, &done)) {
		case CLIENT_DONE:
			if (done.status != CLI_DONE)
				status = cli_cannot("%.*s", SLICE_FMT(done.text));
			break;
		case CLIENT_GONE:
			status = cli_cannot("%s", client_gone(client, gone));
			break;
		default:
			break;
		}
	return status;
}

static int ask_agent(struct sampled *s, const struct sampled_wish *wish, const struct target *t)
{
	struct visit visit;
	struct client client = { .fd = -1 };
	int status = visit_begin(&visit, &client, t);

	if (status != CLI_DONE)
		return status;
	status = sampled_hear(s, wish, &client);
	visit_end(&visit, &client);
	return status;
}

int sampled_settle(struct sampled_wish *wish, const char *verb, const char *target)
{
	wish->verb = verb;
	wish->target = target;
	wish->for_given = wish->for_ns != 0;
	if (!wish->for_given)
		wish->for_ns = USUAL_FOR;
	if (wish->wall + (wish->alloc || wish->live) + wish->lock > 1)
		return cli_usage(verb, "one of --wall, --alloc and --lock at a time");
	return CLI_GO_ON;
}

int sampled_run(struct sampled *s, const struct sampled_wish *wish)
{
	struct target target;
	int status = target_find(wish->target, &target);

	if (status != CLI_DONE)
		return status;
	sampled_is_of(s, wish, &target);
	status = ask_agent(s, wish, &target);
	if (status == CLI_DONE && s->profile.err)
		status = cli_cannot("%s", err_text(s->profile.err));
	return status;
}

/* ---- files --------------------------------------------------------------------------------- */

bool sampled_is_file(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	for (unsigned i = 0; i < COUNT(file_ends); i++)
		if (n > strlen(file_ends[i]) &&
		    strcmp(path + n - strlen(file_ends[i]), file_ends[i]) == 0)
			return true;
	return false;
}
