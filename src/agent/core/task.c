/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - reads by system calls, without stdio's buffers. */
#include "agent/core/task.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool task_text(pid_t tid, const char *file, char *text, size_t cap)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, cap - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}
