/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - one thread, one poll loop.  Commands run one after another, so two clients never get
 * in each other's way; one that waits sees it.
 *
 * The socket lies in /tmp, as HotSpot's own does, since that is where a client outside a
 * container finds it.  It is for the JVM's own user and for root: its mode says so, and each
 * connection's credentials are looked at again.  A connection that says something else than
 * whole frames of this protocol is closed; nothing else happens. */
#include "agent/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/cached.h"
#include "agent/change.h"
#include "agent/command.h"
#include "agent/glibc.h"
#include "agent/in_place.h"
#include "agent/instrument.h"
#include "agent/keeper.h"
#include "agent/life.h"
#include "agent/rulebook.h"
#include "agent/sample.h"
#include "agent/trace.h"
#include "agent/watch.h"
#include "agent/woven.h"
#include "base/version.h"
#include "probe/probe.h"
#include "wire/wire.h"

enum {
	CONNS_MAX = 16,
	IN_FIRST = 1 << 20,   /* a frame of a client that has not greeted yet may not be longer */
	OUT_MAX = 64 << 20,   /* a client that does not read so much is dropped */
	STUCK_MS = 10 * 1000, /* ... or that reads nothing for so long, unless it watches */
	LEAVE_MS = 3000,
	TICK_MS = 1000,
	WATCH_MS = 20,
};

static struct {
	int listen, wake;
	bool running;
	volatile bool stop;
	pid_t pid;
	uint64_t deaf; /* tick at which a connection could not be taken; 0: all were */
	char path[108];
	uint32_t next_number;
	struct conn conns[CONNS_MAX];
} server = { .listen = -1, .wake = -1 };

/* ---- connections -------------------------------------------------------------------------- */

struct conn *conn_next(struct conn *c)
{
	for (c = c ? c + 1 : server.conns; c < server.conns + CONNS_MAX; c++)
		if (c->fd >= 0)
			return c;
	return NULL;
}

static void conn_close(struct conn *c)
{
	uint32_t number = c->number;

	close(c->fd);
	buf_release(&c->in);
	buf_release(&c->out);
	*c = (struct conn){ .fd = -1 };
	change_client_gone(number);
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

	for (struct conn *c = server.conns; c < server.conns + CONNS_MAX; c++) {
		if (c->fd < 0)
			return c;
		if (!c->greeted && (!mute || c->number < mute->number))
			mute = c;
	}
	if (mute)
		conn_close(mute);
	return mute;
}

