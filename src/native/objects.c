/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c - asks the dynamic linker what is loaded, and reads the files. */
#include "native/objects.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "native/native.h"

static char *copy_text(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = mem_alloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The program itself has no name in the dynamic linker's list. */
static void path_of(const struct dl_phdr_info *info, char path[4096])
{
	ssize_t n;

	if (info->dlpi_name && info->dlpi_name[0]) {
		snprintf(path, 4096, "%s", info->dlpi_name);
		return;
	}
	n = readlink("/proc/self/exe", path, 4095);
	path[n < 0 ? 0 : n] = '\0';
}

static void find_code(struct object *m, const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (!m->high)
			m->low = m->bias + p->p_vaddr;
		m->high = m->bias + p->p_vaddr + p->p_memsz;
	}
}

static const char *judge(const struct object *m)
{
	if ((uintptr_t)native_stubs - m->low < m->high - m->low ||
	    strncmp(m->name, "libsonde", 8) == 0)
		return "it is Sonde's";
	if (strncmp(m->name, "ld-linux", 8) == 0 || strncmp(m->name, "ld-musl", 7) == 0)
		return "it belongs to the dynamic linker";
	if (strncmp(m->name, "linux-vdso", 10) == 0)
		return "it belongs to the kernel";
	return NULL;
}

static int add(struct dl_phdr_info *info, size_t size, void *to)
{
	struct objects *all = to;
	struct object m = { .bias = info->dlpi_addr,
			    .segments = info->dlpi_phdr,
			    .n_segments = info->dlpi_phnum };
	char path[4096];

	(void)size;
	if (all->n == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : 32;
		void *p = mem_realloc(all->all, cap * sizeof(all->all[0]));

		if (!p)
			return E_NO_MEMORY;
		all->all = p;
		all->cap = cap;
	}
	m.is_program = !info->dlpi_name || !info->dlpi_name[0];
	path_of(info, path);
	find_code(&m, info);
	m.path = copy_text(path);
	m.name = copy_text(file_name(path));
	if (!m.path || !m.name) {
		mem_free(m.path);
		mem_free(m.name);
		return E_NO_MEMORY;
	}
	m.why = judge(&m);
	all->all[all->n++] = m;
	return 0;
}

int objects_read(struct objects *m)
{
	*m = (struct objects){ 0 };
	return dl_iterate_phdr(add, m);
}

void objects_release(struct objects *m)
{
	for (size_t i = 0; i < m->n; i++) {
		functions_release(&m->all[i].functions);
		unwind_release(&m->all[i].unwind);
		mem_free((void *)(uintptr_t)m->all[i].file.p);
		if (m->all[i].pin)
			dlclose(m->all[i].pin);
		mem_free(m->all[i].path);
		mem_free(m->all[i].name);
	}
	mem_free(m->all);
	*m = (struct objects){ 0 };
}

/* The program and what the kernel has put there stay anyway.  Of a library that was unloaded meanwhile,
 * and perhaps loaded elsewhere, nothing may be read. */
static bool pin(struct object *m)
{
	const struct link_map *found;

	if (m->pin || m->is_program || m->path[0] != '/')
		return true;
	m->pin = dlopen(m->path, RTLD_LAZY | RTLD_NOLOAD);
	found = m->pin;
	if (found && found->l_addr == m->bias)
		return true;
	if (m->pin)
		dlclose(m->pin);
	m->pin = NULL;
	return false;
}

