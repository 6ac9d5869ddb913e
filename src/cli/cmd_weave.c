/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_weave.c - "sonde weave": weaves class files where they lie, without a running program. */
#include <getopt.h>
#include <stddef.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "classfile/show/show.h"
#include "cli/classtools/weave_hint.h"
#include "cli/classtools/weave_rules.h"
#include "cli/classtools/weave_run.h"
#include "cli/screen/cli.h"
#include "cli/screen/output.h"
#include "rule/rules_explain.h"
#include "rule/print.h"
#include "cli/verbs.h"

struct weave {
	const char *name; /* of the command */
	const char *out_dir, *classpath, *ids, *explain;
	bool check, only_woven, json, verbose;
	bool into_cache;
	const char *cache_dir;
	struct weave_cache cache;
	uint64_t jobs;
	struct arena mem; /* of the rules */
	struct rules *rules;
	struct weaver weaver;
	struct weave_set set;
	struct weave_run run;
	struct buf text;
	struct json j; /* into text */
	bool unmatched;
	uint64_t wall;
};

/* ---- reports ---- */

static const char *const kind_text[] = {
	[FIND_REFUSED] = "class refused",
	[FIND_LEFT] = "left alone",
	[FIND_CHECK] = "did not pass the check",
	[FIND_WOVEN] = "woven",
};

static void print_finding(struct weave *w, const struct set_class *c, const struct weave_finding *f)
{
	if (w->json) {
		json_open(&w->j, '{');
		json_put_text(&w->j, "class", c->shown);
		if (f->method.n) {
			json_put_str(&w->j, "method", f->method);
		}
		json_put_text(&w->j, "what", kind_text[f->kind]);
		cli_fault_json(&w->j, &f->fault);
		json_close(&w->j, '}');
		return;
	}
	buf_printf(&w->text, "%s: ", c->shown);
	show_name(&w->text, f->method);
	buf_printf(&w->text, "%s%s: ", f->method.n ? " " : "", kind_text[f->kind]);
	cli_fault(&w->text, &f->fault);
	buf_text(&w->text, "\n");
}

static void print_findings(struct weave *w)
{
	for (size_t i = 0; i < w->set.n; i++)
		for (const struct weave_finding *f = w->run.findings[i]; f; f = f->next)
			if (f->kind != FIND_WOVEN)
				print_finding(w, &w->set.v[i], f);
}

static void line(struct weave *w, const char *what, uint64_t n)
{
	char text[32];

	buf_printf(&w->text, "%14s  %s\n", cli_number(text, n), what);
}

static const char *reason(int code)
{
	return code == E_UNSUPPORTED
		       ? "rule has `inside` or `if`, which only a running agent decides"
		       : err_text(code);
}

static void lines_by_reason(struct weave *w, const char *what, const uint64_t *v)
{
	char text[200];

	for (int i = 0; i < ERR_COUNT; i++) {
		if (!v[i])
			continue;
		snprintf(text, sizeof(text), "%s: %s", what, reason(ERR_FLOOR - i));
		line(w, text, v[i]);
	}
}

static double added(const struct weave_counts *n)
{
	return n->methods_woven
		       ? ((double)n->bytes_woven - (double)n->bytes) / (double)n->methods_woven
		       : 0;
}

static double rate(const struct weave *w)
{
	return w->run.n.ns ? (double)w->set.bytes * 1e3 / (double)w->run.n.ns : 0;
}

static void summary_cache(struct weave *w)
{
	line(w, "classes put into the cache", w->cache.stored);
	line(w, "classes that were there already", w->cache.found);
	if (w->cache.elsewhere)
		line(w, "classes that no `ahead` rule names", w->cache.elsewhere);
	line(w, "bytes stored", w->cache.bytes);
}

