/* SPDX-License-Identifier: Apache-2.0 */
/* frame.c - the StackMapTable (JVMS 4.7.4), read into full frames and written as differences.
 *
 * In memory each frame is complete, so that frames can be put in, changed and taken out without
 * regard to their neighbours.  To keep that cheap, a frame that has the same locals as the one
 * before it, or only the first of them, shares its array; the writer compares pointers before it
 * compares types. */
#include "classfile/code.h"
#include "classfile/code_priv.h"
#include "classfile/desc.h"

/* Types of one method written out in full; real code stays far below. */
enum { EXPANDED_MAX = 16 << 20 };

struct types { /* where expanded types go; the end can grow in place */
	struct arena *mem;
	vtype *at;
	size_t used, cap;
	size_t total;
};

/* Room for n types, contiguous; NULL: out of memory or over the limit. */
static vtype *types_take(struct types *t, size_t n)
{
	vtype *p;

	t->total += n;
	if (t->total > EXPANDED_MAX)
		return NULL;
	if (!t->at || t->cap - t->used < n) {
		size_t cap = n < 256 ? 256 : n;

		t->at = arena_alloc(t->mem, cap * sizeof(*t->at));
		t->used = 0;
		t->cap = t->at ? cap : 0;
		if (!t->at)
			return NULL;
	}
	p = t->at + t->used;
	t->used += n;
	return p;
}

/* The types of `from` with n more behind them, which the caller fills in. */
static vtype *types_extend(struct types *t, const vtype *from, size_t have, size_t n)
{
	vtype *p;

	if (t->at && from + have == t->at + t->used && t->cap - t->used >= n) {
		t->used += n;
		return (vtype *)(uintptr_t)from; /* the newest array: it is still ours */
	}
	p = types_take(t, have + n);
	if (p && have)
		memcpy(p, from, have * sizeof(*p));
	return p;
}

static vtype type_of_desc(uint8_t c, uint32_t place)
{
	switch (c) {
	case 'J':
		return VT_LONG;
	case 'D':
		return VT_DOUBLE;
	case 'F':
		return VT_FLOAT;
	case 'L':
	case '[':
		return vt(VT_OBJECT, VT_DESC + place);
	default:
		return VT_INT;
	}
}

/* The argument types of a descriptor.  Only what is needed to step over them is looked at: whether
 * names are well formed is class_check's business.  Their number, or -1. */
static int argument_types(struct slice desc, vtype *out)
{
	const uint8_t *p = desc.p + 1, *end = desc.p + desc.n;
	int n = 0;

	if (!desc.n || desc.p[0] != '(')
		return -1;
	while (p < end && *p != ')') {
		const uint8_t *start = p;

		out[n++] = type_of_desc(*p, (uint32_t)(p - desc.p));
		while (p < end && *p == '[')
			p++;
		if (p < end && *p == 'L')
			p = memchr(p, ';', (size_t)(end - p));
		if (!p || p == end || p - start > UINT16_MAX)
			return -1;
		p++;
	}
	return p < end ? n : -1;
}

int frame_first(struct code *code, struct fault *f)
{
	const struct class *cls = code->cls;
	const struct member *m = code->method;
	struct slice desc = member_desc(cls, m);
	size_t room = (desc.n + 1) * sizeof(vtype);
	vtype *locals = arena_alloc(code->mem, room);
	uint16_t n = 0;
	int args;

	if (!locals)
		return fault_no_memory(f);
	if (!(m->access & ACC_STATIC)) {
		bool raw = slice_is(member_name(cls, m), "<init>") &&
			   !slice_is(class_name(cls), "java/lang/Object");

		locals[n++] = raw ? VT_UNINIT_THIS : vt(VT_OBJECT, cls->this_class);
	}
	args = argument_types(desc, locals + n);
	if (args < 0)
		return code_fault(code, NULL, f, E_DESCRIPTOR, "malformed descriptor");
	n = (uint16_t)(n + args);
	arena_trim(code->mem, locals, room, n * sizeof(*locals));
	code->first = (struct frame){ .locals = locals, .n_locals = n };
	return 0;
}

/* The number of a `new` instruction in code->news, found or added; -1: none there. */
static int new_number(struct elevation *e, uint32_t pc)
{
	struct code *code = e->code;
	struct insn *n, **more;

	if (pc >= code->bytes.n || !e->node_at[pc])
		return -1;
	n = &e->nodes[e->node_at[pc] - 1];
	if (n->op != OP_NEW)
		return -1;
	if (n->pc) /* until lowering: 1 + its number */
		return (int)n->pc - 1;
	if ((code->n_news & (code->n_news - 1)) == 0) { /* a power of two is full */
		more = arena_alloc(code->mem,
				   (code->n_news ? code->n_news * 2 : 1) * sizeof(*more));
		if (!more) {
			e->no_memory = true;
			return -1;
		}
		if (code->n_news)
			memcpy(more, code->news, code->n_news * sizeof(*more));
		code->news = more;
	}
	n->flags |= INSN_ANCHORED;
	code->news[code->n_news++] = n;
	n->pc = code->n_news;
	return (int)n->pc - 1;
}

