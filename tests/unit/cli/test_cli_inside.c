/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* setgroups(), setresuid() */
#include "test.h"

#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jvm/inside.h"
#include "jvm/proc.h"

enum { SOMEBODY = 65533 };

/* A process of somebody else's, with groups of its own. */
static pid_t other_process(void)
{
	int up[2];
	char byte;
	pid_t pid;

	if (pipe(up) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		static const gid_t groups[] = { 4001, 4002 };

		if (setgroups(2, groups) != 0 || setresgid(SOMEBODY, SOMEBODY, SOMEBODY) != 0 ||
		    setresuid(SOMEBODY, SOMEBODY, SOMEBODY) != 0 || write(up[1], "", 1) != 1)
			_exit(1);
		close(up[0]);
		close(up[1]);
		pause();
		_exit(0);
	}
	close(up[1]);
	if (pid > 0 && read(up[0], &byte, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(up[0]);
	return pid;
}

static void act_as(pid_t pid)
{
	static const gid_t ours[] = { 0, 27 };
	gid_t is[8] = { 0 };
	uid_t real, effective, saved;
	struct inside in;

	CHECK_INT(setgroups(2, ours), 0, "our groups");
	CHECK_INT(inside_open(&in, pid, SOMEBODY, SOMEBODY), 0, "open");
	CHECK_INT(inside_enter(&in), 0, "enter");
	CHECK_INT(geteuid(), SOMEBODY, "user");
	CHECK_INT(getegid(), SOMEBODY, "group");
	CHECK_INT(getgroups(8, is), 2, "groups of the process");
	CHECK(is[0] == 4001 && is[1] == 4002);
	CHECK_INT(getresuid(&real, &effective, &saved), 0, "users");
	CHECK(real == 0 && saved == 0); /* the way back */
	inside_leave(&in);
	CHECK_INT(geteuid(), 0, "user again");
	CHECK_INT(getegid(), 0, "group again");
	CHECK_INT(getgroups(8, is), 2, "our groups again");
	CHECK(is[0] == 0 && is[1] == 27);
	inside_close(&in);
}

TEST(root_acts_with_the_groups_of_the_process_and_with_none_of_its_own)
{
	gid_t before[64];
	int n = getgroups(64, before);
	pid_t pid = geteuid() == 0 && n >= 0 ? other_process() : -1;

	if (pid < 0) /* not root, or in a namespace that has no other users */
		SKIP("not root");
	act_as(pid);
	CHECK_INT(setgroups((size_t)n, before), 0, "as before");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(groups_of_a_process_are_told_up_to_a_limit)
{
	gid_t all[64], some[64];
	int n = getgroups(64, all);

	CHECK_INT(proc_groups(getpid(), some, 64), n < 64 ? n : 64, "all");
	CHECK_INT(proc_groups(getpid(), some, 0), 0, "none asked for");
	CHECK(proc_groups(-1, some, 64) < 0);
}
