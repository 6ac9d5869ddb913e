/* SPDX-License-Identifier: Apache-2.0 */
/* class_diff.c - "sonde class diff". */
#include "cli/classtools/class_tools.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/classtools/diff_class.h"
#include "cli/classtools/source.h"
#include "cli/screen/verb.h"

struct one {
	struct slice key; /* what it is matched by */
	const char *shown;
	struct slice bytes;
};

struct set {
	struct arena mem;
	struct one *v;
	size_t n, cap;
};

struct differ {
	bool json, quiet, names;
	struct set a, b;
	struct arena mem_a, mem_b, mem;
	struct buf out;
	struct json list;
	bool part_open; /* JSON: its object is open */
	uint64_t changed, added, removed;
	bool failed;
};

static int set_add(struct set *s, const struct source_class *src)
{
	struct one one;

	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct one *v = mem_realloc(s->v, cap * sizeof(*v));

		if (!v)
			return E_NO_MEMORY;
		s->v = v;
		s->cap = cap;
	}
	one.shown = arena_str(&s->mem, slice_str(src->shown));
	one.key = arena_dup(&s->mem, slice_str(src->inside));
	one.bytes = arena_dup(&s->mem, src->bytes);
	if (!one.shown || !one.key.p || !one.bytes.p)
		return E_NO_MEMORY;
	s->v[s->n++] = one;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	return slice_cmp(((const struct one *)a)->key, ((const struct one *)b)->key);
}

static int set_read(struct set *s, char **spec)
{
	struct source *source = source_open(spec, 1);
	struct source_class src;
	int rc, status = CLI_DONE;
	struct fault f;

	if (!source)
		return cli_no_memory();
	while ((rc = source_next(source, &src, &f)) != 0) {
		if (rc == 1 && (rc = set_add(s, &src)) < 0)
			fault_set(&f, rc, -1, "%s: %s", *spec, err_text(rc));
		if (rc != 0)
			status = cli_cannot("%s", f.text);
		if (rc == E_NO_MEMORY)
			break;
	}
	source_close(source);
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_key);
	return status;
}

static void set_release(struct set *s)
{
	arena_release(&s->mem);
	mem_free(s->v);
}

static void close_part(struct differ *d)
{
	if (d->part_open) {
		json_close(&d->list, ']');
		json_close(&d->list, '}');
	}
	d->part_open = false;
}

static void on_part(void *ctx, struct slice name)
{
	struct differ *d = ctx;

	if (!d->json) {
		buf_printf(&d->out, "@@ %.*s\n", SLICE_FMT(name));
		return;
	}
	close_part(d);
	json_open(&d->list, '{');
	json_put_str(&d->list, "part", name);
	json_put_open(&d->list, "lines", '[');
	d->part_open = true;
}

static void on_line(void *ctx, char mark, struct slice text)
{
	struct differ *d = ctx;
	struct buf line = { 0 };

	if (!d->json) {
		if (mark == '.')
			buf_text(&d->out, "   ...\n");
		else
			buf_printf(&d->out, "%c  %.*s\n", mark, SLICE_FMT(text));
		return;
	}
	if (mark == '.')
		return;
	buf_u8(&line, (uint8_t)mark);
	buf_put(&line, text);
	json_str(&d->list, buf_slice(&line));
	buf_release(&line);
}

static void json_begin(struct differ *d, const struct one *a, const struct one *b,
		       const char *status)
{
	json_open(&d->list, '{');
	json_put_text(&d->list, "class", (a ? a : b)->shown);
	json_put_text(&d->list, "status", status);
}

/* A class that only one side has. */
static void lone(struct differ *d, const struct one *one, bool added)
{
	*(added ? &d->added : &d->removed) += 1;
	if (d->quiet)
		return;
	if (d->json) {
		json_begin(d, one, NULL, added ? "added" : "removed");
		json_close(&d->list, '}');
	} else {
		buf_printf(&d->out, "only in %s: %s\n", added ? "the second" : "the first",
			   one->shown);
	}
}

