/* SPDX-License-Identifier: Apache-2.0 */
/* relays.c - what relays tell becomes facts in a queue, which the fleet's thread takes: it alone adds
 * processes and ends sessions.
 *
 * A process is known by the relay's name, its number and when it began.  When its relay comes back
 * it is the same again, and its figures go on from the totals in the store. */
#include "manager/fleet/relays.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/fleet/found.h"
#include "manager/net/pump.h"

enum {
	FACTS_MAX = 4 * MUX_AGENTS,
	TURN_MS = 1000,
	OTHERS_MS = 10000, /* a name is free for another machine after so much silence */
	BACK_MS = 600000,  /* its processes have ended when it is not back by then */
	FORGET_MS = 3600000,
};

enum fact_kind { FACT_FOUND, FACT_ENDED, FACT_LISTED, FACT_GONE };

struct relay_fact {
	struct relay_fact *next;
	enum fact_kind kind;
	uint64_t turn, ticks;
	uint32_t number, pid;
	char user[MUX_USER];
};

/* A channel that the fleet wants. */
struct opening {
	struct opening *next;
	uint32_t agent;
	unsigned kind;
	int fd;
	size_t n;
	char text[];
};

struct relay_line {
	struct fleet *f;
	struct relay *relay;
	struct relay_arrival a; /* its texts are not used */
	struct pump pump;
	uint64_t turn;
	uint64_t heard_ms, got, gave; /* read by other threads */
	bool ends;
	struct opening *openings; /* under the lock */
};

static void store(uint64_t *to, uint64_t v)
{
	__atomic_store_n(to, v, __ATOMIC_RELAXED);
}

static uint64_t load(const uint64_t *from)
{
	return __atomic_load_n(from, __ATOMIC_RELAXED);
}

uint64_t relays_heard_ms(const struct relay *r)
{
	return r->line ? load(&r->line->heard_ms) : r->heard_ms;
}

void relays_bytes(const struct relay *r, uint64_t *got, uint64_t *gave)
{
	*got = r->got + (r->line ? load(&r->line->got) : 0);
	*gave = r->gave + (r->line ? load(&r->line->gave) : 0);
}

/* ---- the connection's thread ---- */

static long line_send(void *ctx, const void *p, size_t n)
{
	struct relay_line *l = ctx;
	ssize_t sent = send(l->a.fd, p, n, MSG_NOSIGNAL);

	return sent > 0 ? sent : errno == EAGAIN || errno == EINTR ? PUMP_AGAIN : PUMP_FAILED;
}

static long line_recv(void *ctx, void *to, size_t n)
{
	struct relay_line *l = ctx;
	ssize_t got = recv(l->a.fd, to, n, 0);

	return got >= 0 ? got : errno == EAGAIN || errno == EINTR ? PUMP_AGAIN : PUMP_FAILED;
}

/* Under the lock.  False: there are too many. */
static bool put_fact(struct relay *r, const struct relay_fact *what)
{
	struct relay_fact *fact =
		r->n_facts < FACTS_MAX || what->kind == FACT_GONE ? mem_alloc(sizeof(*fact)) : NULL;

	if (!fact)
		return false;
	*fact = *what;
	fact->next = NULL;
	*r->last_fact = fact;
	r->last_fact = &fact->next;
	r->n_facts++;
	return true;
}

/* Processor time is no fact: only the last one counts. */
static void take_cost(struct relay_line *l, const struct mux_event *e)
{
	for (struct instance *i = l->f->instances; i; i = i->next)
		if (i->relay == l->relay && i->relay_turn == l->turn && i->agent == e->agent)
			i->told_own_ns = e->own_ns;
}

static int on_event(void *ctx, const struct mux_event *e)
{
	struct relay_line *l = ctx;
	struct relay_fact fact = { .turn = l->turn, .number = e->agent };
	bool good = true;

	if (e->type == MUX_FOUND) {
		fact.kind = FACT_FOUND;
		fact.number = e->found.number;
		fact.pid = e->found.pid;
		fact.ticks = e->found.ticks;
		snprintf(fact.user, sizeof(fact.user), "%.*s", SLICE_FMT(e->found.user));
	} else {
		fact.kind = e->type == MUX_ENDED ? FACT_ENDED : FACT_LISTED;
	}
	pthread_mutex_lock(&l->f->lock);
	if (e->type == MUX_COST)
		take_cost(l, e);
	else
		good = l->relay->line == l && put_fact(l->relay, &fact);
	if (!good)
		snprintf(l->pump.why, sizeof(l->pump.why), "%s",
			 l->relay->line == l ? "it tells more than can be taken in"
					     : "it has come again");
	pthread_mutex_unlock(&l->f->lock);
	fleet_wake(l->f);
	return good ? 0 : E_LIMIT;
}

