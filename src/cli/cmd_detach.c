/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_detach.c - "sonde detach": takes the agent out of a running program, and looks whether it is.
 *
 * The agent takes all hooks out, compares each class that was woven with its original, tells what
 * it found, and ends.  What can be seen from outside is then looked at from outside: the socket,
 * the agent's thread, and whether its library is still mapped. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "classfile/show/show.h"
#include "cli/attach/library.h"
#include "cli/attach/native_process.h"
#include "cli/attach/target.h"
#include "cli/client/beside.h"
#include "cli/screen/cli.h"
#include "jvm/proc.h"
#include "cli/verbs.h"

enum { LEAVE_MS = 3000, LOOK_MS = 20, UNLOAD_MS = 3000 };

static const uint64_t ms = 1000000;

struct detach {
	bool json, verbose, if_late, if_alone, only_native;
	uint64_t same, methods, differing;
	uint64_t foreign; /* of same: but for changes of another agent */
	struct buf rows;
	struct json j; /* into rows */
	/* Seen from outside, when the agent said that it leaves. */
	bool looked;
	bool ended;		      /* the whole program has */
	char path[TARGET_SOCKET_MAX]; /* of its socket, as long as it was there */
	bool socket;
	unsigned threads;
	int library; /* 1 mapped, 0 not; -1: not known */
	bool native;
	char stays[200]; /* native: why it is still mapped */
	bool unloaded;	 /* native: it is not */
	bool beside;	 /* it is the second of two agents that leave */
};

/* ---- what the agent found ---- */

static void tell_class(struct detach *d, const struct wire_proof *m)
{
	char n[32];

	if (d->json) {
		json_open(&d->j, '{');
		json_put_str(&d->j, "class", m->class);
		json_put_u64(&d->j, "methods", m->methods);
		json_put_bool(&d->j, "same", m->same);
		json_put_str(&d->j, "why", m->why);
		json_close(&d->j, '}');
		return;
	}
	show_name(&d->rows, m->class);
	buf_printf(&d->rows, ": %s method%s, %s", cli_number(n, m->methods),
		   m->methods == 1 ? "" : "s", m->same ? "the original again" : "NOT the original");
	if (m->why.n)
		buf_text(&d->rows, ": ");
	client_show(&d->rows, m->why);
	buf_u8(&d->rows, '\n');
}

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct detach *d = ctx;
	struct wire_proof m;

	if (type != WIRE_proof || wire_get_proof(payload, &m) < 0)
		return true;
	d->methods += m.methods;
	d->same += m.same != 0;
	d->differing += !m.same;
	d->foreign += m.same && m.why.n;
	if (!m.same || m.why.n || d->verbose)
		tell_class(d, &m);
	return true;
}

/* ---- what can be seen from outside ---- */

/* Does any line of the file have this word, without that other one? */
static int file_has(const char *path, const char *word, const char *but)
{
	FILE *f = fopen(path, "re");
	char line[4096];
	int found = 0;

	if (!f)
		return -1;
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, word) && !strstr(line, but);
	fclose(f);
	return found;
}

/* A JVM unloads its agent's library itself, or never. */
static void unload(struct detach *d, const struct target *t)
{
	struct inject_out out;

	native_process_leave(t, UNLOAD_MS, &out);
	d->unloaded = out.gone;
	if (!out.gone)
		snprintf(d->stays, sizeof(d->stays), "%s", out.why);
}

static void look_for_library(struct detach *d, const struct target *t)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	d->library = file_has(path, "/libsonde", d->native ? "\n\n" : "/libsonde-native");
	if (t->beside && d->unloaded) /* what is there is the JVM's agent */
		d->library = 0;
}

/* The agent's last acts come after its answer: gives it a moment. */
static void look_outside(struct detach *d, struct client *c, const struct target *t)
{
	uint64_t end = clock_steady_ns() + LEAVE_MS * ms;
	struct slice payload;
	struct inside in;
	char path[64];
	unsigned type;
	struct stat st;

	while (client_next(c, LEAVE_MS, &type, &payload) > 0)
		continue;
	do {
		d->socket = lstat(d->path, &st) == 0;
		d->threads = proc_count_threads(t->pid, t->beside ? "sonde native" : "sonde");
		if (!d->socket && !d->threads)
			break;
		usleep(LOOK_MS * 1000);
	} while (clock_steady_ns() < end && !client_interrupted());
	if (d->native && !d->socket && !d->threads && !d->differing)
		unload(d, t);
	look_for_library(d, t);
	snprintf(path, sizeof(path), "/proc/%d", (int)t->pid);
	d->ended = access(path, F_OK) < 0;
	d->looked = true;
	if (inside_open(&in, t->pid, t->uid, t->gid) >= 0)
		library_remove(&in);
	inside_close(&in);
}

