/* SPDX-License-Identifier: Apache-2.0 */
/* jvms.h - the JVMs of this machine, and what can be told about each from outside.
 *
 * A JVM is a process that has libjvm.so mapped.  Its own account of itself (hsperf.h) is used where
 * there is one, else its command line.  Nothing here disturbs the process.  What the process says
 * about itself may hold any bytes: it is escaped where it is printed.
 *
 * Texts live in the arena that was given. */
#ifndef CLI_ATTACH_JVMS_H
#define CLI_ATTACH_JVMS_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/attach/target.h"
#include "jvm/hsperf.h"

enum jvm_kind {
	JVM_NOT, /* some other program */
	JVM_HOTSPOT,
	JVM_OPENJ9,
	JVM_NATIVE_IMAGE, /* Java compiled ahead of time: there is no JVM in it */
	JVM_STARTING,	  /* java, which has not loaded libjvm.so yet */
	JVM_HIDDEN,	  /* java, by its name; but it may not be looked into */
};

struct jvm {
	struct target target;
	enum jvm_kind kind;
	char comm[32];
	char state;	      /* of proc_status */
	unsigned pid_levels;  /* 1: our pid namespace */
	bool catches_quit;    /* SIGQUIT has a handler */
	bool is_live;	      /* it has got through its start */
	double uptime;	      /* seconds; negative: not known */
	unsigned major;	      /* 17; 0: not known */
	char can_attach;      /* '1' or '0' by its own account; '?' */
	struct slice main;    /* main class with package, or path of the jar */
	struct slice args;    /* of the program */
	struct slice vm_args; /* of the JVM: all that is known, later ones overrule earlier ones */
	struct slice vm_version, vm_vendor;
	char *libjvm;	 /* path, as it sees it; NULL */
	char *java_home; /* NULL */
	bool musl;	 /* its libc is musl */
	bool has_agent;	 /* libsonde is mapped */
	bool has_socket; /* the agent's socket is there */
	struct hsperf_counts counts;
};

struct jvms {
	struct arena mem;
	struct jvm *v; /* by pid */
	size_t n, cap;
};

/* 0, also for what is JVM_NOT; E_NOT_FOUND: no such process. */
int jvm_read(pid_t pid, struct arena *mem, struct jvm *out);

/* All but JVM_NOT.  Processes that end meanwhile are passed over. */
int jvms_read(struct jvms *all);
/* ... and the native processes in which the agent listens. */
int jvms_read_observed(struct jvms *all);
void jvms_release(struct jvms *all);

bool jvm_has_switch(const struct jvm *jvm, const char *text); /* see jvm_args_has */

/* May we look into it: as its user, or as root? */
bool jvm_is_ours(const struct jvm *jvm);

const char *jvm_user(uid_t uid, char text[64]);	    /* name, or number */
const char *jvm_age(double seconds, char text[32]); /* "3 d 4 h", "12 s" */

#endif
