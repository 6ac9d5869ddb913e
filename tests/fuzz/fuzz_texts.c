/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_texts.c - any bytes as a text that a person or a program has written: the file of applications, the
 * file of defaults, a java command line and its properties, what a JVM answers to a request.  The first
 * byte says which. */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/attach/hotspot.h"
#include "cli/screen/cli.h"
#include "cli/screen/config.h"
#include "jvm/apps.h"
#include "jvm/launch.h"
#include "memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 32 };

static void need(bool held)
{
	if (!held)
		abort();
}

static void need_inside(struct slice part, struct slice all)
{
	need(!part.n || (part.p >= all.p && part.p + part.n <= all.p + all.n));
}

static bool is_user(void *ctx, struct slice user)
{
	(void)ctx;
	return user.n % 2 == 0;
}

static void applications(struct slice in)
{
	struct launch launch = { .kind = LAUNCH_CLASS, .main = slice_str("com.shop.Main") };
	struct apps_program program = { .launch = &launch,
					.dir = slice_str("/srv/shop"),
					.is_user = is_user };
	struct arena mem;
	struct apps_reader r = { .left = in, .mem = &mem };
	struct apps_trouble trouble;
	struct apps_line line;
	struct slice rules;
	uint32_t last = 0;
	int rc;

	arena_init(&mem);
	while ((rc = apps_next(&r, &line, &trouble)) != 0) {
		if (rc == E_SYNTAX) {
			need_inside(trouble.line, in);
			need_inside(trouble.word, trouble.line);
			continue;
		}
		need(rc == 1 && line.number > last);
		last = line.number;
		(void)apps_fits(&line, &program);
		launch.kind = LAUNCH_JAR;
		launch.file = in;
		(void)apps_fits(&line, &program);
	}
	arena_release(&mem);
	if (apps_mean(in, &program, &rules))
		need_inside(rules, in);
}

/* NULs part the words. */
static void command_line(char *text, size_t n)
{
	char *argv[WORDS + 1] = { NULL };
	struct launch_line line = { .argv = argv };
	struct launch launch;
	char encoded[300];

	for (char *p = text; p < text + n && line.argc < WORDS; p += strlen(p) + 1)
		argv[line.argc++] = p;
	launch_read(&line, &launch);
	launch_of_properties(argv[0], argv[1], &launch);
	if (argv[0]) {
		(void)launch_text_hands_off(argv[0]);
		(void)launch_text_has_agent(argv[0]);
		n = launch_encode(argv[0], encoded, sizeof(encoded));
		need(n < sizeof(encoded) && !memchr(encoded, ',', n));
	}
}

static int take(void *ctx, const struct config_entry *e)
{
	unsigned *n = ctx;

	need(*e->key && e->line > 0);
	*n += (unsigned)strlen(e->key) + (e->value ? (unsigned)strlen(e->value) : 0);
	return CLI_DONE;
}

static void defaults(struct slice in)
{
	char path[64];
	unsigned n = 0;
	int fd = memfile_make(in, path);

	setenv("SONDE_CONFIG", path, 1);
	need(config_read("watch", take, &n) == CLI_DONE);
	need(n <= 2 * in.n);
	close(fd);
}

static void answer(struct slice in)
{
	struct hotspot_answer a;

	if (hotspot_parse(in, &a))
		need_inside(a.text, in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 };
	char *text;

	if (!size)
		return 0;
	memfile_hush();
	switch (data[0] % 4) {
	case 0:
		applications(in);
		break;
	case 1:
		text = malloc(in.n + 1);
		if (!text)
			return 0;
		memcpy(text, in.p, in.n);
		text[in.n] = '\0';
		command_line(text, in.n + 1);
		free(text);
		break;
	case 2:
		defaults(in);
		break;
	default:
		answer(in);
		break;
	}
	return 0;
}
