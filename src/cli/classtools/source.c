/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - the stack of layers, and the layers for single files and directories. */
#include "cli/classtools/source_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/classtools/jimage.h"

enum { DIR_DEPTH_MAX = 64 };

/* ---- names ---- */

static bool ends_with(const char *name, const char *end)
{
	return slice_ends(slice_str(name), end);
}

enum entry_kind entry_kind_of(const char *name)
{
	static const char *const archives[] = { ".jar", ".war", ".ear", ".jmod" };

	if (ends_with(name, ".class"))
		return ENTRY_CLASS;
	for (size_t i = 0; i < COUNT(archives); i++)
		if (ends_with(name, archives[i]))
			return ENTRY_ARCHIVE;
	return ENTRY_OTHER;
}

static bool matches(const char *pattern, const char *name)
{
	static const char *const roots[] = { "classes/", "WEB-INF/classes/", "BOOT-INF/classes/" };
	char plain[PATH_MAX];
	const char *slash;
	size_t n = strlen(name);

	if (ends_with(name, ".class"))
		n -= 6;
	if (n >= sizeof(plain))
		return false;
	memcpy(plain, name, n);
	plain[n] = '\0';
	if (fnmatch(pattern, plain, FNM_NOESCAPE) == 0)
		return true;
	for (size_t i = 0; i < COUNT(roots); i++)
		if (strncmp(plain, roots[i], strlen(roots[i])) == 0 &&
		    fnmatch(pattern, plain + strlen(roots[i]), FNM_NOESCAPE) == 0)
			return true;
	slash = strrchr(plain, '/');
	return slash && !strchr(pattern, '/') && fnmatch(pattern, slash + 1, FNM_NOESCAPE) == 0;
}

bool source_wants(const struct source *s, const char *name)
{
	return (!s->want || matches(s->want, name)) &&
	       (!s->want_here || matches(s->want_here, name));
}

const char *source_join(struct source *s, const char *first, ...)
{
	size_t n = 0;
	va_list ap;
	char *p;

	va_start(ap, first);
	for (const char *part = first; part; part = va_arg(ap, const char *))
		n += strlen(part);
	va_end(ap);
	p = arena_alloc(&s->mem, n + 1);
	if (!p)
		return NULL;
	*p = '\0';
	n = 0;
	va_start(ap, first);
	for (const char *part = first; part; part = va_arg(ap, const char *)) {
		memcpy(p + n, part, strlen(part) + 1);
		n += strlen(part);
	}
	va_end(ap);
	return p;
}

/* Names come out of archives: what a terminal would obey is not shown. */
static void put_visible(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_u8(b, (uint8_t)*s < 0x20 || *s == 0x7f ? '?' : (uint8_t)*s);
}

int source_name(struct source *s, const struct layer *l, const char *group, const char *name,
		struct source_class *out)
{
	size_t group_at, name_at;

	buf_clear(&s->text);
	put_visible(&s->text, l->shown);
	if (!*l->group && *group) { /* a module of a JDK */
		put_visible(&s->text, group);
		buf_u8(&s->text, '/');
	}
	put_visible(&s->text, name);
	buf_u8(&s->text, 0);
	group_at = s->text.n;
	buf_bytes(&s->text, group, strlen(group) + 1);
	name_at = s->text.n;
	buf_bytes(&s->text, name, strlen(name) + 1);
	if (s->text.err)
		return s->text.err;
	out->shown = (char *)s->text.p;
	out->group = (char *)s->text.p + group_at;
	out->name = (char *)s->text.p + name_at;
	return 0;
}

static char *normal_pattern(struct source *s, const char *pattern)
{
	size_t n = strlen(pattern);
	char *p;

	if (ends_with(pattern, ".class"))
		n -= 6;
	p = arena_str(&s->mem, (struct slice){ (const uint8_t *)pattern, n });
	if (p && !strchr(p, '/'))
		for (char *dot = p; (dot = strchr(dot, '.'));)
			*dot = '/';
	return p;
}

/* ---- one file ---- */

