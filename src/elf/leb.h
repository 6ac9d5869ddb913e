/* SPDX-License-Identifier: Apache-2.0 */
/* leb.h - little-endian and LEB128 numbers, read by base/reader.h with its sticky error. */
#ifndef ELF_LEB_H
#define ELF_LEB_H

#include "base/reader.h"

static inline uint64_t rd_le(struct reader *r, unsigned bytes)
{
	const uint8_t *p = rd_take(r, bytes);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

/* Bits beyond the 64th are read and dropped. */
static inline uint64_t rd_uleb(struct reader *r)
{
	uint64_t v = 0;
	uint8_t byte;

	for (unsigned shift = 0;; shift += 7) {
		byte = rd_u8(r);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) /* also after an error, which reads as 0 */
			return v;
	}
}

static inline int64_t rd_sleb(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = rd_u8(r);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

#endif
