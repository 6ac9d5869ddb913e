/* SPDX-License-Identifier: Apache-2.0 */
/* class_files.c - goes through a jar, with jars in it, or the directory of a package. */
#include "cli/look/class_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/classtools/source.h"
#include "cli/look/source_text.h"

enum { PATH_MAX_BYTES = 4096, NAME_MAX_BYTES = 1024, FILE_NAME_MAX = 255 - 6 /* .class */ };

void class_files_init(struct class_files *f)
{
	*f = (struct class_files){ 0 };
	arena_init(&f->mem);
}

void class_files_release(struct class_files *f)
{
	arena_release(&f->mem);
	f->n = f->total = 0;
	f->files = NULL;
}

/* No part of it leads anywhere but down. */
static bool is_below(const char *name)
{
	size_t n = strlen(name);

	for (const char *part = name;; part++) {
		size_t length = strcspn(part, "/");

		if (!length || length > FILE_NAME_MAX || strncmp(part, ".", length) == 0 ||
		    (length == 2 && memcmp(part, "..", 2) == 0))
			return false;
		part += length;
		if (!*part)
			return n < NAME_MAX_BYTES;
	}
}

bool class_files_add(struct class_files *f, const char *name, struct slice bytes)
{
	struct class_file one;

	if (f->n == CLASS_FILES_MAX || bytes.n > CLASS_FILES_BYTES - f->total || !is_below(name) ||
	    class_files_get(f, name))
		return false;
	if (!f->files)
		f->files = arena_zero(&f->mem, CLASS_FILES_MAX * sizeof(*f->files));
	one.name = arena_str(&f->mem, slice_str(name));
	one.bytes = arena_dup(&f->mem, bytes);
	if (!f->files || !one.name || !one.bytes.p)
		return false;
	f->files[f->n++] = one;
	f->total += bytes.n;
	return true;
}

const struct class_file *class_files_get(const struct class_files *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->files[i].name, name) == 0)
			return &f->files[i];
	return NULL;
}

/* The length of a/b/C in a/b/C$D: up to the first '$' that has something before it. */
static size_t outer_length(const char *class)
{
	const char *slash = strrchr(class, '/');
	const char *from = slash ? slash + 1 : class, *cut = *from ? strchr(from + 1, '$') : NULL;

	return cut ? (size_t)(cut - class) : strlen(class);
}

/* Is what stands behind the outer class the end of a class file's name, of it or of a nested one? */
static bool is_rest(const char *rest)
{
	size_t n = strlen(rest);

	return n >= 6 && strcmp(rest + n - 6, ".class") == 0 && (n == 6 || *rest == '$') &&
	       !strchr(rest, '/');
}

/* "a/b/C$D" of "WEB-INF/classes/a/b/C$D.class". */
static bool is_wanted(const char *name, const char *class, char out[NAME_MAX_BYTES])
{
	size_t n = outer_length(class), all = strlen(name);

	for (const char *at = name; at && all - (size_t)(at - name) > n; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncmp(at, class, n) == 0 && is_rest(at + n)) {
			snprintf(out, NAME_MAX_BYTES, "%.*s", (int)strlen(at) - 6, at);
			return true;
		}
	}
	return false;
}

static void read_jar(struct class_files *f, int fd, const char *class)
{
	char path[32], *spec[] = { path }, pattern[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
	struct source_class found;
	struct source *s;
	struct fault why;
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(pattern, sizeof(pattern), "%.*s*", (int)outer_length(class), class);
	s = source_open(spec, 1);
	if (!s)
		return;
	source_want(s, pattern);
	while ((rc = source_next(s, &found, &why)) != 0)
		if (rc == 1 && is_wanted(found.name, class, name))
			class_files_add(f, name, found.bytes);
	source_close(s);
}

static void read_file(struct class_files *f, int dir, const char *file, const char *name)
{
	int fd = openat(dir, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct buf bytes = { 0 };
	struct stat st;
	uint8_t *to;
	ssize_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		while (bytes.n < CLASS_FILES_BYTES && (to = buf_room(&bytes, 65536)) &&
		       (n = read(fd, to, 65536)) > 0)
			bytes.n += (size_t)n;
	if (bytes.n && !bytes.err && n >= 0)
		class_files_add(f, name, buf_slice(&bytes));
	if (fd >= 0)
		close(fd);
	buf_release(&bytes);
}

/* at: the directory of the package. */
static void read_package(struct class_files *f, int at, const char *class)
{
	const char *slash = strrchr(class, '/');
	size_t package = slash ? (size_t)(slash - class) + 1 : 0, n = outer_length(class) - package;
	char name[NAME_MAX_BYTES];
	DIR *dir = fdopendir(at);
	struct dirent *e;

	if (!dir) {
		close(at);
		return;
	}
	while ((e = readdir(dir)))
		if (strncmp(e->d_name, class + package, n) == 0 && is_rest(e->d_name + n)) {
			snprintf(name, sizeof(name), "%.*s%.*s", (int)package, class,
				 (int)strlen(e->d_name) - 6, e->d_name);
			read_file(f, dirfd(dir), e->d_name, name);
		}
	closedir(dir);
}

void class_files_read(struct class_files *f, const struct inside *in, const char *place,
		      const char *class)
{
	const char *slash = strrchr(class, '/');
	char path[PATH_MAX_BYTES];
	int n, fd;

	if (!is_below(class))
		return;
	n = snprintf(path, sizeof(path), "%s/%.*s", place, slash ? (int)(slash - class) : 0, class);
	fd = n > 0 && (size_t)n < sizeof(path)
		     ? inside_file(in, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
		     : -1;
	if (fd >= 0) {
		read_package(f, fd, class);
		return;
	}
	fd = source_text_open(in, place);
	if (fd < 0)
		return;
	read_jar(f, fd, class);
	close(fd);
}
