/* SPDX-License-Identifier: Apache-2.0 */
/* Merging: every shape of template into every shape of method; the checker must accept the result,
 * and prolog and epilog must stand as often as there are ways in and out. */
#include "weave/weave.h"

#include <stdio.h>

#include "base/mem.h"
#include "classes.h"
#include "classfile/check/check.h"
#include "test.h"

/* What templates and methods call; numbers in their code below stand for these. */
enum call { BODY, ID, RESULT, THROWN, SELF, ARGS, IN, OUT, INIT, CALLS };

static const struct {
	const char *owner, *name, *desc;
} calls[CALLS] = {
	[BODY] = { HERE_CLASS, "body", "()V" },
	[ID] = { HERE_CLASS, "id", "()I" },
	[RESULT] = { HERE_CLASS, "result", "()Ljava/lang/Object;" },
	[THROWN] = { HERE_CLASS, "thrown", "()Ljava/lang/Throwable;" },
	[SELF] = { HERE_CLASS, "self", "()Ljava/lang/Object;" },
	[ARGS] = { HERE_CLASS, "args", "()[Ljava/lang/Object;" },
	[IN] = { "java/lang/Thread", "yield", "()V" },
	[OUT] = { "java/lang/System", "gc", "()V" },
	[INIT] = { "java/lang/Object", "<init>", "()V" },
};

#define CALL(call) OP_INVOKESTATIC, 0, call
#define SUPER OP_ALOAD_0, OP_INVOKESPECIAL, 0, INIT
#define THROWABLE 6 /* the first constant that make() adds */

struct body {
	const char *label;
	const char *name, *desc; /* NULL: f, ()V */
	struct slice code, handlers, frames;
	uint16_t locals; /* 0: 10 */
	uint16_t access;
	/* of a method: how often prolog and epilog are needed */
	uint8_t in, out, thrown;
	bool odd; /* there are, or could be, values below the result at a return */
	bool old; /* jsr: below version 51 only */
	/* of a template: calls of IN in the prolog and of OUT in the epilog */
	uint8_t ins, outs;
	bool in_branches, out_branches, catches;
};

static const struct body templates[] = {
	{ .label = "plain",
	  .code = STATIC_BYTES(CALL(IN), CALL(BODY), CALL(OUT), OP_RETURN),
	  .ins = 1,
	  .outs = 1 },
	{ .label = "prolog only", .code = STATIC_BYTES(CALL(IN), CALL(BODY), OP_RETURN), .ins = 1 },
	{ .label = "epilog only",
	  .code = STATIC_BYTES(CALL(BODY), CALL(OUT), OP_RETURN),
	  .outs = 1 },
	{ .label = "locals that live across the body",
	  .code = STATIC_BYTES(OP_LCONST_1, OP_LSTORE_0, OP_ACONST_NULL, OP_ASTORE_2, CALL(BODY),
			       OP_LLOAD_0, OP_POP2, OP_ALOAD_2, OP_POP, CALL(OUT), OP_RETURN),
	  .locals = 3,
	  .outs = 1 },
	{ .label = "a branch in the prolog", /* ifeq at 3 goes to 9 */
	  .code = STATIC_BYTES(CALL(ID), OP_IFEQ, 0, 6, CALL(IN), CALL(BODY), CALL(OUT), OP_RETURN),
	  .frames = STATIC_BYTES(0, 1, 9),
	  .ins = 1,
	  .outs = 1,
	  .in_branches = true },
	{ .label = "a branch in the epilog", /* ifeq at 9 goes to 15 */
	  .code = STATIC_BYTES(CALL(IN), CALL(BODY), CALL(ID), OP_IFEQ, 0, 6, CALL(OUT), OP_RETURN),
	  .frames = STATIC_BYTES(0, 1, 15),
	  .ins = 1,
	  .outs = 1,
	  .out_branches = true },
	{ .label = "result and exception",
	  .code = STATIC_BYTES(CALL(BODY), CALL(RESULT), OP_POP, CALL(THROWN), OP_POP, CALL(OUT),
			       OP_RETURN),
	  .outs = 1 },
	{ .label = "a branch by the result, and a local", /* ifnull at 8 goes to 14 */
	  .code = STATIC_BYTES(OP_ICONST_1, OP_ISTORE_0, CALL(BODY), CALL(RESULT), OP_IFNULL, 0, 6,
			       CALL(OUT), OP_RETURN),
	  .frames = STATIC_BYTES(0, 1, 252, 0, 14, 1),
	  .locals = 1,
	  .outs = 1,
	  .out_branches = true },
	{ .label = "this and all arguments",
	  .code = STATIC_BYTES(CALL(SELF), OP_POP, CALL(ARGS), OP_POP, CALL(BODY), CALL(OUT),
			       OP_RETURN),
	  .outs = 1 },
	{ .label = "every form of operand",
	  .code = STATIC_BYTES(CALL(SELF), OP_ASTORE_0, OP_BIPUSH, 100, OP_NEWARRAY, 10,
			       OP_ASTORE_1, OP_SIPUSH, 1, 2, OP_ANEWARRAY, 0, THROWABLE, OP_ASTORE,
			       6, CALL(IN), CALL(BODY), CALL(ID), OP_POP, OP_ALOAD_0, OP_POP,
			       OP_ALOAD, 6, OP_POP, CALL(THROWN), OP_POP, CALL(OUT), OP_RETURN),
	  .locals = 7,
	  .ins = 1,
	  .outs = 1 },
	{ .label = "a handler around the body",
	  .code = STATIC_BYTES(CALL(IN), CALL(BODY), CALL(OUT), OP_RETURN, /* 10: */ OP_ASTORE_0,
			       CALL(OUT), OP_ALOAD_0, OP_ATHROW),
	  .handlers = STATIC_BYTES(U2(3), U2(6), U2(10), U2(0)),
	  .frames = STATIC_BYTES(0, 1, 64 + 10, 7, U2(THROWABLE)),
	  .locals = 1,
	  .ins = 1,
	  .outs = 1,
	  .catches = true },
};

