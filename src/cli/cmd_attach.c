/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_attach.c - "sonde attach": gets the agent into a running JVM, or native process.
 *
 * Looks first (doctor.h), so that a JVM that would not take it is not disturbed; then has the JVM
 * load the library (hotspot.h), waits for the agent to listen, and sends it the rules, if any. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "classfile/show/show.h"
#include "cli/attach/doctor.h"
#include "cli/attach/hotspot.h"
#include "cli/attach/native_process.h"
#include "cli/client/client.h"
#include "cli/client/visit.h"
#include "cli/report/hook_rows.h"
#include "cli/report/hook_rules.h"
#include "cli/screen/cli.h"
#include "jvm/proc.h"
#include "cli/verbs.h"

static const double FORKED_S = 0.5; /* a shell has its program started within that time */

struct attach {
	const char *name; /* argv[0] */
	uint64_t wait_ns;
	bool yes, quiet, native;
	struct hook_rules rules;
	struct target target;
	struct arena mem;
	struct jvm jvm;
	char shown[320]; /* "4711 (com.shop.Main)" */
};

static void waiting(unsigned seconds)
{
	fprintf(stderr, "sonde: waiting for the JVM, at most %u s ...\n", seconds);
}

static void pause_ms(unsigned ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static bool agent_listens(const struct target *t)
{
	char path[TARGET_SOCKET_MAX];

	target_socket(t, path, sizeof(path));
	return proc_listens(t->pid, target_socket_inside(path)) == 1;
}

/* ---- before ------------------------------------------------------------------------------------ */

static int look(struct attach *a)
{
	struct buf name = { 0 };

	arena_reset(&a->mem);
	if (jvm_read(a->target.pid, &a->mem, &a->jvm) < 0)
		return cli_cannot("%d has ended", a->target.pid);
	a->target = a->jvm.target;
	show_name(&name, slice_str(a->target.name));
	snprintf(a->shown, sizeof(a->shown), "%d (%.*s)", a->target.pid,
		 SLICE_FMT(buf_slice(&name)));
	buf_release(&name);
	return CLI_DONE;
}

/* A process that is no JVM may be one that a shell has only just forked. */
static bool is_starting(const struct jvm *j)
{
	if (j->kind == JVM_NOT && j->uptime >= 0 && j->uptime < FORKED_S)
		return true;
	return j->state != 'T' && j->state != 't' &&
	       (j->kind == JVM_STARTING || (j->kind == JVM_HOTSPOT && !j->is_live));
}

/* The signal would end a JVM in its first moments, and confuse it a little later. */
static int wait_until_up(struct attach *a)
{
	uint64_t start = clock_steady_ns(), limit = a->wait_ns;
	bool told = false;
	int status;

	while ((status = look(a)) == CLI_DONE && is_starting(&a->jvm) &&
	       clock_steady_ns() - start < limit) {
		if (!told && clock_steady_ns() - start > 2000000000ull) {
			waiting((unsigned)(a->wait_ns / 1000000000));
			told = true;
		}
		pause_ms(10);
	}
	return status;
}

/* The first finding that is wrong is the reason. */
static void keep_first(void *ctx, const struct finding *f)
{
	struct finding *first = ctx;

	if (f->verdict == DOCTOR_WRONG && !first->topic)
		*first = *f;
}

static int examine(struct attach *a, struct inside *in, const struct library *lib)
{
	struct finding first = { 0 };
	struct patient p = {
		.jvm = &a->jvm, .in = in, .lib = lib, .report = keep_first, .ctx = &first
	};
	struct buf text = { 0 };

	if (!doctor_examine(&p))
		return CLI_DONE;
	show_name(&text, slice_str(first.text));
	if (*first.todo) {
		buf_text(&text, ". ");
		show_name(&text, slice_str(first.todo));
	}
	cli_cannot("cannot attach to %s: %.*s\n'sonde doctor %d' looks at everything", a->shown,
		   SLICE_FMT(buf_slice(&text)), a->target.pid);
	buf_release(&text);
	return CLI_CANNOT;
}

/* ---- the act ----------------------------------------------------------------------------------- */

/* A socket at which nobody listens: a JVM that had this pid was killed.  Its own user may have been
 * another one, and then the new agent cannot remove it. */
static void remove_stale_socket(const struct target *t)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	target_socket(t, to.sun_path, sizeof(to.sun_path));
	if (fd >= 0 && lstat(to.sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno == ECONNREFUSED)
		unlink(to.sun_path);
	if (fd >= 0)
		close(fd);
}

static int load(struct attach *a, struct inside *in, const struct library *lib)
{
	struct hotspot h = { .in = in,
			     .ns_pid = a->target.ns_pid,
			     .wait_ms = (unsigned)(a->wait_ns / 1000000),
			     .waiting = waiting };
	struct library_place place;
	struct buf why = { 0 };
	int rc;

	if (library_place(lib, in, true, &place) < 0)
		return cli_cannot("cannot attach to %s: the JVM cannot load the library: %s",
				  a->shown, place.why);
	if (place.copied)
		fprintf(stderr,
			"sonde: the library is loaded from a copy, %s, in its file system\n",
			place.path);
	remove_stale_socket(&a->target);
	rc = hotspot_load(&h, place.path, "");
	library_loaded(&place);
	if (rc >= 0)
		return CLI_DONE;
	client_show(&why, slice_str(h.why));
	cli_cannot("cannot attach to %s: %.*s", a->shown, SLICE_FMT(buf_slice(&why)));
	buf_release(&why);
	return CLI_CANNOT;
}

static int wait_for_agent(const struct attach *a)
{
	uint64_t start = clock_steady_ns(), limit = a->wait_ns;

	while (!agent_listens(&a->target)) {
		if (clock_steady_ns() - start > limit)
			return cli_cannot("the agent was loaded into %s, but does not listen",
					  a->shown);
		pause_ms(5);
	}
	return CLI_DONE;
}

/* What the JVM itself does about it. */
static void tell_about_jvm(const struct attach *a)
{
	if (a->jvm.major >= 21 && !a->jvm.has_agent &&
	    !jvm_has_switch(&a->jvm, "-XX:+EnableDynamicAgentLoading"))
		fputs("sonde: the JVM has written a warning about this to its standard error; "
		      "-XX:+EnableDynamicAgentLoading at its start avoids that\n",
		      stderr);
	if (!a->quiet)
		visit_tell_of_first_hook(a->jvm.uptime);
}

static int load_agent(struct attach *a)
{
	struct fault f = { 0 };
	struct library lib;
	struct inside in;
	int status;

	if (library_open(&lib, LIBRARY_JVM, &f) < 0)
		return cli_cannot("%s", f.text);
	inside_open(&in, a->target.pid, a->target.uid, a->target.gid);
	status = examine(a, &in, &lib);
	if (status == CLI_DONE)
		status = load(a, &in, &lib);
	if (status == CLI_DONE)
		status = wait_for_agent(a);
	if (status == CLI_DONE)
		tell_about_jvm(a);
	inside_close(&in);
	library_close(&lib);
	return status;
}

static int load_native(struct attach *a)
{
	remove_stale_socket(&a->target);
	return native_process_attach(&a->jvm, a->shown, (unsigned)(a->wait_ns / 1000000), a->yes);
}

/* ---- after ------------------------------------------------------------------------------------- */

static int send_rules(struct attach *a, struct client *c)
{
	struct buf text = { 0 }, out = { 0 };
	struct hook_rows rows;
	int status = hook_rules_text(&a->rules, &text);

	hook_rows_init(&rows, false);
	c->quiet = true; /* its words come behind the rows */
	if (status == CLI_DONE) {
		wire_put_hook(&c->out, &(struct wire_hook){ .rules = buf_slice(&text),
							    .origin = buf_slice(&a->rules.origin),
							    .flags = a->yes ? HOOK_YES : 0 });
		status = client_ask(c, hook_rows_take, &rows);
	}
	buf_put(&out, buf_slice(&rows.left));
	if (status == CLI_DONE && c->done.n) {
		client_show(&out, buf_slice(&c->done));
		buf_u8(&out, '\n');
	}
	if (!cli_print(&out))
		status = CLI_CANNOT;
	hook_rows_release(&rows);
	buf_release(&text);
	buf_release(&out);
	return status;
}

static int greet(struct attach *a, bool was_there)
{
	struct buf out = { 0 };
	struct client c;
	int status = client_open(&c, &a->target);

	if (status == CLI_DONE) {
		buf_printf(&out, "%s %s: %s", was_there ? "already attached to" : "attached to",
			   a->shown, a->jvm.kind == JVM_NOT || a->native ? "" : "Java ");
		show_name(&out, c.welcome.jvm);
		buf_text(&out, ", agent ");
		show_name(&out, c.welcome.build);
		buf_text(&out, "\n");
		if (!a->quiet && !cli_print(&out))
			status = CLI_CANNOT;
		if (!slice_is(c.welcome.build, SONDE_VERSION))
			fputs("sonde: that is not the version of this sonde; the JVM keeps the "
			      "library that it loaded first until it is started again\n",
			      stderr);
	}
	if (status == CLI_DONE && hook_rules_count(&a->rules)) {
		fflush(stdout);
		status = send_rules(a, &c);
	}
	client_close(&c);
	buf_release(&out);
	return status;
}

static int run(struct attach *a, const char *text)
{
	bool was_there;
	int status = target_find_any(text, &a->target);

	if (status == CLI_DONE)
		status = wait_until_up(a);
	if (status != CLI_DONE)
		return status;
	if (a->jvm.kind != JVM_NOT && hook_rules_any_native(&a->rules))
		return cli_usage(a->name,
				 "rules for native functions of a JVM are for 'sonde hook %d'",
				 a->target.pid);
	a->target.beside = a->native && a->jvm.kind != JVM_NOT;
	was_there = agent_listens(&a->target);
	if (!was_there && (a->jvm.kind == JVM_NOT || a->native))
		status = load_native(a);
	else if (!was_there)
		status = load_agent(a);
	return status == CLI_DONE ? greet(a, was_there) : status;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct attach *a = self;

	(void)name;
	return which == 'r' ? hook_rules_add_file(&a->rules, value)
			    : hook_rules_add(&a->rules, value);
}

static const struct verb_option options[] = {
	{ "rules", "FILE", OPTION_OWN, 'r', .help = "rules to begin with; may be repeated" },
	{ "hook", "RULE", OPTION_OWN, 'k', .help = "one rule, as in a file; may be repeated" },
	{ "yes", NULL, OPTION_FLAG, offsetof(struct attach, yes),
	  .help = "also when the rules mean very many methods, or a filter of system calls is in force" },
	{ "quiet", NULL, OPTION_FLAG, offsetof(struct attach, quiet),
	  .help = "say nothing when it is in" },
	{ "native", NULL, OPTION_FLAG, offsetof(struct attach, native),
	  .help = "into a JVM: the agent that hooks native functions, which 'sonde hook' brings as needed" },
	{ "wait", "TIME", OPTION_TIME, offsetof(struct attach, wait_ns),
	  .help = "how long to wait for the program (6)", .low = 100000000, .high = 3600000000000 },
};

const struct verb verb_attach = {
	.usage = "[OPTION]... [TARGET]",
	.about = "Loads Sonde's agent into a running program. TARGET is its process; of a JVM also "
		 "its main class or jar, or nothing when there is only one. The agent does "
		 "nothing until it gets rules.",
	.options = options,
	.n = COUNT(options),
	.more = "Needs the program's own user, or root. Containers are reached from outside. 'sonde "
		"doctor' says what stands in the way. 'sonde detach' takes the agent out again.",
	.status = "0 the agent is in, 1 it is, but a rule matched nothing, 2 a rule is wrong, 3 "
		  "could not.",
	.examples = "sonde attach 4711\n"
		    "sonde attach --hook 'com.shop.**::* timed' com.shop.Main\n"
		    "sonde attach --hook 'libz.so.1::deflate* timed' 4712",
	.run = cmd_attach,
	.set = set_option,
};

static int parse(struct attach *a, int argc, char **argv)
{
	int status = verb_parse(&verb_attach, argc, argv, a);

	/* The agent of native functions measures its hooks before it listens: longer in a JVM that is busy. */
	if (!a->wait_ns)
		a->wait_ns = a->native ? 30000000000 : 6000000000;
	if (status == CLI_GO_ON && argc - optind > 1)
		return cli_usage(argv[0], "takes one TARGET");
	return status;
}

int cmd_attach(int argc, char **argv)
{
	struct attach a = { .name = argv[0] };
	int status;

	arena_init(&a.mem);
	status = hook_rules_init(&a.rules);
	if (status == CLI_DONE)
		status = parse(&a, argc, argv);
	if (status == CLI_GO_ON)
		status = run(&a, argv[optind]);
	arena_release(&a.mem);
	hook_rules_release(&a.rules);
	return status;
}
