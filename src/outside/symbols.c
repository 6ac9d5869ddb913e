/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.c - a file is read whole into memory of our own: one that is cut off while it is mapped
 * would end us. */
#include "outside/symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/cxx_name.h"
#include "elf/rust_name.h"
#include "elf/functions.h"

enum { FILE_MAX = 1 << 30, PATH_CAP = 4096, NAME_CAP = 4096 };
#define FILES_MAX ((size_t)8 << 30) /* bytes of all: an agent may name one file in many ways */

struct symbol_file {
	struct buf bytes, debug_bytes;
	struct functions functions;
	struct slice base; /* its name without folders */
};

void symbols_init(struct symbols *s, pid_t pid)
{
	*s = (struct symbols){ .pid = pid, .left = FILES_MAX };
	arena_init(&s->mem);
}

void symbols_release(struct symbols *s)
{
	for (struct map_slot *m = NULL; (m = map_next(&s->files, m));) {
		struct symbol_file *f = (struct symbol_file *)m->value;

		functions_release(&f->functions);
		buf_release(&f->bytes);
		buf_release(&f->debug_bytes);
	}
	map_release(&s->files);
	arena_release(&s->mem);
}

static bool read_all(const char *path, size_t most, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	uint8_t *p;
	ssize_t n = 1;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < FILE_MAX &&
	    (size_t)st.st_size < most)
		while (n > 0 && out->n < FILE_MAX && (p = buf_room(out, 1 << 20))) {
			n = read(fd, p, 1 << 20);
			out->n += n > 0 ? (size_t)n : 0;
		}
	if (fd >= 0)
		close(fd);
	return n == 0 && !out->err;
}

/* Ours is the same as everybody's; it ends with its table of sections. */
static bool read_vdso(struct buf *out)
{
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (vdso)
		buf_bytes(out, vdso, vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize);
	return vdso && !out->err;
}

/* /proc/PID/root/PATH, or PATH here when that cannot be read. */
static bool read_file(const struct symbols *s, struct slice path, struct buf *out)
{
	char text[PATH_CAP];

	if (slice_is(path, "[vdso]"))
		return read_vdso(out);
	snprintf(text, sizeof(text), "/proc/%d/root%.*s", (int)s->pid, SLICE_FMT(path));
	if (read_all(text, s->left, out))
		return true;
	snprintf(text, sizeof(text), "%.*s", SLICE_FMT(path));
	buf_clear(out);
	return read_all(text, s->left, out);
}

static bool read_debug(const struct symbols *s, const char *path, struct buf *out,
		       struct image *image)
{
	buf_clear(out);
	return read_file(s, slice_str(path), out) && image_open(image, buf_slice(out)) >= 0;
}

/* The file with the debugging symbols, by build id, or beside the file, by its link. */
static bool find_debug(const struct symbols *s, const struct image *image, struct slice path,
		       struct buf *out, struct image *debug)
{
	struct slice id = image_build_id(image), link;
	size_t folder = path.n;
	char text[PATH_CAP];
	uint32_t crc;
	int n;

	if (id.n > 2 && id.n <= 64) {
		n = snprintf(text, sizeof(text), "/usr/lib/debug/.build-id/%02x/", id.p[0]);
		for (size_t i = 1; i < id.n; i++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x", id.p[i]);
		snprintf(text + n, sizeof(text) - (size_t)n, ".debug");
		if (read_debug(s, text, out, debug))
			return true;
	}
	while (folder && path.p[folder - 1] != '/')
		folder--;
	if (!image_debug_link(image, &link, &crc))
		return false;
	snprintf(text, sizeof(text), "%.*s%.*s", (int)folder, (const char *)path.p,
		 SLICE_FMT(link));
	if (read_debug(s, text, out, debug))
		return true;
	snprintf(text, sizeof(text), "/usr/lib/debug%.*s%.*s", (int)folder, (const char *)path.p,
		 SLICE_FMT(link));
	return read_debug(s, text, out, debug);
}

static void load(struct symbols *s, struct slice path, struct symbol_file *f)
{
	struct image image, debug;
	bool has_debug;

	if (!read_file(s, path, &f->bytes) || image_open(&image, buf_slice(&f->bytes)) < 0)
		return;
	has_debug = find_debug(s, &image, path, &f->debug_bytes, &debug);
	s->left -= f->bytes.n + f->debug_bytes.n < s->left ? f->bytes.n + f->debug_bytes.n
							   : s->left;
	if (functions_build(&f->functions, &image, has_debug ? &debug : NULL) < 0)
		f->functions = (struct functions){ 0 };
}

static struct symbol_file *file_of(struct symbols *s, struct slice path)
{
	uintptr_t *place = map_get(&s->files, path);
	struct symbol_file *f;
	struct slice kept;

	if (place)
		return (struct symbol_file *)*place;
	f = arena_zero(&s->mem, sizeof(*f));
	kept = arena_dup(&s->mem, path);
	place = f && kept.p ? map_put(&s->files, kept, NULL) : NULL;
	if (!place)
		return NULL;
	*place = (uintptr_t)f;
	f->base = kept;
	for (size_t i = 0; i < kept.n; i++)
		if (kept.p[i] == '/')
			f->base = (struct slice){ kept.p + i + 1, kept.n - i - 1 };
	load(s, path, f);
	return f;
}

/* C++'s library is not one of ours, but most machines have it. */
static char *demangled(const char *name)
{
	static char *(*demangle)(const char *, char *, size_t *, int *);
	static bool asked;
	int status = -1;
	char *text;

	if (!asked) {
		void *lib = dlopen("libstdc++.so.6", RTLD_LAZY);

		*(void **)&demangle = lib ? dlsym(lib, "__cxa_demangle") : NULL;
		asked = true;
	}
	if (!demangle || strncmp(name, "_Z", 2) != 0 || !cxx_name_is_modest(slice_str(name)))
		return NULL;
	text = demangle(name, NULL, NULL, &status);
	return status == 0 ? text : NULL;
}

static void put_name(struct slice name, bool raw, struct buf *out)
{
	char text[NAME_CAP], *plain;

	if (!raw && rust_name_put(out, name))
		return;
	snprintf(text, sizeof(text), "%.*s", SLICE_FMT(name));
	plain = raw ? NULL : demangled(text);
	buf_text(out, plain ? plain : text);
	free(plain);
}

void symbols_put(struct symbols *s, struct slice path, uint64_t address, struct buf *out)
{
	const struct symbol_file *f = file_of(s, path);
	const struct function *fn = f ? functions_find(&f->functions, address) : NULL;

	if (fn && fn->name.n)
		put_name(fn->name, s->raw, out);
	else
		buf_printf(out, "%.*s+0x%llx", SLICE_FMT(f ? f->base : path),
			   (unsigned long long)(fn ? fn->addr : address));
	if (fn && fn->is_plt)
		buf_text(out, "@plt");
}

bool symbols_find(struct symbols *s, struct slice path, struct slice name, uint64_t *address)
{
	const struct symbol_file *f = file_of(s, path);
	const struct function *fn = f ? functions_named(&f->functions, name) : NULL;

	if (fn)
		*address = fn->addr;
	return fn != NULL;
}