/* Arguments that take all 255 slots. */
#define TEN_LONGS "JJJJJJJJJJ"
#define FULL_DESC                                                                           \
	"(" TEN_LONGS TEN_LONGS TEN_LONGS TEN_LONGS TEN_LONGS TEN_LONGS TEN_LONGS TEN_LONGS \
		TEN_LONGS TEN_LONGS TEN_LONGS TEN_LONGS "JJJJJJJI)J"

static const struct body methods[] = {
	{ .label = "void", .code = STATIC_BYTES(OP_RETURN), .in = 1, .out = 1 },
	{ .label = "int",
	  .desc = "(I)I",
	  .code = STATIC_BYTES(OP_ILOAD_0, OP_IRETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "long",
	  .desc = "(J)J",
	  .code = STATIC_BYTES(OP_LLOAD_0, OP_LRETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "float",
	  .desc = "(F)F",
	  .code = STATIC_BYTES(OP_FLOAD_0, OP_FRETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "double",
	  .desc = "(D)D",
	  .code = STATIC_BYTES(OP_DLOAD_0, OP_DRETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "an array",
	  .desc = "([[I)[[I",
	  .code = STATIC_BYTES(OP_ALOAD_0, OP_ARETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "an instance method",
	  .desc = "(IJ)Z",
	  .access = ACC_PUBLIC,
	  .code = STATIC_BYTES(OP_ICONST_1, OP_IRETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "255 slots",
	  .desc = FULL_DESC,
	  .locals = 255,
	  .code = STATIC_BYTES(OP_LLOAD, 252, OP_LRETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "several returns",
	  .desc = "(I)I", /* ifeq at 1 goes to 6 */
	  .code = STATIC_BYTES(OP_ILOAD_0, OP_IFEQ, 0, 5, OP_ICONST_1, OP_IRETURN, OP_ICONST_2,
			       OP_IRETURN),
	  .frames = STATIC_BYTES(0, 1, 6),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "several returns of longs",
	  .desc = "(J)J", /* ifeq at 3 goes to 8 */
	  .code = STATIC_BYTES(OP_LLOAD_0, OP_LCONST_0, OP_LCMP, OP_IFEQ, 0, 5, OP_LCONST_1,
			       OP_LRETURN, OP_LCONST_0, OP_LRETURN),
	  .frames = STATIC_BYTES(0, 1, 8),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "a return in the middle",
	  .desc = "(I)V", /* ifeq at 1 goes to 5 */
	  .code = STATIC_BYTES(OP_ILOAD_0, OP_IFEQ, 0, 4, OP_RETURN, OP_ACONST_NULL, OP_ATHROW),
	  .frames = STATIC_BYTES(0, 1, 5),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "no return at all",
	  .code = STATIC_BYTES(OP_GOTO, 0, 0),
	  .frames = STATIC_BYTES(0, 1, 0),
	  .in = 1,
	  .thrown = 1 },
	{ .label = "nothing but an exception",
	  .code = STATIC_BYTES(OP_ACONST_NULL, OP_ATHROW),
	  .in = 1,
	  .thrown = 1 },
	{ .label = "a loop to the first instruction",
	  .desc = "(I)V", /* ifne at 4 goes to 0 */
	  .code = STATIC_BYTES(OP_IINC, 0, 255, OP_ILOAD_0, OP_IFNE, 255, 252, OP_RETURN),
	  .frames = STATIC_BYTES(0, 1, 0),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "values below the result",
	  .desc = "()I",
	  .code = STATIC_BYTES(OP_ICONST_5, OP_ICONST_1, OP_IRETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1,
	  .odd = true },
	{ .label = "values below one result of two",
	  .desc = "(I)I", /* ifeq at 2 goes to 7 */
	  .code = STATIC_BYTES(OP_ICONST_5, OP_ILOAD_0, OP_IFEQ, 0, 5, OP_ICONST_1, OP_IRETURN,
			       OP_POP, OP_ICONST_2, OP_IRETURN),
	  .frames = STATIC_BYTES(0, 1, 64 + 7, 1),
	  .in = 1,
	  .out = 2,
	  .thrown = 1,
	  .odd = true },
	{ .label = "a handler of its own",
	  .desc = "(I)I",
	  .code = STATIC_BYTES(OP_ICONST_1, OP_ILOAD_0, OP_IDIV, OP_IRETURN, /* 4: */ OP_POP,
			       OP_ICONST_0, OP_IRETURN),
	  .handlers = STATIC_BYTES(U2(0), U2(3), U2(4), U2(THROWABLE)),
	  .frames = STATIC_BYTES(0, 1, 64 + 4, 7, U2(THROWABLE)),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "a switch",
	  .desc = "(I)I", /* tableswitch at 1: 1 and 2 to 24, else to 26 */
	  .code = STATIC_BYTES(OP_ILOAD_0, OP_TABLESWITCH, 0, 0, U4(25), U4(1), U4(2), U4(23),
			       U4(23), OP_ICONST_1, OP_IRETURN, OP_ICONST_2, OP_IRETURN),
	  .frames = STATIC_BYTES(0, 2, 24, 1),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "arguments used for something else",
	  .desc = "(Ljava/lang/String;)V",
	  .code = STATIC_BYTES(OP_ICONST_1, OP_ISTORE_0, OP_ILOAD_0, OP_IFEQ, 0, 4, OP_NOP,
			       OP_RETURN), /* ifeq at 3 goes to 7 */
	  .frames = STATIC_BYTES(0, 1, 255, U2(7), U2(1), 1, U2(0)),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "a subroutine",
	  .code = STATIC_BYTES(OP_JSR, 0, 4, OP_RETURN, OP_ASTORE_0, OP_RET, 0),
	  .in = 1,
	  .out = 1,
	  .thrown = 1,
	  .odd = true,
	  .old = true },
	{ .label = "a constructor",
	  .name = "<init>",
	  .access = ACC_PUBLIC,
	  .code = STATIC_BYTES(SUPER, OP_RETURN),
	  .in = 1,
	  .out = 1 },
	{ .label = "a constructor with a branch before super()",
	  .name = "<init>",
	  .desc = "(I)V",
	  .access = ACC_PUBLIC, /* ifeq at 1 goes to 5 */
	  .code = STATIC_BYTES(OP_ILOAD_1, OP_IFEQ, 0, 4, OP_NOP, SUPER, OP_NOP, OP_RETURN),
	  .frames = STATIC_BYTES(0, 1, 255, U2(5), U2(2), 6, 1, U2(0)),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "a constructor with two calls of super()",
	  .name = "<init>",
	  .desc = "(I)V",
	  .access = ACC_PUBLIC, /* ifeq at 1 goes to 10 */
	  .code = STATIC_BYTES(OP_ILOAD_1, OP_IFEQ, 0, 9, SUPER, OP_NOP, OP_RETURN, SUPER, OP_NOP,
			       OP_RETURN),
	  .frames = STATIC_BYTES(0, 1, 255, U2(10), U2(2), 6, 1, U2(0)),
	  .in = 2,
	  .out = 1,
	  .thrown = 1 },
	{ .label = "a constructor that only throws",
	  .name = "<init>",
	  .access = ACC_PUBLIC,
	  .code = STATIC_BYTES(SUPER, OP_ACONST_NULL, OP_ATHROW),
	  .in = 1,
	  .thrown = 1 },
	{ .label = "an initialiser",
	  .name = "<clinit>",
	  .code = STATIC_BYTES(OP_NOP, OP_RETURN),
	  .in = 1,
	  .out = 1,
	  .thrown = 1 },
};

static bool is_init(const struct body *b)
{
	return b->name && strcmp(b->name, "<init>") == 0;
}

/* Calls get the indices of their constants. */
static void patch(uint8_t *code, size_t n, const uint16_t *refs)
{
	size_t at = 0;

	while (at < n) {
		uint8_t op = code[at];

		if (op == OP_INVOKESTATIC || op == OP_INVOKESPECIAL)
			put_u16(code + at + 1, refs[code[at + 2]]);
		at += op == OP_TABLESWITCH ? 23 : op_table[op].size; /* the one in `methods` */
	}
}

/* A class with this one method. */
static struct slice make(struct class_maker *m, const char *class, uint16_t major,
			 const struct body *b)
{
	struct maker_list tables = { 0 };
	uint16_t refs[CALLS];
	uint8_t code[64];

	maker_init(m, class, major);
	CHECK_INT(maker_name(m, CONST_CLASS, "java/lang/Throwable"), THROWABLE, NULL);
	for (unsigned i = 0; i < CALLS; i++)
		refs[i] =
			maker_ref(m, CONST_METHODREF, calls[i].owner, calls[i].name, calls[i].desc);
	memcpy(code, b->code.p, b->code.n);
	patch(code, b->code.n, refs);
	if (b->frames.n && major >= 50)
		maker_attr(m, &tables, "StackMapTable", b->frames);
	maker_code(m, b->access ? b->access : ACC_STATIC, b->name ? b->name : "f",
		   b->desc ? b->desc : "()V",
		   (struct maker_code){ .code = { code, b->code.n },
					.handlers = b->handlers,
					.max_stack = 10,
					.max_locals = b->locals ? b->locals : 10,
					.tables = &tables });
	return maker_bytes(m);
}

static int load(void *ctx, struct slice path, struct slice *bytes, struct fault *f)
{
	(void)path;
	(void)f;
	*bytes = *(const struct slice *)ctx;
	return 0;
}

struct fixture {
	struct arena mem, rules_mem, work, again;
	struct class_maker template, method;
	struct slice template_bytes, bytes; /* of their classes */
	struct weaver weaver;
	struct buf out;
	bool conditional; /* the rules have `if` */
};

static int32_t a_site(void *ctx, const struct cond_site *site)
{
	(void)ctx;
	return (int32_t)site->kind;
}

static int32_t a_slot(void *ctx, struct slice name)
{
	(void)ctx;
	return (int32_t)name.n;
}

static const struct cond_numbers numbers = { .site = a_site, .slot = a_slot };

static bool open_rules(struct fixture *t, const struct body *template, const char *text)
{
	struct rule_errors errors = { 0 };
	struct fault f = { 0 };
	struct rules *rules;

	*t = (struct fixture){ 0 };
	t->template_bytes = make(&t->template, "t/T", 52, template);
	return CHECK_INT(rules_parse(&t->rules_mem, slice_str(text), "test", &rules, &errors), 0,
			 template->label) &&
	       (CHECK_INT(
			weaver_init(&t->weaver, &t->rules_mem, rules, load, &t->template_bytes, &f),
			0, template->label) ||
		CHECK_STR(f.text, "", template->label));
}

static bool open_weaver(struct fixture *t, const struct body *template)
{
	return open_rules(t, template,
			  "template own from \"own\"\n"
			  "hook **::* template own\n"
			  "hook **::<init> template own\n"
			  "hook **::<clinit> template own\n");
}

static bool open_conditional(struct fixture *t, const struct body *template)
{
	bool good = open_rules(t, template,
			       "template own from \"own\"\n"
			       "capture user = $1 at a.Other::m\n"
			       "hook **::* if $user == \"x\" or $user == 3 template own\n"
			       "hook **::<init> if $user == \"x\" template own\n"
			       "hook **::<clinit> if $user == \"x\" template own\n");

	t->conditional = true;
	return good;
}

static void close_weaver(struct fixture *t)
{
	weaver_release(&t->weaver);
	arena_release(&t->mem);
	arena_release(&t->rules_mem);
	arena_release(&t->work);
	arena_release(&t->again);
	buf_release(&t->out);
	maker_release(&t->template);
}

static unsigned count_calls(const struct code *code, enum call call)
{
	unsigned count = 0;

	for (const struct insn *n = code->start; n; n = n->next) {
		struct pool_ref ref;

		count += n->op == OP_INVOKESTATIC && pool_ref(&code->cls->pool, n->index, &ref) &&
			 slice_is(ref.owner, calls[call].owner) &&
			 slice_is(ref.name, calls[call].name);
	}
	return count;
}

/* Reads what was woven: is it well formed, well typed, and is everything there? */
static void check_woven(struct fixture *t, const struct body *template, const struct body *method,
			const char *label)
{
	unsigned ways = template->catches ? 2u : (unsigned)method->out + method->thrown;
	struct fault f = { 0 };
	struct class *cls;
	struct code *code;

	arena_reset(&t->again);
	if (!CHECK_INT(class_read(&t->again, buf_slice(&t->out), &cls, &f), 0, label))
		return;
	CHECK_INT(class_check(cls, &f), 0, label);
	if (CHECK_INT(code_elevate(cls, &cls->methods[0], &code, &f), 0, label)) {
		CHECK_INT(code_check(code, &f), 0, label);
		CHECK_INT(count_calls(code, IN), method->in * template->ins, label);
		CHECK_INT(count_calls(code, OUT), ways * template->outs, label);
		CHECK_INT(count_calls(code, BODY), 0, label);
		if (method->handlers.n) /* the method's own come first: they are inside */
			CHECK_INT(code->handlers[0].type, THROWABLE, label);
	}
	CHECK_STR(f.text, "", label);
	class_release(cls);
}

static int expected(const struct fixture *t, const struct body *template, const struct body *method,
		    uint16_t major)
{
	if (t->conditional && template->catches)
		return E_UNSUPPORTED;
	if (method->in > 1 && major < 50) /* without frames the second one cannot be told */
		return template->in_branches || template->catches ? E_MISFIT : E_NO_INIT_CALL;
	if (is_init(method) && (template->in_branches || template->catches))
		return E_MISFIT;
	if (method->odd &&
	    (template->out_branches || template->catches || (t->conditional && template->outs)))
		return E_STACK_AT_RETURN;
	return 0;
}

static void merge_as(struct fixture *t, const struct body *template, const struct body *method,
		     uint16_t major, int32_t id)
{
	struct weave_job job = { .mem = &t->mem,
				 .work = &t->work,
				 .first_id = id,
				 .numbers = t->conditional ? &numbers : NULL };
	struct fault f = { 0 };
	char label[160];

	snprintf(label, sizeof(label), "%s%s, %s, version %u", template->label,
		 t->conditional ? " behind `if`" : "", method->label, major);
	t->bytes = make(&t->method, "a/B", major, method);
	arena_reset(&t->mem);
	buf_clear(&t->out);
	if (CHECK_INT(weave_class(&t->weaver, &job, t->bytes, &t->out, &f), 0, label) &&
	    CHECK_INT(job.n_outcomes, 1, label) &&
	    CHECK_INT(job.outcomes[0].rc, expected(t, template, method, major), label)) {
		if (job.outcomes[0].rc >= 0)
			check_woven(t, template, method, label);
		else
			CHECK_INT(t->out.n, 0, label);
	}
	if (job.cls)
		class_release(job.cls);
	maker_release(&t->method);
}

static void merge_one(struct fixture *t, const struct body *template, const struct body *method,
		      uint16_t major)
{
	merge_as(t, template, method, major, 7);
}

static void merge_numbered(struct fixture *t, const struct body *template,
			   const struct body *method, int32_t id)
{
	merge_as(t, template, method, 52, id);
}

static void merge_all(bool (*open)(struct fixture *, const struct body *))
{
	static const uint16_t majors[] = { 45, 49, 50, 52, 61, 69 };

	for (size_t i = 0; i < COUNT(templates); i++) {
		struct fixture t;

		if (open(&t, &templates[i]))
			for (size_t k = 0; k < COUNT(methods); k++)
				for (size_t v = 0; v < COUNT(majors); v++)
					if (!methods[k].old || majors[v] < 50)
						merge_one(&t, &templates[i], &methods[k],
							  majors[v]);
		close_weaver(&t);
	}
}

TEST(merging_any_template_into_any_method_passes_the_checker)
{
	merge_all(open_weaver);
}

TEST(merging_any_template_behind_a_condition_passes_the_checker)
{
	merge_all(open_conditional);
}

/* The template serves again, and again the same comes out. */
TEST(merging_does_not_change_the_template)
{
	for (size_t i = 0; i < COUNT(templates); i++) {
		struct buf first = { 0 };
		struct fixture t;

		if (open_weaver(&t, &templates[i])) {
			merge_one(&t, &templates[i], &methods[8], 52);
			buf_put(&first, buf_slice(&t.out));
			for (size_t k = 0; k < COUNT(methods); k++)
				if (!methods[k].old)
					merge_one(&t, &templates[i], &methods[k], 52);
			merge_one(&t, &templates[i], &methods[8], 52);
			CHECK_MEM(t.out.p, t.out.n, first.p, first.n, templates[i].label);
		}
		buf_release(&first);
		close_weaver(&t);
	}
}

/* What is written down as bytes is the same as what is copied instruction by instruction, with
 * numbers of every size. */
static void stamp_one(struct fixture *t, const struct body *template, const struct body *method)
{
	static const int32_t ids[] = { 0, 7, 127, 128, 32767, 32768, 262143 };
	struct template *own = t->weaver.own[0];
	const bool prolog = own->prolog_plain, epilog = own->epilog_plain;

	for (size_t i = 0; i < COUNT(ids); i++) {
		struct buf stamped = { 0 };

		merge_numbered(t, template, method, ids[i]);
		buf_put(&stamped, buf_slice(&t->out));
		own->prolog_plain = own->epilog_plain = false;
		merge_numbered(t, template, method, ids[i]);
		CHECK_MEM(stamped.p, stamped.n, t->out.p, t->out.n, template->label);
		own->prolog_plain = prolog;
		own->epilog_plain = epilog;
		buf_release(&stamped);
	}
}

TEST(a_stamped_template_is_the_same_as_a_copied_one)
{
	unsigned plain = 0;

	for (size_t i = 0; i < COUNT(templates); i++) {
		struct fixture t;

		if (open_weaver(&t, &templates[i])) {
			plain += t.weaver.own[0]->prolog_plain && t.weaver.own[0]->epilog_plain;
			for (size_t k = 0; k < COUNT(methods); k++)
				if (!methods[k].old)
					stamp_one(&t, &templates[i], &methods[k]);
		}
		close_weaver(&t);
	}
	CHECK_INT(plain, 5, "templates without branches");
}

/* Memory is out at every place once: the class is not woven, and that is all. */
static void fail_everywhere(struct fixture *t, const char *label)
{
	long n = 0;

	for (;; n++) {
		struct weave_job job = { .mem = &t->mem, .work = &t->work, .first_id = 1 };
		struct fault f = { 0 };
		int rc;

		arena_release(&t->mem);
		arena_release(&t->work);
		buf_release(&t->out);
		mem_fail_at(n);
		rc = weave_class(&t->weaver, &job, t->bytes, &t->out, &f);
		mem_fail_at(-1);
		if (job.cls)
			class_release(job.cls);
		if (rc >= 0)
			break;
		if (!CHECK_INT(rc, E_NO_MEMORY, label))
			break;
		CHECK_INT(t->out.n, 0, label);
	}
	CHECK(n > 1);
}

TEST(weaving_survives_every_failed_allocation)
{
	for (size_t i = 0; i < COUNT(templates); i++) {
		struct fixture t;

		if (open_weaver(&t, &templates[i])) {
			for (size_t k = 0; k < COUNT(methods); k++) {
				if (methods[k].old)
					continue;
				t.bytes = make(&t.method, "a/B", 52, &methods[k]);
				fail_everywhere(&t, methods[k].label);
				maker_release(&t.method);
			}
		}
		close_weaver(&t);
	}
}

TEST(weaver_init_survives_every_failed_allocation)
{
	static const char text[] = "hook **::* timed\n";
	struct rule_errors errors = { 0 };
	struct arena rules_mem;
	struct rules *rules;

	arena_init(&rules_mem);
	if (CHECK_INT(rules_parse(&rules_mem, slice_str(text), "test", &rules, &errors), 0, NULL)) {
		for (long n = 0;; n++) {
			struct weaver w;
			struct arena mem;
			struct fault f = { 0 };
			int rc;

			arena_init(&mem);
			mem_fail_at(n);
			rc = weaver_init(&w, &mem, rules, NULL, NULL, &f);
			mem_fail_at(-1);
			if (rc >= 0)
				weaver_release(&w);
			arena_release(&mem);
			if (rc >= 0 || !CHECK_INT(rc, E_NO_MEMORY, NULL))
				break;
		}
	}
	arena_release(&rules_mem);
}
