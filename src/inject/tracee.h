/* SPDX-License-Identifier: Apache-2.0 */
/* tracee.h - the threads of another process, stopped for a moment.
 *
 * By PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent, and a system call that a thread waits in is
 * made again when it goes on.  Every wait has a limit.  Whoever opens one lets all threads go by
 * tracee_close(); so does the kernel when this process ends.  One thread. */
#ifndef INJECT_TRACEE_H
#define INJECT_TRACEE_H

#include <sys/types.h>

#include "base/err.h"
#include "inject/sigframe.h"

enum { TRACEE_THREADS = 4096, TRACEE_HELD = 8 };

struct tracee_thread {
	pid_t tid;
	bool seized, stopped, ended;
	inject_regs regs;	   /* when it was stopped */
	uint8_t held[TRACEE_HELD]; /* signals that came at the wrong time */
	unsigned n_held;
};

struct tracee {
	pid_t pid;
	int mem; /* its memory; -1: not open */
	struct tracee_thread *all;
	size_t n, cap;
	uint64_t waited; /* ns of a limit that are used up */
};

/* E_IO when it may not be traced, E_NOT_FOUND when it has ended. */
int tracee_open(struct tracee *t, pid_t pid, struct fault *f);
void tracee_close(struct tracee *t);

/* Stops all threads, or gives up after so long; then they may be in part stopped. */
int tracee_stop(struct tracee *t, unsigned ms, struct fault *f);

/* All threads but this one go on (NULL: all). */
void tracee_resume(struct tracee *t, const struct tracee_thread *but);

/* What became of a thread that was told to go on.  0 when none of it has come in time. */
enum tracee_event {
	TRACEE_NOTHING,
	TRACEE_STOPPED, /* as it was told to by PTRACE_INTERRUPT */
	TRACEE_PAUSED,	/* with the whole process, by a signal to stop */
	TRACEE_SYSCALL, /* before or behind a system call */
	TRACEE_SIGNAL,	/* about to get one */
	TRACEE_ENDED,
};
enum tracee_event tracee_await(struct tracee_thread *th, uint64_t until_ns, int *signal);

bool tracee_read(const struct tracee *t, uint64_t at, void *to, size_t n);
bool tracee_write(const struct tracee *t, uint64_t at, const void *from, size_t n);

/* Of a stopped thread. */
bool tracee_get(const struct tracee_thread *th, inject_regs *out);
bool tracee_set(const struct tracee_thread *th, const inject_regs *r);
bool tracee_save(const struct tracee_thread *th, struct sigframe_before *out);
bool tracee_restore(const struct tracee_thread *th, const struct sigframe_before *b);
bool tracee_block_signals(const struct tracee_thread *th, uint64_t which);
bool tracee_skip_syscall(const struct tracee_thread *th, inject_regs *r);

#endif
