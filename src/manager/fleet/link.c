/* SPDX-License-Identifier: Apache-2.0 */
/* link.c - sockets of agents. */

#include "manager/fleet/link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/wire.h"

enum { READ_SIZE = 64 << 10, READS = 16 /* then others have their turn */, BEHIND = 256 << 20 };

static int connect_path(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why;

	if (fd < 0)
		return -1;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	why = errno;
	close(fd);
	errno = why;
	return -1;
}

static bool is_of(int fd, const struct link_peer *want)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.pid == want->pid &&
	       (peer.uid == want->uid || peer.uid == 0);
}

int link_open(struct agent_link *l, const struct link_peer *peer)
{
	int rc = E_NOT_FOUND;

	link_close(l);
	for (int second = 0; second < 2 && rc == E_NOT_FOUND; second++) {
		char path[100];

		snprintf(path, sizeof(path), "/proc/%d/root" WIRE_SOCKET "%s", (int)peer->pid,
			 (int)peer->ns_pid, second ? ".2" : "");
		l->fd = connect_path(path);
		if (l->fd >= 0)
			rc = is_of(l->fd, peer) ? 0 : E_UNSUPPORTED;
		else if (errno == EAGAIN)
			rc = E_LIMIT;
		else
			rc = errno == ENOENT || errno == ECONNREFUSED ? E_NOT_FOUND : E_IO;
	}
	if (rc < 0)
		link_close(l);
	return rc;
}

void link_close(struct agent_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	buf_release(&l->in);
	buf_release(&l->out);
	l->used = l->sent = 0;
}

short link_wants(const struct agent_link *l)
{
	return (short)(POLLIN | (l->sent < l->out.n ? POLLOUT : 0));
}

static int push(struct agent_link *l)
{
	while (l->sent < l->out.n) {
		ssize_t n = send(l->fd, l->out.p + l->sent, l->out.n - l->sent, MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : E_IO;
		l->sent += (size_t)n;
	}
	buf_clear(&l->out);
	l->sent = 0;
	return 0;
}

static void drop_used(struct agent_link *l)
{
	if (!l->used)
		return;
	memmove(l->in.p, l->in.p + l->used, l->in.n - l->used);
	l->in.n -= l->used;
	l->used = 0;
}

int link_pump(struct agent_link *l)
{
	int rc = push(l);

	drop_used(l);
	for (int i = 0; i < READS && rc >= 0; i++) {
		uint8_t *to = l->in.n < BEHIND ? buf_room(&l->in, READ_SIZE) : NULL;
		ssize_t n = to ? recv(l->fd, to, READ_SIZE, 0) : 0;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n <= 0)
			return E_IO;
		l->in.n += (size_t)n;
	}
	return rc;
}

int link_next(struct agent_link *l, unsigned *type, struct slice *payload)
{
	struct slice in = { l->in.p + l->used, l->in.n - l->used };
	long n = in.n ? wire_frame(in, type, payload) : 0;

	if (n <= 0)
		return (int)n;
	l->used += (size_t)n;
	return 1;
}
