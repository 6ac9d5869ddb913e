/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_stack.c - any stack, any code heap and any file as what a thread is found in: the walk ends, and reads nothing
 * else.  The first bytes are registers, then come the heap's map of segments, its memory, the stack, and a file that
 * is mapped.  Words whose uppermost byte says so are addresses in one of these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/modules.h"
#include "sample/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	SHIFT = 7, /* of a segment */
	SEGMENTS = 16,
	HEAP = SEGMENTS << SHIFT,
	WORDS = 64,
	REGS = 5,
	SPOTS = 40,
	MAPPED = 0x10000, /* where the file is */
	MAPPED_END = 0x90000,
};

struct space {
	uint64_t low, high;
};

struct place { /* all on the heap, so that reading beyond an end is seen */
	uint8_t *segments, *memory;
	uint64_t *stack;
	struct space of_memory, of_segments;
};

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* So many bytes of the input, zeros when it is over. */
static void take(struct slice *in, void *to, size_t n)
{
	size_t have = in->n < n ? in->n : n;

	memset(to, 0, n);
	if (have)
		memcpy(to, in->p, have);
	*in = (struct slice){ in->p + have, in->n - have };
}

static uint64_t address(const struct place *p, uint64_t word)
{
	switch (word >> 56) {
	case 1:
		return at(p->memory) + word % HEAP;
	case 2:
		return at(p->stack) + word % (WORDS * 8);
	case 3:
		return at(p->stack) + 8 * (word % (WORDS + 1));
	case 4:
		return MAPPED + word % (MAPPED_END - MAPPED);
	default:
		return word;
	}
}

static bool fetch(void *ctx, const struct mapping *map, struct slice *file)
{
	(void)map;
	*file = *(const struct slice *)ctx;
	return true;
}

static void drop(void *ctx, struct slice file)
{
	(void)ctx;
	(void)file;
}

static const struct place *reading;

/* What the kernel says of a stack that goes to its end. */
static bool read_stack(uint64_t from, void *to, size_t n)
{
	uint64_t lo = at(reading->stack), hi = lo + WORDS * 8;

	if (from < lo || from > hi - n)
		return false;
	memcpy(to, (const void *)(uintptr_t)from, n);
	return true;
}

static void walk(const struct place *p, const uint64_t regs[REGS], const struct walk_world *world,
		 unsigned how)
{
	uint64_t spots[SPOTS];
	struct stack_walk w = { .at = { .pc = regs[0],
					.sp = regs[1],
					.fp = regs[2],
					.link = regs[3],
					.method = regs[4] },
				.lo = at(p->stack),
				.hi = at(p->stack + WORDS),
				.bytes = how & 1 ? NULL : (const uint8_t *)p->stack,
				.read = read_stack,
				.spots = spots,
				.cap = SPOTS,
				.interrupted = true,
				.copied_in_part = how & 2 };

	walk_run(&w, world);
	if (w.n > SPOTS || w.end >= WALK_ENDS || !walk_end_text(w.end))
		abort();
	for (unsigned i = 0; i < w.n; i++)
		if (spot_kind(spots[i]) > SPOT_LABEL)
			abort();
}

static void run(const struct place *p, struct slice in)
{
	uint64_t regs[REGS];
	uint8_t how[4];
	struct heaps jvm = { .heap = { { at(&p->of_memory), at(&p->of_segments), SHIFT } },
			     .n = 1,
			     .in = { .low = 0,
				     .high = 8,
				     .block_size = 8,
				     .size = 0,
				     .frame = 4,
				     .complete = 8,
				     .complete_bytes = 4,
				     .code = 12,
				     .code_is_offset = true } };
	struct modules_source source = { fetch, drop, &in };
	char maps[100];
	struct modules m;

	take(&in, how, sizeof(how));
	take(&in, regs, sizeof(regs));
	take(&in, p->segments, SEGMENTS);
	take(&in, p->memory, HEAP);
	take(&in, p->stack, WORDS * 8);
	for (unsigned i = 0; i < REGS; i++)
		regs[i] = address(p, regs[i]);
	for (unsigned i = 0; i < WORDS; i++)
		p->stack[i] = address(p, p->stack[i]);
	jvm.in.code_is_offset = !(how[0] & 4);
	jvm.interpreter = at(p->memory) + (unsigned)how[1] * 8;
	jvm.interpreter_end = jvm.interpreter + (unsigned)how[2] * 4;
	jvm.frozen = at(p->memory) + (unsigned)how[3] * 8;
	jvm.frozen_end = jvm.frozen + 16;
	snprintf(maps, sizeof(maps), "%x-%x r-xp 00000000 fe:00 7 /file\n", MAPPED, MAPPED_END);
	if (modules_build(&m, slice_str(maps), &source, NULL) < 0)
		return;
	walk(p, regs, &(struct walk_world){ &m, how[0] & 8 ? NULL : &jvm }, how[0]);
	modules_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct place p = { .segments = malloc(SEGMENTS),
			   .memory = aligned_alloc(1 << SHIFT, HEAP),
			   .stack = malloc(WORDS * 8) };
	struct slice maps = { data, size };
	struct mapping map;

	if (!p.segments || !p.memory || !p.stack)
		abort();
	p.of_memory = (struct space){ at(p.memory), at(p.memory) + HEAP };
	p.of_segments = (struct space){ at(p.segments), at(p.segments) + SEGMENTS };
	reading = &p;
	run(&p, (struct slice){ data, size });
	(void)modules_digest(maps);
	while (modules_next_mapping(&maps, &map)) /* any bytes as /proc/PID/maps */
		;
	free(p.segments);
	free(p.memory);
	free(p.stack);
	return 0;
}