static bool read_types(struct elevation *e, struct reader *r, vtype *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t tag = rd_u8(r);
		uint16_t value;
		int number;

		if (tag < VT_OBJECT) {
			out[i] = tag;
			continue;
		}
		value = rd_u16(r);
		if (tag == VT_OBJECT && pool_is(&e->code->cls->pool, value, TAGS(CONST_CLASS))) {
			out[i] = vt(VT_OBJECT, value);
			continue;
		}
		number = tag == VT_UNINIT ? new_number(e, value) : -1;
		if (number < 0)
			return false;
		out[i] = vt(VT_UNINIT, (uint32_t)number);
	}
	return !r->err;
}

/* The part of a frame behind its type byte, into *f, which begins as the frame before it. */
static bool read_frame(struct elevation *e, struct reader *r, struct types *types, uint8_t type,
		       uint32_t *delta, struct frame *f)
{
	uint16_t have = f->n_locals;
	vtype *p;

	f->n_stack = 0;
	*delta = type < 128 ? type & 63 : rd_u16(r);
	if (type < 64 || type == 251)
		return true;
	if (type < 128 || type == 247) { /* same locals, one stack item */
		p = types_take(types, 1);
		f->stack = p;
		f->n_stack = 1;
		return p && read_types(e, r, p, 1);
	}
	if (type < 247)
		return false;
	if (type < 251) { /* chop */
		unsigned n = 251u - type;

		if (have < n)
			return false;
		f->n_locals = (uint16_t)(have - n);
		return true;
	}
	if (type < 255) { /* append */
		unsigned n = type - 251u;

		if (have + n > UINT16_MAX)
			return false;
		p = types_extend(types, f->locals, have, n);
		f->locals = p;
		f->n_locals = (uint16_t)(have + n);
		return p && read_types(e, r, p + have, n);
	}
	f->n_locals = rd_u16(r);
	if (f->n_locals > rd_left(r)) /* a type takes at least a byte */
		return false;
	p = types_take(types, f->n_locals);
	f->locals = p;
	if (!p || !read_types(e, r, p, f->n_locals))
		return false;
	f->n_stack = rd_u16(r);
	if (f->n_stack > rd_left(r))
		return false;
	p = types_take(types, f->n_stack);
	f->stack = p;
	return p && read_types(e, r, p, f->n_stack);
}

int frame_read_table(struct elevation *e, struct slice data)
{
	struct code *code = e->code;
	struct reader r = rd_init(data);
	struct types types = { .mem = code->mem };
	struct frame frame = code->first;
	uint32_t n = rd_u16(&r), pc = 0;
	struct frame *frames;

	if (r.err || n > rd_left(&r))
		return code_fault(code, NULL, e->fault, E_FRAME, "StackMapTable is cut off");
	frames = arena_alloc(code->mem, n * sizeof(*frames));
	if (!frames)
		return fault_no_memory(e->fault);
	for (uint32_t i = 0; i < n; i++) {
		struct insn *label;
		uint32_t delta;

		if (!read_frame(e, &r, &types, rd_u8(&r), &delta, &frame) || r.err) {
			if (e->no_memory || (!types.cap && types.total))
				return fault_no_memory(e->fault);
			if (types.total > EXPANDED_MAX)
				return code_fault(code, NULL, e->fault, E_LIMIT,
						  "frames need more memory than is reasonable");
			return code_fault(code, NULL, e->fault, E_FRAME, "frame %u is malformed",
					  i);
		}
		pc = i ? pc + delta + 1 : delta;
		label = elevate_label(e, pc);
		if (e->no_memory)
			return fault_no_memory(e->fault);
		if (!label || label == code->end)
			return code_fault(code, NULL, e->fault, E_FRAME,
					  "frame %u is at %u, not the start of an instruction", i,
					  pc);
		frames[i] = frame;
		label->frame = &frames[i];
	}
	if (rd_left(&r))
		return code_fault(code, NULL, e->fault, E_FRAME,
				  "StackMapTable is longer than its %u frames", n);
	code->frames = frames;
	code->n_frames = n;
	return 0;
}

/* ---- writing ---- */

/* Class name of an Object type; for arrays the descriptor, as Class entries have it. */
static struct slice object_name(const struct code *code, vtype t)
{
	struct slice desc = member_desc(code->cls, code->method), rest;
	uint32_t value = vt_value(t);

	if (value < VT_DESC)
		return pool_name(&code->cls->pool, value);
	rest = (struct slice){ desc.p + (value - VT_DESC), desc.n - (value - VT_DESC) };
	rest.n = desc_field_len(rest);
	if (rest.n && rest.p[0] == 'L') {
		rest.p++;
		rest.n -= 2;
	}
	return rest;
}

