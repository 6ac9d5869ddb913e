/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of the JVM are made by hand: a code heap, blobs in it, and words on a stack; those of native
 * code are this program's own. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/buf.h"
#include "sample/sparse.h"
#include "sample/walk.h"
#include "sample/walk_priv.h"
#include "walk_arch.h"

/* ---- a JVM --------------------------------------------------------------------------------- */

enum { SEGMENT = 7, SEGMENTS = 16, HEAP = SEGMENTS << SEGMENT, WORDS = 64, FRAME = 6 };

/* As HotSpot's objects, with offsets of our own. */
struct space {
	uint64_t low, high;
};

struct made_blob { /* with the block's header before it */
	uint64_t used;
	int32_t size, frame, complete, code;
};

struct jvm {
	_Alignas(128) uint8_t memory[HEAP];
	uint8_t segments[SEGMENTS];
	struct space memory_space, segment_space;
	struct heaps heaps;
	uint64_t stack[WORDS];
	uint64_t spots[32];
	struct modules modules; /* none */
	struct walk_world world;
};

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* A blob over n segments; gives where its code begins. */
static uint64_t add_blob(struct jvm *j, unsigned segment, unsigned n, int32_t frame,
			 int32_t complete)
{
	struct made_blob *b = (void *)(j->memory + (segment << SEGMENT));

	*b = (struct made_blob){ .used = 1,
				 .size = (int32_t)(n << SEGMENT) - 8,
				 .frame = frame,
				 .complete = complete,
				 .code = 32 };
	for (unsigned i = 0; i < n; i++)
		j->segments[segment + i] = (uint8_t)(i ? 1 : 0);
	return at(b) + 8 + 32;
}

static struct jvm *make_jvm(void)
{
	struct jvm *j = aligned_alloc(128, (sizeof(*j) + 127) / 128 * 128);

	memset(j, 0, sizeof(*j));
	memset(j->segments, 255, sizeof(j->segments));
	j->memory_space = (struct space){ at(j->memory), at(j->memory) + HEAP };
	j->segment_space = (struct space){ at(j->segments), at(j->segments) + SEGMENTS };
	j->heaps = (struct heaps){
		.heap = { { at(&j->memory_space), at(&j->segment_space), SEGMENT } },
		.n = 1,
		.in = { .low = offsetof(struct space, low),
			.high = offsetof(struct space, high),
			.block_size = 8,
			.size = offsetof(struct made_blob, size) - 8,
			.frame = offsetof(struct made_blob, frame) - 8,
			.complete = offsetof(struct made_blob, complete) - 8,
			.complete_bytes = 4,
			.code = offsetof(struct made_blob, code) - 8,
			.code_is_offset = true },
	};
	j->world = (struct walk_world){ &j->modules, &j->heaps };
	return j;
}

static struct stack_walk walk(struct jvm *j, uint64_t pc, unsigned sp, uint64_t fp)
{
	struct stack_walk w = { .at = { .pc = pc, .sp = at(&j->stack[sp]), .fp = fp },
				.lo = at(j->stack),
				.hi = at(j->stack + WORDS),
				.bytes = (const uint8_t *)j->stack,
				.spots = j->spots,
				.cap = COUNT(j->spots),
				.interrupted = true };

	walk_run(&w, &j->world);
	return w;
}

TEST(heaps_find_the_blob_of_an_address)
{
	struct jvm *j = make_jvm();
	uint64_t first = add_blob(j, 2, 3, 4, 10);
	struct blob b;

	CHECK(heaps_find(&j->heaps, first + 200, &b));
	CHECK(b.code == first);
	CHECK_INT(b.frame, 4, NULL);
	CHECK_INT(b.complete, 10, NULL);
	CHECK(!heaps_find(&j->heaps, at(j->memory), &b));	     /* free */
	CHECK(!heaps_find(&j->heaps, at(j->memory) + HEAP - 1, &b)); /* free, the last byte */
	CHECK(!heaps_find(&j->heaps, at(j->memory) + HEAP, &b));
	j->segments[3] = 200; /* a map that leads out of itself */
	CHECK(!heaps_find(&j->heaps, first + 150, &b));
	free(j);
}

