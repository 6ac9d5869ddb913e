/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - one client after the other, each command answered at once.
 *
 * The thread blocks all signals, sees none of its own calls, and wakes once a second only while
 * something is hooked.  Detaching takes the hooks out, compares the bytes, and ends the thread; the
 * library and its stubs stay mapped, since a call that is still open returns through them. */
#include "native/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/tick.h"
#include "base/version.h"
#include "native/attached.h"
#include "native/totals.h"
#include "native/hooks.h"
#include "native/objects.h"
#include "native/sampler.h"
#include "native/site.h"
#include "native/swap.h"
#include "native/threads.h"
#include "native/trap.h"
#include "wire/wire.h"

enum { CLIENTS = 8, TICK_MS = 1000, SEND_MS = 5000, END_S = 6, READ_N = 64 << 10, PATH_N = 4096 };

struct serve_peer {
	int fd;		 /* -1: free */
	uint32_t number; /* of all clients */
	bool greeted;
	struct buf in;
};

static struct {
	int listen;
	pid_t pid;
	uint64_t started;
	bool running, leaving, late;
	bool in_jvm;	  /* whose own agent has the usual place, and name */
	uint32_t numbers; /* given to clients */
	uint32_t asking;  /* whose command is answered */
	uint32_t samples; /* who waits for samples; 0: nobody */
	struct serve_peer clients[CLIENTS];
	char socket[108], report[PATH_N], app[256];
	struct buf notes;
	pthread_mutex_t
		turn; /* held while the agent's thread works, and from the end of the program on */
} serve = { .listen = -1, .turn = PTHREAD_MUTEX_INITIALIZER };

/* ---- answers ------------------------------------------------------------------------------ */

static void put_done(struct buf *out, unsigned status, struct slice text)
{
	wire_put_done(out, &(struct wire_done){ status, text });
}

static void put_welcome(struct buf *out)
{
	wire_put_welcome(out,
			 &(struct wire_welcome){ .magic = WIRE_MAGIC,
						 .version = WIRE_VERSION,
						 .pid = (uint32_t)serve.pid,
						 .jvm = slice_str("native"),
						 .build = slice_str(SONDE_VERSION),
						 .uptime_ns = totals_ns(tick_now() - serve.started),
						 .flags = WELCOME_LATE,
						 .app = slice_str(serve.app) });
}

static void run_hook(struct buf *out, struct slice payload)
{
	struct hooks_answer a = { 0 };
	struct wire_hook m;

	if (wire_get_hook(payload, &m) < 0)
		return;
	hooks_add(&(struct hooks_request){ m.rules, m.origin, m.flags, serve.asking }, &a);
	hooks_put_left(out);
	put_done(out, a.status, buf_slice(&a.text));
	buf_release(&a.text);
}

static void run_unhook(struct buf *out, struct slice payload)
{
	struct hooks_answer a = { 0 };
	struct wire_unhook m;

	if (wire_get_unhook(payload, &m) < 0)
		return;
	hooks_remove(m.pattern, &a);
	put_done(out, a.status, buf_slice(&a.text));
	buf_release(&a.text);
}

static void run_hooks(struct buf *out, struct slice payload)
{
	char text[80];
	unsigned n = 0;

	(void)payload;
	hooks_put_rules(out);
	hooks_put_left(out);
	for (uint32_t i = 1; i < site_end(); i++)
		n += site_info(i)->in;
	snprintf(text, sizeof(text), "Hooks now in the program: %u functions, %u rules", n,
		 (unsigned)hooks_rules());
	put_done(out, 0, slice_str(text));
}

static void run_report(struct buf *out, struct slice payload)
{
	struct wire_report m;

	if (wire_get_report(payload, &m) < 0)
		return;
	totals_put_methods(out);
	if (m.flags & REPORT_TREE)
		totals_put_callers(out);
	totals_put_status(out, hooks_rules());
	put_done(out, 0, slice_str(""));
}

static void run_tree(struct buf *out, struct slice payload)
{
	(void)payload;
	totals_put_callers(out);
	totals_put_status(out, hooks_rules());
	put_done(out, 0, slice_str(""));
}

static void run_status(struct buf *out, struct slice payload)
{
	(void)payload;
	totals_put_status(out, hooks_rules());
	put_done(out, 0, slice_str(""));
}

static void run_reset(struct buf *out, struct slice payload)
{
	(void)payload;
	totals_restart_all();
	put_done(out, 0, slice_str("figures count from now"));
}

