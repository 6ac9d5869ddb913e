/* SPDX-License-Identifier: Apache-2.0 */
/* show_code.c - the instructions of a method, with names for the places that something points
 * at. */
#include "classfile/show/show_priv.h"

#include <fnmatch.h>

#include "classfile/desc.h"

static void mark(struct show_labels *l, uint32_t pc)
{
	if (pc <= l->n)
		l->at[pc] = 1;
}

static int mark_offset(void *ctx, size_t at, uint16_t pc)
{
	(void)at;
	mark(ctx, pc);
	return 0;
}

static int mark_range(void *ctx, size_t at, uint16_t from, uint16_t length)
{
	(void)at;
	mark(ctx, from);
	mark(ctx, (uint32_t)from + length);
	return 0;
}

static void mark_types(struct show_labels *l, const struct code *code, const vtype *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (vt_tag(v[i]) == VT_UNINIT)
			mark(l, code->news[vt_value(v[i])]->old);
}

static void mark_insn(struct show_labels *l, const struct code *code, const struct insn *n)
{
	if (n->op == OP_LABEL) {
		if (!n->frame)
			return;
		mark(l, n->old);
		mark_types(l, code, n->frame->locals, n->frame->n_locals);
		mark_types(l, code, n->frame->stack, n->frame->n_stack);
	} else if (op_is_branch(n->op)) {
		mark(l, n->target->old);
	} else if (op_is_switch(n->op)) {
		mark(l, n->sw->other->old);
		for (uint32_t i = 0; i < n->sw->n; i++)
			mark(l, n->sw->cases[i].target->old);
	}
}

int show_labels_make(struct show_labels *labels, const struct code *code)
{
	struct show_labels l = { NULL, (uint32_t)code->bytes.n };
	struct attr_visitor visitor = { &l, NULL, mark_offset, mark_range };
	uint32_t number = 0;

	l.at = arena_zero(code->mem, (l.n + 1) * sizeof(*l.at));
	if (!l.at)
		return E_NO_MEMORY;
	for (const struct insn *n = code->start; n; n = n->next)
		mark_insn(&l, code, n);
	for (uint32_t i = 0; i < code->n_handlers; i++) {
		mark(&l, code->handlers[i].start->old);
		mark(&l, code->handlers[i].end->old);
		mark(&l, code->handlers[i].handler->old);
	}
	for (uint32_t i = 0; i < code->n_tables; i++)
		attr_walk(&code->tables[i].attr, &code->cls->pool, &visitor, NULL);
	for (const struct insn *n = code->start; n; n = n->next) /* only where instructions begin */
		if ((n->op != OP_LABEL || n == code->end) && l.at[n->old])
			l.at[n->old] = ++number;
	*labels = l;
	return 0;
}

/* Offsets inside of an instruction have no label. */
void show_label(struct buf *out, const struct show_labels *l, uint32_t pc)
{
	if (l && pc <= l->n && l->at[pc])
		buf_printf(out, "L%u", l->at[pc] - 1);
	else
		buf_printf(out, "@%u", pc);
}

static void show_switch(struct buf *out, const struct insn *n, const struct show_labels *labels)
{
	for (uint32_t i = 0; i < n->sw->n; i++) {
		buf_printf(out, " %d:", n->sw->cases[i].key);
		if (labels)
			show_label(out, labels, n->sw->cases[i].target->old);
	}
	buf_text(out, " default:");
	if (labels)
		show_label(out, labels, n->sw->other->old);
}

static const char *array_type(int16_t arg)
{
	static const char *const types[] = { "boolean", "char",	 "float", "double",
					     "byte",	"short", "int",	  "long" };

	return arg >= 4 && arg <= 11 ? types[arg - 4] : "?";
}

static void show_operand(struct buf *out, const struct code *code, const struct insn *n)
{
	const struct pool *p = &code->cls->pool;

	if (pool_is(p, n->index, TAGS(CONST_CLASS)) && op_table[n->op].format != OP_FORMAT_MULTI &&
	    n->op != OP_NEW && n->op != OP_ANEWARRAY && n->op != OP_CHECKCAST &&
	    n->op != OP_INSTANCEOF)
		buf_text(out, " class");
	else if (pool_is(p, n->index, TAGS(CONST_METHOD_TYPE)))
		buf_text(out, " type");
	buf_u8(out, ' ');
	show_const(out, p, n->index);
}

