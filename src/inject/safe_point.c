/* SPDX-License-Identifier: Apache-2.0 */
/* safe_point.c - walks the stack, and judges each frame by the file and function it is in.
 *
 * Frames of libc at the top belong together: the outermost of them is what the program called.  It
 * has a name, unless it is a function that libc chose (memcpy) or one of its own that begins a thread;
 * what lies inside has none as a rule, and is judged by what was called. */
#include "inject/safe_point.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "inject/backtrace.h"

enum { ROOM = 64 << 10, FRAME_ROOM = 20 << 10, GROWN_MB = 6 };

static bool fits(const char *pattern, struct slice name)
{
	const char *star = strchr(pattern, '*');
	size_t n = star ? (size_t)(star - pattern) : strlen(pattern);

	if (!star)
		return slice_is(name, pattern);
	return name.n >= n + strlen(star + 1) && memcmp(name.p, pattern, n) == 0 &&
	       slice_ends(name, star + 1);
}

const char *safe_point_name(struct slice name)
{
	static const struct {
		const char *name, *what;
	} all[] = {
#define X(name, what) { name, what },
#include "inject/unsafe.def"
#undef X
	};

	for (size_t i = 0; name.n && i < COUNT(all); i++)
		if (fits(all[i].name, name))
			return all[i].what;
	return NULL;
}

bool safe_point_is_wait(long syscall)
{
	static const short all[] = {
#define X(name) SYS_##name,
#include "inject/waits.def"
#undef X
#ifdef SYS_poll
		SYS_poll,   SYS_select, SYS_epoll_wait, SYS_pause,
#endif
#ifdef SYS_accept
		SYS_accept,
#endif
		441, /* epoll_pwait2 */
	};

	for (size_t i = 0; i < COUNT(all); i++)
		if (syscall == all[i])
			return true;
	return false;
}

long safe_point_syscall(const struct tracee *t, const struct tracee_thread *th)
{
	uint8_t code[2 * INJECT_CODE_BEFORE];
	uint64_t pc = sigframe_walk_regs(&th->regs).pc;
	bool have = tracee_read(t, pc - INJECT_CODE_BEFORE, code, sizeof(code));

	return sigframe_syscall(&th->regs, have ? code : NULL);
}

/* ---- frames ------------------------------------------------------------------------------- */

static struct slice name_at(const struct library_file *f, uint64_t address)
{
	const struct function *found = functions_find(&f->names, address - f->bias);

	return found && !found->is_plt ? found->name : (struct slice){ NULL, 0 };
}

__attribute__((format(printf, 2, 3))) static void bad(struct safe_point *m, const char *fmt, ...)
{
	va_list ap;

	m->good = false;
	if (m->why[0])
		return;
	va_start(ap, fmt);
	vsnprintf(m->why, sizeof(m->why), fmt, ap);
	va_end(ap);
}

/* Nothing of the whole stack may be in the way. */
static void judge_names(const struct backtrace *s, const struct libraries *l,
			struct safe_point *out)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct library_file *f = libraries_at(l, s->at[i]);
		struct slice name = f ? name_at(f, s->at[i]) : (struct slice){ NULL, 0 };
		const char *what = safe_point_name(name);

		if (f && f->role == LIBRARY_LOADER) {
			out->loads = true;
			bad(out, "is in the dynamic linker");
		} else if (what) {
			out->loads |= slice_starts(name, slice_str("dl")) ||
				      slice_starts(name, slice_str("_dl"));
			bad(out, "%s (%.*s)", what, SLICE_FMT(name));
		}
	}
}

/* The frames of libc, or of another allocator, in which the thread stands. */
static void judge_top(const struct backtrace *s, const struct libraries *l, struct safe_point *out)
{
	const struct library_file *top = libraries_at(l, s->at[0]);
	unsigned n = 0;

	if (!top) {
		bad(out, "runs code that belongs to no file");
		return;
	}
	if (top->role == LIBRARY_OTHER)
		return;
	while (n < s->n && libraries_at(l, s->at[n]) == top)
		n++;
	if (top->role == LIBRARY_MEMORY && !out->waits)
		bad(out, "is in %.80s, which hands out memory", top->path);
	else if (top->role == LIBRARY_LIBC && !name_at(top, s->at[n - 1]).n && (n > 1 || n == s->n))
		bad(out, "is in a part of libc that is not known");
}

static bool is_growing(const struct libraries *l, uint64_t sp)
{
	struct slice maps = buf_slice(&l->maps);
	struct mapping m;

	while (modules_next_mapping(&maps, &m))
		if (slice_is(m.path, "[stack]"))
			return sp < m.hi && m.hi - sp < (UINT64_C(1) << 20) * GROWN_MB;
	return false;
}

/* What is called gets the thread's own stack.  The main thread's grows, but not for us, who lay a frame
 * there. */
static bool has_room(const struct tracee *t, const struct tracee_thread *th,
		     const struct libraries *l)
{
	uint64_t sp = sigframe_walk_regs(&th->regs).sp;
	uint64_t want = is_growing(l, sp) ? FRAME_ROOM : ROOM;
	uint8_t byte;

	for (uint64_t down = 4096; down <= want; down += 4096)
		if (!tracee_read(t, sp - down, &byte, 1))
			return false;
	return true;
}

void safe_point_look(const struct tracee *t, const struct tracee_thread *th,
		     const struct libraries *l, struct safe_point *out)
{
	long syscall = safe_point_syscall(t, th);
	struct backtrace s;

	*out = (struct safe_point){ .good = true, .waits = safe_point_is_wait(syscall) };
	backtrace_take(t, th, l, &s);
	judge_names(&s, l, out);
	judge_top(&s, l, out);
	if (syscall >= 0 && !out->waits)
		bad(out, "is in system call %ld, which is not one to wait in", syscall);
	if (s.end != WALK_WHOLE)
		bad(out, "cannot be followed: %s", walk_end_text(s.end));
	if (!has_room(t, th, l))
		bad(out, "has less than %d KiB of stack left", ROOM >> 10);
	out->waits &= out->good;
}
