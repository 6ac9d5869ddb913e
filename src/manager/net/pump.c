/* SPDX-License-Identifier: Apache-2.0 */
/* pump.c - one poll() for the connection and all channels.
 *
 * Channels take turns: each that has something to send may add one frame to what waits for the
 * connection, and nobody may while more than WAITING bytes wait.  What came for a channel and its
 * descriptor does not take stays here, at most MUX_WINDOW bytes, since credit is given for what was
 * taken. */
#include "manager/net/pump.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	WAITING = 128 << 10,
	READ_SIZE = 64 << 10,
	READS = 16, /* then channels have their turn */
	PING_MS = 3000,
	SILENT_MS = 20000,
};

void pump_init(struct pump *p, bool is_manager)
{
	mux_init(&p->mux, is_manager);
	p->why[0] = '\0';
	p->got = p->gave = 0;
	p->sent = 0;
	p->turn = 0;
	p->more =
		true; /* what came with the answer to the request is in .mux.in, or in its library */
	p->heard_ms = p->said_ms = clock_steady_ms();
	for (unsigned i = 0; i < MUX_CHANNELS; i++)
		p->channels[i] = (struct pump_channel){ .fd = -1 };
}

static void hang_up(struct pump_channel *c)
{
	if (c->fd >= 0)
		close(c->fd);
	buf_release(&c->out);
	*c = (struct pump_channel){ .fd = -1 };
}

void pump_release(struct pump *p)
{
	for (unsigned i = 0; i < MUX_CHANNELS; i++)
		hang_up(&p->channels[i]);
	mux_release(&p->mux);
}

void pump_join(struct pump *p, unsigned channel, int fd)
{
	hang_up(&p->channels[channel]);
	p->channels[channel].fd = fd;
}

static int over(struct pump *p, const char *why)
{
	if (!p->why[0])
		snprintf(p->why, sizeof(p->why), "%s", why);
	return E_IO;
}

/* ---- channels ---- */

static void end_channel(struct pump *p, unsigned channel)
{
	hang_up(&p->channels[channel]);
	mux_close(&p->mux, channel, MUX_DONE);
}

