/* SPDX-License-Identifier: Apache-2.0 */
/* graft.c - copying a template's part into a method.
 *
 * Each copied node is marked, so that a listing can tell the template's part from the method's.
 * The marked nodes of the template itself are its questions to sonde.Here: they are answered
 * in graft_here.c, with what is known of the method. */
#define _GNU_SOURCE
#include "weave/graft_priv.h"

#include "classfile/desc.h"
#include "classfile/insn.h"
#include "weave/stamp.h"

/* What stands behind the last parenthesis; frame_first has seen that there is one. */
static struct slice return_type(struct slice desc)
{
	const uint8_t *p = memrchr(desc.p, ')', desc.n);
	struct slice type = { p + 1, p ? (size_t)(desc.p + desc.n - p) - 1 : 0 };

	return type.n && (type.p[0] == 'V' || desc_field_len(type) == type.n) ? type
									      : (struct slice){ 0 };
}

int graft_init(struct graft *g, struct code *code, const struct merge *m, struct fault *f)
{
	const struct template *t = m->template;
	struct slice desc = member_desc(code->cls, code->method);

	*g = (struct graft){ .code = code,
			     .template = t,
			     .seen = m->seen,
			     .id = m->id,
			     .merge = m,
			     .own_id = m->own_id,
			     .brief = m->own_id && m->brief && t->id_first && !m->cond,
			     .throwable_index = m->throwable,
			     .depths = m->depths,
			     .fault = f,
			     .flagged = m->cond && m->passes_by && !t->epilog_empty,
			     .result = return_type(desc) };
	g->result_slots = (uint8_t)desc_slots(g->result);
	g->base = (uint16_t)(code->max_locals + (g->flagged ? 1 : 0));
	g->late = m->cond && cond_is_late(m->cond);
	g->epilog_branches = t->epilog_framed || g->late || g->flagged;
	g->keep_result = g->result_slots && (g->epilog_branches || t->wants_result);
	g->keep_thrown = g->epilog_branches || t->wants_thrown;
	g->max_locals = (uint32_t)code->max_locals + (g->flagged ? 1 : 0) + t->n_locals;
	g->kept = (uint16_t)g->max_locals;
	if (g->keep_result || g->keep_thrown)
		g->max_locals += g->keep_result && g->result_slots > 1 ? 2 : 1;
	if (!g->result.n)
		return code_fault(code, NULL, f, E_DESCRIPTOR, "malformed descriptor");
	if (code->cls->major < t->min_major)
		return code_fault(code, NULL, f, E_MISFIT,
				  "the template needs a class file of version %u", t->min_major);
	if (g->max_locals > 65535)
		return code_fault(code, NULL, f, E_TOO_LARGE, "no room for more local variables");
	g->twins = arena_alloc(code->mem, t->n_labels * sizeof(*g->twins));
	if (!g->twins)
		return fault_no_memory(f);
	graft_reset(g);
	return 0;
}

void graft_reset(struct graft *g)
{
	memset(g->twins, 0, g->template->n_labels * sizeof(*g->twins));
}

static struct insn *twin(struct graft *g, const struct insn *label)
{
	struct insn **t = &g->twins[label->index];

	if (!*t) {
		*t = insn_label(g->code);
		if (!*t)
			graft_fail(g, E_NO_MEMORY);
	}
	return *t;
}

/* ---- frames ---- */

vtype graft_result_type(const struct graft *g)
{
	struct slice desc = member_desc(g->code->cls, g->code->method);

	switch (g->result.p[0]) {
	case 'J':
		return VT_LONG;
	case 'F':
		return VT_FLOAT;
	case 'D':
		return VT_DOUBLE;
	case 'L':
	case '[':
		return vt(VT_OBJECT, VT_DESC + (uint32_t)(g->result.p - desc.p));
	default:
		return VT_INT;
	}
}

static vtype import_type(struct graft *g, vtype t)
{
	int index;

	if (vt_tag(t) != VT_OBJECT)
		return t;
	index = pool_import(&g->code->cls->pool, &g->template->code->cls->pool, vt_value(t),
			    g->seen);
	if (index < 0)
		graft_fail(g, index);
	return index < 0 ? VT_TOP : vt(VT_OBJECT, (uint32_t)index);
}

static unsigned type_slots(vtype t)
{
	return vt_tag(t) == VT_LONG || vt_tag(t) == VT_DOUBLE ? 2 : 1;
}

