/* SPDX-License-Identifier: Apache-2.0 */
/* hook_rules.c - parses rules as the agent will, and prints them in the one form that it keeps. */
#include "cli/report/hook_rules.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/classtools/weave_rules.h"
#include "cli/screen/cli.h"
#include "rule/native_rule.h"
#include "rule/parse.h"
#include "rule/print.h"

int hook_rules_init(struct hook_rules *h)
{
	*h = (struct hook_rules){ 0 };
	arena_init(&h->mem);
	h->rules = rules_new(&h->mem);
	return h->rules ? CLI_DONE : cli_cannot("%s", err_text(E_NO_MEMORY));
}

void hook_rules_release(struct hook_rules *h)
{
	buf_release(&h->origin);
	arena_release(&h->mem);
	h->rules = NULL;
}

size_t hook_rules_count(const struct hook_rules *h)
{
	return h->rules->n;
}

static void add_origin(struct hook_rules *h, const char *origin)
{
	size_t n = strlen(origin);

	if (h->origin.n == h->last_origin + n && n &&
	    memcmp(h->origin.p + h->last_origin, origin, n) == 0)
		return; /* the second rule of the command line */
	buf_text(&h->origin, h->origin.n ? ", " : "");
	h->last_origin = h->origin.n;
	buf_text(&h->origin, origin);
}

int hook_rules_add_file(struct hook_rules *h, const char *path)
{
	add_origin(h, path);
	return weave_rules_add_file(h->rules, path);
}

int hook_rules_add(struct hook_rules *h, const char *text)
{
	add_origin(h, "command line");
	return weave_rules_add_hook(h->rules, text);
}

/* A file that a rule names lies beside the rule file, or in the working directory. */
static int print_template(const struct rule *rule, struct buf *out)
{
	const char *origin = rule->source->origin, *slash = strrchr(origin, '/');
	struct slice name = rule->template.path;
	int dir = slash && name.n && name.p[0] != '/' ? (int)(slash - origin) + 1 : 0;
	char near[PATH_MAX], full[PATH_MAX];
	struct rule copy = *rule;
	int n = snprintf(near, sizeof(near), "%.*s%.*s", dir, origin, SLICE_FMT(name));

	if (n < 0 || (size_t)n >= sizeof(near) || !realpath(near, full))
		return cli_cannot("%s:%u: template %.*s from \"%.*s\": %s", origin, rule->at.line,
				  SLICE_FMT(rule->template.name), SLICE_FMT(name), strerror(errno));
	copy.template.path = slice_str(full);
	rule_print(&copy, out);
	return CLI_DONE;
}

/* What the agent has to say of a rule shall name the line where the rule stands.  Printed rules
 * have a line each, so they are never further down. */
static void pad_lines(const struct hook_rules *h, size_t i, uint32_t *line, struct buf *out)
{
	const struct rule *rule = h->rules->all[i];

	for (; rule->source == h->rules->all[0]->source && *line < rule->at.line; ++*line)
		buf_u8(out, '\n');
	++*line;
}

int hook_rules_text(const struct hook_rules *h, struct buf *out)
{
	int status = CLI_DONE;
	uint32_t line = 1;

	for (size_t i = 0; i < h->rules->n && status == CLI_DONE; i++) {
		if (h->split && native_rule_is(h->rules->all[i]))
			continue;
		pad_lines(h, i, &line, out);
		if (h->rules->all[i]->kind == RULE_TEMPLATE)
			status = print_template(h->rules->all[i], out);
		else
			rule_print(h->rules->all[i], out);
	}
	if (status == CLI_DONE && out->err)
		return cli_cannot("%s", err_text(out->err));
	return status;
}

/* ---- native functions in a JVM ---- */

static size_t count_native(const struct hook_rules *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->rules->n; i++)
		n += native_rule_is(h->rules->all[i]);
	return n;
}

bool hook_rules_any_native(const struct hook_rules *h)
{
	return count_native(h) != 0;
}

bool hook_rules_any_java(const struct hook_rules *h)
{
	return count_native(h) < h->rules->n;
}

static int tell_wrong(const struct rule *r, const char *why)
{
	struct buf text = { 0 };

	native_rule_print(r, &text);
	text.n -= text.n != 0; /* the line end */
	cli_cannot("%s: %.*s", why, SLICE_FMT(buf_slice(&text)));
	buf_release(&text);
	return CLI_USAGE;
}

int hook_rules_native(const struct hook_rules *h, struct buf *out)
{
	for (size_t i = 0; i < h->rules->n; i++) {
		const struct rule *r = h->rules->all[i];
		const char *why = native_rule_is(r) ? native_rule_wrong(r) : NULL;

		if (native_rule_caller(r))
			why = "a native function is no caller of a Java method that `inside` can name";
		if (why)
			return tell_wrong(r, why);
		if (native_rule_is(r))
			native_rule_print(r, out);
	}
	return out->err ? cli_no_memory() : CLI_DONE;
}

static bool begins_with_rule_word(const char *text)
{
	struct slice word = { (const uint8_t *)text, strcspn(text, " \t\n") };

	return text[word.n] && parse_in_list(word, parse_rule_words);
}

bool hook_rules_is_rule(const char *text)
{
	return strstr(text, "::") || begins_with_rule_word(text + strspn(text, " \t"));
}

static int read_target(const char *text, bool native, struct buf *out)
{
	struct buf rule = { 0 };
	struct hook_rules h;
	int status = hook_rules_init(&h);

	/* A hook allows clauses, so that a whole rule can be pasted; a skip allows a class
	 * alone. */
	buf_printf(&rule, "%s%s", hook_rules_is_rule(text) ? "" : "skip ", text);
	buf_u8(&rule, 0);
	if (status == CLI_DONE)
		status = rule.err ? cli_cannot("%s", err_text(rule.err))
				  : weave_rules_add_hook(h.rules, (const char *)rule.p);
	if (status == CLI_DONE && (h.rules->n != 1 || h.rules->all[0]->kind == RULE_TEMPLATE))
		status = cli_cannot("'%s' does not say which methods", text);
	else if (status == CLI_DONE && !native)
		rule_target_print(&h.rules->all[0]->target, out);
	else if (status == CLI_DONE && native_rule_is(h.rules->all[0]))
		native_rule_print_target(&h.rules->all[0]->target, out);
	buf_release(&rule);
	hook_rules_release(&h);
	return status;
}

int hook_rules_target(const char *text, struct buf *out)
{
	return read_target(text, false, out);
}

int hook_rules_native_target(const char *text, struct buf *out)
{
	return read_target(text, true, out);
}
