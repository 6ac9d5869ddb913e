/* SPDX-License-Identifier: Apache-2.0 */
/* code.c - from the bytes of a Code attribute to a list of instructions.
 *
 * Two passes.  The first goes over the bytes once and makes the nodes, one behind the other in
 * memory; node_at remembers which node holds the instruction that begins at an offset.  The second
 * goes over what control flow needs (branches, switches, exception table, frames) and replaces
 * offsets by labels: node_at says at once whether an offset is the start of an instruction.  When
 * it lies inside a run, the run is cut there.  Labels are made only where something jumps to. */
#include "classfile/code.h"

#include <stdarg.h>
#include <stdio.h>

#include "classfile/code_priv.h"

int code_fault(const struct code *code, const struct insn *at, struct fault *f, int rc,
	       const char *fmt, ...)
{
	struct slice name = member_name(code->cls, code->method);
	struct slice desc = member_desc(code->cls, code->method);
	const uint8_t *place = code->bytes.p ? code->bytes.p : code->method->code.p;
	char text[sizeof(f->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (at && at->flags & INSN_READ)
		place += at->old;
	return fault_set(f, rc, (long)(place - code->cls->bytes.p), "%.*s%.*s: %s",
			 (int)(name.n < 60 ? name.n : 60), (const char *)name.p,
			 (int)(desc.n < 60 ? desc.n : 60), (const char *)desc.p, text);
}

static int no_memory(const struct elevation *e)
{
	return fault_no_memory(e->fault);
}

/* A switch has its operands at the next offset that four divides. */
static uint32_t switch_pad(uint32_t pc)
{
	return 3 - pc % 4;
}

/* Bytes of the switch at pc, or 0 when it is malformed. */
static uint32_t switch_size(struct slice bytes, uint32_t pc)
{
	uint32_t head = 1 + switch_pad(pc), fixed = bytes.p[pc] == OP_TABLESWITCH ? 12 : 8;
	size_t left = bytes.n - pc;
	const uint8_t *p = bytes.p + pc + head;
	int64_t n, each;

	if (left < head + fixed)
		return 0;
	if (bytes.p[pc] == OP_TABLESWITCH) {
		n = (int64_t)(int32_t)get_u32(p + 8) - (int32_t)get_u32(p + 4) + 1;
		each = 4;
		if (n < 1)
			return 0;
	} else {
		n = (int32_t)get_u32(p + 4);
		each = 8;
		if (n < 0)
			return 0;
	}
	if (n > (int64_t)(left - head - fixed) / each)
		return 0;
	return head + fixed + (uint32_t)(n * each);
}

static const char past_end[] = "instruction reaches past the end of the code";

static int bad_insn(struct elevation *e, uint32_t pc, int rc, const char *what)
{
	struct insn here = { .old = (uint16_t)pc, .flags = INSN_READ };

	return code_fault(e->code, &here, e->fault, rc, "offset %u: %s", pc, what);
}

/* The instruction behind a wide prefix; returns its size or an error. */
static int decode_wide(struct elevation *e, struct insn *n, uint32_t pc)
{
	struct slice bytes = e->code->bytes;
	const uint8_t *p = bytes.p + pc;
	size_t left = bytes.n - pc;

	if (left < 4)
		return bad_insn(e, pc, E_TRUNCATED, "wide reaches past the end of the code");
	n->op = p[1];
	n->flags |= INSN_WIDE;
	n->index = get_u16(p + 2);
	if (op_table[n->op].format == OP_FORMAT_LOCAL)
		return 4;
	if (n->op != OP_IINC)
		return bad_insn(e, pc, E_OPCODE,
				"wide before an instruction that has no wide form");
	if (left < 6)
		return bad_insn(e, pc, E_TRUNCATED, "wide reaches past the end of the code");
	n->arg = (int16_t)get_u16(p + 4);
	return 6;
}

static void add_branch(struct elevation *e, struct insn *n, uint32_t pc, int32_t distance)
{
	int64_t to = (int64_t)pc + distance;

	n->pc = to < 0 || to > UINT16_MAX ? UINT32_MAX : (uint32_t)to;
	n->flags = INSN_READ;
	n->target = e->branches;
	e->branches = n;
}

/* An instruction that is not plain (op_shapes); returns its size or an error. */
static int decode_special(struct elevation *e, struct insn *n, uint32_t pc)
{
	struct slice bytes = e->code->bytes;
	const uint8_t *p = bytes.p + pc;
	uint32_t size = op_table[*p].size;

	if (size > bytes.n - pc)
		return bad_insn(e, pc, E_TRUNCATED, past_end);
	switch (op_table[*p].format) {
	case OP_FORMAT_INDY:
	case OP_FORMAT_IFACE:
	case OP_FORMAT_MULTI:
		n->index = get_u16(p + 1);
		n->arg = p[3];
		break;
	case OP_FORMAT_BR2:
		add_branch(e, n, pc, (int16_t)get_u16(p + 1));
		break;
	case OP_FORMAT_BR4:
		add_branch(e, n, pc, (int32_t)get_u32(p + 1));
		break;
	case OP_FORMAT_TSWITCH:
	case OP_FORMAT_LSWITCH:
		size = switch_size(bytes, pc);
		if (!size)
			return bad_insn(e, pc, E_SWITCH,
					"switch bounds contradict each other or the code's length");
		add_branch(e, n, pc, 0);
		break;
	case OP_FORMAT_WIDE:
		return decode_wide(e, n, pc);
	default:
		return bad_insn(e, pc, E_OPCODE, "no such instruction");
	}
	return (int)size;
}

/* One node for an instruction; its size or an error. */
static int decode_insn(struct elevation *e, struct insn *n, uint32_t pc)
{
	const uint8_t *p = e->code->bytes.p + pc;
	const struct op_shape *shape = &op_shapes[*p];
	uint64_t w = get_u32(p + 1); /* read_header: 4 bytes follow */
	int size = shape->size;

	*n = (struct insn){ .prev = e->last,
			    .old = (uint16_t)pc,
			    .index = (uint16_t)(w >> shape->index_shift) | shape->local,
			    .arg = (int16_t)((int64_t)(w << shape->arg_left) >> shape->arg_right),
			    .op = *p,
			    .flags = INSN_READ | INSN_COPY };
	if (!size)
		size = decode_special(e, n, pc);
	if (size < 0)
		return size;
	n->size = (uint16_t)size;
	e->last->next = n;
	e->last = n;
	return size;
}

/* Returns are few, and who puts something in at the exits looks for nothing else. */
static void note(struct code *code, struct insn *n)
{
	if (op_is_return(n->op)) {
		n->target = code->returns;
		code->returns = n;
		code->n_returns++;
	}
	code->has_jsr |= n->op == OP_JSR || n->op == OP_JSR_W;
}

static int decode(struct elevation *e)
{
	uint32_t length = (uint32_t)e->code->bytes.n, pc = 0;

	while (pc < length) {
		int size = decode_insn(e, &e->nodes[e->n_nodes++], pc);

		if (size < 0)
			return size;
		note(e->code, e->last);
		e->node_at[pc] = (uint16_t)e->n_nodes;
		pc += (uint32_t)size;
	}
	arena_trim(e->code->mem, e->nodes, length * sizeof(*e->nodes),
		   e->n_nodes * sizeof(*e->nodes));
	return pc > length ? bad_insn(e, e->last->old, E_TRUNCATED, past_end) : 0;
}

static bool is_constructor(const struct code *code)
{
	return slice_is(member_name(code->cls, code->method), "<init>");
}

/* As decode, with runs.  The nodes keep room for those that cutting will make: a node holds at
 * least one instruction, so there are never more than bytes. */
static int decode_coarse(struct elevation *e)
{
	const uint8_t *code = e->code->bytes.p;
	uint32_t length = (uint32_t)e->code->bytes.n, pc = 0;
	/* in constructors it matters which object an invokespecial initialises */
	uint8_t alone = is_constructor(e->code) ? OP_INVOKESPECIAL : OP_LABEL;

	while (pc < length) {
		struct insn *n = &e->nodes[e->n_nodes++];
		uint16_t number = (uint16_t)e->n_nodes;
		uint32_t start = pc;
		int size;

		while (pc < length && op_run_size[code[pc]] && code[pc] != alone) {
			e->node_at[pc] = number;
			pc += op_run_size[code[pc]];
		}
		if (pc > start) {
			*n = (struct insn){ .prev = e->last,
					    .old = (uint16_t)start,
					    .size = (uint16_t)(pc - start),
					    .op = OP_RUN,
					    .flags = INSN_READ | INSN_COPY };
			e->last->next = n;
			e->last = n;
			continue;
		}
		size = decode_insn(e, n, pc);
		if (size < 0)
			return size;
		note(e->code, n);
		e->node_at[pc] = number;
		pc += (uint32_t)size;
	}
	return pc > length ? bad_insn(e, e->last->old, E_TRUNCATED, past_end) : 0;
}

/* Cuts the run at pc, where an instruction begins; the part from there on.  The smaller part
 * becomes the new node, so that cutting again and again stays cheap. */
static struct insn *cut(struct elevation *e, struct insn *run, uint32_t pc)
{
	uint32_t end = (uint32_t)run->old + run->size;
	bool head = pc - run->old < end - pc;
	struct insn *n = &e->nodes[e->n_nodes++];
	uint16_t number = (uint16_t)e->n_nodes;
	uint32_t from = head ? run->old : pc, to = head ? pc : end;

	for (uint32_t i = from; i < to; i++)
		if (e->node_at[i])
			e->node_at[i] = number;
	*n = *run;
	n->old = (uint16_t)from;
	n->size = (uint16_t)(to - from);
	if (head) {
		run->old = (uint16_t)pc;
		run->size = (uint16_t)(end - pc);
		run->prev->next = n;
		n->next = run;
		run->prev = n;
		return run;
	}
	run->size = (uint16_t)(pc - run->old);
	run->next->prev = n;
	n->prev = run;
	run->next = n;
	return n;
}

struct insn *elevate_label(struct elevation *e, uint32_t pc)
{
	struct code *code = e->code;
	struct insn *node, *label;

	if (pc >= code->bytes.n)
		return pc == code->bytes.n ? code->end : NULL;
	if (!e->node_at[pc])
		return NULL;
	node = &e->nodes[e->node_at[pc] - 1];
	if (node->old != pc)
		node = cut(e, node, pc);
	label = node->prev;
	if (label->op == OP_LABEL && label != code->start)
		return label;
	label = arena_alloc(code->mem, sizeof(*label));
	if (!label) {
		e->no_memory = true;
		return NULL;
	}
	*label = (struct insn){
		.prev = node->prev, .next = node, .op = OP_LABEL, .old = (uint16_t)pc
	};
	node->prev->next = label;
	node->prev = label;
	return label;
}

static int bad_target(struct elevation *e, const struct insn *from, uint32_t to)
{
	if (e->no_memory)
		return no_memory(e);
	return code_fault(e->code, from, e->fault, E_BRANCH,
			  "%s at offset %u goes to %d, which is not the start of an instruction",
			  op_table[from->op].name, from->old, (int)to);
}

/* The label at a distance from a switch; a distance may be anything that 32 bits hold. */
static struct insn *switch_label(struct elevation *e, const struct insn *n, uint32_t distance)
{
	struct insn *label = elevate_label(e, n->old + distance);

	return label == e->code->end ? NULL : label;
}

static int link_switch(struct elevation *e, struct insn *n)
{
	bool table = n->op == OP_TABLESWITCH;
	const uint8_t *p = e->code->bytes.p + n->old + 1 + switch_pad(n->old);
	uint32_t count = table ? get_u32(p + 8) - get_u32(p + 4) + 1 : get_u32(p + 4);
	struct insn_switch *sw;

	sw = arena_alloc(e->code->mem, sizeof(*sw) + count * sizeof(sw->cases[0]));
	if (!sw)
		return no_memory(e);
	sw->n = count;
	sw->low = table ? (int32_t)get_u32(p + 4) : 0;
	sw->other = switch_label(e, n, get_u32(p));
	if (!sw->other)
		return bad_target(e, n, n->old + get_u32(p));
	p += table ? 12 : 8;
	for (uint32_t i = 0; i < count; i++, p += table ? 4 : 8) {
		uint32_t distance = get_u32(table ? p : p + 4);
		struct insn_case *c = &sw->cases[i];

		c->key = table ? (int32_t)((uint32_t)sw->low + i) : (int32_t)get_u32(p);
		c->target = switch_label(e, n, distance);
		if (!c->target)
			return bad_target(e, n, n->old + distance);
		if (i && c->key <= c[-1].key)
			return bad_insn(e, n->old, E_SWITCH, "keys of lookupswitch are not sorted");
	}
	n->sw = sw;
	return 0;
}

static int link_branches(struct elevation *e)
{
	struct insn *n = e->branches;

	while (n) {
		struct insn *next = n->target, *label;

		if (op_is_switch(n->op)) {
			int rc = link_switch(e, n);

			if (rc < 0)
				return rc;
		} else {
			label = elevate_label(e, n->pc);
			if (!label || label == e->code->end)
				return bad_target(e, n, n->pc);
			n->target = label;
		}
		n = next;
	}
	return 0;
}

static int read_handlers(struct elevation *e, struct reader *r)
{
	struct code *code = e->code;
	uint32_t n = rd_u16(r);

	if (r->err || n * 8 > rd_left(r))
		return code_fault(code, NULL, e->fault, E_HANDLER,
				  "exception table of %u entries is cut off", n);
	code->handlers = arena_alloc(code->mem, n * sizeof(*code->handlers));
	if (!code->handlers)
		return no_memory(e);
	code->n_handlers = n;
	for (uint32_t i = 0; i < n; i++) {
		struct handler *h = &code->handlers[i];
		uint16_t start = rd_u16(r), end = rd_u16(r), handler = rd_u16(r);

		h->type = rd_u16(r);
		h->start = elevate_label(e, start);
		h->end = elevate_label(e, end);
		h->handler = elevate_label(e, handler);
		if (e->no_memory)
			return no_memory(e);
		if (!h->start || !h->end || !h->handler || h->handler == code->end || start >= end)
			return code_fault(code, NULL, e->fault, E_HANDLER,
					  "exception table entry %u: %u to %u, handler %u: not a "
					  "range of instructions",
					  i, start, end, handler);
		if (h->type && !pool_is(&code->cls->pool, h->type, TAGS(CONST_CLASS)))
			return code_fault(code, NULL, e->fault, E_HANDLER,
					  "exception table entry %u catches %u, not a Class entry",
					  i, h->type);
	}
	return 0;
}

static int bad_table(struct elevation *e, const struct attr *a, int rc)
{
	return code_fault(e->code, NULL, e->fault, rc, "%s does not fit its length or the code",
			  attr_table[a->kind].name);
}

/* LineNumberTable, LocalVariableTable and LocalVariableTypeTable: u2 count, entries of a fixed
 * size that begin with an offset (and, for variables, a length). */
static int check_offsets(struct elevation *e, const struct attr *a, size_t entry, bool ranges)
{
	const uint8_t *p = a->data.p + 2;
	size_t n = a->data.n < 2 ? 0 : get_u16(a->data.p);
	uint32_t greatest = 0, limit = (uint32_t)e->code->bytes.n + ranges;

	if (a->data.n < 2 || a->data.n != 2 + n * entry)
		return bad_table(e, a, ranges ? E_VARS : E_LINES);
	for (; n; n--, p += entry) {
		uint32_t offset = get_u16(p) + (ranges ? (uint32_t)get_u16(p + 2) : 0);

		greatest = offset > greatest ? offset : greatest;
	}
	return greatest < limit ? 0 : bad_table(e, a, ranges ? E_VARS : E_LINES);
}

/* For version 50 a JVM falls back on inference when frames are no good (JVMS 4.10): then they are
 * carried along unread. */
static int read_frames(struct elevation *e, struct code_table *t)
{
	bool may_fail = e->code->cls->major == 50;
	struct fault ignored = { 0 }, *fault = e->fault;
	int rc;

	if (may_fail)
		e->fault = &ignored;
	rc = frame_read_table(e, t->attr.data);
	e->fault = fault;
	if (rc >= 0 || !may_fail || rc == E_NO_MEMORY)
		return rc < 0 ? fault_set(fault, rc, ignored.at, "%s", ignored.text) : rc;
	for (struct insn *n = e->code->start; n; n = n->next)
		if (n->op == OP_LABEL)
			n->frame = NULL;
	t->unread = true;
	return 0;
}

static int read_table(struct elevation *e, struct code_table *t)
{
	uint16_t major = e->code->cls->major;

	switch (t->attr.kind) {
	case ATTR_LINE_NUMBER_TABLE:
		return check_offsets(e, &t->attr, 4, false);
	case ATTR_LOCAL_VARIABLE_TABLE:
	case ATTR_LOCAL_VARIABLE_TYPE_TABLE:
		return check_offsets(e, &t->attr, 10, true);
	case ATTR_RUNTIME_VISIBLE_TYPE_ANNOTATIONS:
	case ATTR_RUNTIME_INVISIBLE_TYPE_ANNOTATIONS:
		return 0; /* no JVM reads them while loading: lowering moves what it understands */
	case ATTR_STACK_MAP_TABLE:
		if (major >= 50)
			return read_frames(e, t);
		break;
	case ATTR_STACK_MAP:
		if (major < 50)
			return 0;
		break;
	default:
		break;
	}
	t->attr.kind = ATTR_UNKNOWN; /* carried as it is */
	return 0;
}

static int read_tables(struct elevation *e, struct reader *r)
{
	struct code *code = e->code;
	const struct pool *pool = &code->cls->pool;
	bool have_frames = false;
	struct attrs attrs;
	int rc;

	rc = attrs_read(&attrs, pool, r, e->fault);
	if (rc < 0)
		return rc;
	if (rd_left(r))
		return code_fault(code, NULL, e->fault, E_ATTRIBUTE,
				  "Code attribute is longer than what it holds");
	code->tables = arena_zero(code->mem, (attrs.n + 1u) * sizeof(*code->tables));
	if (!code->tables)
		return no_memory(e);
	for (const uint8_t *at = NULL;;) {
		struct code_table *t = &code->tables[code->n_tables];

		if (!attrs_next(&attrs, pool, &at, &t->attr))
			return 0;
		code->n_tables++;
		rc = read_table(e, t);
		if (rc < 0)
			return rc;
		if (t->attr.kind != ATTR_STACK_MAP_TABLE)
			continue;
		if (have_frames)
			return code_fault(code, NULL, e->fault, E_FRAME, "two StackMapTables");
		have_frames = true;
	}
}

/* Versions 45.0 to 45.2 had a shorter header (JVMS, first edition).  Today's JVMs know nothing of
 * that and read the long one, so there are files of both kinds: the short one is meant where the
 * long one makes no sense. */
static bool has_old_header(const struct class *cls, struct slice code)
{
	uint32_t length = code.n < 12 ? 0 : get_u32(code.p + 4);

	return cls->major == 45 && cls->minor < 3 && (length == 0 || length > code.n - 12);
}

struct slice code_instructions(const struct class *cls, const struct member *m)
{
	bool old = has_old_header(cls, m->code);
	struct reader r = rd_init(m->code);

	rd_take(&r, old ? 2 : 4);
	return rd_bytes(&r, old ? rd_u16(&r) : rd_u32(&r));
}

static int read_header(struct elevation *e, struct reader *r)
{
	struct code *code = e->code;
	uint32_t length;

	code->old_header = has_old_header(code->cls, code->method->code);
	code->max_stack = code->old_header ? rd_u8(r) : rd_u16(r);
	code->max_locals = code->old_header ? rd_u8(r) : rd_u16(r);
	length = code->old_header ? rd_u16(r) : rd_u32(r);
	/* Two counts follow the code: decode() relies on these four bytes. */
	if (r->err || length == 0 || length > 65535 || (size_t)length + 4 > rd_left(r))
		return code_fault(code, NULL, e->fault, E_CODE_LENGTH,
				  "code of %u bytes in an attribute of %zu", length,
				  code->method->code.n);
	code->bytes = rd_bytes(r, length);
	return 0;
}

/* node_at for this method, all zero; kept in the class and used again. */
static bool take_scratch(struct elevation *e)
{
	struct class *cls = e->code->cls;
	uint32_t need = (uint32_t)e->code->bytes.n;

	if (cls->scratch_n < need) {
		uint32_t n = need < 2048 ? 2048 : need < 16384 ? 16384 : 65536;

		cls->scratch = arena_alloc(cls->mem, n * sizeof(*cls->scratch));
		cls->scratch_n = cls->scratch ? n : 0;
		if (!cls->scratch)
			return false;
	}
	memset(cls->scratch, 0, need * sizeof(*cls->scratch));
	e->node_at = cls->scratch;
	return true;
}

static int elevate(struct class *cls, struct member *m, bool coarse, struct code **out,
		   struct fault *f)
{
	struct code *code = arena_zero(cls->work, sizeof(*code) + 2 * sizeof(struct insn));
	struct elevation e = { .code = code, .fault = f };
	struct reader r = rd_init(m->code);
	int rc;

	if (!code)
		return no_memory(&e);
	code->cls = cls;
	code->method = m;
	code->mem = cls->work;
	code->start = (struct insn *)(code + 1);
	code->end = code->read_end = code->start + 1;
	code->start->op = code->end->op = OP_LABEL;
	if (!m->code.p)
		return code_fault(code, NULL, f, E_CODE_MISSING, "has no code");
	rc = read_header(&e, &r);
	if (rc < 0)
		return rc;
	code->end->old = (uint16_t)code->bytes.n;
	e.last = code->start;
	e.nodes = arena_alloc(code->mem, code->bytes.n * sizeof(*e.nodes));
	if (!e.nodes || !take_scratch(&e))
		return no_memory(&e);
	rc = coarse ? decode_coarse(&e) : decode(&e);
	e.last->next = code->end;
	code->end->prev = e.last;
	if (rc >= 0)
		rc = link_branches(&e);
	if (rc >= 0)
		rc = frame_first(code, f);
	if (rc >= 0)
		rc = read_handlers(&e, &r);
	if (rc >= 0)
		rc = read_tables(&e, &r);
	if (rc >= 0)
		*out = code;
	return rc;
}

int code_elevate(struct class *cls, struct member *m, struct code **out, struct fault *f)
{
	return elevate(cls, m, false, out, f);
}

int code_elevate_coarse(struct class *cls, struct member *m, struct code **out, struct fault *f)
{
	return elevate(cls, m, true, out, f);
}

/* Puts the instructions of a run in its place. */
static int expand(struct elevation *e, struct insn *run)
{
	struct code *code = e->code;
	struct insn *next = run->next;
	uint32_t end = (uint32_t)run->old + run->size;
	uint8_t keep = run->flags & INSN_MARKED;

	e->last = run->prev;
	for (uint32_t pc = run->old; pc < end;) {
		struct insn *n = arena_alloc(code->mem, sizeof(*n));
		int size = n ? decode_insn(e, n, pc) : E_NO_MEMORY;

		if (size < 0)
			return size;
		n->flags |= keep;
		pc += (uint32_t)size;
	}
	e->last->next = next;
	next->prev = e->last;
	return 0;
}

/* The same with a stamp; its instructions are new ones. */
static int expand_stamp(struct code *code, struct insn *stamp)
{
	struct code made = *code;
	struct elevation e = { .code = &made, .last = stamp->prev };
	struct insn *next = stamp->next;

	made.bytes = (struct slice){ stamp->bytes, stamp->index };
	for (uint32_t pc = 0; pc < stamp->index;) {
		struct insn *n = arena_alloc(code->mem, sizeof(*n));
		int size = n ? decode_insn(&e, n, pc) : E_NO_MEMORY;

		if (size < 0)
			return size;
		n->flags = stamp->flags & INSN_MARKED;
		n->size = n->old = 0;
		pc += (uint32_t)size;
	}
	e.last->next = next;
	next->prev = e.last;
	return 0;
}

int code_expand(struct code *code)
{
	struct elevation e = { .code = code };
	int rc = 0;

	for (struct insn *n = code->start, *next; n && rc >= 0; n = next) {
		next = n->next;
		if (n->op == OP_RUN)
			rc = expand(&e, n);
		else if (n->op == OP_STAMP)
			rc = expand_stamp(code, n);
	}
	return rc;
}