/* Adds n types; returns the slots they take. */
static unsigned add_types(vtype *to, uint16_t *at, const vtype *from, unsigned n)
{
	unsigned slots = 0;

	for (unsigned i = 0; i < n; i++) {
		to[(*at)++] = from[i];
		slots += type_slots(from[i]);
	}
	return slots;
}

static void add_tops(vtype *to, uint16_t *at, unsigned have, unsigned want)
{
	for (; have < want; have++)
		to[(*at)++] = VT_TOP;
}

struct frame *graft_frame(struct graft *g, const struct frame *method, const struct frame *own,
			  enum graft_way kept)
{
	struct frame *f = arena_zero(g->code->mem, sizeof(*f));
	size_t room = (size_t)g->max_locals + 2;
	vtype *locals = arena_alloc(g->code->mem, room * sizeof(*locals));
	bool more = own->n_locals || kept || g->flagged;
	unsigned slots = 0, own_slots = 0;

	if (!f || !locals) {
		graft_fail(g, E_NO_MEMORY);
		return NULL;
	}
	if (method)
		slots = add_types(locals, &f->n_locals, method->locals, method->n_locals);
	if (more)
		add_tops(locals, &f->n_locals, slots, g->base - (g->flagged ? 1u : 0u));
	if (g->flagged)
		locals[f->n_locals++] = VT_INT;
	for (unsigned i = 0; i < own->n_locals; i++) {
		vtype t = import_type(g, own->locals[i]);

		own_slots += add_types(locals, &f->n_locals, &t, 1);
	}
	if (kept) {
		add_tops(locals, &f->n_locals, own_slots, g->template->n_locals);
		locals[f->n_locals++] = kept == GRAFT_THROW ? g->throwable : graft_result_type(g);
	}
	arena_trim(g->code->mem, locals, room * sizeof(*locals), f->n_locals * sizeof(*locals));
	f->locals = locals;
	return g->rc < 0 ? NULL : f;
}

/* The template's frame at a label, as it has to be in the method. */
static int copy_frame(struct graft *g, const struct insn *from, struct insn *to,
		      const struct frame *entry, enum graft_way way)
{
	const struct frame *own = from->frame;
	vtype *stack;
	struct frame *f;

	if (g->code->cls->major < 50)
		return 0;
	if (from->pc != STAND_AFTER || (way == GRAFT_RETURN && !g->keep_result))
		way = GRAFT_NO_EXTRA;
	f = graft_frame(g, entry, own, way);
	stack = arena_alloc(g->code->mem, (own->n_stack + 1u) * sizeof(*stack));
	if (!f || !stack)
		return graft_fail(g, E_NO_MEMORY);
	for (unsigned i = 0; i < own->n_stack; i++)
		stack[i] = import_type(g, own->stack[i]);
	f->stack = stack;
	f->n_stack = own->n_stack;
	to->frame = f;
	return g->rc;
}

/* ---- instructions ---- */

/* What the template's own return becomes. */
static void put_exit(struct graft *g, struct insn *place, enum graft_way way)
{
	if (way == GRAFT_THROW) {
		if (g->keep_thrown)
			graft_put(g, place, insn_local(g->code, OP_ALOAD, g->kept));
		graft_put_op(g, place, OP_ATHROW);
		return;
	}
	if (g->keep_result)
		graft_put_load(g, place, g->result, g->kept);
	graft_put_op(g, place,
		     g->result_slots ? (uint8_t)(OP_IRETURN + graft_kind_of(g->result))
				     : OP_RETURN);
}

static int copy_switch(struct graft *g, struct insn *n)
{
	size_t size = sizeof(*n->sw) + n->sw->n * sizeof(n->sw->cases[0]);

	n->sw = arena_copy(g->code->mem, n->sw, size);
	if (!n->sw)
		return graft_fail(g, E_NO_MEMORY);
	n->sw->other = twin(g, n->sw->other);
	for (uint32_t i = 0; i < n->sw->n; i++)
		n->sw->cases[i].target = twin(g, n->sw->cases[i].target);
	return g->rc;
}

