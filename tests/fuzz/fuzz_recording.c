/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_recording.c - any frames as a recording, through "sonde report" and "sonde tree" as they are:
 * read, worked out, sorted, drawn.  The first byte says how; what is behind it are frames, or, now and
 * then, the file as it is. */
#define _GNU_SOURCE /* memfd_create */
#include "cli/screen/cli.h"
#include "memfile.h"
#include "tree/cost.h"
#include "wire/trace_file.h"
#include "wire/wire.h"

int cmd_report(int argc, char **argv);
int cmd_tree(int argc, char **argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A calibration with which figures are compensated. */
static void put_costs(struct buf *out)
{
	struct costs c = { .pulse = 20, .noise = 0.01, .mechanism = "fuzz" };
	struct buf text = { 0 };

	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < COST_CLASSES; i++)
				c.of[t][k][i] = (struct cost){ { 20, 25, 30 },
							       { 30, 35, 40 },
							       { 55, 60, 65 } };
	buf_text(&text, "sonde calibration 3\n");
	cost_write(&c, &text);
	trace_file_put(out, TRACE_COSTS, buf_slice(&text));
	buf_release(&text);
}

static void make(struct slice frames, bool costs, struct buf *out)
{
	struct buf all = { 0 };

	wire_put_welcome(&all, &(struct wire_welcome){ .magic = WIRE_MAGIC,
						       .version = WIRE_VERSION,
						       .pid = 1,
						       .jvm = slice_str("17 fuzz") });
	buf_put(&all, frames);
	trace_file_begin(out);
	trace_file_put(out, TRACE_PROCESS, buf_slice(&all));
	if (costs)
		put_costs(out);
	trace_file_end(out);
	buf_release(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const options[] = { "--json", "--wide", "--all", "--raw" };
	struct slice in = { data + 1, size - 1 };
	struct buf file = { 0 };
	char path[64], *argv[8] = { "sonde" };
	int argc = 1, fd;

	if (!size)
		return 0;
	memfile_hush();
	if ((data[0] & 0xc0) == 0xc0) {
		buf_text(&file, "SondeRec"); /* otherwise it is no file but the name of a program */
		buf_put(&file, in);
	} else {
		make(in, data[0] & 0x20, &file);
	}
	fd = memfile_make(buf_slice(&file), path);
	for (unsigned i = 0; i < COUNT(options); i++)
		if (data[0] >> i & 1 && (i != 2 || data[0] & 0x10))
			argv[argc++] = (char *)(uintptr_t)options[i];
	argv[argc++] = path;
	argv[argc] = NULL;
	if (data[0] & 0x10)
		cmd_report(argc, argv);
	else
		cmd_tree(argc, argv);
	close(fd);
	buf_release(&file);
	return 0;
}
