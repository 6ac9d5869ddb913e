/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c - the clients' connections, each with its credentials looked at.  One that says something else
 * than whole frames of this protocol is closed; nothing else happens. */
#include "agent/core/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "base/version.h"
#include "wire/wire.h"

enum {
	OUT_MAX = 64 << 20,   /* a client that does not read so much is dropped */
	STUCK_MS = 10 * 1000, /* ... or that reads nothing for so long, unless it watches */
};

/* The agent's thread. */
static struct {
	uint32_t next_number;
	struct conn all[CONNS_MAX];
} conns;

void conn_none(void)
{
	for (unsigned i = 0; i < CONNS_MAX; i++)
		conns.all[i] = (struct conn){ .fd = -1 };
}

struct conn *conn_at(unsigned i)
{
	return &conns.all[i];
}

struct conn *conn_next(struct conn *c)
{
	for (c = c ? c + 1 : conns.all; c < conns.all + CONNS_MAX; c++)
		if (c->fd >= 0)
			return c;
	return NULL;
}

void conn_release(struct conn *c)
{
	close(c->fd);
	buf_release(&c->in);
	buf_release(&c->out);
	buf_release(&c->redact);
	*c = (struct conn){ .fd = -1 };
}

static uint64_t ms_since(uint64_t tick)
{
	return agent_age_ns(tick) / 1000000;
}

void conn_flush(struct conn *c, int ms)
{
	uint64_t begin = tick_now();
	bool gone = false;
	size_t sent = 0;

	while (sent < c->out.n && !c->out.err) {
		ssize_t n =
			send(c->fd, c->out.p + sent, c->out.n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		struct pollfd p = { .fd = c->fd, .events = POLLOUT };
		int left = ms > 0 ? ms - (int)ms_since(begin) : 0;

		if (n > 0) {
			sent += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		gone = n == 0 || errno != EAGAIN;
		if (gone || left <= 0 || poll(&p, 1, left) <= 0)
			break;
	}
	if (sent < c->out.n && sent)
		memmove(c->out.p, c->out.p + sent, c->out.n - sent);
	c->out.n -= sent;
	if (sent || !c->out.n || !c->stuck)
		c->stuck = c->out.n ? tick_now() : 0;
	if (gone || c->out.err || c->out.n > OUT_MAX ||
	    (c->out.n && !c->watch.first && ms_since(c->stuck) >= STUCK_MS))
		c->closing = true;
}

void conn_piece(struct conn *c)
{
	enum { PATIENCE_MS = 5000 };

	if (!c->closing) {
		conn_flush(c, PATIENCE_MS);
		c->closing |= c->out.n != 0;
		if (c->closing)
			shutdown(c->fd, SHUT_RDWR); /* what is left out must not be taken for all */
	}
	buf_clear(&c->out);
}

bool conn_is_alive(struct conn *c)
{
	char byte;
	ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		c->closing = true;
	return !c->closing;
}

void conn_done(struct conn *c, unsigned status, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wire_put_done(&c->out, &(struct wire_done){ status, slice_str(text) });
}

void conn_warn(struct conn *c, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wire_put_warning(&c->out, &(struct wire_warning){ slice_str(text) });
}

void conn_progress(struct conn *c, const char *what, uint64_t at, uint64_t total)
{
	wire_put_progress(&c->out, &(struct wire_progress){ slice_str(what), at, total });
	conn_flush(c, 0);
}

static bool may_talk(int fd)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) == 0 &&
	       (cred.uid == 0 || cred.uid == geteuid());
}

/* A free place; when there is none, that of the oldest client that has not said hello.  NULL: all
 * are in use. */
static struct conn *conn_place(void)
{
	struct conn *mute = NULL;

	for (struct conn *c = conns.all; c < conns.all + CONNS_MAX; c++) {
		if (c->fd < 0)
			return c;
		if (!c->greeted && (!mute || c->number < mute->number))
			mute = c;
	}
	if (mute)
		conn_release(mute);
	return mute;
}

/* By the calls that HotSpot makes for its own socket, so that no filter is surprised; what the JVM
 * starts meanwhile closes all descriptors. */
static int take_connection(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd >= 0 &&
	    (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

bool conn_accept(int listener)
{
	int fd = take_connection(listener);
	struct conn *c;

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR;
	c = may_talk(fd) ? conn_place() : NULL;
	if (c)
		*c = (struct conn){ .fd = fd, .number = ++conns.next_number };
	else
		close(fd);
	return true;
}

void conn_welcome(struct buf *out)
{
	wire_put_welcome(out, &(struct wire_welcome){ .magic = WIRE_MAGIC,
						      .version = WIRE_VERSION,
						      .pid = (uint32_t)getpid(),
						      .jvm = slice_str(agent.jvm),
						      .build = slice_str(SONDE_VERSION),
						      .uptime_ns = agent_age_ns(agent.started),
						      .flags = agent.late ? WELCOME_LATE : 0,
						      .app = slice_str(agent.app) });
}

bool conn_greet(struct conn *c, unsigned type, struct slice payload)
{
	struct wire_hello hello;

	if (type != WIRE_hello || wire_get_hello(payload, &hello) < 0 || hello.magic != WIRE_MAGIC)
		return false;
	conn_welcome(&c->out);
	c->greeted = true;
	return hello.version == WIRE_VERSION;
}
