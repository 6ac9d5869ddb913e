/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds libsonde.so, and copies it to where a JVM can load it from.
 *
 * The copy's name has a hash of its bytes, so different versions do not meet, and the same one is
 * written once.  Its directory must belong to the JVM's user alone: whoever else could write there
 * would get code into the JVM. */
#define _GNU_SOURCE /* memmem() */
#include "cli/attach/library.h"

#include "base/fnv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };

enum { PLACES = sizeof(places) / sizeof(places[0]), LIBRARY_MAX = 64 << 20 };

/* All of a regular file.  False: it is something else, or longer than `max`. */
static bool read_whole(int fd, size_t max, struct stat *st, struct buf *out)
{
	ssize_t n = 1;

	if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) || (size_t)st->st_size > max)
		return false;
	while (n > 0 && out->n <= max) {
		uint8_t *to = buf_room(out, 65536);

		n = to ? pread(fd, to, 65536, (off_t)out->n) : -1;
		out->n += n > 0 ? (size_t)n : 0;
	}
	return n == 0;
}

static bool has(struct slice bytes, const char *text, size_t n)
{
	return memmem(bytes.p, bytes.n, text, n) != NULL;
}

/* Opens the file and looks at it; false: it is none, or not a library. */
static bool look(struct library *lib, const char *path)
{
	int fd = realpath(path, lib->path) ? open(lib->path, O_RDONLY | O_CLOEXEC) : -1;
	struct slice all;
	bool good;

	if (fd < 0)
		return false;
	buf_clear(&lib->bytes);
	good = elf_look(fd, &lib->elf) && read_whole(fd, LIBRARY_MAX, &lib->st, &lib->bytes) &&
	       elf_is_whole(buf_slice(&lib->bytes));
	close(fd);
	if (!good) {
		library_close(lib);
		return false;
	}
	all = buf_slice(&lib->bytes);
	lib->hash = fnv_add(FNV_START, all.p, all.n);
	lib->musl = !has(all, "\0libc.so.6", 10) && has(all, "\0libc.musl-", 11);
	return true;
}

bool library_is_safe(const struct stat *st)
{
	struct stat self;
	bool known = stat("/proc/self/exe", &self) == 0;

	if (st->st_uid != 0 && st->st_uid != geteuid() && !(known && st->st_uid == self.st_uid))
		return false;
	return !(st->st_mode & S_IWOTH) &&
	       (!(st->st_mode & S_IWGRP) || st->st_gid == 0 ||
		(known && self.st_mode & S_IWGRP && st->st_gid == self.st_gid));
}

static int take(struct library *lib, struct fault *f)
{
	if (library_is_safe(&lib->st))
		return 0;
	library_close(lib);
	return fault_set(f, E_UNSUPPORTED, -1,
			 "%.200s is not loaded, since others can change it: it belongs to the user "
			 "with the id %u, and its mode is %03o",
			 lib->path, lib->st.st_uid, lib->st.st_mode & 0777u);
}

int library_open(struct library *lib, const char *name, struct fault *f)
{
	const char *said = strcmp(name, LIBRARY_JVM) == 0 ? secure_getenv("SONDE_LIB") : NULL;
	char exe[PATH_MAX / 2], path[PATH_MAX];
	char *slash;
	ssize_t n;

	*lib = (struct library){ 0 };
	if (said && *said) {
		if (look(lib, said))
			return take(lib, f);
		return fault_set(f, E_NOT_FOUND, -1,
				 "SONDE_LIB: %s is not there, or not a whole library", said);
	}
	n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	snprintf(path, sizeof(path), "%s/%s", exe, name);
	if (look(lib, path))
		return take(lib, f);
	snprintf(path, sizeof(path), "%s/../lib/sonde/%s", exe, name);
	if (look(lib, path))
		return take(lib, f);
	return fault_set(f, E_NOT_FOUND, -1,
			 "%s is not beside sonde in %.100s, nor in ../lib/sonde from there%s", name,
			 exe,
			 strcmp(name, LIBRARY_JVM) == 0 ? "; SONDE_LIB can say where it is" : "");
}

void library_close(struct library *lib)
{
	buf_release(&lib->bytes);
}

