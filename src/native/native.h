/* SPDX-License-Identifier: Apache-2.0 */
/* native.h - what a hooked native function, its stubs and the agent's thread share.
 *
 * The way of a call: the function's patched entry jumps to its site's code, that to native_enter
 * (pool.S), which saves all registers a caller may rely on and asks native_entry.  A call that is
 * only counted goes on in the function's moved instructions.  A timed one gets a stub of its own:
 * the real return address is kept in the stub's entry, and the stub *calls* the function, so that
 * calls and returns stay paired.  Behind the call the stub goes to native_leave and native_exit,
 * and from there to the caller.
 *
 * No two activations share a stub, so a return always finds its own entry, whatever was jumped over
 * by longjmp, and unwinding information over the stubs leads any unwinder through them.
 *
 * Threads.  activation.c runs in threads of the program and in their signal handlers, and obeys the rules
 * of src/probe: no malloc, no lock, no stdio.  Everything else runs in the agent's own thread. */
#ifndef NATIVE_NATIVE_H
#define NATIVE_NATIVE_H

#include "base/slice.h"
#include "native_arch.h"

enum {
	SITES_MAX = 8192,
	THREADS_MAX = 256,
	CELLS = 2048,	 /* callers of hooked functions, for each thread */
	DEPTH_MAX = 256, /* timed calls that are open in a thread */
	SLOT_BLOCK = 8,	 /* stubs that a thread takes at a time */
};

enum site_mode {
	SITE_OFF,
	SITE_COUNT, /* calls and callers */
	SITE_TIMED,
};

/* One function that is hooked, or was: a function keeps its number and its code for good. */
struct native_site {
	uint8_t mode;	  /* enum site_mode; looked at by each call */
	uintptr_t body;	  /* the moved instructions */
	uint64_t spilled; /* calls for which no cell was left, or no thread */
	uint64_t unused;  /* a power of two is found faster */
};

/* What one thread saw of one function, called from one place. */
struct native_cell {
	uint64_t key; /* return address << 16 | site; 0: free */
	uint64_t calls, timed;
	uint64_t ticks;	   /* of timed calls that ended */
	uint64_t in_below; /* ... of these, in hooked calls that they made */
	uint64_t least, most;
	uint64_t below; /* how many these were, to know what hooks have cost */
};

/* One open activation: the data of the stub with the same number. */
struct stub_entry {
	uintptr_t ret; /* where the caller goes on; pool.S knows these two */
	uintptr_t body;
	uintptr_t sp; /* where the return address stands, or stood */
	uint64_t begin;
	struct native_thread *owner; /* NULL: the stub is free */
	struct native_cell *cell;
	uint64_t below; /* ticks of hooked calls that it made; 0 without such, and when free */
	uint32_t calls_below;
	uint32_t parent; /* the activation around it, + 1; 0: none */
};

struct native_thread {
	int32_t tid;  /* 0: free */
	uint32_t top; /* open activations: slots[0] to slots[top - 1] */
	uint32_t owned;
	bool busy; /* the slots are being put in order */
	uint16_t slots[DEPTH_MAX];
	uintptr_t
		marker; /* a variable of the thread's, above its stack; 0: no thread was here yet */
	uintptr_t stack, stack_n; /* the stack it began with, written by the agent; 0: not known */
	uint64_t untimed;	  /* calls that should have been timed, and found no stub */
	struct native_cell cells[CELLS];
};

/* What native_enter puts on the stack. */
struct native_call {
	uintptr_t saved[CALL_SAVED];
	uint64_t number; /* of the site */
	uintptr_t ret;
};

struct native_go {
	uintptr_t to;
	uintptr_t by_stub; /* the return address is taken off the stack first */
};

#pragma GCC visibility push(hidden) /* near, so that no address has to be loaded */
extern struct native_site native_sites[SITES_MAX];
extern struct native_thread native_threads[THREADS_MAX];
extern uint8_t native_stubs[], native_leave_begin[], native_leave_end[]; /* pool.S */
extern struct stub_entry native_entries[STUBS]; /* right behind the stubs */
#pragma GCC visibility pop

/* Makes room for the entries behind the stubs; false: no memory.  Before the first hook. */
bool native_begin(void);

/* The calling thread's calls are not seen: the agent's own thread. */
void native_mute(void);
void native_watch_self(bool on); /* ... are, for a moment */

/* Takes back the stubs of a thread that has ended, but for calls that another thread may return from. */
void native_thread_gone(struct native_thread *t);

unsigned native_open_calls(void); /* stubs in use */

/* Called by pool.S. */
NATIVE_KEEPS struct native_go native_entry(const struct native_call *call);
NATIVE_KEEPS uintptr_t native_exit(uint32_t slot);
void native_enter(void);

static inline bool native_is_stub(uintptr_t addr)
{
	return addr - (uintptr_t)native_stubs < (uintptr_t)STUBS * STUB_SIZE;
}

#endif
