/* SPDX-License-Identifier: Apache-2.0 */
/* finder.c - which processes of this host have an agent, and which have ended.
 *
 * Every two seconds /tmp is looked through for sockets of agents, which is cheap; every fifteen all
 * processes are, since those in containers have a /tmp of their own. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/attach/jvms.h"
#include "jvm/proc.h"
#include "manager/fleet/fleet.h"

enum { LOOK_MS = 2000, FAR_LOOK_MS = 15000, FORGET_MS = 600000, FOUND_MAX = 4000 };

struct found {
	struct link_peer peer[FOUND_MAX];
	size_t n;
};

static void add(struct found *all, pid_t pid, pid_t ns_pid, uid_t uid)
{
	if (uid != geteuid() && geteuid() != 0)
		return;
	for (size_t k = 0; k < all->n; k++)
		if (all->peer[k].pid == pid)
			return;
	if (all->n < FOUND_MAX)
		all->peer[all->n++] = (struct link_peer){ pid, ns_pid, uid };
}

static void look_near(struct found *all)
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

static void look_far(struct found *all)
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

/* When it began, in ticks since the machine did; 0: it is not there. */
static unsigned long long begin_of(pid_t pid)
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

static void name_user(uid_t uid, char to[64])
{
	char text[64];

	snprintf(to, 64, "%s", jvm_user(uid, text));
}

static void join(struct fleet *f, const struct link_peer *peer)
{
	unsigned long long ticks = begin_of(peer->pid);
	char id[FLEET_ID];
	struct instance *i;

	snprintf(id, sizeof(id), "%s-%d-%llx%s", f->host, (int)peer->pid, ticks, f->boot);
	if (!ticks || f->n_instances >= FLEET_INSTANCES || fleet_instance(f, slice_str(id)))
		return;
	i = mem_alloc(sizeof(*i));
	if (!i)
		return;
	*i = (struct instance){ .peer = *peer, .begin_ticks = ticks, .next = f->instances };
	snprintf(i->id, sizeof(i->id), "%s", id);
	name_user(peer->uid, i->user);
	i->link.fd = i->tracing.fd = -1;
	i->last = &i->asks;
	i->since_ms = i->seen_ms = fleet_day_ms();
	f->instances = i;
	f->n_instances++;
}

static void forget(struct fleet *f, struct instance **at)
{
	struct instance *i = *at;

	*at = i->next;
	f->n_instances--;
	poll_forget(i);
	reconcile_forget(i);
	link_close(&i->link);
	mem_free(i);
}

static void see_ends(struct fleet *f)
{
	uint64_t now = fleet_day_ms();

	for (struct instance **at = &f->instances; *at;) {
		struct instance *i = *at;

		/* another process may have its number by now */
		if (i->state != INSTANCE_ENDED && begin_of(i->peer.pid) != i->begin_ticks)
			session_end(f, i);
		if (i->state == INSTANCE_ENDED && !i->asks && now - i->ended_ms > FORGET_MS)
			forget(f, at);
		else
			at = &i->next;
	}
}

void finder_step(struct fleet *f, uint64_t now)
{
	static struct found all; /* of the one thread that looks */

	if (now < f->look_ms)
		return;
	f->look_ms = now + LOOK_MS;
	all.n = 0;
	look_near(&all);
	if (now >= f->far_look_ms) {
		look_far(&all);
		f->far_look_ms = now + FAR_LOOK_MS;
	}
	pthread_mutex_lock(&f->lock);
	for (size_t k = 0; k < all.n; k++)
		join(f, &all.peer[k]);
	see_ends(f);
	pthread_mutex_unlock(&f->lock);
}
