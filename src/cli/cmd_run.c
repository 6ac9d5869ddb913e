/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_run.c - "sonde run": starts a program with the agent in every JVM that it becomes.
 *
 * The rules go into a private directory (run_place.c), the start library into LD_PRELOAD, the
 * agent's options into SONDE_AGENT; then the program is started (run_child.c) and Sonde keeps
 * out of its way until it has ended. */
#define _GNU_SOURCE /* secure_getenv() */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/library.h"
#include "cli/classtools/weave_rules.h"
#include "cli/client/memory.h"
#include "cli/run/recording.h"
#include "cli/run/run.h"
#include "cli/screen/output.h"
#include "cli/screen/private.h"
#include "jvm/launch.h"
#include "cli/verbs.h"
#include "rule/native_rule.h"

struct run {
	const char *name; /* of the command */
	const char *apps, *report, *record, *check_apps;
	bool yes, json, no_memory, native;
	const char *cache, *app;
	double budget;
	struct arena mem; /* of the rules */
	struct rules *rules;
	struct run_place place;
	FILE *report_to;
};

/* ---- the libraries ---- */

static bool readable(const char *path)
{
	return access(path, R_OK) == 0;
}

static int check_library(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return cli_cannot("%s: %s", path, strerror(errno));
	if (!library_is_safe(&st))
		return cli_cannot("%s is not loaded, since others can change it: it belongs to the "
				  "user with the id %u, and its mode is %03o",
				  path, st.st_uid, st.st_mode & 0777u);
	return CLI_DONE;
}

/* Beside this program (build/), or where `make install` puts it. */
static int find_ours(const char *name, char path[PATH_MAX])
{
	static const char *const places[] = { "%s/%s", "%s/../lib/sonde/%s" };
	char self[PATH_MAX], text[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n < 0 ? 0 : n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < COUNT(places); i++) {
		snprintf(text, sizeof(text), places[i], self, name);
		if (realpath(text, path))
			return check_library(path);
	}
	return cli_cannot("%s is neither in %s nor in %s/../lib/sonde", name, self, self);
}

static int find_agent(char path[PATH_MAX])
{
	const char *named = secure_getenv("SONDE_LIB");

	if (!named || !*named)
		return find_ours("libsonde.so", path);
	if (!realpath(named, path) || !readable(path))
		return cli_cannot("SONDE_LIB=%s: %s", named, strerror(errno));
	return check_library(path);
}

/* Beside the agent; when only that was named, beside this program. */
static int find_start(const char *agent, char path[PATH_MAX])
{
	static const char name[] = "sonde-start.so";
	char beside[PATH_MAX];
	size_t n = strlen(agent);
	int status;

	while (n && agent[n - 1] != '/')
		n--;
	if (n + sizeof(name) > PATH_MAX)
		return cli_cannot("%s: name too long", agent);
	memcpy(beside, agent, n);
	memcpy(beside + n, name, sizeof(name));
	status = realpath(beside, path) && readable(path) ? check_library(path)
							  : find_ours(name, path);
	if (status == CLI_DONE && strpbrk(path, " :"))
		status = cli_cannot("%s: the dynamic linker takes no path with a space or a colon",
				    path);
	return status;
}

/* ---- the environment ---- */

static int set(const char *name, struct buf *value)
{
	buf_u8(value, 0);
	if (value->err || setenv(name, (const char *)value->p, 1) != 0)
		return cli_no_memory();
	return CLI_DONE;
}

enum { ENCODED = 1000 }; /* a value is no longer */

static void add_option(struct buf *out, const char *key, const char *path)
{
	char text[3 * ENCODED + 4];

	launch_encode(path, text, sizeof(text));
	buf_printf(out, "%s%s=%s", out->n ? "," : "", key, text);
}

static int set_agent(const struct run *r)
{
	struct buf text = { 0 };
	char known[PATH_MAX];
	int status;

	if (!r->no_memory && memory_place(known) && strlen(known) < ENCODED)
		add_option(&text, "known", known);
	if (r->app)
		add_option(&text, "app", r->app);
	if (r->place.rules[0])
		add_option(&text, "rules", r->place.rules);
	if (r->report || r->record)
		add_option(&text, "report", r->place.report);
	if (r->cache)
		add_option(&text, "cache", r->cache);
	if (r->budget != 0)
		buf_printf(&text, "%sbudget=%g", text.n ? "," : "", r->budget * 100);
	if (r->yes || r->budget != 0) /* very many are what a budget is for */
		buf_printf(&text, "%syes", text.n ? "," : "");
	status = set("SONDE_AGENT", &text);
	buf_release(&text);
	return status;
}

