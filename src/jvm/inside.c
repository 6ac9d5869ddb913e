/* SPDX-License-Identifier: Apache-2.0 */
/* inside.c - descriptors of another process's directories, and its user's rights for a while.
 *
 * The directories are opened before the user is changed: /proc/PID/root may be followed by those
 * who may trace the process, which its own user may not when it has capabilities. */
#define _GNU_SOURCE /* O_PATH, setgroups() */
#include "jvm/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/proc.h"

enum { GROUPS_MAX = 256 }; /* of the process; with more of them we act with fewer */

static int open_link(pid_t pid, const char *name, int *why)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*why = fd < 0 ? errno : 0;
	return fd;
}

int inside_open(struct inside *in, pid_t pid, uid_t uid, gid_t gid)
{
	*in = (struct inside){ .pid = pid, .uid = uid, .gid = gid, .tmp = -1 };
	in->root = open_link(pid, "root", &in->root_errno);
	in->cwd = open_link(pid, "cwd", &in->cwd_errno);
	if (in->root >= 0)
		in->tmp = inside_file(in, "/tmp", O_PATH | O_DIRECTORY, 0);
	in->tmp_errno = in->tmp < 0 ? (in->root < 0 ? in->root_errno : errno) : 0;
	return in->root < 0 ? E_IO : 0;
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void inside_close(struct inside *in)
{
	shut(&in->root);
	shut(&in->cwd);
	shut(&in->tmp);
}

/* Ours, to go back to.  There may be thousands. */
static int keep_groups(struct inside *in)
{
	int n = getgroups(0, NULL);

	in->our_groups = n >= 0 ? mem_alloc((size_t)(n ? n : 1) * sizeof(gid_t)) : NULL;
	in->n_groups = in->our_groups ? getgroups(n, in->our_groups) : -1;
	return in->n_groups < 0 ? E_IO : 0;
}

int inside_enter(struct inside *in)
{
	gid_t theirs[GROUPS_MAX];
	int n;

	if (in->entered || geteuid() != 0 || (in->uid == 0 && in->gid == getegid()))
		return 0;
	in->our_gid = getegid();
	n = proc_groups(in->pid, theirs, GROUPS_MAX);
	if (n < 0 || keep_groups(in) < 0)
		goto failed;
	in->entered = true;
	if (setgroups((size_t)n, theirs) != 0 || setegid(in->gid) != 0 || seteuid(in->uid) != 0)
		goto failed;
	return 0;
failed:
	inside_leave(in);
	return E_IO;
}

void inside_leave(struct inside *in)
{
	int keep = errno;

	/* Cannot fail: root is still our saved user.  If it did, we would go on with less power. */
	if (in->entered && seteuid(0) == 0) {
		(void)!setegid(in->our_gid);
		(void)!setgroups((size_t)in->n_groups, in->our_groups);
	}
	mem_free(in->our_groups);
	in->our_groups = NULL;
	in->entered = false;
	errno = keep;
}

/* As openat2() with RESOLVE_IN_ROOT, but for links: they are refused. */
static int open_by_steps(int root, const char *path, int flags, mode_t mode)
{
	int dir = dup(root), next;
	char name[256];

	while (dir >= 0) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n >= sizeof(name) || (n == 2 && memcmp(path, "..", 2) == 0)) {
			errno = EINVAL;
			break;
		}
		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		path += n;
		if (!*path) {
			next = openat(dir, n ? name : ".", flags | O_CLOEXEC | O_NOFOLLOW, mode);
			close(dir);
			return next;
		}
		next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
		dir = next;
	}
	shut(&dir);
	return -1;
}

int inside_file(const struct inside *in, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	if (in->root < 0) {
		errno = in->root_errno;
		return -1;
	}
	fd = syscall(SYS_openat2, in->root, path, &how, sizeof(how));
	if (fd >= 0 || errno != ENOSYS)
		return (int)fd;
	return open_by_steps(in->root, path, flags, mode); /* before Linux 5.6 */
}

void inside_path(int dir, const char *name, char *path, size_t cap)
{
	snprintf(path, cap, "/proc/self/fd/%d/%s", dir, name);
}
