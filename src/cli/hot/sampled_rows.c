/* SPDX-License-Identifier: Apache-2.0 */
/* sampled_rows.c - rows of the agent become frames with names, and stacks of them. */
#include "cli/hot/sampled.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"
#include "export/class_name.h"

enum {
	PLACES_MAX = 1 << 20,
	BEFORE = 3, /* frames that are put before a stack, at most */
	DEPTH = PROFILE_DEPTH_MAX - BEFORE,
};
#define NOT_TOLD UINT32_MAX

/* ---- frames -------------------------------------------------------------------------------- */

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
	if (m->kind == PLACE_CLASS) {
		class_name_put(&name, m->name);
		f.name = buf_slice(&name);
	}
	s->frame_of[m->id] = profile_frame(&s->profile, &f);
	buf_release(&name);
}

static uint32_t frame_of_place(struct sampled *s, uint32_t id)
{
	static const struct profile_frame unknown = { .name = { (const uint8_t *)"(unknown)",
								sizeof("(unknown)") - 1 } };

	return id < s->n_places && s->frame_of[id] != NOT_TOLD
		       ? s->frame_of[id]
		       : profile_frame(&s->profile, &unknown);
}

struct thread {
	uint32_t number;
	struct slice name;
};

void sampled_tell_thread(struct sampled *s, uint32_t number, struct slice name)
{
	struct thread *t = arena_zero(&s->mem, sizeof(*t));
	uintptr_t *place;

	if (!t)
		return;
	t->number = number;
	t->name = arena_dup(&s->mem, name);
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

/* ---- stacks -------------------------------------------------------------------------------- */

/* By the clock, the outermost frame of stacks. */
static uint32_t frame_of_state(struct sampled *s, unsigned state)
{
	char text[40];

	snprintf(text, sizeof(text), "[%s]", sampled_state_text(state));
	return profile_frame(&s->profile, &(struct profile_frame){ .name = slice_str(text) });
}

static bool is_java(const struct sampled *s, uint32_t frame)
{
	return sampled_is_java(s->profile.frames[frame].kind);
}

/* The JVM does not tell apart how a thread waits in its methods that park, sleep, or do something else;
 * their names do.  frames: n, the innermost last. */
static unsigned state_by_name(const struct sampled *s, const uint32_t *frames, size_t n)
{
	struct slice name;

	while (n && !is_java(s, frames[n - 1]))
		n--;
	if (!n)
		return STACK_CALLS;
	name = s->profile.frames[frames[n - 1]].name;
	return slice_starts(name, slice_str("java.lang.Thread.sleep"))		? STACK_SLEEPS
	       : slice_starts(name, slice_str("jdk.internal.misc.Unsafe.park")) ? STACK_PARKED
										: STACK_WAITS;
}

/* The class of the object, the last of n frames, follows its Java code at once; how many are left. */
static size_t without_stubs(const struct sampled *s, uint32_t *frames, size_t n)
{
	uint32_t class = n ? frames[n - 1] : 0;
	size_t java = n ? n - 1 : 0;

	while (java && !is_java(s, frames[java - 1]))
		java--;
	if (!n)
		return 0;
	frames[java] = class;
	return java + 1;
}

/* What is left of a thread's n frames, the innermost last: how a wait that has a name is done inside of the
 * JVM and the kernel tells nothing.  0: all of it, as no Java code is in it. */
static size_t frames_that_tell(const struct sampled *s, const uint32_t *frames, size_t n,
			       unsigned state)
{
	size_t java = n;

	while (java && !is_java(s, frames[java - 1]))
		java--;
	if (state == STACK_RUNS || (!java && s->all))
		return n;
	return state == STACK_CALLS && java ? n : java;
}

enum { LEFT_OUT = 0xff }; /* beside an end: counted as left out */

static void remember(struct sampled *s, uint64_t hash, size_t place, unsigned end)
{
	struct slice kept = arena_dup(&s->mem, (struct slice){ (const uint8_t *)&hash, 8 });
	uintptr_t *at = kept.p ? map_put(&s->told, kept, NULL) : NULL;

	if (at)
		*at = (uintptr_t)place << 8 | end;
}

static void count(struct sampled *s, size_t place, unsigned end, uint64_t value, uint64_t count)
{
	if (end < WALK_ENDS)
		s->ends[end] += count;
	if (end != LEFT_OUT)
		s->samples += count;
	if (end == LEFT_OUT)
		s->left_out += value;
	else if (place != PROFILE_NONE)
		s->states[s->profile.stacks[place].kind] += value;
}

/* The frames of a row, the outermost first; how many. */
static size_t take_places(struct sampled *s, struct slice places, uint32_t *out)
{
	size_t n = places.n / 4 < DEPTH ? places.n / 4 : DEPTH;
	struct reader r = rd_init(places);

	for (size_t i = n; i-- > 0;)
		out[i] = frame_of_place(s, rd_u32(&r));
	return n;
}

static void take_stack(struct sampled *s, const struct wire_stack_row *m)
{
	uint32_t told[DEPTH], frames[DEPTH + BEFORE];
	size_t n = 0, place = 0, n_told = take_places(s, m->places, told);
	unsigned end = m->end < WALK_ENDS ? m->end : WALK_ENDS,
		 state = m->state < STACK_STATES ? m->state : STACK_RUNS;
	uint64_t value = s->mode == STACKS_CPU ? m->count : m->amount;
	uint64_t many = sampled_mode(s->mode)->is_event ? m->many : m->count;

	if (state == STACK_PARKED)
		state = state_by_name(s, told, n_told);
	if (s->by_thread)
		frames[n++] = frame_of_thread(s, m->thread);
	if (s->mode == STACKS_WALL)
		frames[n++] = frame_of_state(s, state);
	if (!walk_end_is_good((enum walk_end)end))
		frames[n++] = frame_of_end(s, end);
	n_told = sampled_mode(s->mode)->is_event ? without_stubs(s, told, n_told)
						 : frames_that_tell(s, told, n_told, state);
	memcpy(frames + n, told, n_told * sizeof(*told));
	if (n_told)
		place = profile_add(&s->profile,
				    &(struct profile_stack){ .frames = frames,
							     .n = (uint32_t)(n + n_told),
							     .thread = m->thread,
							     .kind = state,
							     .value = s->live ? 0 : value,
							     .count = s->live ? 0 : many });
	else
		end = LEFT_OUT;
	count(s, place, end, s->live ? 0 : value, s->live ? 0 : m->count);
	if (s->mode != STACKS_CPU && place != PROFILE_NONE)
		remember(s, m->hash, place, end);
}

void sampled_add(struct sampled *s, const struct sampled_stack *k)
{
	uint32_t frames[DEPTH + BEFORE];
	size_t told = k->n < DEPTH ? k->n : DEPTH, n = 0;

	if (s->by_thread)
		frames[n++] = frame_of_thread(s, k->thread);
	if (!walk_end_is_good((enum walk_end)k->end))
		frames[n++] = frame_of_end(s, k->end);
	for (size_t i = told; i-- > 0;)
		frames[n++] = k->frames[i];
	count(s,
	      profile_add(&s->profile, &(struct profile_stack){ .frames = frames,
								.n = (uint32_t)n,
								.thread = k->thread,
								.kind = STACK_RUNS,
								.value = 1,
								.count = 1 }),
	      k->end, 1, 1);
}

static void take_again(struct sampled *s, const struct wire_stack_again *m)
{
	const uintptr_t *at = map_get(&s->told, (struct slice){ (const uint8_t *)&m->hash, 8 });
	size_t place = at ? *at >> 8 : 0;
	unsigned end = at ? *at & 0xff : 0;

	if (!at) {
		s->profile.lost += m->amount;
		return;
	}
	if (end != LEFT_OUT)
		profile_add_again(&s->profile, place, m->amount,
				  sampled_mode(s->mode)->is_event ? m->many : m->count);
	count(s, place, end, m->amount, m->count);
}

static void take_state(struct sampled *s, const struct wire_stacks_state *m)
{
	buf_clear(&s->texts);
	buf_put(&s->texts, m->engine);
	buf_put(&s->texts, m->note);
	s->state = *m;
	s->state.engine = (struct slice){ s->texts.p, s->texts.err ? 0 : m->engine.n };
	s->state.note = s->texts.err || !m->note.n
				? (struct slice){ NULL, 0 }
				: (struct slice){ s->texts.p + m->engine.n, m->note.n };
}

bool sampled_take(void *ctx, unsigned type, struct slice payload)
{
	struct sampled *s = ctx;
	struct wire_stack_place place;
	struct wire_stack_row row;
	struct wire_stack_again again;
	struct wire_stack_thread thread;
	struct wire_stacks_state state;

	if (type == WIRE_stack_place && wire_get_stack_place(payload, &place) == 0)
		take_place(s, &place);
	else if (type == WIRE_stack_row && wire_get_stack_row(payload, &row) == 0)
		take_stack(s, &row);
	else if (type == WIRE_stack_again && wire_get_stack_again(payload, &again) == 0)
		take_again(s, &again);
	else if (type == WIRE_stack_thread && wire_get_stack_thread(payload, &thread) == 0)
		sampled_tell_thread(s, thread.thread, thread.name);
	else if (type == WIRE_stacks_state && wire_get_stacks_state(payload, &state) == 0)
		take_state(s, &state);
	return true;
}
