/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - the canonical text of rules. */
#include "rule/print.h"

#include <inttypes.h>

static void print_class(const struct rule_target *t, struct buf *out)
{
	static const char *const words[] = { "implements ", "extends ", "annotated " };

	if (!t->any_class)
		buf_put(out, t->class.text);
	for (size_t i = 0; i < t->kin_count; i++) {
		if (i || !t->any_class)
			buf_u8(out, ' ');
		buf_text(out, words[t->kin[i].kind]);
		buf_put(out, t->kin[i].name.text);
	}
}

static void print_params(const struct params *p, struct buf *out)
{
	buf_u8(out, '(');
	for (size_t i = 0; i < p->n; i++) {
		buf_text(out, i ? ", " : "");
		signature_print_type(&p->types[i], out);
	}
	if (p->open)
		buf_text(out, p->n ? ", .." : "..");
	buf_u8(out, ')');
}

static void print_modifiers(const struct rule_target *t, struct buf *out)
{
	if (!t->access && !t->access_not)
		return;
	buf_text(out, " only");
	for (const struct target_modifier *m = target_modifiers; m->word; m++)
		if ((t->access | t->access_not) & m->flag)
			buf_printf(out, " %s%s", t->access_not & m->flag ? "not " : "", m->word);
}

void rule_target_print(const struct rule_target *t, struct buf *out)
{
	print_class(t, out);
	if (!t->any_method) {
		buf_text(out, "::");
		buf_put(out, t->method.text);
	}
	if (t->params.given)
		print_params(&t->params, out);
	if (t->has_returns) {
		buf_text(out, " returns ");
		signature_print_type(&t->returns, out);
	}
	print_modifiers(t, out);
}

static void print_quoted(struct slice s, char quote, struct buf *out)
{
	buf_u8(out, (unsigned char)quote);
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = s.p[i];

		if (c == '\n')
			buf_text(out, "\\n");
		else if (c == '\t')
			buf_text(out, "\\t");
		else if (c == '\r')
			buf_text(out, "\\r");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\u%04x", c);
		else if (c == '\\' || c == (uint8_t)quote)
			buf_printf(out, "\\%c", c);
		else
			buf_u8(out, c);
	}
	buf_u8(out, (unsigned char)quote);
}

static void print_list(const struct value *v, struct buf *out)
{
	for (; v; v = v->next) {
		value_print(v, out);
		buf_text(out, v->next ? ", " : "");
	}
}

static void print_path(const struct value *v, struct buf *out)
{
	buf_u8(out, '$');
	if (v->root == ROOT_ARGUMENT)
		buf_printf(out, "%d", (int)v->number);
	else if (v->root == ROOT_CAPTURE)
		buf_put(out, v->text);
	else
		buf_text(out, v->root == ROOT_THIS ? "this" : "return");
	for (const struct step *s = v->steps; s; s = s->next) {
		buf_u8(out, s->kind == STEP_INDEX ? '[' : '.');
		buf_put(out, s->name);
		if (s->kind == STEP_CALL)
			buf_text(out, s->trusted ? "!(" : "(");
		print_list(s->args, out);
		if (s->kind != STEP_FIELD)
			buf_u8(out, s->kind == STEP_INDEX ? ']' : ')');
	}
}

void value_print(const struct value *v, struct buf *out)
{
	switch (v->kind) {
	case VALUE_STRING:
		print_quoted(v->text, '"', out);
		break;
	case VALUE_CHAR:
		print_quoted(v->text, '\'', out);
		break;
	case VALUE_INT:
		buf_printf(out, "%" PRId64, v->number);
		break;
	case VALUE_LONG:
		buf_printf(out, "%" PRId64 "L", v->number);
		break;
	case VALUE_DOUBLE:
		buf_put(out, v->text);
		break;
	case VALUE_BOOL:
		buf_text(out, v->number ? "true" : "false");
		break;
	case VALUE_NULL:
		buf_text(out, "null");
		break;
	case VALUE_PATH:
		print_path(v, out);
		break;
	}
}

/* `not` binds tightest, then `and`, then `or`; a chain inside one of its own kind was in
 * parentheses and stays so. */
static bool needs_parentheses(const struct cond *parent, const struct cond *child)
{
	if (child->op == COND_OR)
		return true;
	return child->op == COND_AND && parent->op != COND_OR;
}

static void print_child(const struct cond *parent, const struct cond *child, struct buf *out)
{
	bool wrap = needs_parentheses(parent, child);

	if (wrap)
		buf_u8(out, '(');
	cond_print(child, out);
	if (wrap)
		buf_u8(out, ')');
}

