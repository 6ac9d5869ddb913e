/* SPDX-License-Identifier: Apache-2.0 */
/* finder.c - takes processes of this machine that have an agent into the fleet, and those that have
 * ended out of it, some time after. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/attach/jvms.h"
#include "manager/fleet/fleet.h"
#include "manager/fleet/found.h"

enum { FORGET_MS = 600000 };

static void name_user(uid_t uid, char to[64])
{
	char text[64];

	snprintf(to, 64, "%s", jvm_user(uid, text));
}

static void join(struct fleet *f, const struct link_peer *peer)
{
	unsigned long long ticks = found_begin(peer->pid);
	char id[FLEET_ID];
	struct instance *i;

	snprintf(id, sizeof(id), "%s-%d-%llx%s", f->host, (int)peer->pid, ticks, f->boot);
	if (!ticks || fleet_instance(f, slice_str(id)))
		return;
	i = fleet_join(f, id);
	if (!i)
		return;
	i->peer = *peer;
	i->begin_ticks = ticks;
	snprintf(i->host, sizeof(i->host), "%s", f->host);
	name_user(peer->uid, i->user);
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
	uint64_t now = clock_day_ms();

	for (struct instance **at = &f->instances; *at;) {
		struct instance *i = *at;

		/* another process may have its number by now */
		if (!i->relay && i->state != INSTANCE_ENDED &&
		    found_begin(i->peer.pid) != i->begin_ticks)
			session_end(f, i);
		if (i->state == INSTANCE_ENDED && !i->asks && now - i->ended_ms > FORGET_MS)
			forget(f, at);
		else
			at = &i->next;
	}
}

void finder_step(struct fleet *f, uint64_t now)
{
	static struct found_agents all; /* of the one thread that looks */

	if (!found_look(&all, now))
		return;
	pthread_mutex_lock(&f->lock);
	for (size_t k = 0; k < all.n && !f->config->relays_only; k++)
		join(f, &all.peer[k]);
	see_ends(f);
	pthread_mutex_unlock(&f->lock);
}
