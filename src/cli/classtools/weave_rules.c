/* SPDX-License-Identifier: Apache-2.0 */
/* weave_rules.c - from files and arguments to a sealed set of rules and a weaver. */
#include "cli/classtools/weave_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/classtools/source.h"
#include "rule/parse.h"

static int print_errors(const struct rule_errors *errors)
{
	struct buf text = { 0 };

	rule_errors_print(errors, &text);
	fwrite(text.p, 1, text.n, stderr);
	buf_release(&text);
	return CLI_USAGE;
}

static int said(int rc, const struct rule_errors *errors)
{
	if (rc == E_SYNTAX)
		return print_errors(errors);
	return rc < 0 ? cli_cannot("%s", err_text(rc)) : CLI_DONE;
}

/* The whole of a file, in the arena.  At most `max` bytes. */
static int read_file(struct arena *mem, const char *path, size_t max, struct slice *out,
		     struct fault *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t have = 0;
	ssize_t got = 1;
	uint8_t *p;

	if (fd < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || S_ISDIR(st.st_mode) || (size_t)st.st_size > max) {
		close(fd);
		return fault_set(f, E_IO, -1, "%s: not a file, or larger than %zu bytes", path,
				 max);
	}
	/* A pipe does not tell its size. */
	max = S_ISREG(st.st_mode) ? (size_t)st.st_size : max;
	p = arena_alloc(mem, max + 1);
	while (p && got && have < max) {
		got = read(fd, p + have, max - have);
		if (got < 0 && errno != EINTR)
			break;
		have += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	if (!p)
		return fault_set(f, E_NO_MEMORY, -1, "%s: out of memory", path);
	if (got < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	*out = (struct slice){ p, have };
	return 0;
}

int weave_rules_add_file(struct rules *rules, const char *path)
{
	struct rule_errors errors = { 0 };
	struct fault f = { 0 };
	struct slice text;

	if (read_file(rules->mem, path, RULES_TEXT_MAX, &text, &f) < 0)
		return cli_cannot("%s", f.text);
	return said(rules_add(rules, text, path, &errors), &errors);
}

/* Does the text begin with `hook`, `skip` or the like? */
static bool has_rule_word(const char *text)
{
	struct slice word = { (const uint8_t *)text, strcspn(text, " \t\n") };

	return parse_in_list(word, parse_rule_words);
}

static int add_text(struct rules *rules, const char *text, const char *origin)
{
	struct rule_errors errors = { 0 };
	struct buf whole = { 0 };
	int status;

	text += strspn(text, " \t");
	buf_printf(&whole, "%s%s\n", has_rule_word(text) ? "" : "hook ", text);
	status = said(whole.err ? whole.err : rules_add(rules, buf_slice(&whole), origin, &errors),
		      &errors);
	buf_release(&whole);
	return status;
}

int weave_rules_add_hook(struct rules *rules, const char *text)
{
	return add_text(rules, text, "command line");
}

struct rule_loading {
	const struct rules *rules;
	const struct rule *current; /* the template whose turn it is */
};

/* Templates lie beside the rule file; those of the command line in the working directory. */
static int template_path(const struct rule *rule, char path[PATH_MAX])
{
	const char *origin = rule->source->origin, *slash = strrchr(origin, '/');
	struct slice name = rule->template.path;
	size_t n = slash && name.n && name.p[0] != '/' ? (size_t)(slash - origin) + 1 : 0;

	if (n + name.n >= PATH_MAX || memchr(name.p, 0, name.n))
		return E_LIMIT;
	memcpy(path, origin, n);
	memcpy(path + n, name.p, name.n);
	path[n + name.n] = '\0';
	return 0;
}

static int load_template(void *ctx, struct slice name, struct slice *bytes, struct fault *f)
{
	struct rule_loading *l = ctx;
	char path[PATH_MAX];

	for (size_t i = 0; i < l->rules->n; i++)
		if (l->rules->all[i]->kind == RULE_TEMPLATE &&
		    l->rules->all[i]->template.path.p == name.p)
			l->current = l->rules->all[i];
	if (!l->current || template_path(l->current, path) < 0)
		return fault_set(f, E_LIMIT, -1, "name too long");
	return read_file(l->rules->mem, path, SOURCE_CLASS_MAX, bytes, f);
}

static int refuse_template(const struct rule_loading *l, const struct fault *f)
{
	const struct rule *rule = l->current;

	if (!rule)
		return cli_cannot("%s", f->text);
	fprintf(stderr, "%s:%u:%u: template %.*s from \"%.*s\": %s\n", rule->source->origin,
		rule->at.line, rule->at.column, SLICE_FMT(rule->template.name),
		SLICE_FMT(rule->template.path), f->text);
	return f->code == E_NO_MEMORY ? CLI_CANNOT : CLI_USAGE;
}

int weave_rules_make_weaver(struct rules *rules, struct weaver *out)
{
	struct rule_errors errors = { 0 };
	struct rule_loading loader = { .rules = rules };
	struct fault f = { 0 };
	int status = said(rules_seal(rules, &errors), &errors);

	if (status != CLI_DONE)
		return status;
	if (weaver_init(out, rules->mem, rules, load_template, &loader, &f) < 0)
		return refuse_template(&loader, &f);
	return CLI_DONE;
}

int weave_rules_parse_method(struct arena *mem, const char *name, const char *text,
			     const struct rule_target **out)
{
	struct rules *rules = rules_new(mem);
	int status = rules ? add_text(rules, text, name) : cli_no_memory();

	if (status != CLI_DONE)
		return status;
	if (rules->n != 1 || rules->all[0]->kind != RULE_HOOK)
		return cli_usage(name, "'%s' is not a method such as a.b.C::m", text);
	*out = &rules->all[0]->target;
	return CLI_DONE;
}