TEST(walk_goes_over_compiled_frames_by_their_size)
{
	struct jvm *j = make_jvm();
	uint64_t a = add_blob(j, 0, 2, FRAME, 0), b = add_blob(j, 4, 2, FRAME, 0);
	struct stack_walk w;

	j->stack[FRAME - 1] = b + 60;
	j->stack[2 * FRAME - 1] = 0; /* nobody is returned to */
	w = walk(j, a + 64, 0, 0);
	CHECK_INT(w.end, WALK_WHOLE, NULL);
	CHECK_INT(w.n, 2, NULL);
	CHECK(j->spots[0] == spot(SPOT_PC, a + 64));
	CHECK(j->spots[1] == spot(SPOT_RETURN, b + 60));
	free(j);
}

TEST(walk_finds_a_frame_below_which_something_has_been_put)
{
	struct jvm *j = make_jvm();
	uint64_t a = add_blob(j, 0, 2, FRAME, 0), b = add_blob(j, 4, 2, FRAME, 0);
	unsigned more = 3; /* two words of a string, and the stack pointer from before */
	struct stack_walk w;

	j->stack[0] = at(&j->stack[more]);
	j->stack[FRAME - 1] = 0x6f6f6f6f;
	j->stack[more + FRAME - 1] = b + 60;
	w = walk(j, a + 64, 0, 0);
	CHECK_INT(w.end, WALK_WHOLE, "the stack pointer from before is on top");
	CHECK_INT(w.n, 2, NULL);
	CHECK(j->spots[1] == spot(SPOT_RETURN, b + 60));
	j->stack[0] = 0;
	w = walk(j, a + 64, 0, 0);
	CHECK_INT(w.end, WALK_WHOLE, "by the return address alone");
	CHECK_INT(w.n, 2, NULL);
	j->stack[more + FRAME - 1] = 0x6f6f6f6f;
	w = walk(j, a + 64, 0, 0);
	CHECK_INT(w.end, WALK_NO_CODE, "there is none");
	free(j);
}

TEST(walk_reads_the_method_of_an_interpreted_frame)
{
	struct jvm *j = make_jvm();
	uint64_t interpreter = add_blob(j, 0, 2, 0, -1), a = add_blob(j, 4, 2, FRAME, 0);
	unsigned fp = 20;
	struct stack_walk w;

	j->heaps.interpreter = interpreter;
	j->heaps.interpreter_end = interpreter + 200;
	j->stack[fp - 3] = 0x7f0000001230; /* the Method */
	j->stack[fp - 1] = at(&j->stack[fp + 2]);
	j->stack[fp] = 0;
	j->stack[fp + 1] = a + 60;
	j->stack[fp + 2 + FRAME - 1] = 0;
	w = walk(j, interpreter + 50, 5, at(&j->stack[fp]));
	CHECK_INT(w.end, WALK_WHOLE, NULL);
	CHECK_INT(w.n, 2, NULL);
	CHECK(j->spots[0] == spot(SPOT_METHOD, 0x7f0000001230));
	CHECK(j->spots[1] == spot(SPOT_RETURN, a + 60));
	free(j);
}

TEST(walk_reads_no_code_behind_the_end_of_a_blob)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *code = p + page - 2;
	const struct blob blob = {
		.code = at(code), .end = at(p) + page, .frame = 4, .complete = -1
	};
	struct stack_walk w = { .at = { .pc = at(code), .sp = 8 } };

	if (!CHECK(p != MAP_FAILED))
		return;
	memcpy(code, "\x0f\x87", 2); /* x86-64: the first bytes of ja */
	mprotect(p + page, page, PROT_NONE);
	CHECK(!walk_arch_half_frame(&w, &blob, code, 2));
	munmap(p, 2 * page);
}

TEST(walk_says_why_it_ends)
{
	struct jvm *j = make_jvm();
	uint64_t a = add_blob(j, 0, 2, FRAME, 0), big = add_blob(j, 4, 2, 1000, 0);

	CHECK_INT(walk(j, a + 64, WORDS - 3, 0).end, WALK_BAD_STACK, "frame beyond the stack");
	CHECK_INT(walk(j, big + 64, 0, 0).end, WALK_BAD_STACK, "larger than the stack");
	j->stack[FRAME - 1] = 0x1234;
	CHECK_INT(walk(j, a + 64, 0, 0).end, WALK_NO_CODE, "a return address of nothing");
	CHECK_INT(walk(j, 0x1234, 0, 0).end, WALK_NO_RULE, "the first address of nothing");
	for (unsigned i = 0; i < WORDS; i++)
		j->stack[i] = a + 60;
	CHECK_INT(walk(j, a + 64, 0, 0).end, WALK_BAD_STACK, "a stack full of return addresses");
	free(j);
}

