/* SPDX-License-Identifier: Apache-2.0 */
/* lower.c - from a list of instructions to the bytes of a Code attribute.
 *
 * First every node gets its offset.  Only when the code is longer than a short branch reaches
 * are the branches looked at: those that do not reach become long (goto_w, or the opposite
 * condition around a goto_w) and the offsets are computed again, until nothing grows any more;
 * since branches never shrink, that ends.  Then the bytes are written: stretches of
 * instructions that were read and not touched are copied in one piece, the rest is encoded. */
#include "classfile/check/check.h"
#include "classfile/code_priv.h"
#include "classfile/insn.h"
#include "classfile/pieces.h"

enum { CODE_MAX = 65535, REACH_MAX = 32767, REACH_MIN = -32768 };

/* Labels, in list order. */
struct labels {
	struct insn **v;
	size_t n, cap;
};

struct lowering {
	struct code *code;
	struct fault *fault;
	struct labels frames; /* labels that have a frame */
	uint32_t length;
	struct pieces pieces; /* where the code that was read has gone */
};

static int no_memory(const struct lowering *l)
{
	return fault_no_memory(l->fault);
}

static bool labels_add(struct arena *mem, struct labels *l, struct insn *label)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 32;
		struct insn **v = arena_alloc(mem, cap * sizeof(*v));

		if (!v)
			return false;
		if (l->n)
			memcpy(v, l->v, l->n * sizeof(*v));
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n++] = label;
	return true;
}

static uint32_t switch_pad(uint32_t pc)
{
	return 3 - pc % 4;
}

/* Bytes that the instruction takes at this offset. */
static uint32_t insn_size(const struct insn *n, uint32_t pc)
{
	const struct op_info *info = &op_table[n->op];

	if (n->op == OP_STAMP)
		return n->index;
	if (n->flags & INSN_WIDE)
		return n->op == OP_IINC ? 6 : 4;
	switch (info->format) {
	case OP_FORMAT_LOCAL:
		return n->index > 255 ? 4 : 2;
	case OP_FORMAT_IINC:
		return n->index > 255 || n->arg != (int8_t)n->arg ? 6 : 3;
	case OP_FORMAT_POOL1:
		return n->index > 255 ? 3 : 2;
	case OP_FORMAT_TSWITCH:
		return 1 + switch_pad(pc) + 12 + 4 * n->sw->n;
	case OP_FORMAT_LSWITCH:
		return 1 + switch_pad(pc) + 8 + 8 * n->sw->n;
	default:
		return info->size;
	}
}

/* Gives every node its offset, and collects the labels that have frames. */
static int place(struct lowering *l)
{
	struct code *code = l->code;
	uint64_t pc = 0;

	l->frames.n = 0;
	for (struct insn *n = code->start; n; n = n->next) {
		n->pc = (uint32_t)pc;
		if (n->flags & INSN_COPY)
			pc += n->size;
		else if (n->op != OP_LABEL)
			pc += insn_size(n, (uint32_t)pc);
		else if (n->frame && !labels_add(code->mem, &l->frames, n))
			return no_memory(l);
		if (pc > UINT32_MAX)
			break;
	}
	if (pc > CODE_MAX)
		return code_fault(code, NULL, l->fault, E_TOO_LARGE,
				  "would take %llu bytes of code, 65535 are allowed",
				  (unsigned long long)pc);
	l->length = (uint32_t)pc;
	return 0;
}

/* "if x goto L" becomes "if not x goto past; goto_w L; past:". */
static struct insn *invert(struct code *code, struct insn *n)
{
	struct insn *jump = insn_after(code, n, insn_branch(code, OP_GOTO_W, n->target));
	struct insn *past = jump ? insn_after(code, jump, insn_label(code)) : NULL;

	if (past) {
		n->op = op_inverted(n->op);
		n->target = past;
	}
	return past;
}

static bool reaches(const struct insn *n)
{
	int64_t distance = (int64_t)n->target->pc - n->pc;

	return distance >= REACH_MIN && distance <= REACH_MAX;
}

