/* SPDX-License-Identifier: Apache-2.0 */
/* activation.c - what threads of the program run at a hook.
 *
 * Compiled for general registers alone and without guards on the stack, since it runs where a
 * function's arguments or results are still in registers.  A signal handler may interrupt it at any
 * instruction and come through here itself; so a stub is reserved first and filled afterwards, and
 * what is counted is added with one instruction.
 *
 * What each call costs is mostly stores: processors make one or two of them a cycle, and the registers
 * saved here and in pool.S are stores, too.  So what is rare stands in functions of its own (RARE), around
 * which no register has to be saved, and what hardly ever changes is written when it does. */
#include <stddef.h>
#include <sys/mman.h>

#include "base/tick.h"
#include "native/native.h"

struct native_site native_sites[SITES_MAX];
struct native_thread native_threads[THREADS_MAX];

#define RARE __attribute__((noinline, cold)) NATIVE_KEEPS

enum { PROBES = 8, BLOCKS = STUBS / SLOT_BLOCK };

static struct native_thread muted;
static uint8_t block_taken[BLOCKS];
static bool all_taken; /* native_threads */

/* NULL: not seen before. */
static __thread struct native_thread *self __attribute__((tls_model("initial-exec")));

_Static_assert(sizeof(struct stub_entry) == STUB_SIZE, "pool.S");
_Static_assert(STUBS *STUB_SIZE == 0x40000, "the unwinding records of pool.S");

bool native_begin(void)
{
	static bool ready;

	if (!ready)
		ready = mmap(native_entries, sizeof(native_entries), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
	return ready;
}

void native_mute(void)
{
	self = &muted;
}

void native_watch_self(bool on)
{
	if (!on && self && self != &muted)
		native_thread_gone(self);
	self = on ? NULL : &muted;
}

/* The compiler must take the address from one register, instead of making it anew of base and index in
 * two more. */
#define ONE_REGISTER(p) __asm__("" : "+r"(p))

/* ---- threads ------------------------------------------------------------------------------ */

static struct native_thread *find_free(int32_t tid)
{
	for (unsigned i = 0; i < THREADS_MAX; i++) {
		int32_t none = 0;

		if (__atomic_load_n(&native_threads[i].tid, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&native_threads[i].tid, &none, tid, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			native_threads[i].marker = (uintptr_t)&self;
			return self = &native_threads[i];
		}
	}
	return NULL;
}

/* While there are too many threads, those without a place of their own must not look for one at each
 * call.  It is looked for once more behind the mark, since one may have come free meanwhile. */
RARE static struct native_thread *claim(void)
{
	struct native_thread *t;
	int32_t tid;

	if (__atomic_load_n(&all_taken, __ATOMIC_RELAXED))
		return NULL;
	tid = native_gettid();
	t = find_free(tid);
	if (t)
		return t;
	(void)__atomic_exchange_n(&all_taken, true, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	t = find_free(tid);
	if (t)
		__atomic_store_n(&all_taken, false, __ATOMIC_SEQ_CST);
	return t;
}

RARE static bool take_block(struct native_thread *t, uint32_t at)
{
	for (unsigned b = 0; b < BLOCKS; b++) {
		if (__atomic_load_n(&block_taken[b], __ATOMIC_RELAXED) ||
		    __atomic_exchange_n(&block_taken[b], 1, __ATOMIC_ACQUIRE))
			continue;
		for (unsigned i = 0; i < SLOT_BLOCK; i++)
			t->slots[at + i] = (uint16_t)(b * SLOT_BLOCK + i);
		t->owned = at + SLOT_BLOCK;
		return true;
	}
	return false;
}

/* Of a free stub both counts are 0, so that no call has to write that. */
static inline void free_stub(struct stub_entry *e)
{
	if (e->calls_below) {
		e->below = 0;
		e->calls_below = 0;
	}
	__atomic_store_n(&e->owner, NULL, __ATOMIC_RELEASE);
}

/* A call on another stack than the thread's own is a coroutine's, which may go on in another thread:
 * its stub must not serve for anything else until then. */
static bool may_return(const struct native_thread *t, uint32_t slot)
{
	const struct stub_entry *e = &native_entries[slot];

	return e->owner && t->stack_n && e->sp - t->stack >= t->stack_n;
}

static bool block_is_free(uint32_t first)
{
	for (uint32_t i = 0; i < SLOT_BLOCK; i++)
		if (native_entries[first + i].owner)
			return false;
	return true;
}

void native_thread_gone(struct native_thread *t)
{
	for (uint32_t i = 0; i < t->owned; i++)
		if (!may_return(t, t->slots[i]))
			free_stub(&native_entries[t->slots[i]]);
	for (uint32_t i = 0; i < t->owned; i++)
		if (t->slots[i] % SLOT_BLOCK == 0 && block_is_free(t->slots[i]))
			__atomic_store_n(&block_taken[t->slots[i] / SLOT_BLOCK], 0,
					 __ATOMIC_RELEASE);
	t->top = t->owned = 0;
	t->stack_n = 0;
	t->busy = false;
	__atomic_store_n(&t->tid, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&all_taken, false, __ATOMIC_SEQ_CST);
}

unsigned native_open_calls(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < STUBS; i++)
		n += __atomic_load_n(&native_entries[i].owner, __ATOMIC_RELAXED) != NULL;
	return n;
}

/* ---- cells -------------------------------------------------------------------------------- */

/* NULL: there are too many. */
RARE static struct native_cell *other_cell(struct native_thread *t, uint64_t key, uint64_t at)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct native_cell *c = &t->cells[(at + i) % CELLS];
		uint64_t none = 0;

		if (c->key == key)
			return c;
		if (c->key == 0 &&
		    (__atomic_compare_exchange_n(&c->key, &none, key, false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED) ||
		     none == key))
			return c;
	}
	return NULL;
}

