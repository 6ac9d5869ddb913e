/* SPDX-License-Identifier: Apache-2.0 */
/* client.c - connects, says hello, sends and receives.
 *
 * The agent serves its clients with one thread, one command after the other, inside a program that
 * may be stopped, ending or very busy: so every wait here can be interrupted, says after two
 * seconds what it waits for, and nothing is sent before the kernel has told whose socket it is.  A
 * socket file in /tmp proves nothing; two containers may even share one /tmp. */
#define _GNU_SOURCE /* ppoll, struct ucred */
#include "cli/client/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/attach/target.h"
#include "cli/screen/cli.h"
#include "cli/screen/progress.h"

enum {
	PATIENCE_MS = 2000, /* then a person is told what is being waited for */
	CONNECT_EVERY_MS = 100,
	LOOK_MS = 1000,
	GOING_MS = 20,
	GOING_LOOKS = 10,
	READ_SIZE = 64 << 10,
	SILENCE_S = 300,  /* as long as another client's command may take */
	FRAME_COST = 128, /* counted for each message besides its bytes, which may be hardly any */
	TALK_COST = 4096, /* ... for progress and warnings, which are few */
};

/* More than an agent ever has to tell: a million contexts are a quarter of it. */
static const uint64_t answer_max = 1u << 30;

static const uint64_t ms = 1000000;

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* Without SA_RESTART, so that poll() returns; with SA_RESETHAND, so that the second one kills. */
void client_catch_interrupts(void)
{
	struct sigaction act = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &act, NULL);
}

bool client_interrupted(void)
{
	return interrupted != 0;
}

/* poll() for one descriptor that misses no Ctrl-C: it is let in only while waiting. */
static int wait_for(int fd, short events, int timeout_ms)
{
	struct timespec limit = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };
	struct pollfd p = { .fd = fd, .events = events };
	sigset_t block, old;
	int n;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigprocmask(SIG_BLOCK, &block, &old);
	if (interrupted) /* what has come already may still be read */
		limit = (struct timespec){ 0 };
	n = ppoll(&p, fd < 0 ? 0 : 1, timeout_ms < 0 && !interrupted ? NULL : &limit, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return n;
}

/* ---- the process at the other end ---- */

/* The letter that /proc gives for the state of a process; 0: it is gone. */
static char process_state(pid_t pid)
{
	char path[32], line[512], *end;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	end = strrchr(line, ')'); /* behind the name, which may have any characters */
	return end && end[1] && end[2] != 'Z' && end[2] != 'X' ? end[2] : 0;
}

/* How long an agent may say nothing. */
static uint64_t silence_ns(void)
{
	const char *text = getenv("SONDE_TIMEOUT");
	uint64_t seconds = SILENCE_S;

	if (text && !cli_parse_number(text, 1, 86400, &seconds))
		seconds = SILENCE_S;
	return seconds * 1000 * ms;
}

bool client_runs(const struct client *c)
{
	/* An agent goes a moment before its process. */
	for (int i = 0; i < GOING_LOOKS && process_state(c->pid); i++)
		wait_for(-1, 0, GOING_MS);
	return process_state(c->pid) != 0;
}

const char *client_gone(const struct client *c, char text[80])
{
	int pid = (int)c->pid;

	switch (c->fault) {
	case CLIENT_SILENT:
		snprintf(text, 80, "the agent in %d has said nothing for %llu s", pid,
			 (unsigned long long)(silence_ns() / 1000 / ms));
		break;
	case CLIENT_CUT:
		snprintf(text, 80, "the agent in %d stopped in the middle of a message", pid);
		break;
	case CLIENT_FLOODS:
		snprintf(text, 80, "the agent in %d answers without end", pid);
		break;
	case CLIENT_NONSENSE:
		snprintf(text, 80, "the agent in %d sent what no agent sends", pid);
		break;
	case CLIENT_CLOSED:
		if (client_runs(c))
			snprintf(text, 80, "the agent in %d closed the connection", pid);
		else
			snprintf(text, 80, "%d has ended", pid);
		break;
	}
	return text;
}

/* ---- bytes ---- */

