/* SPDX-License-Identifier: Apache-2.0 */
/* apps.c - reads the file of applications and finds the line that fits a program.
 *
 * Patterns are those of rules (rule/pattern.h), which know only names with dots.  A path becomes
 * such a name by hiding its dots, so that slashes alone part its segments; and it loses the slash
 * at its start. */
#include "jvm/apps.h"

enum { PATH_CAP = 4096, NAME_CAP = 1024 };

const char apps_words[] = "attach\0skip\0all\0main\0jar\0user\0dir\0rules\0";

/* ---- words ---- */

struct words {
	struct slice left;
	struct apps_trouble *trouble;
};

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static int wrong(struct words *w, struct slice word, const char *text, const char *hint)
{
	w->trouble->text = text;
	w->trouble->hint = hint;
	w->trouble->word = word;
	return E_SYNTAX;
}

/* 1: a word, without its quotes; 0: the line is over. */
static int next_word(struct words *w, struct slice *out)
{
	const uint8_t *p = w->left.p, *end = slice_end(w->left), *start, *stop;
	bool quoted;

	while (p < end && is_space(*p))
		p++;
	w->left = (struct slice){ p, (size_t)(end - p) };
	if (p == end || *p == '#')
		return 0;
	quoted = *p == '"';
	start = stop = p + quoted;
	while (stop < end && (quoted ? *stop != '"' : !is_space(*stop)))
		stop++;
	if (quoted && stop == end)
		return wrong(w, w->left, "the quotation mark is not closed", NULL);
	*out = (struct slice){ start, (size_t)(stop - start) };
	w->left = (struct slice){ stop + quoted, (size_t)(end - stop) - quoted };
	return 1;
}

/* ---- paths ---- */

struct path {
	uint8_t p[PATH_CAP];
	size_t n;
	bool over; /* it was too long */
};

static void path_byte(struct path *to, uint8_t c)
{
	if (to->n < sizeof(to->p))
		to->p[to->n++] = c;
	else
		to->over = true;
}

/* What patterns of classes take for something else becomes a control character. */
static uint8_t hide(uint8_t c)
{
	static const char special[] = ".[]<";
	const char *at = c ? strchr(special, c) : NULL;

	return at ? (uint8_t)(at - special + 1) : c;
}

static void path_segment(struct path *to, struct slice s)
{
	if (!s.n || slice_is(s, "."))
		return;
	if (slice_is(s, "..")) {
		while (to->n && to->p[to->n - 1] != '/')
			to->n--;
		to->n -= to->n > 0;
		return;
	}
	if (to->n)
		path_byte(to, '/');
	for (size_t i = 0; i < s.n; i++)
		path_byte(to, hide(s.p[i]));
}

/* Adds the segments of s; they are taken as they are named, links are not followed. */
static void path_add(struct path *to, struct slice s)
{
	while (s.n) {
		const uint8_t *slash = memchr(s.p, '/', s.n);
		size_t n = slash ? (size_t)(slash - s.p) : s.n;

		path_segment(to, (struct slice){ s.p, n });
		n += slash != NULL;
		s = (struct slice){ s.p + n, s.n - n };
	}
}

static bool path_fits(const struct pattern *pattern, const struct path *path)
{
	return !path->over && pattern_match(pattern, (struct slice){ path->p, path->n });
}

/* ---- a line ---- */

static int compile(struct words *w, struct arena *mem, struct slice word, struct slice text,
		   struct pattern *out)
{
	struct pattern_trouble trouble;
	int rc = pattern_compile(mem, text, PATTERN_CLASS, out, &trouble);

	return rc == E_SYNTAX ? wrong(w, word, trouble.text, trouble.hint) : rc;
}

/* A path that does not begin with a slash is the end of one. */
static int compile_path(struct words *w, struct arena *mem, struct slice word, struct pattern *out)
{
	struct path path = { .n = 0 };

	if (word.n && word.p[0] != '/' && !slice_starts(word, slice_str("**/")))
		path_add(&path, slice_str("**"));
	path_add(&path, word);
	if (path.over)
		return wrong(w, word, "the path is too long", NULL);
	return compile(w, mem, word, (struct slice){ path.p, path.n }, out);
}

static int take_value(struct words *w, struct slice word, bool *has, struct slice *value)
{
	int rc;

	if (*has)
		return wrong(w, word, "this stands in the line twice", "write two lines");
	rc = next_word(w, value);
	if (rc < 0)
		return rc;
	if (rc == 0 || !value->n)
		return wrong(w, word, "something must stand behind this word", NULL);
	*has = true;
	return 0;
}

static int take_dir(struct words *w, struct arena *mem, struct slice value, struct apps_line *line)
{
	struct slice tail = slice_str("/**");

	line->dir_itself = value.n > tail.n &&
			   memcmp(value.p + value.n - tail.n, tail.p, tail.n) == 0;
	return compile_path(w, mem, value, &line->dir);
}

static int take_rules(struct words *w, struct slice value, struct apps_line *line)
{
	if (value.p[0] != '/')
		return wrong(w, value, "a file of rules is named with its full path", NULL);
	line->rules = value;
	return 0;
}

