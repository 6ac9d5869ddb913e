/* SPDX-License-Identifier: Apache-2.0 */
/* found.c - every two seconds /tmp is looked through for sockets of agents, which is cheap; every
 * fifteen all processes are, since those in containers have a /tmp of their own. */
#include "manager/fleet/found.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/attach/jvms.h"
#include "jvm/proc.h"

enum { LOOK_MS = 2000, FAR_LOOK_MS = 15000 };

static void add(struct found_agents *all, pid_t pid, pid_t ns_pid, uid_t uid)
{
	if (uid != geteuid() && geteuid() != 0)
		return;
	for (size_t k = 0; k < all->n; k++)
		if (all->peer[k].pid == pid)
			return;
	if (all->n < FOUND_MAX)
		all->peer[all->n++] = (struct link_peer){ pid, ns_pid, uid };
}

static void look_near(struct found_agents *all)
{
	DIR *dir = opendir("/tmp");
	struct proc_status st;
	struct dirent *e;
	int pid;

	while (dir && (e = readdir(dir)))
		if (sscanf(e->d_name, ".sonde_pid%d", &pid) == 1 && pid > 0 &&
		    proc_status(pid, &st) >= 0 && proc_same_root(pid))
			add(all, pid, st.ns_pid, st.uid);
	if (dir)
		closedir(dir);
}

static void look_far(struct found_agents *all)
{
	struct jvms jvms;

	if (jvms_read(&jvms) < 0)
		return;
	for (size_t k = 0; k < jvms.n; k++)
		if (jvms.v[k].has_socket)
			add(all, jvms.v[k].target.pid, jvms.v[k].target.ns_pid,
			    jvms.v[k].target.uid);
	jvms_release(&jvms);
}

unsigned long long found_begin(pid_t pid)
{
	struct buf text = { 0 };
	unsigned long long ticks = 0;
	const char *end;

	if (proc_read(pid, "stat", 4096, &text) >= 0) {
		buf_u8(&text, 0);
		end = text.err ? NULL : strrchr((const char *)text.p, ')');
		for (int field = 2; end && field < 22; field++)
			end = strchr(end + 1, ' ');
		ticks = end ? strtoull(end, NULL, 10) : 0;
	}
	buf_release(&text);
	return ticks;
}

bool found_look(struct found_agents *all, uint64_t now)
{
	if (now < all->near_ms)
		return false;
	all->near_ms = now + LOOK_MS;
	all->n = 0;
	look_near(all);
	if (now >= all->far_ms) {
		look_far(all);
		all->far_ms = now + FAR_LOOK_MS;
	}
	return true;
}

void found_where(char to[64])
{
	FILE *boot = fopen("/proc/sys/kernel/random/boot_id", "re");
	char id[12] = "", space[64];

	if (boot && !fgets(id, 9, boot))
		id[0] = '\0';
	if (boot)
		fclose(boot);
	proc_link(getpid(), "ns/pid", space, sizeof(space)); /* pid:[4026531836] */
	snprintf(to, 64, "%s.%.*s", id,
		 (int)strspn(space + strcspn(space, "0123456789"), "0123456789"),
		 space + strcspn(space, "0123456789"));
}
