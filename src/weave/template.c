/* SPDX-License-Identifier: Apache-2.0 */
/* template.c - reading a template and making sure that it can be merged.
 *
 * What is checked, before any class is touched:
 *  - the method is static ()V, and every path from its start to a return passes the sentinel
 *    exactly once, with an empty stack;
 *  - what belongs to the prolog lies before the sentinel, the rest behind it;
 *  - `this` and the arguments are asked for in the prolog (later the target may have used their
 *    places for something else), result and exception in the epilog;
 *  - a handler around the sentinel throws in the end, since there is nothing to return;
 *  - no invokedynamic: it would need a bootstrap method in the target. */
#include "weave/template.h"

#include "classfile/check/check.h"
#include "classfile/insn.h"
#include "weave/glob.h"

static const struct {
	const char *name, *desc;
} here_calls[HERE_COUNT] = {
	[HERE_BODY] = { "body", "()V" },
	[HERE_ID] = { "id", "()I" },
	[HERE_METHOD] = { "method", "()Ljava/lang/String;" },
	[HERE_SELF] = { "self", "()Ljava/lang/Object;" },
	[HERE_ARG] = { "arg", "(I)Ljava/lang/Object;" },
	[HERE_INT_ARG] = { "intArg", "(I)I" },
	[HERE_LONG_ARG] = { "longArg", "(I)J" },
	[HERE_FLOAT_ARG] = { "floatArg", "(I)F" },
	[HERE_DOUBLE_ARG] = { "doubleArg", "(I)D" },
	[HERE_ARGS] = { "args", "()[Ljava/lang/Object;" },
	[HERE_RESULT] = { "result", "()Ljava/lang/Object;" },
	[HERE_INT_RESULT] = { "intResult", "()I" },
	[HERE_LONG_RESULT] = { "longResult", "()J" },
	[HERE_VALUE] = { "value", "()Ljava/lang/Object;" },
	[HERE_THROWN] = { "thrown", "()Ljava/lang/Throwable;" },
};

static int refuse(const struct template *t, struct fault *f, const char *why)
{
	return fault_set(f, E_TEMPLATE, -1, "template %.*s: %s", SLICE_FMT(t->name), why);
}

static struct insn *find_sentinel(const struct class *cls, const struct code *code)
{
	for (struct insn *n = code->start; n; n = n->next) {
		struct pool_ref ref;

		if (n->op == OP_INVOKESTATIC && pool_ref(&cls->pool, n->index, &ref) &&
		    slice_is(ref.owner, HERE_CLASS) && slice_is(ref.name, "body"))
			return n;
	}
	return NULL;
}

/* The method that is meant: by name, or the only one with a sentinel. */
static int find_method(struct template *t, struct class *cls, struct slice name, struct fault *f)
{
	for (uint32_t i = 0; i < cls->n_methods; i++) {
		struct member *m = &cls->methods[i];
		struct insn *sentinel;
		struct code *code;
		int rc;

		if (!m->code.p || (name.n && !slice_eq(member_name(cls, m), name)))
			continue;
		rc = code_elevate(cls, m, &code, f);
		if (rc >= 0)
			rc = code_check(code, f);
		if (rc < 0)
			return rc;
		sentinel = find_sentinel(cls, code);
		if (!sentinel)
			continue;
		if (t->code)
			return refuse(t, f,
				      "several methods call Here.body(); name the one to use");
		t->code = code;
		t->sentinel = sentinel;
	}
	if (!t->code)
		return refuse(t, f, "no method calls sonde.Here.body()");
	if (!(t->code->method->access & ACC_STATIC) ||
	    !slice_is(member_desc(cls, t->code->method), "()V"))
		return refuse(t, f, "the method must be static, without arguments and void");
	return 0;
}

static bool constant_of(const struct insn *n, uint16_t *value)
{
	if (n->op >= OP_ICONST_0 && n->op <= OP_ICONST_5)
		*value = (uint16_t)(n->op - OP_ICONST_0);
	else if ((n->op == OP_BIPUSH || n->op == OP_SIPUSH) && n->arg >= 0)
		*value = (uint16_t)n->arg;
	else
		return false;
	return true;
}

static int here_of(const struct pool_ref *ref)
{
	for (int i = 0; i < HERE_COUNT; i++)
		if (slice_is(ref->name, here_calls[i].name) &&
		    slice_is(ref->desc, here_calls[i].desc))
			return i;
	return -1;
}