static void run_stacks(struct buf *out, struct slice payload)
{
	struct wire_ask_stacks m;
	const char *why;

	if (wire_get_ask_stacks(payload, &m) < 0)
		return;
	why = m.mode == STACKS_CPU ? sampler_begin(m.rate, m.for_ns)
				   : "samples of threads that wait are for JVMs";
	if (why)
		put_done(out, 3, slice_str(why));
	else
		serve.samples = serve.asking;
}

static void put_proof(struct buf *out, const struct site_info *s)
{
	struct buf name = { 0 };

	buf_printf(&name, "%s.%s", s->module, s->name);
	wire_put_proof(out,
		       &(struct wire_proof){
			       .class = buf_slice(&name),
			       .methods = 1,
			       .same = !s->in,
			       .why = slice_str(s->in ? "its bytes could not be put back" : "") });
	buf_release(&name);
}

static void run_detach(struct buf *out, struct slice payload)
{
	unsigned stuck = hooks_remove_all(), open = native_open_calls();
	struct swap_state state;
	char text[400];

	(void)payload;
	for (uint32_t i = 1; i < site_end(); i++)
		if (strcmp(site_info(i)->module, "libsonde-native.so") != 0)
			put_proof(out, site_info(i));
	swap_look(&state);
	serve.samples = 0;
	if (!stuck && (!sampler_release() || !trap_release()))
		attached_leave(1);
	else
		attached_leave(stuck);
	snprintf(
		text, sizeof(text),
		"Original code on %zu of %zu pages that were changed (%zu mapped from the file again); %u "
		"hooked calls are still open.",
		state.file_again + state.copies,
		state.file_again + state.copies + state.different + state.changed, state.file_again,
		open);
	serve.leaving = !stuck;
	put_done(out, stuck || state.different ? 1 : 0, slice_str(text));
}

/* Functions are found by symbol when the rule comes: a name is what it says. */
static void run_resolve(struct buf *out, struct slice payload)
{
	struct wire_resolve m;

	if (wire_get_resolve(payload, &m) < 0 || !memmem(m.method.p, m.method.n, "::", 2)) {
		put_done(
			out, 2,
			slice_str(
				"a native function is named FILE::FUNCTION, as in libz.so.1::deflate"));
		return;
	}
	wire_put_text(out, &(struct wire_text){ m.method });
	put_done(out, 0, slice_str(""));
}

static const struct {
	unsigned type;
	void (*run)(struct buf *out, struct slice payload);
} commands[] = {
	{ WIRE_hook, run_hook },       { WIRE_unhook, run_unhook }, { WIRE_hooks, run_hooks },
	{ WIRE_report, run_report },   { WIRE_tree, run_tree },	    { WIRE_ask_status, run_status },
	{ WIRE_reset, run_reset },     { WIRE_detach, run_detach }, { WIRE_ask_stacks, run_stacks },
	{ WIRE_resolve, run_resolve },
};

static void run_command(struct buf *out, unsigned type, struct slice payload)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (commands[i].type == type) {
			commands[i].run(out, payload);
			return;
		}
	put_done(out, 3, slice_str("this is for JVMs: a native process has no such thing"));
}

/* ---- clients ------------------------------------------------------------------------------ */

static bool send_all(int fd, struct slice left)
{
	while (left.n) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = send(fd, left.p, left.n, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n < 0 && poll(&p, 1, SEND_MS) <= 0)
			return false;
		if (n > 0)
			left = (struct slice){ left.p + n, left.n - (size_t)n };
	}
	return true;
}

static bool may_talk(int fd)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) == 0 &&
	       (cred.uid == 0 || cred.uid == geteuid());
}

