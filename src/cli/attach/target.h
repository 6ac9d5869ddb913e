/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - the JVM that a command is about.
 *
 * A person names it by its pid, by its main class (com.shop.Main, shop.Main or Main) or its jar
 * (shop.jar or shop), or not at all when there is only one.  Everything in struct target was read
 * from /proc when it was found, and may be out of date by the time it is used. */
#ifndef CLI_ATTACH_TARGET_H
#define CLI_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { TARGET_SOCKET_MAX = 64 };

struct target {
	pid_t pid;    /* as we see it */
	pid_t ns_pid; /* as it sees itself: another number in a container */
	uid_t uid;    /* effective, as are those of its files */
	gid_t gid;
	char name[256]; /* main class, or file name of the jar */
	char java[32];	/* "17.0.15"; "" when not known */
	bool is_jvm;
	bool is_native; /* there is no JVM in it */
	bool beside;	/* not the JVM's agent is meant, but that of native functions beside it */
};

/* text may be NULL: the only JVM there is.  CLI_DONE; or, after a message that says why not and
 * which JVMs there are, an exit status. */
int target_find(const char *text, struct target *out);

/* The same, or any process by its number that the agent of native processes could be loaded into. */
int target_find_any(const char *text, struct target *out);

/* The same, but also of those that no command can work with: other users', OpenJ9, not a JVM. */
int target_pick(const char *text, pid_t *pid);

/* Where its agent listens, as a path that reaches into its container: at most TARGET_SOCKET_MAX
 * bytes.  The agent decides: it may be another path once it is in. */
void target_socket(const struct target *t, char *path, size_t cap);

/* Does some agent's socket lie there?  So a native process is known that can be asked. */
bool target_is_observed(const struct target *t);

/* The socket's path as the process sees it. */
const char *target_socket_inside(const char *path);
struct target target_beside(const struct target *t);
void target_remove_socket(pid_t ended); /* of a process of ours that had no time to do so */

#endif
