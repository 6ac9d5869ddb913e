/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_archive.c - any bytes as a file that classes are read from: a jar, a JDK's lib/modules, a
 * class; and as a library.  All is read through, nothing may lie outside. */
#define _GNU_SOURCE /* memfd_create */
#include "cli/classtools/jimage.h"
#include "cli/classtools/source.h"
#include "jvm/elf_look.h"
#include "memfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MAX = 100000 };

static void image(const char *path)
{
	struct jimage_entry e;
	struct fault f = { 0 };
	struct jimage img;
	struct slice bytes;

	if (jimage_open(&img, path, &f) < 0)
		return;
	for (uint32_t i = 0; i < img.n; i++)
		if (jimage_entry(&img, i, &e) == 1 && jimage_bytes(&img, &e, &bytes, &f) >= 0 &&
		    bytes.n && (bytes.p < img.map.p || bytes.p + bytes.n > img.map.p + img.map.n))
			abort();
	jimage_close(&img);
}

static void classes(char *path)
{
	struct source *s = source_open(&path, 1);
	struct source_class c;
	unsigned sum = 0;
	int steps = 0;

	for (;;) {
		struct fault f = { 0 };
		int rc = s ? source_next(s, &c, &f) : 0;

		if (rc == 0)
			break;
		if (++steps > STEPS_MAX)
			abort();
		for (size_t i = 0; rc == 1 && i < c.bytes.n; i++)
			sum += c.bytes.p[i];
	}
	if (sum == UINT32_MAX)
		abort();
	source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data, size };
	struct elf_look look;
	char path[64];
	int fd;

	memfile_hush();
	fd = memfile_make(in, path);
	(void)elf_is_whole(in);
	(void)elf_look(fd, &look);
	image(path);
	classes(path);
	close(fd);
	return 0;
}