static int take_clause(struct words *w, struct arena *mem, struct slice word,
		       struct apps_line *line)
{
	bool has_rules = line->rules.n > 0;
	struct slice value;
	int rc;

	if (slice_is(word, "all")) {
		line->all = true;
		return 0;
	}
	if (slice_is(word, "main")) {
		rc = take_value(w, word, &line->has_main, &value);
		return rc < 0 ? rc : compile(w, mem, value, value, &line->main);
	}
	if (slice_is(word, "jar")) {
		rc = take_value(w, word, &line->has_jar, &value);
		return rc < 0 ? rc : compile_path(w, mem, value, &line->jar);
	}
	if (slice_is(word, "dir")) {
		rc = take_value(w, word, &line->has_dir, &value);
		return rc < 0 ? rc : take_dir(w, mem, value, line);
	}
	if (slice_is(word, "user"))
		return take_value(w, word, &line->has_user, &line->user);
	if (slice_is(word, "rules")) {
		rc = take_value(w, word, &has_rules, &value);
		return rc < 0 ? rc : take_rules(w, value, line);
	}
	w->trouble->unknown = true;
	return wrong(w, word, "unknown word", NULL);
}

/* The words behind attach or skip. */
static int take_clauses(struct words *w, struct arena *mem, struct slice verb,
			struct apps_line *line)
{
	struct slice word;
	bool tests;
	int rc;

	while ((rc = next_word(w, &word)) > 0) {
		rc = take_clause(w, mem, word, line);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	tests = line->has_main || line->has_jar || line->has_user || line->has_dir;
	if (!tests && !line->all)
		return wrong(w, verb, "the line names no application",
			     "say main, jar, user, dir, or all");
	if (tests && line->all)
		return wrong(w, verb, "'all' leaves nothing to test", "leave 'all' out");
	if (line->rules.n && !line->attach)
		return wrong(w, verb, "what is skipped needs no rules", NULL);
	return 1;
}

int apps_next(struct apps_reader *r, struct apps_line *out, struct apps_trouble *trouble)
{
	while (r->left.n) {
		const uint8_t *end = memchr(r->left.p, '\n', r->left.n);
		size_t n = end ? (size_t)(end - r->left.p) : r->left.n;
		struct words w = { { r->left.p, n }, trouble };
		struct slice verb;
		int rc;

		n += end != NULL;
		*trouble = (struct apps_trouble){ .line = w.left };
		*out = (struct apps_line){ .number = ++r->number };
		r->left = (struct slice){ r->left.p + n, r->left.n - n };
		rc = next_word(&w, &verb);
		if (rc < 0)
			return rc;
		if (rc == 0)
			continue;
		out->attach = slice_is(verb, "attach");
		if (out->attach || slice_is(verb, "skip"))
			return take_clauses(&w, r->mem, verb, out);
		trouble->unknown = true;
		return wrong(&w, verb, "a line begins with 'attach' or 'skip'", NULL);
	}
	return 0;
}

/* ---- does it fit? ---- */

static bool fits_main(const struct apps_line *line, struct slice main)
{
	uint8_t name[NAME_CAP];

	if (!main.n || main.n > sizeof(name))
		return false;
	memcpy(name, main.p, main.n);
	bytes_replace(name, main.n, '.', '/');
	return pattern_match(&line->main, (struct slice){ name, main.n });
}

static bool fits_jar(const struct apps_line *line, const struct apps_program *program)
{
	const struct launch *l = program->launch;
	struct path path = { .n = 0 };

	if (l->kind != LAUNCH_JAR || !l->file.n)
		return false;
	if (l->file.p[0] != '/')
		path_add(&path, program->dir);
	path_add(&path, l->file);
	return path_fits(&line->jar, &path);
}

static bool fits_dir(const struct apps_line *line, const struct apps_program *program)
{
	struct path path = { .n = 0 };

	path_add(&path, program->dir);
	if (path_fits(&line->dir, &path))
		return true;
	if (!line->dir_itself)
		return false;
	path_add(&path, slice_str("x")); /* anything below it would fit, if it itself does */
	return path_fits(&line->dir, &path);
}

bool apps_fits(const struct apps_line *line, const struct apps_program *program)
{
	if (line->has_main && !fits_main(line, program->launch->main))
		return false;
	if (line->has_jar && !fits_jar(line, program))
		return false;
	if (line->has_dir && !fits_dir(line, program))
		return false;
	return !line->has_user || program->is_user(program->ctx, line->user);
}

bool apps_mean(struct slice text, const struct apps_program *program, struct slice *rules)
{
	struct apps_reader r = { .left = text };
	struct apps_trouble trouble;
	struct apps_line line;
	struct arena mem;
	bool found = false;
	int rc;

	arena_init(&mem);
	r.mem = &mem;
	while (!found && (rc = apps_next(&r, &line, &trouble)) != 0) {
		if (rc == E_NO_MEMORY)
			break; /* then not: the lines that follow must not decide */
		found = rc > 0 && apps_fits(&line, program);
		arena_reset(&mem);
	}
	arena_release(&mem);
	*rules = found ? line.rules : (struct slice){ 0 };
	return found && line.attach;
}