/* By the system call: glibc's stat functions have new versions since 2.33. */
static int read_file(struct object *m)
{
	static const off_t most = (off_t)1 << 30;
	int fd = open(m->path, O_RDONLY | O_CLOEXEC);
	struct stat st = { .st_size = 0 };
	uint8_t *p = NULL;
	size_t at = 0;
	ssize_t n = 1;

	if (fd < 0)
		return E_NOT_FOUND;
	if (syscall(SYS_fstat, fd, &st) == 0 && st.st_size > 0 && st.st_size < most)
		p = mem_alloc((size_t)st.st_size);
	while (p && n > 0 && at < (size_t)st.st_size) {
		n = pread(fd, p + at, (size_t)st.st_size - at, (off_t)at);
		at += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (!p)
		return E_IO;
	m->file = (struct slice){ p, at };
	return 0;
}

/* Is the file the one that was loaded?  It may have been replaced since: its build id stands in
 * memory as well, where the program's own list of segments says. */
static bool is_loaded(const struct object *m)
{
	struct slice id = image_build_id(&m->image);
	const ElfW(Phdr) *p = m->segments;

	if (m->high <= m->low)
		return false;
	for (unsigned i = 0; id.n && i < m->n_segments; i++)
		if (p[i].p_type == PT_NOTE &&
		    memmem((const void *)(m->bias + p[i].p_vaddr), p[i].p_memsz, id.p, id.n))
			return true;
	return !id.n;
}

static const char *judge_file(const struct object *m)
{
	struct image_section s;

	if (image_find(&m->image, ".gopclntab", &s))
		return "it is written in Go, which moves its stacks";
	return is_loaded(m) ? NULL : "its file is another one by now";
}

int object_open(struct object *m)
{
	int rc;

	if (m->opened)
		return 0;
	if (!pin(m))
		return E_NOT_FOUND;
	rc = m->file.n ? 0 : read_file(m);
	if (rc >= 0)
		rc = image_open(&m->image, m->file);
	if (rc >= 0)
		rc = functions_build(&m->functions, &m->image, NULL);
	if (rc >= 0)
		rc = unwind_build(&m->unwind, &m->image);
	if (rc < 0)
		return rc;
	m->opened = true;
	if (!m->why)
		m->why = judge_file(m);
	return 0;
}

/* Where a call comes in, nothing but its return address is on the stack yet. */
bool object_is_inner(const struct object *m, const struct function *f)
{
	const struct unwind_row *row =
		f->addr < m->unwind.base ? NULL : unwind_find(&m->unwind, f->addr - m->unwind.base);

	if (memmem(f->name.p, f->name.n, ".cold", 5) || f->is_label)
		return true;
	if (!row || row->cfa_by == UNWIND_UNKNOWN)
		return !f->name.n; /* no symbol says that it is a function, either */
	return row->cfa_by != UNWIND_SP || row->cfa != CALL_PUSHES;
}

bool object_holds(const struct object *m, const struct function *f)
{
	uintptr_t at = m->bias + f->addr;
	Elf64_Phdr one;

	if (at < m->low || at >= m->high || f->size > m->high - at)
		return false;
	for (unsigned i = 0; image_segment(&m->image, i, &one); i++)
		if (one.p_type == PT_LOAD && one.p_flags & PF_X && f->addr >= one.p_vaddr &&
		    f->addr - one.p_vaddr < one.p_memsz &&
		    f->size <= one.p_memsz - (f->addr - one.p_vaddr))
			return true;
	return false;
}

struct object *objects_at(const struct objects *m, uintptr_t addr)
{
	for (size_t i = 0; i < m->n; i++)
		if (addr - m->all[i].low < m->all[i].high - m->all[i].low)
			return &m->all[i];
	return NULL;
}

void objects_name(const struct objects *m, uintptr_t addr, struct buf *out)
{
	struct object *in = objects_at(m, addr);
	const struct function *f;

	if (!in) {
		buf_printf(out, "0x%llx", (unsigned long long)addr);
		return;
	}
	buf_text(out, in->name);
	f = object_open(in) >= 0 ? functions_find(&in->functions, addr - in->bias) : NULL;
	if (f && f->name.n)
		buf_printf(out, "::%.*s", SLICE_FMT(f->name));
	else
		buf_printf(out, "+0x%llx", (unsigned long long)(addr - in->bias));
}
