/* SPDX-License-Identifier: Apache-2.0 */
/* private.c - makes a new file, or takes one over that is ours.  What is in the way is looked at by
 * its descriptor, so that nobody can exchange it meanwhile; it loses its contents only then. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "cli/screen/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* A link may be followed if it is ours, or root's: /dev/stdout is one. */
static bool is_good_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) &&
	       (st.st_uid == geteuid() || st.st_uid == 0);
}

/* 0, or an errno. */
static int take_over(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_uid != geteuid() || st.st_nlink != 1)
		return EPERM;
	return fchmod(fd, 0600) != 0 || ftruncate(fd, 0) != 0 ? errno : 0;
}

int private_open(const char *path)
{
	static const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, 0600), why;

	if (fd >= 0 || errno != EEXIST)
		return fd;
	fd = open(path, flags | O_NOFOLLOW);
	if (fd < 0 && errno == ELOOP && is_good_link(path)) {
		fd = open(path, flags);
		if (fd < 0 && errno == ENOENT) /* it leads to what is not there yet */
			fd = open(path, flags | O_CREAT, 0600);
	}
	if (fd < 0)
		return -1;
	why = take_over(fd);
	if (!why)
		return fd;
	close(fd);
	errno = why;
	return -1;
}

FILE *private_fopen(const char *path)
{
	int fd = private_open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}
