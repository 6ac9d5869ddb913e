/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - one thread, one poll loop.  Commands run one after another, so two clients never get
 * in each other's way; one that waits sees it.
 *
 * The socket lies in /tmp, as HotSpot's own does, since that is where a client outside a
 * container finds it.  It is for the JVM's own user and for root: its mode says so, and each
 * connection's credentials are looked at again (conn.c). */
#include "agent/load/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/classes/cached.h"
#include "agent/classes/loaders.h"
#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/core/conn.h"
#include "agent/core/glibc.h"
#include "agent/load/command.h"
#include "agent/load/lifecycle.h"
#include "agent/serve/stack_stream.h"
#include "agent/serve/closing.h"
#include "agent/serve/idle.h"
#include "agent/serve/in_place.h"
#include "agent/serve/upkeep.h"
#include "agent/serve/sample.h"
#include "agent/serve/transactions.h"
#include "agent/serve/watch.h"
#include "agent/weaving/change.h"
#include "agent/weaving/instrument.h"
#include "probe/probe.h"
#include "wire/wire.h"

enum {
	IN_FIRST = 1 << 20, /* a frame of a client that has not greeted yet may not be longer */
	LEAVE_MS = 3000,
	TICK_MS = 1000,
	WATCH_MS = 20,
};

/* The agent's thread, and before it runs the one that starts it. */
static struct {
	int listen;
	bool running;
	pid_t pid;
	uint64_t deaf; /* tick at which a connection could not be taken; 0: all were */
	char path[108];
} server = { .listen = -1 };

