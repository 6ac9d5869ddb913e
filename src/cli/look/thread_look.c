/* SPDX-License-Identifier: Apache-2.0 */
/* thread_look.c - two looks at the threads of a JVM, compared.
 *
 * A deadlock is a ring of threads each of which waits for what the next one holds.  Within one look
 * that need not be so, since threads are asked one after the other.  Between two looks a thread that
 * waits for the same lock of the same holder, and has hardly run, did not get on; a ring of such
 * threads is there to stay. */
#include "cli/look/thread_look.h"

#include <stdlib.h>

#include "base/map.h"

/* A thread that waits for a monitor looks again from time to time. */
#define IDLE_SHARE 0.01

void thread_look_init(struct thread_look *s)
{
	*s = (struct thread_look){ 0 };
	arena_init(&s->mem);
}

void thread_look_release(struct thread_look *s)
{
	buf_release(&s->rows);
	arena_release(&s->mem);
}

static struct thread_seen **rows_of(const struct thread_look *s)
{
	return (struct thread_seen **)(void *)s->rows.p;
}

void thread_look_take(struct thread_look *s, const struct wire_thread *row)
{
	struct thread_seen *t = arena_zero(&s->mem, sizeof(*t));
	struct slice *texts[] = { &t->row.name, &t->row.group, &t->row.lock, &t->row.holder_name,
				  &t->row.frames };

	if (!t) {
		s->err = E_NO_MEMORY;
		return;
	}
	t->row = *row;
	for (size_t i = 0; i < COUNT(texts); i++) {
		*texts[i] = arena_dup(&s->mem, *texts[i]);
		if (!texts[i]->p)
			s->err = E_NO_MEMORY;
	}
	buf_bytes(&s->rows, &t, sizeof(t));
	s->err = s->rows.err ? s->rows.err : s->err;
	s->n = s->rows.n / sizeof(t);
}

bool thread_frame(struct slice *frames, struct slice *name, struct slice *line)
{
	return wire_fact(frames, name, line);
}

const char *thread_state_text(unsigned state)
{
	static const char *const texts[THREAD_STATES] = { "runs",  "native", "blocked",
							  "waits", "parked", "sleeps" };

	return state < THREAD_STATES ? texts[state] : "?";
}

/* ---- by number ---- */

static struct slice key_of(const uint64_t *number)
{
	return (struct slice){ (const uint8_t *)number, sizeof(*number) };
}

static struct thread_seen *numbered(const struct map *m, const uint64_t *number)
{
	uintptr_t *at = *number ? map_get(m, key_of(number)) : NULL;

	return at ? (struct thread_seen *)*at : NULL;
}

static int index_rows(const struct thread_look *s, struct map *m)
{
	map_init(m);
	for (size_t i = 0; i < s->n; i++) {
		struct thread_seen *t = rows_of(s)[i];
		uintptr_t *at = map_put(m, key_of(&t->row.number), NULL);

		if (!at)
			return E_NO_MEMORY;
		*at = (uintptr_t)t;
	}
	return 0;
}

/* ---- what has become of each ---- */

static bool stands(const struct thread_seen *now, const struct thread_seen *before,
		   uint64_t wall_ns)
{
	return before && now->row.lock.n && slice_eq(now->row.lock, before->row.lock) &&
	       now->row.holder == before->row.holder && now->cpu_known &&
	       (double)now->cpu_ns < IDLE_SHARE * (double)wall_ns;
}

/* `holder` is who a thread has been standing behind, so that only real rings are left. */
static void compare_one(struct thread_seen *t, const struct map *now, const struct map *before,
			uint64_t wall_ns)
{
	struct thread_seen *old = numbered(before, &t->row.number);
	uint64_t since = old && !(old->row.flags & THREAD_NO_CPU) ? old->row.cpu_ns : 0;

	t->cpu_known = !(t->row.flags & THREAD_NO_CPU);
	t->cpu_ns = t->cpu_known && t->row.cpu_ns > since ? t->row.cpu_ns - since : 0;
	if (stands(t, old, wall_ns))
		t->holder = numbered(now, &t->row.holder);
}

static void find_deadlocks(struct thread_look *s)
{
	unsigned walk = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct thread_seen *t = rows_of(s)[i], *u;

		for (walk++; t && !t->mark; t = t->holder)
			t->mark = walk;
		if (!t || t->mark != walk || t->holder == t)
			continue;
		s->deadlocks++;
		u = t;
		do
			u->deadlock = s->deadlocks;
		while ((u = u->holder) != t);
	}
}

