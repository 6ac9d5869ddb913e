/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_loop.c - the thread that talks to agents: one poll() for all of them. */

#include "manager/fleet/fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "manager/fleet/carried.h"
#include "manager/fleet/digs.h"
#include "manager/fleet/others.h"
#include "manager/fleet/relays.h"

enum { TICK_MS = 100, SLOT_MS = 10000 };

const char *instance_state_word(enum instance_state state)
{
	static const char *const words[] = { "connecting", "connected", "reconnecting", "ended" };

	return words[state];
}

/* ---- who is there ---- */

struct app *fleet_app(struct fleet *f, struct slice name)
{
	struct app *a = f->apps;

	while (a && !slice_is(name, a->name))
		a = a->next;
	return a;
}

struct app *fleet_app_make(struct fleet *f, struct slice name)
{
	struct slice cut = { name.p, name.n < HUB_APP - 1 ? name.n : HUB_APP - 1 };
	struct app *a = fleet_app(f, cut), **at = &f->apps;

	if (a)
		return a;
	a = mem_alloc(sizeof(*a));
	if (!a)
		return NULL;
	*a = (struct app){ .plan = { .keep_traces = true, .one_in = 100 } };
	snprintf(a->name, sizeof(a->name), "%.*s", SLICE_FMT(cut));
	while (*at && strcmp((*at)->name, a->name) < 0)
		at = &(*at)->next;
	a->next = *at;
	*at = a;
	return a;
}

struct instance *fleet_instance(struct fleet *f, struct slice id)
{
	struct instance *i = f->instances;

	while (i && !slice_is(id, i->id))
		i = i->next;
	return i;
}

struct instance *fleet_join(struct fleet *f, const char *id)
{
	struct instance *i = f->n_instances < FLEET_INSTANCES ? mem_alloc(sizeof(*i)) : NULL;

	if (!i)
		return NULL;
	*i = (struct instance){ .next = f->instances };
	snprintf(i->id, sizeof(i->id), "%s", id);
	i->link.fd = i->tracing.fd = -1;
	i->last = &i->asks;
	i->since_ms = i->seen_ms = clock_day_ms();
	f->instances = i;
	f->n_instances++;
	return i;
}

struct instance *fleet_connected(struct fleet *f, const struct app *app, struct slice id)
{
	for (struct instance *i = f->instances; i; i = i->next)
		if (i->state == INSTANCE_CONNECTED && (!app || i->app == app) &&
		    (!id.n || slice_is(id, i->id)))
			return i;
	return NULL;
}

/* ---- begin and end ---- */

static void read_line(const char *path, char *to, size_t n)
{
	FILE *f = fopen(path, "re");

	to[0] = '\0';
	if (f && !fgets(to, (int)n, f))
		to[0] = '\0';
	if (f)
		fclose(f);
}

void fleet_plain(char *s)
{
	s[strcspn(s, "\r\n")] = '\0';
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
		      (*s >= '0' && *s <= '9') || *s == '.'))
			*s = '_';
}

int fleet_init(struct fleet *f, const struct settings *config, struct archive *store)
{
	*f = (struct fleet){ .config = config, .store = store };
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->line_ended, NULL);
	hub_init(&f->hub);
	gethostname(f->host, sizeof(f->host) - 1);
	fleet_plain(f->host);
	read_line("/proc/sys/kernel/random/boot_id", f->boot, 5); /* ticks begin anew with it */
	fleet_plain(f->boot);
	f->started_ms = clock_day_ms();
	f->slot_ms = f->started_ms - f->started_ms % SLOT_MS;
	f->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (f->wake < 0)
		return E_IO;
	if (others_start(&f->others, f) < 0)
		return E_IO;
	return digs_load(f);
}

void fleet_wake(struct fleet *f)
{
	uint64_t one = 1;

	if (write(f->wake, &one, sizeof(one)) < 0)
		return; /* it is awake already */
}

void fleet_quit(struct fleet *f)
{
	pthread_mutex_lock(&f->lock);
	for (struct instance *i = f->instances; i; i = i->next)
		if (i->link.fd >= 0)
			session_lost(f, i, "sonded ends");
	pthread_mutex_unlock(&f->lock);
	relays_stop(f);
	others_stop(f->others);
	f->others = NULL;
}

