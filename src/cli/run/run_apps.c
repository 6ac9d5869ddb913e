/* SPDX-License-Identifier: Apache-2.0 */
/* run_apps.c - "sonde run --check-apps": reads a file of applications as programs that start will,
 * and tells what they would pass over. */
#include <errno.h>

#include "cli/classtools/weave_rules.h"
#include "cli/run/run.h"
#include "jvm/apps.h"
#include "rule/error.h"
#include "rule/text.h"

struct app_check {
	struct rule_source source;
	struct rule_errors errors;
	uint32_t last; /* line that fits everything, 0: none yet */
	uint64_t lines;
	struct arena *mem;
};

static uint32_t column_of(struct slice line, struct slice word)
{
	uint32_t column = 1;

	for (const uint8_t *p = line.p; word.p && p < word.p; p++)
		column += (*p & 0xc0) != 0x80;
	return column;
}

static void add_trouble(struct app_check *c, uint32_t number, const struct apps_trouble *t)
{
	struct rule_pos at = { number, column_of(t->line, t->word) };
	struct text_guess guess = text_guess(t->word);
	char hint[128] = "";

	if (!t->unknown) {
		rule_error_add(&c->errors, &c->source, at, t->hint, "%s", t->text);
		return;
	}
	for (const char *w = apps_words; *w; w += strlen(w) + 1)
		text_guess_try(&guess, slice_str(w));
	text_guess_hint(&guess, "", hint, sizeof(hint));
	rule_error_add(&c->errors, &c->source, at, hint, "%s: %s", t->text, text_quote(t->word).s);
}

/* The agent would pass over a bad file of rules; here is where a person looks. */
static void check_rules(struct app_check *c, const struct apps_line *line)
{
	char *path = arena_str(c->mem, line->rules);
	struct rules *rules = path ? rules_new(c->mem) : NULL;
	struct weaver weaver;

	if (!rules || weave_rules_add_file(rules, path) != CLI_DONE ||
	    weave_rules_make_weaver(rules, &weaver) != CLI_DONE) {
		rule_error_add(&c->errors, &c->source, (struct rule_pos){ line->number, 1 }, NULL,
			       "the rules of this line cannot be used");
		return;
	}
	weaver_release(&weaver);
}

static void check_line(struct app_check *c, const struct apps_line *line)
{
	c->lines++;
	if (c->last)
		rule_error_add(&c->errors, &c->source, (struct rule_pos){ line->number, 1 },
			       "the first line that fits decides",
			       "never reached: line %u is for all applications", c->last);
	else if (line->all)
		c->last = line->number;
	if (line->rules.n)
		check_rules(c, line);
}

static int check_text(struct app_check *c, struct slice text)
{
	struct apps_reader r = { .left = text, .mem = c->mem };
	struct apps_trouble trouble;
	struct apps_line line;
	int rc;

	while ((rc = apps_next(&r, &line, &trouble)) != 0) {
		if (rc == E_SYNTAX)
			add_trouble(c, line.number, &trouble);
		else if (rc < 0)
			return rc;
		else
			check_line(c, &line);
	}
	return 0;
}

static void print_json(const struct app_check *c, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_u64(&j, "lines", c->lines);
	json_put_u64(&j, "wrong", c->errors.n + c->errors.more);
	json_put_open(&j, "problems", '[');
	for (size_t i = 0; i < c->errors.n; i++) {
		const struct rule_error *e = &c->errors.list[i];

		json_open(&j, '{');
		json_put_u64(&j, "line", (uint64_t)e->line);
		json_put_u64(&j, "column", (uint64_t)e->column);
		json_put_text(&j, "message", e->text);
		if (e->hint[0]) {
			json_put_text(&j, "hint", e->hint);
		}
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}

static void print_text(const struct app_check *c, struct buf *out)
{
	char number[32];

	rule_errors_print(&c->errors, out);
	if (!c->errors.n)
		buf_printf(out, "%s line%s, nothing wrong\n", cli_number(number, c->lines),
			   c->lines == 1 ? "" : "s");
}

int run_check_apps(const char *path, bool json)
{
	struct buf text = { 0 }, out = { 0 };
	struct app_check c = { .source.origin = path };
	struct arena mem;
	int rc = run_read_file(path, APPS_TEXT_MAX, &text), status;

	arena_init(&mem);
	c.mem = &mem;
	c.source.text = buf_slice(&text);
	if (rc == 0)
		rc = check_text(&c, buf_slice(&text));
	if (rc < 0) {
		status = cli_cannot("%s: %s", path,
				    rc == E_IO	    ? strerror(errno)
				    : rc == E_LIMIT ? "too large; programs would pass it over"
						    : err_text(rc));
	} else {
		if (json)
			print_json(&c, &out);
		else
			print_text(&c, &out);
		status = !cli_print(&out) ? CLI_CANNOT : c.errors.n ? CLI_NO : CLI_DONE;
	}
	arena_release(&mem);
	buf_release(&text);
	buf_release(&out);
	return status;
}
