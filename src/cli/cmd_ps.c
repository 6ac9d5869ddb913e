/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_ps.c - "sonde ps": the JVMs of this machine. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/visible.h"
#include "classfile/show/show.h"
#include "cli/attach/jvms.h"
#include "cli/screen/cli.h"
#include "cli/screen/method_name.h"
#include "cli/verbs.h"

enum { COLUMNS = 5 };

struct row {
	char text[COLUMNS][64];
};

static const char *agent_text(const struct jvm *jvm)
{
	if (jvm->kind == JVM_HIDDEN)
		return "?";
	if (jvm->has_agent)
		return jvm->has_socket ? "yes" : "idle";
	return "-";
}

static const char *kind_text(enum jvm_kind kind)
{
	static const char *const texts[] = {
		[JVM_NOT] = "native",	     [JVM_HOTSPOT] = "hotspot",
		[JVM_OPENJ9] = "openj9",     [JVM_NATIVE_IMAGE] = "native-image",
		[JVM_STARTING] = "starting", [JVM_HIDDEN] = "hidden",
	};

	return texts[kind];
}

/* Whatever a JVM says of itself stays on its line. */
static void fill_cell(char cell[64], const char *text)
{
	struct buf shown = { 0 };

	visible_put(&shown, slice_str(text), VISIBLE_LINE);
	snprintf(cell, 64, "%.*s", SLICE_FMT(buf_slice(&shown)));
	buf_release(&shown);
}

static void fill(struct row *r, const struct jvm *jvm)
{
	char user[64], age[32], java[128];

	snprintf(r->text[0], sizeof(r->text[0]), "%d", jvm->target.pid);
	fill_cell(r->text[1], jvm_user(jvm->target.uid, user));
	snprintf(java, sizeof(java), "%s%s",
		 jvm->kind == JVM_NOT  ? "native"
		 : jvm->target.java[0] ? jvm->target.java
				       : "?",
		 jvm->kind == JVM_OPENJ9 ? " J9" : "");
	fill_cell(r->text[2], java);
	snprintf(r->text[3], sizeof(r->text[3]), "%s", jvm_age(jvm->uptime, age));
	snprintf(r->text[4], sizeof(r->text[4]), "%s", agent_text(jvm));
}

static int width_of(const char *text)
{
	return (int)method_name_width(slice_str(text));
}

static void put_cell(struct buf *out, const char *text, int width, bool right)
{
	int pad = width - width_of(text);

	buf_printf(out, "%*s%s%*s  ", right ? pad : 0, "", text, right ? 0 : pad, "");
}

/* Numbers and ages to the right. */
static void print_row(struct buf *out, const struct row *r, const int *width)
{
	for (int i = 0; i < COLUMNS; i++)
		put_cell(out, r->text[i], width[i], i == 0 || i == 3);
}

/* The name and arguments; on a terminal, cut off at its edge. */
static void print_name(struct buf *out, const struct jvm *jvm, size_t line_start)
{
	struct winsize w = { 0 };
	size_t cols = SIZE_MAX;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 40)
		cols = w.ws_col;
	show_name(out, slice_str(jvm->target.name));
	if (jvm->args.n) {
		buf_u8(out, ' ');
		show_name(out, jvm->args);
	}
	if (method_name_width((struct slice){ out->p + line_start, out->n - line_start }) > cols) {
		size_t at = line_start;

		for (size_t n = 0; at < out->n; at++) { /* whole characters */
			n += out->p[at] >> 6 != 2;
			if (n > cols - 3)
				break;
		}
		out->n = at;
		buf_text(out, "...");
	}
	buf_u8(out, '\n');
}

static void print_table(const struct jvms *all, struct buf *out)
{
	static const struct row head = { { "PID", "USER", "JDK", "UP", "AGENT" } };
	int width[COLUMNS] = { 0 };
	struct row r;

	for (size_t i = 0; i <= all->n; i++) {
		r = head;
		if (i)
			fill(&r, &all->v[i - 1]);
		for (int c = 0; c < COLUMNS; c++)
			if (width_of(r.text[c]) > width[c])
				width[c] = width_of(r.text[c]);
	}
	print_row(out, &head, width);
	buf_text(out, "NAME\n");
	for (size_t i = 0; i < all->n; i++) {
		size_t start = out->n;

		fill(&r, &all->v[i]);
		print_row(out, &r, width);
		print_name(out, &all->v[i], start);
	}
}

static void print_json_one(const struct jvm *jvm, struct json *j)
{
	char user[64];

	json_open(j, '{');
	json_put_u64(j, "pid", (uint64_t)jvm->target.pid);
	json_put_u64(j, "ns_pid", (uint64_t)jvm->target.ns_pid);
	json_put_u64(j, "uid", jvm->target.uid);
	json_put_str(j, "user", slice_str(jvm_user(jvm->target.uid, user)));
	json_put_str(j, "kind", slice_str(kind_text(jvm->kind)));
	json_put_str(j, "name", slice_str(jvm->target.name));
	json_put_str(j, "main", jvm->main);
	json_put_str(j, "arguments", jvm->args);
	json_put_str(j, "java", slice_str(jvm->target.java));
	json_put_str(j, "vm", jvm->vm_version);
	json_put_double(j, "uptime_s", jvm->uptime);
	json_put_str(j, "agent", slice_str(agent_text(jvm)));
	json_close(j, '}');
}

static void print_json(const struct jvms *all, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_open(&j, "jvms", '[');
	for (size_t i = 0; i < all->n; i++)
		print_json_one(&all->v[i], &j);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}

static int list(bool json)
{
	struct buf out = { 0 };
	struct jvms all;
	int status;

	if (jvms_read_observed(&all) < 0) {
		status = cli_cannot("cannot look for JVMs in /proc");
		goto done;
	}
	status = all.n ? CLI_DONE : CLI_NO;
	if (json)
		print_json(&all, &out);
	else if (all.n)
		print_table(&all, &out);
	else
		fputs("sonde: no JVM is running here\n", stderr);
	if (!cli_print(&out))
		status = CLI_CANNOT;
done:
	jvms_release(&all);
	buf_release(&out);
	return status;
}

struct command_ps {
	bool json;
};

static const struct verb_option options[] = {
	{ "json", NULL, OPTION_FLAG, offsetof(struct command_ps, json),
	  .help = "print one JSON object" },
};

const struct verb verb_ps = {
	.usage = "[OPTION]...",
	.about =
		"Lists the JVMs of this machine, and native programs that are observed: process, user, Java version, how long it has "
		"been running, whether Sonde's agent is in it, and its main class or jar with "
		"its arguments. Containers are looked into, too. Of other users' JVMs only root "
		"sees everything.",
	.options = options,
	.n = COUNT(options),
	.more = "AGENT: yes = it listens; idle = it was detached, the library is still loaded; - "
		"= none.",
	.status = "0 there are some, 1 there are none, 3 could not look.",
	.examples = "sonde ps\n"
		    "sonde ps --json",
	.run = cmd_ps,
};

int cmd_ps(int argc, char **argv)
{
	struct command_ps c = { 0 };
	int status;

	status = verb_parse(&verb_ps, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	if (optind < argc)
		return cli_usage(argv[0], "takes no arguments");
	return list(c.json);
}
