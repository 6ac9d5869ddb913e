/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.c - rows of the agent become frames with names, and stacks of them. */
#include "cli/hot/sampled.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/reader.h"
#include "cli/attach/target.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"
#include "export/collapsed.h"

enum { PLACES_MAX = 1 << 20, FILE_MAX = 1 << 30 };
#define NOT_TOLD UINT32_MAX

static const char *const file_ends[] = { ".collapsed", ".folded", ".txt" };

const char *sampled_kind_text(unsigned kind)
{
	static const char *const texts[] = {
		[PLACE_UNKNOWN] = "unknown", [PLACE_INTERPRETED] = "interpreted",
		[PLACE_C1] = "C1",	     [PLACE_C2] = "C2",
		[PLACE_INLINED] = "inlined", [PLACE_JNI] = "JNI",
		[PLACE_STUB] = "stub",	     [PLACE_NATIVE] = "native",
		[PLACE_KERNEL] = "kernel",
	};

	return kind < COUNT(texts) ? texts[kind] : texts[0];
}

void sampled_init(struct sampled *s)
{
	struct timespec t;

	*s = (struct sampled){ 0 };
	profile_init(&s->profile);
	arena_init(&s->mem);
	clock_gettime(CLOCK_REALTIME, &t);
	s->began_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sampled_release(struct sampled *s)
{
	profile_release(&s->profile);
	symbols_release(&s->symbols);
	map_release(&s->threads);
	arena_release(&s->mem);
	buf_release(&s->texts);
	mem_free(s->frame_of);
}

/* ---- rows ---------------------------------------------------------------------------------- */

static bool have_places(struct sampled *s, size_t n)
{
	uint32_t *more;
	size_t cap = s->n_places ? s->n_places : 1024;

	if (n >= PLACES_MAX)
		return false;
	while (cap <= n)
		cap *= 2;
	if (cap == s->n_places)
		return true;
	more = mem_realloc(s->frame_of, cap * sizeof(*more));
	if (!more)
		return false;
	for (size_t i = s->n_places; i < cap; i++)
		more[i] = NOT_TOLD;
	s->frame_of = more;
	s->n_places = cap;
	return true;
}

static void take_place(struct sampled *s, const struct wire_stack_place *m)
{
	struct profile_frame f = { .name = m->name, .kind = m->kind };
	struct buf name = { 0 };

	if (!have_places(s, m->id))
		return;
	if (m->kind == PLACE_NATIVE) {
		symbols_put(&s->symbols, m->name, m->address, &name);
		f.name = buf_slice(&name);
		f.file = m->name;
	}
	s->frame_of[m->id] = profile_frame(&s->profile, &f);
	buf_release(&name);
}

static uint32_t frame_of_place(struct sampled *s, uint32_t id)
{
	static const struct profile_frame unknown = { .name = { (const uint8_t *)"(not told)",
								sizeof("(not told)") - 1 } };

	return id < s->n_places && s->frame_of[id] != NOT_TOLD
		       ? s->frame_of[id]
		       : profile_frame(&s->profile, &unknown);
}

struct thread {
	uint32_t number;
	struct slice name;
};

static void take_thread(struct sampled *s, const struct wire_stack_thread *m)
{
	struct thread *t = arena_zero(&s->mem, sizeof(*t));
	uintptr_t *place;

	if (!t)
		return;
	t->number = m->thread;
	t->name = arena_dup(&s->mem, m->name);
	place = map_put(&s->threads, (struct slice){ (const uint8_t *)&t->number, 4 }, NULL);
	if (place)
		*place = (uintptr_t)t;
}

struct slice sampled_thread_name(const struct sampled *s, uint32_t number)
{
	const uintptr_t *place =
		map_get(&s->threads, (struct slice){ (const uint8_t *)&number, 4 });

	return place ? ((const struct thread *)*place)->name : (struct slice){ 0 };
}

/* The outermost frame of a thread's stacks, when threads are told apart. */
static uint32_t frame_of_thread(struct sampled *s, uint32_t number)
{
	struct slice name = sampled_thread_name(s, number);
	struct buf text = { 0 };
	uint32_t frame;

	if (!name.n)
		name = slice_str("?");
	buf_printf(&text, "[%.*s, %u]", SLICE_FMT(name), number);
	frame = profile_frame(&s->profile, &(struct profile_frame){ .name = buf_slice(&text) });
	buf_release(&text);
	return frame;
}

/* What stands below the frames of a stack that is not whole, so that it is told apart. */
static uint32_t frame_of_end(struct sampled *s, unsigned end)
{
	char text[100];

	snprintf(text, sizeof(text), "(not whole: %s)", walk_end_text((enum walk_end)end));
	return profile_frame(&s->profile, &(struct profile_frame){ .name = slice_str(text) });
}

static void take_stack(struct sampled *s, const struct wire_stack_row *m)
{
	enum { BEFORE = 2 }; /* frames that are put before a stack, at most */
	uint32_t frames[PROFILE_DEPTH_MAX];
	size_t told = m->places.n / 4, n = 0;
	struct reader r = rd_init(m->places);

	if (s->by_thread)
		frames[n++] = frame_of_thread(s, m->thread);
	if (!walk_end_is_good((enum walk_end)m->end))
		frames[n++] = frame_of_end(s, m->end);
	told = told < PROFILE_DEPTH_MAX - BEFORE ? told : PROFILE_DEPTH_MAX - BEFORE;
	for (size_t i = told; i-- > 0;)
		frames[n + i] = frame_of_place(s, rd_u32(&r));
	if (m->end < WALK_ENDS)
		s->ends[m->end] += m->count;
	profile_add(&s->profile, &(struct profile_stack){ .frames = frames,
							  .n = (uint32_t)(n + told),
							  .thread = m->thread,
							  .kind = m->state,
							  .value = m->count });
}

static void take_state(struct sampled *s, const struct wire_stacks_state *m)
{
	buf_clear(&s->texts);
	buf_put(&s->texts, m->engine);
	buf_put(&s->texts, m->note);
	s->state = *m;
	s->state.engine = (struct slice){ s->texts.p, s->texts.err ? 0 : m->engine.n };
	s->state.note =
		(struct slice){ s->texts.p + s->state.engine.n, s->texts.err ? 0 : m->note.n };
}

bool sampled_take(void *ctx, unsigned type, struct slice payload)
{
	struct sampled *s = ctx;
	struct wire_stack_place place;
	struct wire_stack_row row;
	struct wire_stack_thread thread;
	struct wire_stacks_state state;

	if (type == WIRE_stack_place && wire_get_stack_place(payload, &place) == 0)
		take_place(s, &place);
	else if (type == WIRE_stack_row && wire_get_stack_row(payload, &row) == 0)
		take_stack(s, &row);
	else if (type == WIRE_stack_thread && wire_get_stack_thread(payload, &thread) == 0)
		take_thread(s, &thread);
	else if (type == WIRE_stacks_state && wire_get_stacks_state(payload, &state) == 0)
		take_state(s, &state);
	return true;
}

uint64_t sampled_broken(const struct sampled *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < WALK_ENDS; i++)
		n += walk_end_is_good((enum walk_end)i) ? 0 : s->ends[i];
	return n;
}