/* Behind what is there: some libraries insist on being the first. */
static int set_preload(const char *start)
{
	const char *old = getenv("LD_PRELOAD");
	struct buf text = { 0 };
	int status = CLI_DONE;

	if (!old || !*old)
		buf_text(&text, start);
	else if (!strstr(old, start))
		buf_printf(&text, "%s:%s", old, start);
	if (text.n)
		status = set("LD_PRELOAD", &text);
	buf_release(&text);
	return status;
}

static int set_apps(const struct run *r)
{
	char path[PATH_MAX];

	if (!r->apps)
		return unsetenv("SONDE_APPS") == 0 ? CLI_DONE : cli_no_memory();
	if (!realpath(r->apps, path) || !readable(path))
		return cli_cannot("%s: %s", r->apps, strerror(errno));
	return setenv("SONDE_APPS", path, 1) == 0 ? CLI_DONE : cli_no_memory();
}

/* The agent of native processes is loaded by the dynamic linker itself. */
static int set_native(const struct run *r)
{
	char agent[PATH_MAX];
	int status = find_ours("libsonde-native.so", agent);

	if (status == CLI_DONE && r->place.rules[0] &&
	    setenv("SONDE_NATIVE_RULES", r->place.rules, 1) != 0)
		status = cli_no_memory();
	if (status == CLI_DONE && (r->report || r->record) &&
	    setenv("SONDE_NATIVE_REPORT", r->place.report, 1) != 0)
		status = cli_no_memory();
	return status == CLI_DONE ? set_preload(agent) : status;
}

static int set_environment(const struct run *r)
{
	char agent[PATH_MAX], start[PATH_MAX];
	int status;

	if (r->native)
		return set_native(r);
	status = find_agent(agent);

	if (status == CLI_DONE)
		status = find_start(agent, start);
	if (status == CLI_DONE && setenv("SONDE_LIB", agent, 1) != 0)
		status = cli_no_memory();
	if (status == CLI_DONE)
		status = set_preload(start);
	if (status == CLI_DONE)
		status = set_agent(r);
	return status == CLI_DONE ? set_apps(r) : status;
}

/* ---- all of it ---- */

/* A wrong rule is found before anything is started. */
static int check_rules(struct run *r)
{
	struct weaver weaver;
	int status;

	if (!r->rules->n)
		return CLI_DONE;
	for (size_t i = 0; i < r->rules->n && !r->native; i++)
		if (native_rule_is(r->rules->all[i]))
			return cli_usage(
				"sonde run",
				"rules for native functions are for --native, or for 'sonde "
				"hook' once the JVM runs");
	status = weave_rules_make_weaver(r->rules, &weaver);
	if (status != CLI_DONE)
		return status;
	weaver_release(&weaver);
	return run_place_rules(&r->place, r->rules);
}

static int open_report(struct run *r)
{
	size_t n = r->report ? strlen(r->report) : 0;

	if (!n)
		return CLI_DONE;
	if (n > 5 && strcmp(r->report + n - 5, ".json") == 0)
		r->json = true;
	if (strcmp(r->report, "-") == 0)
		r->report_to = stderr;
	else
		r->report_to = output_file(r->report);
	return r->report_to ? CLI_DONE : cli_cannot("%s: %s", r->report, strerror(errno));
}

static void write_report(struct run *r)
{
	run_report(&r->place, r->json, r->report_to);
	if (fflush(r->report_to) != 0)
		cli_cannot("%s: %s", r->report, strerror(errno));
}

static int run(struct run *r, char **argv)
{
	int status = run_place_make(&r->place);

	if (status == CLI_DONE)
		status = check_rules(r);
	if (status == CLI_DONE)
		status = open_report(r);
	if (status == CLI_DONE)
		status = set_environment(r);
	if (status == CLI_DONE) {
		status = run_child(argv);
		if (r->report_to)
			write_report(r);
		if (r->record)
			recording_write(r->record, r->place.dir);
	}
	if (r->report_to && r->report_to != stderr)
		fclose(r->report_to);
	run_place_remove(&r->place);
	return status;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct run *r = self;

	if (which == 'r')
		return weave_rules_add_file(r->rules, value);
	if (which == 'k')
		return weave_rules_add_hook(r->rules, value);
	if (!*value || strlen(value) > 200)
		return cli_usage(name, "--app wants a name");
	r->app = value;
	return CLI_DONE;
}

