/* SPDX-License-Identifier: Apache-2.0 */
/* merge_into.c - the steps of one merge.
 *
 *	start:	prolog				start:	prolog
 *	body:	the method's code		body:	the method's code
 *		... goto exit				... goto exit
 *	exit:	epilog; xreturn			exit:	epilog; xreturn
 *	any:	epilog; athrow			catch:	the template's handler
 *
 * On the left a template without a handler around the sentinel: its epilog is copied once for
 * returns and once for exceptions.  On the right one that has its own.  The last return falls
 * through to `exit` instead of branching there.  The result, or the exception, stays on the stack
 * while the epilog runs, unless the epilog has branches (whose frames would have to know it) or
 * wants to see it: then it is kept in a local behind the template's.
 *
 * In a constructor the prolog stands behind the call of this() or super(), and the handler
 * covers only code in which `this` is initialised. */
#include "weave/merge.h"

#include "classfile/check/check.h"
#include "classfile/desc.h"
#include "classfile/insn.h"
#include "weave/depth.h"
#include "weave/graft.h"
#include "weave/init.h"

static uint8_t return_op(struct slice type)
{
	switch (type.p[0]) {
	case 'V':
		return OP_RETURN;
	case 'J':
		return OP_LRETURN;
	case 'F':
		return OP_FRETURN;
	case 'D':
		return OP_DRETURN;
	case 'L':
	case '[':
		return OP_ARETURN;
	default:
		return OP_IRETURN;
	}
}

struct returns {
	uint32_t n;
	struct insn *last; /* the last instruction of the method, if it is a return */
	bool odd_depth;	   /* some leave values on the stack below the result */
	bool unknown;	   /* not computed: the one return there is falls into the epilog */
};

static bool is_clean(const struct graft *g, const struct insn *ret)
{
	return ret->pc == g->result_slots || ret->pc == DEPTH_UNKNOWN;
}

static const struct insn *last_insn(const struct code *code)
{
	const struct insn *n = code->end;

	while (n->op == OP_LABEL && n->prev)
		n = n->prev;
	return n;
}

static int look_at_returns(struct graft *g, struct returns *r)
{
	struct code *code = g->code;
	const struct insn *last = last_insn(code);
	int rc;

	*r = (struct returns){ .n = code->n_returns };
	for (struct insn *n = code->returns; n; n = n->target) {
		if (n->op != return_op(g->result))
			return code_fault(code, n, g->fault, E_RETURN_TYPE,
					  "%s in a method that returns %.*s", op_table[n->op].name,
					  SLICE_FMT(g->result));
		n->pc = g->result_slots;
		if (n == last)
			r->last = n;
	}
	if (g->template->epilog_empty || code->max_stack <= g->result_slots)
		return 0; /* nothing is added there, or nothing can lie below */
	/* What lies below does no harm where nothing branches, it only takes room.  Finding out how
	 * much costs more than a slot of max_stack. */
	r->unknown = r->n == 1 && r->last && !g->epilog_branches && !g->template->catches;
	if (r->unknown)
		return 0;
	rc = depth_of_returns(code, g->depths);
	if (rc < 0)
		return code_fault(code, NULL, g->fault, rc, "stack depth cannot be told");
	for (struct insn *n = code->returns; n; n = n->target) {
		if (code->has_jsr) /* what they leave there is not known: trust no depth */
			n->pc = g->result_slots + 1u;
		r->odd_depth |= !is_clean(g, n);
	}
	return 0;
}

/* In a constructor the prolog has not run yet where `this` is not initialised. */
static bool is_before_prolog(const struct frame *f)
{
	for (unsigned i = 0; i < f->n_locals; i++)
		if (f->locals[i] == VT_UNINIT_THIS)
			return true;
	for (unsigned i = 0; i < f->n_stack; i++)
		if (f->stack[i] == VT_UNINIT_THIS)
			return true;
	return false;
}

/* The method's frames know nothing of the template's locals that live across it.  Frames that
 * share their locals go on sharing them. */
