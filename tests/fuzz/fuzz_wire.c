/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_wire.c - any bytes as what comes over the control socket: frames, or an error.
 *
 * The first byte says after how many bytes the stream is looked at first, as a socket would hand
 * it over in pieces; that must not change what is found.  What a message is read as must come back
 * from writing and reading it again, bit for bit, and its texts must lie in the frame. */
#include <stdlib.h>

#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool held)
{
	if (!held)
		abort();
}

static void need_inside(struct slice text, struct slice frame)
{
	need(!text.n || (text.p >= frame.p && text.p + text.n <= frame.p + frame.n));
}

#define U8(f)
#define U32(f)
#define U64(f)
#define F64(f)
#define STR(f) need_inside(m.f, payload);
#define MESSAGE(name, fields)                                                              \
	static void trip_##name(struct slice payload, struct buf *once, struct buf *twice) \
	{                                                                                  \
		struct slice again;                                                        \
		struct wire_##name m;                                                      \
		unsigned type;                                                             \
                                                                                           \
		if (wire_get_##name(payload, &m) < 0)                                      \
			return;                                                            \
		fields wire_put_##name(once, &m);                                          \
		need(wire_frame(buf_slice(once), &type, &again) == (long)once->n);         \
		need(type == WIRE_##name && wire_get_##name(again, &m) == 0);              \
		wire_put_##name(twice, &m);                                                \
	}
#include "wire/messages.def"

static void read_as(unsigned type, struct slice payload)
{
	struct buf once = { 0 }, twice = { 0 };

	switch (type) {
#define MESSAGE(name, fields)                        \
	case WIRE_##name:                            \
		trip_##name(payload, &once, &twice); \
		break;
#include "wire/messages.def"
	}
	need(slice_eq(buf_slice(&once), buf_slice(&twice)));
	buf_release(&once);
	buf_release(&twice);
}

static void look_early(struct slice in, size_t have)
{
	struct slice part = { in.p, have < in.n ? have : in.n }, payload, whole;
	unsigned type, again;
	long early = wire_frame(part, &type, &payload);
	long late = wire_frame(in, &again, &whole);

	if (early < 0)
		need(late == early);
	if (early > 0)
		need(late == early && type == again && slice_eq(payload, whole));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 }, payload;
	unsigned type;
	long n;

	if (!size)
		return 0;
	for (;;) {
		look_early(in, data[0]);
		n = wire_frame(in, &type, &payload);
		if (n <= 0)
			return 0;
		need(type && payload.n == (size_t)n - WIRE_HEAD && (size_t)n <= in.n);
		need(wire_name(type)[0]);
		read_as(type, payload);
		in = (struct slice){ in.p + n, in.n - (size_t)n };
	}
}
