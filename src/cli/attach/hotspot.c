/* SPDX-License-Identifier: Apache-2.0 */
/* hotspot.c - speaks HotSpot's attach protocol.
 *
 * A HotSpot JVM listens on the Unix socket /tmp/.java_pid<PID>, but only after it was asked to: by
 * a file .attach_pid<PID>, in its working directory or in /tmp, and SIGQUIT.  (With -Xrs it does
 * from the start.)  Without such a file SIGQUIT means a thread dump on its standard output.  A
 * request is version, command and three arguments, each with a NUL behind it; the answer comes on
 * the same connection.  The JVM looks at our user and group: they must be its own, hence
 * inside_enter().  If its socket was removed (by a cleaner of /tmp), it makes a new one at the
 * next SIGQUIT, since 14. */
#define _GNU_SOURCE /* struct ucred */
#include "cli/attach/hotspot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "jvm/proc.h"

enum {
	REPLY_MAX = 1 << 16,
	ARG_MAX_LEN = 1024, /* longer ones are refused before 24 */
	PAUSE_MAX_MS = 200,
	AGAIN_MS = 1000, /* a JVM that listens where nobody can see it is asked again */
};

/* Ctrl-C while the JVM is asked: what was created has to be removed first. */
static volatile sig_atomic_t stopped;

static const int stop_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void on_stop(int sig)
{
	stopped = sig;
}