static const struct verb_option options[] = {
	{ "rules", "FILE", OPTION_OWN, 'r',
	  .help = "take rules from this file; may be repeated, as may --hook" },
	{ "hook", "RULE", OPTION_OWN, 'k', .help = "one more rule: 'com.shop.**::* timed'" },
	{ "budget", "SHARE", OPTION_SHARE, offsetof(struct run, budget),
	  .help = "hooks may cost this share of the processor time that a JVM uses, as 5%; the rest is "
		  "closed, getters first" },
	{ "cache", "DIR", OPTION_TEXT, offsetof(struct run, cache),
	  .help = "keep woven classes there; `off`: nowhere; default ~/.cache/sonde/woven" },
	{ "app", "NAME", OPTION_OWN, 'n',
	  .help = "what is remembered of it goes by this name, not by its main class or jar" },
	{ "no-memory", NULL, OPTION_FLAG, offsetof(struct run, no_memory),
	  .help = "do not use what 'sonde dig' has found in it before" },
	{ "yes", NULL, OPTION_FLAG, offsetof(struct run, yes),
	  .help = "also when the rules match very many methods" },
	{ "native", NULL, OPTION_FLAG, offsetof(struct run, native),
	  .help = "COMMAND is no JVM: hook functions of it and of its libraries, as 'libz.so.1::deflate* timed'" },
	{ "apps", "FILE", OPTION_TEXT, offsetof(struct run, apps),
	  .help = "only the applications that this file selects; default: all" },
	{ "report", "FILE", OPTION_TEXT, offsetof(struct run, report),
	  .help = "when COMMAND has ended, write the figures there; - is stderr" },
	{ "record", "FILE", OPTION_TEXT, offsetof(struct run, record),
	  .help = "when COMMAND has ended, write what 'sonde report FILE' and 'sonde tree FILE' "
		  "read" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct run, json),
	  .help = "write them as JSON; so does a FILE that ends in .json" },
	{ "check-apps", "FILE", OPTION_TEXT, offsetof(struct run, check_apps),
	  .help = "run nothing; say what is wrong with a file of applications" },
};

const struct verb verb_run = {
	.usage = "[OPTION]... [--] COMMAND [ARGUMENT]...\n"
		 "--check-apps FILE [--json]",
	.about = "Runs COMMAND, and puts the agent into every JVM that it starts, itself or "
		 "through scripts and child processes. Its streams, signals and exit status are "
		 "its own.",
	.options = options,
	.n = COUNT(options),
	.more = "Without rules the agent is idle until 'sonde hook' tells it more; but what "
		"'sonde dig' has found in it before is hooked from the start ('sonde memory' "
		"lists it).",
	.status = "that of COMMAND, 128 + N when signal N ended it; 2 a rule or option is wrong, "
		  "nothing was started; 3 it could not be started. With --check-apps 0, or 1 when "
		  "something is wrong.",
	.examples = "sonde run --hook 'com.shop.**::* timed' --report - -- java -jar shop.jar\n"
		    "sonde run --rules shop.rules --report shop.json -- mvn test\n"
		    "sonde run --check-apps /etc/sonde/apps",
	.first_only = true,
	.run = cmd_run,
	.set = set_option,
};

/* CLI_GO_ON: with the command from optind; else all is done. */
static int parse(struct run *r, int argc, char **argv)
{
	int status = verb_parse(&verb_run, argc, argv, r);

	if (status != CLI_GO_ON)
		return status;
	if (r->native && (r->apps || r->cache || r->app))
		return cli_usage(r->name, "--native goes without --apps, --cache and --app");
	if (r->check_apps && optind < argc)
		return cli_usage(r->name, "--check-apps runs nothing");
	if (!r->check_apps && optind == argc)
		return cli_usage(r->name, "which command?");
	return CLI_GO_ON;
}

int cmd_run(int argc, char **argv)
{
	struct run r = { .name = argv[0] };
	int status;

	arena_init(&r.mem);
	r.rules = rules_new(&r.mem);
	status = r.rules ? parse(&r, argc, argv) : cli_no_memory();
	if (status == CLI_GO_ON)
		status = r.check_apps ? run_check_apps(r.check_apps, r.json)
				      : run(&r, argv + optind);
	arena_release(&r.mem);
	return status;
}
