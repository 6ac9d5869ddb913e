/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - watched calls on their way to the agent: a ring of bytes that many threads write into
 * and one reads.
 *
 * A writer reserves its record by moving `head`, fills it, and commits it by writing its first
 * word; the reader waits for that word, and zeroes what it has read before it moves `tail`.  So a
 * writer that is held up in between delays the reader, never another writer: they go on until the
 * ring is full, and then drop what they have and count it.  A record does not cross the end of the
 * ring; an empty record fills the rest. */
#include "probe/pages.h"

#include "base/err.h"

#include <string.h>

enum { RING = 1 << 20 };

struct record {
	uint32_t size; /* all of it, a multiple of 8; 0: not there yet */
	uint32_t is;   /* RECORD_* */
	uint32_t id, tid;
	uint64_t begin, ticks;
	uint32_t facts_n;
	uint32_t thrown;
};
enum { RECORD_CALL, RECORD_FILLER };

static struct {
	char *bytes;
	uint64_t head __attribute__((aligned(LINE))); /* writers reserve up to here */
	uint64_t dropped;
	uint64_t tail __attribute__((aligned(LINE))); /* the reader is done up to here */
	uint32_t taken; /* bytes of the record that the reader looks at now */
} ring;

int ring_init(void)
{
	ring.bytes = pages_map(RING);
	return ring.bytes ? 0 : E_NO_MEMORY;
}

uint64_t ring_dropped(void)
{
	return LOAD(ring.dropped);
}

/* Size and kind are committed as one word. */
static void commit(struct record *r, uint32_t size, uint32_t is)
{
	struct {
		uint32_t size, is;
	} first = { size, is };
	uint64_t word;

	memcpy(&word, &first, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)r, word, __ATOMIC_RELEASE);
}

char *ring_begin(const struct probe_call *call)
{
	uint32_t size = (uint32_t)((sizeof(struct record) + call->facts_n + 7) & ~(size_t)7);
	uint64_t head = LOAD(ring.head);
	uint32_t at, filler;
	struct record *r;

	do {
		at = (uint32_t)(head % RING);
		filler = at + size > RING ? RING - at : 0;
		if (head + filler + size - TAKE(ring.tail) > RING) {
			SHARED_ADD(ring.dropped, 1);
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&ring.head, &head, head + filler + size, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (filler) {
		commit((struct record *)(void *)(ring.bytes + at), filler, RECORD_FILLER);
		at = 0;
	}
	r = (struct record *)(void *)(ring.bytes + at);
	r->id = call->id;
	r->tid = call->tid;
	r->begin = call->begin;
	r->ticks = call->ticks;
	r->facts_n = (uint32_t)call->facts_n;
	r->thrown = call->thrown;
	return (char *)(r + 1);
}

void ring_end(char *facts)
{
	struct record *r = (struct record *)(void *)facts - 1;

	commit(r, (uint32_t)((sizeof(*r) + r->facts_n + 7) & ~(size_t)7), RECORD_CALL);
}

static void done_with(uint32_t n)
{
	uint64_t tail = LOAD(ring.tail);

	memset(ring.bytes + tail % RING, 0, n);
	PUBLISH(ring.tail, tail + n);
}

bool probe_ring_take(struct probe_call *out)
{
	const struct record *r;
	uint64_t word;
	struct {
		uint32_t size, is;
	} first;

	if (!ring.bytes)
		return false;
	if (ring.taken)
		done_with(ring.taken);
	ring.taken = 0;
	for (;;) {
		r = (const void *)(ring.bytes + LOAD(ring.tail) % RING);
		word = __atomic_load_n((const uint64_t *)(const void *)r, __ATOMIC_ACQUIRE);
		memcpy(&first, &word, sizeof(word));
		if (first.size == 0)
			return false;
		if (first.is == RECORD_CALL)
			break;
		done_with(first.size);
	}
	ring.taken = first.size;
	*out = (struct probe_call){ .id = r->id,
				    .tid = r->tid,
				    .begin = r->begin,
				    .ticks = r->ticks,
				    .thrown = r->thrown != 0,
				    .facts = (const char *)(r + 1),
				    .facts_n = r->facts_n };
	return true;
}