static struct native_cell *find_cell(struct native_thread *t, uint32_t number, uintptr_t ret)
{
	uint64_t key = (uint64_t)ret << 16 | number;
	uint64_t at = key * 0x9e3779b97f4a7c15u >> 53;

	return t->cells[at].key == key ? &t->cells[at] : other_cell(t, key, at);
}

_Static_assert(CELLS == 1 << (64 - 53), "find_cell");

/* ---- stubs -------------------------------------------------------------------------------- */

/* The stubs stand at the same distance before their entries. */
static inline uintptr_t stub_of(const struct stub_entry *e)
{
	return (uintptr_t)e - (uintptr_t)STUBS * STUB_SIZE;
}

static inline const struct stub_entry *entry_of(uintptr_t in_stub)
{
	return &native_entries[(in_stub - (uintptr_t)native_stubs) / STUB_SIZE];
}

static bool is_open(uint16_t slot)
{
	return __atomic_load_n(&native_entries[slot].owner, __ATOMIC_RELAXED) != NULL;
}

/* Activations on top that have returned, perhaps not in the order of their calls. */
static void drop_ended(struct native_thread *t)
{
	uint32_t top = t->top;

	while (top && !is_open(t->slots[top - 1]))
		top--;
	__atomic_store_n(&t->top, top, __ATOMIC_RELAXED);
}

/* Was this activation left without a return, by longjmp or an exception?  Then the place of its return
 * address has another content.  Until its stub makes the call, and once that has returned, the real
 * address stands there; else the stub's own, or that of a function it has ended in by a tail call, which
 * returns to this one. */
static bool is_dead(const struct stub_entry *e)
{
	uintptr_t ret;

	if (!native_return_at(e->sp, &ret) || ret == e->ret)
		return false;
	for (unsigned i = 0; i < DEPTH_MAX && native_is_stub(ret); i++) {
		const struct stub_entry *by = entry_of(ret);

		if (by == e)
			return false;
		ret = by->ret;
	}
	return true;
}

/* Frees what will never return.  That is looked for only when a thread runs out of stubs, and only where the
 * thread's own stack says so, which is mapped as long as the thread runs. */
RARE static void drop_dead(struct native_thread *t)
{
	uint32_t kept = 0;

	__atomic_store_n(&t->busy, true, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < t->top; i++) {
		uint16_t slot = t->slots[i];
		struct stub_entry *e = &native_entries[slot];

		if (e->owner && e->sp - t->stack < t->stack_n && is_dead(e))
			free_stub(e);
		if (!e->owner)
			continue;
		t->slots[i] = t->slots[kept];
		t->slots[kept++] = slot;
	}
	t->top = kept;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&t->busy, false, __ATOMIC_RELAXED);
}

