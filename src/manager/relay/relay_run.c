/* SPDX-License-Identifier: Apache-2.0 */
/* relay_run.c - the relay keeps nothing: agents keep their totals, and the manager asks for them
 * again when the connection is back.  One thread.
 *
 * The manager says to which agent it wants a channel; the relay connects to its socket as any client
 * does, and has asked the kernel whose socket it is (link_open). */
#include "manager/relay/relay_run.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/version.h"
#include "cli/attach/jvms.h"
#include "jvm/jvm_threads.h"
#include "manager/fleet/found.h"
#include "manager/net/dial.h"
#include "manager/net/pump.h"
#include "manager/relay/relay_dig.h"

enum {
	FIRST_RETRY_MS = 500,
	LAST_RETRY_MS = 30000,
	STEADY_MS = 10000,
	STEP_MS = 500,
	COST_MS = 5000
};

struct relay_agent {
	uint32_t number;
	struct link_peer peer;
	unsigned long long ticks;
};

struct relaying {
	const struct settings *config;
	const bool *ends;
	char where[64];
	uint64_t random;
	struct dial *dial;
	struct pump pump;
	struct found_agents found;
	struct relay_agent agents[MUX_AGENTS];
	size_t n;
	bool listed, too_many;
	uint64_t cost_ms;
};

static bool has_ended(const struct relaying *r)
{
	return __atomic_load_n(r->ends, __ATOMIC_ACQUIRE);
}

/* ---- channels ---- */

static const struct relay_agent *find(const struct relaying *r, uint32_t number)
{
	for (size_t k = 0; k < r->n; k++)
		if (r->agents[k].number == number)
			return &r->agents[k];
	return NULL;
}

static enum mux_reason reason_of(int rc)
{
	return rc == E_NOT_FOUND     ? MUX_GONE
	       : rc == E_UNSUPPORTED ? MUX_FOREIGN
	       : rc == E_LIMIT	     ? MUX_BUSY
				     : MUX_FAILED;
}

/* A manager of this version sends nothing else that comes here. */
static int on_event(void *ctx, const struct mux_event *e)
{
	struct relaying *r = ctx;
	const struct relay_agent *a = find(r, e->agent);
	struct agent_link l = { .fd = -1 };
	int rc = E_NOT_FOUND;

	if (a && e->kind == MUX_DIG)
		rc = l.fd = relay_dig_start(r->config->sonde, a->peer.pid, e->data);
	else if (a)
		rc = e->kind == MUX_LINK ? link_open(&l, &a->peer) : E_IO;
	if (rc < 0)
		mux_close(&r->pump.mux, e->channel, reason_of(rc));
	else
		pump_join(&r->pump, e->channel, l.fd);
	return 0;
}

/* ---- agents ---- */

static void drop_ended(struct relaying *r)
{
	for (size_t k = 0; k < r->n; k++)
		if (found_begin(r->agents[k].peer.pid) != r->agents[k].ticks) {
			mux_ended(&r->pump.mux, r->agents[k].number);
			r->agents[k--] = r->agents[--r->n];
		}
}

static bool is_known(const struct relaying *r, pid_t pid)
{
	for (size_t k = 0; k < r->n; k++)
		if (r->agents[k].peer.pid == pid)
			return true;
	return false;
}

static void add_agent(struct relaying *r, const struct link_peer *peer)
{
	unsigned long long ticks = found_begin(peer->pid);
	char user[64];
	long number;

	if (!ticks || is_known(r, peer->pid))
		return;
	number = mux_found(&r->pump.mux, (uint32_t)peer->pid, ticks,
			   slice_str(jvm_user(peer->uid, user)));
	if (number > 0)
		r->agents[r->n++] = (struct relay_agent){ (uint32_t)number, *peer, ticks };
	else if (!r->too_many)
		log_put(LOG_WARN, "there are more than %d agents: the manager sees no more of them",
			MUX_AGENTS);
	r->too_many |= number <= 0;
}