/* ---- connections -------------------------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	uint32_t number = c->number;

	conn_release(c);
	sample_client_gone(number);
	stack_stream_client_gone(number);
	in_place_client_gone(number);
	transactions_client_gone(number);
	change_client_gone(number);
}

static uint64_t ms_since(uint64_t tick)
{
	return agent_age_ns(tick) / 1000000;
}

/* Runs the commands that have come in whole, while the client reads the answers. */
static void conn_take(struct conn *c)
{
	size_t used = 0;

	while (!c->closing && !agent.leaving && !c->out.n) {
		struct slice rest = { c->in.p + used, c->in.n - used }, payload;
		unsigned type;
		long n = wire_frame(rest, &type, &payload);

		if (n == 0 && (c->greeted || rest.n < IN_FIRST))
			break;
		if (n <= 0 || (!c->greeted && !conn_greet(c, type, payload)))
			c->closing = true;
		else if (type != WIRE_hello && !command_answer(c, type, payload))
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
	bool waits = rulebook.n || woven_resting() || server.deaf || closing_is_on();
	int sample = sample_patience(), place = in_place_patience(),
	    stream = stack_stream_patience();

	if (place >= 0 && (sample < 0 || place < sample))
		sample = place;
	if (stream >= 0 && (sample < 0 || stream < sample))
		sample = stream;
	for (struct conn *c = NULL; (c = conn_next(c));) {
		if (c->watch.first || transactions_is_for(c))
			return sample >= 0 && sample < WATCH_MS ? sample : WATCH_MS;
		waits |= c->out.n != 0;
	}
	if (sample >= 0 && (sample < TICK_MS || !waits))
		return sample;
	return waits || server.listen < 0 ? TICK_MS
					  : -1; /* without a socket no client can wake us */
}

static void each_second(void)
{
	if (in_place_patience() < 0) /* its windows have gates closed, too */
		closing_tick();
	if (rulebook.n) {
		upkeep_tick();
		loaders_tick();
		idle_trim();
		cached_write(0);
		if (instrument_live_waits())
			change_follow();
	}
	change_end_rest();
}

static void wait_for(struct pollfd *p)
{
	p[0] = (struct pollfd){ .fd = server.deaf ? -1 : server.listen, .events = POLLIN };
	for (unsigned i = 0; i < CONNS_MAX; i++) {
		const struct conn *c = conn_at(i);

		p[i + 1] = (struct pollfd){ .fd = c->fd, .events = c->out.n ? POLLOUT : POLLIN };
	}
}

static void serve_clients(const struct pollfd *p)
{
	for (unsigned i = 0; i < CONNS_MAX && !agent.leaving; i++) {
		struct conn *c = conn_at(i);

		if (c->fd >= 0 && (p[i].revents || c->out.n))
			conn_serve(c);
	}
}

static void send_live(void)
{
	watch_send();
	transactions_send();
	sample_tick();
	stack_stream_tick();
	in_place_tick();
}

static void close_clients(void)
{
	for (struct conn *c = NULL; (c = conn_next(c));)
		if (c->closing)
			conn_close(c);
}

static void serve(void)
{
	struct pollfd p[CONNS_MAX + 1];
	uint64_t last = tick_now();

	in_place_at_start();
	while (!agent.leaving) {
		int wait = patience();

		wait_for(p);
		if (poll(p, CONNS_MAX + 1, wait) < 0 && errno != EINTR)
			break;
		if (agent.leaving)
			break;
		agent_scale_update();
		serve_clients(p + 1);
		if (server.deaf && ms_since(server.deaf) >= TICK_MS * 9 / 10)
			server.deaf = 0;
		else if (!agent.leaving && p[0].revents)
			server.deaf = conn_accept(server.listen) ? 0 : tick_now();
		if (!agent.leaving)
			send_live();
		if (!agent.leaving && agent_age_ns(last) >= TICK_MS * 1000000ull * 9 / 10) {
			last = tick_now();
			each_second();
		}
		close_clients();
	}
}

static void *run(void *unused)
{
	(void)unused;
	probe_mute(true);
	prctl(PR_SET_NAME, "sonde");
	serve();
	sample_stop();
	stack_stream_stop();
	in_place_stop();
	for (struct conn *c = NULL; (c = conn_next(c));)
		conn_release(c);
	close(server.listen);
	server.listen = -1;
	if (getpid() == server.pid && server.path[0])
		unlink(server.path);
	lifecycle_after_stop();
	__atomic_store_n(&server.running, false, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- start and end ------------------------------------------------------------------------ */

/* By the system call: glibc's stat functions have new versions since 2.33.  0: nothing is there. */
static mode_t mode_of(const char *path)
{
	struct stat st;

	return syscall(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode
										      : 0;
}

/* An old socket of a process that had our pid goes, if it is ours to remove. */
static bool bind_here(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	memcpy(a.sun_path, server.path, sizeof(a.sun_path));
	if (S_ISSOCK(mode_of(server.path)))
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

/* The file gets the mode that the descriptor has, less the program's umask, which is not ours to
 * change; so it never has another one.  Where a system does not do so, no agent listens there. */
static bool open_socket(void)
{
	snprintf(server.path, sizeof(server.path), "%s", agent.options.socket);
	server.listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server.listen >= 0 && fchmod(server.listen, 0600) == 0 &&
	    (server.path[0] ? bind_here() : bind_by_pid()) &&
	    !(mode_of(server.path) & (S_IRWXG | S_IRWXO)) && listen(server.listen, CONNS_MAX) == 0)
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
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	/* The program's signals are not for this thread, but its own faults are: the kernel ends a
	 * process that blocks them, before the JVM can say where it was. */
	sigfillset(&all);
	for (size_t i = 0; i < COUNT(faults); i++)
		sigdelset(&all, faults[i]);
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
	conn_none();
	agent.leaving = false;
	server.pid = getpid();
	agent_scale_begin();
	open = open_socket();
	if (!open && agent.late)
		return false;
	lifecycle_at_start(jni);
	if (!open && !rulebook.n) /* with rules the thread keeps time, though no client can ask */
		return false;
	server.running = start_thread();
	if (!server.running) /* nobody could take the hooks out later */
		lifecycle_undo_start(jni);
	if (!server.running && open) {
		close(server.listen);
		server.listen = -1;
		unlink(server.path);
	}
	return server.running;
}

static bool is_leaving(void)
{
	return agent.leaving && __atomic_load_n(&server.running, __ATOMIC_ACQUIRE);
}

bool server_wait_left(void)
{
	for (int i = 0; i < LEAVE_MS && is_leaving(); i++)
		usleep(1000);
	return !is_leaving();
}

void server_vm_death(JNIEnv *jni)
{
	(void)jni;
	cached_write(100);
	lifecycle_last_report();
	if (!server.running || getpid() != server.pid)
		return;
	agent.dead = true; /* the thread may wait for the JVM, which will not answer any more */
	if (server.path[0])
		unlink(server.path);
	if (server.listen >= 0) /* wakes the thread; it closes the socket only when it is to stop */
		shutdown(server.listen, SHUT_RDWR);
	agent.leaving = true;
}