static bool is_noexec(int fd)
{
	struct statvfs v;

	return fstatvfs(fd, &v) == 0 && (v.f_flag & ST_NOEXEC);
}

/* Is our own path the same file for the JVM?  Called with its user's rights. */
static bool is_visible(const struct library *lib, const struct inside *in, char *why, size_t cap)
{
	int fd = inside_file(in, lib->path, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;
	bool good = false;

	if (fd < 0)
		snprintf(why, cap, "%.150s: %s there", lib->path,
			 errno == ENOENT ? "does not exist" : "cannot be read");
	else if (fstat(fd, &st) != 0 || st.st_dev != lib->st.st_dev || st.st_ino != lib->st.st_ino)
		snprintf(why, cap, "%.150s: another file there", lib->path);
	else if (is_noexec(fd))
		snprintf(why, cap, "%.150s: on a noexec mount there", lib->path);
	else
		good = true;
	if (fd >= 0)
		close(fd);
	return good;
}

/* base/.sonde-UID, opened: it must belong to that user alone. */
static int open_own(const struct inside *in, int base, char *why, size_t cap)
{
	struct stat st;
	char name[32];
	int dir;

	snprintf(name, sizeof(name), ".sonde-%u", in->uid);
	dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0) {
		snprintf(why, cap, "%s: %s", name, strerror(errno));
		return -1;
	}
	if (fstat(dir, &st) != 0 || st.st_uid != in->uid || (st.st_mode & 022) != 0) {
		snprintf(why, cap, "%s belongs to somebody else", name);
		close(dir);
		errno = EACCES;
		return -1;
	}
	return dir;
}

/* The same, made if need be; without `make`, base itself instead of one that could be made. */
static int open_dir(const struct inside *in, const char *path, bool make, char *why, size_t cap)
{
	int base = inside_file(in, path, O_RDONLY | O_DIRECTORY, 0), dir = -1;
	char name[32];

	snprintf(name, sizeof(name), ".sonde-%u", in->uid);
	if (base < 0) { /* O_RDONLY asks for more than is needed, but every such directory has it */
		snprintf(why, cap, "%s", strerror(errno));
		return -1;
	}
	if (make && mkdirat(base, name, 0700) != 0 && errno != EEXIST) {
		snprintf(why, cap, "%s", strerror(errno));
		close(base);
		return -1;
	}
	dir = open_own(in, base, why, cap);
	if (dir < 0 && errno == ENOENT && !make) {
		if (faccessat(base, ".", W_OK | X_OK, AT_EACCESS) == 0)
			return base;
		snprintf(why, cap, "%s", strerror(errno));
	}
	close(base);
	return dir;
}

/* Copies are removed by whoever detaches last, perhaps just when somebody else has written one and
 * its JVM has not loaded it yet.  So who copies holds the directory's lock, shared, until then, and
 * who removes needs it alone.  Both give up soon: it is a file of the observed user's. */
