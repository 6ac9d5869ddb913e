/* SPDX-License-Identifier: Apache-2.0 */
/* insn.c - editing a method's list. */
#include "classfile/insn.h"

struct insn *insn_new(struct code *code, uint8_t op)
{
	struct insn *n = arena_alloc(code->mem, sizeof(*n));

	if (n)
		*n = (struct insn){ .op = op };
	return n;
}

struct insn *insn_label(struct code *code)
{
	return insn_new(code, OP_LABEL);
}

struct insn *insn_branch(struct code *code, uint8_t op, struct insn *label)
{
	struct insn *n = insn_new(code, op);

	if (n)
		n->target = label;
	return n;
}

struct insn *insn_local(struct code *code, uint8_t op, uint16_t slot)
{
	struct insn *n;

	if (slot < 4 && op >= OP_ILOAD && op <= OP_ALOAD)
		op = (uint8_t)(OP_ILOAD_0 + 4 * (op - OP_ILOAD) + slot);
	else if (slot < 4 && op >= OP_ISTORE && op <= OP_ASTORE)
		op = (uint8_t)(OP_ISTORE_0 + 4 * (op - OP_ISTORE) + slot);
	n = insn_new(code, op);
	if (n)
		n->index = slot;
	return n;
}

struct insn *insn_pool(struct code *code, uint8_t op, uint16_t index)
{
	struct insn *n = insn_new(code, op);

	if (n)
		n->index = index;
	return n;
}

struct insn *insn_int(struct code *code, int32_t value)
{
	struct insn *n;
	int index;

	if (value >= -1 && value <= 5)
		return insn_new(code, (uint8_t)(OP_ICONST_0 + value));
	if (value == (int16_t)value) {
		n = insn_new(code, value == (int8_t)value ? OP_BIPUSH : OP_SIPUSH);
		if (n)
			n->arg = (int16_t)value;
		return n;
	}
	index = pool_add_int(&code->cls->pool, value);
	return index < 0 ? NULL : insn_pool(code, OP_LDC, (uint16_t)index);
}

struct insn *insn_stamp(struct code *code, struct slice bytes)
{
	struct insn *n = insn_new(code, OP_STAMP);

	if (n) {
		n->bytes = bytes.p;
		n->index = (uint16_t)bytes.n;
	}
	return n;
}

bool insn_has_local(const struct insn *n)
{
	uint8_t format = op_table[n->op].format;

	return format == OP_FORMAT_LOCAL || format == OP_FORMAT_LOCAL0 || format == OP_FORMAT_IINC;
}

struct insn *insn_before(struct code *code, struct insn *place, struct insn *n)
{
	return insn_after(code, place->prev, n);
}

struct insn *insn_after(struct code *code, struct insn *place, struct insn *n)
{
	(void)code;
	if (!n)
		return NULL;
	n->prev = place;
	n->next = place->next;
	place->next->prev = n;
	place->next = n;
	return n;
}

void insn_remove(struct code *code, struct insn *n)
{
	(void)code;
	if (n->flags & INSN_ANCHORED || n->op == OP_LABEL) {
		if (n->op == OP_LABEL)
			return; /* something may point at it, and it costs nothing */
		n->op = OP_LABEL;
		n->flags &= (uint8_t) ~(INSN_COPY | INSN_WIDE);
		n->size = 0;
		n->frame = NULL;
		return;
	}
	n->prev->next = n->next;
	n->next->prev = n->prev;
}

struct insn *insn_replace(struct code *code, struct insn *old, struct insn *by)
{
	if (!insn_after(code, old, by))
		return NULL;
	by->flags |= old->flags & INSN_READ; /* tables know it by the offset of the old one */
	by->old = old->old;
	by->size = old->size;
	insn_remove(code, old);
	return by;
}

struct insn *insn_label_before(struct code *code, struct insn *n)
{
	if (n->op == OP_LABEL && n != code->start)
		return n;
	if (n->prev && n->prev->op == OP_LABEL && n->prev != code->start)
		return n->prev;
	return n == code->start ? insn_after(code, n, insn_label(code))
				: insn_before(code, n, insn_label(code));
}

void insn_move(struct insn *first, struct insn *last, struct insn *place)
{
	struct insn *head = first->next, *tail = last->prev;

	if (first == last || head == last)
		return;
	first->next = last;
	last->prev = first;
	head->prev = place;
	tail->next = place->next;
	place->next->prev = tail;
	place->next = head;
}

