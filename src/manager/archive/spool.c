/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/archive/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32.h"
#include "manager/archive/archive_priv.h"
#include "manager/log.h"

enum { FILE_MAX = 512 << 20, SEAL = 8 };
static const uint32_t seal_magic = 0x536f5370;

static void name_of(const struct spool *s, uint64_t number, const char *ending, char path[4096])
{
	snprintf(path, 4096, "%s/%020llu%s", s->dir, (unsigned long long)number, ending);
}

static void see(struct spool *s, const char *name)
{
	unsigned long long number;
	char path[4096], extra;
	struct stat st;

	/* what was set aside keeps its number */
	if (sscanf(name, "%20llu.refused%c", &number, &extra) == 1 && strstr(name, ".refused"))
		s->next = number >= s->next ? number + 1 : s->next;
	if (sscanf(name, "%20llu.batch%c", &number, &extra) != 1 || !strstr(name, ".batch"))
		return;
	if (s->first == s->next)
		s->first = s->next = number;
	s->first = number < s->first ? number : s->first;
	s->next = number >= s->next ? number + 1 : s->next;
	name_of(s, number, ".batch", path);
	s->bytes += stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

int spool_open(struct spool *s, const char *dir)
{
	struct dirent *e;
	DIR *d;
	int rc;

	*s = (struct spool){ .lock_fd = -1, .first = 1, .next = 1 };
	if (snprintf(s->dir, sizeof(s->dir), "%s", dir) >= (int)sizeof(s->dir))
		return E_USAGE;
	rc = archive_take_dir(dir, &s->lock_fd);
	d = rc < 0 ? NULL : opendir(dir);
	while (d && (e = readdir(d)))
		see(s, e->d_name);
	if (d)
		closedir(d);
	return rc;
}

void spool_close(struct spool *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
}

static bool write_all(int fd, struct slice body)
{
	while (body.n) {
		ssize_t n = write(fd, body.p, body.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		body = (struct slice){ body.p + n, body.n - (size_t)n };
	}
	return true;
}

/* The last bytes of a file: that it is one, and its checksum. */
static void make_seal(struct slice body, uint8_t seal[SEAL])
{
	put_u32(seal, seal_magic);
	put_u32(seal + 4, crc32_of(body));
}

static bool write_file(int fd, struct slice body)
{
	uint8_t seal[SEAL];

	make_seal(body, seal);
	return write_all(fd, body) && write_all(fd, (struct slice){ seal, SEAL }) && fsync(fd) == 0;
}

int spool_put(struct spool *s, struct slice body)
{
	char made[4096], path[4096];
	bool good;
	int fd;

	name_of(s, s->next, ".part", made);
	name_of(s, s->next, ".batch", path);
	fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	good = fd >= 0 && write_file(fd, body);
	if (fd >= 0)
		close(fd);
	good = good && rename(made, path) == 0 && fsync(s->lock_fd) == 0;
	if (!good) {
		log_put(LOG_ERROR, "%s: %s", made, strerror(errno));
		unlink(made);
		return E_IO;
	}
	s->next++;
	__atomic_store_n(&s->bytes, s->bytes + body.n + SEAL, __ATOMIC_RELEASE);
	return 0;
}

/* Appends a file of that size; false: it cannot be read. */
static bool read_whole(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };
	bool good = fd >= 0 && fstat(fd, &st) == 0 && st.st_size <= FILE_MAX;
	uint8_t *to = good ? buf_room(out, (size_t)st.st_size) : NULL;
	ssize_t n = 1;

	for (size_t at = 0; to && n > 0 && at < (size_t)st.st_size; at += (size_t)n) {
		n = read(fd, to + at, (size_t)st.st_size - at);
		if (n > 0)
			out->n += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return to && n > 0;
}

int spool_oldest(struct spool *s, struct buf *out)
{
	uint8_t seal[SEAL];
	char path[4096];
	size_t before = out->n;

	for (; s->first < s->next; s->first++) {
		name_of(s, s->first, ".batch", path);
		if (access(path, F_OK) == 0)
			break;
	}
	if (s->first == s->next)
		return E_NOT_FOUND;
	if (!read_whole(path, out))
		return out->err ? out->err : E_IO;
	if (out->n >= before + SEAL) {
		out->n -= SEAL;
		make_seal((struct slice){ out->p + before, out->n - before }, seal);
		if (memcmp(out->p + out->n, seal, SEAL) == 0)
			return 0;
	}
	log_put(LOG_ERROR, "%s: its checksum is wrong: the disk has changed it", path);
	return E_DAMAGED;
}

static void gone(struct spool *s, const char *path)
{
	struct stat st;
	uint64_t n = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;

	__atomic_store_n(&s->bytes, s->bytes > n ? s->bytes - n : 0, __ATOMIC_RELEASE);
	s->first++;
}

void spool_drop(struct spool *s)
{
	char path[4096];

	name_of(s, s->first, ".batch", path);
	gone(s, path);
	unlink(path);
}

void spool_set_aside(struct spool *s)
{
	char path[4096], aside[4096];

	name_of(s, s->first, ".batch", path);
	name_of(s, s->first, ".refused", aside);
	gone(s, path);
	rename(path, aside);
	log_put(LOG_ERROR, "%s: set aside; the files after it are sent", aside);
}
