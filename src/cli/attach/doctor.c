/* SPDX-License-Identifier: Apache-2.0 */
/* doctor.c - what of a JVM can be told from /proc and its arguments: is it one, may we, will it.
 *
 * One function for each topic, in the order in which a person would ask. */
#include "cli/attach/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "jvm/proc.h"

enum { OLDEST_TESTED = 17, SILENT_BEFORE = 21 };

void doctor_say(struct patient *p, const char *topic, enum verdict v, const char *todo,
		const char *fmt, ...)
{
	struct finding f = { .topic = topic, .verdict = v };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f.text, sizeof(f.text), fmt, ap);
	va_end(ap);
	snprintf(f.todo, sizeof(f.todo), "%s", todo ? todo : "");
	p->wrong += v == DOCTOR_WRONG;
	p->report(p->ctx, &f);
}

/* ---- is it a JVM, and ours? -------------------------------------------------------------------- */

static void check_process(struct patient *p)
{
	const struct jvm *j = p->jvm;
	char age[32];

	switch (j->kind) {
	case JVM_HOTSPOT:
		doctor_say(p, "process", DOCTOR_OK, NULL, "HotSpot %.*s%s%.*s%s, running for %s",
			   j->vm_version.n ? (int)j->vm_version.n : (int)strlen(j->target.java),
			   j->vm_version.n ? (const char *)j->vm_version.p : j->target.java,
			   j->vm_vendor.n ? " (" : "", SLICE_FMT(j->vm_vendor),
			   j->vm_vendor.n ? ")" : "", jvm_age(j->uptime, age));
		break;
	case JVM_OPENJ9:
		doctor_say(p, "process", DOCTOR_WRONG,
			   "Run the program on a HotSpot JVM: most builds of OpenJDK are.",
			   "an OpenJ9 JVM; Sonde works with HotSpot only");
		break;
	case JVM_NATIVE_IMAGE:
		doctor_say(p, "process", DOCTOR_WRONG, "Run the program on a JVM.",
			   "a native image: Java compiled ahead of time, without a JVM in it");
		break;
	case JVM_STARTING:
		doctor_say(p, "process", DOCTOR_WRONG, "Try again in a moment.",
			   "java, but it has not loaded libjvm.so yet");
		break;
	case JVM_HIDDEN:
		doctor_say(p, "process", DOCTOR_NOTE, NULL, "java, by its name");
		break;
	case JVM_NOT:
		doctor_say(p, "process", DOCTOR_WRONG, "'sonde ps' lists the JVMs.",
			   "no JVM: %s has not loaded libjvm.so", j->comm);
		break;
	}
}

/* The JVM compares user and group of whoever talks to it with its own; root may be anybody. */
static void check_user(struct patient *p)
{
	const struct jvm *j = p->jvm;
	char theirs[64], ours[64], todo[300];

	jvm_user(j->target.uid, theirs);
	jvm_user(geteuid(), ours);
	snprintf(todo, sizeof(todo), "Do it as that user or as root: sudo -u %s sonde ...", theirs);
	if (!jvm_is_ours(j))
		doctor_say(p, "user", DOCTOR_WRONG, todo, "it belongs to user %s, you are %s",
			   theirs, ours);
	else if (geteuid() != 0 && getegid() != j->target.gid)
		doctor_say(p, "user", DOCTOR_WRONG,
			   "Do it as root, or with that group: 'newgrp', or 'sg GROUP -c COMMAND'.",
			   "it runs with group %u, you with %u; the JVM wants the same",
			   j->target.gid, getegid());
	else if (j->kind == JVM_HIDDEN || p->in->root < 0)
		doctor_say(p, "user", DOCTOR_WRONG, "Do it as root.",
			   "it is yours, but the system does not let you look into it; it has "
			   "capabilities, or was made undumpable");
	else if (geteuid() == j->target.uid)
		doctor_say(p, "user", DOCTOR_OK, NULL, "it runs as %s, as you do", theirs);
	else
		doctor_say(p, "user", DOCTOR_OK, NULL,
			   "it runs as %s; you are root, and will act as %s", theirs, theirs);
}

static void check_state(struct patient *p)
{
	const struct jvm *j = p->jvm;
	char go_on[64];

	snprintf(go_on, sizeof(go_on), "Let it go on: kill -CONT %d", j->target.pid);
	if (j->state == 'Z' || j->state == 'X')
		doctor_say(p, "state", DOCTOR_WRONG, NULL, "it has ended");
	else if (j->state == 'T')
		doctor_say(p, "state", DOCTOR_WRONG, go_on,
			   "it is stopped (SIGSTOP, or Ctrl-Z in its shell) and cannot answer");
	else if (j->state == 't')
		doctor_say(p, "state", DOCTOR_WRONG, "Let the debugger go on, or detach it.",
			   "a debugger holds it");
	else if (proc_frozen(j->target.pid))
		doctor_say(p, "state", DOCTOR_WRONG, "Thaw it: docker unpause, or its cgroup.",
			   "its cgroup is frozen (a paused container)");
	else
		doctor_say(p, "state", DOCTOR_OK, NULL, "it is running (%c)", j->state);
}