static void take_client(void)
{
	int fd = accept4(serve.listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	for (size_t i = 0; fd >= 0 && may_talk(fd) && i < CLIENTS; i++)
		if (serve.clients[i].fd < 0) {
			serve.clients[i] =
				(struct serve_peer){ .fd = fd, .number = ++serve.numbers };
			return;
		}
	if (fd >= 0)
		close(fd);
}

static void drop_client(struct serve_peer *c)
{
	(void)hooks_let_go(c->number);
	if (serve.samples == c->number) {
		(void)sampler_end(NULL);
		serve.samples = 0;
	}
	close(c->fd);
	buf_release(&c->in);
	*c = (struct serve_peer){ .fd = -1 };
}

static bool greet(struct serve_peer *c, unsigned type, struct slice payload, struct buf *out)
{
	struct wire_hello m;

	if (type != WIRE_hello || wire_get_hello(payload, &m) < 0 || m.magic != WIRE_MAGIC)
		return false;
	put_welcome(out);
	c->greeted = true;
	return m.version == WIRE_VERSION;
}

/* False: the client has gone, or talks nonsense. */
static bool take_frames(struct serve_peer *c)
{
	bool good = true;

	while (good && !serve.leaving) {
		struct buf out = { 0 };
		struct slice payload;
		unsigned type;
		long n = wire_frame(buf_slice(&c->in), &type, &payload);

		if (n == 0)
			break;
		if (n < 0 || (!c->greeted && !greet(c, type, payload, &out)))
			good = false;
		serve.asking = c->number;
		if (good && type != WIRE_hello)
			run_command(&out, type, payload);
		good = send_all(c->fd, buf_slice(&out)) && good && !out.err;
		buf_release(&out);
		if (n > 0) {
			memmove(c->in.p, c->in.p + n, c->in.n - (size_t)n);
			c->in.n -= (size_t)n;
		}
	}
	return good;
}

static void serve_client(struct serve_peer *c)
{
	uint8_t *room = buf_room(&c->in, READ_N);
	ssize_t n = room ? recv(c->fd, room, READ_N, MSG_DONTWAIT) : 0;

	if (n > 0) {
		c->in.n += (size_t)n;
		if (take_frames(c))
			return;
	} else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	drop_client(c);
}

static void end_samples(void)
{
	struct buf out = { 0 };
	uint64_t samples = sampler_end(&out);
	char text[40];

	snprintf(text, sizeof(text), "%llu samples", (unsigned long long)samples);
	put_done(&out, 0, slice_str(text));
	for (size_t i = 0; i < CLIENTS; i++)
		if (serve.clients[i].fd >= 0 && serve.clients[i].number == serve.samples &&
		    (out.err || !send_all(serve.clients[i].fd, buf_slice(&out))))
			shutdown(serve.clients[i].fd, SHUT_RDWR);
	serve.samples = 0;
	buf_release(&out);
}

/* ---- the thread --------------------------------------------------------------------------- */

static int patience(void)
{
	return sampler_is_on() ? sampler_patience_ms() : hooks_rules() ? TICK_MS : -1;
}

static void loop(void)
{
	struct pollfd p[CLIENTS + 1];

	while (!serve.leaving) {
		p[0] = (struct pollfd){ .fd = serve.listen, .events = POLLIN };
		for (size_t i = 0; i < CLIENTS; i++)
			p[i + 1] = (struct pollfd){ .fd = serve.clients[i].fd, .events = POLLIN };
		if (poll(p, CLIENTS + 1, patience()) < 0 && errno != EINTR)
			break;
		pthread_mutex_lock(&serve.turn);
		threads_tend();
		if (sampler_look())
			end_samples();
		for (size_t i = 0; i < CLIENTS; i++)
			if (serve.clients[i].fd >= 0 && p[i + 1].revents)
				serve_client(&serve.clients[i]);
		if (p[0].revents)
			take_client();
		pthread_mutex_unlock(&serve.turn);
	}
}

static bool is_jvm(void);
static bool open_socket(void);

/* What nothing of the program has to wait for. */
static bool prepare(void)
{
	serve.in_jvm = is_jvm();
	if (!native_begin() || !open_socket())
		return false;
	totals_begin();
	return true;
}

static void *run(void *unused)
{
	prctl(PR_SET_NAME, "sonde");
	native_mute();
	if (serve.late && !prepare()) {
		__atomic_store_n(&serve.running, false, __ATOMIC_RELEASE);
		attached_phase(NATIVE_FAILED);
		return unused;
	}
	if (serve.in_jvm)
		prctl(PR_SET_NAME, "sonde native");
	attached_phase(NATIVE_RUNNING);
	loop();
	for (size_t i = 0; i < CLIENTS; i++)
		if (serve.clients[i].fd >= 0)
			drop_client(&serve.clients[i]);
	close(serve.listen);
	unlink(serve.socket);
	serve.listen = -1;
	__atomic_store_n(&serve.running, false, __ATOMIC_RELEASE);
	attached_phase(NATIVE_IDLE);
	return unused;
}

/* ---- start and end ------------------------------------------------------------------------ */

/* In a JVM the first name is for the JVM's agent. */
static bool is_jvm(void)
{
	struct objects all = { 0 };
	bool found = false;

	if (objects_read(&all) >= 0)
		for (size_t i = 0; i < all.n; i++)
			found |= strcmp(all.all[i].name, "libjvm.so") == 0;
	objects_release(&all);
	return found;
}

static bool open_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(serve.socket, sizeof(serve.socket),
		 serve.in_jvm ? WIRE_SOCKET_NATIVE : WIRE_SOCKET, (int)serve.pid);
	memcpy(a.sun_path, serve.socket, sizeof(a.sun_path));
	serve.listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (serve.listen < 0)
		return false;
	unlink(serve.socket);
	/* The file gets the mode of the descriptor. */
	if (fchmod(serve.listen, 0600) == 0 &&
	    bind(serve.listen, (struct sockaddr *)&a, sizeof(a)) == 0 &&
	    listen(serve.listen, CLIENTS) == 0)
		return true;
	close(serve.listen);
	serve.listen = -1;
	return false;
}

