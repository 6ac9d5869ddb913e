/* SPDX-License-Identifier: Apache-2.0 */
/* check_state.c - the types of locals and stack, and how a check that fails tells where. */
#include "classfile/check/check_priv.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

int check_no_memory(struct check *c)
{
	return fault_no_memory(c->fault);
}

/* An instruction that was read is named by its offset, any other by the one before it. */
const char *check_place(const struct insn *n, char out[CHECK_PLACE])
{
	bool fresh = false;

	while (n->op == OP_LABEL && n->next)
		n = n->next;
	for (; !(n->flags & INSN_READ) && n->prev; n = n->prev)
		fresh = true;
	if (n->flags & INSN_READ)
		snprintf(out, CHECK_PLACE, "%s %u", fresh ? "new code behind offset" : "offset",
			 n->old);
	else
		snprintf(out, CHECK_PLACE, "new code at the start");
	return out;
}

int check_fail(struct check *c, const char *fmt, ...)
{
	char text[160], place[CHECK_PLACE];
	const struct insn *at = c->at;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	check_place(at, place);
	if (at->op == OP_LABEL)
		return code_fault(c->code, at, c->fault, E_VERIFY, "%s: %s", place, text);
	return code_fault(c->code, at, c->fault, E_VERIFY, "%s, %s: %s", place,
			  at->op < OP_COUNT ? op_table[at->op].name : "instruction", text);
}

int check_work(struct check *c, size_t slots)
{
	c->work -= (int64_t)slots;
	if (c->work >= 0)
		return 0;
	return code_fault(c->code, c->at, c->fault, E_LIMIT,
			  "checking takes more work than is reasonable");
}

static ctype return_type_of(const struct code *code)
{
	struct slice desc = member_desc(code->cls, code->method);
	const uint8_t *close = desc.n ? memchr(desc.p, ')', desc.n) : NULL;
	size_t at = close ? (size_t)(close - desc.p) + 1 : desc.n;

	return ct_desc(&code->cls->pool, code->method->desc, &at);
}

int check_begin(struct check *c, const struct code *code, struct fault *f)
{
	size_t need = (size_t)code->max_locals + code->max_stack;

	c->code = code;
	c->cls = code->cls;
	c->pool = &code->cls->pool;
	c->fault = f;
	c->at = code->start;
	c->n_locals = c->depth = 0;
	c->infer = c->in_range = c->initialized = false;
	c->this_uninit = c->local_uninit = false;
	c->dirty = c->touched = UINT32_MAX;
	c->dirty_end = c->touched_end = 0;
	c->base = NULL;
	c->n_base = c->base_slots = c->n_matched = 0;
	c->matched = NULL;
	c->this_type = ct_class(c->pool, code->cls->this_class);
	c->return_type = return_type_of(code);
	c->work = CHECK_WORK_BASE + (int64_t)code->max_locals * CHECK_WORK_PER_LOCAL;
	c->large = NULL;
	c->locals = c->small;
	if (need > CHECK_SMALL) {
		c->locals = c->large = mem_alloc(need * sizeof(*c->large));
		if (!c->large)
			return check_no_memory(c);
	}
	c->stack = c->locals + code->max_locals;
	return 0;
}

void check_end(struct check *c)
{
	mem_free(c->large);
}

static ctype upper_of(ctype t)
{
	return t == CT_LONG ? CT_LONG2 : t == CT_DOUBLE ? CT_DOUBLE2 : CT_TOP;
}

struct types { /* half of a frame */
	const vtype *at;
	uint32_t n;
};

/* Types of a frame into slots; the slots used, or more than max when there is no room, or
 * UINT32_MAX when one of them is no type. */
static uint32_t load_types(struct check *c, struct types types, ctype *out, uint32_t max)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < types.n; i++) {
		ctype t = ct_frame(c->code, types.at[i]), upper = upper_of(t);

		if (t == CT_TOP && vt_tag(types.at[i]) != VT_TOP)
			return UINT32_MAX;
		if (used + (upper ? 2 : 1) > max)
			return max + 1;
		out[used++] = t;
		if (upper)
			out[used++] = upper;
		else if (t == CT_UNINIT_THIS || ct_kind(t) == CT_UNINIT)
			c->local_uninit = true;
	}
	return used;
}

/* Locals that are the same as those of the last frame, and have not changed since, stay. */
static void load_locals(struct check *c, const struct frame *frame)
{
	if (frame->locals == c->base && frame->n_locals == c->n_base &&
	    c->touched >= c->touched_end)
		return;
	c->local_uninit = c->this_uninit = false;
	c->n_locals = load_types(c, (struct types){ frame->locals, frame->n_locals }, c->locals,
				 c->code->max_locals);
	c->work -= frame->n_locals;
	c->base = frame->locals;
	c->n_base = frame->n_locals;
	c->base_slots = c->n_locals;
	c->touched = UINT32_MAX;
	c->touched_end = 0;
	c->matched = NULL;
	if (c->n_locals > c->code->max_locals)
		return;
	for (uint32_t i = 0; i < c->n_locals && c->local_uninit; i++)
		c->this_uninit |= c->locals[i] == CT_UNINIT_THIS;
}

