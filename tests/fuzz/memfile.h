/* SPDX-License-Identifier: Apache-2.0 */
/* memfile.h - bytes as a file, for what opens files by name; and quiet output. */
#ifndef TESTS_MEMFILE_H
#define TESTS_MEMFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/slice.h"

/* The descriptor of a file in memory with these bytes, and its path. */
static inline int memfile_make(struct slice bytes, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n)
		abort();
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* What is printed goes nowhere; libFuzzer keeps its own way to stderr. */
static inline void memfile_hush(void)
{
	static FILE *nowhere;

	if (!nowhere) {
		nowhere = fopen("/dev/null", "w");
		if (!nowhere)
			abort();
		stdout = stderr = nowhere;
	}
}

#endif
