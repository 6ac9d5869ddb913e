/* SPDX-License-Identifier: Apache-2.0 */
/* tracee.c - ptrace, with limits. */
#define _GNU_SOURCE /* __WALL, process_vm_readv() */
#include "inject/tracee.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "inject/skip.h"
#include "jvm/proc.h"

enum { SYSCALL_STOP = SIGTRAP | 0x80, MASK_N = 8 };

static const uint64_t ms_ns = 1000000;

/* The kernel takes numbers where the library wants pointers. */
static void *number(uint64_t n)
{
	return (void *)(uintptr_t)n;
}

/* ---- the process -------------------------------------------------------------------------- */

int tracee_open(struct tracee *t, pid_t pid, struct fault *f)
{
	char path[64];

	*t = (struct tracee){ .pid = pid };
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	t->mem = open(path, O_RDWR | O_CLOEXEC);
	if (t->mem >= 0)
		return 0;
	if (errno == ENOENT)
		return fault_set(f, E_NOT_FOUND, -1, "it has ended");
	return fault_set(f, E_IO, -1, "its memory may not be opened: do this as root");
}

bool tracee_read(const struct tracee *t, uint64_t at, void *to, size_t n)
{
	return pread(t->mem, to, n, (off_t)at) == (ssize_t)n;
}

bool tracee_write(const struct tracee *t, uint64_t at, const void *from, size_t n)
{
	return pwrite(t->mem, from, n, (off_t)at) == (ssize_t)n;
}

/* ---- waiting ------------------------------------------------------------------------------ */

static enum tracee_event event_of(int status, int *signal)
{
	if (!WIFSTOPPED(status))
		return TRACEE_ENDED;
	*signal = WSTOPSIG(status);
	if (status >> 16 == PTRACE_EVENT_STOP)
		return *signal == SIGTRAP ? TRACEE_STOPPED : TRACEE_PAUSED;
	return *signal == SYSCALL_STOP ? TRACEE_SYSCALL : TRACEE_SIGNAL;
}

enum tracee_event tracee_await(struct tracee_thread *th, uint64_t until_ns, int *signal)
{
	enum tracee_event e;
	unsigned turn = 0;
	int status;
	pid_t got;

	for (;;) {
		got = waitpid(th->tid, &status, __WALL | WNOHANG);
		if (got != 0)
			break;
		if (clock_steady_ns() > until_ns)
			return TRACEE_NOTHING;
		usleep(turn++ < 100 ? 20 : 500);
	}
	e = got < 0 ? TRACEE_ENDED : event_of(status, signal);
	th->ended = e == TRACEE_ENDED;
	th->stopped = !th->ended;
	return e;
}

/* ---- stopping ----------------------------------------------------------------------------- */

static struct tracee_thread *find(struct tracee *t, pid_t tid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].tid == tid)
			return &t->all[i];
	return NULL;
}

static struct tracee_thread *add(struct tracee *t, pid_t tid)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 16;
		void *p = cap > TRACEE_THREADS ? NULL
					       : mem_realloc(t->all, cap * sizeof(t->all[0]));

		if (!p)
			return NULL;
		t->all = p;
		t->cap = cap;
	}
	t->all[t->n] = (struct tracee_thread){ .tid = tid };
	return &t->all[t->n++];
}

static int seize(struct tracee_thread *th, struct fault *f)
{
	if (!th->seized &&
	    ptrace(PTRACE_SEIZE, th->tid, NULL, number(PTRACE_O_TRACESYSGOOD)) != 0) {
		th->ended = errno == ESRCH;
		if (th->ended)
			return 0;
		return fault_set(f, E_IO, -1,
				 "the system does not let it be traced (%s): do this as root, "
				 "and see /proc/sys/kernel/yama/ptrace_scope",
				 errno == EPERM ? "not permitted" : "failed");
	}
	th->seized = true;
	th->ended = ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL) != 0 && errno == ESRCH;
	return 0;
}

static void mend(struct tracee_thread *th)
{
	inject_regs r = th->regs;

	sigframe_mend(&r, sigframe_syscall(&r, NULL), false);
	if (memcmp(&r, &th->regs, sizeof(r)) != 0 && tracee_set(th, &r))
		th->regs = r;
}

/* A signal on its way is handed over first. */
static int stop_one(struct tracee_thread *th, uint64_t until, struct fault *f)
{
	enum tracee_event e;
	int sig = 0;

	while ((e = tracee_await(th, until, &sig)) == TRACEE_SIGNAL || e == TRACEE_SYSCALL) {
		th->stopped = false;
		if (ptrace(PTRACE_CONT, th->tid, NULL,
			   number(e == TRACEE_SIGNAL ? (unsigned)sig : 0)) != 0)
			break;
	}
	if (e == TRACEE_PAUSED)
		return fault_set(f, E_UNSUPPORTED, -1,
				 "it is stopped by a signal: kill -CONT makes it go on");
	if (e == TRACEE_NOTHING)
		return fault_set(f, E_LIMIT, -1,
				 "thread %d does not stop: it waits in the kernel, for a disk or "
				 "for a child that vfork() made",
				 th->tid);
	if (e == TRACEE_STOPPED && !tracee_get(th, &th->regs))
		return fault_set(f, E_IO, -1, "the registers of thread %d cannot be read", th->tid);
	if (e == TRACEE_STOPPED)
		mend(th);
	return 0;
}