/* Makes every short branch that does not reach long; >0: some did.  `past` collects places that
 * have become branch targets. */
static int widen(struct lowering *l, struct labels *past)
{
	struct code *code = l->code;
	int grown = 0;

	for (struct insn *n = code->start; n; n = n->next) {
		struct insn *label;

		if (op_table[n->op].format != OP_FORMAT_BR2 || reaches(n))
			continue;
		grown = 1;
		if (n->op == OP_GOTO || n->op == OP_JSR) {
			n->op = n->op == OP_GOTO ? OP_GOTO_W : OP_JSR_W;
			continue;
		}
		label = invert(code, n);
		if (!label || !labels_add(code->mem, past, label))
			return no_memory(l);
	}
	return grown;
}

/* The places behind inverted branches were found in the order of rounds, not of the list. */
static void sort_by_place(struct labels *l)
{
	for (size_t gap = l->n / 2; gap; gap /= 2)
		for (size_t i = gap; i < l->n; i++) {
			struct insn *label = l->v[i];
			size_t j = i;

			for (; j >= gap && l->v[j - gap]->pc > label->pc; j -= gap)
				l->v[j] = l->v[j - gap];
			l->v[j] = label;
		}
}

static int place_all(struct lowering *l)
{
	struct code *code = l->code;
	struct labels past = { 0 };
	bool framed = code->cls->major >= 50;
	int rc;

	rc = place(l);
	if (rc < 0 || l->length <= REACH_MAX)
		return rc;
	while ((rc = widen(l, &past)) > 0) {
		rc = place(l);
		if (rc < 0)
			return rc;
	}
	if (rc < 0 || !past.n || !framed || (!code->n_frames && code->cls->major == 50))
		return rc;
	sort_by_place(&past);
	rc = code_expand(code); /* types are known of single instructions only */
	if (rc < 0)
		return fault_set(l->fault, rc, -1, "%s", err_text(rc));
	rc = check_frames_at(code, past.v, past.n, l->fault);
	return rc < 0 ? rc : place(l);
}

static uint8_t *write_switch(const struct code *code, const struct insn *n, uint8_t *p)
{
	const struct insn_switch *sw = n->sw;
	uint32_t pad = switch_pad(n->pc);

	*p++ = n->op;
	if (n->flags & INSN_READ && switch_pad(n->old) == pad)
		memcpy(p, code->bytes.p + n->old + 1, pad); /* zeros, but for odd compilers */
	else
		memset(p, 0, pad);
	p += pad;
	put_u32(p, sw->other->pc - n->pc);
	if (n->op == OP_TABLESWITCH) {
		put_u32(p + 4, (uint32_t)sw->low);
		put_u32(p + 8, (uint32_t)sw->low + sw->n - 1);
		p += 12;
	} else {
		put_u32(p + 4, sw->n);
		p += 8;
	}
	for (uint32_t i = 0; i < sw->n; i++) {
		if (n->op == OP_LOOKUPSWITCH) {
			put_u32(p, (uint32_t)sw->cases[i].key);
			p += 4;
		}
		put_u32(p, sw->cases[i].target->pc - n->pc);
		p += 4;
	}
	return p;
}

