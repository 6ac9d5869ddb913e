/* SPDX-License-Identifier: Apache-2.0 */
/* class_roundtrip.c - "sonde class roundtrip": proves the library on real classes.
 *
 * Each class is read, each of its methods elevated to a list, perhaps edited, lowered again, and
 * the class written.  Without an edit the bytes must be those that were read; compilers do not
 * always choose the smallest StackMapTable, so a method may come out smaller if it still means
 * the same.  With an edit the result is read again, checked, and compared with the original
 * list. */
#include "cli/classtools/class_tools.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"
#include "classfile/check/check.h"
#include "classfile/show/show.h"
#include "cli/classtools/code_same.h"
#include "cli/classtools/outdir.h"
#include "cli/classtools/pad.h"
#include "cli/classtools/source.h"
#include "cli/screen/progress.h"
#include "cli/screen/verb.h"

enum { ARENA_LIMIT = 512 << 20 }; /* --edit far: a padded method takes 2 MB */

enum edit { EDIT_NONE, EDIT_NOP, EDIT_LONG };
enum left { LEFT_SHORT, LEFT_NO_BRANCH, LEFT_TOO_LARGE, LEFT_MEMORY, LEFT_COUNT };

static const char *const left_text[LEFT_COUNT] = {
	[LEFT_SHORT] = "fewer instructions than N",
	[LEFT_NO_BRANCH] = "no branch to make long",
	[LEFT_TOO_LARGE] = "would exceed 65535 bytes",
	[LEFT_MEMORY] = "class takes too much memory",
};

struct counts {
	uint64_t classes, identical, smaller, different;
	uint64_t methods, code, method_identical, method_smaller, method_different;
	uint64_t edited, changes, left[LEFT_COUNT];
	uint64_t refused_classes[ERR_COUNT], refused_methods[ERR_COUNT];
	uint64_t bytes, unreadable, ns;
};

struct trip {
	bool raw, json;
	enum edit edit;
	unsigned every;
	const char *out_dir;

	struct arena mem, again_mem;
	struct buf out;	  /* the class written */
	struct buf text;  /* what is printed */
	struct json list; /* of problems, into text */
	struct progress progress;
	struct counts n;
	const struct source_class *src;
	struct class *cls; /* being worked on */
};

static void report(struct trip *t, const struct member *m, const struct fault *f)
{
	struct slice name = m ? member_name(t->cls, m) : (struct slice){ NULL, 0 };
	struct slice desc = m ? member_desc(t->cls, m) : (struct slice){ NULL, 0 };

	progress_clear(&t->progress);
	if (t->json) {
		json_open(&t->list, '{');
		json_put_text(&t->list, "class", t->src->shown);
		cli_fault_json(&t->list, f);
		json_close(&t->list, '}');
		return;
	}
	buf_printf(&t->text, "%s: ", t->src->shown);
	if (m && !slice_starts(slice_str(f->text), name)) {
		show_name(&t->text, name);
		show_name(&t->text, desc);
		buf_text(&t->text, ": ");
	}
	cli_fault(&t->text, f);
	buf_text(&t->text, "\n");
	cli_print(&t->text);
}

static void refuse(struct trip *t, const struct member *m, const struct fault *f)
{
	uint64_t *count = m ? t->n.refused_methods : t->n.refused_classes;

	count[ERR_FLOOR - f->code]++;
	report(t, m, f);
}

/* Returns the number of changes, 0 when it was left alone, or an error. */
static int edit(struct trip *t, struct code *code)
{
	int n;

	if (t->edit == EDIT_NOP) {
		n = pad_every(code, t->every);
		t->n.left[LEFT_SHORT] += n == 0;
		return n;
	}
	if (t->mem.total > ARENA_LIMIT) {
		t->n.left[LEFT_MEMORY]++;
		return 0;
	}
	n = pad_far(code);
	t->n.left[LEFT_NO_BRANCH] += n == 0;
	return n;
}

static void trip_method(struct trip *t, struct member *m)
{
	struct fault f = { 0 };
	struct code *code;
	int rc, changes = 0;

	t->n.methods++;
	if (!m->code.p)
		return;
	t->n.code++;
	rc = code_elevate(t->cls, m, &code, &f);
	if (rc >= 0 && t->edit) {
		rc = changes = edit(t, code);
		if (rc == 0)
			return;
		if (rc < 0)
			fault_set(&f, rc, -1, "out of memory");
	}
	if (rc >= 0)
		rc = code_lower(code, &f);
	if (rc >= 0) {
		t->n.edited += changes > 0;
		t->n.changes += (unsigned)changes;
	} else if (rc == E_TOO_LARGE && t->edit) {
		t->n.left[LEFT_TOO_LARGE]++;
	} else {
		refuse(t, m, &f);
	}
}

