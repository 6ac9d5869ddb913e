/* SPDX-License-Identifier: Apache-2.0 */
/* heaps.c - a heap is a row of segments.  A byte for each says how far back its block begins (255: it
 * is free; numbers over 254 take several steps); a block has a header, and behind it the CodeBlob. */
#include "sample/heaps.h"

#include <string.h>

enum { FREE = 255 };

static uint64_t word(uint64_t address)
{
	uint64_t v;

	memcpy(&v, (const void *)(uintptr_t)address, sizeof(v));
	return v;
}

static int32_t number(uint64_t address)
{
	int32_t v;

	memcpy(&v, (const void *)(uintptr_t)address, sizeof(v));
	return v;
}

static int32_t short_number(uint64_t address)
{
	int16_t v;

	memcpy(&v, (const void *)(uintptr_t)address, sizeof(v));
	return v;
}

static uint8_t byte(uint64_t address)
{
	return *(const uint8_t *)(uintptr_t)address;
}

static bool is_in(const struct heaps *h, const struct heap *heap, uint64_t pc)
{
	return pc >= word(heap->memory + h->in.low) && pc < word(heap->memory + h->in.high);
}

bool heaps_contain(const struct heaps *h, uint64_t pc)
{
	for (unsigned i = 0; i < h->n; i++)
		if (is_in(h, &h->heap[i], pc))
			return true;
	return false;
}

/* The first segment of the block that this one belongs to; false: of none. */
static bool block_of(const struct heaps *h, const struct heap *heap, uint64_t *segment)
{
	uint64_t map = word(heap->segments + h->in.low), end = word(heap->segments + h->in.high);

	if (*segment >= end - map || byte(map + *segment) == FREE)
		return false;
	while (byte(map + *segment)) {
		uint8_t back = byte(map + *segment);

		if (back > *segment || back == FREE)
			return false;
		*segment -= back;
	}
	return true;
}

static void read_blob(const struct heaps *h, uint64_t at, struct blob *out)
{
	uint64_t code = at + h->in.code, complete = at + h->in.complete;

	out->at = at;
	out->code = h->in.code_is_offset ? at + (uint64_t)(uint32_t)number(code) : word(code);
	out->end = at + (uint64_t)(uint32_t)number(at + h->in.size);
	out->frame = number(at + h->in.frame);
	out->complete = h->in.complete_bytes == 2 ? short_number(complete) : number(complete);
}

bool heaps_find(const struct heaps *h, uint64_t pc, struct blob *out)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct heap *heap = &h->heap[i];
		uint64_t low = word(heap->memory + h->in.low), segment, block;

		if (!is_in(h, heap, pc))
			continue;
		segment = (pc - low) >> heap->shift;
		if (!block_of(h, heap, &segment))
			return false;
		block = low + (segment << heap->shift);
		if (!byte(block + h->in.block_used))
			return false;
		read_blob(h, block + h->in.block_size, out);
		return pc >= out->at && pc < out->end && is_in(h, heap, out->end - 1) &&
		       out->code >= out->at && out->code <= out->end;
	}
	return false;
}
