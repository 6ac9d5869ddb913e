/* SPDX-License-Identifier: Apache-2.0 */
/* class_verify.c - "sonde class verify": checks classes without loading them.
 *
 * What can only be known with other classes at hand (is this a subclass of that, does the method
 * that is called exist) is left to the JVM. */
#include "cli/classtools/class_tools.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "classfile/check/check.h"
#include "cli/classtools/source.h"
#include "cli/screen/figures.h"
#include "cli/screen/progress.h"
#include "cli/screen/verb.h"

struct verify {
	bool json, quiet;
	struct arena mem;
	struct buf text;
	struct json list; /* of what is bad, into text */
	struct progress progress;
	uint64_t classes, methods, bad_classes, bad_methods, unreadable, bytes;
};

static void report(struct verify *v, const char *shown, const struct fault *f)
{
	if (v->quiet)
		return;
	progress_clear(&v->progress);
	if (v->json) {
		json_open(&v->list, '{');
		json_put_text(&v->list, "class", shown);
		cli_fault_json(&v->list, f);
		json_close(&v->list, '}');
		return;
	}
	buf_printf(&v->text, "%s: ", shown);
	cli_fault(&v->text, f);
	buf_text(&v->text, "\n");
	cli_print(&v->text);
}

static bool check_method(struct verify *v, struct class *cls, struct member *m, const char *shown)
{
	struct fault f = { 0 };
	struct code *code;
	int rc;

	if (!m->code.p)
		return true;
	rc = code_elevate(cls, m, &code, &f);
	if (rc >= 0)
		rc = code_check(code, &f);
	if (rc >= 0)
		return true;
	v->bad_methods++;
	report(v, shown, &f);
	return false;
}

static void check_class(struct verify *v, const struct source_class *src)
{
	struct fault f = { 0 };
	struct class *cls;
	bool good = true;
	int rc;

	arena_reset(&v->mem);
	v->classes++;
	v->bytes += src->bytes.n;
	rc = class_read(&v->mem, src->bytes, &cls, &f);
	if (rc < 0) {
		v->bad_classes++;
		report(v, src->shown, &f);
		return;
	}
	rc = class_check(cls, &f);
	if (rc < 0) {
		good = false;
		report(v, src->shown, &f);
	}
	v->methods += cls->n_methods;
	for (uint32_t i = 0; i < cls->n_methods; i++)
		good &= check_method(v, cls, &cls->methods[i], src->shown);
	v->bad_classes += !good;
	class_release(cls);
}

static int check_all(struct verify *v, char **specs, size_t n)
{
	struct source *source = source_open(specs, n);
	struct source_class src;
	struct fault f;
	int rc;

	if (!source)
		return cli_no_memory();
	progress_start(&v->progress, "verify");
	while ((rc = source_next(source, &src, &f)) != 0) {
		if (rc != 1) {
			progress_clear(&v->progress);
			cli_cannot("%s", f.text);
			v->unreadable += rc < 0;
			continue;
		}
		check_class(v, &src);
		progress_step(&v->progress, source_fraction(source), v->classes);
	}
	progress_clear(&v->progress);
	source_close(source);
	if (v->unreadable || !v->classes)
		return CLI_CANNOT;
	return v->bad_classes ? CLI_NO : CLI_DONE;
}

static void summary(struct verify *v)
{
	char classes[2 * FIGURE_MAX], methods[2 * FIGURE_MAX], bad[2 * FIGURE_MAX];

	buf_printf(&v->text, "%s, %s", figure_of(classes, v->classes, "class"),
		   figure_of(methods, v->methods, "method"));
	if (v->bad_classes)
		buf_printf(&v->text, ": %s %s bad\n", figure_of(bad, v->bad_classes, "class"),
			   v->bad_classes == 1 ? "is" : "are");
	else
		buf_text(&v->text, ": all good\n");
}

static void summary_json(struct verify *v)
{
	json_close(&v->list, ']');
	json_put_u64(&v->list, "classes", v->classes);
	json_put_u64(&v->list, "methods", v->methods);
	json_put_u64(&v->list, "bad_classes", v->bad_classes);
	json_put_u64(&v->list, "bad_methods", v->bad_methods);
	json_put_u64(&v->list, "unreadable", v->unreadable);
	json_put_u64(&v->list, "bytes", v->bytes);
	json_close(&v->list, '}');
	buf_text(&v->text, "\n");
}

static const struct verb_option options[] = {
	{ "quiet|q", NULL, OPTION_FLAG, offsetof(struct verify, quiet),
	  .help = "only the exit status" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct verify, json),
	  .help = "print one JSON object" },
};

const struct verb verb_class_verify = {
	.usage = "[OPTION]... SOURCE...",
	.about = "Checks classes against the JVM specification: structure (JVMS 4.1 to 4.8), and "
		 "the types that every method's code works on (4.10.1), as far as that needs no "
		 "other class.",
	.options = options,
	.n = COUNT(options),
	.more = "Each bad class or method is one line: PATH: METHOD: what is wrong (at byte N, "
		"JVMS SECTION).",
	.status = "0 all good, 1 something is bad, 3 something could not be read.",
	.examples = "sonde class verify build/classes\n"
		    "sonde class verify app.jar lib/*.jar\n"
		    "sonde class verify @jdk17/java.base",
	.run = class_verify_main,
};

int class_verify_main(int argc, char **argv)
{
	struct verify v = { 0 };
	int status;

	status = verb_parse(&verb_class_verify, argc, argv, &v);
	if (status != CLI_GO_ON)
		return status;
	if (optind == argc)
		return cli_usage(argv[0], "which classes?");
	v.list = json_to(&v.text);
	if (v.json) {
		json_open(&v.list, '{');
		json_put_open(&v.list, "bad", '[');
	}
	status = check_all(&v, argv + optind, (size_t)(argc - optind));
	if (v.json)
		summary_json(&v);
	else if (v.classes && !v.quiet)
		summary(&v);
	cli_print(&v.text);
	arena_release(&v.mem);
	buf_release(&v.text);
	return status;
}