static void tell_costs(struct relaying *r)
{
	for (size_t k = 0; k < r->n; k++) {
		struct jvm_threads t;

		jvm_threads_read(r->agents[k].peer.pid, &t);
		mux_cost(&r->pump.mux, r->agents[k].number, t.own_ns);
	}
}

static void look(struct relaying *r)
{
	uint64_t now = clock_steady_ms();

	if (!found_look(&r->found, now))
		return;
	drop_ended(r);
	for (size_t k = 0; k < r->found.n; k++)
		add_agent(r, &r->found.peer[k]);
	if (!r->listed)
		mux_listed(&r->pump.mux);
	r->listed = true;
	if (now < r->cost_ms)
		return;
	r->cost_ms = now + COST_MS;
	tell_costs(r);
}

/* ---- the connection ---- */

static void make_path(const struct relaying *r, char path[1024])
{
	char *name = curl_easy_escape(NULL, r->config->name, 0);
	char *build = curl_easy_escape(NULL, "sonded " SONDE_VERSION, 0);

	snprintf(path, 1024, "/api/v1/relay?name=%s&where=%s&build=%s", name ? name : "", r->where,
		 build ? build : "");
	curl_free(name);
	curl_free(build);
}

static bool dial(struct relaying *r, char why[300])
{
	char path[1024];

	make_path(r, path);
	r->dial = dial_open(&(struct dial_wish){ .url = r->config->relay,
						 .path = path,
						 .token = r->config->operate,
						 .ca = r->config->ca,
						 .protocol = MUX_PROTOCOL,
						 .ends = r->ends },
			    why);
	return r->dial != NULL;
}

/* Until it is over. */
static void carry(struct relaying *r, int wake)
{
	struct pump *p = &r->pump;

	p->way = (struct pump_way){ r->dial, dial_fd(r->dial), dial_send, dial_recv };
	p->wake = wake;
	p->on = on_event;
	p->ctx = r;
	pump_init(p, false);
	buf_put(&p->mux.in, dial_first(r->dial));
	r->n = 0;
	r->listed = r->too_many = false;
	r->found.near_ms = r->found.far_ms = r->cost_ms = 0;
	do
		look(r);
	while (!has_ended(r) && pump_step(p, STEP_MS) >= 0);
	if (!has_ended(r))
		log_put(LOG_WARN, "%s: connection lost: %s", r->config->relay, p->why);
	pump_release(p);
	dial_close(r->dial);
}

/* Between half of it and all, so that relays of a manager that comes back do not come at once. */
static void nap(struct relaying *r, unsigned ms, int wake)
{
	uint64_t until = clock_steady_ms() + ms / 2 + random_below(&r->random, ms / 2), now;
	struct pollfd p = { wake, POLLIN, 0 };

	while (!has_ended(r) && (now = clock_steady_ms()) < until)
		poll(&p, 1, (int)(until - now));
}

int relay_run(const struct settings *c, const bool *ends, int wake)
{
	static struct relaying r; /* of the one thread */
	unsigned backoff = FIRST_RETRY_MS;
	char why[300], last[300] = "";

	r.config = c;
	r.ends = ends;
	r.random = (uint64_t)getpid() << 32 | (clock_steady_ms() & UINT32_MAX) | 1;
	found_where(r.where);
	log_put(LOG_INFO, "sonded " SONDE_VERSION " relays agents of %s to %s", c->name, c->relay);
	while (!has_ended(&r)) {
		uint64_t began = clock_steady_ms();

		if (dial(&r, why)) {
			log_put(LOG_INFO, "%s: connected", c->relay);
			last[0] = '\0';
			carry(&r, wake);
			if (clock_steady_ms() - began > STEADY_MS)
				backoff = FIRST_RETRY_MS;
		} else if (!has_ended(&r) && strcmp(why, last) != 0) {
			log_put(LOG_WARN, "%s: cannot connect: %s", c->relay, why);
			snprintf(last, sizeof(last), "%s", why);
		}
		nap(&r, backoff, wake);
		backoff = backoff * 2 < LAST_RETRY_MS ? backoff * 2 : LAST_RETRY_MS;
	}
	relay_dig_end_all();
	return 0;
}
