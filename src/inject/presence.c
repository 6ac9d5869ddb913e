/* SPDX-License-Identifier: Apache-2.0 */
/* presence.c - reads the library's own account of itself (native/attached.h), and looks at stacks.
 *
 * A stack that can be followed to its end is judged by its frames.  Others, as those of Java methods, are
 * judged by their words.  Sonde's code calls nothing but hooked functions, and such calls are counted: so
 * a thread that is not in that code itself comes back to it from a signal handler alone.  Where the words
 * show one, each of them is looked at: an address that was left there by a call long ago counts
 * then, too. */
#include "inject/presence.h"

#include <stdio.h>

#include "base/mem.h"
#include "inject/backtrace.h"
#include "jvm/proc.h"

enum {
	RANGES_MAX = 1 << 16,
	ENTRIES_MAX = 1 << 16,
	MAPS_MAX = 32 << 20,
	STACK_MAX = 16 << 20,
	PART = 1 << 14
};

const struct library_file *presence_library(const struct libraries *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (libraries_symbol(&l->all[i], NATIVE_STATE))
			return &l->all[i];
	return NULL;
}

bool presence_state(const struct libraries *l, const struct tracee *t, struct native_state *out)
{
	const struct library_file *lib = presence_library(l);

	return lib && tracee_read(t, libraries_symbol(lib, NATIVE_STATE), out, sizeof(*out));
}

int presence_read(struct presence_view *p, const struct libraries *l, const struct tracee *t,
		  struct fault *f)
{
	const struct library_file *lib = presence_library(l);

	*p = (struct presence_view){ .library = { lib->lo, lib->hi - lib->lo } };
	if (!presence_state(l, t, &p->state))
		return fault_set(f, E_IO, -1, "the library in it cannot be read");
	if (p->state.version != NATIVE_STATE_VERSION || p->state.n_ranges > RANGES_MAX)
		return fault_set(f, E_UNSUPPORTED, -1,
				 "the library in it is of another version of Sonde");
	p->n = (size_t)p->state.n_ranges;
	p->ranges = mem_alloc((p->n + 1) * sizeof(p->ranges[0]));
	p->path = mem_alloc(strlen(lib->path) + 1);
	if (!p->ranges || !p->path)
		return fault_no_memory(f);
	memcpy(p->path, lib->path, strlen(lib->path) + 1);
	if (p->n && !tracee_read(t, p->state.ranges, p->ranges, p->n * sizeof(p->ranges[0])))
		return fault_set(f, E_IO, -1, "the library in it cannot be read");
	return 0;
}

void presence_release(struct presence_view *p)
{
	mem_free(p->ranges);
	mem_free(p->path);
	*p = (struct presence_view){ .n = 0 };
}

unsigned presence_open_calls(const struct presence_view *p, const struct tracee *t)
{
	uint64_t word;
	unsigned n = 0;

	for (uint32_t i = 0; i < p->state.n_entries && i < ENTRIES_MAX; i++)
		n += tracee_read(t, p->state.entries + i * p->state.entry_n, &word, sizeof(word)) &&
		     word;
	return n;
}

bool presence_must_stay(const struct presence_view *p, char *why, size_t cap)
{
	if (p->state.phase != NATIVE_IDLE)
		snprintf(why, cap, "its agent still runs");
	else if (p->state.stuck)
		snprintf(why, cap, "something of it could not be taken out");
	else if (!p->state.handle)
		snprintf(why, cap, "it was there from the start (LD_PRELOAD)");
	else
		return false;
	return true;
}

/* ---- stacks ------------------------------------------------------------------------------- */

static bool touches(const struct presence_view *p, uint64_t address)
{
	if (address - p->library.at < p->library.n)
		return true;
	for (size_t i = 0; i < p->n; i++)
		if (address - p->ranges[i].at < p->ranges[i].n)
			return true;
	return false;
}

static uint64_t end_of_stack(const struct libraries *l, uint64_t sp)
{
	struct slice maps = buf_slice(&l->maps);
	struct mapping m;

	while (modules_next_mapping(&maps, &m))
		if (sp < m.hi && (sp >= m.lo || slice_is(m.path, "[stack]")))
			return m.hi;
	return 0;
}

/* What is looked for in a stack. */
struct search {
	const struct presence_view *p;
	const struct libraries *l;
};

typedef bool word_test(const struct search *s, uint64_t word);

static bool is_ours(const struct search *s, uint64_t word)
{
	return touches(s->p, word);
}

/* Where a signal handler returns to. */
static bool is_handlers_return(const struct search *s, uint64_t word)
{
	const struct library_file *f = libraries_at(s->l, word);

	return f && slice_starts(image_at(&f->image, word - f->bias), sigframe_return_code());
}

/* True also where it cannot be read. */
static bool any_word(const struct search *s, const struct tracee *t, uint64_t sp, uint64_t end,
		     word_test *is)
{
	uint64_t words[PART / 8];

	for (uint64_t at = sp & ~UINT64_C(7); at < end; at += PART) {
		size_t n = end - at < PART ? (size_t)(end - at) : PART;

		if (!tracee_read(t, at, words, n))
			return true;
		for (size_t i = 0; i < n / 8; i++)
			if (words[i] && is(s, words[i]))
				return true;
	}
	return false;
}

bool presence_is_clear(const struct presence_view *p, const struct tracee *t,
		       const struct tracee_thread *th, const struct libraries *l)
{
	struct walk_regs r = sigframe_walk_regs(&th->regs);
	const struct search s = { p, l };
	struct backtrace b;
	uint64_t end;

	if (touches(p, r.pc) || touches(p, r.link))
		return false;
	backtrace_take(t, th, l, &b);
	for (unsigned i = 0; i < b.n; i++)
		if (touches(p, b.at[i]) || touches(p, b.at[i] + 1))
			return false;
	if (b.end == WALK_WHOLE)
		return true;
	end = end_of_stack(l, r.sp);
	if (end <= r.sp || end - r.sp >= STACK_MAX)
		return false;
	return !any_word(&s, t, r.sp - INJECT_BELOW, end, is_handlers_return) ||
	       !any_word(&s, t, r.sp - INJECT_BELOW, end, is_ours);
}

/* ---- afterwards --------------------------------------------------------------------------- */

static bool is_of(const struct presence_view *p, const struct mapping *m)
{
	if (slice_eq(m->path, slice_str(p->path)))
		return true;
	for (size_t i = 0; m->executable && !m->inode && i < p->n; i++)
		if (m->lo < p->ranges[i].at + p->ranges[i].n && p->ranges[i].at < m->hi)
			return true;
	return false;
}

bool presence_is_gone(const struct presence_view *p, pid_t pid, char *why, size_t cap)
{
	struct buf maps = { 0 };
	struct slice rest;
	struct mapping m;
	bool gone = proc_read(pid, "maps", MAPS_MAX, &maps) >= 0;

	rest = buf_slice(&maps);
	while (gone && modules_next_mapping(&rest, &m))
		gone = !is_of(p, &m);
	if (!gone)
		snprintf(why, cap, "the dynamic linker keeps it");
	buf_release(&maps);
	return gone;
}