static void summary(struct weave *w)
{
	const struct weave_counts *n = &w->run.n;

	line(w, "classes", n->classes);
	line(w, "classes woven", n->classes_woven);
	line(w, "classes untouched", n->classes_untouched);
	lines_by_reason(w, "classes refused", n->refused);
	if (w->set.hidden)
		line(w, "classes passed over: one before them has the same place", w->set.hidden);
	line(w, "methods", n->methods);
	line(w, "methods woven", n->methods_woven);
	lines_by_reason(w, "methods left alone", n->left);
	if (w->check) {
		line(w, "methods of woven classes checked", n->checked);
		line(w, "checks not passed", n->disagreements);
	}
	if (w->into_cache)
		summary_cache(w);
	buf_printf(&w->text, "%14.1f  bytes added for each woven method\n", added(n));
	buf_printf(&w->text,
		   "%14.1f  MB in %.2f s by %u thread%s, weaving alone at %.0f MB/s a thread\n",
		   (double)w->set.bytes / 1e6, (double)w->wall / 1e9, w->run.jobs,
		   w->run.jobs == 1 ? "" : "s", rate(w));
}

static void summary_json(struct weave *w)
{
	const struct weave_counts *n = &w->run.n;
	struct json *j = &w->j;

	json_put_u64(j, "classes", n->classes);
	json_put_u64(j, "classes_woven", n->classes_woven);
	json_put_u64(j, "classes_untouched", n->classes_untouched);
	cli_json_by_error(j, "classes_refused", n->refused);
	json_put_u64(j, "classes_passed_over", w->set.hidden);
	json_put_u64(j, "methods", n->methods);
	json_put_u64(j, "methods_woven", n->methods_woven);
	cli_json_by_error(j, "methods_left_alone", n->left);
	json_put_u64(j, "methods_checked", n->checked);
	json_put_u64(j, "checks_not_passed", n->disagreements);
	json_put_u64(j, "unreadable", w->set.unreadable);
	if (w->into_cache) {
		json_put_u64(j, "cache_stored", w->cache.stored);
		json_put_u64(j, "cache_found", w->cache.found);
		json_put_u64(j, "cache_bytes", w->cache.bytes);
	}
	json_put_u64(j, "bytes", w->set.bytes);
	json_put_double(j, "bytes_per_method", added(n));
	json_put_double(j, "seconds", (double)w->wall / 1e9);
	json_put_double(j, "mb_per_second_and_thread", rate(w));
	json_put_u64(j, "threads", w->run.jobs);
}

/* ---- rules that match nothing ---- */

/* "shop.rules:3: hook com.shop.Crat::add: " */
static void print_rule(const struct rule *rule, struct buf *out)
{
	struct buf target = { 0 };

	rule_target_print(&rule->target, &target);
	buf_printf(out, "%s:%u: hook %.*s: ", rule->source->origin, rule->at.line,
		   SLICE_FMT(buf_slice(&target)));
	buf_release(&target);
}

static int tell_unmatched(struct weave *w, const struct rule *rule)
{
	struct buf text = { 0 };
	struct arena mem;
	struct hint hint;
	int rc;

	arena_init(&mem);
	rc = hint_search(&w->set, &rule->target, &mem, &hint, NULL, NULL);
	if (rc >= 0 && !hint.hits) { /* else later rules decide for all its methods */
		w->unmatched = true;
		print_rule(rule, &text);
		buf_text(&text, "matches nothing; ");
		hint_print(&hint, &rule->target, &text);
		if (w->json)
			json_str(&w->j, buf_slice(&text));
		else /* it is about the question, not the answer */
			fprintf(stderr, "%.*s\n", SLICE_FMT(buf_slice(&text)));
	}
	buf_release(&text);
	arena_release(&mem);
	return rc;
}

static int find_unmatched(struct weave *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->rules->n && rc >= 0; i++)
		if (w->rules->all[i]->kind == RULE_HOOK && !w->run.by_rule[i])
			rc = tell_unmatched(w, w->rules->all[i]);
	return rc;
}

/* ---- --ids ---- */

