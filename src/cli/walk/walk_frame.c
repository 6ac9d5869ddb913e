/* SPDX-License-Identifier: Apache-2.0 */
/* walk_frame.c - Java methods and native functions, and what only carries calls between them. */
#define _GNU_SOURCE /* memrchr() */
#include "cli/walk/walk_frame.h"

#include "base/mem.h"
#include "plan/walk/roots.h"
#include "wire/wire.h"

struct slice walk_frame_file(struct slice path)
{
	const uint8_t *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? (struct slice){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
}

/* Libraries that only carry calls from and to Java, or begin threads. */
static bool is_carrier(struct slice file)
{
	static const char *const files[] = { "libjvm.so",  "libjli.so", "libc.so", "libc-",
					     "libpthread", "ld-linux",	"[vdso]",  "libsonde" };

	for (size_t i = 0; i < COUNT(files); i++)
		if (slice_starts(file, slice_str(files[i])))
			return true;
	return false;
}

static bool is_system(struct slice path)
{
	static const char *const places[] = { "/usr/lib", "/lib", "/usr/local/lib", "/opt/" };

	for (size_t i = 0; i < COUNT(places); i++)
		if (slice_starts(path, slice_str(places[i])))
			return true;
	return false;
}

static bool has_name(const struct profile_frame *f)
{
	return !slice_starts(f->name, walk_frame_file(f->file));
}

/* Of a native process.  What the C library calls first, and what it runs threads by, is a frame
 * around the program's own work; some of that has no name. */
static unsigned native_flags(const struct profile_frame *f)
{
	static const char *const begin[] = { "_start", "__libc_start", "start_thread",
					     "clone",  "__clone",      "__libc_clone" };
	struct slice file = walk_frame_file(f->file);
	bool is_libc = slice_starts(file, slice_str("libc.so"));
	unsigned flags = CALLER_NATIVE | (is_system(f->file) ? CALLER_LIBRARY : 0);

	for (size_t i = 0; i < COUNT(begin); i++)
		if (slice_starts(f->name, slice_str(begin[i])))
			flags |= CALLER_FRAME;
	if (!has_name(f) && is_libc)
		flags |= CALLER_FRAME;
	if (slice_starts(file, slice_str("libsonde")) ||
	    (f->name.n > 4 && memcmp(f->name.p + f->name.n - 4, "@plt", 4) == 0))
		flags |= CALLER_INNER;
	return flags;
}

static unsigned jvm_flags(const struct profile_frame *f)
{
	return CALLER_NATIVE | (is_system(f->file) ? CALLER_LIBRARY : 0) |
	       (is_carrier(walk_frame_file(f->file)) ? CALLER_INNER : 0);
}

static unsigned flags_of(const struct profile_frame *f, bool native)
{
	switch (f->kind) {
	case PLACE_INTERPRETED:
	case PLACE_C1:
	case PLACE_C2:
	case PLACE_INLINED:
		return roots_flags(f->name);
	case PLACE_JNI:
		return roots_flags(f->name) | CALLER_NO_HOOK;
	case PLACE_NATIVE:
		return native ? native_flags(f) : jvm_flags(f);
	default:
		return CALLER_INNER;
	}
}

/* "libz.so.1::deflate"; what has no name is "libz.so.1+0x5d80" already. */
static void put_native(const struct profile_frame *f, struct buf *names)
{
	if (has_name(f))
		buf_printf(names, "%.*s::", SLICE_FMT(walk_frame_file(f->file)));
	buf_put(names, f->name);
}

int walk_frame_all(const struct profile *p, bool native, struct climb_frame *of, struct buf *names)
{
	size_t *at = mem_alloc((p->n_frames + 1) * sizeof(*at));

	if (!at)
		return E_NO_MEMORY;
	for (size_t i = 0; i < p->n_frames; i++) {
		const struct profile_frame *f = &p->frames[i];

		of[i] = (struct climb_frame){ f->name, flags_of(f, native) };
		at[i] = names->n;
		if (!(of[i].flags & CALLER_NATIVE))
			continue;
		put_native(f, names);
		of[i].name.n = names->n - at[i];
	}
	for (size_t i = 0; i < p->n_frames; i++)
		if (of[i].flags & CALLER_NATIVE)
			of[i].name.p = names->p + at[i];
	mem_free(at);
	return names->err ? E_NO_MEMORY : 0;
}