/* Both lists fresh: from the bytes before and from the bytes after. */
static const char *compare(struct trip *t, struct class *again, size_t i, struct code **after,
			   char text[CODE_SAME_TEXT])
{
	struct member *m = &t->cls->methods[i];
	enum code_same_mode mode = t->edit ? CODE_PADDED : CODE_EXACT;
	struct fault f = { 0 };
	struct code *before;

	if (code_elevate(t->cls, m, &before, &f) < 0 ||
	    code_elevate(again, &again->methods[i], after, &f) < 0) {
		snprintf(text, CODE_SAME_TEXT, "cannot be read again: %.80s", f.text);
		return text;
	}
	return code_same(before, *after, mode, text);
}

static void different(struct trip *t, const struct member *m, const char *why)
{
	struct fault f = { .code = E_VERIFY, .at = -1 };

	snprintf(f.text, sizeof(f.text), "came out different: %s", why);
	t->n.method_different += m != NULL;
	report(t, m, &f);
}

/* A method that was edited must pass the checker, unless it did not before. */
static bool checks(struct trip *t, struct member *m, const struct code *after)
{
	struct fault f = { 0 };
	struct code *before;

	if (code_check(after, &f) >= 0)
		return true;
	if (code_elevate(t->cls, m, &before, NULL) >= 0 && code_check(before, NULL) < 0)
		return true;
	t->n.method_different++;
	report(t, m, &f);
	return false;
}

static bool again_method(struct trip *t, struct class *again, size_t i, bool *smaller)
{
	struct member *m = &t->cls->methods[i];
	struct code *after;
	char text[CODE_SAME_TEXT];
	const char *why;

	if (!m->lowered.p)
		return true;
	if (!t->edit && slice_eq(m->lowered, m->code)) {
		t->n.method_identical++;
		return true;
	}
	why = compare(t, again, i, &after, text);
	if (!why && !t->edit && m->lowered.n >= m->code.n)
		why = "the same list, but other bytes";
	if (why) {
		different(t, m, why);
		return false;
	}
	if (t->edit)
		return checks(t, m, after);
	t->n.method_smaller++;
	*smaller = true;
	return true;
}

/* What lies outside of the code.  Only edits may add constants. */
static bool same_around(const struct class *a, const struct class *b, bool edited)
{
	bool same = slice_starts(b->pool.bytes, a->pool.bytes) && slice_eq(a->middle, b->middle) &&
		    slice_eq(a->tail, b->tail) && a->n_methods == b->n_methods &&
		    (edited || a->pool.n == b->pool.n);

	for (uint32_t i = 0; same && i < a->n_methods; i++) {
		const struct member *x = &a->methods[i], *y = &b->methods[i];
		size_t head = x->code.p ? (size_t)(x->code.p - x->bytes.p) - 4 : x->bytes.n;
		const uint8_t *rest = x->code.p ? x->code.p + x->code.n : x->bytes.p + x->bytes.n;
		size_t n = (size_t)(x->bytes.p + x->bytes.n - rest);

		same = y->bytes.n >= head + n && memcmp(x->bytes.p, y->bytes.p, head) == 0 &&
		       memcmp(rest, y->bytes.p + y->bytes.n - n, n) == 0;
	}
	return same;
}

/* The bytes differ from those read: they may only in ways that were asked for. */
static void read_again(struct trip *t)
{
	struct fault f = { 0 };
	struct class *again;
	bool good, smaller = false;

	arena_reset(&t->again_mem);
	if (class_read(&t->again_mem, buf_slice(&t->out), &again, &f) < 0) {
		t->n.different++;
		report(t, NULL, &f);
		return;
	}
	good = same_around(t->cls, again, t->edit != EDIT_NONE);
	if (!good)
		different(t, NULL, "the class around the code");
	for (uint32_t i = 0; i < t->cls->n_methods && again->n_methods == t->cls->n_methods; i++)
		good &= again_method(t, again, i, &smaller);
	class_release(again);
	t->n.different += !good;
	t->n.smaller += good && smaller;
}

