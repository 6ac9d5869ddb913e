/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.c - the tables of a Code attribute, with the offsets made new. */
#include "classfile/pieces.h"

#include "base/search.h"

/* An instruction that was read lies at n->pc now: lengthen the newest piece, or begin one. */
bool pieces_add(struct pieces *all, const struct insn *n)
{
	struct piece *p = all->n ? &all->v[all->n - 1] : NULL;

	if (p && p->end == n->old && p->pc + (n->old - p->start) == n->pc) {
		p->end += n->size;
		return true;
	}
	all->shuffled |= p && n->old < p->end;
	if (all->n == all->cap) {
		size_t cap = all->cap ? all->cap * 2 : 8;

		p = arena_alloc(all->mem, cap * sizeof(*p));
		if (!p)
			return false;
		if (all->n)
			memcpy(p, all->v, all->n * sizeof(*p));
		all->v = p;
		all->cap = cap;
	}
	all->v[all->n++] = (struct piece){ n->old, (uint32_t)n->old + n->size, n->pc };
	return true;
}

void pieces_sort(struct pieces *all)
{
	for (size_t gap = all->n / 2; all->shuffled && gap; gap /= 2)
		for (size_t i = gap; i < all->n; i++) {
			struct piece p = all->v[i];
			size_t j = i;

			for (; j >= gap && all->v[j - gap].start > p.start; j -= gap)
				all->v[j] = all->v[j - gap];
			all->v[j] = p;
		}
}

struct moved {
	const struct code *code;
	const struct pieces *pieces;
	size_t last; /* the piece that was found last; tables go on from line to line */
};

/* The new offset of an old one; of an instruction that is gone, that of the next still there. */
static uint32_t now(struct moved *l, uint32_t old)
{
	const struct pieces *all = l->pieces;
	size_t low;

	if (l->last < all->n &&
	    old - all->v[l->last].start < all->v[l->last].end - all->v[l->last].start)
		return all->v[l->last].pc + (old - all->v[l->last].start);
	low = SEARCH(all->n, i, all->v[i].end <= old); /* the first piece that ends behind it */
	if (low == all->n)
		return l->code->read_end->pc;
	l->last = low;
	if (old < all->v[low].start)
		old = all->v[low].start;
	return all->v[low].pc + (old - all->v[low].start);
}

/* What a table says of offset 0 (the first line, the scope of the arguments) stays there, whatever
 * is put in at the start. */
static uint32_t now_in_table(struct moved *l, uint32_t old)
{
	return old ? now(l, old) : 0;
}

/* Where a line or variable begins: inside the code, even when the last instruction is gone. */
static uint32_t within(const struct moved *l, uint32_t old, uint32_t pc)
{
	const struct insn *last = l->code->end;

	if (pc < last->pc || old >= l->code->bytes.n) /* no JVM accepts that, but it was so */
		return pc;
	while (last->op == OP_LABEL && last->prev)
		last = last->prev;
	return last->pc;
}

static void move_range(struct moved *l, uint8_t *p)
{
	uint32_t from = now_in_table(l, get_u16(p));
	uint32_t to = now_in_table(l, (uint32_t)get_u16(p) + get_u16(p + 2));

	put_u16(p, (uint16_t)within(l, get_u16(p), from));
	put_u16(p + 2, to > from ? (uint16_t)(to - from) : 0);
}

/* The rows of a variable table.  Those of which no code is left are dropped: a JVM refuses two
 * equal ones, and that is what two scopes of a variable in the same slot would become.  Returns the
 * bytes that are left. */
static size_t move_vars(struct moved *l, uint8_t *p, size_t n)
{
	uint8_t *to = p + 2;

	for (const uint8_t *row = p + 2; row < p + n; row += 10) {
		bool empty = get_u16(row + 2) == 0;

		memmove(to, row, 10);
		move_range(l, to);
		if (empty || get_u16(to + 2))
			to += 10;
	}
	put_u16(p, (uint16_t)((to - p) / 10));
	return (size_t)(to - p);
}

struct moving {
	struct moved *l;
	uint8_t *data;
};

/* A type annotation's target is one instruction.  Compilers have been seen to leave wrong offsets
 * here, and no JVM looks at them: those stay as they are. */
static int move_target(void *ctx, size_t at, uint16_t pc)
{
	const struct moving *m = ctx;

	if (pc < m->l->code->bytes.n)
		put_u16(m->data + at, (uint16_t)now(m->l, pc));
	return 0;
}

static int move_scope(void *ctx, size_t at, uint16_t from, uint16_t length)
{
	const struct moving *m = ctx;

	if ((uint32_t)from + length <= m->l->code->bytes.n)
		move_range(m->l, m->data + at);
	return 0;
}

static void move_type_annotations(struct moved *l, const struct attr *a, uint8_t *p)
{
	struct moving moving = { l, p };
	struct attr_visitor visitor = { &moving, NULL, move_target, move_scope };

	if (attr_walk(a, &l->code->cls->pool, &visitor, NULL) < 0)
		memcpy(p, a->data.p, a->data.n);
}

/* The types of a frame of the old StackMap; false: malformed. */
static bool move_old_types(struct moved *l, struct reader *r, uint8_t *data)
{
	for (unsigned n = rd_u16(r); n && !r->err; n--) {
		uint8_t tag = rd_u8(r);
		size_t at = rd_at(r);
		uint32_t value = tag >= VT_OBJECT ? rd_u16(r) : 0;

		if (!r->err && tag == VT_UNINIT && value < l->code->bytes.n)
			put_u16(data + at, (uint16_t)now(l, value));
	}
	return !r->err;
}

/* The StackMap of CLDC (versions below 50).  Each frame is complete, so only offsets need care; no
 * JVM here reads it. */
static void move_old_frames(struct moved *l, const struct attr *a, uint8_t *p)
{
	struct reader r = rd_init(a->data);

	for (unsigned n = rd_u16(&r); n && !r.err; n--) {
		size_t at = rd_at(&r);
		uint16_t pc = rd_u16(&r);

		if (!r.err && pc < l->code->bytes.n)
			put_u16(p + at, (uint16_t)now(l, pc));
		if (!move_old_types(l, &r, p) || !move_old_types(l, &r, p))
			break;
	}
	if (r.err || rd_left(&r))
		memcpy(p, a->data.p, a->data.n);
}

uint8_t *pieces_write(const struct code *code, const struct pieces *pieces, const struct attr *a,
		      uint8_t *p)
{
	struct moved moved = { code, pieces, 0 }, *l = &moved;
	size_t n = a->data.n;

	put_u16(p, a->name);
	put_u32(p + 2, (uint32_t)n);
	p += 6;
	if (n)
		memcpy(p, a->data.p, n);
	switch (a->kind) {
	case ATTR_LINE_NUMBER_TABLE:
		for (size_t at = 2; at < n; at += 4) {
			uint32_t old = get_u16(p + at);

			put_u16(p + at, (uint16_t)within(l, old, now_in_table(l, old)));
		}
		break;
	case ATTR_LOCAL_VARIABLE_TABLE:
	case ATTR_LOCAL_VARIABLE_TYPE_TABLE:
		n = move_vars(l, p, n);
		put_u32(p - 4, (uint32_t)n);
		break;
	case ATTR_RUNTIME_VISIBLE_TYPE_ANNOTATIONS:
	case ATTR_RUNTIME_INVISIBLE_TYPE_ANNOTATIONS:
		move_type_annotations(l, a, p);
		break;
	case ATTR_STACK_MAP:
		move_old_frames(l, a, p);
		break;
	default:
		break;
	}
	return p + n;
}