static int extend_frames(struct graft *g)
{
	bool constructor = init_needed(g->code);
	struct frame from = { 0 }, to = { 0 };

	if ((!g->template->at_body.n_locals && !g->flagged) || g->code->cls->major < 50)
		return 0;
	for (uint32_t i = 0; i < g->code->n_frames; i++) {
		struct frame *f = &g->code->frames[i];

		if (constructor && is_before_prolog(f))
			continue;
		if (!to.locals || f->locals != from.locals || f->n_locals != from.n_locals) {
			const struct frame *more =
				graft_frame(g, f, &g->template->at_body, GRAFT_NO_EXTRA);

			if (!more)
				return g->rc;
			from = *f;
			to = *more;
		}
		f->locals = to.locals;
		f->n_locals = to.n_locals;
	}
	return 0;
}

struct exits {
	struct insn *to;	/* label of the shared epilog */
	uint32_t branches;	/* that go there */
	bool falls;		/* the method's last instruction does */
	struct stretches parts; /* what handlers have to cover; labels, start inclusive */
};

static bool add_part(struct graft *g, struct exits *x, struct insn *start, struct insn *end)
{
	struct stretch *v;

	for (const struct insn *n = start; n->op == OP_LABEL; n = n->next)
		if (n == end)
			return true; /* no instruction in it */
	v = arena_alloc(g->code->mem, (x->parts.n + 1) * sizeof(*v));
	if (!v)
		return false;
	if (x->parts.n)
		memcpy(v, x->parts.v, x->parts.n * sizeof(*v));
	v[x->parts.n] = (struct stretch){ start, end, false };
	x->parts.v = v;
	x->parts.n++;
	return true;
}

/* A return with other values below its result: it gets an epilog of its own, in place, where the
 * stack may be as it likes; nothing branches there.  The handlers leave it out. */
static int exit_in_place(struct graft *g, struct exits *x, struct insn *ret, struct insn **from)
{
	struct insn *before, *after;

	if (g->epilog_branches || g->template->catches)
		return code_fault(g->code, ret, g->fault, E_STACK_AT_RETURN,
				  "values below the result at a return, and the template's epilog "
				  "has branches");
	before = insn_before(g->code, ret, insn_label(g->code));
	after = before ? insn_after(g->code, ret, insn_label(g->code)) : NULL;
	if (!after)
		return E_NO_MEMORY;
	insn_remove(g->code, ret);
	graft_reset(g);
	if (graft_epilog(g, after, GRAFT_RETURN) < 0)
		return g->rc;
	if (!add_part(g, x, *from, before))
		return E_NO_MEMORY;
	*from = after;
	return 0;
}

/* A return becomes a branch to the epilog, or falls into it. */
static int branch_return(struct graft *g, struct exits *x, const struct returns *r, struct insn *n)
{
	struct insn *jump;

	if (n == r->last) {
		insn_remove(g->code, n);
		x->falls = true;
		return 0;
	}
	jump = insn_branch(g->code, OP_GOTO, x->to);
	if (!insn_replace(g->code, n, jump))
		return E_NO_MEMORY;
	jump->flags = INSN_MARKED;
	x->branches++;
	return 0;
}

/* All returns of one stretch. */
static int branch_returns(struct graft *g, struct exits *x, const struct returns *r,
			  struct insn *from, struct insn *to)
{
	struct insn *next;

	for (struct insn *n = from; n != to; n = next) {
		int rc = 0;

		next = n->next;
		if (!op_is_return(n->op) || n->flags & INSN_MARKED)
			continue;
		if (r->odd_depth && !is_clean(g, n))
			rc = exit_in_place(g, x, n, &from);
		else
			rc = branch_return(g, x, r, n);
		if (rc < 0)
			return rc;
	}
	return add_part(g, x, from, to) ? 0 : E_NO_MEMORY;
}

/* The same where the stretch is the whole method, and no return needs an epilog of its own. */
static int branch_all_returns(struct graft *g, struct exits *x, const struct returns *r,
			      const struct stretch *all)
{
	struct insn *next;

	for (struct insn *n = g->code->returns; n; n = next) {
		int rc;

		next = n->target;
		rc = branch_return(g, x, r, n);
		if (rc < 0)
			return rc;
	}
	return add_part(g, x, all->start, all->end) ? 0 : E_NO_MEMORY;
}