static void catch_stops(struct sigaction *old)
{
	struct sigaction now = { .sa_handler = on_stop };

	stopped = 0;
	for (size_t i = 0; i < COUNT(stop_signals); i++) {
		sigaction(stop_signals[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(stop_signals[i], &now, NULL);
	}
}

static void release_stops(const struct sigaction *old)
{
	for (size_t i = 0; i < COUNT(stop_signals); i++)
		sigaction(stop_signals[i], &old[i], NULL);
	if (stopped)
		raise(stopped); /* now it does what it would have done */
}

/* A limited wait with growing pauses. */
struct wait {
	struct hotspot *h;
	uint64_t start, end;
	unsigned pause_ms;
	bool told;
};

static int fail(struct hotspot *h, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct hotspot *h, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(h->why, sizeof(h->why), fmt, ap);
	va_end(ap);
	return code;
}

static struct wait wait_begin(struct hotspot *h)
{
	uint64_t now = clock_steady_ns();

	return (struct wait){
		.h = h, .start = now, .end = now + h->wait_ms * 1000000ull, .pause_ms = 2
	};
}

static unsigned wait_left_ms(struct wait *w)
{
	uint64_t now = clock_steady_ns();

	if (!w->told && now - w->start > 2000000000ull && w->h->waiting) {
		w->h->waiting(w->h->wait_ms / 1000);
		w->told = true;
	}
	return now < w->end ? (unsigned)((w->end - now) / 1000000) + 1 : 0;
}

/* False: time is up. */
static bool wait_pause(struct wait *w)
{
	unsigned left = wait_left_ms(w), ms = w->pause_ms < left ? w->pause_ms : left;
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	if (!left || stopped)
		return false;
	nanosleep(&t, NULL);
	w->pause_ms = w->pause_ms * 2 < PAUSE_MAX_MS ? w->pause_ms * 2 : PAUSE_MAX_MS;
	return true;
}

void hotspot_socket_name(pid_t ns_pid, char name[32])
{
	snprintf(name, 32, ".java_pid%d", ns_pid);
}

/* ---- the request file and the signal ----------------------------------------------------------- */

struct request {
	int dir; /* where the file is; -1: nowhere */
	char name[32];
	bool ours;
};

/* In a directory whose file system changes owners the JVM would not accept the file, and would
 * print a thread dump instead. */
static bool request_put(struct hotspot *h, struct request *r, int dir)
{
	int fd = dir < 0 ? -1
			 : openat(dir, r->name,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);
	struct stat st;
	bool good;

	r->ours = fd >= 0;
	if (fd < 0 && (dir < 0 || errno != EEXIST))
		return false;
	good = fstatat(dir, r->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_uid == h->in->uid;
	if (fd >= 0)
		close(fd);
	if (!good && r->ours)
		unlinkat(dir, r->name, 0);
	if (good)
		r->dir = dir;
	return good;
}

/* With the rights of the JVM's user. */
static int request_make(struct hotspot *h, struct request *r)
{
	*r = (struct request){ .dir = -1 };
	snprintf(r->name, sizeof(r->name), ".attach_pid%d", h->ns_pid);
	if (request_put(h, r, h->in->cwd) || request_put(h, r, h->in->tmp))
		return 0;
	return fail(h, E_IO,
		    "cannot create %s in its working directory nor in its /tmp: %s. Free some "
		    "space there, or make one of them writable for its user.",
		    r->name, strerror(errno));
}

static void request_remove(struct request *r)
{
	if (r->dir >= 0 && r->ours)
		unlinkat(r->dir, r->name, 0);
	r->dir = -1;
}

/* The last look is through the same descriptor as the signal: the number cannot have gone to
 * another process meanwhile. */
static int send_quit(struct hotspot *h)
{
	int pidfd = (int)syscall(SYS_pidfd_open, h->in->pid, 0), rc = 0, sent;
	struct proc_status s;

	if (pidfd < 0 &&
	    errno == ESRCH) /* else there is no such call here, or a filter refuses it */
		return fail(h, E_NOT_FOUND, "it has ended.");
	if (proc_status(h->in->pid, &s) < 0 || s.state == 'Z' || s.state == 'X')
		rc = fail(h, E_NOT_FOUND, "it has ended.");
	else if (!(s.caught >> (SIGQUIT - 1) & 1))
		rc = fail(h, E_UNSUPPORTED,
			  "it does not catch SIGQUIT, which would end it; so it was not sent.");
	if (rc >= 0) {
		sent = pidfd >= 0 ? (int)syscall(SYS_pidfd_send_signal, pidfd, SIGQUIT, NULL, 0)
				  : kill(h->in->pid, SIGQUIT);
		if (sent != 0)
			rc = fail(h, E_IO, "cannot send SIGQUIT: %s.", strerror(errno));
	}
	if (pidfd >= 0)
		close(pidfd);
	return rc;
}

/* ---- the socket -------------------------------------------------------------------------------- */

/* 1: it is there; 0: it is not; negative: it is somebody else's. */
static int socket_there(struct hotspot *h)
{
	struct stat st;
	char name[32];

	hotspot_socket_name(h->ns_pid, name);
	if (fstatat(h->in->tmp, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != h->in->uid)
		return fail(h, E_UNSUPPORTED,
			    "/tmp/%s there is not its own, so nothing was sent to it. Remove that "
			    "file.",
			    name);
	return 1;
}

/* Whom did we reach?  The kernel kept it when that process called listen(). */
static int check_peer(struct hotspot *h, int fd)
{
	struct ucred peer = { 0 };
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0)
		return fail(h, E_IO, "cannot tell who listens there: %s.", strerror(errno));
	if (peer.pid != h->in->pid)
		return fail(h, E_UNSUPPORTED,
			    "process %d listens on its socket, so nothing was sent to it.",
			    peer.pid);
	return 0;
}

/* A descriptor; E_NOT_FOUND when nobody listens there; another error. */
static int connect_once(struct hotspot *h)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char name[32];
	int rc, fd;

	rc = socket_there(h);
	if (rc <= 0)
		return rc < 0 ? rc : E_NOT_FOUND;
	hotspot_socket_name(h->ns_pid, name);
	inside_path(h->in->tmp, name, to.sun_path, sizeof(to.sun_path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(h, E_IO, "cannot make a socket: %s.", strerror(errno));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0) {
		rc = check_peer(h, fd);
		if (rc >= 0)
			return fd;
	} else if (errno == ECONNREFUSED || errno == ENOENT) {
		rc = E_NOT_FOUND;
	} else if (errno == EAGAIN) { /* its queue is full */
		rc = E_LIMIT;
	} else {
		rc = fail(h, E_IO, "cannot connect to it: %s.", strerror(errno));
	}
	close(fd);
	return rc;
}

/* Without a file, or with one that is left over.  A JVM that already listens elsewhere answers
 * SIGQUIT with a thread dump while that file is there. */
static int may_ask(struct hotspot *h)
{
	char name[32], path[64];

	hotspot_socket_name(h->ns_pid, name);
	snprintf(path, sizeof(path), "/tmp/%s", name);
	if (socket_there(h) == 1 && proc_listens(h->in->pid, path) == 1)
		return fail(h, E_UNSUPPORTED,
			    "%s is not the socket on which it listens. Remove that file, and try "
			    "again.",
			    path);
	return 0;
}

static int timed_out(struct hotspot *h)
{
	if (stopped)
		return fail(h, E_LIMIT, "interrupted.");
	return fail(h, E_LIMIT,
		    "it did not answer within %g s. It may be stopped, swapped out, or in a long "
		    "pause; --wait gives it more time. When it goes on, it may answer the signal "
		    "with a thread dump on its standard output.",
		    h->wait_ms / 1000.0);
}

/* Asks it to listen, and waits until it does.  A JVM that listens already answers SIGQUIT with a
 * thread dump on its standard output.  So the signal is sent only when nobody else has sent one: the
 * file is ours, and there is still no socket after it was made.  When the file is somebody else's,
 * they have asked; only if nothing comes of that, since they were killed, do we. */
static int ask(struct hotspot *h, struct request *r)
{
	struct wait w;
	bool again = false;
	int rc = request_make(h, r);

	if (rc < 0)
		return rc;
	rc = connect_once(h);
	if (rc != E_NOT_FOUND && rc != E_LIMIT)
		return rc;
	inside_leave(h->in); /* the signal with our own rights */
	rc = r->ours ? send_quit(h) : 0;
	w = wait_begin(h);
	while (rc >= 0) {
		char name[32], path[64];

		if (inside_enter(h->in) < 0)
			return fail(h, E_IO, "cannot act as its user.");
		rc = connect_once(h);
		if (rc != E_NOT_FOUND && rc != E_LIMIT)
			return rc;
		inside_leave(h->in);
		hotspot_socket_name(h->ns_pid, name);
		snprintf(path, sizeof(path), "/tmp/%s", name);
		rc = 0;
		if (kill(h->in->pid, 0) != 0 && errno == ESRCH)
			rc = fail(h, E_NOT_FOUND, "it has ended.");
		else if (!wait_pause(&w))
			rc = timed_out(h);
		else if (!again && clock_steady_ns() - w.start > AGAIN_MS * 1000000ull &&
			 socket_there(h) == 0 &&
			 proc_listens(h->in->pid, path) == (r->ours ? 1 : 0)) {
			again = true; /* its socket was removed as it was made, or nobody asked */
			rc = send_quit(h);
		}
	}
	return rc;
}

/* A connection to the JVM; entered on success and on failure. */
static int reach(struct hotspot *h)
{
	struct request r = { .dir = -1 };
	struct wait w = wait_begin(h);
	int rc;

	do
		rc = connect_once(h);
	while (rc == E_LIMIT && wait_pause(&w));
	if (rc == E_LIMIT)
		return fail(h, rc, "others wait for it, too, and it does not answer.");
	if (rc != E_NOT_FOUND)
		return rc;
	rc = may_ask(h);
	if (rc < 0)
		return rc;
	rc = ask(h, &r);
	if (inside_enter(h->in) >= 0)
		request_remove(&r);
	return rc;
}

/* ---- request and reply ------------------------------------------------------------------------- */

static int send_all(struct hotspot *h, int fd, struct slice s)
{
	struct wait w = wait_begin(h);

	while (s.n) {
		ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL);

		if (n > 0) {
			s.p += n;
			s.n -= (size_t)n;
		} else if (errno != EAGAIN && errno != EINTR) {
			return fail(h, E_IO, "it does not take the request: %s.", strerror(errno));
		} else if (!wait_pause(&w)) {
			return timed_out(h);
		}
	}
	return 0;
}

static int read_reply(struct hotspot *h, int fd, size_t most, struct buf *reply)
{
	struct wait w = wait_begin(h);

	while (reply->n < most) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		unsigned left = wait_left_ms(&w);
		uint8_t *to = buf_room(reply, 4096);
		ssize_t n;

		if (!to)
			return fail(h, E_NO_MEMORY, "out of memory.");
		if (stopped)
			return fail(h, E_LIMIT, "interrupted.");
		if (!left)
			return fail(
				h, E_LIMIT,
				"it has taken the request, but did not answer within %g s. It "
				"will do what was asked when it goes on; a heap dump or another "
				"tool's request may keep it busy.",
				h->wait_ms / 1000.0);
		if (poll(&p, 1, (int)(left < 500 ? left : 500)) <= 0) {
			if (h->tick)
				h->tick(h->ctx);
			continue;
		}
		n = read(fd, to, 4096);
		if (n == 0)
			break;
		if (n > 0)
			reply->n += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			break; /* it closed without reading all: what came before counts */
	}
	return 0;
}

static struct slice trim(struct slice s)
{
	while (s.n && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == ' '))
		s.n--;
	return s;
}

