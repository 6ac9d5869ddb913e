/* SPDX-License-Identifier: Apache-2.0 */
/* class_show.c - "sonde class show". */
#include "cli/classtools/class_tools.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "classfile/show/show.h"
#include "cli/classtools/source.h"
#include "cli/screen/verb.h"

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
		show_class_json(cls, &s->opt, &s->list);
	} else {
		if (s->shown)
			buf_text(&s->out, "\n");
		show_class(cls, &s->opt, &s->out);
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
		return cli_no_memory();
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

static const struct verb_option options[] = {
	{ "code|c", NULL, OPTION_FLAG, offsetof(struct shower, opt.code),
	  .help = "the instructions, with frames, handlers, lines and variables" },
	{ "method|m", "PAT", OPTION_TEXT, offsetof(struct shower, opt.method),
	  .help = "only methods whose name or name(desc) matches; implies --code" },
	{ "pool|p", NULL, OPTION_FLAG, offsetof(struct shower, opt.pool),
	  .help = "the constant pool" },
	{ "hex|x", NULL, OPTION_FLAG, offsetof(struct shower, opt.hex),
	  .help = "the bytes of attributes that are not understood" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct shower, json),
	  .help = "a JSON array with one object for each class" },
};

const struct verb verb_class_show = {
	.usage = "[OPTION]... SOURCE [CLASS]",
	.about = "Lists a class: header, attributes, fields, methods. CLASS picks out of a jar, "
		 "directory or JDK: a/B, a.B or just B; with * and ? for several.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 1 there is no such class, 2 wrong usage, 3 could not.",
	.examples = "sonde class show build/classes/Main.class\n"
		    "sonde class show -m 'sub*' @jdk java.lang.String\n"
		    "sonde class show --json app.jar com.shop.Cart | jq '.[].methods[].name'",
	.run = class_show_main,
};

int class_show_main(int argc, char **argv)
{
	struct shower s = { 0 };
	int status;

	status = verb_parse(&verb_class_show, argc, argv, &s);
	if (status != CLI_GO_ON)
		return status;
	s.opt.code |= s.opt.method != NULL;
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
