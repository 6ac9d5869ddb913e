/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - one step for each kind of code; the loop checks what a step has found. */
#include "walk_arch.h"

#include "sample/walk_priv.h"

enum { STEP_MAX = 1 << 20 }; /* bytes: no frame is larger */

static const struct {
	const char *text;
	bool good;
} ends[WALK_ENDS] = {
#define X(name, is_good, what) [WALK_##name] = { what, is_good },
#include "sample/ends.def"
#undef X
};

const char *walk_end_text(enum walk_end end)
{
	return end < WALK_ENDS ? ends[end].text : "not known";
}

bool walk_end_is_good(enum walk_end end)
{
	return end < WALK_ENDS && ends[end].good;
}

enum walk_step { GO_ON, END };

static enum walk_step end(struct stack_walk *w, enum walk_end why)
{
	w->end = why;
	return END;
}

static enum walk_step no_stack(struct stack_walk *w)
{
	return end(w, w->copied_in_part && w->at.sp + STEP_MAX > w->hi ? WALK_CUT : WALK_BAD_STACK);
}

static bool is_code(const struct walk_world *world, uint64_t pc)
{
	return modules_find(world->modules, pc) || (world->jvm && heaps_contain(world->jvm, pc));
}

/* Along the frame pointer: a frame that begins with the caller's, and the return address. */
static bool by_frame_pointer(struct stack_walk *w)
{
	uint64_t fp, pc, at = w->at.fp;

	if (at < w->at.sp || at - w->at.sp > STEP_MAX || !walk_load(w, at, &fp) ||
	    !walk_load(w, at + 8, &pc))
		return false;
	w->at.pc = walk_arch_plain(pc);
	w->at.sp = at + 16;
	w->at.fp = fp;
	return true;
}

/* ---- native code --------------------------------------------------------------------------- */

/* What lies below the stack pointer was taken off again: rules that a compiler writes for the end of a
 * function still name the place, and the register has its value. */
static bool row_word(const struct stack_walk *w, uint64_t cfa, int16_t at, uint64_t *value)
{
	uint64_t address = cfa + (uint64_t)(int64_t)(at * UNWIND_UNIT);

	return at == UNWIND_SAME || address < w->at.sp || walk_load(w, address, value);
}

static bool by_row(struct stack_walk *w, const struct unwind_row *row, uint64_t pc_in_plt)
{
	uint64_t cfa = row->cfa_by == UNWIND_FP ? w->at.fp : w->at.sp, pc = w->at.link;
	int64_t more = row->cfa_by != UNWIND_PLT ? row->cfa : pc_in_plt >= 11 ? 16 : 8;
	uint64_t fp = w->at.fp;

	cfa += (uint64_t)more;
	if (cfa < w->at.sp || cfa - w->at.sp > STEP_MAX ||
	    !row_word(w, cfa, row->cfa_by == UNWIND_PLT ? -1 : row->ra, &pc) ||
	    !row_word(w, cfa, row->cfa_by == UNWIND_PLT ? UNWIND_SAME : row->fp, &fp))
		return false;
	w->at.pc = walk_arch_plain(pc);
	w->at.sp = cfa;
	w->at.fp = fp;
	return true;
}

/* Code without rules: perhaps a leaf that has touched nothing, or one that keeps frame pointers. */
static enum walk_step without_rule(struct stack_walk *w, const struct walk_world *world,
				   bool innermost)
{
	struct walk_regs before = w->at;
	uint64_t pc, sp;

	if (by_frame_pointer(w) && is_code(world, w->at.pc))
		return GO_ON;
	w->at = before;
	if (innermost && walk_arch_bare_return(w, &pc, &sp) && is_code(world, pc)) {
		w->at.pc = pc;
		w->at.sp = sp;
		return GO_ON;
	}
	return end(w, WALK_NO_RULE);
}

static enum walk_step native_step(struct stack_walk *w, const struct walk_world *world,
				  const struct module *m, bool innermost)
{
	const struct unwind *u = &m->file->rules->unwind;
	uint64_t pc = w->at.pc - !innermost - m->bias;
	const struct unwind_row *row = pc >= u->base ? unwind_find(u, pc - u->base) : NULL;

	if (row && row->cfa_by == UNWIND_END)
		return end(w, WALK_WHOLE);
	if (row && row->is_signal && walk_arch_signal_frame(w)) {
		w->interrupted = true;
		return GO_ON;
	}
	if (!row || row->cfa_by == UNWIND_UNKNOWN)
		return without_rule(w, world, innermost);
	if (row->ra == UNWIND_SAME && row->cfa_by != UNWIND_PLT && !innermost)
		return end(w, WALK_NO_RULE);
	return by_row(w, row, pc & 15) ? GO_ON : no_stack(w);
}

/* ---- generated code ------------------------------------------------------------------------ */

static bool is_interpreted_frame(const struct stack_walk *w, uint64_t *method, uint64_t *sender)
{
	uint64_t fp = w->at.fp;

	return fp >= w->at.sp && fp - w->at.sp <= STEP_MAX &&
	       walk_load(w, fp + (uint64_t)(8 * (int64_t)WALK_METHOD), method) && *method > 4096 &&
	       !(*method & 7) && *method >> SPOT_SHIFT == 0 &&
	       walk_load(w, fp + (uint64_t)(8 * (int64_t)WALK_SENDER_SP), sender) && *sender > fp &&
	       *sender <= w->hi;
}

/* The frame of a method that just begins is not there yet; its caller's is the one that the frame
 * pointer shows. */
static enum walk_step interpreter_begins(struct stack_walk *w, const struct walk_world *world)
{
	uint64_t pc, sp;