/* A line that is a number and nothing else. */
static bool number_line(struct slice line, long *out)
{
	char text[24], *end;

	line = trim(line);
	if (!line.n || line.n >= sizeof(text))
		return false;
	memcpy(text, line.p, line.n);
	text[line.n] = '\0';
	*out = strtol(text, &end, 10);
	return *end == '\0';
}

bool hotspot_parse(struct slice reply, struct hotspot_answer *out)
{
	static const char code[] = "return code: ";
	struct slice line, rest = reply;

	*out = (struct hotspot_answer){ 0 };
	if (!proc_line(&rest, &line) || !number_line(line, &out->status))
		return false;
	out->text = trim(rest);
	while (proc_line(&rest, &line)) {
		struct slice value = line;

		if (slice_starts(line, slice_str(code))) {
			value.p += sizeof(code) - 1;
			value.n -= sizeof(code) - 1;
		}
		if (!out->returned && number_line(value, &out->agent))
			out->returned = true;
	}
	return true;
}

/* The JVM answers in lines. */
static int refused(struct hotspot *h, struct slice text)
{
	char line[500];
	size_t n = text.n < sizeof(line) ? text.n : sizeof(line) - 1;

	for (size_t i = 0; i < n; i++)
		line[i] = text.p[i] == '\n' ? ' ' : (char)text.p[i];
	return fail(h, E_UNSUPPORTED, "it did not load the agent: %.*s", (int)n, line);
}