/* Whatever lies on a stack, the walk ends within it; what it reads beyond, valgrind sees. */
TEST(walk_over_noise_ends)
{
	struct jvm *j = make_jvm();
	uint64_t codes[3] = { add_blob(j, 0, 2, FRAME, 0), add_blob(j, 4, 2, 2, 90),
			      add_blob(j, 8, 2, 0, -1) };

	j->heaps.interpreter = codes[2];
	j->heaps.interpreter_end = codes[2] + 100;
	srand(7);
	for (int round = 0; round < 5000; round++) {
		struct stack_walk w;

		for (unsigned i = 0; i < HEAP; i++)
			if (i % 256 > 48)
				j->memory[i] = (uint8_t)rand();
		for (unsigned i = 0; i < WORDS; i++)
			j->stack[i] = rand() & 1   ? codes[rand() % 3] + (uint64_t)(rand() % 120)
				      : rand() & 1 ? at(&j->stack[rand() % WORDS])
						   : (uint64_t)rand();
		w = walk(j, codes[rand() % 3] + (uint64_t)(rand() % 120), (unsigned)rand() % WORDS,
			 at(&j->stack[rand() % WORDS]));
		CHECK(w.n > 0 && w.n <= COUNT(j->spots) && w.end < WALK_ENDS);
	}
	free(j);
}

/* ---- native code --------------------------------------------------------------------------- */

static bool fetch(void *ctx, const struct mapping *map, struct slice *file)
{
	char path[1024];

	(void)ctx;
	snprintf(path, sizeof(path), "%.*s", SLICE_FMT(map->path));
	return path[0] == '/' && sparse_read(path, file);
}

static void drop(void *ctx, struct slice file)
{
	(void)ctx;
	sparse_drop(file);
}

static bool read_maps(struct buf *out)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[2048];

	while (f && fgets(line, sizeof(line), f))
		buf_text(out, line);
	if (f)
		fclose(f);
	return f != NULL;
}

struct own_stack {
	const struct modules *modules;
	uint64_t spots[64];
	struct stack_walk w;
	uint64_t top;
};

static __attribute__((noinline)) void walk_here(struct own_stack *o)
{
	const struct walk_world world = { o->modules, NULL };
	ucontext_t here;

	getcontext(&here);
	o->w = (struct stack_walk){ .at = walk_arch_regs(&here),
				    .hi = o->top,
				    .spots = o->spots,
				    .cap = COUNT(o->spots),
				    .interrupted = true };
	o->w.lo = o->w.at.sp;
	o->w.bytes = (const uint8_t *)(uintptr_t)o->w.lo;
	walk_run(&o->w, &world);
}

static __attribute__((noinline)) void walk_deeper(struct own_stack *o, int depth)
{
	if (depth)
		walk_deeper(o, depth - 1);
	else
		walk_here(o);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

TEST(walk_over_its_own_stack_finds_main)
{
	static const struct modules_source source = { fetch, drop, NULL };
	struct buf maps = { 0 };
	struct modules m;
	struct own_stack o = { .modules = &m };
	uint64_t self = at((void *)(uintptr_t)&walk_deeper);
	unsigned deeper = 0;

	if (!CHECK(read_maps(&maps)) ||
	    !CHECK_INT(modules_build(&m, buf_slice(&maps), &source, NULL), 0, NULL))
		return;
	o.top = at(__builtin_frame_address(0)) + 4096; /* the walk may end at it */
	walk_deeper(&o, 5);
	for (unsigned i = 0; i < o.w.n; i++)
		deeper += spot_address(o.spots[i]) > self && spot_address(o.spots[i]) < self + 200;
	CHECK(deeper >= 5);
	CHECK(modules_find(&m, self) != NULL);
	CHECK(modules_digest(buf_slice(&maps)) != 0);
	modules_release(&m);
	buf_release(&maps);
}
