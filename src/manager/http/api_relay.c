/* SPDX-License-Identifier: Apache-2.0 */
/* api_relay.c - relays: which there are, and the request that becomes the connection of one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/version.h"
#include "manager/fleet/relays.h"
#include "manager/http/http_priv.h"
#include "wire/mux.h"

/* ---- which there are ---- */

static size_t count_agents(const struct fleet *f, const struct relay *r, bool connected)
{
	size_t n = 0;

	for (const struct instance *i = f->instances; i; i = i->next)
		n += i->relay == r && i->state != INSTANCE_ENDED &&
		     (!connected || i->state == INSTANCE_CONNECTED);
	return n;
}

static void put_relay(struct json *j, const struct fleet *f, const struct relay *r)
{
	uint64_t heard = relays_heard_ms(r), now = clock_day_ms(), got, gave;

	relays_bytes(r, &got, &gave);
	json_open(j, '{');
	json_put_nonempty(j, "name", r->name);
	json_put_nonempty(j, "state", r->line ? "connected" : "away");
	json_put_nonempty(j, "why", r->why);
	json_put_nonempty(j, "from", r->from);
	json_put_nonempty(j, "build", r->build);
	json_put_u64(j, "since_ms", r->since_ms);
	json_put_u64(j, "heard_ms", heard);
	json_put_u64(j, "silent_ms", now > heard ? now - heard : 0);
	json_put_u64(j, "agents", count_agents(f, r, false));
	json_put_u64(j, "agents_connected", count_agents(f, r, true));
	json_put_u64(j, "bytes_in", got);
	json_put_u64(j, "bytes_out", gave);
	json_close(j, '}');
}

int api_relays(struct api_request *c)
{
	struct json j = request_json(c);

	json_put_open(&j, "relays", '[');
	pthread_mutex_lock(&c->f->lock);
	for (const struct relay *r = c->f->relays; r; r = r->next)
		put_relay(&j, c->f, r);
	pthread_mutex_unlock(&c->f->lock);
	json_close(&j, ']');
	return request_end(&j, 200);
}

/* ---- one comes ---- */

static struct relay_arrival arrival_of(struct api_request *c)
{
	return (struct relay_arrival){ .name = query_get(&c->query, "name"),
				       .where = query_get(&c->query, "where"),
				       .build = query_get(&c->query, "build"),
				       .from = slice_str(c->from),
				       .fd = -1 };
}

int api_relay(struct api_request *c)
{
	const char *upgrade = MHD_lookup_connection_value(c->c, MHD_HEADER_KIND, "Upgrade");
	struct relay_arrival a = arrival_of(c);
	char why[200] = "";

	if (!upgrade)
		return request_fail(c, 426, "version", "this path is for sonded --relay");
	if (strcmp(upgrade, MUX_PROTOCOL) != 0)
		return request_fail(
			c, 426, "version",
			"the relay speaks %.40s, and this manager (sonded " SONDE_VERSION
			") " MUX_PROTOCOL "; use the same version of sonded on both sides",
			upgrade);
	if (relays_admit(c->f, &a, why) < 0)
		return request_fail(c, 409, "conflict", "%s", why);
	return REQUEST_UPGRADES;
}

struct upgraded {
	struct MHD_UpgradeResponseHandle *handle;
	int fd; /* of the TCP connection, our own */
};

/* With TLS, libmicrohttpd (0.9.75) may see that its pair of sockets was shut down before it sees that we have
 * closed, and then waits for the client to say something: the end of the TCP connection wakes it. */
static void hang_up(void *ctx)
{
	struct upgraded *u = ctx;

	MHD_upgrade_action(u->handle, MHD_UPGRADE_ACTION_CLOSE);
	if (u->fd >= 0) {
		shutdown(u->fd, SHUT_RDWR);
		close(u->fd);
	}
	mem_free(u);
}

static void on_upgraded(void *ctx, struct MHD_Connection *connection, void *state,
			const char *first, size_t n, MHD_socket fd,
			struct MHD_UpgradeResponseHandle *handle)
{
	struct api_request *c = state;
	struct relay_arrival a = arrival_of(c);
	struct upgraded *u = mem_alloc(sizeof(*u));

	(void)ctx;
	if (!u) {
		MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
		return;
	}
	*u = (struct upgraded){ handle, -1 };
	u->fd = fcntl(
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		F_DUPFD_CLOEXEC, 0);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	a.fd = fd;
	a.first = (struct slice){ (const uint8_t *)first, n };
	a.hang_up = hang_up;
	a.ctx = u;
	relays_join(c->f, &a);
}

enum MHD_Result relay_answer(struct api_request *c)
{
	struct MHD_Response *r = MHD_create_response_for_upgrade(on_upgraded, NULL);
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Upgrade", MUX_PROTOCOL);
	rc = MHD_queue_response(c->c, MHD_HTTP_SWITCHING_PROTOCOLS, r);
	MHD_destroy_response(r);
	c->is_sent = true;
	return rc;
}
