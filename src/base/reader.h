/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h - reads big-endian numbers from a slice, with a sticky error.
 *
 * After the first error every read gives 0, the reader stands at its end, and r->err keeps
 * the code: read a whole structure, check once. */
#ifndef BASE_READER_H
#define BASE_READER_H

#include "base/err.h"
#include "base/slice.h"

struct reader {
	const uint8_t *p, *end;
	const uint8_t *start; /* for rd_at */
	int err;	      /* 0 or the first E_* */
};

static inline struct reader rd_init(struct slice s)
{
	return (struct reader){ s.p, s.n ? s.p + s.n : s.p, s.p, 0 };
}

static inline size_t rd_left(const struct reader *r)
{
	return (size_t)(r->end - r->p);
}

static inline size_t rd_at(const struct reader *r)
{
	return (size_t)(r->p - r->start);
}

/* Keeps an earlier error. */
static inline void rd_fail(struct reader *r, int code)
{
	if (!r->err)
		r->err = code;
	r->p = r->end;
}

static inline uint16_t get_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return __builtin_bswap16(v);
}

static inline uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return __builtin_bswap32(v);
}

static inline uint64_t get_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}

/* n bytes to be read by the caller, or NULL and a sticky error. */
static inline const uint8_t *rd_take(struct reader *r, size_t n)
{
	const uint8_t *p = r->p;

	if (__builtin_expect(rd_left(r) < n, 0)) {
		rd_fail(r, E_TRUNCATED);
		return NULL;
	}
	r->p = p + n;
	return p;
}

static inline uint8_t rd_u8(struct reader *r)
{
	const uint8_t *p = rd_take(r, 1);

	return p ? *p : 0;
}

static inline uint16_t rd_u16(struct reader *r)
{
	const uint8_t *p = rd_take(r, 2);

	return p ? get_u16(p) : 0;
}

static inline uint32_t rd_u32(struct reader *r)
{
	const uint8_t *p = rd_take(r, 4);

	return p ? get_u32(p) : 0;
}

static inline struct slice rd_bytes(struct reader *r, size_t n)
{
	const uint8_t *p = rd_take(r, n);

	return (struct slice){ p ? p : r->end, p ? n : 0 };
}

#endif
