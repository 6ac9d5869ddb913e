/* SPDX-License-Identifier: Apache-2.0 */
/* fnv.h - FNV-1a, 64 bits: for names of files and tables that no enemy fills.  What strangers choose
 * goes through base/map.h or cache/sip.h. */
#ifndef BASE_FNV_H
#define BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

#define FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t fnv_add(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * 0x100000001b3u;
	return hash;
}

#endif
