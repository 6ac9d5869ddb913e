/* SPDX-License-Identifier: Apache-2.0 */
/* thread_call.c - the thread runs from one system call to the next, until it stands before the one with which
 * the function returns.  That one it does not make: what the kernel knew of an interrupted system
 * call, and how long it still had to wait, would be lost. */
#include "inject/thread_call.h"

#include <signal.h>
#include <sys/ptrace.h>

#include "base/clock.h"
#include "inject/safe_point.h"

enum { INTERRUPT_MS = 1000 };

static const uint64_t ms_ns = 1000000, all_signals = ~UINT64_C(0);

int thread_call_begin(struct thread_call *c, struct tracee *in, struct tracee_thread *th,
		      uint64_t code, struct fault *f)
{
	*c = (struct thread_call){ .in = in, .th = th, .code = code };
	if (!tracee_save(th, &c->before))
		return fault_set(f, E_IO, -1, "the registers of thread %d cannot be read", th->tid);
	c->before.regs = th->regs;
	c->top = sigframe_walk_regs(&th->regs).sp - INJECT_BELOW;
	return 0;
}

uint64_t thread_call_text(struct thread_call *c, const char *text)
{
	size_t n = strlen(text) + 1;

	c->top -= n;
	return tracee_write(c->in, c->top, text, n) ? c->top : 0;
}

static bool resume(struct tracee_thread *th, int how)
{
	th->stopped = false;
	return ptrace((enum __ptrace_request)how, th->tid, NULL, NULL) == 0;
}

/* Signals are blocked: only those that nobody can block come here, and those of a crash. */
static bool is_crash(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
	       sig == SIGABRT || sig == SIGTRAP || sig == SIGSYS;
}

static void hold(struct tracee_thread *th, int sig)
{
	if (th->n_held < TRACEE_HELD)
		th->held[th->n_held++] = (uint8_t)sig;
}

static int not_returned(struct thread_call *c, unsigned ms, struct fault *f)
{
	int sig;

	(void)ptrace(PTRACE_INTERRUPT, c->th->tid, NULL, NULL);
	(void)tracee_await(c->th, clock_steady_ns() + INTERRUPT_MS * ms_ns, &sig);
	return fault_set(f, E_LIMIT, -1,
			 "what was called in thread %d has not returned within %u ms; the thread "
			 "finishes it by itself, and then goes on where it was",
			 c->th->tid, ms);
}

/* Goes on until the thread is about to return from the call. */
static int run_to_end(struct thread_call *c, const struct sigframe *frame,
		      const struct thread_call_function *fn, struct fault *f)
{
	uint64_t until = clock_steady_ns() + fn->ms * ms_ns, result;
	enum tracee_event e;
	inject_regs r;
	int sig = 0;

	for (;;) {
		if (!resume(c->th, PTRACE_SYSCALL))
			return fault_set(f, E_IO, -1, "the thread was lost");
		e = tracee_await(c->th, until, &sig);
		if (e == TRACEE_NOTHING)
			return not_returned(c, fn->ms, f);
		if (e == TRACEE_ENDED)
			return fault_set(f, E_NOT_FOUND, -1, "it ended meanwhile");
		if (e == TRACEE_SIGNAL && is_crash(sig))
			return fault_set(f, E_DAMAGED, -1,
					 "what was called crashed (signal %d), and was undone",
					 sig);
		if (e == TRACEE_SIGNAL || e == TRACEE_PAUSED)
			hold(c->th, sig);
		if (e == TRACEE_SYSCALL && tracee_get(c->th, &r) &&
		    sigframe_is_left(frame, &r, &result))
			break;
	}
	if (fn->result)
		*fn->result = result;
	return tracee_skip_syscall(c->th, &r) ? 0 : fault_set(f, E_IO, -1, "the thread was lost");
}

/* To a stop from which a system call that was interrupted is made again. */
static int stop_again(struct thread_call *c, struct fault *f)
{
	int sig = 0;
	enum tracee_event e;

	if (ptrace(PTRACE_INTERRUPT, c->th->tid, NULL, NULL) != 0 || !resume(c->th, PTRACE_CONT))
		return fault_set(f, E_IO, -1, "the thread was lost");
	while ((e = tracee_await(c->th, clock_steady_ns() + INTERRUPT_MS * ms_ns, &sig)) ==
		       TRACEE_SIGNAL ||
	       e == TRACEE_SYSCALL) {
		if (e == TRACEE_SIGNAL)
			hold(c->th, sig);
		(void)resume(c->th, PTRACE_CONT);
	}
	if (e == TRACEE_STOPPED || e == TRACEE_PAUSED)
		return 0;
	return fault_set(f, E_LIMIT, -1, "the thread does not stop again");
}

int thread_call_run(struct thread_call *c, const struct thread_call_function *fn, struct fault *f)
{
	struct sigframe_call to = { .to = fn->at, .code = c->code, .for_result = fn->result };
	struct sigframe frame;
	inject_regs go;
	int rc, end;

	memcpy(to.args, fn->args, sizeof(to.args));
	if (!sigframe_make(&c->before, c->top, &to, &frame, &go))
		return fault_set(f, E_UNSUPPORTED, -1,
				 "the processor's registers are not known here");
	if (!tracee_write(c->in, frame.at, frame.bytes, frame.n))
		return fault_set(f, E_IO, -1, "the thread's stack cannot be written");
	if (!tracee_block_signals(c->th, all_signals) || !tracee_set(c->th, &go)) {
		(void)tracee_restore(c->th, &c->before);
		return fault_set(f, E_IO, -1, "the thread's registers cannot be set");
	}
	rc = run_to_end(c, &frame, fn, f);
	if (rc == E_LIMIT || rc == E_NOT_FOUND)
		return rc;
	end = rc == E_DAMAGED ? 0 : stop_again(c, f);
	(void)tracee_restore(c->th, &c->before);
	return rc < 0 ? rc : end;
}

int thread_call_end(struct thread_call *c, struct fault *f)
{
	long syscall = safe_point_syscall(c->in, c->th);

	sigframe_mend(&c->before.regs, syscall, true);
	if (tracee_restore(c->th, &c->before))
		return 0;
	return fault_set(f, E_IO, -1, "the thread's registers could not be put back");
}
