/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - writes and reads the messages of messages.def.
 *
 * Each kind of field is written and read by one macro, and each message gets its pair of functions
 * from the list, so the two sides cannot differ.  A frame is written with a length of 0, which is
 * put right at its end.
 *
 * A payload that ends between two fields comes from a peer that does not know the later ones: they
 * stay 0.  One that ends within a field is damaged.  Bytes behind the last field come from a newer
 * peer and are passed over. */
#include "wire/wire.h"

#include <math.h>

/* ---- writing ---- */

static size_t frame_begin(struct buf *out, enum wire_type type)
{
	size_t at = out->n;

	buf_u32(out, 0);
	buf_u16(out, type);
	buf_u16(out, 0);
	return at;
}

/* A frame that no peer would read is taken back, and the buf is marked. */
static void frame_end(struct buf *out, size_t at)
{
	if (!out->err && out->n - at > WIRE_FRAME_MAX)
		out->err = E_LIMIT;
	if (out->err) {
		out->n = at;
		out->cap = at; /* later writes come to buf_grow, which refuses them */
		return;
	}
	put_u32(out->p + at, (uint32_t)(out->n - at - 4));
}

static void put_text(struct buf *out, struct slice s)
{
	if (s.n > WIRE_FRAME_MAX) { /* the frame is refused in any case, and s.n may not fit */
		out->err = out->err ? out->err : E_LIMIT;
		return;
	}
	buf_u32(out, (uint32_t)s.n);
	buf_put(out, s);
}

static void put_long(struct buf *out, uint64_t v)
{
	buf_u32(out, (uint32_t)(v >> 32));
	buf_u32(out, (uint32_t)v);
}

static void put_double(struct buf *out, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	put_long(out, bits);
}

#define U8(f) buf_u8(out, m->f);
#define U32(f) buf_u32(out, m->f);
#define U64(f) put_long(out, m->f);
#define F64(f) put_double(out, m->f);
#define STR(f) put_text(out, m->f);
#define MESSAGE(name, fields)                                              \
	void wire_put_##name(struct buf *out, const struct wire_##name *m) \
	{                                                                  \
		size_t at = frame_begin(out, WIRE_##name);                 \
                                                                           \
		fields frame_end(out, at);                                 \
	}
#include "wire/messages.def"

/* ---- reading ---- */

static struct slice get_text(struct reader *r)
{
	uint32_t n = rd_u32(r);

	return rd_bytes(r, n);
}

static uint64_t get_long(struct reader *r)
{
	const uint8_t *p = rd_take(r, 8);

	return p ? get_u64(p) : 0;
}

/* Infinity is never measured: it would only spoil what it is added to. */
static double get_double(struct reader *r)
{
	uint64_t bits = get_long(r);
	double d;

	memcpy(&d, &bits, sizeof(d));
	return isfinite(d) ? d : 0;
}

static int message_end(const struct reader *r, void *m, size_t n)
{
	if (r->err)
		memset(m, 0, n); /* half a message is never used */
	return r->err;
}

#define FIELD(f, read)   \
	if (rd_left(&r)) \
		m->f = read(&r);
#define U8(f) FIELD(f, rd_u8)
#define U32(f) FIELD(f, rd_u32)
#define U64(f) FIELD(f, get_long)
#define F64(f) FIELD(f, get_double)
/* One that an older peer does not send is empty, and points somewhere: memcpy wants it to. */
#define STR(f) m->f = rd_left(&r) ? get_text(&r) : slice_str("");
#define MESSAGE(name, fields)                                            \
	int wire_get_##name(struct slice payload, struct wire_##name *m) \
	{                                                                \
		struct reader r = rd_init(payload);                      \
                                                                         \
		memset(m, 0, sizeof(*m));                                \
		fields return message_end(&r, m, sizeof(*m));            \
	}
#include "wire/messages.def"
#undef FIELD

/* ---- frames ---- */

long wire_frame(struct slice in, unsigned *type, struct slice *payload)
{
	uint32_t n;

	/* Nonsense is refused as soon as it can be seen, not when all of it has come. */
	if (in.n < 4)
		return 0;
	n = get_u32(in.p);
	if (n > WIRE_FRAME_MAX - 4)
		return E_LIMIT;
	if (n < WIRE_HEAD - 4)
		return E_SYNTAX;
	if (in.n < WIRE_HEAD)
		return 0;
	if (get_u16(in.p + 4) == WIRE_none || get_u16(in.p + 6) != 0)
		return E_SYNTAX;
	if (in.n - 4 < n)
		return 0;
	*type = get_u16(in.p + 4);
	*payload = (struct slice){ in.p + WIRE_HEAD, n + 4 - WIRE_HEAD };
	return (long)n + 4;
}

bool wire_fact(struct slice *facts, struct slice *key, struct slice *value)
{
	struct slice *into[2] = { key, value };

	for (int i = 0; i < 2; i++) {
		const uint8_t *end = facts->n ? memchr(facts->p, '\0', facts->n) : NULL;
		size_t n = end ? (size_t)(end - facts->p) : facts->n;

		if (i == 0 && (!facts->n || !end))
			return false;
		*into[i] = (struct slice){ facts->p, n };
		facts->p += n + (end != NULL);
		facts->n -= n + (end != NULL);
	}
	return true;
}

const char *wire_name(unsigned type)
{
	static const char *const names[] = {
		[WIRE_none] = "?",
#define MESSAGE(name, fields) [WIRE_##name] = #name,
#include "wire/messages.def"
	};

	return type < WIRE_TYPES ? names[type] : "?";
}
