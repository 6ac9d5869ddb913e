/* SPDX-License-Identifier: Apache-2.0 */
/* refuse.c - /proc/PID/status, the program's file, and what is mapped. */
#define _GNU_SOURCE /* memmem() */
#include "inject/refuse.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jvm/elf_look.h"
#include "jvm/proc.h"

enum { STATUS_MAX = 1 << 16, MAPS_MAX = 32 << 20, SECCOMP_FILTER = 2 };

struct look {
	pid_t pid;
	struct buf status, maps;
	refuse_report *report;
	void *ctx;
	unsigned n;
};

long refuse_status_number(struct slice status, const char *key, unsigned field)
{
	struct slice line;
	size_t n = strlen(key);

	while (proc_line(&status, &line)) {
		char text[256], *at = text;

		if (line.n <= n || memcmp(line.p, key, n) != 0 || line.p[n] != ':')
			continue;
		snprintf(text, sizeof(text), "%.*s", SLICE_FMT(line));
		at += n + 1;
		for (unsigned i = 0; i < field; i++)
			(void)strtol(at, &at, 10);
		return strtol(at, NULL, 10);
	}
	return -1;
}

__attribute__((format(printf, 4, 5))) static void say(struct look *l, const char *topic,
						      const char *todo, const char *fmt, ...)
{
	struct refusal r = { .can_insist = false };
	va_list ap;

	snprintf(r.topic, sizeof(r.topic), "%s", topic);
	snprintf(r.todo, sizeof(r.todo), "%s", todo);
	va_start(ap, fmt);
	vsnprintf(r.why, sizeof(r.why), fmt, ap);
	va_end(ap);
	r.can_insist = strcmp(topic, "filter") == 0;
	l->report(l->ctx, &r);
	l->n++;
}

static long status_of(const struct look *l, const char *key, unsigned field)
{
	return refuse_status_number(buf_slice(&l->status), key, field);
}

static bool maps_have(const struct look *l, const char *text)
{
	return l->maps.n && memmem(l->maps.p, l->maps.n, text, strlen(text));
}

/* ---- who it is ---------------------------------------------------------------------------- */

static void look_at_user(struct look *l)
{
	long real = status_of(l, "Uid", 0), effective = status_of(l, "Uid", 1);

	if (geteuid() != 0 && (long)geteuid() != effective) {
		say(l, "user", "Do this as that user, or as root.",
		    "it belongs to the user with the id %ld", effective);
		return;
	}
	if (real != effective || status_of(l, "Uid", 2) != effective ||
	    status_of(l, "Gid", 0) != status_of(l, "Gid", 1))
		say(l, "user", "Start it as the user whose rights it is to have.",
		    "it runs with more rights than who started it (setuid)");
}

static void look_at_tracer(struct look *l)
{
	long tracer = status_of(l, "TracerPid", 0);
	struct proc_status s = { .comm = "?" };

	if (tracer <= 0)
		return;
	(void)proc_status((pid_t)tracer, &s);
	say(l, "tracer", "End that first: a process has one tracer at a time.",
	    "process %ld (%s) traces it", tracer, s.comm);
}

static int yama(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

static void look_at_permission(struct look *l)
{
	int scope = yama(), fd;
	char path[64];

	if (scope == 3 || (scope && geteuid() != 0)) {
		say(l, "ptrace",
		    scope == 3 ? "Nothing lifts that but a restart of the system."
			       : "Do this as root, or: sysctl kernel.yama.ptrace_scope=0",
		    "the system lets %s trace others (kernel.yama.ptrace_scope is %d)",
		    scope == 3 ? "nobody" : "root alone", scope);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", l->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		say(l, "ptrace", "Do this as root, with CAP_SYS_PTRACE.",
		    "the system does not let it be traced");
	if (fd >= 0)
		close(fd);
}

/* ---- what it runs ------------------------------------------------------------------------- */

static uint16_t own_machine(void)
{
	struct elf_look e = { .machine = 0 };

	(void)elf_look_exe(getpid(), &e);
	return e.machine;
}

static void look_at_program(struct look *l)
{
	static const char todo[] = "Use a sampling profiler of the system, as perf, on it instead.";
	struct elf_look e;

	if (!elf_look_exe(l->pid, &e))
		return;
	if (e.bits != ELFCLASS64 || e.machine != own_machine())
		say(l, "program", todo, "it is a program of another kind (%s), Sonde works with %s",
		    e.bits != ELFCLASS64 ? "32 bits" : elf_machine_name(e.machine),
		    elf_machine_name(own_machine()));
	else if (maps_have(l, "/ld-musl-"))
		say(l, "program", "Run it where its libc is glibc.",
		    "its libc is musl, and libsonde-native.so is made for glibc");
	else if (l->maps.n && !maps_have(l, "/libc.so.6") && !maps_have(l, "/libc-2."))
		say(l, "program", todo,
		    "it is linked statically, or without libc: no library can be loaded into it");
}

static void look_at_state(struct look *l)
{
	struct proc_status s;

	if (proc_status(l->pid, &s) < 0)
		return;
	if (s.state == 'T')
		say(l, "state", "Let it go on first, with kill -CONT.",
		    "it is stopped by a signal");
	else if (s.state == 'Z' || s.state == 'X')
		say(l, "state", "There is nothing left to look into.", "it has ended");
	else if (proc_frozen(l->pid))
		say(l, "state", "Thaw its cgroup first.", "it is frozen");
}

static void look_at_hardening(struct look *l)
{
	if (status_of(l, "Seccomp", 0) == SECCOMP_FILTER)
		say(l, "filter",
		    "If it allows threads, Unix sockets and mapping of code, say --yes.",
		    "a filter of system calls (seccomp) is in force, and may end it for what "
		    "loading a library takes");
	if (memmem(l->status.p, l->status.n, "shstk", 5))
		say(l, "hardening", "Start it without GLIBC_TUNABLES=...x86_shstk.",
		    "a shadow stack guards its returns");
}

unsigned refuse_look(pid_t pid, refuse_report *report, void *ctx)
{
	struct look l = { .pid = pid, .report = report, .ctx = ctx };

	if (proc_read(pid, "status", STATUS_MAX, &l.status) >= 0) {
		(void)proc_read(pid, "maps", MAPS_MAX, &l.maps);
		look_at_user(&l);
		look_at_tracer(&l);
		if (!l.n)
			look_at_permission(&l);
		look_at_program(&l);
		look_at_state(&l);
		look_at_hardening(&l);
	}
	buf_release(&l.status);
	buf_release(&l.maps);
	return l.n;
}