static bool wants_number(int here)
{
	return here >= HERE_ARG && here <= HERE_DOUBLE_ARG;
}

static bool wants_result(int here)
{
	return here >= HERE_RESULT && here <= HERE_LONG_RESULT;
}

/* Turns a call of sonde.Here into a marked node. */
static int mark_here(struct template *t, struct insn *n, const struct pool_ref *ref,
		     struct fault *f)
{
	int here = here_of(ref);
	uint16_t number = 0;

	if (here < 0)
		return fault_set(f, E_TEMPLATE, -1, "template %.*s: sonde.Here has no %.*s%.*s",
				 SLICE_FMT(t->name), SLICE_FMT(ref->name), SLICE_FMT(ref->desc));
	if (wants_number(here)) {
		if (!constant_of(n->prev, &number) || number == 0)
			return refuse(t, f,
				      "the number of an argument must be a constant from 1 on");
		insn_remove(t->code, n->prev);
	}
	if (here == HERE_BODY && n != t->sentinel)
		return refuse(t, f, "Here.body() is called more than once");
	t->wants_result |= wants_result(here);
	t->wants_thrown |= here == HERE_THROWN;
	t->wants_args |= wants_number(here) || here == HERE_ARGS || here == HERE_VALUE;
	n->flags = INSN_MARKED;
	n->size = 0;
	n->arg = (int16_t)here;
	n->index = number;
	return 0;
}

static int mark_calls(struct template *t, struct fault *f)
{
	const struct pool *pool = &t->code->cls->pool;

	for (struct insn *n = t->code->start; n; n = n->next) {
		struct pool_ref ref;
		int rc;

		n->pc = STAND_UNKNOWN;
		if (n->op == OP_INVOKEDYNAMIC || (n->op >= OP_LDC && n->op <= OP_LDC2_W &&
						  pool_is(pool, n->index, TAGS(CONST_DYNAMIC))))
			return refuse(t, f,
				      "invokedynamic and dynamic constants (lambdas, string "
				      "concatenation of Java 9 and later) cannot be merged");
		if (n->op == OP_JSR || n->op == OP_JSR_W || n->op == OP_RET)
			return refuse(t, f, "jsr and ret cannot be merged");
		if (n->op != OP_INVOKESTATIC || !pool_ref(pool, n->index, &ref) ||
		    !slice_is(ref.owner, HERE_CLASS))
			continue;
		rc = mark_here(t, n, &ref, f);
		if (rc < 0)
			return rc;
	}
	t->first = t->code->start;
	t->last = t->code->end;
	return 0;
}

static void need_label(struct template *t, struct insn *label)
{
	if (label->flags & INSN_ANCHORED)
		return;
	label->flags |= INSN_ANCHORED;
	label->index = t->n_labels++;
}

/* Labels that something points at have INSN_ANCHORED and a number; others are not copied. */
static void number_labels(struct template *t)
{
	struct code *code = t->code;

	for (struct insn *n = code->start; n; n = n->next)
		if (n->op == OP_LABEL)
			n->flags = 0;
	for (struct insn *n = code->start; n; n = n->next) {
		if (n->op == OP_LABEL && n->frame)
			need_label(t, n);
		if (op_is_branch(n->op))
			need_label(t, n->target);
		if (op_is_switch(n->op)) {
			need_label(t, n->sw->other);
			for (uint32_t i = 0; i < n->sw->n; i++)
				need_label(t, n->sw->cases[i].target);
		}
	}
	for (uint32_t i = 0; i < code->n_handlers; i++) {
		need_label(t, code->handlers[i].start);
		need_label(t, code->handlers[i].end);
		need_label(t, code->handlers[i].handler);
	}
}

struct flow {
	struct template *t;
	struct fault *fault;
	bool changed;
};

/* Control reaches n with this stand. */
static int reach(struct flow *w, struct insn *n, uint32_t stand)
{
	if (n->pc == stand)
		return 0;
	if (n->pc != STAND_UNKNOWN)
		return refuse(w->t, w->fault,
			      n->pc + stand == STAND_AFTER + STAND_THROWN
				      ? "normal and exceptional exits meet; let the handler throw"
				      : "Here.body() is not called exactly once on every path");
	n->pc = stand;
	w->changed = true;
	return 0;
}