static void compare(struct differ *d, const struct one *x, const struct one *y)
{
	struct diff_sink sink = { d, on_part, on_line };
	struct fault f = { 0 };
	struct class *a, *b;
	int rc;

	arena_reset(&d->mem_a);
	arena_reset(&d->mem_b);
	arena_reset(&d->mem);
	if (class_read(&d->mem_a, x->bytes, &a, &f) < 0) {
		cli_cannot("%s: %s", x->shown, f.text);
		d->failed = true;
		return;
	}
	if (class_read(&d->mem_b, y->bytes, &b, &f) < 0) {
		cli_cannot("%s: %s", y->shown, f.text);
		d->failed = true;
	} else {
		rc = diff_class(a, b, &d->mem, &sink);
		if (rc < 0) {
			cli_cannot("%s: %s", x->shown, err_text(rc));
			d->failed = true;
		}
		class_release(b);
	}
	class_release(a);
}

static void pair(struct differ *d, const struct one *a, const struct one *b)
{
	if (slice_eq(a->bytes, b->bytes))
		return;
	d->changed++;
	if (d->quiet)
		return;
	if (d->json) {
		json_begin(d, a, b, "changed");
		json_put_open(&d->list, "parts", '[');
		if (!d->names)
			compare(d, a, b);
		close_part(d);
		json_close(&d->list, ']');
		json_close(&d->list, '}');
	} else if (d->names) {
		buf_printf(&d->out, "differ: %s and %s\n", a->shown, b->shown);
	} else {
		buf_printf(&d->out, "--- %s\n+++ %s\n", a->shown, b->shown);
		compare(d, a, b);
	}
}

static void diff_sets(struct differ *d)
{
	const struct one *a = d->a.v, *b = d->b.v;
	const struct one *end_a = a + d->a.n, *end_b = b + d->b.n;

	if (d->a.n == 1 && d->b.n == 1) { /* whatever they are called */
		pair(d, a, b);
		return;
	}
	while (a < end_a || b < end_b) {
		int order = a == end_a ? 1 : b == end_b ? -1 : by_key(a, b);

		if (order < 0)
			lone(d, a++, false);
		else if (order > 0)
			lone(d, b++, true);
		else
			pair(d, a++, b++);
		if (!d->json)
			cli_print(&d->out);
	}
}

static int run(struct differ *d, char **argv)
{
	bool different;
	int status = set_read(&d->a, argv);

	if (status == CLI_DONE)
		status = set_read(&d->b, argv + 1);
	if (status != CLI_DONE)
		return status;
	d->list = json_to(&d->out);
	if (d->json) {
		json_open(&d->list, '{');
		json_put_open(&d->list, "classes", '[');
	}
	diff_sets(d);
	different = d->changed || d->added || d->removed;
	if (d->json) {
		json_close(&d->list, ']');
		json_put_bool(&d->list, "equal", !different);
		json_close(&d->list, '}');
		buf_text(&d->out, "\n");
	}
	if (!cli_print(&d->out) || d->failed)
		return CLI_CANNOT;
	return different ? CLI_NO : CLI_DONE;
}

static const struct verb_option options[] = {
	{ "quiet|q", NULL, OPTION_FLAG, offsetof(struct differ, quiet),
	  .help = "only the exit status" },
	{ "names", NULL, OPTION_FLAG, offsetof(struct differ, names),
	  .help = "only which classes differ" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct differ, json),
	  .help = "print one JSON object" },
};

const struct verb verb_class_diff = {
	.usage = "[OPTION]... A B",
	.about = "Compares two class files; or two jars, directories or JDKs, class by class, "
		 "matched by name. Prints nothing when they are equal. Instructions are compared "
		 "with the names of their operands, not with numbers, so a constant pool in "
		 "another order makes no difference there.",
	.options = options,
	.n = COUNT(options),
	.status = "0 equal, 1 different, 3 something could not be read.",
	.examples = "sonde class diff old/Main.class new/Main.class\n"
		    "sonde class diff app-1.0.jar app-1.1.jar\n"
		    "sonde class diff --names @jdk17/java.base @jdk25/java.base",
	.run = class_diff_main,
};

int class_diff_main(int argc, char **argv)
{
	struct differ d = { 0 };
	int status;

	status = verb_parse(&verb_class_diff, argc, argv, &d);
	if (status != CLI_GO_ON)
		return status;
	if (argc - optind != 2)
		return cli_usage(argv[0], "wants two things to compare");
	status = run(&d, argv + optind);
	set_release(&d.a);
	set_release(&d.b);
	arena_release(&d.mem_a);
	arena_release(&d.mem_b);
	arena_release(&d.mem);
	buf_release(&d.out);
	return status;
}