static bool lock_dir(int dir, int how)
{
	struct timespec moment = { .tv_nsec = 20000000 };

	for (int i = 0; i < 100; i++) {
		if (flock(dir, how | LOCK_NB) == 0)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* open_dir() and the lock.  The directory may have been removed while we waited: then once more. */
static int open_locked(const struct inside *in, const char *path, char *why, size_t cap)
{
	struct stat st;
	int dir = -1;

	for (int i = 0; i < 3; i++) {
		dir = open_dir(in, path, true, why, cap);
		if (dir < 0)
			return -1;
		lock_dir(dir, LOCK_SH);
		if (fstat(dir, &st) != 0 || st.st_nlink > 0)
			return dir;
		close(dir);
	}
	snprintf(why, cap, "it is removed again and again");
	return -1;
}

/* Is that file our library, byte for byte? */
static bool is_copy(const struct library *lib, const struct inside *in, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct buf bytes = { 0 };
	struct stat st;
	bool same;

	if (fd < 0)
		return false;
	same = read_whole(fd, lib->bytes.n, &st, &bytes) && st.st_uid == in->uid &&
	       (st.st_mode & 0555) == 0555 && slice_eq(buf_slice(&bytes), buf_slice(&lib->bytes));
	buf_release(&bytes);
	close(fd);
	return same;
}

static int write_all(int fd, struct slice s)
{
	while (s.n) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return E_IO;
		s.p += n;
		s.n -= (size_t)n;
	}
	return 0;
}

/* Writes under another name first, so that nobody ever loads half a library. */
static int write_copy(const struct library *lib, int dir, const char *name)
{
	char part[80];
	int fd, rc, keep;

	snprintf(part, sizeof(part), ".%s.%d", name, getpid());
	unlinkat(dir, part, 0);
	fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return E_IO;
	rc = write_all(fd, buf_slice(&lib->bytes));
	if (rc >= 0 && (fchmod(fd, 0555) != 0 || renameat(dir, part, dir, name) != 0))
		rc = E_IO;
	keep = errno;
	close(fd);
	if (rc < 0)
		unlinkat(dir, part, 0);
	errno = keep;
	return rc;
}

static int try_place(const struct library *lib, const struct inside *in, const char *base,
		     bool make, struct library_place *place)
{
	char name[64], why[200] = "";
	struct statvfs v;
	int dir, rc;

	dir = make ? open_locked(in, base, why, sizeof(why))
		   : open_dir(in, base, false, why, sizeof(why));
	rc = dir < 0 ? E_IO : 0;

	snprintf(name, sizeof(name), "libsonde-%016llx.so", (unsigned long long)lib->hash);
	if (rc >= 0 && is_noexec(dir)) {
		snprintf(why, sizeof(why), "noexec");
		rc = E_IO;
	}
	if (rc >= 0 && !(place->there = is_copy(lib, in, dir, name))) {
		if (fstatvfs(dir, &v) == 0 && v.f_bavail * v.f_frsize < lib->bytes.n) {
			snprintf(why, sizeof(why), "full");
			rc = E_IO;
		} else if (make && (rc = write_copy(lib, dir, name)) < 0) {
			snprintf(why, sizeof(why), "%s", strerror(errno));
		}
	}
	if (dir >= 0 && (rc < 0 || !make))
		close(dir);
	else if (dir >= 0)
		place->held = dir;
	if (rc >= 0)
		snprintf(place->path, sizeof(place->path), "%s/.sonde-%u/%s", base, in->uid, name);
	else
		snprintf(place->why + strlen(place->why), sizeof(place->why) - strlen(place->why),
			 "; %s: %s", base, why);
	return rc;
}

int library_place(const struct library *lib, struct inside *in, bool make,
		  struct library_place *place)
{
	int rc = inside_enter(in);

	*place = (struct library_place){ .held = -1 };
	if (rc < 0) {
		snprintf(place->why, sizeof(place->why), "cannot act as its user");
		return rc;
	}
	if (is_visible(lib, in, place->why, sizeof(place->why))) {
		snprintf(place->path, sizeof(place->path), "%s", lib->path);
	} else {
		place->copied = true;
		rc = E_IO;
		for (int i = 0; rc < 0 && i < PLACES; i++)
			rc = try_place(lib, in, places[i], make, place);
	}
	inside_leave(in);
	return rc;
}

void library_loaded(struct library_place *place)
{
	if (place->held >= 0)
		close(place->held);
	place->held = -1;
}

static int remove_copies(int dir)
{
	DIR *list = lock_dir(dir, LOCK_EX) ? fdopendir(dir) : NULL;
	struct dirent *e;
	int n = 0;

	if (!list) {
		close(dir);
		return 0;
	}
	while ((e = readdir(list)) != NULL)
		if (strstr(e->d_name, "libsonde-") && unlinkat(dir, e->d_name, 0) == 0)
			n++;
	closedir(list);
	return n;
}

int library_remove(struct inside *in)
{
	char name[32], why[100];
	int n = 0, base, dir;

	if (inside_enter(in) < 0)
		return 0;
	snprintf(name, sizeof(name), ".sonde-%u", in->uid);
	for (int i = 0; i < PLACES; i++) {
		base = inside_file(in, places[i], O_PATH | O_DIRECTORY, 0);
		dir = base < 0 ? -1 : open_own(in, base, why, sizeof(why));
		if (dir >= 0) {
			n += remove_copies(dir);
			unlinkat(base, name, AT_REMOVEDIR);
		}
		if (base >= 0)
			close(base);
	}
	inside_leave(in);
	return n;
}
