/* SPDX-License-Identifier: Apache-2.0 */
/* trap.c - the handler of SIGTRAP, in front of whoever had it before. */
#include "native/trap.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native_arch.h"

enum { LOOKS = 500 };

static struct {
	bool installed;
	struct sigaction before;
	trap_find *find;
	int looks; /* how often to look whether a thread still blocks it */
} trap = { .looks = LOOKS };

/* As if nobody had handled it.  Traps of the processor end a program that ignores them, too. */
static void end_by(int sig)
{
	signal(sig, SIG_DFL);
	(void)syscall(SYS_tgkill, getpid(), native_gettid(), sig);
}

static void pass_on(int sig, siginfo_t *info, void *context)
{
	if (trap.before.sa_flags & SA_SIGINFO) {
		trap.before.sa_sigaction(sig, info, context);
	} else if (trap.before.sa_handler == SIG_DFL ||
		   (trap.before.sa_handler == SIG_IGN && info->si_code > 0)) {
		end_by(sig);
	} else if (trap.before.sa_handler != SIG_IGN) {
		trap.before.sa_handler(sig);
	}
}

/* The program counter is behind the trap's one byte. */
static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	uintptr_t at = native_pc(u) - 1, to;

	to = info->si_code == SI_KERNEL ? trap.find(at) : 0;
	if (to)
		native_set_pc(u, to);
	else
		pass_on(sig, info, context);
}

/* Does this thread, by its directory in /proc, hold SIGTRAP back? */
static bool blocks(const char *tid)
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
	return blocked >> (SIGTRAP - 1) & 1;
}

static bool any_blocks(void)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;
	int32_t self = native_gettid();
	bool found = !dir;

	while (dir && !found && (e = readdir(dir)))
		found = e->d_name[0] != '.' && atoi(e->d_name) != self && blocks(e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

const char *trap_ready(trap_find *find)
{
	struct sigaction now,
		ours = { .sa_sigaction = on_trap,
			 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART };

	trap.find = find;
	if (!trap.installed) {
		sigemptyset(&ours.sa_mask);
		if (sigaction(SIGTRAP, &ours, &trap.before) != 0)
			return "SIGTRAP cannot be handled";
		trap.installed = true;
	}
	if (sigaction(SIGTRAP, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO) ||
	    now.sa_sigaction != on_trap)
		return "somebody else handles SIGTRAP now";
	/* One that is just being started does for a moment; of one that does for good the next
	 * functions are not to wait as long. */
	for (int i = 0; i < trap.looks; i++) {
		if (!any_blocks()) {
			trap.looks = LOOKS;
			return NULL;
		}
		usleep(1000);
	}
	trap.looks = 1;
	return "a thread of the program blocks SIGTRAP";
}

bool trap_release(void)
{
	struct sigaction now;

	if (!trap.installed)
		return true;
	if (sigaction(SIGTRAP, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO) ||
	    now.sa_sigaction != on_trap)
		return false;
	trap.installed = sigaction(SIGTRAP, &trap.before, NULL) != 0;
	return !trap.installed;
}