/* ---- the answer ---- */

static const char *const library_texts[] = { "unknown", "unloaded", "idle" };

static const char *ending(const struct detach *d, uint64_t n)
{
	return n == 1 ? "" : d->native ? "s" : "es";
}

static void print_stays(const struct detach *d, struct buf *out)
{
	if (d->stays[0]) {
		buf_text(out, ", since ");
		client_show(out, slice_str(d->stays));
	}
	buf_u8(out, '\n');
}

static bool is_clean(const struct detach *d)
{
	return d->looked && !d->differing && !d->socket && !d->threads;
}

static void print_compared(struct detach *d, struct buf *out)
{
	char all[32], same[32], differing[32];

	if (!(d->same + d->differing))
		return;
	buf_printf(out, "%s %s%s compared: %s the original again, ",
		   cli_number(all, d->same + d->differing), d->native ? "function" : "class",
		   ending(d, d->same + d->differing), cli_number(same, d->same - d->foreign));
	if (d->foreign)
		buf_printf(out, "%s but for changes of another agent, ",
			   cli_number(same, d->foreign));
	buf_printf(out, "%s different\n", cli_number(differing, d->differing));
}

/* One line when all is as it was; everything when it is not, or with -v. */
static void print_text(struct detach *d, const struct client *c, struct buf *out)
{
	char n[32];

	buf_put(out, buf_slice(&d->rows));
	if (is_clean(d) && !d->verbose) {
		buf_printf(out,
			   "%s %d: %s %s%s compared, %s the original again%s; "
			   "seen from outside: no socket, no thread of the agent, library %s",
			   d->beside ? "native code of" : "detached from", (int)c->pid,
			   cli_number(n, d->same), d->native ? "function" : "woven class",
			   ending(d, d->same), d->same == 1 ? "it is" : "all are",
			   d->foreign ? " but for changes of another agent" : "",
			   d->ended ? "gone with the program" : library_texts[d->library + 1]);
		print_stays(d, out);
		return;
	}
	print_compared(d, out);
	if (!d->looked)
		return;
	client_show(out, buf_slice(&c->done));
	buf_u8(out, '\n');
	if (d->ended)
		return;
	buf_printf(out, "Seen from outside: %s socket, %u thread%s of the agent, library %s",
		   d->socket ? "STILL a" : "no", d->threads, d->threads == 1 ? "" : "s",
		   library_texts[d->library + 1]);
	print_stays(d, out);
}

static void put_json(struct detach *d, const struct client *c, struct json *j)
{
	json_put_u64(j, "classes", d->same + d->differing);
	json_put_u64(j, "methods", d->methods);
	json_put_u64(j, "same", d->same - d->foreign);
	json_put_u64(j, "foreign", d->foreign);
	json_put_u64(j, "differing", d->differing);
	json_put_open(j, d->verbose ? "compared" : "not_original", '[');
	buf_put(j->out, buf_slice(&d->rows));
	json_close(j, ']');
	if (d->looked) {
		json_put_bool(j, "socket", d->socket);
		json_put_u64(j, "threads", d->threads);
		json_put_text(j, "library", library_texts[d->library + 1]);
		json_put_text(j, "library_stays", d->stays);
	}
	json_put_str(j, "text", buf_slice(&c->done));
}

/* ---- the agents --------------------------------------------------------------------------- */

/* One agent, and who is asked about it. */
struct leaving {
	struct detach *d;
	struct client *c;
	const struct target *t;
	int status;
};

static int ask(struct leaving *l)
{
	struct detach *d = l->d;
	struct client *c = l->c;

	target_socket(l->t, d->path, sizeof(d->path));
	c->quiet = true; /* the answer has its text behind the rows */
	wire_put_detach(&c->out,
			&(struct wire_detach){ .flags = d->if_alone ? DETACH_IF_ALONE : 0 });
	d->native = slice_is(c->welcome.jvm, "native");
	return l->status = client_ask(c, take, d);
}

static void look(struct leaving *l)
{
	struct detach *d = l->d;

	if (l->status != CLI_DONE) /* the agent has not left */
		return;
	look_outside(d, l->c, l->t);
	if (d->differing || d->socket || d->threads)
		l->status = CLI_NO;
}