struct insn *insn_next_real(const struct insn *n)
{
	for (n = n->next; n && n->op == OP_LABEL; n = n->next)
		;
	return (struct insn *)(uintptr_t)n;
}

/* While a stretch is copied, each original label's copy is found through this. */
struct twin {
	const struct insn *old;
	struct insn *copy;
};

struct twins {
	struct twin *v;
	size_t n;
};

static struct insn *twin_of(const struct twins *t, const struct insn *label)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].old == label)
			return t->v[i].copy;
	return NULL;
}

static int copy_labels(struct code *code, const struct insn_copy *c, struct twins *t)
{
	size_t n = 0;

	for (const struct insn *i = c->first; i != c->last; i = i->next)
		n += i->op == OP_LABEL;
	t->v = arena_alloc(code->mem, (n + 1) * sizeof(*t->v));
	if (!t->v)
		return E_NO_MEMORY;
	for (const struct insn *i = c->first; i != c->last; i = i->next) {
		if (i->op != OP_LABEL)
			continue;
		t->v[t->n] = (struct twin){ i, insn_label(code) };
		if (!t->v[t->n++].copy)
			return E_NO_MEMORY;
	}
	return 0;
}

static int copy_switch(struct code *code, const struct twins *t, struct insn *n)
{
	size_t size = sizeof(*n->sw) + n->sw->n * sizeof(n->sw->cases[0]);

	n->sw = arena_copy(code->mem, n->sw, size);
	if (!n->sw)
		return E_NO_MEMORY;
	n->sw->other = twin_of(t, n->sw->other);
	if (!n->sw->other)
		return E_BRANCH;
	for (uint32_t i = 0; i < n->sw->n; i++) {
		n->sw->cases[i].target = twin_of(t, n->sw->cases[i].target);
		if (!n->sw->cases[i].target)
			return E_BRANCH;
	}
	return 0;
}

static int copy_local(const struct insn_copy *c, struct insn *n)
{
	uint8_t format = op_table[n->op].format;

	if (n->index < c->local_from || !c->local_shift)
		return 0;
	if ((uint32_t)n->index + c->local_shift > 65535)
		return E_TOO_LARGE;
	if (format == OP_FORMAT_LOCAL0) /* back from iload_0 to iload */
		n->op = (uint8_t)(n->op < OP_ISTORE ? OP_ILOAD + (n->op - OP_ILOAD_0) / 4
						    : OP_ISTORE + (n->op - OP_ISTORE_0) / 4);
	n->index = (uint16_t)(n->index + c->local_shift);
	n->flags &= (uint8_t)~INSN_WIDE; /* lowering decides anew */
	return 0;
}

/* Makes a node that was copied bit by bit belong to this code. */
static int adopt(struct code *code, const struct insn_copy *c, const struct twins *t,
		 struct insn *n)
{
	int rc;

	n->flags &= INSN_WIDE | INSN_MARKED;
	n->size = 0;
	switch (op_table[n->op].format) {
	case OP_FORMAT_POOL1:
	case OP_FORMAT_POOL2:
	case OP_FORMAT_IFACE:
	case OP_FORMAT_INDY:
	case OP_FORMAT_MULTI:
		rc = pool_import(&code->cls->pool, &c->from->cls->pool, n->index, c->pool);
		if (rc < 0)
			return rc;
		n->index = (uint16_t)rc;
		return 0;
	case OP_FORMAT_LOCAL:
	case OP_FORMAT_LOCAL0:
	case OP_FORMAT_IINC:
		return copy_local(c, n);
	case OP_FORMAT_BR2:
	case OP_FORMAT_BR4:
		n->target = twin_of(t, n->target);
		return n->target ? 0 : E_BRANCH;
	case OP_FORMAT_TSWITCH:
	case OP_FORMAT_LSWITCH:
		return copy_switch(code, t, n);
	default:
		return 0;
	}
}

int insn_copy_stretch(struct code *code, struct insn *place, const struct insn_copy *c)
{
	struct twins twins = { 0 };
	int rc = c->from == code ? E_USAGE : copy_labels(code, c, &twins);

	for (const struct insn *i = c->first; i != c->last && rc >= 0; i = i->next) {
		struct insn *n = i->op == OP_LABEL ? twin_of(&twins, i)
						   : arena_copy(code->mem, i, sizeof(*i));

		if (!n)
			return E_NO_MEMORY;
		if (i->op != OP_LABEL)
			rc = adopt(code, c, &twins, n);
		if (rc >= 0)
			insn_before(code, place, n);
	}
	return rc;
}
