/* SPDX-License-Identifier: Apache-2.0 */
/* walk_frame.c - Java methods can be hooked; native functions of a JVM are told by samples alone. */
#define _GNU_SOURCE /* memrchr() */
#include "cli/walk/walk_frame.h"

#include "base/mem.h"
#include "plan/walk/roots.h"
#include "wire/wire.h"

static struct slice base_of(struct slice path)
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

static unsigned flags_of(const struct profile_frame *f)
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
		return CALLER_NATIVE | CALLER_NO_HOOK | (is_system(f->file) ? CALLER_LIBRARY : 0) |
		       (is_carrier(base_of(f->file)) ? CALLER_INNER : 0);
	default:
		return CALLER_INNER;
	}
}

int walk_frame_all(const struct profile *p, struct climb_frame *of, struct buf *names)
{
	size_t *at = mem_alloc((p->n_frames + 1) * sizeof(*at));

	if (!at)
		return E_NO_MEMORY;
	for (size_t i = 0; i < p->n_frames; i++) {
		const struct profile_frame *f = &p->frames[i];

		of[i] = (struct climb_frame){ f->name, flags_of(f) };
		at[i] = names->n;
		if (of[i].flags & CALLER_NATIVE)
			buf_printf(names, "%.*s::%.*s", SLICE_FMT(base_of(f->file)),
				   SLICE_FMT(f->name));
		of[i].name.n = of[i].flags & CALLER_NATIVE ? names->n - at[i] : f->name.n;
	}
	for (size_t i = 0; i < p->n_frames; i++)
		if (of[i].flags & CALLER_NATIVE)
			of[i].name.p = names->p + at[i];
	mem_free(at);
	return names->err ? E_NO_MEMORY : 0;
}