static int read_whole(struct source *s, int fd, size_t size)
{
	uint8_t *p;
	ssize_t got;

	buf_clear(&s->bytes);
	p = buf_room(&s->bytes, size ? size : 1);
	if (!p)
		return E_NO_MEMORY;
	while (s->bytes.n < size) {
		got = read(fd, s->bytes.p + s->bytes.n, size - s->bytes.n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return E_IO;
		if (got == 0)
			break;
		s->bytes.n += (size_t)got;
	}
	return 0;
}

static int read_file(struct source *s, const char *path, struct slice *out, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		rc = fault_set(f, E_IO, -1, "%s: not a regular file", path);
	else if (st.st_size > SOURCE_CLASS_MAX)
		rc = fault_set(f, E_LIMIT, -1, "%s: larger than %d MiB", path,
			       SOURCE_CLASS_MAX >> 20);
	else if ((rc = read_whole(s, fd, (size_t)st.st_size)) < 0)
		fault_set(f, rc, -1, "%s: %s", path, rc == E_IO ? strerror(errno) : err_text(rc));
	else
		*out = buf_slice(&s->bytes);
	close(fd);
	return rc;
}

static int file_next(struct source *s, struct layer *l, struct source_class *out, struct fault *f)
{
	const char *base = strrchr(l->shown, '/');
	int rc;

	if (l->at == l->n)
		return 0;
	l->at++;
	base = base ? base + 1 : l->shown;
	if (!source_wants(s, base))
		return LAYER_AGAIN;
	rc = read_file(s, l->shown, &out->bytes, f);
	if (rc < 0)
		return rc;
	rc = source_name(s, &(struct layer){ .shown = "", .group = "" }, "", base, out);
	out->shown = l->shown;
	return rc < 0 ? rc : 1;
}

static int push_file(struct source *s, const char *path)
{
	struct layer *l = arena_zero(&s->mem, sizeof(*l));

	if (!l)
		return E_NO_MEMORY;
	*l = (struct layer){ .shown = path, .group = "", .n = 1, .next = file_next };
	layer_push(s, l);
	return 0;
}

/* ---- a directory ---- */

struct dir_layer {
	struct layer layer;
	const char **names; /* below the directory, sorted */
	size_t cap;
	unsigned depth;
};

static int dir_add(struct source *s, struct dir_layer *d, const char *name)
{
	if (d->layer.n == d->cap) {
		size_t cap = d->cap ? 2 * d->cap : 64;
		const char **names = arena_alloc(&s->mem, cap * sizeof(*names));

		if (!names)
			return E_NO_MEMORY;
		if (d->layer.n)
			memcpy(names, d->names, d->layer.n * sizeof(*names));
		d->names = names;
		d->cap = cap;
	}
	d->names[d->layer.n++] = name;
	return 0;
}

static int dir_scan(struct source *s, struct dir_layer *d, int at, const char *prefix);

static int dir_entry(struct source *s, struct dir_layer *d, DIR *dir, const char *prefix,
		     const char *name)
{
	const char *full = source_join(s, prefix, name, NULL), *deeper;
	struct stat st;
	bool link;
	int rc, fd;

	if (!full)
		return E_NO_MEMORY;
	if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	link = S_ISLNK(st.st_mode);
	if (link && fstatat(dirfd(dir), name, &st, 0) < 0)
		return 0;
	if (S_ISREG(st.st_mode) &&
	    (entry_kind_of(name) == ENTRY_CLASS || (entry_kind_of(name) == ENTRY_ARCHIVE && !link)))
		return dir_add(s, d, full);
	if (!S_ISDIR(st.st_mode) || link || d->depth == DIR_DEPTH_MAX)
		return 0;
	deeper = source_join(s, full, "/", NULL);
	fd = openat(dirfd(dir), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	d->depth++;
	rc = deeper ? dir_scan(s, d, fd, deeper) : E_NO_MEMORY;
	d->depth--;
	return rc;
}

/* Closes `at`. */
static int dir_scan(struct source *s, struct dir_layer *d, int at, const char *prefix)
{
	DIR *dir = fdopendir(at);
	struct dirent *e;
	int rc = 0;

	if (!dir) {
		close(at);
		return E_NO_MEMORY;
	}
	while (rc >= 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = dir_entry(s, d, dir, prefix, e->d_name);
	closedir(dir);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int dir_next(struct source *s, struct layer *l, struct source_class *out, struct fault *f)
{
	struct dir_layer *d = (struct dir_layer *)l;
	const char *name, *path;
	int rc;

	if (l->at == l->n)
		return 0;
	name = d->names[l->at++];
	if (entry_kind_of(name) == ENTRY_CLASS && !source_wants(s, name))
		return LAYER_AGAIN;
	path = source_join(s, l->shown, name, NULL);
	if (!path)
		return fault_no_memory(f);
	if (entry_kind_of(name) == ENTRY_ARCHIVE) {
		rc = source_push_zip(s, path, ends_with(name, ".jmod") ? 4 : 0,
				     source_join(s, path, "!/", NULL), name, f);
		return rc < 0 ? rc : LAYER_AGAIN;
	}
	rc = read_file(s, path, &out->bytes, f);
	if (rc < 0)
		return rc;
	rc = source_name(s, l, "", name, out);
	return rc < 0 ? rc : 1;
}

static int push_dir(struct source *s, const char *path, struct fault *f)
{
	struct dir_layer *d = arena_zero(&s->mem, sizeof(*d));
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	if (!d) {
		close(fd);
		return fault_no_memory(f);
	}
	d->layer.shown = source_join(s, path, ends_with(path, "/") ? "" : "/", NULL);
	d->layer.group = "";
	d->layer.next = dir_next;
	rc = dir_scan(s, d, fd, "");
	if (rc < 0 || !d->layer.shown)
		return fault_set(f, E_NO_MEMORY, -1, "%s: out of memory", path);
	if (d->layer.n)
		qsort(d->names, d->layer.n, sizeof(*d->names), by_name);
	layer_push(s, &d->layer);
	return 0;
}

/* ---- the stack ---- */

void layer_push(struct source *s, struct layer *l)
{
	l->below = s->top;
	s->top = l;
	s->depth++;
}

static void layer_pop(struct source *s)
{
	struct layer *l = s->top;

	s->top = l->below;
	s->depth--;
	if (l->close)
		l->close(l);
}

/* By what the file begins with, not by its name. */
static int push_by_content(struct source *s, const char *path, struct fault *f)
{
	const char *base = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t head[4] = { 0 };
	uint32_t magic;
	ssize_t got;

	if (fd < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	got = read(fd, head, sizeof(head));
	close(fd);
	if (got < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	base = base ? base + 1 : path;
	memcpy(&magic, head, 4);
	if (memcmp(head, "\xca\xfe\xba\xbe", 4) == 0)
		return push_file(s, path);
	if (magic == JIMAGE_MAGIC || __builtin_bswap32(magic) == JIMAGE_MAGIC)
		return source_push_image(s, path, source_join(s, path, "!/", NULL), NULL, f);
	if (memcmp(head, "JM\1\0", 4) == 0 || memcmp(head, "PK", 2) == 0)
		return source_push_zip(s, path, head[0] == 'J' ? 4 : 0,
				       source_join(s, path, "!/", NULL), base, f);
	if (entry_kind_of(path) == ENTRY_CLASS) /* let the class reader say what is wrong */
		return push_file(s, path);
	return fault_set(f, E_UNSUPPORTED, -1, "%s: %s", path,
			 got == 0 ? "empty file" : "neither a class file nor an archive of them");
}

static int push_spec(struct source *s, const char *spec, struct fault *f)
{
	const char *path = spec, *inside = strstr(spec, "!/");
	struct stat st;

	if (spec[0] == '@')
		return source_push_jdk(s, spec + 1, f);
	if (stat(path, &st) < 0 && inside && inside[2]) {
		path = arena_str(&s->mem,
				 (struct slice){ (const uint8_t *)spec, (size_t)(inside - spec) });
		s->want_here = normal_pattern(s, inside + 2);
		if (!path || !s->want_here)
			return fault_no_memory(f);
	}
	if (stat(path, &st) < 0)
		return fault_set(f, E_IO, -1, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return push_dir(s, path, f);
	if (!S_ISREG(st.st_mode))
		return fault_set(f, E_IO, -1, "%s: not a regular file", path);
	return push_by_content(s, path, f);
}

static int nothing_found(const struct source *s, const char *spec, struct fault *f)
{
	const char *want = s->want ? s->want : s->want_here;

	if (want)
		fault_set(f, E_NOT_FOUND, -1, "%s: no class %s in it", spec, want);
	else
		fault_set(f, E_NOT_FOUND, -1, "%s: no class files in it", spec);
	return SOURCE_EMPTY;
}

/* All names that the layers show begin with that of the lowest. */
static size_t place_length(const struct source *s)
{
	const struct layer *l = s->top;

	while (l->below)
		l = l->below;
	return strlen(l->shown);
}

int source_next(struct source *s, struct source_class *out, struct fault *f)
{
	int rc;

	*f = (struct fault){ 0 };
	for (;;) {
		if (!s->top) {
			if (s->at == s->n_specs)
				return 0;
			arena_reset(&s->mem);
			s->want_here = NULL;
			s->found = false;
			rc = push_spec(s, s->specs[s->at], f);
			if (rc < 0) {
				s->at++;
				return rc;
			}
		}
		rc = s->top->next(s, s->top, out, f);
		if (rc == LAYER_AGAIN)
			continue;
		if (rc != 0) {
			s->found = true;
			if (rc > 0)
				out->inside = out->shown + place_length(s);
			return rc;
		}
		layer_pop(s);
		if (!s->top) {
			s->at++;
			if (!s->found)
				return nothing_found(s, s->specs[s->at - 1], f);
		}
	}
}

struct source *source_open(char *const *specs, size_t n)
{
	struct source *s = mem_alloc(sizeof(*s));

	if (s)
		*s = (struct source){ .specs = specs, .n_specs = n };
	return s;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	while (s->top)
		layer_pop(s);
	arena_release(&s->mem);
	buf_release(&s->bytes);
	buf_release(&s->text);
	mem_free((char *)(uintptr_t)s->want);
	mem_free(s);
}

void source_want(struct source *s, const char *pattern)
{
	size_t n = strlen(pattern);
	char *p = mem_alloc(n + 1);

	if (!p)
		return;
	memcpy(p, pattern, n + 1);
	if (ends_with(p, ".class"))
		p[n - 6] = '\0';
	if (!strchr(p, '/'))
		for (char *dot = p; (dot = strchr(dot, '.'));)
			*dot = '/';
	s->want = p;
}

static double layer_fraction(const struct layer *l, double inside)
{
	double f = inside;

	for (; l; l = l->below)
		f = l->n ? ((double)(l->at ? l->at - 1 : 0) + f) / (double)l->n : 0;
	return f;
}

double source_fraction(const struct source *s)
{
	double here = s->top ? layer_fraction(s->top, 1) : 0;

	return s->n_specs ? ((double)s->at + here) / (double)s->n_specs : 1;
}