static void end_instance(struct instance *i)
{
	poll_forget(i);
	reconcile_forget(i);
	link_close(&i->link);
	mem_free(i);
}

void fleet_release(struct fleet *f)
{
	digs_end_all(f);
	while (f->instances) {
		struct instance *i = f->instances;

		f->instances = i->next;
		end_instance(i);
	}
	carried_release(f);
	relays_release(f);
	while (f->apps) {
		struct app *a = f->apps;

		f->apps = a->next;
		plan_release(&a->plan);
		names_release(&a->names);
		mem_free(a);
	}
	hub_release(&f->hub);
	if (f->wake >= 0)
		close(f->wake);
}

/* ---- the loop ---- */

static void tell_figures(struct fleet *f)
{
	for (struct app *a = f->apps; a; a = a->next) {
		struct buf out = { 0 };
		struct json j = json_to(&out);

		if (!fleet_connected(f, a, (struct slice){ NULL, 0 }))
			continue;
		json_open(&j, '{');
		json_put_text(&j, "application", a->name);
		json_put_u64(&j, "at_ms", clock_day_ms());
		json_close(&j, '}');
		hub_put(&f->hub, slice_str(a->name), "figures", buf_slice(&out));
		buf_release(&out);
	}
}

static void change_slot(struct fleet *f)
{
	uint64_t now = clock_day_ms();

	if (now < f->slot_ms + SLOT_MS && now >= f->slot_ms)
		return;
	for (struct instance *i = f->instances; i; i = i->next)
		if (i->state == INSTANCE_CONNECTED)
			poll_flush(f, i);
	f->slot_ms = now - now % SLOT_MS;
	tell_figures(f);
	hub_wake(&f->hub); /* streams find out whether anybody is there */
}

struct polled {
	struct pollfd fds[2 * FLEET_INSTANCES + 64];
	nfds_t n;
};

static void watch(struct polled *p, const struct agent_link *l)
{
	if (l->fd >= 0)
		p->fds[p->n++] = (struct pollfd){ l->fd, link_wants(l), 0 };
}

static bool is_ready(const struct polled *p, nfds_t *at, const struct agent_link *l)
{
	if (l->fd < 0 || *at >= p->n || p->fds[*at].fd != l->fd)
		return false;
	return p->fds[(*at)++].revents != 0;
}

static void wait(struct fleet *f, struct polled *p)
{
	uint64_t count;

	p->n = 0;
	p->fds[p->n++] = (struct pollfd){ f->wake, POLLIN, 0 };
	for (struct instance *i = f->instances; i; i = i->next) {
		watch(p, &i->link);
		watch(p, &i->tracing);
	}
	p->n += digs_watch(f, p->fds + p->n, 32);
	pthread_mutex_unlock(&f->lock);
	if (poll(p->fds, p->n, TICK_MS) < 0 && errno != EINTR)
		log_put(LOG_ERROR, "poll: %m");
	if (p->fds[0].revents && read(f->wake, &count, sizeof(count)) < 0)
		log_put(LOG_DEBUG, "woken for nothing");
}

/* In the order in which wait() has put them, as far as they are still there. */
static void serve(struct fleet *f, const struct polled *p)
{
	nfds_t at = 1;

	for (struct instance *i = f->instances; i; i = i->next) {
		bool link = is_ready(p, &at, &i->link), tracing = is_ready(p, &at, &i->tracing);

		if (link)
			session_io(f, i);
		if (tracing)
			keep_io(f, i);
	}
}

void fleet_run(struct fleet *f)
{
	static struct polled p;

	while (!__atomic_load_n(&f->ends, __ATOMIC_ACQUIRE)) {
		uint64_t now;

		pthread_mutex_lock(&f->lock);
		wait(f, &p); /* gives the lock back */
		pthread_mutex_lock(&f->lock);
		serve(f, &p);
		now = clock_steady_ms();
		relays_step(f);
		for (struct instance *i = f->instances; i; i = i->next) {
			session_step(f, i, now);
			poll_step(f, i, now);
			keep_step(f, i, now);
		}
		digs_step(f, now);
		change_slot(f);
		pthread_mutex_unlock(&f->lock);
		finder_step(f, now);
	}
}