static int judge(struct hotspot *h, struct slice reply)
{
	struct hotspot_answer a;

	if (!reply.n)
		return fail(h, E_UNSUPPORTED,
			    "it refused: it closed the connection without an answer. It wants a "
			    "client with its own user and group (%u and %u).",
			    h->in->uid, h->in->gid);
	if (!hotspot_parse(reply, &a))
		return fail(h, E_UNSUPPORTED, "its answer is not understood: %.*s",
			    (int)(reply.n < 200 ? reply.n : 200), (const char *)reply.p);
	if (a.status == 101)
		return fail(h, E_UNSUPPORTED, "it speaks another version of the attach protocol.");
	if (a.returned && a.status == 0 && a.agent == 0)
		return 0;
	if (a.returned && a.status == 0)
		return fail(h, E_UNSUPPORTED, "the agent was loaded, but could not start (%ld).",
			    a.agent);
	return refused(h, a.text);
}

static int talk(struct hotspot *h, int fd, const struct hotspot_request *r, struct buf *reply)
{
	struct buf request = { 0 };
	const char *const parts[] = { "1", r->command, r->args[0], r->args[1], r->args[2] };
	int rc;

	for (size_t i = 0; i < COUNT(parts); i++)
		buf_bytes(&request, parts[i], strlen(parts[i]) + 1);
	rc = request.err ? fail(h, E_NO_MEMORY, "out of memory.")
			 : send_all(h, fd, buf_slice(&request));
	if (rc >= 0)
		rc = read_reply(h, fd, r->most, reply);
	buf_release(&request);
	return rc;
}

int hotspot_ask(struct hotspot *h, const struct hotspot_request *r, struct buf *reply)
{
	struct sigaction old[COUNT(stop_signals)];
	int fd, rc;

	h->why[0] = '\0';
	for (size_t i = 0; i < COUNT(r->args); i++)
		if (strlen(r->args[i]) > ARG_MAX_LEN)
			return fail(h, E_LIMIT,
				    "paths of more than %d bytes are too long for a JVM.",
				    ARG_MAX_LEN);
	if (h->in->tmp < 0)
		return fail(h, E_IO, "its /tmp cannot be reached: %s.", strerror(h->in->tmp_errno));
	if (inside_enter(h->in) < 0)
		return fail(h, E_IO, "cannot act as its user: %s.", strerror(errno));
	catch_stops(old);
	rc = fd = reach(h);
	if (fd >= 0) {
		rc = talk(h, fd, r, reply);
		close(fd);
	}
	inside_leave(h->in);
	release_stops(old);
	return rc;
}

int hotspot_load(struct hotspot *h, const char *path, const char *options)
{
	struct buf reply = { 0 };
	int rc = hotspot_ask(
		h, &(struct hotspot_request){ "load", { path, "true", options }, REPLY_MAX },
		&reply);

	if (rc >= 0)
		rc = judge(h, buf_slice(&reply));
	buf_release(&reply);
	return rc;
}
