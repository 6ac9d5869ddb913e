/* SPDX-License-Identifier: Apache-2.0 */
/* The checker: states against frames, what handlers get, and frames that are worked out. */
#include "test_check.h"

#include "classfile/check/check.h"
#include "classfile/insn.h"
#include "test.h"

static const struct check_case frames[] = {
	{ "branch", { .code = "iconst_0 ifeq ~4 nop return", .frames = "~1 =5" }, NULL },
	{ "no frame at the target",
	  { .code = "iconst_0 ifeq ~4 nop return" },
	  "offset 1, ifeq: there is no frame at its target, offset 5" },
	{ "no frame after goto",
	  { .code = "goto ~4 nop return", .frames = "~1 =4" },
	  "offset 3, nop: no frame here" },
	{ "dead code with a frame",
	  { .code = "return iconst_0 pop return", .frames = "~1 =1" },
	  NULL },
	{ "back",
	  { .code = "iconst_0 istore_0 iload_0 ifeq ~-1 return", .frames = "~1 =252 ~2 =1" },
	  NULL },
	{ "back with another type",
	  { .code = "iconst_0 istore_0 fconst_0 fstore_0 goto ~-2", .frames = "~1 =252 ~2 =1" },
	  "offset 4, goto: local 0 is float, but the frame at offset 2 wants int" },
	{ "falling into a frame",
	  { .code = "nop return", .frames = "~1 =252 ~1 =1" },
	  "offset 1: local 0 is nothing usable, but the frame at offset 1 wants int" },
	{ "stack in frames",
	  { .code = "iconst_0 iconst_0 ifeq ~3 pop return", .frames = "~1 =69 =1" },
	  NULL },
	{ "other stack",
	  { .code = "iconst_0 iconst_0 ifeq ~3 pop return", .frames = "~1 =69 =2" },
	  "stack slot 0 is int, but the frame at offset 5 wants float" },
	{ "deeper stack",
	  { .code = "iconst_0 ifeq ~3 return", .frames = "~1 =68 =1" },
	  "offset 1, ifeq: stack slot 0 is nothing usable" },
	{ "lower stack",
	  { .code = "iconst_0 iconst_0 ifeq ~3 return", .frames = "~1 =5" },
	  "1 slots on the stack, but the frame at offset 5 has 0" },
	{ "long in a frame",
	  { .code = "lconst_0 lstore_1 iconst_0 ifeq ~3 lload_1 pop2 return",
	    .frames = "~1 =253 ~6 =0 =4" },
	  NULL },
	{ "forgotten local",
	  { .code = "iconst_0 istore_0 iconst_0 ifeq ~3 iload_0 pop return", .frames = "~1 =6" },
	  "wants int in local 0" },
	{ "too many locals",
	  { .code = "nop return", .max_locals = 1, .frames = "~1 =253 ~1 =0 =0" },
	  "a frame needs more than the 1 locals" },
	{ "null and objects",
	  { .code = "aconst_null astore_0 iconst_0 ifeq ~3 return",
	    .frames = "~1 =252 ~6 =7 @A[]" },
	  NULL },
	{ "object is not null",
	  { .desc = "(La/A;)V",
	    .code = "iconst_0 ifeq ~3 return",
	    .frames = "~1 =255 ~4 ~1 =5 ~0" },
	  "local 0 is a/A, but the frame at offset 4 wants null" },
	{ "new of this place",
	  { .code = "new @A iconst_0 ifeq ~3 invokespecial @A.<init> return",
	    .frames = "~1 =71 =8 ~0" },
	  NULL },
	{ "new of another place",
	  { .code = "new @A new @A iconst_0 ifeq ~3 pop pop return",
	    .frames = "~1 =255 ~10 ~0 ~2 =8 ~0 =8 ~0" },
	  "stack slot 1 is uninitialized a/A" },
	{ "this is forgotten",
	  { .name = "<init>", .code = "iconst_0 ifeq ~3 return", .frames = "~1 =250 ~4" },
	  "this is not initialized, but the frame at offset 4 does not say so" },
	{ "switch",
	  { .desc = "(I)V",
	    .code = "iload_0 tableswitch =0 =0 ~0 ~19 ~0 ~0 ~0 ~0 ~0 ~19 return",
	    .frames = "~1 =20" },
	  NULL },
	{ "switch without a frame",
	  { .desc = "(I)V", .code = "iload_0 tableswitch =0 =0 ~0 ~19 ~0 ~0 ~0 ~0 ~0 ~19 return" },
	  "tableswitch: there is no frame" },
};

TEST(check_compares_states_with_frames)
{
	check_cases(frames, COUNT(frames));
}