static void wake_line(struct relay_line *l)
{
	uint64_t one = 1;

	if (write(l->pump.wake, &one, sizeof(one)) < 0)
		return; /* it is awake already */
}

static void take_openings(struct relay_line *l)
{
	struct opening *all;

	pthread_mutex_lock(&l->f->lock);
	all = l->openings;
	__atomic_store_n(&l->openings, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&l->f->lock);
	while (all) {
		struct opening *o = all;
		int channel = mux_open(&l->pump.mux, o->agent, o->kind,
				       (struct slice){ (const uint8_t *)o->text, o->n });

		all = o->next;
		if (channel >= 0)
			pump_join(&l->pump, (unsigned)channel, o->fd);
		else
			close(o->fd);
		mem_free(o);
	}
}

/* The lock is held. */
static void note_end(struct relay_line *l)
{
	struct relay *r = l->relay;

	r->got += l->pump.got;
	r->gave += l->pump.gave;
	r->n_lines--;
	if (r->line != l) /* another one has come */
		return;
	r->line = NULL;
	r->heard_ms = l->heard_ms;
	snprintf(r->why, sizeof(r->why), "%s", l->pump.why);
	if (!put_fact(r, &(struct relay_fact){ .kind = FACT_GONE, .turn = l->turn }))
		log_put(LOG_ERROR, "out of memory: the end of relay %s is seen late", r->name);
}

static void line_free(struct relay_line *l)
{
	pump_release(&l->pump);
	if (l->pump.wake >= 0)
		close(l->pump.wake);
	mem_free(l);
}

static void leave(struct relay_line *l)
{
	struct fleet *f = l->f;

	pthread_mutex_lock(&f->lock);
	if (!l->pump.why[0])
		snprintf(l->pump.why, sizeof(l->pump.why), "%s",
			 l->relay->line == l ? "sonded ends" : "it has come again");
	log_put(l->pump.mux.why ? LOG_WARN : LOG_INFO, "relay %s: gone: %s", l->relay->name,
		l->pump.why);
	note_end(l);
	pthread_mutex_unlock(&f->lock);
	take_openings(l); /* nobody can add any more */
	l->a.hang_up(l->a.ctx);
	line_free(l);
	pthread_mutex_lock(&f->lock);
	f->n_lines--;
	pthread_cond_broadcast(&f->line_ended);
	pthread_mutex_unlock(&f->lock);
	fleet_wake(f);
}

static void *run(void *arg)
{
	struct relay_line *l = arg;
	uint64_t heard = 0;
	int rc = 0;

	while (rc >= 0 && !__atomic_load_n(&l->ends, __ATOMIC_ACQUIRE)) {
		rc = pump_step(&l->pump, TURN_MS);
		if (l->pump.heard_ms != heard)
			store(&l->heard_ms, clock_day_ms());
		heard = l->pump.heard_ms;
		store(&l->got, l->pump.got);
		store(&l->gave, l->pump.gave);
		if (__atomic_load_n(&l->openings, __ATOMIC_ACQUIRE))
			take_openings(l);
	}
	leave(l);
	return NULL;
}

/* ---- coming ---- */

static struct relay *find(struct fleet *f, const char *name)
{
	struct relay *r = f->relays;

	while (r && strcmp(r->name, name) != 0)
		r = r->next;
	return r;
}

static void plain_name(struct slice from, char *to, size_t room)
{
	snprintf(to, room, "%.*s", SLICE_FMT(from));
	fleet_plain(to);
}

static bool is_taken(const struct relay *r, const char *where)
{
	return r && r->line && strcmp(r->where, where) != 0 &&
	       clock_day_ms() - relays_heard_ms(r) < OTHERS_MS;
}

static size_t count(const struct fleet *f)
{
	size_t n = 0;

	for (const struct relay *r = f->relays; r; r = r->next)
		n++;
	return n;
}

int relays_admit(struct fleet *f, const struct relay_arrival *a, char why[200])
{
	char name[RELAY_NAME], where[64];
	struct relay *r;
	int rc = 0;

	plain_name(a->name, name, sizeof(name));
	plain_name(a->where, where, sizeof(where));
	pthread_mutex_lock(&f->lock);
	r = find(f, name);
	if (!name[0]) {
		snprintf(why, 200, "a relay needs a name");
		rc = E_USAGE;
	} else if (is_taken(r, where)) {
		snprintf(
			why, 200,
			"another relay named %s is connected, from %s; give one of them another --name",
			name, r->from);
		rc = E_DUPLICATE;
	} else if (!r && count(f) >= RELAYS_MAX) {
		snprintf(why, 200, "there are %d relays, and no more can be", RELAYS_MAX);
		rc = E_LIMIT;
	}
	pthread_mutex_unlock(&f->lock);
	return rc;
}