static void print_test(const struct cond *c, struct buf *out)
{
	value_print(c->left, out);
	if (c->op == COND_TRUTH)
		return;
	buf_printf(out, " %s ", cond_op_text(c->op));
	if (c->op == COND_INSTANCE) {
		buf_dotted(out, c->type);
	} else if (c->op == COND_IN) {
		buf_u8(out, '(');
		print_list(c->right, out);
		buf_u8(out, ')');
	} else {
		value_print(c->right, out);
	}
}

void cond_print(const struct cond *c, struct buf *out)
{
	if (c->op > COND_NOT) {
		print_test(c, out);
		return;
	}
	if (c->op == COND_NOT)
		buf_text(out, "not ");
	for (const struct cond *child = c->children; child; child = child->next) {
		print_child(c, child, out);
		if (child->next)
			buf_printf(out, " %s ", cond_op_text(c->op));
	}
}

void rule_print_time(uint64_t ns, bool spaced, struct buf *out)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = { { "h", 3600000000000u }, { "m", 60000000000u }, { "s", 1000000000 },
		      { "ms", 1000000 },       { "us", 1000 },	      { "ns", 1 } };
	size_t i = 0;

	while (ns % units[i].ns)
		i++;
	buf_printf(out, "%" PRIu64 "%s%s", ns / units[i].ns, spaced ? " " : "",
		   spaced && units[i].unit[1] == '\0' && units[i].unit[0] == 'm' ? "min"
										 : units[i].unit);
}

static void print_context(const struct context *c, struct buf *out)
{
	buf_text(out, c->steps[c->n - 1].direct ? " directly inside " : " inside ");
	for (size_t i = 0; i < c->n; i++) {
		rule_target_print(&c->steps[i].target, out);
		if (i + 1 < c->n)
			buf_text(out, c->steps[i].direct ? " > " : " >> ");
	}
}

static void print_time(const char *word, uint64_t ns, struct buf *out)
{
	if (!ns)
		return;
	buf_text(out, word);
	rule_print_time(ns, false, out);
}

/* What the woven code depends on. */
static void print_weave_clauses(const struct rule_hook *h, struct buf *out)
{
	for (size_t i = 0; i < h->context_count; i++)
		print_context(&h->contexts[i], out);
	if (h->condition) {
		buf_text(out, " if ");
		cond_print(h->condition, out);
	}
	if (h->template.n) {
		buf_text(out, " template ");
		buf_put(out, h->template);
	}
	buf_printf(out, " %s", rule_level_text(h->level));
}

/* What may change while the hook is in. */
static void print_other_clauses(const struct rule_hook *h, struct buf *out)
{
	if (h->level != LEVEL_LIGHT && h->one_in)
		buf_printf(out, " 1/%u", h->one_in);
	if (h->across)
		buf_text(out, " across threads");
	if (h->metered)
		buf_text(out, " metered");
	print_time(" slow ", h->slow_ns, out);
	print_time(" for ", h->for_ns, out);
	print_time(" good ", h->good_ns, out);
	if (h->calls)
		buf_printf(out, " calls %" PRIu64, h->calls);
}

static void print_template(const struct rule_template *t, struct buf *out)
{
	buf_text(out, "template ");
	buf_put(out, t->name);
	buf_text(out, " from ");
	print_quoted(t->path, '"', out);
	if (t->method.n) {
		buf_text(out, " method ");
		buf_put(out, t->method);
	}
}

static void print_capture(const struct rule *rule, struct buf *out)
{
	buf_text(out, "capture ");
	buf_put(out, rule->capture.name);
	buf_text(out, " = ");
	value_print(rule->capture.value, out);
	buf_text(out, " at ");
	rule_target_print(&rule->target, out);
}

static void print_rule(const struct rule *rule, bool whole, struct buf *out)
{
	switch (rule->kind) {
	case RULE_HOOK:
		buf_text(out, "hook ");
		rule_target_print(&rule->target, out);
		print_weave_clauses(&rule->hook, out);
		if (whole)
			print_other_clauses(&rule->hook, out);
		break;
	case RULE_SKIP:
		buf_text(out, "skip ");
		rule_target_print(&rule->target, out);
		break;
	case RULE_PLACE:
		buf_printf(out, "%s ", rule_place_text(rule->place));
		rule_target_print(&rule->target, out);
		break;
	case RULE_TEMPLATE:
		print_template(&rule->template, out);
		break;
	case RULE_CAPTURE:
		print_capture(rule, out);
		break;
	}
	buf_u8(out, '\n');
}

void rule_print(const struct rule *rule, struct buf *out)
{
	print_rule(rule, true, out);
}

void rule_print_weave(const struct rule *rule, struct buf *out)
{
	print_rule(rule, false, out);
}

void rules_print(const struct rules *rules, struct buf *out)
{
	for (size_t i = 0; i < rules->n; i++)
		rule_print(rules->all[i], out);
}
