/* SPDX-License-Identifier: Apache-2.0 */
/* heaps.c - a heap is a row of segments.  A byte for each says how far back its block begins (255: it
 * is free; numbers over 254 take several steps); a block has a header, and behind it the CodeBlob. */
#include "sample/heaps.h"

#include <string.h>

enum { FREE = 255, HEADER = 256 /* bytes: no less than what is read of a CodeBlob */ };

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

/* The piece in the block that begins at an address. */
static bool blob_in(const struct heaps *h, const struct heap *heap, uint64_t block,
		    struct blob *out)
{
	if (!byte(block + h->in.block_used))
		return false;
	read_blob(h, block + h->in.block_size, out);
	return out->end > out->at && is_in(h, heap, out->end - 1) && out->code >= out->at &&
	       out->code <= out->end;
}

bool heaps_find(const struct heaps *h, uint64_t pc, struct blob *out)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct heap *heap = &h->heap[i];
		uint64_t low = word(heap->memory + h->in.low), segment;

		if (!is_in(h, heap, pc))
			continue;
		segment = (pc - low) >> heap->shift;
		if (!block_of(h, heap, &segment))
			return false;
		return blob_in(h, heap, low + (segment << heap->shift), out) && pc >= out->at &&
		       pc < out->end;
	}
	return false;
}

/* The last segments may belong to a block that is being made: its header must lie within the heap. */
static bool each_in(const struct heaps *h, const struct heap *heap,
		    bool (*visit)(void *ctx, const struct blob *b), void *ctx)
{
	uint64_t low = word(heap->memory + h->in.low), map = word(heap->segments + h->in.low),
		 n = word(heap->segments + h->in.high) - map;
	struct blob blob;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t block = low + (i << heap->shift);

		if (byte(map + i) || !is_in(h, heap, block + h->in.block_size + HEADER))
			continue;
		if (blob_in(h, heap, block, &blob) && !visit(ctx, &blob))
			return false;
	}
	return true;
}

void heaps_each(const struct heaps *h, bool (*visit)(void *ctx, const struct blob *b), void *ctx)
{
	for (unsigned i = 0; i < h->n; i++)
		if (!each_in(h, &h->heap[i], visit, ctx))
			return;
}
