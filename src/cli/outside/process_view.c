/* SPDX-License-Identifier: Apache-2.0 */
/* process_view.c - a name is looked up once for each address, until something is mapped or listed anew. */
#include "cli/outside/process_view.h"

#include <elf.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jvm/proc.h"
#include "outside/anonymous.h"
#include "sample/sparse.h"
#include "sample/spot.h"

enum { MAPS_MAX = 64 << 20, LIST_MAX = 256 << 20, KERNEL_MAX = 64 << 20, NAME_LONGEST = 1 << 10 };

/* Kernel's and program's addresses are keys of one map. */
#define KERNEL_KEY ((uint64_t)SPOT_KINDS << SPOT_SHIFT)

void process_view_init(struct process_view *w, struct sampled *s, pid_t pid, pid_t ns_pid)
{
	*w = (struct process_view){ .s = s, .pid = pid, .ns_pid = ns_pid };
	arena_init(&w->mem);
}

static void forget_places(struct process_view *w)
{
	map_release(&w->places);
	map_init(&w->places);
	arena_reset(&w->mem);
}

void process_view_release(struct process_view *w)
{
	forget_places(w);
	arena_release(&w->mem);
	if (w->has_modules)
		modules_release(&w->modules);
	listed_release(&w->jit);
	listed_release(&w->kernel);
	buf_release(&w->maps);
	buf_release(&w->shown);
	buf_release(&w->vdso);
	buf_release(&w->jit_text);
	buf_release(&w->kernel_text);
}

/* ---- what is mapped ------------------------------------------------------------------------ */

/* Ours is the same as everybody's. */
static bool fetch_vdso(struct process_view *w, struct slice *file)
{
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	buf_clear(&w->vdso);
	if (vdso)
		buf_bytes(&w->vdso, vdso,
			  vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize);
	*file = buf_slice(&w->vdso);
	return vdso && !w->vdso.err;
}

/* As the process sees it, or, when its file was deleted, as it is mapped. */
static bool fetch(void *ctx, const struct mapping *map, struct slice *file)
{
	struct process_view *w = ctx;
	char path[4096];

	if (slice_is(map->path, "[vdso]"))
		return fetch_vdso(w, file);
	if (slice_is(map->path, ANONYMOUS_CODE) || map->path.n > sizeof(path) - 64)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root%.*s", (int)w->pid, SLICE_FMT(map->path));
	if (sparse_read(path, file))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)w->pid,
		 (unsigned long long)map->lo, (unsigned long long)map->hi);
	return sparse_read(path, file);
}

static void drop(void *ctx, struct slice file)
{
	if (file.p != ((const struct process_view *)ctx)->vdso.p)
		sparse_drop(file);
}

static void refresh_modules(struct process_view *w)
{
	const struct modules_source source = { fetch, drop, w };
	struct modules next;
	uint64_t digest;

	buf_clear(&w->maps);
	buf_clear(&w->shown);
	if (proc_read(w->pid, "maps", MAPS_MAX, &w->maps) < 0)
		return;
	anonymous_name_code(buf_slice(&w->maps), &w->shown);
	digest = modules_digest(buf_slice(&w->shown));
	if (w->shown.err || (w->has_modules && digest == w->digest) || !w->shown.n ||
	    modules_build(&next, buf_slice(&w->shown), &source,
			  w->has_modules ? &w->modules : NULL) < 0)
		return;
	if (w->has_modules)
		modules_release(&w->modules);
	w->modules = next;
	w->has_modules = true;
	w->digest = digest;
	forget_places(w);
}

/* ---- lists --------------------------------------------------------------------------------- */

static void refresh_jit(struct process_view *w)
{
	char name[64], path[128];
	struct stat st;

	snprintf(name, sizeof(name), "root/tmp/perf-%d.map", (int)w->ns_pid);
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)w->pid, name);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_size == w->jit_size && st.st_mtime == w->jit_time))
		return;
	w->jit_size = st.st_size;
	w->jit_time = st.st_mtime;
	listed_release(&w->jit);
	buf_clear(&w->jit_text);
	if (proc_read(w->pid, name, LIST_MAX, &w->jit_text) < 0 ||
	    !listed_add_map(&w->jit, buf_slice(&w->jit_text)))
		listed_release(&w->jit);
	listed_sort(&w->jit);
	forget_places(w);
}

