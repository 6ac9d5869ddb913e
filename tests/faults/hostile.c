/* SPDX-License-Identifier: Apache-2.0 */
/* hostile.c - a client that does not keep to the rules.
 *
 *	hostile HOW SOCKET [N]
 *
 *	random   N connections that send random bytes, every second one after a proper hello
 *	mutants  N connections that send frames of each kind with random fields, cut anywhere
 *	length   a frame that says it is very long
 *	other    a hello of another protocol, and of another version
 *	stranger says hello and is not answered
 *	storm    N connections, one after the other, closed at once
 *	crowd    N connections that send one byte and wait
 *	guests   N connections that say hello and wait
 *	deaf     asks N times for a report and never reads; waits
 *	watch    watches "Victim::tick" and never reads; waits
 *
 * Those that wait print "ready" and end with their input.  "length", "other" and "stranger" see
 * that the agent closes the connection.  Exit status: 0 the agent did as it should, 1 it did not, 2
 * usage, 3 could not. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire/wire.h"

enum { CLOSE_MS = 5000, CONNECT_TRIES = 5000 };

static const char *path;
static uint64_t seed = 88172645463325252u;

static uint32_t some(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 32) * below >> 32);
}

static int dial(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	strncpy(to.sun_path, path, sizeof(to.sun_path) - 1);
	for (int i = 0; i < CONNECT_TRIES; i++) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		if (fd >= 0)
			close(fd);
		if (errno != EAGAIN)
			break;
		usleep(1000); /* the agent's queue is full */
	}
	perror(path);
	exit(3);
}

/* What does not go at once does not go. */
static void tell(int fd, const struct buf *b)
{
	ssize_t n = send(fd, b->p, b->n, MSG_NOSIGNAL);

	(void)n;
}

static void put_hello(struct buf *b)
{
	wire_put_hello(b, &(struct wire_hello){ .magic = WIRE_MAGIC,
						.version = WIRE_VERSION,
						.client = slice_str("hostile") });
}

/* Does the agent close it?  What it says before that is passed over. */
static bool is_closed(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[4096];

	while (poll(&p, 1, CLOSE_MS) > 0) {
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return true;
	}
	return false;
}

static int send_random(unsigned n)
{
	struct buf b = { 0 };

	for (unsigned i = 0; i < n; i++) {
		int fd = dial();

		buf_clear(&b);
		if (i % 2)
			put_hello(&b);
		for (uint32_t k = some(600); k; k--)
			buf_u8(&b, (uint8_t)some(256));
		tell(fd, &b);
		close(fd);
	}
	buf_release(&b);
	return 0;
}

/* A frame of any type but `detach`, which is no fault, with a payload that may look like texts. */
static void put_mutant(struct buf *b)
{
	uint32_t type = 1 + some(WIRE_TYPES + 3), n = some(60);
	size_t at = b->n;

	if (type == WIRE_detach)
		type = WIRE_report;
	buf_u32(b, 4);
	buf_u16(b, (uint16_t)type);
	buf_u16(b, 0);
	if (some(2))
		buf_u32(b, some(80));
	for (; n; n--)
		buf_u8(b,
		       some(3) ? (uint8_t) "hook Victim::tick #*"[some(20)] : (uint8_t)some(256));
	put_u32(b->p + at, (uint32_t)(b->n - at - 4));
}

static int send_mutants(unsigned n)
{
	struct buf b = { 0 };

	for (unsigned i = 0; i < n; i++) {
		int fd = dial();

		buf_clear(&b);
		put_hello(&b);
		for (uint32_t k = some(5); k; k--)
			put_mutant(&b);
		if (some(2))
			b.n -= some((uint32_t)b.n);
		tell(fd, &b);
		if (some(2)) {
			struct pollfd p = { .fd = fd, .events = POLLIN };

			poll(&p, 1, 2);
		}
		close(fd);
	}
	buf_release(&b);
	return 0;
}

