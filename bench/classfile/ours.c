/* SPDX-License-Identifier: Apache-2.0 */
/* ours.c - Sonde's class-file library as a contestant (see ../lib/contest.h).
 *
 * Modes: "lazy" reads and writes, methods being copied as they lie; "deep" takes every method to a
 * list of its instructions and back before writing, which is what ASM does without its copying of
 * methods; "nop" puts one nop at the start of every method, and does not ask for single
 * instructions; "nop-deep" does.  One arena holds a class, a second one a method, so
 * that the list stays in the processor's cache. */
#include "../lib/contest.h"
#include "classfile/class.h"
#include "classfile/insn.h"

struct ours {
	struct arena mem, work;
};

typedef int elevate_function(struct class *, struct member *, struct code **, struct fault *);

/* Each method is taken to a list by `elevate` and back; NULL: copied. */
static int change(struct ours *o, struct slice in, struct buf *out, elevate_function *elevate,
		  bool nop)
{
	struct class *cls;
	struct fault fault = { 0 };
	int rc;

	arena_reset(&o->mem);
	rc = class_read(&o->mem, in, &cls, &fault);
	if (rc < 0)
		return rc;
	cls->work = &o->work;
	for (uint32_t i = 0; elevate && rc >= 0 && i < cls->n_methods; i++) {
		struct code *code;

		if (!cls->methods[i].code.p)
			continue;
		rc = elevate(cls, &cls->methods[i], &code, &fault);
		if (rc >= 0 && nop && !insn_after(code, code->start, insn_new(code, OP_NOP)))
			rc = E_NO_MEMORY;
		if (rc >= 0)
			rc = code_lower(code, &fault);
		arena_reset(&o->work);
	}
	if (rc >= 0)
		rc = class_write(cls, out);
	class_release(cls);
	return rc;
}

static int lazy(void *self, struct slice in, struct buf *out)
{
	return change(self, in, out, NULL, false);
}

static int deep(void *self, struct slice in, struct buf *out)
{
	return change(self, in, out, code_elevate, false);
}

static int nop(void *self, struct slice in, struct buf *out)
{
	return change(self, in, out, code_elevate_coarse, true);
}

static int nop_deep(void *self, struct slice in, struct buf *out)
{
	return change(self, in, out, code_elevate, true);
}

int main(int argc, char **argv)
{
	static const struct contest_mode modes[] = {
		{ "lazy", lazy },	  { "deep", deep }, { "nop", nop },
		{ "nop-deep", nop_deep }, { NULL, NULL },
	};
	struct ours o;
	int rc;

	arena_init(&o.mem);
	arena_init(&o.work);
	rc = contest_main(argc, argv, modes, &o);
	arena_release(&o.mem);
	arena_release(&o.work);
	return rc;
}
