/* SPDX-License-Identifier: Apache-2.0 */
#include "manager/relay/relay_dig.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "manager/fleet/dig_child.h"
#include "manager/fleet/dig_far.h"

enum { AT_ONCE = 8, WAITING = 1 << 20, TURN_MS = 100, END_TURNS = 20 };

struct relay_dig {
	struct dig_child child;
	int end; /* of the pair whose other end is a channel; -1: the manager has hung up */
	struct buf to, piece;
	size_t sent;
};

static unsigned running;

/* A stream of the child becomes records. */
static void pass_on(struct relay_dig *d, int *fd, enum dig_far_kind kind)
{
	buf_clear(&d->piece);
	dig_child_drain(fd, &d->piece);
	if (d->end >= 0)
		dig_far_put(&d->to, kind, buf_slice(&d->piece));
}

static void hang_up(struct relay_dig *d)
{
	if (d->end >= 0)
		close(d->end);
	d->end = -1;
	if (d->child.pid > 0)
		kill(d->child.pid, SIGKILL); /* its hooks go with its connection */
}

static void hear(struct relay_dig *d)
{
	char word;
	ssize_t n = recv(d->end, &word, 1, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		hang_up(d);
	else if (n == 1 && word == DIG_FAR_CANCEL && d->child.pid > 0)
		kill(d->child.pid, SIGINT);
}

static void send_some(struct relay_dig *d)
{
	while (d->end >= 0 && d->sent < d->to.n) {
		ssize_t n = send(d->end, d->to.p + d->sent, d->to.n - d->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			hang_up(d);
		else
			d->sent += (size_t)n;
	}
	buf_clear(&d->to);
	d->sent = 0;
}

static void turn(struct relay_dig *d)
{
	bool full = d->to.n - d->sent > WAITING;
	struct pollfd fds[3] = { { full ? -1 : d->child.out, POLLIN, 0 },
				 { full ? -1 : d->child.err, POLLIN, 0 },
				 { d->end, (short)(POLLIN | (d->to.n ? POLLOUT : 0)), 0 } };

	if (poll(fds, 3, TURN_MS) <= 0)
		return;
	if (fds[0].revents)
		pass_on(d, &d->child.out, DIG_FAR_OUT);
	if (fds[1].revents)
		pass_on(d, &d->child.err, DIG_FAR_ERR);
	if (fds[2].revents & (POLLIN | POLLHUP | POLLERR))
		hear(d);
	send_some(d);
}

static void *run(void *arg)
{
	struct relay_dig *d = arg;
	uint8_t status[1] = { 3 };
	int how = 0;

	while (d->child.out >= 0 || d->child.err >= 0)
		turn(d);
	if (waitpid(d->child.pid, &how, 0) == d->child.pid && WIFEXITED(how))
		status[0] = (uint8_t)WEXITSTATUS(how);
	d->child.pid = 0;
	buf_clear(&d->piece);
	dig_child_rules(&d->child, &d->piece);
	dig_far_put(&d->to, DIG_FAR_RULES, buf_slice(&d->piece));
	dig_far_put(&d->to, DIG_FAR_STATUS, (struct slice){ status, 1 });
	while (d->end >= 0 && d->to.n && !d->to.err)
		turn(d);
	hang_up(d);
	dig_child_release(&d->child);
	buf_release(&d->to);
	buf_release(&d->piece);
	mem_free(d);
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* False: the order makes no sense. */
static bool read_order(struct slice text, char method[1024], struct dig_order *o)
{
	char line[1100], *end;

	if (text.n >= 1024 || (text.n && memchr(text.p, '\0', text.n)))
		return false;
	snprintf(line, sizeof(line), "%.*s", SLICE_FMT(text));
	o->for_ms = strtoull(line, &end, 10);
	if (*end != ' ')
		return false;
	o->budget = strtod(end + 1, &end);
	if (*end != ' ' || !(o->budget >= 0 && o->budget <= 1))
		return false;
	snprintf(method, 1024, "%s", end + 1);
	o->method = method;
	return true;
}

static int begin(struct relay_dig *d, const struct dig_order *o)
{
	int pair[2], rc = dig_child_start(&d->child, o);
	pthread_attr_t attr;
	pthread_t thread;

	if (rc < 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		pair[0] = pair[1] = -1;
	d->end = pair[0];
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	__atomic_add_fetch(&running, 1, __ATOMIC_RELAXED);
	rc = d->end < 0 || pthread_create(&thread, &attr, run, d) != 0 ? E_IO : pair[1];
	pthread_attr_destroy(&attr);
	if (rc >= 0)
		return rc;
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
	hang_up(d);
	waitpid(d->child.pid, NULL, 0);
	dig_child_release(&d->child);
	if (pair[1] >= 0)
		close(pair[1]);
	return E_IO;
}

int relay_dig_start(const char *sonde, pid_t of, struct slice text)
{
	struct dig_order o = { .sonde = sonde, .of = of };
	struct relay_dig *d;
	char method[1024];
	int rc;

	if (!read_order(text, method, &o))
		return E_USAGE;
	if (__atomic_load_n(&running, __ATOMIC_ACQUIRE) >= AT_ONCE)
		return E_LIMIT;
	d = mem_alloc(sizeof(*d));
	if (!d)
		return E_NO_MEMORY;
	*d = (struct relay_dig){ .end = -1 };
	rc = begin(d, &o);
	if (rc < 0)
		mem_free(d);
	return rc;
}

void relay_dig_end_all(void)
{
	for (unsigned k = 0; k < END_TURNS && __atomic_load_n(&running, __ATOMIC_ACQUIRE); k++)
		poll(NULL, 0, TURN_MS);
}
