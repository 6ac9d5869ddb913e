/* SPDX-License-Identifier: Apache-2.0 */
/* sonded.c - the manager's main(): store, fleet, server, and what systemd wants to hear.
 *
 * SIGTERM and SIGINT end it: the server stops, what agents told last is stored. */
#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/version.h"
#include "manager/settings.h"
#include "manager/bus/bus.h"
#include "manager/fleet/outgoing.h"
#include "manager/http/http.h"
#include "manager/relay/relay_run.h"
#include "manager/watch/lookout.h"

enum { CANNOT = 3 };

static struct fleet fleet; /* for the signal handler */

static void on_end(int sig)
{
	(void)sig;
	__atomic_store_n(&fleet.ends, true, __ATOMIC_RELEASE);
	fleet_wake(&fleet);
}

/* One datagram to the socket that systemd has named; nothing else is needed of libsystemd. */
static void notify(const char *text)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	int fd;

	if (!path || strlen(path) >= sizeof(to.sun_path))
		return;
	strcpy(to.sun_path, path);
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))) < 0)
		log_put(LOG_WARN, "systemd cannot be told: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_end };

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Finds agents for another one, and stores nothing. */
static int relay(const struct settings *config)
{
	int rc;

	fleet.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fleet.wake < 0)
		return CANNOT;
	catch_signals();
	notify("READY=1");
	rc = relay_run(config, &fleet.ends, fleet.wake);
	notify("STOPPING=1");
	return rc < 0 ? CANNOT : 0;
}

/* Without the password. */
static const char *shown_store(const char *store)
{
	const char *at = strrchr(store, '@');

	return strncmp(store, "clickhouse://", 13) == 0 && at ? at + 1 : store;
}

/* Closes the store. */
static int serve(const struct settings *config, struct archive *store)
{
	struct http *http = NULL;
	struct bus *bus = NULL;
	uint16_t port = 0;
	int rc = fleet_init(&fleet, config, store);

	if (rc >= 0) {
		catch_signals();
		rc = lookout_start(&fleet.lookout, &fleet);
	}
	if (rc >= 0)
		rc = push_start(&fleet.push, config, outgoing_metrics, &fleet);
	if (rc >= 0)
		rc = bus_start(&bus, &fleet);
	if (rc >= 0)
		rc = http_start(&http, &fleet, &port);
	if (rc >= 0) {
		bool six = strchr(config->address, ':') != NULL;

		log_put(LOG_INFO,
			"sonded " SONDE_VERSION " listens on http%s://%s%s%s:%u, store %s",
			config->cert[0] ? "s" : "", six ? "[" : "", config->address, six ? "]" : "",
			(unsigned)port, shown_store(config->store));
		notify("READY=1");
		fleet_run(&fleet);
		notify("STOPPING=1");
		http_end_streams(http);
	}
	bus_quit(bus);
	fleet_quit(&fleet);
	bus_end_calls(bus);
	http_stop(http);
	lookout_stop(fleet.lookout);
	push_stop(fleet.push);
	archive_close(store); /* before the fleet: what is queued has names of it */
	bus_stop(bus);	      /* others take our processes, and read what is stored of them */
	fleet_release(&fleet);
	return rc < 0 ? CANNOT : 0;
}

int main(int argc, char **argv)
{
	struct archive_limits limits;
	struct settings config;
	struct archive *store = NULL;
	int status = settings_read(&config, argc, argv);

	if (status != SETTINGS_GO)
		return status;
	log_set(config.level);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	if (config.relay[0])
		return relay(&config);
	limits = (struct archive_limits){ config.keep_days, config.keep_bytes };
	if (archive_open(&store, config.store, config.spool, &limits) < 0)
		return CANNOT;
	return serve(&config, store);
}