static int send_length(void)
{
	static const uint32_t lengths[] = { UINT32_MAX, 0x7fffffff, WIRE_FRAME_MAX, 0, 3 };
	struct buf b = { 0 };
	int rc = 0;

	for (unsigned hello = 0; hello < 2; hello++) {
		for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
			int fd = dial();

			buf_clear(&b);
			if (hello)
				put_hello(&b);
			buf_u32(&b, lengths[i]);
			buf_u32(&b, WIRE_hook << 16);
			tell(fd, &b);
			if (!is_closed(fd)) {
				printf("length %u: not closed\n", lengths[i]);
				rc = 1;
			}
			close(fd);
		}
	}
	buf_release(&b);
	return rc;
}

static int send_other(void)
{
	const struct wire_hello hellos[] = {
		{ .magic = WIRE_MAGIC, .version = WIRE_VERSION + 1 },
		{ .magic = 0x47455420, .version = WIRE_VERSION },
	};
	struct buf b = { 0 };
	int rc = 0;

	for (size_t i = 0; i < 3; i++) {
		int fd = dial();

		buf_clear(&b);
		if (i < 2)
			wire_put_hello(&b, &hellos[i]);
		else
			buf_text(&b, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
		wire_put_hooks(&b, &(struct wire_hooks){ 0 });
		tell(fd, &b);
		if (!is_closed(fd)) {
			printf("hello %zu: not closed\n", i);
			rc = 1;
		}
		close(fd);
	}
	buf_release(&b);
	return rc;
}

static int be_stranger(void)
{
	struct buf b = { 0 };
	int fd = dial();
	char byte;

	put_hello(&b);
	wire_put_hooks(&b, &(struct wire_hooks){ 0 });
	tell(fd, &b);
	buf_release(&b);
	if (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, CLOSE_MS) > 0 &&
	    recv(fd, &byte, 1, 0) <= 0)
		return 0;
	puts("the agent talks to a stranger");
	return 1;
}

static int storm(unsigned n)
{
	while (n--)
		close(dial());
	return 0;
}

static int stay(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return 0;
}

static int crowd(unsigned n, bool hello)
{
	struct buf b = { 0 };

	if (hello)
		put_hello(&b);
	else
		buf_u8(&b, 0);
	while (n--)
		tell(dial(), &b);
	buf_release(&b);
	return stay();
}

static int deaf(unsigned n, bool watch)
{
	struct buf b = { 0 };
	int fd = dial();

	put_hello(&b);
	if (watch)
		wire_put_watch(
			&b, &(struct wire_watch){ .rules = slice_str("hook Victim::tick full") });
	else
		while (n--)
			wire_put_report(&b, &(struct wire_report){ 0 });
	tell(fd, &b);
	buf_release(&b);
	return stay();
}

int main(int argc, char **argv)
{
	struct rlimit files = { 20000, 20000 };
	const char *how = argc > 1 ? argv[1] : "";
	unsigned n = argc > 3 ? (unsigned)atoi(argv[3]) : 100;

	if (argc < 3) {
		fputs("usage: hostile HOW SOCKET [N]\n", stderr);
		return 2;
	}
	path = argv[2];
	setrlimit(RLIMIT_NOFILE, &files);
	if (strcmp(how, "random") == 0)
		return send_random(n);
	if (strcmp(how, "mutants") == 0)
		return send_mutants(n);
	if (strcmp(how, "length") == 0)
		return send_length();
	if (strcmp(how, "other") == 0)
		return send_other();
	if (strcmp(how, "stranger") == 0)
		return be_stranger();
	if (strcmp(how, "storm") == 0)
		return storm(n);
	if (strcmp(how, "crowd") == 0 || strcmp(how, "guests") == 0)
		return crowd(n, how[0] == 'g');
	if (strcmp(how, "deaf") == 0 || strcmp(how, "watch") == 0)
		return deaf(n, how[0] == 'w');
	fprintf(stderr, "hostile: what is '%s'?\n", how);
	return 2;
}
