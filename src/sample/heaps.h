/* SPDX-License-Identifier: Apache-2.0 */
/* heaps.h - HotSpot's code heaps: which piece of generated code an address belongs to.
 *
 * Everything read here lies in memory that the JVM has committed and never gives back while it runs:
 * the descriptions of the heaps, the heaps, and their maps of segments.  So reading cannot fault,
 * only give nonsense about a piece that is replaced at this moment; the walker checks what it makes
 * of it.  Offsets come from the JVM's tables for debuggers (agent/sampling/vm_layout.c). */
#ifndef SAMPLE_HEAPS_H
#define SAMPLE_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

enum { HEAPS_MAX = 8 };

struct heap {
	uint64_t memory, segments; /* where the VirtualSpace of each lies */
	unsigned shift;		   /* log2 of a segment's bytes */
};

struct heaps {
	struct heap heap[HEAPS_MAX];
	unsigned n;
	struct {
		uint64_t low, high;		 /* of VirtualSpace */
		uint64_t block_size, block_used; /* of HeapBlock */
		uint64_t size, frame, complete;	 /* of CodeBlob */
		unsigned complete_bytes;	 /* of that number: 2 or 4 */
		uint64_t code;			 /* of CodeBlob: where its code begins ... */
		bool code_is_offset; /* ... as a number from the blob on, or an address */
	} in;
	uint64_t interpreter, interpreter_end;
	uint64_t frozen, frozen_end; /* stubs that return into frames in the heap; 0: none */
};

struct blob {
	uint64_t at, code, end;
	int32_t frame;	  /* words; <= 0: it has none of a fixed size */
	int32_t complete; /* bytes of code after which the frame is there; < 0: never */
};

/* False: it belongs to no piece of code that is in use.  Safe in signal handlers. */
bool heaps_find(const struct heaps *h, uint64_t pc, struct blob *out);
bool heaps_contain(const struct heaps *h, uint64_t pc); /* within any heap */

/* Each piece that is in use, as long as visit gives true. */
void heaps_each(const struct heaps *h, bool (*visit)(void *ctx, const struct blob *b), void *ctx);

#endif