static void trip_class(struct trip *t)
{
	struct fault f = { 0 };
	struct slice bytes = t->src->bytes;
	int rc;

	buf_clear(&t->out);
	arena_reset(&t->mem);
	rc = class_read(&t->mem, bytes, &t->cls, &f);
	if (rc < 0) {
		refuse(t, NULL, &f);
		return;
	}
	for (uint32_t i = 0; i < t->cls->n_methods && !t->raw; i++)
		trip_method(t, &t->cls->methods[i]);
	rc = class_write(t->cls, &t->out);
	if (rc < 0) {
		fault_set(&f, rc, -1, "cannot be written: %s", err_text(rc));
		refuse(t, NULL, &f);
	} else if (slice_eq(buf_slice(&t->out), bytes)) {
		t->n.identical++;
		for (uint32_t i = 0; i < t->cls->n_methods; i++)
			t->n.method_identical += t->cls->methods[i].lowered.p != NULL;
	} else {
		read_again(t);
	}
	class_release(t->cls);
}

static bool write_out(struct trip *t)
{
	struct fault f = { 0 };
	struct slice bytes = t->out.n ? buf_slice(&t->out) : t->src->bytes;

	if (!t->out_dir || outdir_write(t->out_dir, t->src->group, t->src->name, bytes, &f) >= 0)
		return true;
	progress_clear(&t->progress);
	cli_cannot("%s", f.text);
	return false;
}

static int trip_all(struct trip *t, char **specs, size_t n)
{
	struct source *source = source_open(specs, n);
	struct source_class src;
	struct fault f;
	int rc, status = CLI_DONE;

	if (!source)
		return cli_no_memory();
	t->src = &src;
	progress_start(&t->progress, "roundtrip");
	while ((rc = source_next(source, &src, &f)) != 0) {
		uint64_t start;

		if (rc != 1) {
			progress_clear(&t->progress);
			cli_cannot("%s", f.text);
			t->n.unreadable += rc < 0;
			continue;
		}
		start = clock_steady_ns();
		t->n.classes++;
		t->n.bytes += src.bytes.n;
		trip_class(t);
		t->n.ns += clock_steady_ns() - start;
		if (!write_out(t)) {
			status = CLI_CANNOT;
			break;
		}
		progress_step(&t->progress, source_fraction(source), t->n.classes);
	}
	progress_clear(&t->progress);
	source_close(source);
	return status;
}

static uint64_t sum(const uint64_t *v, size_t n)
{
	uint64_t all = 0;

	while (n)
		all += v[--n];
	return all;
}

static void line(struct trip *t, const char *what, uint64_t n)
{
	char text[32];

	buf_printf(&t->text, "%14s  %s\n", cli_number(text, n), what);
}

static void lines_by_error(struct trip *t, const char *what, const uint64_t *v)
{
	char text[120];

	for (int i = 0; i < ERR_COUNT; i++) {
		if (!v[i])
			continue;
		snprintf(text, sizeof(text), "%s refused: %s", what, err_text(ERR_FLOOR - i));
		line(t, text, v[i]);
	}
}

static void summary(struct trip *t)
{
	const struct counts *n = &t->n;
	double mb = (double)n->bytes / 1e6, s = (double)n->ns / 1e9;
	char text[120];

	line(t, "classes", n->classes);
	if (!t->edit) {
		line(t, "classes identical", n->identical);
		if (!t->raw)
			line(t, "classes same but for smaller frames", n->smaller);
	}
	line(t, "classes different", n->different);
	if (!t->raw) {
		line(t, "methods", n->methods);
		line(t, "methods with code", n->code);
	}
	if (!t->raw && !t->edit) {
		line(t, "methods identical", n->method_identical);
		line(t, "methods same but for smaller frames", n->method_smaller);
		line(t, "methods different", n->method_different);
	}
	if (t->edit) {
		line(t, "methods edited", n->edited);
		line(t, t->edit == EDIT_NOP ? "nops put in" : "branches made long", n->changes);
		for (int i = 0; i < LEFT_COUNT; i++) {
			snprintf(text, sizeof(text), "methods left alone: %s", left_text[i]);
			if (n->left[i])
				line(t, text, n->left[i]);
		}
		line(t, "methods different", n->method_different);
	}
	lines_by_error(t, "classes", n->refused_classes);
	lines_by_error(t, "methods", n->refused_methods);
	buf_printf(&t->text, "%14.1f  MB in %.2f s: %.0f MB/s\n", mb, s, s > 0 ? mb / s : 0);
}