static void read_kernel(struct process_view *w)
{
	struct buf *text = &w->kernel_text;
	FILE *f = fopen("/proc/kallsyms", "re");
	uint8_t *p;
	size_t n = 1;

	w->has_kernel = true;
	while (f && n && text->n < KERNEL_MAX && (p = buf_room(text, 1 << 16))) {
		n = fread(p, 1, 1 << 16, f);
		text->n += n;
	}
	if (f)
		fclose(f);
	if (!listed_add_kernel(&w->kernel, buf_slice(text)))
		listed_release(&w->kernel);
	listed_sort(&w->kernel);
}

void process_view_refresh(struct process_view *w)
{
	refresh_modules(w);
	refresh_jit(w);
}

/* ---- names --------------------------------------------------------------------------------- */

static uint32_t frame_of(struct process_view *w, uint32_t kind, struct slice name,
			 struct slice file)
{
	name.n = name.n < NAME_LONGEST ? name.n : NAME_LONGEST;
	return profile_frame(&w->s->profile,
			     &(struct profile_frame){ .name = name, .file = file, .kind = kind });
}

static uint32_t name_native(struct process_view *w, const struct module *m, uint64_t pc)
{
	struct slice path = slice_str(m->file->path);
	struct buf name = { 0 };
	uint32_t frame;

	if (slice_is(path, ANONYMOUS_CODE))
		return frame_of(w, PLACE_UNKNOWN, slice_str("generated code"), (struct slice){ 0 });
	symbols_put(&w->s->symbols, path, pc - m->bias, &name);
	frame = frame_of(w, PLACE_NATIVE, buf_slice(&name), path);
	buf_release(&name);
	return frame;
}

static uint32_t name_place(struct process_view *w, uint64_t spot)
{
	uint64_t pc = spot_address(spot) - (spot_kind(spot) == SPOT_RETURN);
	const struct module *m = w->has_modules ? modules_find(&w->modules, pc) : NULL;
	const struct listed_function *f = NULL;

	if (!m || slice_is(slice_str(m->file->path), ANONYMOUS_CODE))
		f = listed_find(&w->jit, pc);
	if (f)
		return frame_of(w, PLACE_NATIVE, f->name, slice_str("(generated)"));
	if (m)
		return name_native(w, m, pc);
	return frame_of(w, PLACE_UNKNOWN, slice_str("unknown code"), (struct slice){ 0 });
}

static uint32_t name_kernel(struct process_view *w, uint64_t address)
{
	const struct listed_function *f;

	if (!w->has_kernel)
		read_kernel(w);
	f = listed_find(&w->kernel, address);
	return frame_of(w, PLACE_KERNEL, f ? f->name : slice_str("kernel"), slice_str("[kernel]"));
}

static uint32_t known(struct process_view *w, uint64_t key,
		      uint32_t (*name)(struct process_view *, uint64_t), uint64_t what)
{
	uintptr_t *place = map_get(&w->places, (struct slice){ (const uint8_t *)&key, 8 });
	struct slice kept;
	uint32_t frame;

	if (place)
		return (uint32_t)*place;
	frame = name(w, what);
	kept = arena_dup(&w->mem, (struct slice){ (const uint8_t *)&key, 8 });
	place = kept.p ? map_put(&w->places, kept, NULL) : NULL;
	if (place)
		*place = frame;
	return frame;
}

uint32_t process_view_frame(struct process_view *w, uint64_t spot)
{
	return known(w, spot, name_place, spot);
}

uint32_t process_view_kernel_frame(struct process_view *w, uint64_t address)
{
	return known(w, spot((enum spot_kind)0, address) | KERNEL_KEY, name_kernel, address);
}