/* To its descriptor; when the other side has closed, that is the end. */
static void flush(struct pump *p, unsigned channel)
{
	struct pump_channel *c = &p->channels[channel];
	bool fails = c->out.err != 0;

	while (c->fd >= 0 && c->sent < c->out.n && !fails) {
		ssize_t n = send(c->fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		fails = n <= 0;
		if (!fails) {
			c->sent += (size_t)n;
			mux_eaten(&p->mux, channel, (size_t)n);
		}
	}
	if (fails || p->mux.channels[channel].state == MUX_THEY_CLOSED) {
		end_channel(p, channel);
		return;
	}
	buf_clear(&c->out);
	c->sent = 0;
}

/* One frame of what it has. */
static void fill(struct pump *p, unsigned channel)
{
	static _Thread_local uint8_t block[MUX_FRAME];
	size_t room = mux_room(&p->mux, channel);
	ssize_t n = room ? recv(p->channels[channel].fd, block, room, 0) : -1;

	if (!room || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	if (n <= 0)
		end_channel(p, channel);
	else
		mux_send(&p->mux, channel, (struct slice){ block, (size_t)n });
}

/* ---- the connection ---- */

static int take_event(struct pump *p, const struct mux_event *e)
{
	struct pump_channel *c = &p->channels[e->channel];

	switch (e->type) {
	case MUX_PING:
		return 0;
	case MUX_DATA:
		buf_put(&c->out, e->data);
		flush(p, e->channel);
		return 0;
	case MUX_CLOSE:
		flush(p, e->channel);
		return 0;
	default:
		return p->on(p->ctx, e) < 0 ? over(p, "the connection is not wanted") : 0;
	}
}

static int take_all(struct pump *p)
{
	struct mux_event e;
	int rc;

	while ((rc = mux_next(&p->mux, &e)) > 0)
		if (take_event(p, &e) < 0)
			return E_IO;
	return rc < 0 ? over(p, p->mux.why) : 0;
}

static int read_way(struct pump *p)
{
	p->more = false;
	if (p->mux.in.n && take_all(p) < 0)
		return E_IO;
	for (unsigned i = 0; i < READS; i++) {
		uint8_t *to = buf_room(&p->mux.in, READ_SIZE);
		long n = to ? p->way.recv(p->way.ctx, to, READ_SIZE) : PUMP_FAILED;

		if (n == PUMP_AGAIN)
			return 0;
		if (n <= 0)
			return over(p, n == 0 ? "the other side has closed the connection"
					      : "the connection is broken");
		p->mux.in.n += (size_t)n;
		p->got += (size_t)n;
		p->heard_ms = clock_steady_ms();
		if (take_all(p) < 0)
			return E_IO;
	}
	p->more = true; /* it may have been decrypted already, which poll() does not see */
	return 0;
}

/* Under steady load it may never be all sent. */
static void drop_sent(struct pump *p)
{
	struct buf *out = &p->mux.out;

	if (p->sent < WAITING)
		return;
	memmove(out->p, out->p + p->sent, out->n - p->sent);
	out->n -= p->sent;
	p->sent = 0;
}

static int write_way(struct pump *p)
{
	drop_sent(p);
	while (p->sent < p->mux.out.n) {
		long n = p->way.send(p->way.ctx, p->mux.out.p + p->sent, p->mux.out.n - p->sent);

		if (n == PUMP_AGAIN)
			return 0;
		if (n <= 0)
			return over(p, "the connection is broken");
		p->sent += (size_t)n;
		p->gave += (size_t)n;
		p->said_ms = clock_steady_ms();
	}
	if (!p->mux.out.err) /* else mux_next says so */
		buf_clear(&p->mux.out);
	p->sent = 0;
	return 0;
}

/* ---- a turn ---- */

static nfds_t watch(struct pump *p)
{
	bool full = p->mux.out.n - p->sent > WAITING;
	nfds_t n = 2;

	p->fds[0] = (struct pollfd){ p->way.fd, POLLIN, 0 };
	if (p->sent < p->mux.out.n)
		p->fds[0].events |= POLLOUT;
	p->fds[1] = (struct pollfd){ p->wake, POLLIN, 0 };
	for (unsigned k = 0; k < MUX_CHANNELS; k++) {
		unsigned i = (p->turn + k) % MUX_CHANNELS;
		struct pump_channel *c = &p->channels[i];
		short wants = (short)((!full && mux_room(&p->mux, i) ? POLLIN : 0) |
				      (c->sent < c->out.n ? POLLOUT : 0));

		if (c->fd < 0 || !wants)
			continue;
		p->fds[n] = (struct pollfd){ c->fd, wants, 0 };
		p->of[n++] = (unsigned short)i;
	}
	return n;
}

static void serve_channels(struct pump *p, nfds_t n)
{
	for (nfds_t k = 2; k < n; k++) {
		unsigned i = p->of[k];

		if (p->fds[k].revents & POLLOUT)
			flush(p, i);
		/* a channel may have ended since, and its number been given to another */
		if (p->fds[k].revents & (POLLIN | POLLHUP | POLLERR) &&
		    p->channels[i].fd == p->fds[k].fd && p->fds[k].events & POLLIN)
			fill(p, i);
		if (p->mux.out.n - p->sent > WAITING) {
			p->turn = (i + 1) % MUX_CHANNELS; /* who comes next begins */
			return;
		}
	}
}

static int beat(struct pump *p)
{
	uint64_t now = clock_steady_ms();

	if (now - p->heard_ms > SILENT_MS)
		return over(p, "nothing was heard of it for 20 seconds");
	if (now - p->said_ms >= PING_MS && p->sent == p->mux.out.n) {
		mux_ping(&p->mux);
		p->said_ms = now;
	}
	return 0;
}

int pump_step(struct pump *p, unsigned limit_ms)
{
	nfds_t n = watch(p);
	uint64_t count;

	if (poll(p->fds, n, p->more ? 0 : (int)limit_ms) < 0) {
		if (errno != EINTR)
			return over(p, "poll() fails");
		return 0;
	}
	if (p->fds[1].revents && read(p->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return over(p, "its eventfd cannot be read");
	if ((p->more || p->fds[0].revents) && read_way(p) < 0)
		return E_IO;
	serve_channels(p, n);
	return beat(p) < 0 || write_way(p) < 0 ? E_IO : 0;
}
