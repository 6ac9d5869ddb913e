/* SPDX-License-Identifier: Apache-2.0 */
/* init.c - finding the calls of this() and super().
 *
 * One walk in list order.  An invokespecial of <init> is meant either for an object that a `new`
 * before it has made, or for `this`; so the `new`s whose <init> is still to come are kept in a
 * small stack.  At every frame the truth is written down: which objects are not initialised,
 * and whether `this` is among them. */
#include "weave/init.h"

enum { PENDING_MAX = 64 };

struct walk {
	struct code *code;
	struct slice pending[PENDING_MAX]; /* classes of the `new`s */
	uint32_t n_pending;
	bool ready; /* is `this` initialised here? */
	struct stretches *out;
	uint32_t cap;
};

bool init_needed(const struct code *code)
{
	return code->first.n_locals && code->first.locals[0] == VT_UNINIT_THIS;
}

static bool open_stretch(struct walk *w, struct insn *start, bool after_call)
{
	struct stretches *s = w->out;

	if (s->n == w->cap) {
		uint32_t cap = w->cap ? w->cap * 2 : 4;
		struct stretch *v = arena_alloc(w->code->mem, cap * sizeof(*v));

		if (!v)
			return false;
		if (s->n)
			memcpy(v, s->v, s->n * sizeof(*v));
		s->v = v;
		w->cap = cap;
	}
	s->v[s->n++] = (struct stretch){ start, NULL, after_call };
	return true;
}

static void close_stretch(struct walk *w, struct insn *end)
{
	if (w->out->n && !w->out->v[w->out->n - 1].end)
		w->out->v[w->out->n - 1].end = end;
}

static bool add_pending(struct walk *w, const struct insn *made)
{
	if (w->n_pending == PENDING_MAX)
		return false;
	w->pending[w->n_pending++] = pool_name(&w->code->cls->pool, made->index);
	return true;
}

/* A frame says which `new`s are pending; each may stand in several places of it. */
static bool take_frame(struct walk *w, const struct frame *f)
{
	const vtype *parts[] = { f->locals, f->stack };
	const uint16_t sizes[] = { f->n_locals, f->n_stack };
	vtype seen[PENDING_MAX];
	uint32_t n = 0;

	w->ready = true;
	w->n_pending = 0;
	for (int part = 0; part < 2; part++) {
		for (unsigned i = 0; i < sizes[part]; i++) {
			vtype t = parts[part][i];
			uint32_t k = 0;

			if (t == VT_UNINIT_THIS)
				w->ready = false;
			if (vt_tag(t) != VT_UNINIT)
				continue;
			while (k < n && seen[k] != t)
				k++;
			if (k < n)
				continue;
			if (n == PENDING_MAX || !add_pending(w, w->code->news[vt_value(t)]))
				return false;
			seen[n++] = t;
		}
	}
	return true;
}

/* An <init> of this class: is it of a pending `new`?  The youngest comes first. */
static bool take_pending(struct walk *w, struct slice owner)
{
	for (uint32_t i = w->n_pending; i-- > 0;) {
		if (!slice_eq(w->pending[i], owner))
			continue;
		memmove(&w->pending[i], &w->pending[i + 1],
			(w->n_pending - i - 1) * sizeof(w->pending[0]));
		w->n_pending--;
		return true;
	}
	return false;
}

static int see_label(struct walk *w, struct insn *label)
{
	bool was = w->ready;

	if (!label->frame)
		return 0;
	if (!take_frame(w, label->frame))
		return E_NO_INIT_CALL;
	if (was && !w->ready)
		close_stretch(w, label);
	if (!was && w->ready && !open_stretch(w, label, false))
		return E_NO_MEMORY;
	return 0;
}

static int see_call(struct walk *w, struct insn *n)
{
	const struct class *cls = w->code->cls;
	struct pool_ref ref;

	if (!pool_ref(&cls->pool, n->index, &ref) || !slice_is(ref.name, "<init>"))
		return 0;
	if (take_pending(w, ref.owner))
		return 0;
	if (w->ready ||
	    !(slice_eq(ref.owner, class_name(cls)) || slice_eq(ref.owner, class_super(cls))))
		return E_NO_INIT_CALL;
	w->ready = true;
	return open_stretch(w, n, true) ? 0 : E_NO_MEMORY;
}

int init_stretches(struct code *code, struct stretches *out)
{
	struct walk w = { .code = code, .out = out };

	*out = (struct stretches){ 0 };
	for (struct insn *n = code->start->next; n; n = n->next) {
		int rc = 0;

		if (n->op == OP_LABEL)
			rc = see_label(&w, n);
		else if (n->op == OP_NEW)
			rc = add_pending(&w, n) ? 0 : E_NO_INIT_CALL;
		else if (n->op == OP_INVOKESPECIAL)
			rc = see_call(&w, n);
		if (rc < 0)
			return rc;
	}
	close_stretch(&w, code->end);
	for (uint32_t i = 0; i < out->n; i++)
		if (out->v[i].after_call)
			return 0;
	return E_NO_INIT_CALL;
}