static bool same_type(const struct code *code, vtype a, vtype b)
{
	if (a == b)
		return true;
	return vt_tag(a) == VT_OBJECT && vt_tag(b) == VT_OBJECT &&
	       slice_eq(object_name(code, a), object_name(code, b));
}

/* How many locals of two frames are the same, from the first on. */
static size_t same_locals(const struct code *code, const struct frame *a, const struct frame *b)
{
	size_t n = a->n_locals < b->n_locals ? a->n_locals : b->n_locals;
	size_t i = 0;

	if (a->locals == b->locals)
		return n;
	while (i < n && same_type(code, a->locals[i], b->locals[i]))
		i++;
	return i;
}

/* Classes of arguments that have been looked up: the same ones stand in frame after frame. */
enum { KNOWN = 16 };
struct writing {
	struct code *code;
	int rc;
	struct {
		vtype type; /* 0: free */
		uint16_t index;
	} known[KNOWN];
};

/* The Class entry for an argument's type, made when missing; < 0: E_*. */
static int class_of_argument(struct writing *w, vtype t)
{
	size_t i = vt_value(t) / 2 % KNOWN;

	if (w->known[i].type != t) {
		int index =
			pool_add_name(&w->code->cls->pool, CONST_CLASS, object_name(w->code, t));

		if (index < 0)
			return index;
		w->known[i].type = t;
		w->known[i].index = (uint16_t)index;
	}
	return w->known[i].index;
}

/* Returns the place behind what was written, or NULL and w->rc. */
static uint8_t *write_types(struct writing *w, uint8_t *p, const vtype *types, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t value = vt_value(types[i]);

		*p++ = vt_tag(types[i]);
		switch (vt_tag(types[i])) {
		case VT_OBJECT:
			if (value >= VT_DESC) {
				w->rc = class_of_argument(w, types[i]);
				if (w->rc < 0)
					return NULL;
				value = (uint32_t)w->rc;
			}
			put_u16(p, (uint16_t)value);
			p += 2;
			break;
		case VT_UNINIT:
			put_u16(p, (uint16_t)w->code->news[value]->pc);
			p += 2;
			break;
		default:
			break;
		}
	}
	return p;
}

static uint8_t *write_frame(struct writing *w, uint8_t *p, uint32_t delta,
			    const struct frame *before, const struct frame *f)
{
	size_t same = same_locals(w->code, before, f);
	bool all = same == before->n_locals && same == f->n_locals;
	int grown = f->n_locals - before->n_locals;

	if (f->n_stack == 0 && all && delta < 64) {
		*p++ = (uint8_t)delta;
		return p;
	}
	if (f->n_stack == 1 && all) {
		if (delta < 64) {
			*p++ = (uint8_t)(64 + delta);
		} else {
			*p = 247;
			put_u16(p + 1, (uint16_t)delta);
			p += 3;
		}
		return write_types(w, p, f->stack, 1);
	}
	if (f->n_stack == 0 && grown >= -3 && grown <= 3 &&
	    same == (grown < 0 ? f->n_locals : before->n_locals)) {
		*p = (uint8_t)(251 + grown); /* chop, same_extended or append */
		put_u16(p + 1, (uint16_t)delta);
		return write_types(w, p + 3, f->locals + same, grown > 0 ? (size_t)grown : 0);
	}
	*p = 255;
	put_u16(p + 1, (uint16_t)delta);
	put_u16(p + 3, f->n_locals);
	p = write_types(w, p + 5, f->locals, f->n_locals);
	if (!p)
		return NULL;
	put_u16(p, f->n_stack);
	return write_types(w, p + 2, f->stack, f->n_stack);
}

size_t frame_table_bound(struct insn *const *labels, size_t n)
{
	size_t bound = 2;

	for (size_t i = 0; i < n; i++)
		bound += 7 + 3 * ((size_t)labels[i]->frame->n_locals + labels[i]->frame->n_stack);
	return bound;
}

int frame_write_table(struct code *code, struct insn *const *labels, size_t n, uint8_t *out)
{
	const struct frame *before = &code->first;
	uint32_t next = 0; /* the offset that a delta of 0 means */
	uint16_t written = 0;
	uint8_t *p = out + 2;
	struct writing w = { .code = code };

	for (size_t i = 0; i < n; i++) {
		uint32_t pc = labels[i]->pc;

		/* Of two frames at one offset the later is the more general: code falls into it
		 * from the earlier. */
		if (i + 1 < n && labels[i + 1]->pc == pc)
			continue;
		p = write_frame(&w, p, pc - next, before, labels[i]->frame);
		if (!p)
			return w.rc;
		before = labels[i]->frame;
		next = pc + 1;
		written++;
	}
	put_u16(out, written);
	return (int)(p - out);
}