/* ---- does it take agents? ---------------------------------------------------------------------- */

static void check_version(struct patient *p)
{
	const struct jvm *j = p->jvm;

	if (!j->major)
		doctor_say(p, "version", DOCTOR_NOTE, NULL, "its Java version is not known");
	else if (j->major < OLDEST_TESTED)
		doctor_say(p, "version", DOCTOR_WARNING, NULL,
			   "Java %s; Sonde is tested with 17 and later", j->target.java);
	else
		doctor_say(p, "version", DOCTOR_OK, NULL, "Java %s", j->target.java);
}

static const char *const at_start =
	"Start it without that switch, or with the agent: -agentpath:/path/to/libsonde.so";

static void check_mechanism(struct patient *p)
{
	const struct jvm *j = p->jvm;

	if (j->can_attach == '0' || jvm_has_switch(j, "-XX:+DisableAttachMechanism"))
		doctor_say(p, "attach", DOCTOR_WRONG, at_start,
			   "it was started with -XX:+DisableAttachMechanism");
	else
		doctor_say(p, "attach", DOCTOR_OK, NULL, "its attach mechanism is on");
}

static void check_dynamic(struct patient *p)
{
	const struct jvm *j = p->jvm;

	if (jvm_has_switch(j, "-XX:-EnableDynamicAgentLoading"))
		doctor_say(p, "agents", DOCTOR_WRONG, at_start,
			   "it was started with -XX:-EnableDynamicAgentLoading");
	else if (j->major >= SILENT_BEFORE && !j->has_agent &&
		 !jvm_has_switch(j, "-XX:+EnableDynamicAgentLoading"))
		doctor_say(
			p, "agents", DOCTOR_WARNING,
			"To keep it silent, start it with -XX:+EnableDynamicAgentLoading, or with "
			"the agent.",
			"the JVM itself writes three lines of warning to its standard error when "
			"the agent is loaded");
	else
		doctor_say(p, "agents", DOCTOR_OK, NULL, "agents may be loaded while it runs");
}

/* Needed only when it does not listen yet. */
static void check_signal(struct patient *p)
{
	const struct jvm *j = p->jvm;
	char path[64];
	int listens;

	snprintf(path, sizeof(path), "/tmp/.java_pid%d", j->target.ns_pid);
	listens = proc_listens(j->target.pid, path);
	if (!j->is_live)
		doctor_say(p, "signal", DOCTOR_WRONG, "Try again in a moment.",
			   "it is still starting, and does not take agents yet");
	else if (listens == 1)
		doctor_say(p, "signal", DOCTOR_OK, NULL, "it listens already: no signal is needed");
	else if (j->catches_quit)
		doctor_say(p, "signal", DOCTOR_OK, NULL, "it takes SIGQUIT as a request to listen");
	else if (jvm_has_switch(j, "-Xrs"))
		doctor_say(p, "signal", DOCTOR_WRONG, at_start,
			   "it was started with -Xrs, so SIGQUIT would end it; and it does not "
			   "listen");
	else
		doctor_say(p, "signal", DOCTOR_WRONG, at_start,
			   "it does not catch SIGQUIT, which would end it; and it does not listen");
}

/* ---- does the library fit? --------------------------------------------------------------------- */

static void check_fit(struct patient *p)
{
	const struct library *lib = p->lib;
	struct elf_look exe;

	if (!lib) {
		doctor_say(p, "library", DOCTOR_WRONG, "Build it with 'make', or set SONDE_LIB.",
			   "%s", p->lib_fault->text);
		return;
	}
	if (elf_look_exe(p->jvm->target.pid, &exe) &&
	    (exe.machine != lib->elf.machine || exe.bits != lib->elf.bits))
		doctor_say(p, "library", DOCTOR_WRONG,
			   "Set SONDE_LIB to a libsonde.so made for that architecture.",
			   "the JVM is a program for %s, libsonde.so is for %s",
			   elf_machine_name(exe.machine), elf_machine_name(lib->elf.machine));
	else if (p->jvm->musl != lib->musl)
		doctor_say(p, "library", DOCTOR_WRONG,
			   "Set SONDE_LIB to a libsonde.so that was made with the same libc.",
			   "the JVM uses %s, libsonde.so was made for %s",
			   p->jvm->musl ? "musl (Alpine)" : "glibc", lib->musl ? "musl" : "glibc");
	else
		doctor_say(p, "library", DOCTOR_OK, NULL, "%s fits it", lib->path);
}

unsigned doctor_examine(struct patient *p)
{
	check_process(p);
	check_user(p);
	if (p->wrong)
		return p->wrong;
	check_state(p);
	check_version(p);
	check_mechanism(p);
	check_dynamic(p);
	check_signal(p);
	check_fit(p);
	doctor_files(p);
	return p->wrong;
}
