/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_source.c - "sonde source": where a class of a running program comes from, and what is in it. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/attach/target.h"
#include "cli/classtools/class_tools.h"
#include "cli/client/client.h"
#include "cli/client/visit.h"
#include "cli/look/source_text.h"
#include "cli/screen/method_name.h"
#include "cli/verbs.h"
#include "jvm/inside.h"

enum { METHODS_MAX = 4096 };

struct command_source {
	bool json;
	const char *method; /* NULL: all */
	struct arena mem;
	char *class, *place, *file; /* of the last class */
	struct inside in;
	struct wire_origin_method *methods;
	size_t n, classes, found;
	struct buf out;
	struct json j;
};

static const struct verb_option options[] = {
	VERB_JSON(struct command_source, json, "print one JSON object"),
};

const struct verb verb_source = {
	.usage = "[OPTION]... [TARGET] CLASS\n[OPTION]... [TARGET] METHOD",
	.about =
		"Shows where a loaded class comes from, by which loader, and on which lines its "
		"methods are; which of them are hooked, and so run other code than the file has. Of a "
		"METHOD it shows the source, when that lies beside the jar or the class files, or in "
		"~/.m2, and else its byte code. The agent is put in for as long as that takes.",
	.options = options,
	.n = COUNT(options),
	.more = "CLASS is com.shop.Cart, or Cart where that is unique; METHOD is com.shop.Cart::add. "
		"TARGET is a pid, a main class or a jar; not needed when there is only one JVM.",
	.status = "0 done, 1 there is no such class or method, 2 wrong usage, 3 could not.",
	.examples = "sonde source 4711 com.shop.Cart\n"
		    "sonde source shop.jar Cart::add",
	.run = cmd_source,
};

/* ---- what the agent tells ---- */

/* "file:/opt/a.jar" without what makes it an address; others as they are. */
static char *path_of(struct command_source *w, struct slice place)
{
	if (slice_starts(place, slice_str("file:")))
		place.p += 5, place.n -= 5;
	if (place.n > 1 && place.p[place.n - 1] == '/')
		place.n--;
	return arena_str(&w->mem, place);
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
	if (!w->class || (w->method && !slice_is(m->name, w->method)))
		return;
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

/* ---- the text ---- */

/* Of a class file its own path, of a jar the place. */
static int open_code(const struct command_source *w, bool *is_class)
{
	struct buf path = { 0 };
	int fd;

	buf_printf(&path, "%s/%s.class", w->place, w->class);
	buf_u8(&path, 0);
	fd = path.err ? -1 : source_text_open(&w->in, (const char *)path.p);
	*is_class = fd >= 0;
	buf_release(&path);
	return fd >= 0 ? fd : source_text_open(&w->in, w->place);
}

static int show_code(struct command_source *w)
{
	char show[] = "sonde class show", option[] = "-m", end[] = "--", path[32];
	char *argv[] = { show, option, (char *)w->method, end, path, w->class, NULL };
	bool is_class;
	int fd = open_code(w, &is_class), status;

	if (fd < 0)
		return cli_cannot("neither source nor class file of it can be read in %s",
				  w->place);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (is_class) /* the file is what is meant */
		argv[COUNT(argv) - 2] = NULL;
	fputs("\nNo source lies beside it; the byte code of the file:\n\n", stdout);
	fflush(stdout);
	status = class_show_main((int)COUNT(argv) - 1 - is_class, argv);
	close(fd);
	return status;
}

static int show_text(struct command_source *w)
{
	struct buf text = { 0 }, where = { 0 };
	int status = CLI_DONE;

	if (!w->place || !source_text_find(&w->in, w->place, w->class, w->file, &text, &where)) {
		status = w->place && w->place[0] == '/' ? show_code(w) : CLI_DONE;
		goto done;
	}
	buf_text(&w->out, "\n");
	client_show_line(&w->out, buf_slice(&where));
	buf_u8(&w->out, '\n');
	for (size_t i = 0; i < w->n; i++) {
		buf_u8(&w->out, '\n');
		source_text_lines(buf_slice(&text), w->methods[i].first, w->methods[i].last,
				  &w->out);
	}
	status = cli_print(&w->out) ? CLI_DONE : CLI_CANNOT;
done:
	buf_release(&text);
	buf_release(&where);
	return status;
}

static int print(struct command_source *w)
{
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
	if (w->method && !w->found) {
		fprintf(stderr, "sonde: it has no method '%s' of its own\n", w->method);
		return CLI_NO;
	}
	return CLI_DONE;
}

/* Reads what the program names, with its user's rights. */
static int look(struct command_source *w, const struct target *t)
{
	int status = CLI_DONE;

	if (inside_open(&w->in, t->pid, t->uid, t->gid) < 0)
		status = cli_cannot("the files of %d cannot be reached: %s", t->pid,
				    strerror(w->in.root_errno));
	else if (inside_enter(&w->in) < 0)
		status = cli_cannot("cannot act as the user of %d", t->pid);
	else
		status = show_text(w);
	inside_leave(&w->in);
	inside_close(&w->in);
	return status;
}

/* ---- the command ---- */

static int ask(struct command_source *w, struct client *c, const char *class)
{
	int status;

	c->quiet = true;
	if (w->json) {
		json_open(&w->j, '{');
		json_put_u64(&w->j, "pid", (uint64_t)c->pid);
		json_put_open(&w->j, "classes", '[');
	}
	wire_put_ask_origin(&c->out, &(struct wire_ask_origin){ slice_str(class) });
	status = client_ask(c, take, w);
	return status == CLI_DONE ? print(w) : status;
}

static int run(struct command_source *w, const char *target, char *what)
{
	char *split = strstr(what, "::");
	struct client client = { .fd = -1 };
	struct visit visit = { 0 };
	struct target t;
	int status;

	if (split) {
		*split = '\0';
		w->method = strcmp(split + 2, "new") == 0 ? "<init>" : split + 2;
	}
	status = visit_find(&visit, &client, target, &t);
	if (status != CLI_DONE)
		return status;
	status = ask(w, &client, what);
	if (status == CLI_DONE && w->method && !w->json)
		status = look(w, &t);
	visit_end(&visit, &client);
	return status;
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
	w.j = json_to(&w.out);
	status = run(&w, n == 2 ? argv[optind] : NULL, argv[argc - 1]);
	buf_release(&w.out);
	arena_release(&w.mem);
	return status;
}