static const struct check_case handlers[] = {
	{ "handler",
	  { .code = "nop nop nop return pop return",
	    .handlers = "~0 ~2 ~4 ~0",
	    .frames = CAUGHT_AT_4 },
	  NULL },
	{ "no frame at the handler",
	  { .code = "nop nop return pop return", .handlers = "~0 ~2 ~3 ~0" },
	  "exception handler has no frame" },
	{ "catches a class",
	  { .code = "nop nop nop return pop return",
	    .handlers = "~0 ~2 ~4 @A",
	    .frames = CAUGHT_AT_4 },
	  NULL },
	{ "catches a string",
	  { .code = "nop nop nop return pop return",
	    .handlers = "~0 ~2 ~4 @String",
	    .frames = CAUGHT_AT_4 },
	  "catches java/lang/String, which is not a Throwable" },
	{ "catches an array",
	  { .code = "nop nop nop return pop return",
	    .handlers = "~0 ~2 ~4 @int[]",
	    .frames = CAUGHT_AT_4 },
	  "catches int[]" },
	{ "nothing on the stack",
	  { .code = "nop nop nop return pop return", .handlers = "~0 ~2 ~4 ~0", .frames = "~1 =4" },
	  "gets java/lang/Throwable, its frame wants nothing on the stack" },
	{ "int on the stack",
	  { .code = "nop nop nop return pop return",
	    .handlers = "~0 ~2 ~4 ~0",
	    .frames = "~1 =68 =1" },
	  "its frame wants int on the stack" },
	{ "no room on the stack",
	  { .code = "nop nop nop return nop return",
	    .max_locals = 1,
	    .handlers = "~0 ~2 ~4 ~0",
	    .frames = CAUGHT_AT_4 },
	  "deeper than max_stack, 0" },
	{ "local set before the range",
	  { .code = "iconst_0 istore_0 nop return pop return",
	    .handlers = "~2 ~3 ~4 ~0",
	    .frames = "~1 =255 ~4 ~1 =1 ~1 =7 @Throwable" },
	  NULL },
	{ "local set at the end of the range",
	  { .code = "iconst_0 istore_0 nop return pop return",
	    .handlers = "~0 ~2 ~4 ~0",
	    .frames = "~1 =255 ~4 ~1 =1 ~1 =7 @Throwable" },
	  "offset 0, iconst_0: local 0 is nothing usable" },
	{ "local changed by the last instruction",
	  { .desc = "(F)V",
	    .code = "iconst_0 istore_0 nop return pop return",
	    .handlers = "~0 ~2 ~4 ~0",
	    .frames = "~1 =68 =7 @Throwable" },
	  NULL },
	{ "local changed in the range",
	  { .desc = "(F)V",
	    .code = "iconst_0 istore_0 nop return pop return",
	    .handlers = "~0 ~3 ~4 ~0",
	    .frames = "~1 =68 =7 @Throwable" },
	  "offset 2, nop: local 0 is int, but the frame at offset 4 wants float" },
	{ "two ranges",
	  { .code = "nop nop nop return pop return",
	    .handlers = "~0 ~2 ~4 ~0 ~1 ~3 ~4 @A",
	    .frames = CAUGHT_AT_4 },
	  NULL },
	{ "initialized in the range",
	  { .code = "new @A dup astore_0 invokespecial @A.<init> return pop return",
	    .handlers = "~5 ~8 ~9 ~0",
	    .frames = "~1 =255 ~9 ~1 =8 ~0 ~1 =7 @Throwable" },
	  "invokespecial: local 0 is a/A, but the frame at offset 9 wants uninitialized a/A" },
};

TEST(check_sees_what_handlers_get)
{
	check_cases(handlers, COUNT(handlers));
}

/* ---- frames for labels ---- */

static const char *const derivable =
	"iconst_0 istore_1 lconst_0 lstore_2 new @A dup iconst_1 anewarray @A pop pop "
	"invokespecial @A.<init> aload_0 ifnull ~4 nop return";

TEST(check_derives_frames_that_hold)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };
	struct insn *labels[32], *n;
	size_t count = 0;

	text_open(&t,
		  &(struct text_code){ .desc = "([[I)V",
				       .code = derivable,
				       .frames = "~1 =255 ~22 ~1 =7 @int[][] ~0" },
		  &f);
	for (n = insn_next_real(t.code->start); n; n = insn_next_real(n))
		labels[count++] = insn_before(t.code, n, insn_label(t.code));
	CHECK_INT(check_frames_at(t.code, labels, count, &f), 0, f.text);
	for (size_t i = 0; i < count; i++)
		CHECK(labels[i]->frame != NULL || labels[i]->prev->frame != NULL);
	n = labels[7]; /* before anewarray: int[][], int, long | uninitialized A twice, int */
	if (CHECK(n->frame)) {
		CHECK_INT(n->frame->n_locals, 3, NULL);
		CHECK_INT(n->frame->n_stack, 3, NULL);
		CHECK_INT(vt_tag(n->frame->locals[0]), VT_OBJECT, NULL);
		CHECK_INT(n->frame->locals[1], VT_INT, NULL);
		CHECK_INT(n->frame->locals[2], VT_LONG, NULL);
		CHECK_INT(vt_tag(n->frame->stack[0]), VT_UNINIT, NULL);
		CHECK_INT(n->frame->stack[1], n->frame->stack[0], NULL);
	}
	CHECK_INT(code_check(t.code, &f), 0, f.text);
	made_close(&t);
}

TEST(check_derives_a_frame_behind_a_jump)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };
	struct insn *label, *branch;

	/* "ifeq past; goto far; past:", as lowering makes it. */
	text_open(&t,
		  &(struct text_code){ .code = "iconst_0 ifeq ~6 goto ~4 nop return",
				       .frames = "~2 =7 =0" },
		  &f);
	branch = made_insn(&t, 1);
	label = branch->target;
	label->frame = NULL;
	CHECK_INT(check_frames_at(t.code, &label, 1, &f), 0, f.text);
	CHECK(label->frame != NULL);
	CHECK_INT(code_check(t.code, &f), 0, f.text);
	made_close(&t);
}