static bool start_thread(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, run, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

static void note(struct slice text)
{
	buf_put(&serve.notes, text);
	buf_u8(&serve.notes, '\n');
}

/* In the thread that starts the program: no other one runs yet. */
static void hook_file(const char *path)
{
	struct hooks_answer a = { 0 };
	struct buf text = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *room;
	ssize_t n = -1;

	while (fd >= 0 && (room = buf_room(&text, READ_N)) && (n = read(fd, room, READ_N)) > 0)
		text.n += (size_t)n;
	if (fd >= 0)
		close(fd);
	if (n == 0) {
		hooks_add(&(struct hooks_request){ buf_slice(&text), slice_str("start"), HOOK_YES,
						   0 },
			  &a);
		if (a.status)
			note(buf_slice(&a.text));
	} else {
		note(slice_str("the rules could not be read"));
	}
	buf_release(&a.text);
	buf_release(&text);
}

static void find_name(void)
{
	char path[PATH_N];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	path[n < 0 ? 0 : n] = '\0';
	slash = strrchr(path, '/');
	snprintf(serve.app, sizeof(serve.app), "%.200s", slash ? slash + 1 : path);
}

bool serve_is_running(void)
{
	return __atomic_load_n(&serve.running, __ATOMIC_ACQUIRE) && serve.pid == getpid();
}

static void begin(const char *report)
{
	for (size_t i = 0; i < CLIENTS; i++)
		serve.clients[i] = (struct serve_peer){ .fd = -1 };
	serve.pid = getpid();
	serve.leaving = false;
	serve.started = tick_now();
	find_name();
	snprintf(serve.report, sizeof(serve.report), "%s", report ? report : "");
}

bool serve_start_late(void)
{
	begin(NULL);
	serve.late = serve.running = true;
	attached_phase(NATIVE_STARTING);
	if (!start_thread()) {
		serve.running = false;
		attached_phase(NATIVE_FAILED);
	}
	return serve.running;
}

bool serve_start(const char *rules, const char *report)
{
	if (serve_is_running())
		return true;
	begin(report);
	native_watch_self(false);
	if (!prepare())
		return false;
	if (rules)
		hook_file(rules);
	native_watch_self(true); /* this thread is the program's */
	serve.running = start_thread();
	if (!serve.running) {
		close(serve.listen);
		unlink(serve.socket);
	}
	return serve.running;
}

static void write_report(void)
{
	struct buf out = { 0 };
	char path[PATH_N + 32];
	int fd;

	put_welcome(&out);
	totals_put_methods(&out);
	totals_put_callers(&out);
	totals_put_status(&out, hooks_rules());
	put_done(&out, 0, slice_str(""));
	snprintf(path, sizeof(path), "%s.%d", serve.report, (int)serve.pid);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && !out.err && write(fd, out.p, out.n) != (ssize_t)out.n)
		unlink(path);
	if (fd >= 0)
		close(fd);
	buf_release(&out);
}

/* What the report is made of may be freed by the agent's thread.  That one never goes on afterwards; it
 * may be sending to a client who does not read. */
static bool wait_for_turn(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_S;
	return pthread_mutex_timedlock(&serve.turn, &until) == 0;
}

void serve_end(void)
{
	if (!serve_is_running()) /* or a child that did not exec */
		return;
	native_mute();
	unlink(serve.socket);
	if (serve.report[0] && wait_for_turn())
		write_report();
}

void serve_release(void)
{
	buf_release(&serve.notes);
}