static struct relay *make(struct fleet *f, const char *name)
{
	struct relay *r = find(f, name);

	if (r)
		return r;
	r = mem_alloc(sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct relay){ .next = f->relays };
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->last_fact = &r->facts;
	f->relays = r;
	return r;
}

static struct relay_line *line_new(struct fleet *f, const struct relay_arrival *a)
{
	struct relay_line *l = mem_alloc(sizeof(*l));

	if (!l)
		return NULL;
	memset(l, 0, sizeof(*l));
	l->f = f;
	l->a = *a;
	l->heard_ms = clock_day_ms();
	l->pump.way = (struct pump_way){ l, a->fd, line_send, line_recv };
	l->pump.on = on_event;
	l->pump.ctx = l;
	l->pump.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pump_init(&l->pump, true);
	buf_put(&l->pump.mux.in, a->first);
	return l;
}

/* Under the lock.  A connection that is there already has lost its other end, or will. */
static void take_line(struct relay *r, struct relay_line *l)
{
	const struct relay_arrival *a = &l->a;

	if (r->line) {
		__atomic_store_n(&r->line->ends, true, __ATOMIC_RELEASE);
		wake_line(r->line);
		snprintf(r->why, sizeof(r->why), "it has come again");
		put_fact(r, &(struct relay_fact){ .kind = FACT_GONE, .turn = r->turn });
	}
	r->line = l;
	l->relay = r;
	l->turn = ++r->turn;
	r->n_lines++;
	r->since_ms = clock_day_ms();
	r->why[0] = '\0';
	plain_name(a->where, r->where, sizeof(r->where));
	snprintf(r->from, sizeof(r->from), "%.*s", SLICE_FMT(a->from));
	snprintf(r->build, sizeof(r->build), "%.*s", SLICE_FMT(a->build));
	l->f->n_lines++;
}

void relays_join(struct fleet *f, const struct relay_arrival *a)
{
	struct relay_line *l = line_new(f, a);
	char name[RELAY_NAME];
	struct relay *r = NULL;
	pthread_attr_t attr;
	pthread_t thread;

	plain_name(a->name, name, sizeof(name));
	pthread_mutex_lock(&f->lock);
	if (l && l->pump.wake >= 0 && !f->relays_end)
		r = make(f, name);
	if (r)
		take_line(r, l);
	pthread_mutex_unlock(&f->lock);
	if (!r) {
		if (l)
			line_free(l);
		a->hang_up(a->ctx);
		return;
	}
	log_put(LOG_INFO, "relay %s: connected from %.*s, %.*s", name, SLICE_FMT(a->from),
		SLICE_FMT(a->build));
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, run, l) != 0) {
		snprintf(l->pump.why, sizeof(l->pump.why), "no thread can be made");
		leave(l);
	}
	pthread_attr_destroy(&attr);
}

/* ---- channels ---- */

int relays_channel(struct fleet *f, struct instance *i, unsigned kind, struct slice text)
{
	struct relay *r = i->relay;
	struct opening *o, **at;
	int pair[2];

	(void)f;
	if (!r->line || !i->agent || i->relay_turn != r->turn)
		return E_NOT_FOUND;
	o = mem_alloc(sizeof(*o) + text.n);
	if (!o)
		return E_NO_MEMORY;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		mem_free(o);
		return E_IO;
	}
	*o = (struct opening){ .agent = i->agent, .kind = kind, .fd = pair[1], .n = text.n };
	if (text.n)
		memcpy(o->text, text.p, text.n);
	for (at = &r->line->openings; *at; at = &(*at)->next)
		;
	__atomic_store_n(at, o, __ATOMIC_RELEASE);
	wake_line(r->line);
	return pair[0];
}

