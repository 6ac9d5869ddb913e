/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.c - reads maps, then each file once. */
#define _GNU_SOURCE /* memmem() */
#include "inject/libraries.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/proc.h"

enum { MAPS_MAX = 32 << 20, READ_N = 1 << 20 };

static const off_t file_max = (off_t)1 << 30;

/* ---- files -------------------------------------------------------------------------------- */

static bool is_same_file(int fd, uint64_t inode, struct stat *st)
{
	return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_ino == inode &&
	       st->st_size <= file_max;
}

/* The mapping itself leads to the file even when it was replaced, but only for the privileged. */
static int open_mapped(pid_t pid, const struct mapping *m, struct stat *st)
{
	char path[4300];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)m->lo,
		 (unsigned long long)m->hi);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && m->path.n < 4096) {
		snprintf(path, sizeof(path), "/proc/%d/root%.*s", pid, SLICE_FMT(m->path));
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	if (fd >= 0 && !is_same_file(fd, m->inode, st)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A copy, since a file that somebody cuts off would fault where it is mapped. */
static void read_file(pid_t pid, const struct mapping *m, struct buf *out)
{
	struct stat st;
	int fd = open_mapped(pid, m, &st);
	uint8_t *to;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && out->n < (size_t)st.st_size && (to = buf_room(out, READ_N))) {
		n = pread(fd, to, READ_N, (off_t)out->n);
		out->n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
}

static void read_memory(int mem, const struct mapping *m, struct buf *out)
{
	size_t n = m->hi - m->lo < READ_N ? (size_t)(m->hi - m->lo) : 0;
	uint8_t *to = n ? buf_room(out, n) : NULL;

	if (to && pread(mem, to, n, (off_t)m->lo) == (ssize_t)n)
		out->n += n;
}

/* ---- the list ----------------------------------------------------------------------------- */

static bool is_code(const struct mapping *m)
{
	return m->path.n && (m->path.p[0] == '/' || slice_is(m->path, "[vdso]"));
}

static struct library_file *find(const struct libraries *l, const struct mapping *m)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->all[i].inode == m->inode && slice_eq(slice_str(l->all[i].path), m->path))
			return &l->all[i];
	return NULL;
}

static struct library_file *add(struct libraries *l, const struct mapping *m)
{
	struct library_file f = { .inode = m->inode, .lo = m->lo, .hi = m->hi };

	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 32;
		void *p = mem_realloc(l->all, cap * sizeof(l->all[0]));

		if (!p)
			return NULL;
		l->all = p;
		l->cap = cap;
	}
	f.path = mem_alloc(m->path.n + 1);
	if (!f.path)
		return NULL;
	memcpy(f.path, m->path.p, m->path.n);
	f.path[m->path.n] = '\0';
	l->all[l->n] = f;
	return &l->all[l->n++];
}

static enum library_role role_of(const struct library_file *f)
{
	const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
	static const char *const libc[] = { "libc.so", "libc-", "libpthread", "libdl." };

	if (strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0)
		return LIBRARY_LOADER;
	for (size_t i = 0; i < COUNT(libc); i++)
		if (strncmp(name, libc[i], strlen(libc[i])) == 0)
			return LIBRARY_LIBC;
	return libraries_symbol(f, "malloc") ? LIBRARY_MEMORY : LIBRARY_OTHER;
}

static int settle(struct library_file *f, const struct mapping *m)
{
	uint64_t addr = m->offset;

	if (image_open(&f->image, buf_slice(&f->bytes)) < 0) {
		f->image = (struct image){ 0 };
		return 0;
	}
	if (!image_address(&f->image, m->offset, &addr))
		addr = m->offset;
	f->bias = m->lo - addr;
	f->role = role_of(f);
	return f->role == LIBRARY_OTHER ? 0 : functions_build(&f->names, &f->image, NULL);
}

