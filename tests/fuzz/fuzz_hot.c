/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_hot.c - any bytes as stored samples, through "sonde hot" and "sonde flame" as they are: collapsed stacks,
 * a recording of the JDK, the body of a file of a history; and as a moment that a user has typed.  The first
 * byte says which, and how they are shown. */
#define _GNU_SOURCE /* memfd_create, nftw */
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/fnv.h"
#include "cli/hot/when.h"
#include "cli/screen/figures.h"
#include "memfile.h"

int cmd_hot(int argc, char **argv);
int cmd_flame(int argc, char **argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KINDS = 4, COLLAPSED = 0, JFR, HISTORY, MOMENT };

static char dir[64], history[80], paths[KINDS][128], page[96];

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void clean(void)
{
	nftw(dir, drop, 4, FTW_DEPTH | FTW_PHYS);
}

static void make_places(void)
{
	snprintf(dir, sizeof(dir), "/tmp/fuzz_hot.XXXXXX");
	if (!mkdtemp(dir))
		abort();
	atexit(clean);
	snprintf(history, sizeof(history), "%s/history", dir);
	snprintf(page, sizeof(page), "%s/page.html", dir);
	if (mkdir(history, 0700) != 0)
		abort();
	snprintf(paths[COLLAPSED], sizeof(paths[0]), "%s/x.collapsed", dir);
	snprintf(paths[JFR], sizeof(paths[0]), "%s/x.jfr", dir);
	snprintf(paths[HISTORY], sizeof(paths[0]), "%s/20261118T140500.000Z.samples", history);
}

static void keep(const char *path, struct slice bytes)
{
	FILE *file = fopen(path, "w");

	if (!file || fwrite(bytes.p, 1, bytes.n, file) != bytes.n || fclose(file) != 0)
		abort();
}

/* As fuzz_stretch does: length and sum are right. */
static void wrap(struct slice body, struct buf *out)
{
	uint64_t sum = fnv_add(FNV_START, body.p, body.n);

	buf_text(out, "SondeHis");
	buf_u32(out, (uint32_t)body.n);
	buf_put(out, body);
	buf_u32(out, (uint32_t)(sum >> 32));
	buf_u32(out, (uint32_t)sum);
}

static void moment(struct slice in)
{
	char text[64];
	uint64_t ns;
	double share;

	snprintf(text, sizeof(text), "%.*s", SLICE_FMT(in));
	if (when_parse(text, 1800000000000000000u, &ns))
		(void)when_text((char[WHEN_TEXT]){ 0 }, ns);
	(void)figure_parse_time(text, &ns);
	(void)figure_parse_share(text, &share);
}

static void run(unsigned how, char *path)
{
	char *argv[8] = { "sonde", path };
	int argc = 2;

	if (how & 0x20) {
		argv[argc++] = "-o";
		argv[argc++] = page;
	} else if (how & 0x10) {
		argv[argc++] = "--json";
	}
	if (how & 0x08)
		argv[argc++] = how & 0x20 ? "--wall" : "--alloc";
	if (how & 0x04) {
		argv[argc++] = "--compare";
		argv[argc++] = path;
	}
	if (how & 0x20)
		cmd_flame(argc, argv);
	else
		cmd_hot(argc, argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 };
	struct buf file = { 0 };
	unsigned kind;

	if (!size)
		return 0;
	memfile_hush();
	if (!*dir)
		make_places();
	kind = data[0] & 3;
	if (kind == MOMENT) {
		moment(in);
		return 0;
	}
	if (kind == HISTORY) {
		wrap(in, &file);
		in = buf_slice(&file);
	}
	keep(paths[kind], in);
	run(data[0], kind == HISTORY ? history : paths[kind]);
	buf_release(&file);
	return 0;
}
