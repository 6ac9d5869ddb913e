/* SPDX-License-Identifier: Apache-2.0 */
/* jfr.c - events become stacks.  A stack is made once for each chunk, class and kind of event; frames once
 * for each chunk. */
#include "export/jfr.h"

#include "base/buf.h"
#include "export/class_name.h"
#include "export/jfr_chunk.h"

enum { CLASS_FRAME = 1 };

struct reading {
	struct jfr_chunk chunk;
	struct profile *p;
	const struct jfr_kinds *kinds;
	struct jfr_about *about;
	struct map stacks; /* keys of a stack and a class -> its place, plus 1; cut or not */
	struct map frames; /* keys of a method and of how it ran -> its number */
	struct buf name;
};

/* What becomes a stack, and its value. */
static const struct event {
	const char *name;
	unsigned whats;		   /* 1 << JFR_* */
	const char *class, *value; /* fields; NULL: none, 1 */
	bool is_time;
} events[] = {
	{ "jdk.ExecutionSample", 1 << JFR_CPU | 1 << JFR_WALL, NULL, NULL, false },
	{ "jdk.CPUTimeSample", 1 << JFR_CPU, NULL, NULL, false },
	{ "jdk.NativeMethodSample", 1 << JFR_WALL, NULL, NULL, false },
	{ "jdk.ObjectAllocationSample", 1 << JFR_ALLOC, "objectClass", "weight", false },
	{ "jdk.JavaMonitorEnter", 1 << JFR_LOCK, "monitorClass", "duration", true },
};

static const struct event *event_of(const struct jfr_class *class, enum jfr_what what)
{
	for (size_t i = 0; i < COUNT(events); i++)
		if (events[i].whats & 1u << what && slice_is(class->name, events[i].name))
			return &events[i];
	return NULL;
}

/* A symbol of the JVM: a constant with a text in it. */
static struct slice symbol(struct jfr_chunk *c, const struct jfr_value *of, const char *field)
{
	struct jfr_value v = jfr_value_field(c, of, field);

	return jfr_value_text(c, &v, "string");
}

/* Those of arrays are signatures, others not: a class may be called I. */
static void put_class(struct buf *out, struct slice name)
{
	if (name.n && name.p[0] == '[')
		class_name_put(out, name);
	else
		buf_dotted(out, name);
}

static uint32_t kind_of(const struct reading *r, struct slice how)
{
	return slice_is(how, "Interpreted")	     ? r->kinds->interpreted
	       : slice_is(how, "Inlined")	     ? r->kinds->inlined
	       : slice_is(how, "Native")	     ? r->kinds->native
	       : slice_starts(how, slice_str("JIT")) ? r->kinds->compiled
						     : r->kinds->unknown;
}

/* "com.shop.Cart.total(I)V" */
static uint32_t make_frame(struct reading *r, const struct jfr_value *frame)
{
	struct jfr_chunk *c = &r->chunk;
	struct jfr_value method = jfr_value_field(c, frame, "method"),
			 class = jfr_value_field(c, &method, "type"),
			 how = jfr_value_field(c, frame, "type");
	struct slice name = symbol(c, &method, "name");

	buf_clear(&r->name);
	put_class(&r->name, symbol(c, &class, "name"));
	if (r->name.n)
		buf_u8(&r->name, '.');
	buf_put(&r->name, name);
	buf_put(&r->name, symbol(c, &method, "descriptor"));
	if (!name.n)
		buf_text(&r->name, "(unknown)");
	return profile_frame(r->p,
			     &(struct profile_frame){
				     .name = buf_slice(&r->name),
				     .kind = kind_of(r, jfr_value_text(c, &how, "description")) });
}

/* The place for two keys in a map of ours; NULL: out of memory. */
static uintptr_t *place_of(struct reading *r, struct map *map, uint64_t a, uint64_t b)
{
	const uint64_t key[2] = { a, b };
	struct slice kept = { (const uint8_t *)key, sizeof(key) };
	uintptr_t *place = map_get(map, kept);

	if (place)
		return place;
	kept = arena_dup(&r->chunk.mem, kept);
	place = kept.p ? map_put(map, kept, NULL) : NULL;
	if (!place)
		r->p->err = r->p->err ? r->p->err : E_NO_MEMORY;
	return place;
}

static uint32_t frame_of(struct reading *r, const struct jfr_value *frame)
{
	uint64_t method = jfr_value_key(&r->chunk, frame, "method"),
		 how = jfr_value_key(&r->chunk, frame, "type");
	uintptr_t *place = place_of(r, &r->frames, method, how);

	if (place && !*place) {
		uint32_t number = make_frame(r, frame);

		*place = (uintptr_t)number + 1;
	}
	return place ? (uint32_t)(*place - 1) : 0;
}

