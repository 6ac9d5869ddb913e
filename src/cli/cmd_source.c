/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_source.c - "sonde source": where a class of a running program comes from, and what is in it. */
#define _GNU_SOURCE /* memfd_create */
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/attach/target.h"
#include "cli/classtools/class_tools.h"
#include "cli/client/client.h"
#include "cli/client/visit.h"
#include "cli/look/class_files.h"
#include "cli/look/decompile.h"
#include "cli/look/decompiled.h"
#include "cli/look/source_text.h"
#include "cli/screen/method_name.h"
#include "cli/verbs.h"
#include "rule/text.h"

enum { METHODS_MAX = 4096 };

struct command_source {
	bool json, list;
	const char *method;	 /* NULL: all */
	struct text_guess guess; /* of methods, when none is of that name */
	struct arena mem;
	char *class, *place, *file; /* of the last class */
	struct buf text, where;	    /* its source; where.n 0: none was found */
	struct class_files files;
	struct wire_origin_method *methods;
	size_t n, classes, found;
	struct buf out;
	struct json j;
};

static const struct verb_option options[] = {
	{ "list|l", NULL, OPTION_FLAG, offsetof(struct command_source, list),
	  .help = "where it comes from and its methods, without their text" },
	VERB_JSON(struct command_source, json, "print one JSON object, as --list"),
};

const struct verb verb_source = {
	.usage = "[OPTION]... [TARGET] CLASS\n[OPTION]... [TARGET] METHOD",
	.about =
		"Shows where a loaded class comes from, by which loader, and on which lines its "
		"methods are; which of them are hooked, and so run other code than the file has. "
		"Then its text, or that of a METHOD: the source, when that lies beside the jar or the "
		"class files, or in ~/.m2; else what a decompiler makes of the class file, if Debian's "
		"package " DECOMPILE_PACKAGE " is installed; else byte code. What is shown is the "
		"original, without hooks. The agent is put in for as long as that takes.",
	.options = options,
	.n = COUNT(options),
	.more = "CLASS is com.shop.Cart, or Cart where that is unique; METHOD is com.shop.Cart::add. "
		"TARGET is a pid, a main class or a jar; not needed when there is only one JVM. The "
		"decompiler runs beside, in a process with limits, never in the program.",
	.status = "0 done, 1 there is no such class or method, 2 wrong usage, 3 could not.",
	.examples = "sonde source 4711 com.shop.Cart\n"
		    "sonde source shop.jar Cart::add",
	.run = cmd_source,
};

/* ---- what the agent tells ---- */

static unsigned hex(uint8_t c)
{
	return c <= '9' ? c - (unsigned)'0' : (c | 32u) - 'a' + 10;
}

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* The file that "file:/opt/my%20a.jar" means, and of "jar:file:/opt/a.jar!/lib/b.jar!/" the outer one;
 * what is no address stays as it is. */
static char *path_of(struct command_source *w, struct slice place)
{
	static const char *const schemes[] = { "jar:", "nested:", "file:" };
	const uint8_t *mark;
	bool coded = false;
	char *path, *to;

	for (size_t i = 0; i < COUNT(schemes); i++) {
		struct slice scheme = slice_str(schemes[i]);

		if (slice_starts(place, scheme)) {
			place = (struct slice){ place.p + scheme.n, place.n - scheme.n };
			coded = true;
		}
	}
	mark = coded && place.n ? memchr(place.p, '!', place.n) : NULL;
	if (mark)
		place.n = (size_t)(mark - place.p);
	while (place.n > 1 && place.p[place.n - 1] == '/')
		place.n--;
	path = arena_str(&w->mem, place);
	if (!path || !coded)
		return path;
	to = path;
	for (size_t i = 0; i < place.n; i++)
		if (place.p[i] == '%' && i + 2 < place.n && is_hex(place.p[i + 1]) &&
		    is_hex(place.p[i + 2]) && (place.p[i + 1] | place.p[i + 2]) != '0') {
			*to++ = (char)(hex(place.p[i + 1]) << 4 | hex(place.p[i + 2]));
			i += 2;
		} else {
			*to++ = (char)place.p[i];
		}
	*to = '\0';
	return path;
}

