/* SPDX-License-Identifier: Apache-2.0 */
/* proc.h - what /proc tells about a process, read with bounds and without trust.
 *
 * Everything here may be out of date as soon as it was read: a process can end, and its number
 * can be given to another, at any moment. */
#ifndef JVM_PROC_H
#define JVM_PROC_H

#include <dirent.h>
#include <sys/types.h>

#include "base/buf.h"

struct proc_status {
	char comm[32];
	char state;	 /* R, S, D, T, t, Z, X */
	pid_t tgid;	 /* the process, when pid was that of a thread */
	pid_t ns_pid;	 /* as it sees itself */
	unsigned levels; /* of pid namespaces, from ours to its own: 1 is ours */
	uid_t uid;	 /* effective */
	gid_t gid;
	uint64_t caught, ignored; /* bit s - 1: signal s */
};

/* Appends /proc/PID/NAME to out, at most `max` bytes of it.  0, or E_NOT_FOUND when the process is
 * not there, E_IO when it may not be read (errno says why). */
int proc_read(pid_t pid, const char *name, size_t max, struct buf *out);

int proc_status(pid_t pid, struct proc_status *out);
/* The supplementary groups of the process, at most `cap` of them; how many, or as proc_read. */
int proc_groups(pid_t pid, gid_t *out, size_t cap);
double proc_uptime(pid_t pid); /* seconds since it started; negative: not known */

/* The text behind /proc/PID/NAME, a link; "" when it cannot be read. */
void proc_link(pid_t pid, const char *name, char *to, size_t cap);
bool proc_same_root(pid_t pid); /* does a path mean the same there?  false when not known */
bool proc_same_ns(pid_t pid, const char *name); /* "pid", "mnt": ours? true when not known */

DIR *proc_threads(pid_t pid);		/* NULL: it is not there */
const char *proc_next_thread(DIR *dir); /* its number; NULL: no more, or no dir */
enum { PROC_THREAD_LINE = 64 };
/* The first line of a thread's file, as text, which is cut off there; "" when it cannot be read. */
const char *proc_thread_line(pid_t pid, const char *tid, const char *name,
			     char text[PROC_THREAD_LINE]);
unsigned proc_count_threads(pid_t pid, const char *comm); /* of that name, cut off at 15 bytes */

bool proc_frozen(pid_t pid); /* by a cgroup's freezer */

/* Does the process listen on a Unix socket that was bound to PATH or PATH.tmp?  The file may have
 * been renamed or removed since.  1, 0, or -1: not known. */
int proc_listens(pid_t pid, const char *path);

/* The next line of text, without its end, moved over; false at the end. */
bool proc_line(struct slice *text, struct slice *line);
/* The same for the strings of cmdline and environ, each with a NUL behind it. */
bool proc_next_string(struct slice *list, struct slice *one);

#endif
