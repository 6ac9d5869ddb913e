/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - where the agent of a JVM listens. */
#include "cli/attach/target.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/wire.h"

static bool is_socket_of(const char *path, uid_t uid)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == uid;
}

void target_socket(const struct target *t, char *path, size_t cap)
{
	char second[TARGET_SOCKET_MAX];

	if (t->beside) {
		snprintf(path, cap, "/proc/%d/root" WIRE_SOCKET_NATIVE, t->pid, t->ns_pid);
		return;
	}
	snprintf(path, cap, "/proc/%d/root" WIRE_SOCKET, t->pid, t->ns_pid);
	snprintf(second, sizeof(second), "/proc/%d/root" WIRE_SOCKET_2, t->pid, t->ns_pid);
	if (!is_socket_of(path, t->uid) && is_socket_of(second, t->uid))
		snprintf(path, cap, "%s", second);
}

bool target_is_observed(const struct target *t)
{
	char path[TARGET_SOCKET_MAX];

	target_socket(t, path, sizeof(path));
	return is_socket_of(path, t->uid);
}

void target_remove_socket(pid_t ended)
{
	char path[TARGET_SOCKET_MAX];

	static const char *const suffixes[] = { "", ".2", ".native" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(path, sizeof(path), WIRE_SOCKET "%s", ended, suffixes[i]);
		if (is_socket_of(path, geteuid()))
			unlink(path);
	}
}

struct target target_beside(const struct target *t)
{
	struct target other = *t;

	other.beside = true;
	return other;
}

const char *target_socket_inside(const char *path)
{
	return strstr(path, "/tmp/");
}
