/* SPDX-License-Identifier: Apache-2.0 */
/* buf.h - a growable byte buffer with big-endian writers and a sticky error.
 *
 * After the first failure every write is ignored and buf.err keeps the code: write as much
 * as you like, check once.  buf_init makes an empty one without allocating; all zero is
 * the same. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/err.h"
#include "base/slice.h"

struct buf {
	uint8_t *p;
	size_t n, cap;
	int err; /* 0 or the first E_* */
};

void buf_init(struct buf *b);
void buf_release(struct buf *b);
static inline void buf_clear(struct buf *b) /* empty again, memory kept */
{
	b->n = 0;
	b->err = 0;
}

bool buf_grow(struct buf *b, size_t more); /* slow path: room for `more` bytes beyond n */

/* Room for n more bytes, or NULL and a sticky error.  The caller writes there and then
 * moves b->n itself. */
static inline uint8_t *buf_room(struct buf *b, size_t n)
{
	if (__builtin_expect(b->cap - b->n < n || !b->p, 0) && !buf_grow(b, n))
		return NULL;
	return b->p + b->n;
}

static inline struct slice buf_slice(const struct buf *b)
{
	return (struct slice){ b->p, b->n };
}

static inline void put_u16(uint8_t *p, uint16_t v)
{
	v = __builtin_bswap16(v);
	memcpy(p, &v, 2);
}

static inline void put_u32(uint8_t *p, uint32_t v)
{
	v = __builtin_bswap32(v);
	memcpy(p, &v, 4);
}

static inline void buf_u8(struct buf *b, unsigned v)
{
	uint8_t *p = buf_room(b, 1);

	if (p) {
		*p = (uint8_t)v;
		b->n += 1;
	}
}

static inline void buf_u16(struct buf *b, unsigned v)
{
	uint8_t *p = buf_room(b, 2);

	if (p) {
		put_u16(p, (uint16_t)v);
		b->n += 2;
	}
}

static inline void buf_u32(struct buf *b, uint32_t v)
{
	uint8_t *p = buf_room(b, 4);

	if (p) {
		put_u32(p, v);
		b->n += 4;
	}
}

static inline void buf_bytes(struct buf *b, const void *from, size_t n)
{
	uint8_t *p = n ? buf_room(b, n) : NULL;

	if (p) {
		memcpy(p, from, n);
		b->n += n;
	}
}

static inline void buf_put(struct buf *b, struct slice s)
{
	buf_bytes(b, s.p, s.n);
}

void buf_text(struct buf *b, const char *s);
void buf_dotted(struct buf *b, struct slice name); /* "a.b" of "a/b" */
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