static void conn_accept(void)
{
	int fd = accept4(server.listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct conn *c;

	if (fd < 0) { /* with no descriptors left it stays ready: look again in a while */
		server.deaf = errno == EAGAIN || errno == EINTR ? 0 : tick_now();
		return;
	}
	c = may_talk(fd) ? conn_place() : NULL;
	if (!c) {
		close(fd);
		return;
	}
	*c = (struct conn){ .fd = fd, .number = ++server.next_number };
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

static bool greet(struct conn *c, unsigned type, struct slice payload)
{
	struct wire_hello hello;

	if (type != WIRE_hello || wire_get_hello(payload, &hello) < 0 || hello.magic != WIRE_MAGIC)
		return false;
	conn_welcome(&c->out);
	c->greeted = true;
	return hello.version == WIRE_VERSION;
}

/* Runs the commands that have come in whole, while the client reads the answers. */
static void conn_take(struct conn *c)
{
	size_t used = 0;

	while (!c->closing && !server.stop && !c->out.n) {
		struct slice rest = { c->in.p + used, c->in.n - used }, payload;
		unsigned type;
		long n = wire_frame(rest, &type, &payload);

		if (n == 0 && (c->greeted || rest.n < IN_FIRST))
			break;
		if (n <= 0 || (!c->greeted && !greet(c, type, payload)))
			c->closing = true;
		else if (type != WIRE_hello && !command_run(c, type, payload))
			c->closing = true;
		used += n > 0 ? (size_t)n : 0;
		conn_flush(c, c->closing ? 100 : 0);
	}
	if (used)
		memmove(c->in.p, c->in.p + used, c->in.n - used);
	c->in.n -= used;
}

static void conn_read(struct conn *c)
{
	uint8_t *room = buf_room(&c->in, 64 << 10);
	ssize_t n = room ? recv(c->fd, room, 64 << 10, MSG_DONTWAIT) : 0;

	if (n > 0) {
		c->in.n += (size_t)n;
		conn_take(c);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		c->closing = true;
	}
}

/* What the client has sent, or is ready to read: nothing more is read from one that owes us
 * that. */
static void conn_serve(struct conn *c)
{
	if (!c->out.n) {
		conn_read(c);
		return;
	}
	conn_flush(c, 0);
	if (!c->out.n)
		conn_take(c);
}

/* ---- the loop ----------------------------------------------------------------------------- */

static int patience(void)
{
	bool waits = rulebook.n || woven_resting() || server.deaf;
	int sample = sample_patience(), place = in_place_patience();

	if (place >= 0 && (sample < 0 || place < sample))
		sample = place;
	for (struct conn *c = NULL; (c = conn_next(c));) {
		if (c->watch.first || trace_is_for(c))
			return sample >= 0 && sample < WATCH_MS ? sample : WATCH_MS;
		waits |= c->out.n != 0;
	}
	if (sample >= 0 && (sample < TICK_MS || !waits))
		return sample;
	return waits ? TICK_MS : -1;
}

static void each_second(void)
{
	if (rulebook.n) {
		keeper_tick();
		cached_write(0);
		if (instrument_live_waits())
			change_follow();
	}
	change_end_rest();
}

static void serve(void)
{
	struct pollfd p[CONNS_MAX + 2];
	uint64_t last = tick_now();

	in_place_at_start();
	while (!server.stop) {
		int wait = patience();

		p[0] = (struct pollfd){ .fd = server.deaf ? -1 : server.listen, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = server.wake, .events = POLLIN };
		for (int i = 0; i < CONNS_MAX; i++)
			p[i + 2] = (struct pollfd){ .fd = server.conns[i].fd,
						    .events = server.conns[i].out.n ? POLLOUT
										    : POLLIN };
		if (poll(p, CONNS_MAX + 2, wait) < 0 && errno != EINTR)
			break;
		if (server.stop || p[1].revents)
			break;
		agent_scale_update();
		for (int i = 0; i < CONNS_MAX && !server.stop; i++)
			if (server.conns[i].fd >= 0 && (p[i + 2].revents || server.conns[i].out.n))
				conn_serve(&server.conns[i]);
		if (server.deaf && ms_since(server.deaf) >= TICK_MS * 9 / 10)
			server.deaf = 0;
		else if (!server.stop && p[0].revents)
			conn_accept();
		if (!server.stop) {
			watch_send();
			trace_send();
			sample_tick();
			in_place_tick();
		}
		if (!server.stop && agent_age_ns(last) >= TICK_MS * 1000000ull * 9 / 10) {
			last = tick_now();
			each_second();
		}
		for (struct conn *c = NULL; (c = conn_next(c));)
			if (c->closing)
				conn_close(c);
	}
}

static void *run(void *unused)
{
	(void)unused;
	probe_mute(true);
	prctl(PR_SET_NAME, "sonde");
	serve();
	sample_stop();
	in_place_stop();
	for (struct conn *c = NULL; (c = conn_next(c));) {
		close(c->fd);
		buf_release(&c->in);
		buf_release(&c->out);
		*c = (struct conn){ .fd = -1 };
	}
	close(server.listen);
	server.listen = -1;
	if (getpid() == server.pid && server.path[0])
		unlink(server.path);
	life_after_stop();
	server.running = false;
	return NULL;
}

/* ---- start and end ------------------------------------------------------------------------ */

/* By the system call: glibc's stat functions have new versions since 2.33. */
static bool is_socket(const char *path)
{
	struct statx st;

	return syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st) == 0 &&
	       S_ISSOCK(st.stx_mode);
}

/* An old socket of a process that had our pid goes, if it is ours to remove. */
static bool bind_here(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	memcpy(a.sun_path, server.path, sizeof(a.sun_path));
	if (is_socket(server.path))
		unlink(server.path);
	return bind(server.listen, (struct sockaddr *)&a, sizeof(a)) == 0;
}

static bool bind_by_pid(void)
{
	snprintf(server.path, sizeof(server.path), WIRE_SOCKET, (int)getpid());
	if (bind_here())
		return true;
	if (errno != EADDRINUSE)
		return false;
	snprintf(server.path, sizeof(server.path), WIRE_SOCKET_2, (int)getpid());
	return bind_here();
}

static bool open_socket(void)
{
	snprintf(server.path, sizeof(server.path), "%s", agent.options.socket);
	server.listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* nobody can connect before listen(), so there is no moment with another mode */
	if (server.listen >= 0 && (server.path[0] ? bind_here() : bind_by_pid()) &&
	    chmod(server.path, 0600) == 0 && listen(server.listen, CONNS_MAX) == 0)
		return true;
	agent_note("%s: %s", server.path, strerror(errno));
	if (server.listen >= 0)
		close(server.listen);
	server.listen = -1;
	server.path[0] = '\0'; /* what is there is not ours */
	return false;
}

static bool start_thread(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	sigfillset(&all); /* the program's signals are not for this thread */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 20);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, run, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

bool server_start(JNIEnv *jni)
{
	bool open;

	if (server.running)
		return true;
	for (int i = 0; i < CONNS_MAX; i++)
		server.conns[i] = (struct conn){ .fd = -1 };
	server.stop = false;
	server.pid = getpid();
	if (server.wake < 0)
		server.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	agent_scale_begin();
	open = server.wake >= 0 && open_socket();
	if (!open && agent.late)
		return false;
	life_at_start(jni);
	if (!open && !rulebook.n) /* with rules the thread keeps time, though nobody can ask */
		return false;
	server.running = start_thread();
	if (!server.running && open) {
		close(server.listen);
		server.listen = -1;
		unlink(server.path);
	}
	return server.running;
}

void server_wait_left(void)
{
	for (int i = 0; i < LEAVE_MS && server.stop && server.running; i++)
		usleep(1000);
}

void server_stop(void)
{
	server.stop = true;
}

void server_vm_death(JNIEnv *jni)
{
	uint64_t one = 1;

	(void)jni;
	cached_write(100);
	life_last_report();
	if (!server.running || getpid() != server.pid)
		return;
	agent.dead = true; /* the thread may wait for the JVM, which will not answer any more */
	server.stop = true;
	if (write(server.wake, &one, sizeof(one)) < 0)
		return;
	if (server.path[0])
		unlink(server.path);
}