void show_insn(struct buf *out, const struct code *code, const struct insn *n,
	       const struct show_labels *labels)
{
	if (n->flags & INSN_WIDE)
		buf_text(out, "wide ");
	buf_text(out, op_table[n->op].name ? op_table[n->op].name : "?");
	switch (op_table[n->op].format) {
	case OP_FORMAT_S1:
	case OP_FORMAT_S2:
		buf_printf(out, " %d", n->arg);
		break;
	case OP_FORMAT_NEWARRAY:
		buf_printf(out, " %s", array_type(n->arg));
		break;
	case OP_FORMAT_LOCAL:
		buf_printf(out, " %u", n->index);
		break;
	case OP_FORMAT_IINC:
		buf_printf(out, " %u by %d", n->index, n->arg);
		break;
	case OP_FORMAT_POOL1:
	case OP_FORMAT_POOL2:
	case OP_FORMAT_IFACE:
	case OP_FORMAT_INDY:
		show_operand(out, code, n);
		break;
	case OP_FORMAT_MULTI:
		show_operand(out, code, n);
		buf_printf(out, " dimensions %d", n->arg);
		break;
	case OP_FORMAT_BR2:
	case OP_FORMAT_BR4:
		if (labels) {
			buf_u8(out, ' ');
			show_label(out, labels, n->target->old);
		}
		break;
	case OP_FORMAT_TSWITCH:
	case OP_FORMAT_LSWITCH:
		show_switch(out, n, labels);
		break;
	default:
		break;
	}
}

static void show_object(struct buf *out, const struct code *code, uint32_t value)
{
	struct slice desc = member_desc(code->cls, code->method);
	size_t n;

	if (value < VT_DESC) {
		show_name(out, pool_name(&code->cls->pool, value));
		return;
	}
	value -= VT_DESC;
	if (value >= desc.n)
		return;
	desc = (struct slice){ desc.p + value, desc.n - value };
	n = desc_field_len(desc);
	if (n && desc.p[0] == 'L')
		show_name(out, (struct slice){ desc.p + 1, n - 2 });
	else
		show_name(out, (struct slice){ desc.p, n });
}

static void show_vtypes(struct buf *out, const struct code *code, const vtype *v, unsigned n,
			const struct show_labels *labels)
{
	static const char *const names[] = {
		"top", "int", "float", "double", "long", "null", "uninitializedThis",
	};

	buf_u8(out, '[');
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_text(out, ", ");
		if (vt_tag(v[i]) == VT_OBJECT) {
			show_object(out, code, vt_value(v[i]));
		} else if (vt_tag(v[i]) == VT_UNINIT) {
			buf_text(out, "uninitialized");
			if (labels) {
				buf_u8(out, ' ');
				show_label(out, labels, code->news[vt_value(v[i])]->old);
			}
		} else {
			buf_text(out, vt_tag(v[i]) < COUNT(names) ? names[vt_tag(v[i])] : "?");
		}
	}
	buf_u8(out, ']');
}

void show_frame(struct buf *out, const struct code *code, const struct frame *frame,
		const struct show_labels *labels)
{
	buf_text(out, "locals ");
	show_vtypes(out, code, frame->locals, frame->n_locals, labels);
	buf_text(out, " stack ");
	show_vtypes(out, code, frame->stack, frame->n_stack, labels);
}

static void list_insn(const struct show *s, const struct code *code, const struct insn *n)
{
	show_indent(s);
	buf_printf(s->out, "%5u  ", n->old);
	if (!op_is_switch(n->op)) {
		show_insn(s->out, code, n, s->labels);
		buf_u8(s->out, '\n');
		return;
	}
	buf_printf(s->out, "%s\n", op_table[n->op].name);
	for (uint32_t i = 0; i <= n->sw->n; i++) {
		const struct insn *to = i < n->sw->n ? n->sw->cases[i].target : n->sw->other;

		show_indent(s);
		if (i < n->sw->n)
			buf_printf(s->out, "%20d: ", n->sw->cases[i].key);
		else
			buf_text(s->out, "             default: ");
		show_label(s->out, s->labels, to->old);
		buf_u8(s->out, '\n');
	}
}