/* Those that are there now and were not stopped yet; how many. */
static int stop_more(struct tracee *t, uint64_t until, struct fault *f)
{
	DIR *dir = proc_threads(t->pid);
	size_t before = t->n;
	const char *tid;
	int rc = 0;

	while (dir && rc >= 0 && (tid = proc_next_thread(dir))) {
		struct tracee_thread *th = find(t, atoi(tid));

		if (!th && !(th = add(t, atoi(tid))))
			rc = fault_set(f, E_LIMIT, -1, "it has more than %d threads",
				       TRACEE_THREADS);
		else if (!th->stopped && !th->ended && !th->seized)
			rc = seize(th, f);
	}
	if (dir)
		closedir(dir);
	for (size_t i = before; rc >= 0 && i < t->n; i++)
		if (!t->all[i].ended)
			rc = stop_one(&t->all[i], until, f);
	return rc < 0 ? rc : (int)(t->n - before);
}

int tracee_stop(struct tracee *t, unsigned ms, struct fault *f)
{
	uint64_t until = clock_steady_ns() + ms * ms_ns;
	int more;

	tracee_resume(t, NULL);
	t->n = 0;
	do
		more = stop_more(t, until, f);
	while (more > 0);
	if (more == 0 && !t->n)
		return fault_set(f, E_NOT_FOUND, -1, "it has ended");
	return more;
}

/* A signal that was held back is sent again. */
static void let_go(struct tracee *t, struct tracee_thread *th)
{
	int sig;

	if (!th->seized || th->ended)
		return;
	if (!th->stopped && ptrace(PTRACE_INTERRUPT, th->tid, NULL, NULL) == 0)
		(void)tracee_await(th, clock_steady_ns() + 100 * ms_ns, &sig);
	(void)ptrace(PTRACE_DETACH, th->tid, NULL, NULL);
	for (unsigned i = 0; i < th->n_held; i++)
		(void)syscall(SYS_tgkill, t->pid, th->tid, th->held[i]);
	th->seized = th->stopped = false;
	th->n_held = 0;
}

void tracee_resume(struct tracee *t, const struct tracee_thread *but)
{
	for (size_t i = 0; i < t->n; i++)
		if (&t->all[i] != but)
			let_go(t, &t->all[i]);
}

void tracee_close(struct tracee *t)
{
	tracee_resume(t, NULL);
	if (t->mem >= 0)
		close(t->mem);
	mem_free(t->all);
	*t = (struct tracee){ .mem = -1 };
}

/* ---- one thread --------------------------------------------------------------------------- */

static bool get_set(pid_t tid, int which, void *to, size_t *n)
{
	struct iovec v = { to, *n };

	if (ptrace(PTRACE_GETREGSET, tid, number((unsigned)which), &v) != 0)
		return false;
	*n = v.iov_len;
	return true;
}

static bool set_set(pid_t tid, int which, const void *from, size_t n)
{
	struct iovec v = { (void *)(uintptr_t)from, n };

	return ptrace(PTRACE_SETREGSET, tid, number((unsigned)which), &v) == 0;
}

bool tracee_get(const struct tracee_thread *th, inject_regs *out)
{
	size_t n = sizeof(*out);

	return get_set(th->tid, NT_PRSTATUS, out, &n) && n == sizeof(*out);
}

bool tracee_set(const struct tracee_thread *th, const inject_regs *r)
{
	return set_set(th->tid, NT_PRSTATUS, r, sizeof(*r));
}

bool tracee_block_signals(const struct tracee_thread *th, uint64_t which)
{
	return ptrace(PTRACE_SETSIGMASK, th->tid, number(MASK_N), &which) == 0;
}

bool tracee_skip_syscall(const struct tracee_thread *th, inject_regs *r)
{
	skip_syscall(th->tid, r);
	return tracee_set(th, r);
}

bool tracee_save(const struct tracee_thread *th, struct sigframe_before *out)
{
	for (int i = 0; i < INJECT_STATES; i++) {
		out->state[i].n = sizeof(out->state[i].bytes);
		if (!get_set(th->tid, sigframe_states[i], out->state[i].bytes, &out->state[i].n))
			out->state[i].n = 0;
	}
	return ptrace(PTRACE_GETSIGMASK, th->tid, number(MASK_N), &out->blocked) == 0 &&
	       tracee_get(th, &out->regs) && out->state[0].n;
}

bool tracee_restore(const struct tracee_thread *th, const struct sigframe_before *b)
{
	bool good = true;

	for (int i = 0; i < INJECT_STATES; i++)
		good = (!b->state[i].n ||
			set_set(th->tid, sigframe_states[i], b->state[i].bytes, b->state[i].n)) &&
		       good;
	good = tracee_block_signals(th, b->blocked) && good;
	return tracee_set(th, &b->regs) && good;
}
