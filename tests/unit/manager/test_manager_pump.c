/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "manager/net/pump.h"

enum { BUSY, QUIET, CHANNELS };

/* Two pumps with a connection between them; the test has the outer ends of their channels. */
struct side {
	struct pump pump;
	int fd, outer[CHANNELS];
};

static void make_pair(int pair[2])
{
	if (!CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0))
		abort();
}

static long way_send(void *ctx, const void *p, size_t n)
{
	ssize_t sent = send(((struct side *)ctx)->fd, p, n, MSG_NOSIGNAL);

	return sent >= 0 ? sent : errno == EAGAIN ? PUMP_AGAIN : PUMP_FAILED;
}

static long way_recv(void *ctx, void *to, size_t n)
{
	ssize_t got = recv(((struct side *)ctx)->fd, to, n, 0);

	return got >= 0 ? got : errno == EAGAIN ? PUMP_AGAIN : PUMP_FAILED;
}

/* A channel is given one end of a pair. */
static void join(struct side *s, unsigned channel)
{
	int pair[2];

	make_pair(pair);
	s->outer[channel] = pair[0];
	pump_join(&s->pump, channel, pair[1]);
}

static int on_event(void *ctx, const struct mux_event *e)
{
	struct side *s = ctx;

	if (e->type == MUX_OPEN)
		join(s, e->channel);
	return 0;
}

static void make_side(struct side *s, int fd, bool is_manager)
{
	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->pump.way = (struct pump_way){ s, fd, way_send, way_recv };
	s->pump.wake = -1;
	s->pump.on = on_event;
	s->pump.ctx = s;
	pump_init(&s->pump, is_manager);
}

static int step(struct side *manager, struct side *relay)
{
	int a = pump_step(&manager->pump, 0), b = pump_step(&relay->pump, 0);

	return a < 0 || b < 0 ? -1 : 0;
}

static void begin(struct side *manager, struct side *relay)
{
	int pair[2];

	make_pair(pair);
	make_side(manager, pair[0], true);
	make_side(relay, pair[1], false);
	mux_found(&relay->pump.mux, 1, 1, slice_str("me"));
	for (unsigned i = 0; i < 3; i++)
		CHECK(step(manager, relay) == 0);
	for (int c = 0; c < CHANNELS; c++) {
		CHECK_INT(mux_open(&manager->pump.mux, 1, MUX_LINK, slice_str("")), c, NULL);
		join(manager, (unsigned)c);
	}
	for (unsigned i = 0; i < 3; i++)
		CHECK(step(manager, relay) == 0);
}

static void end(struct side *s)
{
	pump_release(&s->pump);
	close(s->fd);
	for (int c = 0; c < CHANNELS; c++)
		close(s->outer[c]);
}

static size_t push(int fd)
{
	static const char block[65536];
	size_t all = 0;
	ssize_t n;

	while ((n = send(fd, block, sizeof(block), MSG_NOSIGNAL)) > 0)
		all += (size_t)n;
	return all;
}

static size_t pull(int fd)
{
	static char block[65536];
	size_t all = 0;
	ssize_t n;

	while ((n = recv(fd, block, sizeof(block), 0)) > 0)
		all += (size_t)n;
	return all;
}

TEST(a_channel_that_nobody_reads_holds_up_no_other)
{
	static struct side manager, relay;
	size_t pushed = 0;
	char word[8] = "";

	begin(&manager, &relay);
	for (unsigned i = 0; i < 200; i++) {
		pushed += push(relay.outer[BUSY]);
		CHECK(step(&manager, &relay) == 0);
	}
	CHECK_INT(push(relay.outer[BUSY]), 0, "it is held back");
	CHECK(manager.pump.channels[BUSY].out.n - manager.pump.channels[BUSY].sent <= MUX_WINDOW);
	CHECK(relay.pump.mux.out.n < (1u << 20));
	CHECK(send(relay.outer[QUIET], "hello", 5, MSG_NOSIGNAL) == 5);
	for (unsigned i = 0; i < 4; i++)
		step(&manager, &relay);
	CHECK_INT(recv(manager.outer[QUIET], word, sizeof(word), 0), 5, "it comes at once");
	CHECK_STR(word, "hello", NULL);
	for (unsigned i = 0; i < 1000 && pushed; i++) {
		pushed -= pull(manager.outer[BUSY]);
		step(&manager, &relay);
	}
	CHECK_INT(pushed, 0, "all of it comes when somebody reads");
	end(&manager);
	end(&relay);
}

TEST(a_busy_channel_leaves_others_their_turn)
{
	static struct side manager, relay;
	unsigned answered = 0;
	char word[8];

	begin(&manager, &relay);
	for (unsigned i = 0; i < 100; i++) {
		push(relay.outer[BUSY]);
		pull(manager.outer[BUSY]);
		CHECK(send(relay.outer[QUIET], "x", 1, MSG_NOSIGNAL) == 1);
		for (unsigned k = 0; k < 4; k++) {
			step(&manager, &relay);
			push(relay.outer[BUSY]);
			pull(manager.outer[BUSY]);
		}
		answered += recv(manager.outer[QUIET], word, 1, 0) == 1;
	}
	CHECK_INT(answered, 100, "each within four turns");
	CHECK(manager.pump.got > 100 * MUX_FRAME);
	end(&manager);
	end(&relay);
}

TEST(what_was_sent_before_a_channel_closed_still_comes)
{
	static struct side manager, relay;
	char word[8] = "";

	begin(&manager, &relay);
	CHECK(send(relay.outer[QUIET], "last", 4, MSG_NOSIGNAL) == 4);
	close(relay.outer[QUIET]);
	for (unsigned i = 0; i < 6; i++)
		CHECK(step(&manager, &relay) == 0);
	CHECK_INT(recv(manager.outer[QUIET], word, sizeof(word), 0), 4, NULL);
	CHECK_INT(recv(manager.outer[QUIET], word, sizeof(word), 0), 0, "and then its end");
	CHECK_INT(manager.pump.mux.channels[QUIET].state, MUX_FREE, "the number is free");
	CHECK_INT(relay.pump.mux.channels[QUIET].state, MUX_FREE, "on both sides");
	CHECK_INT(relay.pump.mux.channels[BUSY].state, MUX_OPENED, "the other one is open");
	relay.outer[QUIET] = dup(relay.outer[BUSY]);
	end(&manager);
	end(&relay);
}

TEST(a_broken_rule_ends_the_connection_with_its_name)
{
	static struct side manager, relay;

	begin(&manager, &relay);
	CHECK(send(relay.fd, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL) == 16);
	CHECK(pump_step(&manager.pump, 100) < 0);
	CHECK_STR(manager.pump.why, "it sends frames of a kind that is not its to send", NULL);
	end(&manager);
	end(&relay);
}
