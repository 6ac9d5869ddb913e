/* SPDX-License-Identifier: Apache-2.0 */
/* trap.c - the handler of SIGTRAP and SIGILL, in front of whoever had them before. */
#include "native/trap.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native_arch.h"

enum { LOOKS = 500 };

/* One of the two signals. */
struct caught {
	int signal;
	bool installed;
	struct sigaction before;
};

static struct {
	struct caught trap, illegal;
	trap_find *find;
	int looks; /* how often to look whether a thread still blocks them */
} trap = { .trap = { .signal = SIGTRAP }, .illegal = { .signal = SIGILL }, .looks = LOOKS };

/* As if nobody had handled it.  Traps of the processor end a program that ignores them, too. */
static void end_by(int sig)
{
	signal(sig, SIG_DFL);
	(void)syscall(SYS_tgkill, getpid(), native_gettid(), sig);
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
	const struct sigaction *before = sig == SIGILL ? &trap.illegal.before : &trap.trap.before;

	if (before->sa_flags & SA_SIGINFO) {
		before->sa_sigaction(sig, info, context);
	} else if (before->sa_handler == SIG_DFL ||
		   (before->sa_handler == SIG_IGN && info->si_code > 0)) {
		end_by(sig);
	} else if (before->sa_handler != SIG_IGN) {
		before->sa_handler(sig);
	}
}

/* The program counter is behind the one byte of a trap, and at an instruction that is none. */
static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uintptr_t pc = native_pc(u), to = 0;

	if (sig == SIGTRAP && info->si_code == SI_KERNEL)
		to = trap.find(pc - 1);
	else if (sig == SIGILL && info->si_code > 0)
		to = trap.find(pc);
	if (to)
		native_set_pc(u, to);
	else
		pass_on(sig, info, context);
}

/* Does this thread, by its directory in /proc, hold one of these signals back? */
static bool blocks(const char *tid, unsigned long long which)
{
	unsigned long long blocked = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/status", tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &blocked) == 1)
			break;
	if (f)
		fclose(f);
	return (blocked & which) != 0;
}

static bool any_blocks(unsigned long long which)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;
	int32_t self = native_gettid();
	bool found = !dir;

	while (dir && !found && (e = readdir(dir)))
		found = e->d_name[0] != '.' && atoi(e->d_name) != self && blocks(e->d_name, which);
	if (dir)
		closedir(dir);
	return found;
}

/* NULL: it is ours. */
static const char *install(struct caught *c)
{
	struct sigaction now,
		ours = { .sa_sigaction = on_trap,
			 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART };

	if (!c->installed) {
		sigemptyset(&ours.sa_mask);
		if (sigaction(c->signal, &ours, &c->before) != 0)
			return "SIGTRAP cannot be handled";
		c->installed = true;
	}
	if (sigaction(c->signal, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO) ||
	    now.sa_sigaction != on_trap)
		return c->signal == SIGILL ? "somebody else handles SIGILL now"
					   : "somebody else handles SIGTRAP now";
	return NULL;
}

const char *trap_ready(trap_find *find, bool illegal)
{
	unsigned long long which = 1ULL << (SIGTRAP - 1);
	const char *why;

	trap.find = find;
	why = install(&trap.trap);
	if (!why && illegal) {
		which |= 1ULL << (SIGILL - 1);
		why = install(&trap.illegal);
	}
	if (why)
		return why;
	/* One that is just being started does for a moment; of one that does for good the next
	 * functions are not to wait as long. */
	for (int i = 0; i < trap.looks; i++) {
		if (!any_blocks(which)) {
			trap.looks = LOOKS;
			return NULL;
		}
		usleep(1000);
	}
	trap.looks = 1;
	return illegal ? "a thread of the program blocks SIGTRAP or SIGILL"
		       : "a thread of the program blocks SIGTRAP";
}

static bool release(struct caught *c)
{
	struct sigaction now;

	if (!c->installed)
		return true;
	if (sigaction(c->signal, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO) ||
	    now.sa_sigaction != on_trap)
		return false;
	c->installed = sigaction(c->signal, &c->before, NULL) != 0;
	return !c->installed;
}

bool trap_release(void)
{
	bool first = release(&trap.trap);

	return release(&trap.illegal) && first;
}
