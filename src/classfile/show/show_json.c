/* SPDX-License-Identifier: Apache-2.0 */
/* show_json.c - the listing of a class as JSON.
 *
 * {"name", "super", "interfaces", "access", "flags", "major", "minor", "bytes", "pool": [...],
 * "attributes": [{"name", "bytes", "text": [lines]}], "fields": [...], "methods": [{"name", "desc",
 * "access", "flags", "types", "attributes", "code": {"bytes", "max_stack", "max_locals",
 * "instructions": [{"at", "label", "frame", "op", "text", "target", ...}], "handlers": [...],
 * "attributes"}}]} */
#include "classfile/show/show_priv.h"

static void key_name(struct json *j, const char *key, struct slice name)
{
	json_key(j, key);
	show_json_name(j, name);
}

/* What `s->out`, a buffer for this, has got since it was emptied. */
static void key_text(struct json *j, const char *key, struct buf *text)
{
	json_put_str(j, key, buf_slice(text));
	buf_clear(text);
}

static void key_flags(struct json *j, const struct show *s, unsigned access, char where)
{
	json_put_u64(j, "access", access);
	show_flags(s->out, access, where);
	key_text(j, "flags", s->out);
}

static void json_lines(struct json *j, struct buf *text)
{
	struct slice rest = buf_slice(text);

	json_open(j, '[');
	while (rest.n) {
		const uint8_t *eol = memchr(rest.p, '\n', rest.n);
		size_t n = eol ? (size_t)(eol - rest.p) : rest.n;

		json_str(j, (struct slice){ rest.p, n });
		rest.p += n + (eol != NULL);
		rest.n -= n + (eol != NULL);
	}
	json_close(j, ']');
	buf_clear(text);
}

static void json_attr(struct json *j, struct show *s, const struct attr *a)
{
	json_open(j, '{');
	key_name(j, "name", pool_utf8(&s->cls->pool, a->name));
	json_put_u64(j, "bytes", a->data.n);
	s->depth = 0;
	show_attr(s, a);
	json_key(j, "text");
	json_lines(j, s->out);
	json_close(j, '}');
}

static void json_attrs(struct json *j, struct show *s, const struct attrs *attrs)
{
	struct attr a;

	json_put_open(j, "attributes", '[');
	for (const uint8_t *at = NULL; attrs_next(attrs, &s->cls->pool, &at, &a);)
		if (a.kind != ATTR_CODE)
			json_attr(j, s, &a);
	json_close(j, ']');
}

static void key_label(struct json *j, const struct show *s, const char *key, uint32_t pc)
{
	show_label(s->out, s->labels, pc);
	key_text(j, key, s->out);
}

static void json_targets(struct json *j, const struct show *s, const struct insn *n)
{
	if (op_is_branch(n->op)) {
		key_label(j, s, "target", n->target->old);
	} else if (op_is_switch(n->op)) {
		key_label(j, s, "default", n->sw->other->old);
		json_put_open(j, "cases", '[');
		for (uint32_t i = 0; i < n->sw->n; i++) {
			json_open(j, '{');
			json_put_i64(j, "key", n->sw->cases[i].key);
			key_label(j, s, "target", n->sw->cases[i].target->old);
			json_close(j, '}');
		}
		json_close(j, ']');
	}
}

static void json_insn(struct json *j, const struct show *s, const struct code *code,
		      const struct insn *n, const struct frame *frame)
{
	json_open(j, '{');
	json_put_u64(j, "at", n->old);
	if (s->labels->at[n->old])
		key_label(j, s, "label", n->old);
	if (frame) {
		show_frame(s->out, code, frame, s->labels);
		key_text(j, "frame", s->out);
	}
	json_put_text(j, "op", op_table[n->op].name);
	show_insn(s->out, code, n, s->labels);
	key_text(j, "text", s->out);
	json_targets(j, s, n);
	json_close(j, '}');
}