	if (walk_arch_bare_return(w, &pc, &sp) && world->jvm && heaps_contain(world->jvm, pc)) {
		w->at.sp = sp;
	} else if (w->at.link && heaps_contain(world->jvm, w->at.link)) {
		pc = w->at.link;
	} else {
		return end(w, WALK_NO_FRAME);
	}
	if (w->at.method > 4096 && !(w->at.method & 7) && w->at.method >> SPOT_SHIFT == 0)
		w->spots[w->n - 1] = spot(SPOT_METHOD, w->at.method);
	w->at.pc = pc;
	return GO_ON;
}

static enum walk_step interpreted_step(struct stack_walk *w, const struct walk_world *world,
				       bool innermost)
{
	uint64_t method, sender, fp = w->at.fp;

	if (!is_interpreted_frame(w, &method, &sender))
		return innermost ? interpreter_begins(w, world) : end(w, WALK_NO_FRAME);
	w->spots[w->n - 1] = spot(SPOT_METHOD, method);
	if (!by_frame_pointer(w))
		return no_stack(w);
	w->at.sp = sender > fp + 16 ? sender : fp + 16;
	return GO_ON;
}

/* Stubs without a frame of a fixed size: those that others are called from have frame pointers;
 * of the innermost one the return address may lie on top. */
static enum walk_step stub_step(struct stack_walk *w, const struct walk_world *world,
				bool innermost)
{
	struct blob blob;
	uint64_t pc, sp;

	if (innermost && walk_arch_bare_return(w, &pc, &sp) && heaps_find(world->jvm, pc, &blob) &&
	    blob.frame > 0) {
		w->at.pc = pc;
		w->at.sp = sp;
		return GO_ON;
	}
	return without_rule(w, world, innermost);
}

/* Does this word lead back to generated code? */
static bool returns(const struct stack_walk *w, const struct walk_world *world, uint64_t at)
{
	const struct heaps *jvm = world->jvm;
	struct blob blob;
	uint64_t pc;

	if (!walk_load(w, at, &pc))
		return false;
	pc = walk_arch_plain(pc);
	return (pc >= jvm->interpreter && pc < jvm->interpreter_end) || heaps_find(jvm, pc, &blob);
}

/* In the midst of a compiled method the stack pointer may be lower than its frame: HotSpot's search in
 * strings copies a short one on the stack, and leaves the stack pointer from before on top.  Where the
 * return address is missing it is looked for above.  Gives where the frame begins. */
static uint64_t find_frame(const struct stack_walk *w, const struct walk_world *world,
			   uint64_t size)
{
	enum { MORE_MAX = 16 * 8 };
	uint64_t sp = w->at.sp, before;

	if (returns(w, world, sp + size - 8))
		return sp;
	if (walk_load(w, sp, &before) && before > sp && before - sp <= MORE_MAX && !(before & 7) &&
	    returns(w, world, before + size - 8))
		return before;
	for (uint64_t more = 8; more <= MORE_MAX; more += 8)
		if (returns(w, world, sp + more + size - 8))
			return sp + more;
	return sp;
}

static enum walk_step compiled_step(struct stack_walk *w, const struct walk_world *world,
				    bool innermost)
{
	struct blob blob;
	uint64_t sp, pc, fp;

	if (!heaps_find(world->jvm, w->at.pc, &blob))
		return end(w, WALK_NO_CODE);
	if (blob.frame <= 0)
		return stub_step(w, world, innermost);
	if (innermost && walk_arch_half_frame(w, &blob, (const uint8_t *)(uintptr_t)w->at.pc,
					      (size_t)(blob.end - w->at.pc)))
		return GO_ON;
	sp = 8 * (uint64_t)(uint32_t)blob.frame;
	sp += innermost ? find_frame(w, world, sp) : w->at.sp;
	if (blob.frame > STEP_MAX / 8 || !walk_load(w, sp - 8, &pc) || !walk_load(w, sp - 16, &fp))
		return no_stack(w);
	w->at.pc = walk_arch_plain(pc);
	w->at.sp = sp;
	w->at.fp = fp;
	return GO_ON;
}

/* ---- the loop ------------------------------------------------------------------------------ */

static enum walk_step one_step(struct stack_walk *w, const struct walk_world *world, bool innermost)
{
	const struct heaps *jvm = world->jvm;
	const struct module *m;
	uint64_t pc = w->at.pc;

	if (jvm && pc >= jvm->interpreter && pc < jvm->interpreter_end)
		return interpreted_step(w, world, innermost);
	if (jvm && !innermost && pc >= jvm->frozen && pc < jvm->frozen_end)
		return end(w, WALK_HEAP);
	if (jvm && heaps_contain(jvm, pc))
		return compiled_step(w, world, innermost);
	m = modules_find(world->modules, pc);
	if (m)
		return native_step(w, world, m, innermost);
	return innermost ? without_rule(w, world, true) : end(w, WALK_NO_CODE);
}

void walk_run(struct stack_walk *w, const struct walk_world *world)
{
	for (;;) {
		uint64_t sp = w->at.sp;
		bool innermost = w->interrupted;

		if (!w->at.pc) {
			w->end = WALK_WHOLE;
			return;
		}
		if (w->n == w->cap) {
			w->end = WALK_DEEP;
			return;
		}
		w->interrupted = false;
		w->spots[w->n++] = spot(innermost ? SPOT_PC : SPOT_RETURN, w->at.pc);
		if (one_step(w, world, innermost) == END)
			return;
		if (w->at.sp < sp || (w->at.sp == sp && !innermost) || w->at.sp & 7) {
			w->end = WALK_BAD_STACK;
			return;
		}
	}
}
