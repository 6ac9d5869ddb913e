/* SPDX-License-Identifier: Apache-2.0 */
/* outdir.c - writes class files below a directory. */
#include "cli/classtools/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every part between slashes is a plain name. */
static bool stays_inside(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 0 || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += n + (path[n] == '/');
	}
	return true;
}

/* Makes the directories on the way to the last part of path. */
static int make_parents(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		int rc;

		*slash = '\0';
		rc = mkdir(path, 0777);
		*slash = '/';
		if (rc < 0 && errno != EEXIST)
			return E_IO;
	}
	return 0;
}

static int write_all(int fd, struct slice bytes)
{
	while (bytes.n) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return E_IO;
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	return 0;
}

int outdir_write(const char *dir, const char *group, const char *name, struct slice bytes,
		 struct fault *f)
{
	static const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	char path[PATH_MAX];
	int n, fd, rc;

	if (!stays_inside(group) || !stays_inside(name))
		return fault_set(f, E_NAME, -1, "%s/%s: would be written outside of %s", group,
				 name, dir);
	n = snprintf(path, sizeof(path), "%s/%s%s%s", dir, group, *group ? "/" : "", name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return fault_set(f, E_LIMIT, -1, "%s: name too long", name);
	fd = open(path, flags, 0666);
	if (fd < 0 && errno == ENOENT && make_parents(path) >= 0)
		fd = open(path, flags, 0666);
	if (fd < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	rc = write_all(fd, bytes);
	if (close(fd) < 0 || rc < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	return 0;
}