static void put_class(struct command_source *w, const struct wire_origin *m)
{
	struct buf name = { 0 };

	buf_dotted(&name, m->class);
	buf_text(&w->out, w->classes > 1 ? "\n" : "");
	client_show_line(&w->out, buf_slice(&name));
	buf_text(&w->out, "\n  loaded by  ");
	client_show_line(&w->out, m->loader);
	buf_text(&w->out, "\n  from       ");
	client_show_line(&w->out, m->place.n ? m->place : slice_str("(unknown)"));
	buf_text(&w->out, "\n  source     ");
	client_show_line(&w->out, m->file.n ? m->file : slice_str("(unknown)"));
	buf_u8(&w->out, '\n');
	buf_release(&name);
}

static void json_class(struct command_source *w, const struct wire_origin *m)
{
	if (w->classes > 1) {
		json_close(&w->j, ']');
		json_close(&w->j, '}');
	}
	json_open(&w->j, '{');
	json_put_str(&w->j, "class", m->class);
	json_put_str(&w->j, "loader", m->loader);
	json_put_str(&w->j, "from", m->place);
	json_put_str(&w->j, "file", m->file);
	json_put_open(&w->j, "methods", '[');
}

static void take_class(struct command_source *w, const struct wire_origin *m)
{
	w->classes++;
	w->class = arena_str(&w->mem, m->class);
	w->place = path_of(w, m->place);
	w->file = arena_str(&w->mem, m->file);
	w->n = 0;
	if (w->json)
		json_class(w, m);
	else
		put_class(w, m);
}

static void put_method(struct command_source *w, const struct wire_origin_method *m)
{
	struct buf full = { 0 };
	struct method_name name;

	buf_dotted(&full, slice_str(w->class));
	buf_u8(&full, '.');
	buf_put(&full, m->name);
	buf_put(&full, m->desc);
	method_name_split(buf_slice(&full), &name);
	name.package = (struct slice){ NULL, 0 };
	if (m->first)
		buf_printf(&w->out, "  %6u - %-6u", m->first, m->last);
	else
		buf_printf(&w->out, "  %15s", "");
	buf_printf(&w->out, " %5u bytes  ", m->bytes);
	method_name_put(&w->out, &name, true);
	if (m->rule)
		buf_printf(&w->out, "  (hooked by #%u: other code runs than the file has)",
			   m->rule);
	buf_u8(&w->out, '\n');
	buf_release(&full);
}

static void json_method(struct command_source *w, const struct wire_origin_method *m)
{
	json_open(&w->j, '{');
	json_put_str(&w->j, "name", m->name);
	json_put_str(&w->j, "desc", m->desc);
	json_put_u64(&w->j, "first_line", m->first);
	json_put_u64(&w->j, "last_line", m->last);
	json_put_u64(&w->j, "bytes", m->bytes);
	json_put_u64(&w->j, "rule", m->rule);
	json_close(&w->j, '}');
}

static void take_method(struct command_source *w, const struct wire_origin_method *m)
{
	if (!w->class)
		return;
	if (w->method && !slice_is(m->name, w->method)) {
		text_guess_try(&w->guess, slice_str(arena_str(&w->mem, m->name)));
		return;
	}
	w->found++;
	if (w->json)
		json_method(w, m);
	else
		put_method(w, m);
	if (!w->methods)
		w->methods = arena_zero(&w->mem, METHODS_MAX * sizeof(*w->methods));
	if (w->methods && w->n < METHODS_MAX)
		w->methods[w->n++] = *m; /* its texts go with the answer */
}

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct command_source *w = ctx;
	struct wire_origin_method method;
	struct wire_origin class;

	if (type == WIRE_origin && wire_get_origin(payload, &class) >= 0)
		take_class(w, &class);
	else if (type == WIRE_origin_method && wire_get_origin_method(payload, &method) >= 0)
		take_method(w, &method);
	return true;
}

/* ---- what is found beside the program ---- */

/* With its user's rights: the source, or the class file with what belongs to it. */
static int find(struct command_source *w, const struct target *t)
{
	int status = CLI_DONE;
	struct inside in;

	if (!w->place || w->place[0] != '/')
		return CLI_DONE;
	if (inside_open(&in, t->pid, t->uid, t->gid) < 0)
		status = cli_cannot("the files of %d cannot be reached: %s", t->pid,
				    strerror(in.root_errno));
	else if (inside_enter(&in) < 0)
		status = cli_cannot("cannot act as the user of %d", t->pid);
	else if (!source_text_find(&in, w->place, w->class, w->file, &w->text, &w->where))
		class_files_read(&w->files, &in, w->place, w->class);
	inside_leave(&in);
	inside_close(&in);
	return status;
}