int relays_open(struct fleet *f, struct instance *i, struct agent_link *l)
{
	int fd;

	link_close(l);
	fd = relays_channel(f, i, MUX_LINK, (struct slice){ NULL, 0 });
	l->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

/* ---- facts, in the fleet's thread ---- */

/* Of a relay beside us, whose processes we find ourselves, the names are ours too, so that none is
 * there twice. */
static const char *name_instance(struct fleet *f, const struct relay *r,
				 const struct relay_fact *fact, char id[FLEET_ID])
{
	const char *host = r->name;
	char here[64];

	found_where(here);
	if (!f->config->relays_only && strcmp(here, r->where) == 0)
		host = f->host;
	snprintf(id, FLEET_ID, "%s-%u-%llx%.4s", host, fact->pid, (unsigned long long)fact->ticks,
		 r->where);
	return host;
}

static void revive(struct instance *i)
{
	if (i->state == INSTANCE_ENDED && i->app) {
		i->state = INSTANCE_AWAY;
		i->has_bases = false;
		i->hold = HOLD_NONE;
	}
	i->retry_ms = 0;
	i->backoff_ms = 0;
}

static void take_found(struct fleet *f, struct relay *r, const struct relay_fact *fact)
{
	char id[FLEET_ID];
	const char *host = name_instance(f, r, fact, id);
	struct instance *i = fleet_instance(f, slice_str(id));

	if (!i)
		i = fleet_join(f, id);
	else if (i->relay != r || (i->agent && i->relay_turn == fact->turn))
		i = NULL; /* somebody else sees it, or it was told of twice */
	if (!i) {
		log_put(LOG_INFO, "relay %s: %s is known already, or there are too many", r->name,
			id);
		return;
	}
	i->relay = r;
	i->agent = fact->number;
	i->relay_turn = fact->turn;
	i->peer.pid = (pid_t)(fact->pid & INT32_MAX);
	snprintf(i->host, sizeof(i->host), "%s", host);
	snprintf(i->user, sizeof(i->user), "%s", fact->user);
	revive(i);
}

static void end_here(struct fleet *f, struct instance *i, const char *why)
{
	i->agent = 0;
	if (i->state == INSTANCE_ENDED)
		return;
	session_end(f, i);
	snprintf(i->why, sizeof(i->why), "%s", why);
}

static void take_gone(struct fleet *f, struct relay *r, struct instance *i)
{
	char why[160];

	i->agent = 0;
	if (i->state == INSTANCE_ENDED)
		return;
	snprintf(why, sizeof(why), "relay %s is away: %.75s", r->name, r->why);
	session_lost(f, i, why);
}

static void take_fact(struct fleet *f, struct relay *r, const struct relay_fact *fact)
{
	if (fact->kind == FACT_FOUND) {
		take_found(f, r, fact);
		return;
	}
	for (struct instance *i = f->instances; i; i = i->next) {
		if (i->relay != r)
			continue;
		if (fact->kind == FACT_GONE && i->relay_turn == fact->turn)
			take_gone(f, r, i);
		else if (fact->kind == FACT_LISTED && i->relay_turn != fact->turn)
			end_here(f, i, "it ended while its relay was away");
		else if (fact->kind == FACT_ENDED && i->relay_turn == fact->turn &&
			 i->agent == fact->number)
			end_here(f, i, "");
	}
}

/* False: its processes are still there. */
static bool forget_instances(struct fleet *f, struct relay *r, bool end)
{
	bool none = true;

	for (struct instance *i = f->instances; i; i = i->next) {
		if (i->relay != r)
			continue;
		none = false;
		if (end && i->state != INSTANCE_ENDED)
			end_here(f, i, "its relay has not come back");
	}
	return none;
}

void relays_step(struct fleet *f)
{
	uint64_t now = clock_day_ms();

	for (struct relay **at = &f->relays; *at;) {
		struct relay *r = *at;
		uint64_t silent = now - relays_heard_ms(r);

		while (r->facts) {
			struct relay_fact *fact = r->facts;

			r->facts = fact->next;
			if (!r->facts)
				r->last_fact = &r->facts;
			r->n_facts--;
			take_fact(f, r, fact);
			mem_free(fact);
		}
		if (!r->n_lines && silent > BACK_MS && forget_instances(f, r, true) &&
		    silent > FORGET_MS) {
			*at = r->next;
			mem_free(r);
		} else {
			at = &r->next;
		}
	}
}

/* ---- the end ---- */

void relays_stop(struct fleet *f)
{
	pthread_mutex_lock(&f->lock);
	f->relays_end = true;
	for (struct relay *r = f->relays; r; r = r->next)
		if (r->line) {
			__atomic_store_n(&r->line->ends, true, __ATOMIC_RELEASE);
			wake_line(r->line);
		}
	while (f->n_lines)
		pthread_cond_wait(&f->line_ended, &f->lock);
	pthread_mutex_unlock(&f->lock);
}

void relays_release(struct fleet *f)
{
	while (f->relays) {
		struct relay *r = f->relays;

		f->relays = r->next;
		while (r->facts) {
			struct relay_fact *fact = r->facts;

			r->facts = fact->next;
			mem_free(fact);
		}
		mem_free(r);
	}
}
