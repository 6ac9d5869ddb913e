/* SPDX-License-Identifier: Apache-2.0 */
/* varint.h - numbers in as few bytes as they need: seven bits a byte, the lowest first. */
#ifndef MANAGER_FIGURES_VARINT_H
#define MANAGER_FIGURES_VARINT_H

#include "base/buf.h"
#include "base/reader.h"

static inline void varint_put(struct buf *out, uint64_t v)
{
	uint8_t bytes[10];
	unsigned n = 0;

	for (; v >= 128; v >>= 7)
		bytes[n++] = (uint8_t)(v | 128);
	bytes[n++] = (uint8_t)v;
	buf_bytes(out, bytes, n);
}

/* Takes one off the front; false: there is none, or it is too long. */
static inline bool varint_take(struct slice *from, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 10 && i < from->n; i++) {
		v |= (uint64_t)(from->p[i] & 127) << (7 * i);
		if (from->p[i] & 128)
			continue;
		*from = (struct slice){ from->p + i + 1, from->n - i - 1 };
		*out = v;
		return true;
	}
	return false;
}

/* Numbers of either sign, small ones short. */
static inline void varint_put_signed(struct buf *out, int64_t v)
{
	varint_put(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static inline bool varint_take_signed(struct slice *from, int64_t *out)
{
	uint64_t v;

	if (!varint_take(from, &v))
		return false;
	*out = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
	return true;
}

#endif