static bool take_bytes(void *ctx, unsigned type, struct slice payload)
{
	struct command_source *w = ctx;
	struct wire_class_bytes m;

	if (type == WIRE_class_bytes && wire_get_class_bytes(payload, &m) >= 0)
		class_files_add(&w->files, w->class, m.bytes);
	return true;
}

/* Of a class that was made while the program ran, or whose jar cannot be read, the JVM has the bytes. */
static int find_or_ask(struct command_source *w, struct client *c, const struct target *t)
{
	struct wire_done done = { 0 };
	int status = w->class ? find(w, t) : cli_cannot("the agent tells of no class");

	if (status != CLI_DONE || w->where.n || class_files_get(&w->files, w->class))
		return status;
	wire_put_ask_class_bytes(&c->out, &(struct wire_ask_class_bytes){
						  slice_str(w->class), (uint32_t)w->classes - 1 });
	status = client_hear(c, take_bytes, w, &done);
	if (status == CLI_DONE && !class_files_get(&w->files, w->class)) {
		struct buf why = { 0 };

		client_show(&why, done.text);
		status = cli_cannot("no class file of it can be read in %s, and %.*s",
				    w->place && *w->place ? w->place : "the program",
				    SLICE_FMT(buf_slice(&why)));
		buf_release(&why);
	}
	return status;
}

/* ---- the text ---- */

/* Of a nested class and of a method their lines, else the file. */
static void put_source(struct command_source *w)
{
	unsigned first = UINT_MAX, last = 0;

	if (!w->method && !strchr(w->class, '$')) {
		source_text_lines(buf_slice(&w->text), 1, UINT_MAX - 1, &w->out);
		return;
	}
	for (size_t i = 0; w->method && i < w->n; i++) {
		buf_u8(&w->out, '\n');
		source_text_lines(buf_slice(&w->text), w->methods[i].first, w->methods[i].last,
				  &w->out);
	}
	for (size_t i = 0; !w->method && i < w->n; i++) {
		const struct wire_origin_method *m = &w->methods[i];

		first = m->first && m->first < first ? m->first : first;
		last = m->last > last ? m->last : last;
	}
	if (last)
		source_text_lines(buf_slice(&w->text), first, last, &w->out);
}

/* A descriptor of a file in memory, or -1. */
static int in_memory(struct slice bytes)
{
	int fd = memfd_create("class", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n)
		return fd;
	close(fd);
	return -1;
}

static int show_code(struct command_source *w)
{
	char show[] = "sonde class show", code[] = "-c", method[] = "-m", end[] = "--", path[32];
	char *argv[6] = { show };
	int fd = in_memory(class_files_get(&w->files, w->class)->bytes), n = 1, status;

	if (fd < 0)
		return cli_no_memory();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	argv[n++] = w->method ? method : code;
	if (w->method)
		argv[n++] = (char *)w->method;
	argv[n++] = end;
	argv[n++] = path;
	status = class_show_main(n, argv);
	close(fd);
	return status;
}

static bool decompiled(struct command_source *w, const struct target *t, struct buf *why)
{
	if (!decompile_is_there()) {
		buf_text(why, "to see it decompiled, install " DECOMPILE_PACKAGE);
		return false;
	}
	if (isatty(STDERR_FILENO))
		fputs("sonde: no source lies beside it; decompiling\n", stderr);
	if (!decompile(&w->files, w->class, t->uid, t->gid, &w->text, why))
		return false;
	buf_text(&w->out, "\nNo source lies beside it; what Procyon makes of its class file:\n\n");
	if (decompiled_show(buf_slice(&w->text), w->class, w->method, &w->out))
		return true;
	buf_clear(&w->out);
	buf_text(why,
		 "Procyon writes no such method: it is part of another, or made by the compiler");
	return false;
}

static int show_text(struct command_source *w, const struct target *t)
{
	struct buf why = { 0 };
	int status = CLI_DONE;

	if (w->where.n) {
		buf_u8(&w->out, '\n');
		client_show_line(&w->out, buf_slice(&w->where));
		buf_text(&w->out, "\n\n");
		put_source(w);
	} else if (!decompiled(w, t, &why)) {
		buf_text(&w->out, "\nNo source lies beside it (");
		client_show_line(&w->out, buf_slice(&why));
		buf_text(&w->out, "); the byte code of its class file:\n\n");
		status = cli_print(&w->out) ? show_code(w) : CLI_CANNOT;
	}
	buf_release(&why);
	return status == CLI_DONE && !cli_print(&w->out) ? CLI_CANNOT : status;
}