static int write_ids(const struct weave *w)
{
	FILE *to = output_file(w->ids);
	bool good = to != NULL;

	for (size_t i = 0; good && i < w->set.n; i++) {
		struct slice name = w->set.v[i].facts.name;

		for (const struct weave_finding *f = w->run.findings[i]; f; f = f->next)
			if (f->kind == FIND_WOVEN)
				fprintf(to, "%d\t%.*s.%.*s\t%s\n", f->id, SLICE_FMT(name),
					SLICE_FMT(f->method), f->fault.text);
	}
	if (to) {
		good = !ferror(to);
		good = fclose(to) == 0 && good;
	}
	return good ? CLI_DONE : cli_cannot("%s: cannot be written", w->ids);
}

/* ---- --explain ---- */

static int explain_hit(void *ctx, const struct hint_found *found)
{
	struct weave *w = ctx;

	if (w->json) {
		struct buf text = { 0 };

		rules_explain(w->rules, NULL, found->class_facts, found->facts, &text);
		json_str(&w->j, buf_slice(&text));
		buf_release(&text);
		return 0;
	}
	rules_explain(w->rules, NULL, found->class_facts, found->facts, &w->text);
	buf_u8(&w->text, '\n');
	return cli_print(&w->text) ? 0 : E_IO;
}

static int explain(struct weave *w)
{
	const struct rule_target *target;
	struct hint hint = { 0 };
	int rc, status = weave_rules_parse_method(&w->mem, "--explain", w->explain, &target);

	if (status != CLI_DONE)
		return status;
	if (w->json)
		json_open(&w->j, '[');
	rc = hint_search(&w->set, target, &w->mem, &hint, explain_hit, w);
	if (w->json) {
		json_close(&w->j, ']');
		buf_u8(&w->text, '\n');
	}
	if (rc < 0)
		return cli_cannot("%s", err_text(rc));
	if (!cli_print(&w->text))
		return CLI_CANNOT;
	if (hint.hits)
		return CLI_DONE;
	hint_print(&hint, target, &w->text);
	fprintf(stderr, "sonde: %.*s\n", SLICE_FMT(buf_slice(&w->text)));
	return CLI_NO;
}

/* ---- where to write ---- */

static bool lies_in(const char *inner, const char *outer)
{
	size_t n = strlen(outer);

	return strncmp(inner, outer, n) == 0 && (inner[n] == '/' || !inner[n] || n == 1);
}

/* Makes the directory and those above it. */
static bool make_dir(const char *dir)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s", dir);

	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0777);
	}
	mkdir(path, 0777);
	return access(path, W_OK) == 0;
}

/* The output must not be one of the sources, nor become one at the next call. */
static int check_out(const struct weave *w, char *const *specs, size_t n)
{
	char out[PATH_MAX], source[PATH_MAX];
	struct stat st;

	if (!make_dir(w->out_dir))
		return cli_cannot("%s: cannot be written", w->out_dir);
	if (!realpath(w->out_dir, out))
		return cli_cannot("%s: not a directory", w->out_dir);
	for (size_t i = 0; i < n; i++) {
		if (specs[i][0] == '@' || !realpath(specs[i], source) || stat(source, &st) < 0)
			continue; /* set_read says what is wrong with it */
		if (S_ISDIR(st.st_mode) && (lies_in(out, source) || lies_in(source, out)))
			return cli_usage(w->name, "%s and %s lie in each other", w->out_dir,
					 specs[i]);
	}
	return CLI_DONE;
}

