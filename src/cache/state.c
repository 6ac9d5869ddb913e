/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - the files in which it is kept what was found about applications. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "cache/state.h"

#include "base/fnv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_MAX_KEPT = 120 };

bool state_usual_place(char dir[PATH_MAX])
{
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (base && base[0] == '/')
		n = snprintf(dir, PATH_MAX, "%s/sonde/apps", base);
	else if (home && home[0] == '/')
		n = snprintf(dir, PATH_MAX, "%s/.local/state/sonde/apps", home);
	return n > 0 && n < PATH_MAX;
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-' || c == '$';
}

bool state_path(const char *dir, const char *app, const char *suffix, char path[PATH_MAX])
{
	char name[NAME_MAX_KEPT + 24];
	uint64_t hash = FNV_START;
	bool changed = false;
	size_t n = 0;
	int len;

	for (const char *p = app; *p; p++) {
		bool plain = is_plain(*p) && !(n == 0 && *p == '.');

		hash = fnv_add(hash, p, 1);
		changed |= !plain || n == NAME_MAX_KEPT;
		if (n < NAME_MAX_KEPT)
			name[n++] = plain ? *p : '_';
	}
	name[n] = '\0';
	if (changed) /* no name that stays as it is has a '+' */
		snprintf(name + n, sizeof(name) - n, "+%016llx", (unsigned long long)hash);
	len = snprintf(path, PATH_MAX, "%s/%s.%s", dir, name, suffix);
	return n > 0 && len > 0 && len < PATH_MAX;
}

static bool is_safe(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) &&
	       !(st->st_mode & 022) && st->st_size <= STATE_MAX;
}

/* fstat() without the new version that it has since glibc 2.33: the agent is loaded on older
 * systems. */
static bool look(int fd, struct stat *st)
{
	return syscall(SYS_fstat, fd, st) == 0;
}

/* The file, in a directory in which no other user can put one. */
static int open_safely(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	struct stat st;
	int at, why, fd = -1;

	if (!slash || slash == path)
		return errno = EINVAL, -1;
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (at < 0)
		return -1;
	if (look(at, &st) && (st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & 022))
		fd = openat(at, slash + 1, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	else
		errno = EPERM;
	why = errno;
	close(at);
	errno = why;
	return fd;
}

int state_read(const char *path, struct buf *out)
{
	int fd = open_safely(path), rc = 0;
	struct stat st;
	ssize_t got = 1;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? E_NOT_FOUND : E_IO;
	if (!look(fd, &st) || !is_safe(&st)) {
		rc = E_IO;
		errno = EPERM;
	}
	while (rc == 0 && got > 0) {
		uint8_t *to = buf_room(out, 64 << 10);

		got = to ? read(fd, to, 64 << 10) : -1;
		if (got > 0)
			out->n += (size_t)got;
		else if (got < 0)
			rc = to ? E_IO : E_NO_MEMORY;
		if (out->n > STATE_MAX)
			rc = E_IO;
	}
	close(fd);
	return rc;
}

int state_make_place(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;
	bool looked;
	int fd;

	snprintf(path, sizeof(path), "%s", dir);
	for (char *p = path + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			(void)mkdir(path, 0700);
			*p = '/';
		}
	(void)mkdir(path, 0700);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return E_IO;
	looked = look(fd, &st);
	close(fd);
	if (!looked || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return errno = EPERM, E_IO; /* others could put something there */
	return 0;
}

int state_write(const char *path, struct slice text)
{
	char made[PATH_MAX + 24];
	size_t at = 0;
	ssize_t n = 0;
	int fd;

	snprintf(made, sizeof(made), "%s.%d.new", path, (int)getpid());
	fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return E_IO;
	while (at < text.n && n >= 0) {
		n = write(fd, text.p + at, text.n - at);
		at += n > 0 ? (size_t)n : 0;
		if (n < 0 && errno == EINTR)
			n = 0;
	}
	if (n < 0 || fsync(fd) != 0) {
		n = errno;
		close(fd);
		(void)unlink(made);
		errno = (int)n;
		return E_IO;
	}
	if (close(fd) != 0 || rename(made, path) != 0) {
		n = errno;
		(void)unlink(made);
		errno = (int)n;
		return E_IO;
	}
	return 0;
}