/* ---- the command ---- */

static int print(struct command_source *w)
{
	char hint[300];

	if (w->json && w->classes) {
		json_close(&w->j, ']');
		json_close(&w->j, '}');
	}
	if (w->json) {
		json_close(&w->j, ']');
		json_close(&w->j, '}');
		buf_u8(&w->out, '\n');
	}
	if (!cli_print(&w->out))
		return CLI_CANNOT;
	if (!w->method || w->found)
		return CLI_DONE;
	text_guess_hint(&w->guess, "", hint, sizeof(hint));
	fprintf(stderr, "sonde: it has no method '%s' of its own%s%s\n", w->method,
		hint[0] ? "; " : "", hint);
	return CLI_NO;
}

static void want_method(struct command_source *w, const char *name)
{
	w->method = strcmp(name, "new") == 0 ? "<init>" : name;
	w->guess = text_guess(slice_str(w->method));
}

static int hear(struct command_source *w, struct client *c, const char *class,
		struct wire_done *done)
{
	wire_put_ask_origin(&c->out, &(struct wire_ask_origin){ slice_str(class) });
	return client_hear(c, take, w, done);
}

/* a.b.C.m: when there is no class of that name, there may be one without what stands behind the last
 * dot, with such a method or one of nearly that name. */
static int hear_dotted(struct command_source *w, struct client *c, char *what,
		       struct wire_done *done)
{
	char *dot = strrchr(what, '.');
	struct buf why = { 0 };
	int status;

	client_show(&why, done->text);
	*dot = '\0';
	want_method(w, dot + 1);
	status = hear(w, c, what, done);
	if (status == CLI_DONE && (done->status == CLI_NO ||
				   (done->status == CLI_DONE && !w->found && !w->guess.best.p))) {
		fprintf(stderr, "sonde: %.*s\n", SLICE_FMT(buf_slice(&why)));
		status = CLI_NO;
	}
	buf_release(&why);
	return status;
}

static int ask(struct command_source *w, struct client *c, char *what)
{
	struct wire_done done = { 0 };
	struct buf why = { 0 };
	int status;

	if (w->json) {
		json_open(&w->j, '{');
		json_put_u64(&w->j, "pid", (uint64_t)c->pid);
		json_put_open(&w->j, "classes", '[');
	}
	status = hear(w, c, what, &done);
	if (status == CLI_DONE && done.status == CLI_NO && !w->method && strchr(what, '.'))
		status = hear_dotted(w, c, what, &done);
	if (status == CLI_DONE && done.status != CLI_DONE) {
		client_show(&why, done.text);
		cli_cannot("%.*s", SLICE_FMT(buf_slice(&why)));
		status = done.status <= CLI_CANNOT ? (int)done.status : CLI_CANNOT;
	}
	buf_release(&why);
	return status == CLI_DONE ? print(w) : status;
}

static int run(struct command_source *w, const char *target, char *what)
{
	char *split = strstr(what, "::");
	struct client client = { .fd = -1 };
	struct visit visit = { 0 };
	struct target t;
	bool text = !w->list && !w->json;
	int status;

	if (!split)
		split = strchr(what, '#');
	if (split) {
		want_method(w, split + 1 + (*split == ':'));
		*split = '\0';
	}
	status = visit_find(&visit, &client, target, &t);
	if (status != CLI_DONE)
		return status;
	status = ask(w, &client, what);
	if (status == CLI_DONE && text)
		status = find_or_ask(w, &client, &t);
	visit_end(&visit, &client);
	return status == CLI_DONE && text ? show_text(w, &t) : status;
}

int cmd_source(int argc, char **argv)
{
	struct command_source w = { 0 };
	int status = verb_parse(&verb_source, argc, argv, &w), n = argc - optind;

	if (status != CLI_GO_ON)
		return status;
	if (n < 1 || n > 2)
		return cli_usage(argv[0], "which class? [TARGET] CLASS or CLASS::METHOD");
	arena_init(&w.mem);
	class_files_init(&w.files);
	w.j = json_to(&w.out);
	status = run(&w, n == 2 ? argv[optind] : NULL, argv[argc - 1]);
	class_files_release(&w.files);
	buf_release(&w.text);
	buf_release(&w.where);
	buf_release(&w.out);
	arena_release(&w.mem);
	return status;
}