static int send_some(struct client *c, struct slice *left)
{
	ssize_t n = send(c->fd, left->p, left->n, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : E_IO;
	*left = (struct slice){ left->p + n, left->n - (size_t)n };
	return 0;
}

int client_send(struct client *c)
{
	uint64_t end = clock_steady_ns() + silence_ns();
	struct slice left = buf_slice(&c->out);
	char gone[80];
	int rc = c->out.err;

	if (rc < 0)
		return cli_cannot("the request could not be made: %s", err_text(rc));
	while (left.n && rc >= 0 && !interrupted) {
		rc = send_some(c, &left);
		if (left.n && rc >= 0)
			wait_for(c->fd, POLLOUT, LOOK_MS);
		if (left.n && clock_steady_ns() > end) { /* it does not even read */
			c->fault = CLIENT_SILENT;
			rc = E_LIMIT;
		}
	}
	buf_clear(&c->out);
	c->awaits = true;
	c->heard = clock_steady_ns();
	c->received = 0;
	if (rc < 0)
		return cli_cannot("%s", client_gone(c, gone));
	return left.n ? CLI_CANNOT : CLI_DONE;
}

/* 1: something was read; 0: nothing there; negative: gone. */
static int receive(struct client *c)
{
	uint8_t *to;
	ssize_t n;

	if (c->used) {
		memmove(c->in.p, c->in.p + c->used, c->in.n - c->used);
		c->in.n -= c->used;
		c->used = 0;
	}
	to = buf_room(&c->in, READ_SIZE);
	if (!to)
		return E_NO_MEMORY;
	n = recv(c->fd, to, READ_SIZE, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : E_IO;
	c->in.n += (size_t)n;
	return n ? 1 : E_IO;
}

/* Milliseconds until somebody has to look at the time. */
static int next_look(uint64_t now, uint64_t end)
{
	uint64_t left = (end - now) / ms + 1;

	return left < LOOK_MS ? (int)left : LOOK_MS;
}

static int fail(struct client *c, enum client_fault why, int rc)
{
	c->fault = why;
	return rc;
}

/* n: the length of a frame that was found, or an error. */
static int take_frame(struct client *c, long n, unsigned type)
{
	if (n < 0)
		return fail(c, CLIENT_NONSENSE, (int)n);
	c->used += (size_t)n;
	c->received += (uint64_t)n + FRAME_COST;
	c->received += type == WIRE_progress || type == WIRE_warning ? TALK_COST : 0;
	if (c->awaits && c->received > answer_max)
		return fail(c, CLIENT_FLOODS, E_LIMIT);
	c->heard = clock_steady_ns();
	if (type == WIRE_done)
		c->awaits = false;
	return 1;
}

/* Has nothing come for longer than anybody waits?  An agent that is watched may be silent. */
static int check_silence(struct client *c, uint64_t now, bool within)
{
	uint64_t limit = silence_ns();

	if ((!within && !c->awaits) || now < c->heard || now - c->heard < limit)
		return 0;
	return fail(c, within ? CLIENT_CUT : CLIENT_SILENT, E_LIMIT);
}

int client_next(struct client *c, int timeout_ms, unsigned *type, struct slice *payload)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX : clock_steady_ns() + (uint64_t)timeout_ms * ms;

	*type = WIRE_none;
	for (;;) {
		struct slice in = { c->in.p + c->used, c->in.n - c->used };
		long n = in.n ? wire_frame(in, type, payload) : 0;
		uint64_t now;
		int rc;

		if (n != 0)
			return take_frame(c, n, *type);
		rc = receive(c);
		if (rc < 0)
			return rc;
		now = clock_steady_ns();
		if (rc > 0 && !in.n)
			c->heard = now;
		/* A message that comes byte by byte is as bad as one that does not come. */
		if (check_silence(c, now, in.n > 0) < 0)
			return E_LIMIT;
		if (rc > 0)
			continue;
		if (now >= end || interrupted)
			return 0;
		wait_for(c->fd, POLLIN, next_look(now, end));
	}
}

/* ---- hello ---- */

static int no_agent(const struct target *t)
{
	return cli_cannot("no agent in %d; 'sonde attach %d' puts it in", (int)t->pid, (int)t->pid);
}

static int cannot_connect(const struct target *t, int error)
{
	if (!process_state(t->pid))
		return cli_cannot("%d has ended", (int)t->pid);
	if (error == ENOENT || error == ECONNREFUSED) /* refused: its agent ended without care */
		return no_agent(t);
	if (error == EACCES || error == EPERM)
		return cli_cannot("%d belongs to the user with the id %u: only that user and root "
				  "can talk to its agent",
				  (int)t->pid, t->uid);
	if (error == EAGAIN)
		return cli_cannot("too many others are waiting for the agent in %d; try later",
				  (int)t->pid);
	if (error == EINTR)
		return CLI_CANNOT;
	return cli_cannot("the agent in %d cannot be reached: %s", (int)t->pid, strerror(error));
}

/* 0, or an errno. */
static int connect_to(struct client *c, const struct target *t)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	uint64_t end = clock_steady_ns() + PATIENCE_MS * ms;

	target_socket(t, to.sun_path, sizeof(to.sun_path));
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return errno;
	while (connect(c->fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		if (errno != EAGAIN || clock_steady_ns() > end) /* EAGAIN: its queue is full */
			return errno;
		wait_for(-1, 0, CONNECT_EVERY_MS);
		if (interrupted)
			return EINTR;
	}
	return 0;
}

/* Is this the target's own socket?  Another process, or another user's, could have put one
 * there. */
static int check_peer(const struct client *c, const struct target *t)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0)
		return cli_cannot("whose socket that of %d is cannot be found out: %s", (int)t->pid,
				  strerror(errno));
	if (peer.uid != t->uid && peer.uid != 0)
		return cli_cannot(
			"the socket of %d belongs to the user with the id %u, the process to "
			"%u: not talking to it",
			(int)t->pid, peer.uid, t->uid);
	if (peer.pid == 0) /* the target has a number here, so it is not the target */
		return cli_cannot(
			"the socket of %d is served from outside of this pid namespace (do two "
			"containers share /tmp?): not talking to it",
			(int)t->pid);
	if (peer.pid != t->pid)
		return cli_cannot(
			"the socket of %d is served by process %d (do two containers share "
			"/tmp?): not talking to it",
			(int)t->pid, (int)peer.pid);
	return CLI_DONE;
}