/* A class file that was named itself could still be its own output. */
static int check_lone_files(const struct weave *w)
{
	char path[PATH_MAX];
	struct stat from, to;

	for (size_t i = 0; i < w->set.n; i++) {
		const struct set_class *c = &w->set.v[i];

		if (!c->alone || stat(c->shown, &from) < 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", w->out_dir, c->name);
		if (stat(path, &to) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
			return cli_usage(w->name, "%s would be overwritten", c->shown);
	}
	return CLI_DONE;
}

/* ---- all of it ---- */

static int read_sources(struct weave *w, char *const *specs, size_t n)
{
	int rc = set_read(&w->set, specs, n);

	if (rc >= 0 && w->classpath)
		rc = set_read_path(&w->set, w->classpath);
	if (rc < 0)
		return cli_cannot("%s", err_text(rc));
	if (!w->set.n)
		return cli_cannot("no class files");
	return w->out_dir ? check_lone_files(w) : CLI_DONE;
}

static bool any(const uint64_t *v, size_t n)
{
	while (n)
		if (v[--n])
			return true;
	return false;
}

static int report(struct weave *w)
{
	print_findings(w);
	summary(w);
	cli_print(&w->text);
	return find_unmatched(w);
}

static int report_json(struct weave *w)
{
	struct json *j = &w->j;
	int rc;

	json_open(j, '{');
	json_put_open(j, "problems", '[');
	print_findings(w);
	json_close(j, ']');
	json_put_open(j, "unmatched", '[');
	rc = find_unmatched(w);
	json_close(j, ']');
	summary_json(w);
	json_close(j, '}');
	buf_u8(&w->text, '\n');
	return rc;
}

static int weave(struct weave *w)
{
	struct weave_run *r = &w->run;
	uint64_t start = clock_steady_ns();
	int rc, status = CLI_DONE;

	*r = (struct weave_run){ .set = &w->set,
				 .weaver = &w->weaver,
				 .out_dir = w->out_dir,
				 .cache = w->into_cache ? &w->cache : NULL,
				 .check = w->check,
				 .only_woven = w->only_woven,
				 .tell_left = w->verbose,
				 .tell_woven = w->ids != NULL,
				 .jobs = (unsigned)w->jobs };
	if (weave_run(r) < 0)
		return cli_cannot("%s", r->failed.text);
	w->wall = clock_steady_ns() - start;
	if (w->ids)
		status = write_ids(w);
	rc = w->json ? report_json(w) : report(w);
	if (rc < 0)
		status = cli_cannot("%s", err_text(rc));
	if (!cli_print(&w->text) || w->set.unreadable)
		status = CLI_CANNOT;
	if (status == CLI_DONE &&
	    (w->unmatched || r->n.disagreements || any(r->n.refused, ERR_COUNT)))
		status = CLI_NO;
	return status;
}

static int run(struct weave *w, char *const *specs, size_t n)
{
	int status = weave_rules_make_weaver(w->rules, &w->weaver);

	if (status != CLI_DONE)
		return status;
	set_init(&w->set);
	if (w->out_dir)
		status = check_out(w, specs, n);
	if (status == CLI_DONE)
		status = read_sources(w, specs, n);
	if (status == CLI_DONE && w->into_cache && !w->explain)
		status = weave_cache_open(&w->cache, w->cache_dir, &w->weaver, &w->mem);
	if (status == CLI_DONE)
		status = w->explain ? explain(w) : weave(w);
	weave_cache_close(&w->cache);
	weave_run_release(&w->run);
	set_release(&w->set);
	weaver_release(&w->weaver);
	return status;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct weave *w = self;

	(void)name;
	return which == 'r' ? weave_rules_add_file(w->rules, value)
			    : weave_rules_add_hook(w->rules, value);
}

/* CLI_DONE: go on, with the sources from optind. */
static const struct verb_option options[] = {
	{ "rules", "FILE", OPTION_OWN, 'r',
	  .help = "take rules from this file; may be repeated, as may --hook" },
	{ "hook", "RULE", OPTION_OWN, 'k', .help = "one more rule: 'com.shop.**::* timed'" },
	{ "out|o", "DIR", OPTION_TEXT, offsetof(struct weave, out_dir), .help = "where to write" },
	{ "into-cache", NULL, OPTION_FLAG, offsetof(struct weave, into_cache),
	  .help = "write no files; fill the cache, so that programs that are started with the same "
		  "rules find their classes woven" },
	{ "cache", "DIR", OPTION_TEXT, offsetof(struct weave, cache_dir),
	  .help = "the same, with the cache in this directory" },
	{ "only-woven", NULL, OPTION_FLAG, offsetof(struct weave, only_woven),
	  .help = "write only classes that were changed" },
	{ "classpath", "PATH", OPTION_TEXT, offsetof(struct weave, classpath),
	  .help = "more sources, separated by colons, to find out who extends what" },
	{ "check", NULL, OPTION_FLAG, offsetof(struct weave, check),
	  .help = "check every woven class" },
	{ "ids", "FILE", OPTION_TEXT, offsetof(struct weave, ids),
	  .help = "write a line for each woven method: id, method, template" },
	{ "jobs", "N", OPTION_NUMBER, offsetof(struct weave, jobs),
	  .help = "weave with N threads; default: as many as there are processors", .low = 1,
	  .high = WEAVE_JOBS_MAX },
	{ "explain", "METHOD", OPTION_TEXT, offsetof(struct weave, explain),
	  .help = "weave nothing; say for each method meant why it is hooked or not" },
	{ "verbose|v", NULL, OPTION_FLAG, offsetof(struct weave, verbose),
	  .help = "name each method that was left alone" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct weave, json),
	  .help = "print one JSON object" },
};

const struct verb verb_weave = {
	.usage = "--rules FILE --out DIR [OPTION]... SOURCE...\n"
		 "--rules FILE --into-cache [OPTION]... SOURCE...",
	.about = "Weaves the methods that rules name, and writes the classes below DIR; the "
		 "sources stay as they are. Classes of a jar go to DIR/JAR/..., those of a JDK to "
		 "DIR/MODULE/..., so that the result can be put on a class path or be given to "
		 "--patch-module.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 1 a rule matched nothing, or a class did not pass --check, or was "
		  "refused; 2 a rule or template is wrong, nothing was written; 3 something could "
		  "not be read or written.",
	.examples =
		"sonde weave --hook '**::* timed' --out woven app.jar\n"
		"sonde weave --rules shop.rules --classpath @jdk:lib --out woven --check classes\n"
		"sonde weave --rules shop.rules --into-cache app.jar lib @jdk17\n"
		"sonde weave --rules shop.rules --explain 'com.shop.Cart::*' app.jar",
	.run = cmd_weave,
	.set = set_option,
};

static int parse(struct weave *w, int argc, char **argv)
{
	int status = verb_parse(&verb_weave, argc, argv, w);

	if (status != CLI_GO_ON)
		return status;
	w->into_cache |= w->cache_dir != NULL;
	if (!w->rules->n)
		return cli_usage(w->name, "which rules? --rules FILE or --hook RULE");
	if (!w->out_dir && !w->explain && !w->into_cache)
		return cli_usage(w->name, "where to? --out DIR or --into-cache");
	if (w->into_cache && (w->out_dir || w->check || w->ids || w->only_woven))
		return cli_usage(w->name,
				 "--into-cache writes no files: not with --out, --check or --ids");
	if (optind == argc)
		return cli_usage(w->name, "which classes?");
	return CLI_GO_ON;
}

int cmd_weave(int argc, char **argv)
{
	struct weave w = { .name = argv[0] };
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int status;

	w.jobs = processors < 1		       ? 1
		 : processors > WEAVE_JOBS_MAX ? WEAVE_JOBS_MAX
					       : (unsigned)processors;
	arena_init(&w.mem);
	w.j = json_to(&w.text);
	w.rules = rules_new(&w.mem);
	status = w.rules ? parse(&w, argc, argv) : cli_no_memory();
	if (status == CLI_GO_ON)
		status = run(&w, argv + optind, (size_t)(argc - optind));
	buf_release(&w.text);
	arena_release(&w.mem);
	return status;
}