/* One instruction that cannot be copied; returns the place behind it. */
static uint8_t *write_insn(const struct code *code, const struct insn *n, uint8_t *p)
{
	uint32_t size = n->next->pc - n->pc;

	p[0] = n->op;
	switch (op_table[n->op].format) {
	case OP_FORMAT_S1:
	case OP_FORMAT_NEWARRAY:
		p[1] = (uint8_t)n->arg;
		break;
	case OP_FORMAT_S2:
		put_u16(p + 1, (uint16_t)n->arg);
		break;
	case OP_FORMAT_LOCAL:
	case OP_FORMAT_IINC:
		if (size > 3) {
			p[0] = OP_WIDE;
			p[1] = n->op;
			put_u16(p + 2, n->index);
			if (size == 6)
				put_u16(p + 4, (uint16_t)n->arg);
			break;
		}
		p[1] = (uint8_t)n->index;
		if (size == 3)
			p[2] = (uint8_t)n->arg;
		break;
	case OP_FORMAT_POOL1:
		if (size == 2) {
			p[1] = (uint8_t)n->index;
			break;
		}
		p[0] = OP_LDC_W;
		put_u16(p + 1, n->index);
		break;
	case OP_FORMAT_POOL2:
		put_u16(p + 1, n->index);
		break;
	case OP_FORMAT_IFACE:
	case OP_FORMAT_INDY:
	case OP_FORMAT_MULTI:
		put_u16(p + 1, n->index);
		p[3] = (uint8_t)n->arg;
		if (size == 5)
			p[4] = 0;
		break;
	case OP_FORMAT_BR2:
		put_u16(p + 1, (uint16_t)(n->target->pc - n->pc));
		break;
	case OP_FORMAT_BR4:
		put_u32(p + 1, n->target->pc - n->pc);
		break;
	case OP_FORMAT_TSWITCH:
	case OP_FORMAT_LSWITCH:
		return write_switch(code, n, p);
	default:
		break;
	}
	return p + size;
}

/* Writes the instructions, and collects the pieces on the way.  NULL: out of memory. */
static uint8_t *write_code(struct lowering *l, uint8_t *p)
{
	const struct code *code = l->code;
	const uint8_t *old = code->bytes.p;
	uint32_t from = 0, to = 0; /* old bytes that are still to be copied */

	for (struct insn *n = code->start; n; n = n->next) {
		if (n->op == OP_LABEL)
			continue;
		if (n->size && !pieces_add(&l->pieces, n))
			return NULL;
		if (n->flags & INSN_COPY) {
			if (n->old != to) {
				memcpy(p, old + from, to - from);
				p += to - from;
				from = n->old;
			}
			to = (uint32_t)n->old + n->size;
			continue;
		}
		if (to > from) {
			memcpy(p, old + from, to - from);
			p += to - from;
		}
		from = to = 0;
		if (n->op != OP_STAMP) {
			p = write_insn(code, n, p);
			continue;
		}
		memcpy(p, n->bytes, n->index);
		p += n->index;
	}
	memcpy(p, old + from, to - from);
	return p + (to - from);
}

static uint8_t *write_handlers(const struct code *code, uint8_t *p)
{
	uint8_t *count = p;
	uint16_t written = 0;

	p += 2;
	for (uint32_t i = 0; i < code->n_handlers; i++) {
		const struct handler *h = &code->handlers[i];

		if (h->start->pc >= h->end->pc) /* nothing is left in the range */
			continue;
		put_u16(p, (uint16_t)h->start->pc);
		put_u16(p + 2, (uint16_t)h->end->pc);
		put_u16(p + 4, (uint16_t)h->handler->pc);
		put_u16(p + 6, h->type);
		p += 8;
		written++;
	}
	put_u16(count, written);
	return p;
}

/* The attributes of the Code attribute, in their old order; NULL and *rc on failure. */
static uint8_t *write_tables(struct lowering *l, uint8_t *p, int *rc)
{
	struct code *code = l->code;
	uint8_t *count = p;
	uint16_t written = 0;
	uint32_t n = code->n_tables;

	p += 2;
	for (uint32_t i = 0; i < n; i++) {
		const struct code_table *t = &code->tables[i];

		if (t->attr.kind != ATTR_STACK_MAP_TABLE || t->unread) {
			p = pieces_write(code, &l->pieces, &t->attr, p);
			written++;
			continue;
		}
		if (!l->frames.n && get_u16(t->attr.data.p))
			continue; /* all frames were taken out */
		*rc = frame_write_table(code, l->frames.v, l->frames.n, p + 6);
		if (*rc < 0)
			return NULL;
		put_u16(p, t->attr.name);
		put_u32(p + 2, (uint32_t)*rc);
		p += 6 + *rc;
		written++;
	}
	put_u16(count, written);
	return p;
}