static void summary_json(struct trip *t)
{
	const struct counts *n = &t->n;
	struct json *j = &t->list;

	json_close(j, ']');
	json_put_u64(j, "classes", n->classes);
	json_put_u64(j, "classes_identical", n->identical);
	json_put_u64(j, "classes_smaller_frames", n->smaller);
	json_put_u64(j, "classes_different", n->different);
	json_put_u64(j, "methods", n->methods);
	json_put_u64(j, "methods_with_code", n->code);
	json_put_u64(j, "methods_identical", n->method_identical);
	json_put_u64(j, "methods_smaller_frames", n->method_smaller);
	json_put_u64(j, "methods_different", n->method_different);
	json_put_u64(j, "methods_edited", n->edited);
	json_put_u64(j, "changes", n->changes);
	json_put_open(j, "left_alone", '{');
	for (int i = 0; i < LEFT_COUNT; i++)
		if (n->left[i])
			json_put_u64(j, left_text[i], n->left[i]);
	json_close(j, '}');
	cli_json_by_error(j, "classes_refused", n->refused_classes);
	cli_json_by_error(j, "methods_refused", n->refused_methods);
	json_put_u64(j, "unreadable", n->unreadable);
	json_put_u64(j, "bytes", n->bytes);
	json_put_double(j, "seconds", (double)n->ns / 1e9);
	json_close(j, '}');
	buf_text(&t->text, "\n");
}

static int parse_edit(struct trip *t, const char *name, const char *text)
{
	uint64_t n;

	if (strcmp(text, "long") == 0) {
		t->edit = EDIT_LONG;
	} else if (strncmp(text, "nop:", 4) == 0 && cli_parse_number(text + 4, 1, 65535, &n)) {
		t->edit = EDIT_NOP;
		t->every = (unsigned)n;
	} else {
		return cli_usage(name, "--edit wants nop:N or long, not '%s'", text);
	}
	return CLI_DONE;
}

/* An exit status, or -1: go on, with the sources from optind. */
static int set_option(void *self, const char *name, int which, const char *value)
{
	(void)which;
	return parse_edit(self, name, value);
}

static const struct verb_option options[] = {
	{ "raw", NULL, OPTION_FLAG, offsetof(struct trip, raw), .help = "leave the code as bytes" },
	{ "edit", "HOW", OPTION_OWN, 'e',
	  .help = "change the code, then check and compare the result: nop:N puts a nop before "
		  "every N-th instruction, long pads methods so that branches must be long" },
	{ "out|o", "DIR", OPTION_TEXT, offsetof(struct trip, out_dir),
	  .help = "write the classes to DIR/JAR/... or DIR/MODULE/..." },
	{ "json", NULL, OPTION_FLAG, offsetof(struct trip, json), .help = "print one JSON object" },
};

const struct verb verb_class_roundtrip = {
	.usage = "[OPTION]... SOURCE...",
	.about = "Reads classes and writes them again: the bytes must be the same. Every method "
		 "is taken apart into a list of instructions and put together again.",
	.options = options,
	.n = COUNT(options),
	.status = "0 all as it should be, 1 a class came out different or was refused, 3 something "
		  "could not be read.",
	.examples = "sonde class roundtrip @jdk\n"
		    "sonde class roundtrip --edit nop:1 --out /tmp/woven @jdk17/java.base\n"
		    "sonde class roundtrip --edit long lib/*.jar",
	.run = class_roundtrip_main,
	.set = set_option,
};

static int parse(struct trip *t, int argc, char **argv)
{
	int status = verb_parse(&verb_class_roundtrip, argc, argv, t);

	if (status != CLI_GO_ON)
		return status;
	if (t->raw && t->edit)
		return cli_usage(argv[0], "--raw and --edit exclude each other");
	if (optind == argc)
		return cli_usage(argv[0], "which classes?");
	return CLI_GO_ON;
}

int class_roundtrip_main(int argc, char **argv)
{
	struct trip t = { 0 };
	int status = parse(&t, argc, argv);

	if (status != CLI_GO_ON)
		return status;
	t.list = json_to(&t.text);
	if (t.json) {
		json_open(&t.list, '{');
		json_put_open(&t.list, "problems", '[');
	}
	status = trip_all(&t, argv + optind, (size_t)(argc - optind));
	if (t.json)
		summary_json(&t);
	else if (t.n.classes)
		summary(&t);
	cli_print(&t.text);
	if (status == CLI_DONE && (t.n.unreadable || !t.n.classes))
		status = CLI_CANNOT;
	if (status == CLI_DONE &&
	    (t.n.different || t.n.method_different || sum(t.n.refused_classes, ERR_COUNT) ||
	     sum(t.n.refused_methods, ERR_COUNT)))
		status = CLI_NO;
	arena_release(&t.mem);
	arena_release(&t.again_mem);
	buf_release(&t.out);
	buf_release(&t.text);
	return status;
}
