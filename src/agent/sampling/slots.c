/* SPDX-License-Identifier: Apache-2.0 */
/* slots.c - one look goes over all threads; who was not seen in it has gone. */
#include "agent/sampling/slots.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sampling/mapped.h"
#include "agent/sampling/peek.h"

enum { INDEX = 2 * SLOTS_MAX, NONE = UINT16_MAX, YOUNG = 3 };

static struct {
	struct thread_slot *all;
	uint32_t top, n, look; /* slots ever used; threads */
	uint32_t young;	       /* looks in which the JVM may still learn of a new thread */
	pid_t own;
	uint16_t index[INDEX]; /* by tid; made anew in each look */
} slots;

bool slots_begin(void)
{
	void *p = mmap(NULL, SLOTS_MAX * sizeof(struct thread_slot), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	slots.all = p == MAP_FAILED ? NULL : p;
	slots.top = slots.n = slots.look = slots.young = 0;
	slots.own = (pid_t)syscall(SYS_gettid);
	return slots.all != NULL;
}

void slots_end(void)
{
	if (slots.all)
		munmap(slots.all, SLOTS_MAX * sizeof(struct thread_slot));
	slots.all = NULL;
	slots.top = slots.n = 0;
}

struct thread_slot *slots_at(uint32_t number)
{
	return &slots.all[number];
}

uint32_t slots_count(void)
{
	return slots.n;
}

uint32_t slots_top(void)
{
	return slots.top;
}

void slots_each(void (*visit)(struct thread_slot *s))
{
	for (uint32_t i = 0; i < slots.top; i++)
		if (slots.all[i].tid)
			visit(&slots.all[i]);
}

/* Where in the index a thread is, or belongs. */
static uint32_t place_of(pid_t tid)
{
	uint32_t i = (uint32_t)tid % INDEX;

	while (slots.index[i] != NONE && slots.all[slots.index[i]].tid != tid)
		i = (i + 1) % INDEX;
	return i;
}

static void make_index(void)
{
	memset(slots.index, 0xff, sizeof(slots.index));
	for (uint32_t i = 0; i < slots.top; i++)
		if (slots.all[i].tid)
			slots.index[place_of(slots.all[i].tid)] = (uint16_t)i;
}

static struct thread_slot *find(pid_t tid)
{
	uint32_t i = place_of(tid);

	return slots.index[i] == NONE ? NULL : &slots.all[slots.index[i]];
}

static struct thread_slot *make(pid_t tid)
{
	struct thread_slot *s = NULL;

	for (uint32_t i = 0; !s && i < slots.top; i++)
		s = slots.all[i].tid ? NULL : &slots.all[i];
	if (!s && slots.top < SLOTS_MAX)
		s = &slots.all[slots.top++];
	if (!s)
		return NULL;
	*s = (struct thread_slot){ .tid = tid, .fd = -1, .timer = -1 };
	slots.index[place_of(tid)] = (uint16_t)(s - slots.all);
	slots.n++;
	return s;
}

/* ---- stacks -------------------------------------------------------------------------------- */

static void take_java_thread(const struct vm_layout *l, uint64_t thread)
{
	uint64_t os = peek_word(thread + l->thread.osthread);
	uint64_t base = peek_word(thread + l->thread.stack_base);
	uint64_t size = peek_word(thread + l->thread.stack_size);
	struct thread_slot *s = os ? find((pid_t)peek_number(os + l->thread.tid)) : NULL;

	if (!s || s->java || base <= size)
		return;
	s->java = thread;
	s->os = os;
	if (s->hi)
		return;
	s->lo = base - size;
	__atomic_store_n(&s->hi, base, __ATOMIC_RELEASE);
}

/* The i-th thread of the JVM; 0: there are no more.  The list is replaced as a whole; an old one that is
 * read in the middle of that gives what is no thread, and is found out. */
static uint64_t java_thread(const struct vm_layout *l, uint32_t i)
{
	uint64_t list = l->thread.known ? peek_word(l->thread.list) : 0, threads;

	if (!list || i >= peek_number(list + l->thread.length) || i >= SLOTS_MAX)
		return 0;
	threads = peek_word(list + l->thread.threads);
	return threads ? peek_word(threads + 8 * (uint64_t)i) : 0;
}

static void find_java_threads(const struct vm_layout *l)
{
	uint64_t thread;

	for (uint32_t i = 0; (thread = java_thread(l, i)); i++)
		take_java_thread(l, thread);
}

uint64_t slots_java_thread(const struct vm_layout *l, pid_t tid)
{
	uint64_t thread, os;

	for (uint32_t i = 0; (thread = java_thread(l, i)); i++)
		if ((os = peek_word(thread + l->thread.osthread)) &&
		    (pid_t)peek_number(os + l->thread.tid) == tid)
			return thread;
	return 0;
}

bool slots_lack_stacks(void)
{
	bool any = false;

	for (uint32_t i = 0; i < slots.top; i++) {
		struct thread_slot *s = &slots.all[i];

		s->lacks = s->tid && !s->hi && !s->foreign &&
			   __atomic_load_n(&s->sp, __ATOMIC_ACQUIRE);
		any |= s->lacks;
	}
	return any;
}

/* Of the stack whose pointer a handler had left before mappings were read. */
static void find_stack(struct thread_slot *s)
{
	uint64_t sp = __atomic_load_n(&s->sp, __ATOMIC_ACQUIRE), hi;
	struct mapping m;

	if (!s->lacks || !mapped_range(sp, &m))
		return;
	hi = m.hi;
	if (s->descriptor > sp && s->descriptor <= hi) {
		hi = s->descriptor & ~(uint64_t)7;
	} else if (!slice_is(m.path, "[stack]")) { /* the first thread's ends with its mapping */
		s->foreign = true;
		return;
	}
	s->lo = m.lo;
	__atomic_store_n(&s->hi, hi, __ATOMIC_RELEASE);
}

void slots_find_stacks(void)
{
	slots_each(find_stack);
}

/* ---- looking ------------------------------------------------------------------------------- */

static bool see(pid_t tid, const struct slots_calls *calls)
{
	struct thread_slot *s = find(tid);
	bool fresh = !s;

	if (!s && (s = make(tid)))
		calls->come(s, (uint32_t)(s - slots.all));
	if (s)
		s->look = slots.look;
	return fresh;
}

void slots_scan(const struct vm_layout *l, const struct slots_calls *calls)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;
	bool fresh = false;

	if (!dir)
		return;
	slots.look++;
	make_index();
	while ((e = readdir(dir))) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid > 0 && tid != slots.own)
			fresh |= see(tid, calls);
	}
	closedir(dir);
	for (uint32_t i = 0; i < slots.top; i++) {
		struct thread_slot *s = &slots.all[i];

		if (s->tid && s->look != slots.look) {
			calls->gone(s);
			s->tid = 0;
			slots.n--;
		}
	}
	if (fresh)
		slots.young = YOUNG;
	if (slots.young) {
		slots.young--;
		find_java_threads(l);
	}
}
