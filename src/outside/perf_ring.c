/* SPDX-License-Identifier: Apache-2.0 */
/* perf_ring.c - numbers in it are those of this machine, so they are copied as they are. */
#include "outside/perf_ring.h"

struct header { /* struct perf_event_header */
	uint32_t type;
	uint16_t misc, size;
};

/* n bytes from `at` on, in one piece. */
static const uint8_t *piece(struct perf_ring *r, uint64_t at, size_t n)
{
	uint64_t from = at & (r->size - 1);
	size_t first = (size_t)(r->size - from);

	if (first >= n)
		return r->bytes + from;
	memcpy(r->whole, r->bytes + from, first);
	memcpy(r->whole + first, r->bytes, n - first);
	return r->whole;
}

bool perf_ring_take(struct perf_ring *r, struct perf_ring_record *out)
{
	uint64_t left = r->head - r->tail;
	struct header h;

	if (!left)
		return false;
	if (left < sizeof(h) || left > r->size)
		goto damaged;
	memcpy(&h, piece(r, r->tail, sizeof(h)), sizeof(h));
	if (h.size < sizeof(h) || h.size > left || h.size & 7)
		goto damaged;
	*out = (struct perf_ring_record){
		h.type, h.misc, { piece(r, r->tail, h.size) + sizeof(h), h.size - sizeof(h) }
	};
	r->tail += h.size;
	return true;
damaged:
	r->damaged += left;
	r->tail = r->head;
	return false;
}
