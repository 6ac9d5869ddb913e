/* SPDX-License-Identifier: Apache-2.0 */
/* made_up.c - messages that no honest agent sends. */
#include "made_up.h"

#include <math.h>

#include "base/mem.h"

static uint64_t draw(struct made_up *m)
{
	uint64_t z = m->state += 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint32_t made_up_below(struct made_up *m, uint32_t n)
{
	return n ? (uint32_t)((draw(m) >> 32) * n >> 32) : 0;
}

struct made_up made_up_from(uint64_t seed)
{
	struct made_up m = { .state = seed };

	m.extreme = made_up_below(&m, 2);
	m.shape = (enum made_up_shape)made_up_below(&m, SHAPES);
	m.rows = made_up_below(&m, 4) ? 1 + made_up_below(&m, 60) : made_up_below(&m, 20000);
	m.text = made_up_below(&m, 8) ? 2000 : 4 << 20;
	return m;
}

uint64_t made_up_number(struct made_up *m)
{
	static const uint64_t edges[] = { 0,
					  1,
					  2,
					  127,
					  255,
					  256,
					  65535,
					  INT32_MAX,
					  (uint64_t)INT32_MAX + 1,
					  UINT32_MAX,
					  (uint64_t)UINT32_MAX + 1,
					  1ull << 53,
					  INT64_MAX,
					  (uint64_t)INT64_MAX + 1,
					  UINT64_MAX - 1,
					  UINT64_MAX };

	if (!m->extreme && made_up_below(m, 20))
		return made_up_below(m, 3) ? made_up_below(m, 1000000) : made_up_below(m, 20);
	if (made_up_below(m, 3))
		return edges[made_up_below(m, COUNT(edges))];
	return draw(m) >> made_up_below(m, 64);
}

static double made_up_double(struct made_up *m)
{
	const double edges[] = { 0,	-0.0,	   1,	   -1, 0.5,    NAN,   INFINITY,
				 1e308, -INFINITY, -1e308, 2,  5e-324, 1e-10, 0x1p64 };
	uint64_t bits = draw(m);
	double d;

	if (!m->extreme && made_up_below(m, 20))
		return made_up_below(m, 100000) / 1000.0;
	if (made_up_below(m, 2))
		return edges[made_up_below(m, COUNT(edges))];
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* ---- texts -------------------------------------------------------------------------------- */

static const struct slice bad[] = {
#define BAD(text)                                         \
	{                                                 \
		(const uint8_t *)(text), sizeof(text) - 1 \
	}
	BAD("\033]0;title\007"),
	BAD("\033[2J\033[31m"),
	BAD("\x9b"
	    "31m"),
	BAD("\302\2331;31m"),
	BAD("\rOVERWRITTEN"),
	BAD("\nINJECTED line"),
	BAD("\b\b\b\177"),
	BAD("\342\200\256esrever"),
	BAD("\342\201\246isolate\342\201\251"),
	BAD("zero\342\200\213width\357\273\277"),
	BAD("\377\376\300\200"),
	BAD("cut\303"),
	BAD("\355\240\200"),
	BAD("\364\220\200\200"),
	BAD("</script><script>alert(1)</script>"),
	BAD("<img src=x onerror=alert(1)>"),
	BAD("\"\\'\"}],{\"a\":"),
	BAD("%s%n%99999999d"),
	BAD("nul\0behind"),
	BAD("\327\251\327\234\327\225\327\235"),
	BAD("\360\237\222\243"),
	BAD("\342\200\250line"),
	BAD("\363\240\201\201tag"),
	BAD("((((([[[[[{{{{{"),
	BAD("\t\v\f"),
	BAD("../../../../etc/passwd"),
	BAD(""),
	BAD("::"),
	BAD("hook **::* timed\nhook"),
	BAD("\xdb\x80\x1b[6n"),
#undef BAD
};

static const char *const names[] = {
	"com.shop.Cart.add(Ljava/lang/String;I)V",
	"com.shop.Web.handle()V",
	"a.b.C.m()I",
	"com.shop.Inventory.adjust(J)Z",
	"java.lang.Thread.run()V",
	"java.lang.Object.wait(J)V",
	"com.shop.Cart$Line.<init>()V",
	"f(((((",
	"com.shop.Dao.find([[[[Ljava/lang/Object;)V",
	"x",
};

void made_up_text(struct made_up *m, struct buf *out, bool c_string)
{
	size_t from = out->n;

	if (made_up_below(m, 3))
		buf_text(out, names[made_up_below(m, COUNT(names))]);
	if (made_up_below(m, 2))
		buf_put(out, bad[made_up_below(m, COUNT(bad))]);
	if (!made_up_below(m, 100)) {
		uint32_t n = made_up_below(m, m->text);

		for (uint32_t i = 0; i < n; i++)
			buf_u8(out, made_up_below(m, 2) ? '[' : made_up_below(m, 256));
	}
	for (size_t i = from; c_string && i < out->n; i++)
		if (!out->p[i])
			out->p[i] = '?';
}

/* ---- messages ----------------------------------------------------------------------------- */

/* A text of a message; the buf lives until the message is written. */
static struct slice text_in(struct made_up *m, struct buf *room)
{
	buf_clear(room);
	made_up_text(m, room, false);
	return buf_slice(room);
}

static struct slice facts_in(struct made_up *m, struct buf *room)
{
	static const char *const keys[] = { "this",   "args",	 "result", "thrown",
					    "thread", "message", "\033[1m" };

	buf_clear(room);
	for (uint32_t n = made_up_below(m, 6); n; n--) {
		buf_text(room, keys[made_up_below(m, COUNT(keys))]);
		buf_u8(room, 0);
		for (uint32_t k = made_up_below(m, 4); k; k--) {
			made_up_text(m, room, true);
			buf_text(room, ", ");
		}
		if (made_up_below(m, 8))
			buf_u8(room, 0);
	}
	return buf_slice(room);
}

static struct slice bytes_in(struct made_up *m, struct buf *room)
{
	buf_clear(room);
	for (uint32_t n = made_up_below(m, 400); n; n--)
		buf_u8(room, m->extreme ? made_up_below(m, 256) : made_up_below(m, 8) == 0);
	return buf_slice(room);
}

enum { TEXTS = 6 }; /* of a message at most */

#define U8(f) v.f = (uint8_t)made_up_number(m);
#define U32(f) v.f = (uint32_t)made_up_number(m);
#define U64(f) v.f = made_up_number(m);
#define F64(f) v.f = made_up_double(m);
#define STR(f) v.f = text_in(m, &rooms[n++]);
#define MESSAGE(name, fields)                                                                   \
	static struct wire_##name fill_##name(struct made_up *m, struct buf *rooms, unsigned n) \
	{                                                                                       \
		struct wire_##name v;                                                           \
                                                                                                \
		(void)rooms, (void)n;                                                           \
		fields return v;                                                                \
	}
#include "wire/messages.def"

static uint32_t depth_of(struct made_up *m)
{
	switch (m->shape) {
	case SHAPE_DEEP:
		return m->depth++;
	case SHAPE_WIDE:
		return 0;
	case SHAPE_WALK:
		m->depth = made_up_below(m, m->depth + 2);
		return m->depth;
	default:
		return (uint32_t)made_up_number(m);
	}
}

static uint32_t id_of(struct made_up *m)
{
	return made_up_below(m, 8) ? made_up_below(m, 50) : (uint32_t)made_up_number(m);
}

static struct slice places_in(struct made_up *m, struct buf *room)
{
	uint32_t n = made_up_below(m, 20) ? made_up_below(m, 30) : made_up_below(m, 2000);

	buf_clear(room);
	for (; n; n--)
		buf_u32(room, id_of(m));
	if (!made_up_below(m, 20))
		buf_u8(room, 1);
	return buf_slice(room);
}

/* Some messages have fields that must fit together, now and then, to get anywhere. */
static bool put_fitting(struct made_up *m, unsigned type, struct buf *rooms, struct buf *out)
{
	if (type == WIRE_node) {
		struct wire_node v = fill_node(m, rooms, 0);

		v.depth = depth_of(m);
		v.id = id_of(m);
		wire_put_node(out, &v);
	} else if (type == WIRE_frame) {
		struct wire_frame v = fill_frame(m, rooms, 0);

		v.depth = depth_of(m);
		v.flags &= made_up_below(m, 4) ? 0 : UINT32_MAX;
		wire_put_frame(out, &v);
	} else if (type == WIRE_method) {
		struct wire_method v = fill_method(m, rooms, 0);

		v.id = m->depth++; /* ascending, as the agent tells them */
		v.buckets = bytes_in(m, &rooms[TEXTS - 1]);
		wire_put_method(out, &v);
	} else if (type == WIRE_call) {
		struct wire_call v = fill_call(m, rooms, 0);

		v.facts = facts_in(m, &rooms[TEXTS - 1]);
		wire_put_call(out, &v);
	} else if (type == WIRE_trace_name) {
		struct wire_trace_name v = fill_trace_name(m, rooms, 0);

		v.id = id_of(m);
		wire_put_trace_name(out, &v);
	} else if (type == WIRE_trace_call) {
		struct wire_trace_call v = fill_trace_call(m, rooms, 0);

		v.id = id_of(m);
		v.parent = m->shape == SHAPE_DEEP ? m->depth++ : id_of(m);
		wire_put_trace_call(out, &v);
	} else if (type == WIRE_trace_part) {
		struct wire_trace_part v = fill_trace_part(m, rooms, 0);

		v.part = made_up_below(m, 5);
		v.from = made_up_below(m, 5);
		m->depth = 0;
		wire_put_trace_part(out, &v);
	} else if (type == WIRE_stack_place) {
		struct wire_stack_place v = fill_stack_place(m, rooms, 0);

		v.id = id_of(m);
		v.kind = made_up_below(m, 4) ? made_up_below(m, 12) : v.kind;
		wire_put_stack_place(out, &v);
	} else if (type == WIRE_stack_row) {
		struct wire_stack_row v = fill_stack_row(m, rooms, 0);

		v.thread = id_of(m);
		v.state = made_up_below(m, 4) ? made_up_below(m, 10) : v.state;
		v.end = made_up_below(m, 4) ? made_up_below(m, 8) : v.end;
		v.hash = id_of(m);
		v.places = places_in(m, &rooms[TEXTS - 1]);
		wire_put_stack_row(out, &v);
	} else if (type == WIRE_stack_again) {
		struct wire_stack_again v = fill_stack_again(m, rooms, 0);

		v.hash = id_of(m);
		wire_put_stack_again(out, &v);
	} else if (type == WIRE_stack_thread) {
		struct wire_stack_thread v = fill_stack_thread(m, rooms, 0);

		v.thread = id_of(m);
		wire_put_stack_thread(out, &v);
	} else if (type == WIRE_thread) {
		struct wire_thread v = fill_thread(m, rooms, 0);

		v.number = id_of(m);
		v.holder = id_of(m); /* in circles, too */
		v.frames = facts_in(m, &rooms[TEXTS - 1]);
		wire_put_thread(out, &v);
	} else {
		return false;
	}
	return true;
}

void made_up_message(struct made_up *m, unsigned type, struct buf *out)
{
	struct buf rooms[TEXTS + 2] = { 0 };

	if (!made_up_below(m, 10) || !put_fitting(m, type, rooms, out)) {
		switch (type) {
#define MESSAGE(name, fields)                                    \
	case WIRE_##name: {                                      \
		struct wire_##name v = fill_##name(m, rooms, 0); \
                                                                 \
		wire_put_##name(out, &v);                        \
		break;                                           \
	}
#include "wire/messages.def"
		default:
			break;
		}
	}
	for (size_t i = 0; i < COUNT(rooms); i++)
		buf_release(&rooms[i]);
}

/* What the agent answers to each request. */
static const struct {
	uint8_t request, rows[8];
} answers[] = {
	{ WIRE_hook, { WIRE_progress, WIRE_warning, WIRE_left, WIRE_missed } },
	{ WIRE_unhook, { WIRE_progress, WIRE_warning, WIRE_left } },
	{ WIRE_hooks, { WIRE_rule, WIRE_left, WIRE_missed } },
	{ WIRE_report,
	  { WIRE_method, WIRE_method, WIRE_node, WIRE_node, WIRE_solo, WIRE_program, WIRE_status,
	    WIRE_sequence } },
	{ WIRE_tree, { WIRE_node, WIRE_node, WIRE_node, WIRE_sequence, WIRE_status } },
	{ WIRE_explain, { WIRE_text } },
	{ WIRE_ask_status, { WIRE_status } },
	{ WIRE_reset, { WIRE_status } },
	{ WIRE_detach, { WIRE_progress, WIRE_proof, WIRE_warning } },
	{ WIRE_ask_data, { WIRE_captured, WIRE_value, WIRE_value, WIRE_value } },
	{ WIRE_sample, { WIRE_frame, WIRE_frame, WIRE_frame, WIRE_lock, WIRE_vitals } },
	{ WIRE_callees, { WIRE_callee, WIRE_callee, WIRE_code, WIRE_warning } },
	{ WIRE_watch, { WIRE_call, WIRE_call, WIRE_call, WIRE_left, WIRE_warning } },
	{ WIRE_trace,
	  { WIRE_trace_name, WIRE_trace_tx, WIRE_trace_part, WIRE_trace_call, WIRE_trace_call,
	    WIRE_trace_call, WIRE_trace_end, WIRE_trace_counts } },
	{ WIRE_in_place, { WIRE_progress } },
	{ WIRE_types, { WIRE_sequence, WIRE_progress } },
	{ WIRE_ask_stacks,
	  { WIRE_stack_place, WIRE_stack_place, WIRE_stack_thread, WIRE_stack_row, WIRE_stack_row,
	    WIRE_stack_again, WIRE_stacks_state } },
	{ WIRE_resolve, { WIRE_text } },
	{ WIRE_find, { WIRE_found } },
	{ WIRE_ask_threads, { WIRE_thread, WIRE_thread, WIRE_thread, WIRE_vitals } },
	{ WIRE_ask_value, { WIRE_static_value } },
	{ WIRE_ask_origin, { WIRE_origin, WIRE_origin_method, WIRE_origin_method } },
	{ WIRE_ask_code, { WIRE_code_piece } },
	{ WIRE_ask_class_bytes, { WIRE_class_bytes } },
};

void made_up_answer(struct made_up *m, unsigned request, struct buf *out)
{
	uint32_t rows = m->rows ? 1 + made_up_below(m, m->rows) : 0;
	size_t at = 0, kinds = 0;

	while (at < COUNT(answers) && answers[at].request != request)
		at++;
	while (at < COUNT(answers) && kinds < 8 && answers[at].rows[kinds])
		kinds++;
	m->depth = 0;
	for (uint32_t i = 0; i < rows && out->n < 32 << 20; i++) {
		unsigned type = kinds && made_up_below(m, 30)
					? answers[at].rows[made_up_below(m, (uint32_t)kinds)]
					: 1 + made_up_below(m, WIRE_TYPES + 2);

		if (type != WIRE_done) /* ends the answer */
			made_up_message(m, type, out);
	}
}

void made_up_welcome(struct made_up *m, uint32_t pid, struct buf *out)
{
	struct buf rooms[TEXTS + 2] = { 0 };
	struct wire_welcome v = fill_welcome(m, rooms, 0);

	v.magic = WIRE_MAGIC;
	v.version = made_up_below(m, 30) ? WIRE_VERSION : (uint32_t)made_up_number(m);
	v.pid = pid;
	wire_put_welcome(out, &v);
	for (size_t i = 0; i < COUNT(rooms); i++)
		buf_release(&rooms[i]);
}