/* An ordinary instruction of the template. */
static void copy_insn(struct graft *g, struct insn *place, const struct insn *from)
{
	struct insn *n = arena_copy(g->code->mem, from, sizeof(*from));
	uint8_t format = op_table[from->op].format;
	int index;

	if (!n) {
		graft_fail(g, E_NO_MEMORY);
		return;
	}
	n->flags &= INSN_WIDE;
	n->size = 0;
	n->pc = 0;
	switch (format) {
	case OP_FORMAT_POOL1:
	case OP_FORMAT_POOL2:
	case OP_FORMAT_IFACE:
	case OP_FORMAT_MULTI:
		index = pool_import(&g->code->cls->pool, &g->template->code->cls->pool, n->index,
				    g->seen);
		if (index < 0)
			graft_fail(g, index);
		n->index = (uint16_t)index;
		break;
	case OP_FORMAT_LOCAL0:
		n = insn_local(g->code,
			       (uint8_t)(n->op < OP_ISTORE ? OP_ILOAD + (n->op - OP_ILOAD_0) / 4
							   : OP_ISTORE + (n->op - OP_ISTORE_0) / 4),
			       (uint16_t)(g->base + n->index));
		break;
	case OP_FORMAT_LOCAL:
	case OP_FORMAT_IINC:
		n->index = (uint16_t)(g->base + n->index);
		n->flags = 0;
		break;
	case OP_FORMAT_BR2:
	case OP_FORMAT_BR4:
		n->target = twin(g, n->target);
		break;
	case OP_FORMAT_TSWITCH:
	case OP_FORMAT_LSWITCH:
		copy_switch(g, n);
		break;
	default:
		break;
	}
	graft_put(g, place, n);
}

static int copy_stretch(struct graft *g, struct insn *place, const struct insn *from,
			const struct insn *to, const struct frame *entry, enum graft_way way)
{
	for (; from != to && g->rc >= 0; from = from->next) {
		if (from->op == OP_LABEL) {
			struct insn *label;

			if (!(from->flags & INSN_ANCHORED))
				continue;
			label = twin(g, from);
			if (!label)
				break;
			insn_before(g->code, place, label);
			if (from->frame)
				copy_frame(g, from, label, entry, way);
		} else if (from->flags & INSN_MARKED) {
			graft_put_here(g, place, from, way);
		} else if (op_is_return(from->op)) {
			put_exit(g, place, way);
		} else {
			copy_insn(g, place, from);
		}
	}
	return g->rc;
}

static bool is_between(const struct insn *n, const struct insn *from, const struct insn *to)
{
	for (; from && from != to; from = from->next)
		if (from == n)
			return true;
	return false;
}

/* The handlers of the template that lie within what was just copied. */
static int copy_handlers(struct graft *g, const struct insn *from, const struct insn *to)
{
	const struct template *t = g->template;

	for (uint32_t i = 0; i < t->code->n_handlers && g->rc >= 0; i++)
		if (!t->sees_to[i] && is_between(t->code->handlers[i].start, from, to))
			graft_handler(g, &t->code->handlers[i], NULL, NULL);
	return g->rc;
}

int graft_handler(struct graft *g, const struct handler *h, struct insn *start, struct insn *end)
{
	struct code *code = g->code;
	struct handler *v = arena_alloc(code->mem, (code->n_handlers + 1) * sizeof(*v));
	struct handler *own;
	int type = 0;

	if (!v)
		return graft_fail(g, E_NO_MEMORY);
	if (h->type)
		type = pool_import(&code->cls->pool, &g->template->code->cls->pool, h->type,
				   g->seen);
	if (type < 0)
		return graft_fail(g, type);
	if (code->n_handlers)
		memcpy(v, code->handlers, code->n_handlers * sizeof(*v));
	own = &v[code->n_handlers];
	own->start = start ? start : twin(g, h->start);
	own->end = end ? end : twin(g, h->end);
	own->handler = twin(g, h->handler);
	own->type = (uint16_t)type;
	if (g->rc < 0)
		return g->rc;
	code->handlers = v;
	code->n_handlers++;
	return 0;
}

static int put_stamp(struct graft *g, struct insn *place, struct insn *stamp, int rc)
{
	if (!stamp)
		return graft_fail(g, rc);
	graft_put(g, place, stamp);
	return g->rc;
}

int graft_prolog(struct graft *g, struct insn *place, const struct frame *entry)
{
	const struct template *t = g->template;
	int rc;

	if (t->prolog_plain) {
		struct insn *stamp = stamp_make(g, t->first, t->sentinel, GRAFT_NO_EXTRA, &rc);

		if (g->brief)
			*g->merge->brief = stamp;
		return put_stamp(g, place, stamp, rc);
	}
	rc = copy_stretch(g, place, t->first, t->sentinel, entry, GRAFT_NO_EXTRA);

	return rc < 0 ? rc : copy_handlers(g, t->first, t->sentinel);
}

