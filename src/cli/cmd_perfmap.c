/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_perfmap.c - "sonde perfmap": the code that a JVM has generated, in the form in which perf and others
 * look for it: /tmp/perf-PID.map with a line "START SIZE NAME" for each piece.
 *
 * /tmp is everybody's: the file is made as the user of the JVM, in its own /tmp, and nothing is followed or
 * written over there but a file of that user's. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/plural.h"
#include "cli/attach/target.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"
#include "cli/screen/method_name.h"
#include "cli/screen/private.h"
#include "cli/verbs.h"
#include "jvm/inside.h"
#include "wire/wire.h"

struct command_perfmap {
	const char *file;
	struct buf out;
	uint64_t n;
};

static const struct verb_option options[] = {
	{ "output|o", "FILE", OPTION_TEXT, offsetof(struct command_perfmap, file),
	  .help = "this file instead of /tmp/perf-PID.map" },
};

const struct verb verb_perfmap = {
	.usage = "[-o FILE] [TARGET]",
	.about =
		"Writes addresses and names of all code that a running JVM has compiled or generated into "
		"/tmp/perf-PID.map, where perf and other profilers look for it.",
	.options = options,
	.n = COUNT(options),
	.more = "The file belongs to the JVM's user and is as of now: code that is compiled later is not in "
		"it. perf takes files of other users with --force only. TARGET is a pid, a main class or a "
		"jar; not needed when there is only one JVM.",
	.status = "0 done, 2 wrong usage, 3 could not.",
	.examples = "sonde perfmap 4711\n"
		    "sonde perfmap -o shop.map shop.jar",
	.run = cmd_perfmap,
};

static bool take_code(void *ctx, unsigned type, struct slice payload)
{
	struct command_perfmap *w = ctx;
	struct wire_code_piece m;
	struct method_name name;

	if (type != WIRE_code_piece || wire_get_code_piece(payload, &m) < 0)
		return true;
	buf_printf(&w->out, "%llx %llx ", (unsigned long long)m.address,
		   (unsigned long long)m.size);
	method_name_split(m.name, &name);
	if (m.kind == PLACE_STUB)
		client_show_line(&w->out, m.name);
	else
		method_name_put(&w->out, &name, true);
	buf_u8(&w->out, '\n');
	w->n++;
	return true;
}

/* A new file in the JVM's /tmp, as its user.  -1 and errno. */
static int make_there(const struct inside *in, const char *name)
{
	static const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(in->tmp, name, flags, 0600);
	struct stat st;

	if (fd >= 0 || errno != EEXIST || fstatat(in->tmp, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return fd;
	if (!S_ISREG(st.st_mode) || st.st_uid != in->uid || st.st_nlink != 1) {
		errno = EEXIST;
		return -1;
	}
	if (unlinkat(in->tmp, name, 0) != 0) /* an older one */
		return -1;
	return openat(in->tmp, name, flags, 0600);
}

static int open_there(const struct target *t, const char *name)
{
	struct inside in;
	int fd = -1;

	if (inside_open(&in, t->pid, t->uid, t->gid) >= 0 && in.tmp < 0)
		errno = in.tmp_errno;
	if (in.tmp >= 0 && inside_enter(&in) >= 0) {
		fd = make_there(&in, name);
		inside_leave(&in);
	}
	inside_close(&in);
	return fd;
}

static int write_out(const struct command_perfmap *w, const struct target *t)
{
	char name[48], path[64], n[32];
	const char *shown = w->file ? w->file : path;
	FILE *file;
	bool good;
	int fd;

	snprintf(name, sizeof(name), "perf-%d.map", (int)t->ns_pid);
	snprintf(path, sizeof(path), "/tmp/%s", name);
	fd = w->file ? private_open(w->file) : open_there(t, name);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file && fd < 0 && errno == EEXIST)
		return cli_cannot(
			"%s: something else is in the way: it is not a file of the JVM's user",
			shown);
	if (!file)
		return cli_cannot("%s: %m", shown);
	good = fwrite(w->out.p, 1, w->out.n, file) == w->out.n;
	good &= fclose(file) == 0;
	if (!good)
		return cli_cannot("%s: cannot be written", shown);
	printf("%s: %s piece%s of code\n", shown, cli_number(n, w->n), plural(w->n));
	return CLI_DONE;
}

static int run(struct command_perfmap *w, const char *given)
{
	struct target target;
	struct visit visit;
	struct client client = { .fd = -1 };
	struct wire_done done = { 0 };
	int status = visit_find(&visit, &client, given, &target);

	if (status != CLI_DONE)
		return status;
	wire_put_ask_code(&client.out, &(struct wire_ask_code){ 0 });
	status = client_hear(&client, take_code, w, &done);
	if (status == CLI_DONE && done.status != CLI_DONE)
		status = cli_cannot("%.*s", SLICE_FMT(done.text));
	visit_end(&visit, &client);
	if (status == CLI_DONE && w->out.err)
		status = cli_no_memory();
	return status == CLI_DONE ? write_out(w, &target) : status;
}

int cmd_perfmap(int argc, char **argv)
{
	struct command_perfmap w = { 0 };
	const char *target;
	int status = verb_parse_target(&verb_perfmap, argc, argv, &w, &target);

	if (status != CLI_GO_ON)
		return status;
	status = run(&w, target);
	buf_release(&w.out);
	return status;
}
