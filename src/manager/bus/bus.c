/* SPDX-License-Identifier: Apache-2.0 */
/* bus.c - the reader and the writer, and whether the bus is up.
 *
 * It is up as long as our own entry comes back: that takes the connection, the server that leads the bucket,
 * and the watch.  When it does not come back the watch is begun anew. */
#include "manager/bus/bus_priv.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/wait.h"

enum { STEP_MS = 200, NEXT_MS = 200, AGAIN_MS = 500, SWEEP_MS = 10000 };

/* ---- up and down ---- */

static void say_down(struct bus *b)
{
	char why[160] = "no word of ours comes back";

	if (!bus_link_is_connected(b->link))
		bus_link_why(b->link, why, sizeof(why));
	log_put(LOG_WARN, "bus: it cannot be used (%s); this manager goes on alone until it can",
		why);
}

static void see_state(struct bus *b)
{
	uint64_t now = clock_steady_ms();
	bool up, was, said;

	pthread_mutex_lock(&b->lock);
	was = b->is_up;
	up = b->own_at_ms && now - b->own_at_ms < SILENT_MS;
	if (up && !was)
		b->up_at_ms = now;
	if (!up && was)
		b->down_at_ms = now;
	/* also when it was never up, once */
	said = up != was || (!up && !b->down_at_ms && now - b->began_ms > PATIENCE_MS);
	if (said && !up)
		b->down_at_ms = now;
	b->is_up = up;
	pthread_mutex_unlock(&b->lock);
	if (said && up)
		log_put(LOG_INFO, "bus: other managers can be heard");
	else if (said)
		say_down(b);
}

static void take(void *ctx, const struct bus_entry *e)
{
	struct bus *b = ctx;

	pthread_mutex_lock(&b->lock);
	if (e->created_ns > b->newest_ns) {
		b->newest_ns = e->created_ns;
		b->newest_at_ms = clock_steady_ms();
	}
	pthread_mutex_unlock(&b->lock);
	if (strncmp(e->key, "manager.", 8) == 0)
		bus_peers_take(b, e);
	else if (strncmp(e->key, "hold.", 5) == 0)
		bus_holds_take(b, e);
	else if (strncmp(e->key, "plan.", 5) == 0)
		bus_plans_take(b, e);
}

static bool has_ended(struct bus *b)
{
	bool ends;

	pthread_mutex_lock(&b->lock);
	ends = b->ends;
	pthread_mutex_unlock(&b->lock);
	return ends;
}

static bool is_silent(struct bus *b, uint64_t since_ms)
{
	uint64_t now = clock_steady_ms(), heard;

	pthread_mutex_lock(&b->lock);
	heard = b->own_at_ms > since_ms ? b->own_at_ms : since_ms;
	pthread_mutex_unlock(&b->lock);
	return now - heard > SILENT_MS;
}

/* All that is there comes again; what has gone does not. */
static bool watch(struct bus *b)
{
	if (bus_link_watch(b->link) < 0)
		return false;
	pthread_mutex_lock(&b->lock);
	bus_holds_forget(b);
	bus_plans_forget(b);
	pthread_mutex_unlock(&b->lock);
	bus_wake(b);
	return true;
}

static void *read_all(void *arg)
{
	struct bus *b = arg;
	uint64_t since_ms = 0;
	bool watches = false;

	while (!has_ended(b)) {
		int rc;

		if (!watches) {
			watches = watch(b);
			since_ms = clock_steady_ms();
		}
		rc = watches ? bus_link_next(b->link, NEXT_MS, take, b) : E_IO;
		if (rc < 0 || is_silent(b, since_ms)) {
			watches = false;
			usleep(AGAIN_MS * 1000);
		}
		if (rc <= 0)
			see_state(b);
	}
	return NULL;
}

/* ---- the writer ---- */

void bus_wake(struct bus *b)
{
	pthread_mutex_lock(&b->lock);
	b->wanted = true;
	pthread_cond_signal(&b->work);
	pthread_mutex_unlock(&b->lock);
}

/* True: something has changed here. */
static bool nap(struct bus *b)
{
	bool wanted;

	pthread_mutex_lock(&b->lock);
	if (!b->wanted && !b->has_unsent && !b->ends)
		wait_ms(&b->work, &b->lock, STEP_MS);
	wanted = b->wanted;
	b->wanted = false;
	pthread_mutex_unlock(&b->lock);
	return wanted;
}

/* What changes often is told some times a second at most, but for plans. */
static void *write_all(void *arg)
{
	struct bus *b = arg;
	uint64_t said_ms = 0, swept_ms = clock_steady_ms();
	bool owes = false;

	while (!has_ended(b)) {
		bool wanted = nap(b);
		uint64_t since = clock_steady_ms() - said_ms;

		owes |= wanted || since >= SAY_MS;
		see_state(b);
		bus_ask_step(b);
		if (owes && bus_link_is_connected(b->link)) {
			bus_plans_step(b);
			if (since >= STEP_MS) {
				said_ms = clock_steady_ms();
				owes = false;
				bus_peers_put(b);
			}
		}
		bus_holds_step(b);
		if (clock_steady_ms() - swept_ms > SWEEP_MS) {
			swept_ms = clock_steady_ms();
			bus_sweep(b);
		}
	}
	return NULL;
}