/* The frame where the method's code has been left: nothing of its locals counts any more. */
static int set_exit_frame(struct graft *g, struct insn *label, vtype stack, bool has_value)
{
	struct {
		struct frame frame;
		vtype value;
	} * new;

	if (g->code->cls->major < 50)
		return 0;
	if (!g->exit)
		g->exit = graft_frame(g, NULL, &g->template->at_body, GRAFT_NO_EXTRA);
	new = arena_alloc(g->code->mem, sizeof(*new));
	if (!g->exit || !new)
		return E_NO_MEMORY;
	new->frame = *g->exit;
	new->value = stack;
	new->frame.stack = &new->value;
	new->frame.n_stack = has_value;
	label->frame = &new->frame;
	return 0;
}

static int add_handlers(struct graft *g, const struct exits *x, struct insn *handler)
{
	struct code *code = g->code;
	uint32_t n = code->n_handlers + x->parts.n;
	struct handler *v = arena_alloc(code->mem, (n + 1) * sizeof(*v));

	if (!v)
		return E_NO_MEMORY;
	if (code->n_handlers)
		memcpy(v, code->handlers, code->n_handlers * sizeof(*v));
	for (uint32_t i = 0; i < x->parts.n; i++)
		v[code->n_handlers + i] =
			(struct handler){ x->parts.v[i].start, x->parts.v[i].end, handler, 0 };
	code->handlers = v;
	code->n_handlers = n;
	return 0;
}

/* The epilog once more, for exceptions. */
static int add_exceptional_exit(struct graft *g, const struct exits *x)
{
	struct insn *handler;
	int rc;

	if (!x->parts.n)
		return 0;
	handler = insn_before(g->code, g->code->end, insn_label(g->code));
	if (!handler)
		return E_NO_MEMORY;
	rc = add_handlers(g, x, handler);
	if (rc < 0)
		return rc;
	if (!*g->throwable_index) {
		rc = pool_add_name(&g->code->cls->pool, CONST_CLASS,
				   slice_str("java/lang/Throwable"));
		if (rc < 0)
			return rc;
		*g->throwable_index = (uint16_t)rc;
	}
	g->throwable = vt(VT_OBJECT, *g->throwable_index);
	rc = set_exit_frame(g, handler, g->throwable, true);
	if (rc < 0)
		return rc;
	graft_reset(g);
	return graft_epilog(g, g->code->end, GRAFT_THROW);
}

/* The template's handlers around the sentinel cover all parts of the method's code.  They start
 * in the prolog, before the first part, and end in the epilog, behind the last. */