/* ---- asking -------------------------------------------------------------------------------- */

void sampled_is_of(struct sampled *s, const struct sampled_wish *wish, const struct target *t)
{
	s->pid = t->pid;
	s->wall = wish->wall;
	s->by_thread = wish->threads;
	snprintf(s->name, sizeof(s->name), "%s", t->name);
	symbols_init(&s->symbols, t->pid);
}

void sampled_ask(struct buf *out, const struct sampled_wish *wish, uint64_t for_ns)
{
	wire_put_ask_stacks(out, &(struct wire_ask_stacks){ .for_ns = for_ns,
							    .rate = wish->rate,
							    .mode = wish->wall });
}

int sampled_hear(struct sampled *s, const struct sampled_wish *wish, struct client *client)
{
	struct wire_done done = { 0 };
	const struct client_flow flow = {
		.waiting = "samples", .seen = &s->profile.total, .row = sampled_take, .ctx = s
	};
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

static bool read_all(FILE *file, struct buf *out)
{
	uint8_t *p;
	size_t n = 1;

	while (n && out->n < FILE_MAX && (p = buf_room(out, 1 << 20))) {
		n = fread(p, 1, 1 << 20, file);
		out->n += n;
	}
	return !n && !out->err && !ferror(file);
}

int sampled_read(struct sampled *s, const char *path)
{
	FILE *file = fopen(path, "re");
	struct buf text = { 0 };
	int status = CLI_DONE, rc;
	size_t line;

	if (!file)
		return cli_cannot("%s: %m", path);
	snprintf(s->name, sizeof(s->name), "%s", path);
	if (!read_all(file, &text))
		status = cli_cannot("%s: cannot be read, or is larger than 1 GiB", path);
	else if ((rc = collapsed_read(&s->profile, buf_slice(&text), &line)) < 0)
		status =
			cli_cannot("%s, line %zu: %s", path, line,
				   rc == E_SYNTAX ? "not 'outer;inner;leaf NUMBER'" : err_text(rc));
	fclose(file);
	buf_release(&text);
	return status;
}