/* ---- who is there ---- */

struct far_manager *bus_manager(struct bus *b, const char *name)
{
	struct far_manager *m = b->managers;

	while (m && strcmp(m->name, name) != 0)
		m = m->next;
	return m;
}

uint64_t bus_silent_ms(const struct bus *b, const struct far_manager *m)
{
	uint64_t now_ns = b->newest_ns + (clock_steady_ms() - b->newest_at_ms) * 1000000;

	return now_ns > m->created_ns ? (now_ns - m->created_ns) / 1000000 : 0;
}

bool bus_is_alive(const struct bus *b, const struct far_manager *m)
{
	return m && bus_silent_ms(b, m) < DEAD_MS;
}

void bus_state(struct bus *b, struct bus_state *out)
{
	*out = (struct bus_state){ 0 };
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	out->is_up = b->is_up;
	out->is_twice = b->twice_at_ms && clock_steady_ms() - b->twice_at_ms < DEAD_MS;
	out->asked = b->asked;
	out->answered = b->answered;
	for (struct far_manager *m = b->managers; m; m = m->next) {
		if (!bus_is_alive(b, m))
			continue;
		out->managers++;
		for (unsigned i = 0; i < m->parts; i++)
			out->processes += m->part[i].n;
	}
	pthread_mutex_unlock(&b->lock);
}

/* ---- begin and end ---- */

/* The same after a restart, and nobody else's: two managers cannot have one spool. */
static void make_name(struct bus *b)
{
	const struct settings *c = b->f->config;
	char path[PATH_MAX];
	uint64_t h = 14695981039346656037u;

	if (!realpath(c->spool, path))
		snprintf(path, sizeof(path), "%s", c->spool);
	for (const char *p = path; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211u;
	snprintf(b->name, sizeof(b->name), "%.64s-%08x", c->name, (unsigned)(h ^ h >> 32));
	fleet_plain(b->name);
	b->run = clock_day_ns() ^ (uint64_t)getpid() << 40;
	b->run &= (1ull << 52) - 1; /* JSON has no larger whole numbers */
}

static int start_threads(struct bus *b)
{
	int rc = bus_ask_start(b);

	if (rc < 0)
		return rc;
	b->has_reader = pthread_create(&b->reader, NULL, read_all, b) == 0;
	b->has_writer = pthread_create(&b->writer, NULL, write_all, b) == 0;
	if (b->has_reader && b->has_writer)
		return 0;
	log_put(LOG_ERROR, "--bus: no thread can be started");
	return E_NO_MEMORY;
}

int bus_start(struct bus **out, struct fleet *f)
{
	struct bus *b = f->config->bus[0] ? mem_alloc(sizeof(*b)) : NULL;
	int rc;

	*out = NULL;
	if (!b)
		return f->config->bus[0] ? E_NO_MEMORY : 0;
	*b = (struct bus){ .f = f, .began_ms = clock_steady_ms() };
	b->last_call = &b->calls;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->work, NULL);
	pthread_cond_init(&b->called, NULL);
	make_name(b);
	rc = bus_link_open(&b->link, f->config, b->name);
	if (rc >= 0)
		rc = start_threads(b);
	if (rc < 0) {
		bus_quit(b);
		bus_end_calls(b);
		bus_stop(b);
		return rc;
	}
	log_put(LOG_INFO, "bus: this manager is %s", b->name);
	pthread_mutex_lock(&f->lock);
	f->bus = b;
	f->changed = bus_wake;
	pthread_mutex_unlock(&f->lock);
	*out = b;
	return 0;
}

void bus_quit(struct bus *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->f->lock);
	b->f->changed = NULL;
	pthread_mutex_unlock(&b->f->lock);
	pthread_mutex_lock(&b->lock);
	b->ends = true;
	pthread_cond_signal(&b->work);
	pthread_mutex_unlock(&b->lock);
	if (b->has_reader)
		pthread_join(b->reader, NULL);
	if (b->has_writer)
		pthread_join(b->writer, NULL);
	b->has_reader = b->has_writer = false;
	bus_ask_quit(b);
}

void bus_stop(struct bus *b)
{
	if (!b)
		return;
	if (b->link && bus_link_is_connected(b->link)) {
		bus_holds_leave(b);
		bus_peers_leave(b);
	}
	bus_link_close(b->link);
	b->f->bus = NULL;
	bus_peers_release(b);
	bus_holds_forget(b);
	bus_plans_forget(b);
	mem_free(b);
}