int check_load_frame(struct check *c, const struct frame *frame)
{
	bool local_uninit = c->local_uninit;

	c->depth = load_types(c, (struct types){ frame->stack, frame->n_stack }, c->stack,
			      c->code->max_stack);
	c->local_uninit = local_uninit;
	load_locals(c, frame);
	if (c->depth == UINT32_MAX || c->n_locals == UINT32_MAX)
		return code_fault(c->code, c->at, c->fault, E_FRAME,
				  "a frame names a class or a new instruction that is none");
	if (c->depth > c->code->max_stack || c->n_locals > c->code->max_locals)
		return code_fault(
			c->code, c->at, c->fault, E_FRAME,
			"a frame needs more than the %u locals or %u stack slots of the method",
			c->code->max_locals, c->code->max_stack);
	c->dirty = 0;
	c->dirty_end = c->code->max_locals;
	return check_work(c, frame->n_stack);
}

/* ---- stack ---- */

int check_overflow(struct check *c)
{
	return check_fail(c, "the stack would be deeper than max_stack, %u", c->code->max_stack);
}

int check_bad_pop(struct check *c, const char *want)
{
	char found[CT_TEXT];
	ctype t;

	if (!c->depth)
		return check_fail(c, "wants %s on the stack, which is empty", want);
	t = c->stack[c->depth - 1];
	if (ct_is_upper(t))
		t = t == CT_LONG2 ? CT_LONG : CT_DOUBLE;
	return check_fail(c, "wants %s on the stack, finds %s", want, ct_text(c->pool, t, found));
}

int check_bad_prim(struct check *c, ctype t)
{
	char want[CT_TEXT];

	return check_bad_pop(c, ct_text(c->pool, t, want));
}

int check_pop(struct check *c, ctype t)
{
	char want[CT_TEXT];

	if (ct_kind(t) <= CT_DOUBLE2)
		return check_pop_prim(c, t);
	if (!c->depth || !ct_assignable(c->cls, c->stack[c->depth - 1], t))
		return check_bad_pop(c, ct_text(c->pool, t, want));
	c->depth--;
	return 0;
}

int check_pop_any(struct check *c, ctype *out)
{
	if (!c->depth || !ct_is_reference(c->stack[c->depth - 1]))
		return check_bad_pop(c, "a reference");
	*out = c->stack[--c->depth];
	return 0;
}

/* ---- locals ---- */

int check_bad_local(struct check *c, uint32_t slot, const char *want)
{
	char found[CT_TEXT];

	if (slot >= c->code->max_locals)
		return check_fail(c, "local %u is beyond max_locals, %u", slot,
				  c->code->max_locals);
	return check_fail(c, "wants %s in local %u, finds %s", want, slot,
			  ct_text(c->pool, slot < c->n_locals ? c->locals[slot] : CT_TOP, found));
}

void check_mark_dirty(struct check *c, uint32_t from, uint32_t to)
{
	c->dirty = from < c->dirty ? from : c->dirty;
	c->dirty_end = to > c->dirty_end ? to : c->dirty_end;
	c->touched = from < c->touched ? from : c->touched;
	c->touched_end = to > c->touched_end ? to : c->touched_end;
	c->matched = NULL;
}

int check_set_local(struct check *c, uint32_t slot, ctype t)
{
	ctype upper = upper_of(t);
	uint32_t end = slot + (upper ? 2 : 1);
	uint32_t from = slot;

	if (end > c->code->max_locals)
		return check_bad_local(c, end - 1, "");
	if (end > c->n_locals) {
		int rc = check_work(c, end - c->n_locals);

		if (rc < 0)
			return rc;
		while (c->n_locals < end)
			c->locals[c->n_locals++] = CT_TOP;
	}
	/* What is left of a long or double that is half overwritten is of no use. */
	if (ct_is_upper(c->locals[slot]))
		c->locals[--from] = CT_TOP;
	if (end < c->n_locals && ct_is_upper(c->locals[end]))
		c->locals[end++] = CT_TOP;
	c->locals[slot] = t;
	if (upper)
		c->locals[slot + 1] = upper;
	check_mark_dirty(c, from, end);
	return 0;
}

int check_catch_type(struct check *c, const struct handler *h, ctype *out)
{
	char text[CT_TEXT];

	*out = h->type ? ct_class(c->pool, h->type) : ct_known(CT_THROWABLE);
	if (*out != CT_TOP && ct_assignable(c->cls, *out, ct_known(CT_THROWABLE)))
		return 0;
	c->at = h->handler;
	return check_fail(c, "exception handler catches %s, which is not a Throwable",
			  ct_text(c->pool, *out, text));
}