static int flow_from(struct flow *w, struct insn *n)
{
	uint32_t stand = n->pc;
	int rc = 0;

	if (n == w->t->sentinel) {
		if (stand != STAND_BEFORE)
			return refuse(w->t, w->fault,
				      "Here.body() is called more than once on a path");
		stand = STAND_AFTER;
	}
	if (op_is_return(n->op)) {
		if (stand == STAND_BEFORE)
			return refuse(w->t, w->fault, "returns before Here.body() is called");
		if (stand == STAND_THROWN)
			return refuse(w->t, w->fault,
				      "returns from a handler around Here.body(); "
				      "the exception must be thrown on");
		return 0;
	}
	if (op_is_branch(n->op))
		rc = reach(w, n->target, stand);
	if (op_is_switch(n->op)) {
		rc = reach(w, n->sw->other, stand);
		for (uint32_t i = 0; i < n->sw->n && rc >= 0; i++)
			rc = reach(w, n->sw->cases[i].target, stand);
	}
	if (rc >= 0 && n->next && !op_ends_block(n->op))
		rc = reach(w, n->next, stand);
	return rc;
}

static bool covers(const struct handler *h, const struct insn *n)
{
	for (const struct insn *i = h->start; i && i != h->end; i = i->next)
		if (i == n)
			return true;
	return false;
}

/* A handler around the sentinel is reached with the exception of the body; another one as the
 * code that it covers. */