static int read_all(struct libraries *l)
{
	struct slice rest = buf_slice(&l->maps);
	struct mapping m;

	while (modules_next_mapping(&rest, &m)) {
		struct library_file *f = is_code(&m) ? find(l, &m) : NULL;

		if (f)
			f->hi = m.hi;
		if (!is_code(&m) || (!f && !(f = add(l, &m))))
			continue;
		if (!m.executable || f->bytes.n)
			continue;
		if (m.inode)
			read_file(l->pid, &m, &f->bytes);
		else
			read_memory(l->mem, &m, &f->bytes);
		if (settle(f, &m) < 0)
			return E_NO_MEMORY;
	}
	return 0;
}

static bool fetch(void *ctx, const struct mapping *map, struct slice *file)
{
	const struct library_file *f = find(ctx, map);

	*file = f ? buf_slice(&f->bytes) : (struct slice){ 0 };
	return file->n != 0;
}

static void drop(void *ctx, struct slice file)
{
	(void)ctx, (void)file;
}

int libraries_read(struct libraries *l, pid_t pid, int mem, struct fault *f)
{
	struct modules_source source = { fetch, drop, l };

	*l = (struct libraries){ .pid = pid, .mem = mem };
	if (proc_read(pid, "maps", MAPS_MAX, &l->maps) < 0)
		return fault_set(f, E_IO, -1, "its memory may not be looked at: do this as root");
	if (read_all(l) < 0 || modules_build(&l->modules, buf_slice(&l->maps), &source, NULL) < 0)
		return fault_no_memory(f);
	return 0;
}

int libraries_update(struct libraries *l, struct fault *f)
{
	buf_clear(&l->maps);
	if (proc_read(l->pid, "maps", MAPS_MAX, &l->maps) < 0)
		return fault_set(f, E_IO, -1, "its memory may not be looked at: do this as root");
	return read_all(l) < 0 ? fault_no_memory(f) : 0;
}

void libraries_release(struct libraries *l)
{
	for (size_t i = 0; i < l->n; i++) {
		functions_release(&l->all[i].names);
		buf_release(&l->all[i].bytes);
		mem_free(l->all[i].path);
	}
	mem_free(l->all);
	modules_release(&l->modules);
	buf_release(&l->maps);
	*l = (struct libraries){ .mem = -1 };
}

bool libraries_changed(const struct libraries *l)
{
	struct buf now = { 0 };
	bool changed = proc_read(l->pid, "maps", MAPS_MAX, &now) < 0 ||
		       modules_digest(buf_slice(&now)) != modules_digest(buf_slice(&l->maps));

	buf_release(&now);
	return changed;
}

/* ---- looking up --------------------------------------------------------------------------- */

const struct library_file *libraries_at(const struct libraries *l, uint64_t address)
{
	const struct module *m = modules_find(&l->modules, address);

	for (size_t i = 0; m && i < l->n; i++)
		if (l->all[i].inode == m->file->inode && strcmp(l->all[i].path, m->file->path) == 0)
			return &l->all[i];
	return NULL;
}

uint64_t libraries_symbol(const struct library_file *f, const char *name)
{
	struct image_section table, names;
	struct slice text;
	Elf64_Sym s;

	if (!image_find(&f->image, ".dynsym", &table) ||
	    !image_section(&f->image, table.link, &names))
		return 0;
	for (size_t at = 0; at + sizeof(s) <= table.bytes.n; at += sizeof(s)) {
		memcpy(&s, table.bytes.p + at, sizeof(s));
		if (s.st_shndx != SHN_UNDEF && s.st_value &&
		    image_text(names.bytes, s.st_name, &text) && slice_is(text, name))
			return f->bias + s.st_value;
	}
	return 0;
}

uint64_t libraries_code(const struct library_file *f, struct slice bytes)
{
	Elf64_Phdr p;

	for (unsigned i = 0; image_segment(&f->image, i, &p); i++) {
		struct slice code = image_at(&f->image, p.p_vaddr);
		const uint8_t *found;

		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X) || code.n > p.p_filesz)
			continue;
		found = memmem(code.p, code.n, bytes.p, bytes.n);
		if (found)
			return f->bias + p.p_vaddr + (uint64_t)(found - code.p);
	}
	return 0;
}
