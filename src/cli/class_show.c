/* SPDX-License-Identifier: Apache-2.0 */
/* class_show.c - "sonde class show". */
#include "cli/cmd_class.h"

#include <getopt.h>
#include <stdio.h>

#include "classfile/show.h"
#include "cli/source.h"

static const char help[] =
	"usage: sonde class show [OPTION]... SOURCE [CLASS]\n"
	"\n"
	"Lists a class: header, attributes, fields, methods.  CLASS picks out of a jar, directory or JDK:\n"
	"a/B, a.B or just B; with * and ? for several.\n"
	"\n"
	"  -c, --code        the instructions, with frames, handlers, lines and variables\n"
	"  -m, --method PAT  only methods whose name or name(desc) matches; implies --code\n"
	"  -p, --pool        the constant pool\n"
	"  -x, --hex         the bytes of attributes that are not understood\n"
	"  --json            a JSON array with one object for each class\n"
	"  --help            this text\n"
	"\n"
	"Examples:\n"
	"  sonde class show build/classes/Main.class\n"
	"  sonde class show -m 'sub*' @jdk java.lang.String\n"
	"  sonde class show --json app.jar com.shop.Cart | jq '.[].methods[].name'\n";

struct shower {
	struct show_options opt;
	bool json;
	struct arena mem;
	struct buf out;
	struct json list;
	uint64_t shown;
};

static int show_one(struct shower *s, const struct source_class *src)
{
	struct fault f = { 0 };
	struct class *cls;
	struct buf why = { 0 };
	int rc;

	arena_reset(&s->mem);
	rc = class_read(&s->mem, src->bytes, &cls, &f);
	if (rc < 0) {
		cli_fault(&why, &f);
		cli_cannot("%s: %.*s", src->shown, (int)why.n, (const char *)why.p);
		buf_release(&why);
		return CLI_CANNOT;
	}
	if (s->json) {
		class_show_json(cls, &s->opt, &s->list);
	} else {
		if (s->shown)
			buf_text(&s->out, "\n");
		class_show(cls, &s->opt, &s->out);
	}
	s->shown++;
	class_release(cls);
	return cli_print(&s->out) ? CLI_DONE : CLI_CANNOT;
}

static int show_all(struct shower *s, char **specs, size_t n, const char *want)
{
	struct source *source = source_open(specs, n);
	struct source_class src;
	int rc, status = CLI_DONE;
	struct fault f;

	if (!source)
		return cli_cannot("out of memory");
	if (want)
		source_want(source, want);
	while ((rc = source_next(source, &src, &f)) != 0) {
		int one = rc != 1 ? cli_cannot("%s", f.text) : show_one(s, &src);

		if (one != CLI_DONE)
			status = one;
	}
	source_close(source);
	return status;
}

int class_show_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "code", no_argument, NULL, 'c' },
		{ "method", required_argument, NULL, 'm' },
		{ "pool", no_argument, NULL, 'p' },
		{ "hex", no_argument, NULL, 'x' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct shower s = { 0 };
	int opt, status;

	cli_begin_options();
	while ((opt = getopt_long(argc, argv, "cm:pxh", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(help, stdout), CLI_DONE;
		if (opt == '?')
			return CLI_USAGE;
		if (opt == 'm')
			s.opt.method = optarg;
		s.opt.code |= opt == 'c' || opt == 'm';
		s.opt.pool |= opt == 'p';
		s.opt.hex |= opt == 'x';
		s.json |= opt == 'j';
	}
	if (optind == argc)
		return cli_usage(argv[0], "which class?");
	if (argc - optind > 2)
		return cli_usage(argv[0], "one SOURCE and one CLASS, not '%s'", argv[optind + 2]);
	s.list = json_to(&s.out);
	if (s.json)
		json_open(&s.list, '[');
	status = show_all(&s, argv + optind, 1, argv[optind + 1]);
	if (s.json) {
		json_close(&s.list, ']');
		buf_text(&s.out, "\n");
		cli_print(&s.out);
	}
	arena_release(&s.mem);
	buf_release(&s.out);
	return status;
}