static int flow_handlers(struct flow *w)
{
	const struct code *code = w->t->code;

	for (uint32_t i = 0; i < code->n_handlers; i++) {
		const struct handler *h = &code->handlers[i];
		uint32_t stand = STAND_UNKNOWN;
		int rc;

		if (covers(h, w->t->sentinel))
			stand = STAND_THROWN;
		for (struct insn *n = h->start; n != h->end && !stand; n = n->next)
			stand = n->pc;
		if (stand == STAND_UNKNOWN)
			continue;
		if (covers(h, w->t->sentinel))
			w->t->catches = w->t->sees_to[i] = true;
		rc = reach(w, h->handler, stand);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_flow(struct template *t, struct fault *f)
{
	struct flow w = { t, f, true };

	t->sees_to = arena_zero(t->code->mem, t->code->n_handlers + 1);
	if (!t->sees_to)
		return fault_no_memory(f);
	t->first->pc = STAND_BEFORE;
	while (w.changed) {
		int rc;

		w.changed = false;
		for (struct insn *n = t->first; n; n = n->next) {
			rc = n->pc == STAND_UNKNOWN ? 0 : flow_from(&w, n);
			if (rc < 0)
				return rc;
		}
		rc = flow_handlers(&w);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_here(const struct template *t, const struct insn *n, struct fault *f)
{
	int here = n->arg;
	bool of_entry = here == HERE_SELF || here == HERE_ARGS || here == HERE_VALUE ||
			wants_number(here);

	if (of_entry && n->pc != STAND_BEFORE)
		return refuse(t, f,
			      "`this` and arguments can be had before Here.body() only; keep "
			      "them in a variable");
	if ((wants_result(here) || here == HERE_THROWN) && n->pc != STAND_AFTER)
		return refuse(t, f,
			      n->pc == STAND_THROWN
				      ? "a handler has the exception in its own variable"
				      : "result and exception can be had after Here.body() only");
	return 0;
}

/* Does the prolog lie before the sentinel and all else behind it, and what is in them? */
static int check_order(struct template *t, struct fault *f)
{
	bool behind = false;

	t->epilog_empty = !t->catches;
	for (struct insn *n = t->first; n; n = n->next) {
		int rc = 0;

		if (n == t->sentinel) {
			behind = true;
			continue;
		}
		if (n->pc != STAND_UNKNOWN && (n->pc == STAND_BEFORE) == behind && n != t->last)
			return refuse(t, f,
				      "code of the prolog lies behind Here.body(), or code of "
				      "the epilog before it");
		if (n->op == OP_LABEL && n->frame) {
			t->prolog_framed |= !behind;
			t->epilog_framed |= n->pc == STAND_AFTER;
			for (unsigned i = 0; i < n->frame->n_locals; i++)
				if (vt_tag(n->frame->locals[i]) == VT_UNINIT)
					return refuse(t, f, "a branch while an object is made");
		}
		if (n->flags & INSN_MARKED)
			rc = check_here(t, n, f);
		if (rc < 0)
			return rc;
		if (behind && n->op != OP_LABEL && !op_is_return(n->op))
			t->epilog_empty = false;
	}
	return 0;
}

/* The frame at the sentinel: nothing on the stack, and the locals that live across it. */
static int find_frame(struct template *t, struct fault *f)
{
	struct insn *label = insn_before(t->code, t->sentinel, insn_label(t->code));
	int rc;

	if (!label)
		return fault_no_memory(f);
	rc = check_frames_at(t->code, &label, 1, f);
	if (rc < 0)
		return rc;
	t->at_body = *label->frame;
	label->frame = NULL;
	if (t->at_body.n_stack)
		return refuse(t, f, "the stack is not empty where Here.body() is called");
	while (t->at_body.n_locals && t->at_body.locals[t->at_body.n_locals - 1] == VT_TOP)
		t->at_body.n_locals--;
	for (unsigned i = 0; i < t->at_body.n_locals; i++)
		if (vt_tag(t->at_body.locals[i]) == VT_UNINIT)
			return refuse(t, f, "an object is being made where Here.body() is called");
	t->n_locals = t->code->max_locals;
	return 0;
}

/* In java.base, which every class sees.  The other modules' java.* are not in the boot loader, or
 * not read by every module. */
static bool is_everywhere(struct slice name)
{
	static const char list[] =
		"java/lang/* java/io/* java/net/* java/nio/* java/util/* java/math/* "
		"java/text/* java/time/* java/security/*";
	static const char others[] =
		"java/lang/instrument/* java/lang/management/* java/net/http/* "
		"java/util/logging/* java/util/prefs/*";

	return glob_text(list, name) && !glob_text(others, name);
}

/* The class in the pool's entry i, of an array its elements' class; or that of a member. */
static struct slice class_at(const struct pool *pool, uint16_t i)
{
	struct slice name = { NULL, 0 };
	struct pool_ref ref;

	if (pool_ref(pool, i, &ref))
		name = ref.owner;
	else if (pool_tag(pool, i) == CONST_CLASS)
		name = pool_name(pool, i);
	while (name.n && name.p[0] == '[')
		name = (struct slice){ name.p + 1, name.n - 1 };
	if (name.n && name.p[name.n - 1] == ';')
		return (struct slice){ name.p + 1, name.n - 2 };
	return name.n > 1 ? name : (struct slice){ NULL, 0 }; /* [I has no class */
}

static void add_foreign(struct template *t, uint16_t index)
{
	struct slice name = class_at(&t->code->cls->pool, index);

	if (!name.n || is_everywhere(name))
		return;
	for (uint32_t i = 0; i < t->n_foreign; i++)
		if (slice_eq(t->foreign[i], name))
			return;
	t->foreign[t->n_foreign++] = name;
}

/* Instructions whose constants older classes may not have (JVMS 4.4-C, 4.10.1.9). */
static uint16_t min_major_of(const struct pool *pool, const struct insn *n)
{
	if (op_is_invoke(n->op) && n->op != OP_INVOKEINTERFACE &&
	    pool_tag(pool, n->index) == CONST_INTERFACE_METHODREF)
		return 52;
	if (n->op != OP_LDC && n->op != OP_LDC_W)
		return 0;
	if (pool_is(pool, n->index, TAGS(CONST_METHOD_HANDLE) | TAGS(CONST_METHOD_TYPE)))
		return 51;
	return pool_tag(pool, n->index) == CONST_CLASS ? 49 : 0;
}

/* The classes that the code will resolve in its target, and that need not be there; and how old
 * the target may be. */
static int find_needs(struct template *t, struct fault *f)
{
	const struct code *code = t->code;
	const struct pool *pool = &code->cls->pool;

	t->foreign = arena_alloc(code->mem, code->cls->pool.n * sizeof(*t->foreign));
	if (!t->foreign)
		return fault_no_memory(f);
	for (const struct insn *n = t->first; n; n = n->next) {
		if (n->flags & INSN_MARKED || n->op == OP_LABEL)
			continue;
		switch (op_table[n->op].format) {
		case OP_FORMAT_POOL1:
		case OP_FORMAT_POOL2:
		case OP_FORMAT_IFACE:
		case OP_FORMAT_MULTI:
			add_foreign(t, n->index);
		}
		if (min_major_of(pool, n) > t->min_major)
			t->min_major = min_major_of(pool, n);
	}
	for (uint32_t i = 0; i < code->n_handlers; i++)
		add_foreign(t, code->handlers[i].type);
	return 0;
}

static bool asks_id(const struct insn *n)
{
	return n->flags & INSN_MARKED && n->arg == HERE_ID;
}

/* Can all of this stretch of a template (first included, last not) be stamped: no branches, and no
 * questions but the simple ones?  Asked once, when the template is read. */
static bool can_be_stamped(const struct insn *first, const struct insn *last)
{
	for (const struct insn *n = first; n != last; n = n->next) {
		if (n->op == OP_LABEL) {
			if (n->flags & INSN_ANCHORED)
				return false;
			continue;
		}
		if (n->flags & INSN_MARKED) {
			if (n->arg != HERE_ID && n->arg != HERE_THROWN && n->arg != HERE_SELF)
				return false;
			continue;
		}
		switch (op_table[n->op].format) {
		case OP_FORMAT_NONE:
		case OP_FORMAT_LOCAL0:
		case OP_FORMAT_LOCAL:
		case OP_FORMAT_S1:
		case OP_FORMAT_S2:
		case OP_FORMAT_NEWARRAY:
		case OP_FORMAT_POOL1:
		case OP_FORMAT_POOL2:
		case OP_FORMAT_IFACE:
		case OP_FORMAT_MULTI:
			break;
		default:
			return false;
		}
	}
	return true;
}

static bool is_id_first(const struct template *t)
{
	const struct insn *first = t->first;
	unsigned times = 0;

	while (first != t->sentinel && first->op == OP_LABEL)
		first = first->next;
	for (const struct insn *n = t->first; n; n = n->next)
		times += asks_id(n);
	return t->prolog_plain && times == 1 && asks_id(first);
}

/* What speeds up merging. */
static void find_shape(struct template *t)
{
	for (const struct insn *n = t->first; n; n = n->next)
		t->n_insns++;
	t->prolog_plain = !t->code->n_handlers && can_be_stamped(t->first, t->sentinel);
	t->id_first = is_id_first(t);
	t->epilog_plain = !t->code->n_handlers && can_be_stamped(t->sentinel->next, NULL);
	t->n_in_pool = t->code->cls->pool.n;
}

int template_read(struct arena *mem, struct slice bytes, struct slice method, struct template **out,
		  struct fault *f)
{
	struct template *t = arena_zero(mem, sizeof(*t));
	struct class *cls;
	int rc;

	if (!t)
		return fault_no_memory(f);
	rc = class_read(mem, bytes, &cls, f);
	if (rc < 0)
		return rc;
	t->name = class_name(cls);
	if (cls->major < 51) /* frames could be missing */
		rc = refuse(t, f, "the class file is older than version 51 (Java 7)");
	if (rc >= 0)
		rc = find_method(t, cls, method, f);
	if (rc >= 0)
		rc = find_frame(t, f);
	if (rc >= 0)
		rc = mark_calls(t, f);
	if (rc >= 0)
		number_labels(t);
	if (rc >= 0)
		rc = check_flow(t, f);
	if (rc >= 0)
		rc = check_order(t, f);
	if (rc >= 0)
		rc = find_needs(t, f);
	if (rc < 0) {
		class_release(cls);
		return rc;
	}
	find_shape(t);
	*out = t;
	return 0;
}

void template_release(struct template *t)
{
	if (t)
		class_release(t->code->cls);
}

/* What was added to the pool came from a template and tells nothing of the class. */
static bool class_names(const struct class *cls, struct slice name)
{
	for (uint32_t i = 1; i < cls->pool.read; i++)
		if (pool_tag(&cls->pool, i) == CONST_CLASS &&
		    slice_eq(pool_name(&cls->pool, i), name))
			return true;
	return false;
}

static bool mentions(struct slice desc, struct slice name)
{
	for (size_t i = 0; i + name.n + 2 <= desc.n; i++)
		if (desc.p[i] == 'L' && desc.p[i + 1 + name.n] == ';' &&
		    memcmp(desc.p + i + 1, name.p, name.n) == 0)
			return true;
	return false;
}

/* Its loader must have resolved, or will have to resolve, what the class itself names: in a Class
 * entry or in the descriptor of one of its methods. */
static bool sees(const struct class *cls, struct slice name)
{
	if (class_names(cls, name))
		return true;
	for (uint32_t i = 0; i < cls->n_methods; i++)
		if (mentions(member_desc(cls, &cls->methods[i]), name))
			return true;
	return false;
}

struct slice template_invisible(const struct template *t, const struct class *cls)
{
	for (uint32_t i = 0; i < t->n_foreign; i++)
		if (!sees(cls, t->foreign[i]))
			return t->foreign[i];
	return (struct slice){ NULL, 0 };
}
