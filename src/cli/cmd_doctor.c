/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_doctor.c - "sonde doctor": why can't I attach? */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "classfile/show/show.h"
#include "cli/attach/doctor.h"
#include "cli/attach/native_process.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"
#include "jvm/proc.h"
#include "cli/verbs.h"

enum { TOPIC_WIDTH = 10, VERDICT_WIDTH = 8, LINE = 100 };

static const char *const verdicts[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_WARNING] = "warning",
	[DOCTOR_WRONG] = "WRONG",
};

struct printer {
	bool json;
	struct buf out;
	struct json j;
};

/* Appends the words of a text in lines; all but the first begin `indent` columns in. */
static void print_wrapped(struct buf *out, const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > indent && column + 1 + n > LINE) {
			buf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			buf_u8(out, ' ');
			column++;
		}
		show_name(out, (struct slice){ (const uint8_t *)text, n });
		column += n;
		text += n + strspn(text + n, " ");
	}
	buf_u8(out, '\n');
}

static void print_finding(void *ctx, const struct finding *f)
{
	struct printer *p = ctx;
	const size_t indent = 2 + VERDICT_WIDTH + 1 + TOPIC_WIDTH + 1;

	if (p->json) {
		json_open(&p->j, '{');
		json_put_text(&p->j, "topic", f->topic);
		json_put_text(&p->j, "verdict",
			      f->verdict == DOCTOR_WRONG ? "wrong" : verdicts[f->verdict]);
		json_put_text(&p->j, "text", f->text);
		json_put_text(&p->j, "todo", f->todo);
		json_close(&p->j, '}');
		return;
	}
	buf_printf(&p->out, "  %-*s %-*s ", VERDICT_WIDTH, verdicts[f->verdict], TOPIC_WIDTH,
		   f->topic);
	print_wrapped(&p->out, f->text, indent);
	if (*f->todo) {
		buf_printf(&p->out, "%*s-> ", (int)indent - 3, "");
		print_wrapped(&p->out, f->todo, indent);
	}
}

/* Is the agent in it, does it listen, and is it of our version? */
static void check_agent(struct patient *p)
{
	const struct jvm *j = p->jvm;
	struct client c;
	char path[TARGET_SOCKET_MAX];

	target_socket(&j->target, path, sizeof(path));
	if (proc_listens(j->target.pid, target_socket_inside(path)) != 1) {
		if (j->has_agent)
			doctor_say(p, "agent", DOCTOR_NOTE, NULL,
				   "it was in it and was detached; the library is still loaded");
		else if (j->has_socket)
			doctor_say(p, "agent", DOCTOR_NOTE, NULL,
				   "it is not in it; %s is left over from another process",
				   target_socket_inside(path));
		else
			doctor_say(p, "agent", DOCTOR_OK, NULL, "it is not in it yet");
		return;
	}
	if (client_open(&c, &j->target) != CLI_DONE)
		doctor_say(p, "agent", DOCTOR_WARNING, NULL,
			   "it is in it and listens, but could not be talked to");
	else if (!slice_is(c.welcome.build, SONDE_VERSION))
		doctor_say(p, "agent", DOCTOR_WARNING,
			   "Detach it with its own sonde, and attach it again.",
			   "it is in it, of version %.*s; this is sonde " SONDE_VERSION,
			   SLICE_FMT(c.welcome.build));
	else
		doctor_say(p, "agent", DOCTOR_OK, NULL, "it is in it and listens, version %.*s",
			   SLICE_FMT(c.welcome.build));
	client_close(&c);
}

static void print_head(struct printer *p, const struct jvm *jvm)
{
	if (p->json) {
		json_open(&p->j, '{');
		json_put_u64(&p->j, "pid", (uint64_t)jvm->target.pid);
		json_put_text(&p->j, "name", jvm->target.name);
		json_put_open(&p->j, "checks", '[');
		return;
	}
	buf_printf(&p->out, "process %d, ", jvm->target.pid);
	show_name(&p->out, slice_str(jvm->target.name));
	buf_text(&p->out, "\n");
}

static void print_end(struct printer *p, unsigned wrong)
{
	if (p->json) {
		json_close(&p->j, ']');
		json_put_bool(&p->j, "can_attach", !wrong);
		json_close(&p->j, '}');
		buf_text(&p->out, "\n");
	} else if (wrong) {
		buf_printf(&p->out, "Attaching would not work: %u of these %s in the way.\n", wrong,
			   wrong == 1 ? "is" : "are");
	} else {
		buf_text(&p->out, "Attaching would work.\n");
	}
}

static int examine(const struct jvm *jvm, struct printer *printer)
{
	struct fault f = { 0 };
	struct library lib;
	struct inside in;
	bool have = library_open(&lib, LIBRARY_JVM, &f) >= 0;
	struct patient p = { .jvm = jvm,
			     .in = &in,
			     .lib = have ? &lib : NULL,
			     .lib_fault = &f,
			     .report = print_finding,
			     .ctx = printer };

	inside_open(&in, jvm->target.pid, jvm->target.uid, jvm->target.gid);
	print_head(printer, jvm);
	if (jvm->kind == JVM_NOT)
		native_process_examine(&p);
	else
		doctor_examine(&p);
	if (in.root >= 0 && (jvm->kind == JVM_HOTSPOT || jvm->kind == JVM_NOT))
		check_agent(&p);
	if (jvm->kind != JVM_NOT)
		doctor_more(&p);
	print_end(printer, p.wrong);
	inside_close(&in);
	library_close(&lib);
	return p.wrong ? CLI_NO : CLI_DONE;
}

static int run(const char *text, bool json)
{
	struct printer printer = { .json = json };
	struct arena mem;
	struct jvm jvm;
	pid_t pid;
	int status = target_pick(text, &pid);

	if (status != CLI_DONE)
		return status;
	printer.j = json_to(&printer.out);
	arena_init(&mem);
	if (jvm_read(pid, &mem, &jvm) < 0)
		status = cli_cannot("no process %d; 'sonde ps' lists the JVMs", pid);
	else
		status = examine(&jvm, &printer);
	if (!cli_print(&printer.out))
		status = CLI_CANNOT;
	arena_release(&mem);
	buf_release(&printer.out);
	return status;
}

struct command_doctor {
	bool json;
};

static const struct verb_option options[] = {
	{ "json", NULL, OPTION_FLAG, offsetof(struct command_doctor, json),
	  .help = "print one JSON object" },
};

const struct verb verb_doctor = {
	.usage = "[OPTION]... [TARGET]",
	.about =
		"Goes through everything that can stand between Sonde and a program, and says what "
		"to do about it. The program is not disturbed. TARGET is its process; of a JVM "
		"also its main class or jar, or nothing when there is only one.",
	.options = options,
	.n = COUNT(options),
	.status = "0 attaching would work, 1 it would not, 3 could not look.",
	.examples = "sonde doctor\n"
		    "sonde doctor 4711\n"
		    "sudo sonde doctor org.apache.catalina.startup.Bootstrap",
	.run = cmd_doctor,
};

int cmd_doctor(int argc, char **argv)
{
	struct command_doctor c = { 0 };
	int status;

	status = verb_parse(&verb_doctor, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	if (argc - optind > 1)
		return cli_usage(argv[0], "takes one TARGET");
	return run(argv[optind], c.json);
}