/* A method that gets its first frame needs the attribute, too. */
static int ensure_frame_table(struct lowering *l)
{
	struct code *code = l->code;
	struct code_table *tables;
	static const uint8_t empty[2];
	int name;

	if (!l->frames.n || code->cls->major < 50)
		return 0;
	for (uint32_t i = 0; i < code->n_tables; i++)
		if (code->tables[i].attr.kind == ATTR_STACK_MAP_TABLE)
			return 0;
	name = code->cls->frames_name;
	if (!name)
		name = pool_add_utf8(&code->cls->pool, slice_str("StackMapTable"));
	if (name < 0)
		return fault_set(l->fault, name, -1, "no room for the name of the StackMapTable");
	code->cls->frames_name = (uint16_t)name;
	tables = arena_zero(code->mem, (code->n_tables + 1) * sizeof(*tables));
	if (!tables)
		return no_memory(l);
	if (code->n_tables)
		memcpy(tables, code->tables, code->n_tables * sizeof(*tables));
	tables[code->n_tables++].attr = (struct attr){ .name = (uint16_t)name,
						       .kind = ATTR_STACK_MAP_TABLE,
						       .data = { empty, sizeof(empty) } };
	code->tables = tables;
	return 0;
}

static uint8_t *write_header(const struct lowering *l, uint8_t *p)
{
	const struct code *code = l->code;

	if (code->old_header) {
		p[0] = (uint8_t)code->max_stack;
		p[1] = (uint8_t)code->max_locals;
		put_u16(p + 2, (uint16_t)l->length);
		return p + 4;
	}
	put_u16(p, code->max_stack);
	put_u16(p + 2, code->max_locals);
	put_u32(p + 4, l->length);
	return p + 8;
}

int code_lower(struct code *code, struct fault *f)
{
	struct lowering l = { .code = code, .fault = f, .pieces = { .mem = code->mem } };
	size_t bound;
	uint8_t *body, *p;
	int rc;

	if (code->old_header && (code->max_stack > 255 || code->max_locals > 255))
		return code_fault(code, NULL, f, E_TOO_LARGE,
				  "version 45.%u allows 255 locals and stack slots",
				  code->cls->minor);
	rc = place_all(&l);
	if (rc < 0)
		return rc;
	rc = ensure_frame_table(&l);
	if (rc < 0)
		return rc;
	bound = 8 + l.length + 2 + 8 * (size_t)code->n_handlers + 2;
	for (uint32_t i = 0; i < code->n_tables; i++)
		bound += 6 + code->tables[i].attr.data.n;
	bound += frame_table_bound(l.frames.v, l.frames.n);
	body = arena_alloc(code->cls->mem, bound);
	if (!body)
		return no_memory(&l);
	p = write_header(&l, body);
	p = write_code(&l, p);
	if (!p)
		return no_memory(&l);
	pieces_sort(&l.pieces);
	p = write_handlers(code, p);
	p = write_tables(&l, p, &rc);
	if (!p)
		return fault_set(f, rc, -1, "no room in the constant pool for the types of frames");
	arena_trim(code->cls->mem, body, bound, (size_t)(p - body));
	code->method->lowered = (struct slice){ body, (size_t)(p - body) };
	return 0;
}

void code_offset_map(const struct code *code, struct buf *out)
{
	size_t count_at = out->n;
	uint16_t n = 0;
	int64_t distance = 0;

	buf_u16(out, 0);
	for (const struct insn *i = code->start; i; i = i->next) {
		if (i->op == OP_LABEL || !(i->flags & INSN_READ) ||
		    (int64_t)i->pc - i->old == distance)
			continue;
		distance = (int64_t)i->pc - i->old;
		buf_u16(out, i->old);
		buf_u16(out, i->pc);
		n++;
	}
	if (!out->err)
		put_u16(out->p + count_at, n);
}