static void json_handlers(struct json *j, const struct show *s, const struct code *code)
{
	json_put_open(j, "handlers", '[');
	for (uint32_t i = 0; i < code->n_handlers; i++) {
		const struct handler *h = &code->handlers[i];

		json_open(j, '{');
		key_label(j, s, "start", h->start->old);
		key_label(j, s, "end", h->end->old);
		key_label(j, s, "handler", h->handler->old);
		json_key(j, "catch");
		if (h->type)
			show_json_name(j, pool_name(&s->cls->pool, h->type));
		else
			json_null(j);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_body(struct json *j, struct show *s, const struct code *code)
{
	const struct frame *frame = NULL;

	json_put_open(j, "instructions", '[');
	for (const struct insn *n = code->start; n; n = n->next) {
		if (n->op == OP_LABEL) {
			frame = n->frame ? n->frame : frame;
			continue;
		}
		json_insn(j, s, code, n, frame);
		frame = NULL;
	}
	json_close(j, ']');
	json_handlers(j, s, code);
	json_put_open(j, "attributes", '[');
	for (uint32_t i = 0; i < code->n_tables; i++)
		if (code->tables[i].attr.kind != ATTR_STACK_MAP_TABLE)
			json_attr(j, s, &code->tables[i].attr);
	json_close(j, ']');
}

static void json_code(struct json *j, struct show *s, struct member *m)
{
	struct show_labels labels;
	struct fault f = { 0 };
	struct code *code;
	const char *why = show_elevated(s, m, &code, &labels, &f);

	json_put_open(j, "code", '{');
	if (why) {
		json_put_text(j, "error", why);
		json_close(j, '}');
		return;
	}
	json_put_u64(j, "bytes", code->bytes.n);
	json_put_u64(j, "max_stack", code->max_stack);
	json_put_u64(j, "max_locals", code->max_locals);
	s->labels = &labels;
	if (s->opt->code)
		json_body(j, s, code);
	s->labels = NULL;
	json_close(j, '}');
}

static void json_member(struct json *j, struct show *s, struct member *m, bool method)
{
	struct slice name = member_name(s->cls, m), desc = member_desc(s->cls, m);

	json_open(j, '{');
	key_name(j, "name", name);
	key_name(j, "desc", desc);
	key_flags(j, s, m->access, method ? 'M' : 'F');
	if (method)
		show_types(s->out, name, desc);
	else
		show_type(s->out, desc);
	key_text(j, method ? "types" : "type", s->out);
	json_attrs(j, s, &m->attrs);
	if (m->code.p)
		json_code(j, s, m);
	json_close(j, '}');
}

static void json_pool(struct json *j, const struct show *s)
{
	const struct pool *p = &s->cls->pool;

	json_put_open(j, "pool", '[');
	for (uint32_t i = 1; i < p->n; i++) {
		if (!pool_tag(p, i))
			continue;
		json_open(j, '{');
		json_put_u64(j, "index", i);
		json_put_text(j, "kind", show_tag(pool_tag(p, i)));
		show_const(s->out, p, i);
		key_text(j, "text", s->out);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_head(struct json *j, const struct show *s)
{
	const struct class *cls = s->cls;

	key_name(j, "name", class_name(cls));
	json_key(j, "super");
	if (cls->super_class)
		show_json_name(j, class_super(cls));
	else
		json_null(j);
	json_put_open(j, "interfaces", '[');
	for (unsigned i = 0; i < class_n_interfaces(cls); i++)
		show_json_name(j, class_interface(cls, i));
	json_close(j, ']');
	key_flags(j, s, cls->access, 'C');
	json_put_u64(j, "major", cls->major);
	json_put_u64(j, "minor", cls->minor);
	show_version(s->out, cls);
	key_text(j, "version", s->out);
	json_put_u64(j, "bytes", cls->bytes.n);
	json_put_u64(j, "constants", cls->pool.n - 1);
}

int show_class_json(struct class *cls, const struct show_options *opt, struct json *j)
{
	struct buf text = { 0 };
	struct show s = { .cls = cls, .opt = opt, .out = &text };

	json_open(j, '{');
	json_head(j, &s);
	if (opt->pool)
		json_pool(j, &s);
	json_attrs(j, &s, &cls->attrs);
	json_put_open(j, "fields", '[');
	for (uint32_t i = 0; i < cls->n_fields; i++)
		json_member(j, &s, &cls->fields[i], false);
	json_close(j, ']');
	json_put_open(j, "methods", '[');
	for (uint32_t i = 0; i < cls->n_methods; i++)
		if (show_wants(&s, &cls->methods[i]))
			json_member(j, &s, &cls->methods[i], true);
	json_close(j, ']');
	json_close(j, '}');
	buf_release(&text);
	return j->out->err;
}