/* ---- groups ---- */

static int by_size(const void *a, const void *b)
{
	const struct thread_group *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return x->cpu_ns < y->cpu_ns ? 1 : x->cpu_ns > y->cpu_ns ? -1 : 0;
}

static struct thread_group *group_of(struct thread_look *s, struct map *m, struct buf *key,
				     const struct thread_seen *t)
{
	uintptr_t *at;
	bool fresh;
	struct slice kept;

	buf_clear(key);
	buf_u8(key, t->row.state);
	buf_put(key, t->row.frames);
	kept = key->err ? (struct slice){ NULL, 0 } : arena_dup(&s->mem, buf_slice(key));
	at = kept.p ? map_put(m, kept, &fresh) : NULL;
	if (!at)
		return NULL;
	if (fresh)
		*at = s->n_groups++;
	return &s->groups[*at];
}

static int make_groups(struct thread_look *s)
{
	struct buf key = { 0 };
	struct map m;
	int rc = 0;

	map_init(&m);
	s->groups = arena_zero(&s->mem, (s->n + 1) * sizeof(*s->groups));
	for (size_t i = 0; s->groups && i < s->n; i++) {
		struct thread_seen *t = rows_of(s)[i];
		struct thread_group *g = group_of(s, &m, &key, t);

		if (!g) {
			rc = E_NO_MEMORY;
			break;
		}
		t->group = (unsigned)(g - s->groups);
		g->first = g->first ? g->first : t;
		g->n++;
		g->cpu_ns += t->cpu_ns;
	}
	map_release(&m);
	buf_release(&key);
	return s->groups ? rc : E_NO_MEMORY;
}

/* ---- the order in which they are shown ---- */

static unsigned trouble(const struct thread_seen *t)
{
	return t->deadlock ? 2 : t->row.state == THREAD_BLOCKED;
}

static int by_interest(const void *a, const void *b)
{
	const struct thread_seen *x = *(struct thread_seen *const *)a,
				 *y = *(struct thread_seen *const *)b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	if (trouble(x) != trouble(y))
		return trouble(x) < trouble(y) ? 1 : -1;
	return x->row.number < y->row.number ? -1 : x->row.number > y->row.number;
}

int thread_look_compare(struct thread_look *s, const struct thread_look *before, uint64_t wall_ns)
{
	struct map now, then;
	int rc = index_rows(s, &now);

	if (index_rows(before, &then) < 0)
		rc = E_NO_MEMORY;
	for (size_t i = 0; rc >= 0 && i < s->n; i++)
		compare_one(rows_of(s)[i], &now, &then, wall_ns);
	if (rc >= 0) {
		find_deadlocks(s);
		rc = make_groups(s);
	}
	map_release(&now);
	map_release(&then);
	if (rc < 0 || s->err)
		return E_NO_MEMORY;
	s->v = rows_of(s);
	if (!s->n)
		return 0;
	qsort(s->v, s->n, sizeof(*s->v), by_interest);
	for (size_t i = 0; i < s->n; i++)
		s->v[i]->group = s->groups[s->v[i]->group].n; /* how many are there with it */
	qsort(s->groups, s->n_groups, sizeof(*s->groups), by_size);
	return 0;
}

/* ---- one of them ---- */

static bool contains(struct slice name, struct slice part)
{
	for (size_t i = 0; part.n && i + part.n <= name.n; i++)
		if (memcmp(name.p + i, part.p, part.n) == 0)
			return true;
	return false;
}

struct thread_seen *thread_look_find(const struct thread_look *s, const char *text, bool *several)
{
	struct thread_seen *best = NULL;
	unsigned fit = 0, n = 0;
	char *end;
	uint64_t number = strtoull(*text == '#' ? text + 1 : text, &end, 10);

	number = *end ? 0 : number;
	for (size_t i = 0; i < s->n; i++) {
		struct thread_seen *t = rows_of(s)[i];
		unsigned f = number && t->row.number == number	      ? 3
			     : slice_is(t->row.name, text)	      ? 2
			     : contains(t->row.name, slice_str(text)) ? 1
								      : 0;

		n = f > fit ? 0 : n;
		best = f > fit ? t : best;
		fit = f > fit ? f : fit;
		n += f && f == fit;
	}
	*several = n > 1;
	return n == 1 ? best : NULL;
}