/* The labels before one instruction share a name; at most one of them has a frame. */
static const struct insn *list_label(const struct show *s, const struct code *code,
				     const struct insn *n)
{
	const struct frame *frame = NULL;
	const struct insn *next = n;

	for (; next && next->op == OP_LABEL; next = next->next)
		frame = next->frame ? next->frame : frame;
	if (s->labels->at[n->old]) {
		show_indent(s);
		show_label(s->out, s->labels, n->old);
		buf_u8(s->out, ':');
		if (frame) {
			buf_text(s->out, "  frame ");
			show_frame(s->out, code, frame, s->labels);
		}
		buf_u8(s->out, '\n');
	}
	return next;
}

static void list_insns(const struct show *s, const struct code *code)
{
	const struct insn *n = code->start;

	while (n) {
		n = list_label(s, code, n);
		if (n) {
			list_insn(s, code, n);
			n = n->next;
		}
	}
}

static void list_handlers(const struct show *s, const struct code *code)
{
	for (uint32_t i = 0; i < code->n_handlers; i++) {
		const struct handler *h = &code->handlers[i];

		show_indent(s);
		buf_text(s->out, "try ");
		show_label(s->out, s->labels, h->start->old);
		buf_text(s->out, " to ");
		show_label(s->out, s->labels, h->end->old);
		buf_text(s->out, " catch ");
		if (h->type)
			show_const(s->out, &s->cls->pool, h->type);
		else
			buf_text(s->out, "any");
		buf_text(s->out, " at ");
		show_label(s->out, s->labels, h->handler->old);
		buf_u8(s->out, '\n');
	}
}

const char *show_elevated(const struct show *s, struct member *m, struct code **code,
			  struct show_labels *labels, struct fault *f)
{
	int rc = code_elevate(s->cls, m, code, f);

	if (rc >= 0)
		rc = show_labels_make(labels, *code);
	if (rc >= 0)
		return NULL;
	return f->text[0] ? f->text : err_text(rc);
}

void show_code(struct show *s, struct member *m)
{
	struct show_labels labels;
	struct fault f = { 0 };
	struct code *code;
	const char *why = show_elevated(s, m, &code, &labels, &f);

	show_indent(s);
	if (why) {
		buf_printf(s->out, "code of %zu bytes cannot be shown: ", m->code.n);
		show_name(s->out, slice_str(why));
		buf_u8(s->out, '\n');
		return;
	}
	buf_printf(s->out, "code of %zu bytes, max_stack %u, max_locals %u%s\n", code->bytes.n,
		   code->max_stack, code->max_locals, s->opt->code ? ":" : "");
	if (!s->opt->code)
		return;
	s->labels = &labels;
	s->depth++;
	list_insns(s, code);
	list_handlers(s, code);
	for (uint32_t i = 0; i < code->n_tables; i++)
		if (code->tables[i].attr.kind != ATTR_STACK_MAP_TABLE) /* stands at the labels */
			show_attr(s, &code->tables[i].attr);
	s->depth--;
	s->labels = NULL;
}

bool show_wants(const struct show *s, const struct member *m)
{
	struct slice name = member_name(s->cls, m), desc = member_desc(s->cls, m);
	char *text;

	if (!s->opt->method)
		return true;
	text = arena_alloc(s->cls->mem, name.n + desc.n + 1);
	if (!text)
		return false;
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	if (fnmatch(s->opt->method, text, FNM_NOESCAPE) == 0)
		return true;
	memcpy(text + name.n, desc.p, desc.n);
	text[name.n + desc.n] = '\0';
	return fnmatch(s->opt->method, text, FNM_NOESCAPE) == 0;
}
