/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - the files of a process as that process sees them, and the power of its user.
 *
 * A process in a container has another root directory and another /tmp.  Both are reached through
 * /proc, by descriptors that are opened once, with our own rights; paths below them are resolved
 * as if its root were ours, so that a link in a hostile container never leads out of it.
 *
 * Root acts as the user of the process between inside_enter() and inside_leave(): the JVM wants
 * that, and what a container holds then cannot make root do more than its user may.  One thread. */
#ifndef JVM_INSIDE_H
#define JVM_INSIDE_H

#include <sys/types.h>

#include "base/err.h"

struct inside {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	int root, cwd, tmp; /* O_PATH; -1: cannot be reached, and errno of that */
	int root_errno, cwd_errno, tmp_errno;
	bool entered;
	gid_t our_gid; /* to go back to */
	gid_t *our_groups;
	int n_groups;
};

/* Always to be closed, also when nothing could be reached: E_IO then, and root_errno says why. */
int inside_open(struct inside *in, pid_t pid, uid_t uid, gid_t gid);
void inside_close(struct inside *in);

/* Takes on the user and all groups of the process, if we are root and it is somebody else's.  E_IO
 * when that is not allowed; nothing has changed then.  Only the effective user and group change:
 * the real and saved ones stay root's, so that there is a way back, and so that the user can
 * neither trace nor signal us meanwhile. */
int inside_enter(struct inside *in);
void inside_leave(struct inside *in); /* keeps errno */

/* open() of an absolute path in its file system.  -1 and errno. */
int inside_file(const struct inside *in, const char *path, int flags, mode_t mode);

/* "/proc/self/fd/N/NAME": reaches a file in a directory opened here, for calls without an *at(). */
void inside_path(int dir, const char *name, char *path, size_t cap);

#endif