static uint32_t class_frame(struct reading *r, const struct jfr_value *event, const char *field)
{
	struct jfr_value class = jfr_value_field(&r->chunk, event, field);
	struct slice name = symbol(&r->chunk, &class, "name");

	buf_clear(&r->name);
	put_class(&r->name, name.n ? name : slice_str("(unknown)"));
	return profile_frame(r->p, &(struct profile_frame){ .name = buf_slice(&r->name),
							    .kind = r->kinds->class });
}

/* Frames of a recording begin with the innermost. */
static size_t make_stack(struct reading *r, const struct jfr_value *event, const struct event *e,
			 bool *cut)
{
	struct jfr_value trace = jfr_value_field(&r->chunk, event, "stackTrace"),
			 frames = jfr_value_field(&r->chunk, &trace, "frames");
	uint32_t all[PROFILE_DEPTH_MAX + CLASS_FRAME];
	uint64_t n = jfr_value_begin(&r->chunk, &frames);
	struct profile_stack s = { .frames = all };

	*cut = jfr_value_number(&r->chunk, &trace, "truncated") != 0;
	if (!n)
		return PROFILE_NONE;
	s.n = n < PROFILE_DEPTH_MAX ? (uint32_t)n : PROFILE_DEPTH_MAX;
	for (uint32_t i = s.n; i-- > 0 && !r->chunk.why;) {
		struct jfr_value frame = jfr_value_next(&r->chunk, &frames);

		all[i] = frame_of(r, &frame);
	}
	if (e->class)
		all[s.n++] = class_frame(r, event, e->class);
	return r->chunk.why || r->p->err ? PROFILE_NONE : profile_add(r->p, &s);
}

static uint64_t value_of(struct reading *r, const struct jfr_value *event, const struct event *e)
{
	uint64_t v = e->value ? jfr_value_number(&r->chunk, event, e->value) : 1;
	double ns;

	if (!e->is_time || !r->chunk.ticks_hz)
		return v;
	ns = (double)v * 1e9 / (double)r->chunk.ticks_hz;
	return ns < 1e18 ? (uint64_t)ns : 0;
}

static void take_event(struct reading *r, const struct jfr_value *event, const struct event *e)
{
	uint64_t stack = jfr_value_key(&r->chunk, event, "stackTrace"),
		 class = e->class ? jfr_value_key(&r->chunk, event, e->class) : 0;
	uintptr_t *place = stack ? place_of(r, &r->stacks, stack, class) : NULL;
	bool cut;

	r->about->events++;
	if (place && !*place) {
		size_t at = make_stack(r, event, e, &cut);

		if (at != PROFILE_NONE)
			*place = (at + 1) << 1 | cut;
	}
	if (!place || !*place) {
		r->about->without_stack++;
		return;
	}
	r->about->cut += *place & 1;
	profile_add_again(r->p, (*place >> 1) - 1, value_of(r, event, e), 1);
}

static int take_chunk(struct reading *r, struct slice bytes, enum jfr_what what)
{
	const struct jfr_class *class;
	struct slice fields;
	size_t at = 0;
	int rc = jfr_chunk_open(&r->chunk, bytes);

	while (!rc && !r->p->err && jfr_chunk_next(&r->chunk, &at, &class, &fields)) {
		const struct event *e = event_of(class, what);
		const struct jfr_value event = jfr_value_of(class, fields);

		if (e)
			take_event(r, &event, e);
		if (r->chunk.why)
			break;
	}
	if (!rc && r->chunk.why)
		rc = E_SYNTAX;
	r->about->why = r->chunk.why;
	if (!r->about->start_ns || r->chunk.start_ns < r->about->start_ns)
		r->about->start_ns = r->chunk.start_ns;
	r->about->wall_ns += r->chunk.duration_ns;
	map_release(&r->stacks);
	map_release(&r->frames);
	r->stacks = r->frames = (struct map){ 0 };
	jfr_chunk_release(&r->chunk);
	return r->p->err ? r->p->err : rc;
}

int jfr_read(struct slice file, enum jfr_what what, const struct jfr_kinds *kinds,
	     struct profile *p, struct jfr_about *about)
{
	struct reading r = { .p = p, .kinds = kinds, .about = about };
	int rc = 0;

	*about = (struct jfr_about){ 0 };
	do {
		size_t n = jfr_chunk_length(file, &about->why);

		about->chunk++;
		if (!n) {
			rc = E_SYNTAX;
			break;
		}
		rc = take_chunk(&r, (struct slice){ file.p, n }, what);
		file = (struct slice){ file.p + n, file.n - n };
	} while (!rc && file.n);
	buf_release(&r.name);
	return rc;
}