/* False: there is no place for one more activation.  What will not return goes before more stubs are
 * taken: a thread that leaves many calls by longjmp would have those of all others. */
RARE static bool make_room(struct native_thread *t)
{
	uint32_t n;

	drop_dead(t);
	n = __atomic_load_n(&t->top, __ATOMIC_RELAXED);
	return n < t->owned || (n < DEPTH_MAX && take_block(t, n));
}

/* An activation on top of the thread's, with a stub; NULL: there is none.  A signal handler in between
 * may take what was not yet marked as open for ended: then once more. */
static inline struct stub_entry *reserve(struct native_thread *t, const struct native_call *call)
{
	struct stub_entry *e;
	uint32_t n;

	if (t->busy) /* a handler interrupted drop_dead, or left it by longjmp */
		return NULL;
	do {
		n = __atomic_load_n(&t->top, __ATOMIC_RELAXED);
		if (n >= t->owned) {
			if (!make_room(t))
				return NULL;
			n = __atomic_load_n(&t->top, __ATOMIC_RELAXED);
		}
		e = &native_entries[t->slots[n]];
		ONE_REGISTER(e);
		__atomic_store_n(&t->top, n + 1, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		e->ret = call->ret; /* is_dead looks at both, as soon as there is an owner */
		e->sp = (uintptr_t)call + NATIVE_CALL_SP;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		__atomic_store_n(&e->owner, t, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (__atomic_load_n(&t->top, __ATOMIC_RELAXED) != n + 1);
	e->parent = n ? t->slots[n - 1] + 1u : 0;
	return e;
}

/* ---- entry and exit ----------------------------------------------------------------------- */

_Static_assert(offsetof(struct native_call, ret) == NATIVE_CALL_RET, "pool.S");

/* Of a tail call: who called the one that made it. */
static uintptr_t real_caller(uintptr_t ret)
{
	while (native_is_stub(ret))
		ret = entry_of(ret)->ret;
	return ret;
}

NATIVE_KEEPS struct native_go native_entry(const struct native_call *call)
{
	struct native_site *s = &native_sites[(uint32_t)call->number];
	struct native_thread *t = self ? self : claim();
	struct stub_entry *e;
	struct native_cell *c;

	ONE_REGISTER(s);
	if (__atomic_load_n(&s->mode, __ATOMIC_RELAXED) == SITE_OFF || t == &muted)
		return (struct native_go){ s->body, 0 };
	c = t ? find_cell(t, (uint32_t)call->number, real_caller(call->ret)) : NULL;
	if (!c) {
		__atomic_fetch_add(&s->spilled, 1, __ATOMIC_RELAXED);
		return (struct native_go){ s->body, 0 };
	}
	native_add(&c->calls, 1);
	if (__atomic_load_n(&s->mode, __ATOMIC_RELAXED) != SITE_TIMED)
		return (struct native_go){ s->body, 0 };
	e = reserve(t, call);
	if (!e) {
		native_add(&t->untimed, 1);
		return (struct native_go){ s->body, 0 };
	}
	e->body = s->body;
	e->cell = c;
	e->begin = tick_now();
	return (struct native_go){ stub_of(e), 1 };
}

static void add_up(struct stub_entry *e, uint64_t ticks)
{
	struct native_cell *c = e->cell;
	struct stub_entry *above;

	native_add(&c->timed, 1);
	native_add(&c->ticks, ticks);
	if (e->calls_below) {
		native_add(&c->in_below, ticks < e->below ? ticks : e->below);
		native_add(&c->below, e->calls_below);
	}
	if (ticks < c->least || !c->least)
		c->least = ticks ? ticks : 1;
	if (ticks > c->most)
		c->most = ticks;
	above = e->parent ? &native_entries[e->parent - 1] : NULL;
	if (above && above->owner == e->owner) {
		above->below += ticks;
		above->calls_below++;
	}
}

NATIVE_KEEPS uintptr_t native_exit(uint32_t slot)
{
	uint64_t now = tick_now();
	struct stub_entry *e = &native_entries[slot];
	struct native_thread *t = e->owner;
	uintptr_t ret = e->ret;

	ONE_REGISTER(e);
	add_up(e, now - e->begin);
	free_stub(e);
	if (t == self && !t->busy) /* a coroutine may have gone to another thread */
		drop_ended(t);
	return ret;
}