/* The call was begun, and turns out not to be meant. */
static int put_undo(struct graft *g, struct insn *place, enum graft_way way)
{
	const struct frame *own = &g->template->at_body;
	unsigned slot = g->base, i = 0;

	if (way == GRAFT_RETURN) {
		if (g->code->cls->major >= 50 &&
		    !(g->undo->frame =
			      graft_frame(g, NULL, own, g->keep_result ? way : GRAFT_NO_EXTRA)))
			return g->rc;
		insn_before(g->code, place, g->undo);
	}
	while (i < own->n_locals && vt_tag(own->locals[i]) != VT_LONG)
		slot += type_slots(own->locals[i++]);
	if (i == own->n_locals)
		return graft_misfit(g, "the template keeps no token", 0);
	graft_put_id(g, place);
	graft_put(g, place, insn_local(g->code, OP_LLOAD, (uint16_t)slot));
	graft_put_pool(g, place, OP_INVOKESTATIC,
		       pool_add_ref(&g->code->cls->pool, CONST_METHODREF,
				    slice_str("java/util/SondeProbe"), slice_str("undo"),
				    slice_str("(IJ)V")));
	put_exit(g, place, way);
	return g->rc;
}

/* The part of the condition that is about the result.  False: that was all, the epilog is not
 * needed; or g->rc. */
static bool put_late(struct graft *g, struct insn *place, enum graft_way way)
{
	struct cond_place p = { .code = g->code,
				.before = place,
				.id = g->id,
				.own_id = g->own_id ? graft_own_id(g) : 0,
				.numbers = g->merge->numbers,
				.when = COND_EXIT,
				.result = g->result,
				.kept = g->kept };

	if (way == GRAFT_THROW) {
		if (cond_of_thrown(g->merge->cond))
			return true;
		put_undo(g, place, way);
		return false;
	}
	g->undo = insn_label(g->code);
	if (!g->undo)
		graft_fail(g, E_NO_MEMORY);
	else if (g->code->cls->major >= 50)
		p.frame = graft_frame(g, NULL, &g->template->at_body, way);
	if (g->rc >= 0 && cond_put(&p, g->merge->cond, g->undo) < 0)
		graft_fail(g, p.rc);
	return g->rc >= 0;
}

/* Where the epilog is passed by: out. */
static int put_passed(struct graft *g, struct insn *place, struct insn *past, enum graft_way way)
{
	bool kept = way == GRAFT_THROW || g->keep_result;

	if (g->rc >= 0 && g->code->cls->major >= 50)
		past->frame =
			graft_frame(g, NULL, &g->template->at_body, kept ? way : GRAFT_NO_EXTRA);
	if (g->rc < 0)
		return g->rc;
	insn_before(g->code, place, past);
	put_exit(g, place, way);
	return g->rc;
}

static void put_flag(struct graft *g, struct insn *place, bool met)
{
	if (!g->flagged)
		return;
	graft_put_op(g, place, met ? OP_ICONST_1 : OP_ICONST_0);
	graft_put(g, place, insn_local(g->code, OP_ISTORE, (uint16_t)(g->base - 1)));
}

/* The epilog only for calls that have met the condition. */
static struct insn *put_guard(struct graft *g, struct insn *place)
{
	struct insn *past = insn_label(g->code);

	if (!past) {
		graft_fail(g, E_NO_MEMORY);
		return NULL;
	}
	graft_put(g, place, insn_local(g->code, OP_ILOAD, (uint16_t)(g->base - 1)));
	graft_put(g, place, insn_branch(g->code, OP_IFEQ, past));
	return past;
}

int graft_epilog(struct graft *g, struct insn *place, enum graft_way way)
{
	const struct template *t = g->template;
	struct insn *past = NULL;
	int rc;

	if (t->epilog_plain && !g->late && !g->flagged) {
		struct insn *stamp = stamp_make(g, t->sentinel->next, NULL, way, &rc);

		return put_stamp(g, place, stamp, rc);
	}
	if (way == GRAFT_THROW && g->keep_thrown)
		graft_put(g, place, insn_local(g->code, OP_ASTORE, g->kept));
	else if (way == GRAFT_RETURN && g->keep_result)
		graft_put(g, place,
			  insn_local(g->code, (uint8_t)(OP_ISTORE + graft_kind_of(g->result)),
				     g->kept));
	if (g->late && !put_late(g, place, way))
		return g->rc;
	if (g->flagged)
		past = put_guard(g, place);
	rc = copy_stretch(g, place, t->sentinel->next, NULL, NULL, way);
	if (past)
		rc = put_passed(g, place, past, way);
	if (g->late && g->rc >= 0 && way == GRAFT_RETURN)
		rc = put_undo(g, place, way);
	return rc < 0 ? rc : copy_handlers(g, t->sentinel->next, NULL);
}