static int add_template_handlers(struct graft *g, const struct exits *x)
{
	const struct template *t = g->template;

	for (uint32_t i = 0; i < t->code->n_handlers; i++) {
		const struct handler *h = &t->code->handlers[i];
		uint32_t n = x->parts.n ? x->parts.n : 1;

		for (uint32_t k = 0; t->sees_to[i] && k < n; k++) {
			int rc = graft_handler(g, h, k ? x->parts.v[k].start : NULL,
					       k + 1 < n ? x->parts.v[k].end : NULL);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

/* A condition has branches, so it must be known what lies where the prolog goes; before anything is
 * put in, that can be derived. */
static int find_entries(struct graft *g, const struct stretches *body, struct frame *entries)
{
	struct code *code = g->code;

	for (uint32_t i = 0; i < body->n; i++) {
		struct insn *start = body->v[i].start;
		int rc;

		if (!body->v[i].after_call || !g->merge->cond || code->cls->major < 50)
			continue;
		rc = check_frames_at(code, &start, 1, g->fault);
		if (rc < 0)
			return rc;
		entries[i] = *start->frame;
		start->frame = NULL;
	}
	return 0;
}

static int put_constructor_prologs(struct graft *g, const struct stretches *body)
{
	struct frame *entries = arena_zero(g->code->mem, (body->n + 1) * sizeof(*entries));
	int rc = entries ? find_entries(g, body, entries) : E_NO_MEMORY;
	uint32_t prologs = 0;

	for (uint32_t i = 0; i < body->n; i++)
		prologs += body->v[i].after_call;
	g->brief &= prologs == 1;
	for (uint32_t i = 0; i < body->n && rc >= 0; i++) {
		if (!body->v[i].after_call)
			continue;
		graft_reset(g);
		rc = graft_guarded(g, body->v[i].start, &entries[i]);
	}
	return rc;
}

/* The stretches in which the method is covered, from just behind the prolog(s). */
static int put_prologs(struct graft *g, struct stretches *body)
{
	struct code *code = g->code;
	int rc;

	if (!init_needed(code)) {
		struct insn *label = insn_after(code, code->start, insn_label(code));

		body->v = arena_alloc(code->mem, sizeof(*body->v));
		if (!label || !body->v)
			return E_NO_MEMORY;
		body->v[0] = (struct stretch){ label, g->body_end, false };
		body->n = 1;
		return graft_guarded(g, label, &code->first);
	}
	if (g->template->prolog_framed || g->template->catches)
		return code_fault(code, NULL, g->fault, E_MISFIT,
				  "the template has branches or a handler; in a constructor it may "
				  "not");
	rc = init_stretches(code, body);
	if (rc < 0)
		return code_fault(code, NULL, g->fault, rc, "%s", err_text(rc));
	for (uint32_t i = 0; i < body->n; i++) {
		struct stretch *s = &body->v[i];

		if (s->end == code->end)
			s->end = g->body_end;
		else
			s->end = insn_before(code, s->end, insn_label(code));
		if (s->after_call)
			s->start = insn_after(code, s->start, insn_label(code));
		if (!s->start || !s->end)
			return E_NO_MEMORY;
	}
	return put_constructor_prologs(g, body);
}

/* The old end label stays behind the method's own code, with the tables that end there; a new one
 * closes the list. */
static bool split_end(struct graft *g)
{
	struct code *code = g->code;
	struct insn *end = insn_label(code);

	if (!end)
		return false;
	g->body_end = code->end;
	end->prev = code->end;
	code->end->next = end;
	code->end = end;
	return true;
}

static int put_exits(struct graft *g, const struct returns *r, const struct stretches *body)
{
	struct exits x = { .to = insn_label(g->code) };
	bool framed;
	int rc = 0;

	if (!x.to)
		return E_NO_MEMORY;
	if (!r->odd_depth && !init_needed(g->code))
		rc = branch_all_returns(g, &x, r, &body->v[0]);
	else
		for (uint32_t i = 0; i < body->n && rc >= 0; i++)
			rc = branch_returns(g, &x, r, body->v[i].start, body->v[i].end);
	if (rc < 0)
		return rc;
	insn_before(g->code, g->code->end, x.to);
	framed = x.branches || !x.falls;
	if (framed && (x.branches || g->template->catches)) {
		rc = set_exit_frame(g, x.to, graft_result_type(g), g->result_slots > 0);
		if (rc < 0)
			return rc;
	}
	if (x.branches || x.falls || g->template->catches) {
		if (!g->template->catches)
			graft_reset(g);
		rc = graft_epilog(g, g->code->end, GRAFT_RETURN);
		if (rc < 0)
			return rc;
	}
	rc = add_template_handlers(g, &x);
	if (rc < 0 || g->template->catches)
		return rc;
	return add_exceptional_exit(g, &x);
}

static void set_limits(struct graft *g, bool deep)
{
	struct code *code = g->code;
	const struct template *t = g->template;
	/* boxing all arguments needs the array twice, an index and a value */
	uint32_t need = t->code->max_stack + (t->wants_args || t->wants_result ? 6u : 0u) +
			(g->merge->cond ? COND_STACK : 0u);
	uint32_t below = g->result_slots ? g->result_slots : 1;
	uint32_t max;

	if (t->epilog_empty) /* a prolog alone stands where nothing is on the stack, but in constructors */
		below = 0;
	if (deep && below < code->max_stack)
		below = code->max_stack;
	max = below + need;
	if (max > code->max_stack)
		code->max_stack = (uint16_t)(max > 65535 ? 65535 : max);
	code->max_locals = (uint16_t)g->max_locals;
}

int merge_into(struct code *code, const struct merge *m, struct fault *f)
{
	const struct template *t = m->template;
	struct graft g;
	struct stretches body = { 0 };
	struct returns r;
	int rc;

	rc = graft_init(&g, code, m, f);
	if (rc < 0)
		return rc;
	rc = look_at_returns(&g, &r);
	if (rc >= 0 && !split_end(&g))
		rc = E_NO_MEMORY;
	if (rc >= 0)
		rc = extend_frames(&g);
	if (rc >= 0)
		rc = put_prologs(&g, &body);
	if (rc >= 0 && !t->epilog_empty)
		rc = put_exits(&g, &r, &body);
	if (rc < 0)
		return fault_set(f, rc, -1, "%s", err_text(rc));
	set_limits(&g, r.odd_depth || r.unknown || init_needed(code));
	return 0;
}
