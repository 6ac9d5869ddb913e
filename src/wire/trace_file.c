/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.c - recordings as bytes.  All numbers are big-endian.
 *
 *	"SondeRec"  u32 version  u32 CRC-32 of these 12 bytes
 *	u32 kind  u32 length  payload  u32 CRC-32 of kind, length and payload
 *	... */
#include "wire/trace_file.h"

#include "base/crc32.h"

enum { VERSION = 1, HEAD = 16, PIECE = 12, PAYLOAD_MAX = 512 << 20 };

static const char magic[] = "SondeRec";

static uint32_t get(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put_crc(struct buf *out, size_t from)
{
	if (!out->err)
		buf_u32(out, crc32_of((struct slice){ out->p + from, out->n - from }));
}

void trace_file_begin(struct buf *out)
{
	size_t from = out->n;

	buf_text(out, magic);
	buf_u32(out, VERSION);
	put_crc(out, from);
}

void trace_file_put(struct buf *out, enum trace_kind kind, struct slice payload)
{
	size_t from = out->n;

	if (payload.n > PAYLOAD_MAX) {
		out->err = out->err ? out->err : E_LIMIT;
		return;
	}
	buf_u32(out, kind);
	buf_u32(out, (uint32_t)payload.n);
	buf_put(out, payload);
	put_crc(out, from);
}

void trace_file_end(struct buf *out)
{
	trace_file_put(out, TRACE_END, (struct slice){ NULL, 0 });
}

/* ---- reading ------------------------------------------------------------------------------ */

bool trace_file_is(struct slice file)
{
	return file.n >= sizeof(magic) - 1 && memcmp(file.p, magic, sizeof(magic) - 1) == 0;
}

int trace_file_open(struct trace_file *t, struct slice file, struct fault *f)
{
	*t = (struct trace_file){ .all = file };
	if (!trace_file_is(file))
		return fault_set(f, E_SYNTAX, 0, "not a recording of Sonde's");
	if (file.n < HEAD)
		return fault_set(f, E_TRUNCATED, (long)file.n, "cut off in its first bytes");
	if (get(file.p + 12) != crc32_of((struct slice){ file.p, 12 }))
		return fault_set(f, E_SYNTAX, 0, "damaged: its head has a wrong checksum");
	if (get(file.p + 8) != VERSION)
		return fault_set(f, E_VERSION, 8,
				 "version %u of the format, which this Sonde does not know",
				 get(file.p + 8));
	t->at = HEAD;
	return 0;
}

/* Checks the piece at t->at; gives its length with everything. */
static long piece(const struct trace_file *t, struct fault *f)
{
	const uint8_t *p = t->all.p + t->at;
	size_t left = t->all.n - t->at, n;

	if (left < PIECE)
		return fault_set(f, E_TRUNCATED, (long)t->at, "cut off: the end is missing");
	n = get(p + 4);
	if (n > PAYLOAD_MAX || n > left - PIECE)
		return fault_set(f, E_TRUNCATED, (long)t->at,
				 "cut off or damaged: a piece of %zu bytes, of which %zu are there",
				 n, left - PIECE);
	if (get(p + 8 + n) != crc32_of((struct slice){ p, 8 + n }))
		return fault_set(f, E_SYNTAX, (long)t->at, "damaged: a piece has a wrong checksum");
	return (long)(n + PIECE);
}

int trace_file_next(struct trace_file *t, unsigned *kind, struct slice *payload, struct fault *f)
{
	while (!t->ended) {
		long n = piece(t, f);

		if (n < 0)
			return (int)n;
		*kind = get(t->all.p + t->at);
		*payload = (struct slice){ t->all.p + t->at + 8, (size_t)n - PIECE };
		t->at += (size_t)n;
		t->ended = *kind == TRACE_END;
		if (t->ended && t->at != t->all.n)
			return fault_set(f, E_TRAILING, (long)t->at, "bytes behind the end");
		if (*kind >= TRACE_MACHINE && *kind <= TRACE_COSTS)
			return 1;
	}
	if (t->at != t->all.n)
		return fault_set(f, E_TRAILING, (long)t->at, "bytes behind the end");
	return 0;
}
