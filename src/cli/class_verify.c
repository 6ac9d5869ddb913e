/* SPDX-License-Identifier: Apache-2.0 */
/* class_verify.c - "sonde class verify": checks classes without loading them.
 *
 * What can only be known with other classes at hand (is this a subclass of that, does the method
 * that is called exist) is left to the JVM. */
#include "cli/cmd_class.h"

#include <getopt.h>
#include <stdio.h>

#include "classfile/check.h"
#include "cli/progress.h"
#include "cli/source.h"

static const char help[] =
	"usage: sonde class verify [OPTION]... SOURCE...\n"
	"\n"
	"Checks classes against the JVM specification: structure (JVMS 4.1 to 4.8), and the types that\n"
	"every method's code works on (4.10.1), as far as that needs no other class.\n"
	"\n"
	"  -q, --quiet     only the exit status\n"
	"  --json          print one JSON object\n"
	"  --help          this text\n"
	"\n"
	"Each bad class or method is one line: PATH: METHOD: what is wrong (at byte N, JVMS SECTION).\n"
	"Exit status: 0 all good, 1 something is bad, 3 something could not be read.\n"
	"\n"
	"Examples:\n"
	"  sonde class verify build/classes\n"
	"  sonde class verify app.jar lib/*.jar\n"
	"  sonde class verify @jdk17/java.base\n";

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
		json_key(&v->list, "class");
		json_text(&v->list, shown);
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
		return cli_cannot("out of memory");
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
	char classes[32], methods[32], bad[32];

	buf_printf(&v->text, "%s classes, %s methods", cli_number(classes, v->classes),
		   cli_number(methods, v->methods));
	if (v->bad_classes)
		buf_printf(&v->text, ": %s classes are bad\n", cli_number(bad, v->bad_classes));
	else
		buf_text(&v->text, ": all good\n");
}

static void json_count(struct json *j, const char *key, uint64_t n)
{
	json_key(j, key);
	json_u64(j, n);
}

static void summary_json(struct verify *v)
{
	json_close(&v->list, ']');
	json_count(&v->list, "classes", v->classes);
	json_count(&v->list, "methods", v->methods);
	json_count(&v->list, "bad_classes", v->bad_classes);
	json_count(&v->list, "bad_methods", v->bad_methods);
	json_count(&v->list, "unreadable", v->unreadable);
	json_count(&v->list, "bytes", v->bytes);
	json_close(&v->list, '}');
	buf_text(&v->text, "\n");
}

int class_verify_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quiet", no_argument, NULL, 'q' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct verify v = { 0 };
	int opt, status;

	cli_begin_options();
	while ((opt = getopt_long(argc, argv, "qh", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(help, stdout), CLI_DONE;
		if (opt == '?')
			return CLI_USAGE;
		v.json |= opt == 'j';
		v.quiet |= opt == 'q';
	}
	if (optind == argc)
		return cli_usage(argv[0], "which classes?");
	v.list = json_to(&v.text);
	if (v.json) {
		json_open(&v.list, '{');
		json_key(&v.list, "bad");
		json_open(&v.list, '[');
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