/* ---- conditions --------------------------------------------------------------------------- */

/* Of a token: the call is not seen (SondeProbe.UNMET). */
enum { UNMET = 2 };

/* A value for one of the template's locals when its prolog was passed by. */
static void put_unmet(struct graft *g, struct insn *place, vtype type, unsigned slot)
{
	static const uint8_t ops[][2] = { [VT_INT] = { OP_ICONST_0, OP_ISTORE },
					  [VT_FLOAT] = { OP_FCONST_0, OP_FSTORE },
					  [VT_DOUBLE] = { OP_DCONST_0, OP_DSTORE },
					  [VT_NULL] = { OP_ACONST_NULL, OP_ASTORE },
					  [VT_OBJECT] = { OP_ACONST_NULL, OP_ASTORE } };
	uint8_t tag = vt_tag(type);

	if (tag == VT_TOP)
		return;
	if (tag == VT_LONG && g->merge->anchor) {
		graft_put_id(g, place);
		graft_put_pool(g, place, OP_INVOKESTATIC,
			       pool_add_ref(&g->code->cls->pool, CONST_METHODREF,
					    slice_str("java/util/SondeProbe"), slice_str("passBy"),
					    slice_str("(I)J")));
		graft_put(g, place, insn_local(g->code, OP_LSTORE, (uint16_t)slot));
		return;
	}
	if (tag == VT_LONG) {
		graft_put_op(g, place, OP_ICONST_2);
		graft_put_op(g, place, OP_I2L);
		graft_put(g, place, insn_local(g->code, OP_LSTORE, (uint16_t)slot));
		return;
	}
	graft_put_op(g, place, ops[tag][0]);
	graft_put(g, place, insn_local(g->code, ops[tag][1], (uint16_t)slot));
}

/* The method's frame where the prolog goes, with the template's locals. */
static struct frame *frame_behind(struct graft *g, const struct frame *entry,
				  const struct frame *own)
{
	struct frame *f = graft_frame(g, entry, own, GRAFT_NO_EXTRA);

	if (f) {
		f->stack = entry->stack;
		f->n_stack = entry->n_stack;
	}
	return f;
}

static int put_framed_label(struct graft *g, struct insn *place, struct insn *label,
			    const struct frame *entry, const struct frame *own)
{
	if (entry) {
		label->frame = frame_behind(g, entry, own);
		if (!label->frame)
			return g->rc;
	}
	insn_before(g->code, place, label);
	return 0;
}

int graft_guarded(struct graft *g, struct insn *place, const struct frame *entry)
{
	static const struct frame nothing;
	const struct frame *own = &g->template->at_body;
	const struct frame *before = g->code->cls->major < 50 ? NULL : entry;
	bool joins = own->n_locals || g->flagged;
	struct insn *skip, *body;
	struct cond_place p = {
		.code = g->code, .before = place, .id = g->id, .numbers = g->merge->numbers
	};
	unsigned slot = g->base;

	if (!g->merge->cond)
		return graft_prolog(g, place, entry);
	p.own_id = g->own_id ? graft_own_id(g) : 0;
	skip = insn_label(g->code);
	body = insn_label(g->code);
	if (!skip || !body)
		return graft_fail(g, E_NO_MEMORY);
	p.frame = before ? frame_behind(g, before, &nothing) : NULL;
	put_flag(g, place, false);
	graft_put_id(g, place);
	graft_put_pool(g, place, OP_INVOKESTATIC,
		       pool_add_ref(&g->code->cls->pool, CONST_METHODREF,
				    slice_str("java/util/SondeProbe"), slice_str("may"),
				    slice_str("(I)Z")));
	graft_put(g, place, insn_branch(g->code, OP_IFEQ, skip));
	if (g->rc >= 0 && cond_put(&p, g->merge->cond, skip) < 0)
		graft_fail(g, p.rc);
	put_flag(g, place, true);
	if (g->rc < 0 || graft_prolog(g, place, entry) < 0)
		return g->rc;
	if (joins)
		graft_put(g, place, insn_branch(g->code, OP_GOTO, body));
	put_framed_label(g, place, skip, before, &nothing);
	for (unsigned i = 0; i < own->n_locals; i++) {
		put_unmet(g, place, own->locals[i], slot);
		slot += type_slots(own->locals[i]);
	}
	if (joins)
		put_framed_label(g, place, body, before, own);
	return g->rc;
}