static void tell_busy(const struct client *c)
{
	char state = process_state(c->pid);

	if (state == 'T' || state == 't')
		fprintf(stderr, "sonde: %d is stopped; waiting for it to go on\n", (int)c->pid);
	else
		fprintf(stderr,
			"sonde: the agent in %d is busy with another command; waiting for it\n",
			(int)c->pid);
}

static int closed_early(const struct client *c, const struct target *t)
{
	char gone[80];

	client_gone(c, gone);
	if (process_state(c->pid) && geteuid() != t->uid && geteuid() != 0)
		return cli_cannot("%s: it talks only to the user with the id %u and to root", gone,
				  t->uid);
	return cli_cannot("%s at once: it is leaving, or has too many clients; try again", gone);
}

static int check_welcome(struct client *c, unsigned type, struct slice payload)
{
	buf_put(&c->kept, payload);
	if (c->kept.err)
		return cli_cannot("%s", err_text(c->kept.err));
	if (type != WIRE_welcome || wire_get_welcome(buf_slice(&c->kept), &c->welcome) < 0 ||
	    c->welcome.magic != WIRE_MAGIC)
		return cli_cannot("what listens on the socket of %d is not Sonde's agent",
				  (int)c->pid);
	if (c->welcome.version != WIRE_VERSION)
		return cli_cannot(
			"the agent in %d (%.*s) speaks version %u of the protocol, this sonde "
			"(%s) version %d: use the sonde that it came with",
			(int)c->pid, SLICE_FMT(c->welcome.build), c->welcome.version, SONDE_VERSION,
			WIRE_VERSION);
	return CLI_DONE;
}

static int say_hello(struct client *c, const struct target *t)
{
	struct slice payload;
	unsigned type;
	int rc, status;
	char gone[80];

	wire_put_hello(&c->out,
		       &(struct wire_hello){ .magic = WIRE_MAGIC,
					     .version = WIRE_VERSION,
					     .client = slice_str("sonde " SONDE_VERSION) });
	status = client_send(c);
	if (status != CLI_DONE)
		return status;
	rc = client_next(c, PATIENCE_MS, &type, &payload);
	if (rc == 0 && !interrupted) {
		tell_busy(c);
		rc = client_next(c, -1, &type, &payload);
	}
	c->awaits = false;
	if (interrupted)
		return CLI_CANNOT;
	if (rc == E_IO)
		return closed_early(c, t);
	if (rc < 0 && c->fault == CLIENT_NONSENSE)
		return cli_cannot("what listens on the socket of %d is not Sonde's agent",
				  (int)c->pid);
	if (rc < 0)
		return cli_cannot("%s, not even hello", client_gone(c, gone));
	return check_welcome(c, type, payload);
}

bool client_is_there(const struct target *t)
{
	struct client c;
	int rc = connect_to(&c, t);

	if (c.fd >= 0)
		close(c.fd);
	return rc != ENOENT && rc != ECONNREFUSED;
}

int client_open(struct client *c, const struct target *t)
{
	int rc, status;

	*c = (struct client){ .fd = -1, .pid = t->pid };
	interrupted = 0;
	client_catch_interrupts();
	rc = connect_to(c, t);
	status = rc ? cannot_connect(t, rc) : check_peer(c, t);
	if (status == CLI_DONE)
		status = say_hello(c, t);
	if (status != CLI_DONE)
		client_close(c);
	return status;
}

int client_find(struct client *c, const char *text, struct target *t)
{
	int status = target_find(text, t);

	return status == CLI_DONE ? client_open(c, t) : status;
}

void client_hang_up(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

void client_close(struct client *c)
{
	client_hang_up(c);
	buf_release(&c->in);
	buf_release(&c->out);
	buf_release(&c->kept);
	buf_release(&c->done);
}