static void print(struct leaving *l, size_t n, struct buf *out)
{
	struct json j = json_to(out);

	if (!l->d->json) {
		for (size_t i = 0; i < n; i++)
			print_text(l[i].d, l[i].c, out);
		return;
	}
	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)l->c->pid);
	put_json(l->d, l->c, &j);
	if (n > 1) {
		json_put_open(&j, "native", '{');
		put_json(l[1].d, l[1].c, &j);
		json_close(&j, '}');
	}
	json_close(&j, '}');
	buf_u8(out, '\n');
}

/* All are asked before anybody looks: what one leaves is looked at from outside when no other one works. */
static int run(struct leaving *l, size_t n)
{
	struct buf out = { 0 };
	int status = CLI_DONE;

	for (size_t i = 0; i < n; i++) {
		ask(&l[i]);
		if (client_interrupted()) {
			fprintf(stderr,
				"sonde: interrupted; the agent goes on with what it began\n");
			return CLI_CANNOT;
		}
	}
	for (size_t i = 0; i < n; i++) {
		look(&l[i]);
		status = l[i].status > status ? l[i].status : status;
	}
	print(l, n, &out);
	if (!cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	return status;
}

static const struct verb_option options[] = {
	{ "verbose|v", NULL, OPTION_FLAG, offsetof(struct detach, verbose),
	  .help = "name every class that was compared, not only those that differ" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct detach, json),
	  .help = "print one JSON object" },
	{ "if-late", NULL, OPTION_FLAG, offsetof(struct detach, if_late),
	  .help = "leave an agent alone that was there from the start of the JVM" },
	{ "if-alone", NULL, OPTION_FLAG, offsetof(struct detach, if_alone),
	  .help = "... or that other commands or rules of others still need" },
	{ "native", NULL, OPTION_FLAG, offsetof(struct detach, only_native),
	  .help = "of a JVM only the agent that hooks native functions" },
};

const struct verb verb_detach = {
	.usage = "[-v] [--json] [--if-late] [--if-alone] [--native] [TARGET]",
	.about = "Takes all hooks and the agent out of a running program, and proves it: every "
		 "class that was woven is fetched from the JVM again and compared with its "
		 "original. The library stays mapped, idle, where the JVM does not unload it. "
		 "'sonde attach' brings the agent back.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar; not needed when there is only one JVM.",
	.status = "0 done, 1 some class is not the original again, or something of the agent is "
		  "still there; 2 wrong usage, 3 could not.",
	.run = cmd_detach,
};

/* The JVM's agent, and that of native functions where it is. */
static int run_all(struct detach *d, struct client *c, const struct target *t)
{
	struct detach other = { .json = d->json, .verbose = d->verbose, .beside = true };
	struct beside b;
	struct leaving all[] = { { .d = d, .c = c, .t = t },
				 { .d = &other, .c = &b.client, .t = &b.target } };
	int status;

	if (d->if_alone && beside_is_there(t)) /* somebody wants its figures */
		return CLI_DONE;
	status = beside_find(&b, t);
	other.j = json_to(&other.rows);
	if (status == CLI_DONE)
		status = run(all, b.is_open ? 2 : 1);
	beside_end(&b, true);
	buf_release(&other.rows);
	return status;
}

/* Of a JVM the agent of native functions alone, when that is meant or nothing else is there. */
static bool only_beside(const struct detach *d, const struct target *t)
{
	return d->only_native || (!client_is_there(t) && beside_is_there(t));
}

int cmd_detach(int argc, char **argv)
{
	struct detach d = { 0 };
	struct client c;
	struct target t;
	const char *target;
	int status;

	status = verb_parse_target(&verb_detach, argc, argv, &d, &target);
	if (status != CLI_GO_ON)
		return status;
	d.if_late |= d.if_alone;
	status = target_find(target, &t);
	if (status == CLI_DONE && !t.is_native && only_beside(&d, &t))
		t.beside = true;
	if (status == CLI_DONE)
		status = client_open(&c, &t);
	if (status != CLI_DONE)
		return status;
	d.j = json_to(&d.rows);
	if (d.if_late && !(c.welcome.flags & WELCOME_LATE))
		status = cli_cannot("the agent has been in %d from its start, and stays",
				    (int)t.pid);
	else if (t.beside)
		status = run(&(struct leaving){ .d = &d, .c = &c, .t = &t }, 1);
	else
		status = run_all(&d, &c, &t);
	buf_release(&d.rows);
	client_close(&c);
	return status;
}
