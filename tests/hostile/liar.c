/* SPDX-License-Identifier: Apache-2.0 */
/* liar.c - an agent that lies, in a process that looks like a JVM.
 *
 *	liar HOW SEED DIRECTORY	   listens as the agent of its own process; DIRECTORY is its own
 *	liar record SEED FILE	   writes a recording of what it would have told
 *
 *	rows	 answers every request with rows of any content, then `done`, or ends early
 *	mute	 says welcome, and nothing more
 *	silent	 accepts connections, and says nothing at all
 *	trickle	 says welcome, and answers with a frame that comes byte by byte
 *	cut	 says welcome, and answers with half of a frame
 *	endless	 answers with rows without end, as fast as they are taken
 *	nagging	 answers with progress without end
 *	raw	 answers with random bytes
 *	deep	 answers with a tree that is 300,000 calls deep
 *	wide	 answers with 300,000 roots
 *	wraps	 answers `trace` with calls whose end is before their begin
 *	lures	 says that the class a.b.C comes from DIRECTORY, where its files are pipes that nobody writes to
 *	option	 says that it comes from /, and that its name is an option of sonde's
 *
 * It has files named libjvm.so and libsonde.so mapped, and an account (hsperfdata) with texts of
 * the same kind, and answers as HotSpot's attach listener, too.  "ready PID" is printed when it listens; it ends with its input. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "made_up.h"
#include "wire/trace_file.h"

enum { DEEP = 300000, TURN_MS = 20 };

static const char *how, *directory;
static uint64_t seed;

static void fail(const char *what)
{
	perror(what);
	exit(3);
}

/* ---- looking like a JVM ------------------------------------------------------------------- */

static void map_file(const char *dir, const char *name, const struct buf *bytes)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, bytes->p, bytes->n) != (ssize_t)bytes->n ||
	    mmap(NULL, bytes->n, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		fail(path);
	close(fd);
}

static void put_le(struct buf *out, uint32_t v)
{
	buf_bytes(out, &v, sizeof(v));
}

/* An entry of the account, as jvm/hsperf.c has it. */
static void put_entry(struct buf *out, const char *name, struct slice text)
{
	size_t named = strlen(name) + 1;
	uint32_t size = (uint32_t)(20 + named + text.n + 8) & ~7u;
	size_t from = out->n;

	put_le(out, size);
	put_le(out, 20);
	put_le(out, (uint32_t)text.n);
	buf_u8(out, 'B');
	buf_u8(out, 0);
	buf_u8(out, 0);
	buf_u8(out, 0);
	put_le(out, (uint32_t)(20 + named));
	buf_bytes(out, name, named);
	buf_put(out, text);
	while (out->n < from + size)
		buf_u8(out, 0);
	out->n = from + size;
}

static void put_account(struct buf *out)
{
	static const char *const names[] = { "sun.rt.javaCommand",
					     "java.rt.vmArgs",
					     "java.rt.vmFlags",
					     "sun.rt.jvmCapabilities",
					     "java.property.java.version",
					     "java.property.java.vm.version",
					     "java.property.java.vm.name",
					     "java.property.java.vm.vendor",
					     "java.property.java.home" };
	struct made_up m = made_up_from(seed ^ 0xacc);
	struct buf text = { 0 };

	buf_u32(out, 0xcafec0c0);
	buf_u8(out, 1); /* little-endian */
	buf_u8(out, 2);
	buf_u8(out, 0);
	buf_u8(out, 1); /* live */
	for (int i = 0; i < 4; i++)
		put_le(out, 0);
	put_le(out, 32);
	put_le(out, COUNT(names));
	for (size_t i = 0; i < COUNT(names); i++) {
		buf_clear(&text);
		if (i == 4)
			buf_text(&text, "17.\033[31m0");
		if (i == 8) /* nothing is to be calibrated with it */
			buf_text(&text, "/nonexistent/");
		made_up_text(&m, &text, true);
		text.n = text.n < 2000 ? text.n : 2000;
		put_entry(out, names[i], buf_slice(&text));
	}
	buf_release(&text);
}

static void look_like_jvm(const char *dir)
{
	struct buf page = { 0 }, account = { 0 };
	char name[64];

	for (int i = 0; i < 4096; i++)
		buf_u8(&page, 0);
	map_file(dir, "libjvm.so", &page);
	map_file(dir, "libsonde.so", &page);
	snprintf(name, sizeof(name), "%s/hsperfdata_x", dir);
	(void)mkdir(name, 0700);
	put_account(&account);
	snprintf(name, sizeof(name), "hsperfdata_x/%d", (int)getpid());
	map_file(dir, name, &account);
	prctl(PR_SET_NAME, "j\033[31m\n\342\200\256va");
	buf_release(&page);
	buf_release(&account);
}

/* ---- answers ------------------------------------------------------------------------------ */

/* False: the client has gone. */
static bool send_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		p += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool send_buf(int fd, struct buf *b)
{
	bool good = !b->err && send_all(fd, b->p, b->n);

	buf_clear(b);
	return good;
}

static void put_done(struct made_up *m, struct buf *out)
{
	struct buf text = { 0 };

	made_up_text(m, &text, false);
	wire_put_done(out,
		      &(struct wire_done){ .status = made_up_below(m, 12) ? 0 : made_up_below(m, 6),
					   .text = buf_slice(&text) });
	buf_release(&text);
}

static bool answer_rows(int fd, struct made_up *m, unsigned request, struct buf *out)
{
	uint32_t end = made_up_below(m, 20);

	made_up_answer(m, request, out);
	if (end == 0) { /* in the middle */
		out->n -= made_up_below(m, (uint32_t)(out->n / 2 + 1));
		send_buf(fd, out);
		return false;
	}
	put_done(m, out);
	return send_buf(fd, out) && end != 1;
}

static bool answer_tree(int fd, unsigned request, bool deep, struct buf *out)
{
	for (uint32_t i = 0; i < DEEP; i++) {
		struct slice name = slice_str("a.B.c()V");

		if (request == WIRE_sample)
			wire_put_frame(out, &(struct wire_frame){ .depth = deep ? i : 0,
								  .name = name,
								  .running = 1 + i });
		else if (request == WIRE_trace && i == 0) {
			wire_put_trace_tx(out, &(struct wire_trace_tx){ .elapsed_ns = DEEP });
			wire_put_trace_part(out, &(struct wire_trace_part){ .end_ns = DEEP });
		} else if (request == WIRE_trace)
			wire_put_trace_call(out,
					    &(struct wire_trace_call){ .parent = deep ? i - 1 : 0,
								       .begin_ns = i,
								       .elapsed_ns = 1 });
		else
			wire_put_node(out, &(struct wire_node){ .depth = deep ? i : 0,
								.id = i,
								.name = name,
								.calls = 20,
								.timed = 1,
								.total_ns = DEEP - i });
		if (request == WIRE_report && i < 20)
			wire_put_method(out, &(struct wire_method){ .id = i,
								    .name = name,
								    .calls = 20,
								    .timed = 1,
								    .total_ns = 5 });
		if (out->n > 1 << 16 && !send_buf(fd, out))
			return false;
	}
	if (request == WIRE_trace)
		wire_put_trace_end(out, &(struct wire_trace_end){ 0 });
	wire_put_done(out, &(struct wire_done){ 0 });
	return send_buf(fd, out);
}

static bool answer_wraps(int fd, struct buf *out)
{
	wire_put_trace_name(out,
			    &(struct wire_trace_name){ .id = 1, .name = slice_str("a.B.c()V") });
	wire_put_trace_tx(out, &(struct wire_trace_tx){ .root = 1, .elapsed_ns = 1000 });
	wire_put_trace_part(out, &(struct wire_trace_part){ .end_ns = 1000, .calls = 1 });
	wire_put_trace_call(out, &(struct wire_trace_call){ .id = 1,
							    .begin_ns = 900,
							    .elapsed_ns = UINT64_MAX - 800 });
	wire_put_trace_end(out, &(struct wire_trace_end){ 0 });
	wire_put_done(out, &(struct wire_done){ 0 });
	return send_buf(fd, out);
}

/* As the answer to ask_origin; to whatever was asked. */
static bool answer_origin(int fd, struct buf *out, const char *class, const char *dir)
{
	struct buf place = { 0 };

	buf_printf(&place, "file:%s/", dir);
	wire_put_origin(out, &(struct wire_origin){ .class = slice_str(class),
						    .loader = slice_str("app"),
						    .place = buf_slice(&place),
						    .file = slice_str("C.java") });
	wire_put_origin_method(out, &(struct wire_origin_method){ .name = slice_str("m"),
								  .desc = slice_str("()V"),
								  .first = 1,
								  .last = 2,
								  .bytes = 1 });
	wire_put_done(out, &(struct wire_done){ 0 });
	buf_release(&place);
	return send_buf(fd, out);
}

static void make_pipes(const char *dir)
{
	static const char *const parts[] = { "/a", "/a/b", "/a/b/C.java", "/a/b/C.class" };

	for (size_t i = 0; i < COUNT(parts); i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s%s", dir, parts[i]);
		if (i < 2 ? mkdir(path, 0755) != 0 : mkfifo(path, 0644) != 0)
			fail(path);
	}
}

static bool answer_endless(int fd, struct made_up *m, unsigned request, struct buf *out)
{
	m->rows = 1000;
	m->text = 2000;
	if (strcmp(how, "nagging") == 0)
		for (int i = 0; i < 1000; i++)
			made_up_message(m, WIRE_progress, out);
	else
		made_up_answer(m, request, out);
	while (!out->err && send_all(fd, out->p, out->n))
		continue;
	return false;
}

static bool answer_trickle(int fd, struct buf *out)
{
	wire_put_text(out, &(struct wire_text){ .text = slice_str("a long text, byte by byte") });
	put_u32(out->p, WIRE_FRAME_MAX - 10);
	for (size_t i = 0; send_all(fd, out->p + (i < out->n ? i : out->n - 1), 1); i++)
		usleep(TURN_MS * 1000);
	return false;
}

static bool answer_raw(int fd, struct made_up *m, struct buf *out)
{
	for (uint32_t n = made_up_below(m, 3000); n; n--)
		buf_u8(out, made_up_below(m, 4) ? 0 : made_up_below(m, 256));
	return send_buf(fd, out);
}

static void stay(int fd)
{
	char byte[256];

	while (recv(fd, byte, sizeof(byte), 0) > 0)
		continue;
}

static bool answer(int fd, struct made_up *m, unsigned request, struct buf *out)
{
	switch (how[0] == 'r' && how[1] == 'a' ? 'x' : how[0]) {
	case 'm':
		stay(fd);
		return false;
	case 't':
		return answer_trickle(fd, out);
	case 'c':
		wire_put_text(out, &(struct wire_text){ .text = slice_str("half of it") });
		out->n /= 2;
		send_buf(fd, out);
		stay(fd);
		return false;
	case 'e':
	case 'n':
		return answer_endless(fd, m, request, out);
	case 'x':
		return answer_raw(fd, m, out);
	case 'd':
		return answer_tree(fd, request, true, out);
	case 'l':
		return answer_origin(fd, out, "a/b/C", directory);
	case 'o':
		return answer_origin(fd, out, "--help", "");
	case 'w':
		return how[1] == 'i' ? answer_tree(fd, request, false, out) : answer_wraps(fd, out);
	default:
		return answer_rows(fd, m, request, out);
	}
}

/* ---- connections -------------------------------------------------------------------------- */

static void serve(int fd, struct made_up *m)
{
	struct buf in = { 0 }, out = { 0 };
	bool on = true;

	while (on) {
		uint8_t *to = buf_room(&in, 4096);
		ssize_t n = to ? recv(fd, to, 4096, 0) : 0;
		struct slice payload;
		unsigned type;
		long used;

		if (n <= 0)
			break;
		in.n += (size_t)n;
		while (on && (used = wire_frame(buf_slice(&in), &type, &payload)) > 0) {
			if (type == WIRE_hello && how[0] == 's')
				stay(fd);
			else if (type == WIRE_hello)
				made_up_welcome(m, (uint32_t)getpid(), &out);
			on = type == WIRE_hello ? send_buf(fd, &out) : answer(fd, m, type, &out);
			memmove(in.p, in.p + used, in.n - (size_t)used);
			in.n -= (size_t)used;
		}
	}
	close(fd);
	buf_release(&in);
	buf_release(&out);
}

/* What HotSpot's attach listener says: a status, and a histogram of the heap. */
static void put_histogram(struct made_up *m, struct buf *out)
{
	uint32_t rows = made_up_below(m, m->rows + 1);

	buf_printf(out, "%u\n num     #instances         #bytes  class name (module)\n---\n",
		   made_up_below(m, 8) ? 0 : made_up_below(m, 200));
	for (uint32_t i = 0; i < rows && out->n < 32 << 20; i++) {
		buf_printf(out, "%4u:  %llu  %llu  ", i + 1, (unsigned long long)made_up_number(m),
			   (unsigned long long)made_up_number(m));
		made_up_text(m, out, false);
		buf_u8(out, '\n');
	}
}

static void serve_jvm(int fd, struct made_up *m)
{
	enum { PARTS = 5 };
	struct buf out = { 0 };
	unsigned parts = 0;
	char byte;

	while (parts < PARTS && recv(fd, &byte, 1, 0) == 1)
		parts += !byte;
	if (parts == PARTS) {
		put_histogram(m, &out);
		send_buf(fd, &out);
	}
	close(fd);
	buf_release(&out);
}

static void on_quit(int sig)
{
	(void)sig; /* as a JVM does, it goes on */
}

#define JVM_SOCKET "/tmp/.java_pid%d"

static int listen_here(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", name);
	(void)unlink(at.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, 8) < 0)
		fail(at.sun_path);
	return fd;
}

static int accepted(const struct pollfd *p)
{
	return p->revents ? accept(p->fd, NULL, NULL) : -1;
}

static void run(const char *dir)
{
	struct made_up m = made_up_from(seed);
	struct sigaction act = { .sa_handler = on_quit };
	char agent[64], jvm[64];
	struct pollfd p[3] = { { .fd = STDIN_FILENO, .events = POLLIN },
			       { .events = POLLIN },
			       { .events = POLLIN } };

	sigaction(SIGQUIT, &act, NULL);
	look_like_jvm(dir);
	if (how[0] == 'l')
		make_pipes(dir);
	snprintf(agent, sizeof(agent), WIRE_SOCKET, (int)getpid());
	snprintf(jvm, sizeof(jvm), JVM_SOCKET, (int)getpid());
	p[1].fd = listen_here(agent);
	p[2].fd = listen_here(jvm);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		int conn;

		if (poll(p, COUNT(p), -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		conn = accepted(&p[1]);
		if (conn >= 0)
			serve(conn, &m);
		conn = accepted(&p[2]);
		if (conn >= 0)
			serve_jvm(conn, &m);
	}
	(void)unlink(agent);
	(void)unlink(jvm);
}

/* ---- recordings --------------------------------------------------------------------------- */

static void put_costs(struct made_up *m, struct buf *out)
{
	struct buf text = { 0 };

	buf_text(&text, "sonde calibration 3\n");
	for (uint32_t n = made_up_below(m, 30); n; n--) {
		made_up_text(m, &text, false);
		buf_printf(
			&text,
			"\ncost compiled settled %u inner nan 1e308 -inf outer 1 2 3 pair 1 2 3\n",
			made_up_below(m, 9));
	}
	buf_text(&text, "end\n");
	trace_file_put(out, TRACE_COSTS, buf_slice(&text));
	buf_release(&text);
}

static void record(const char *file)
{
	struct made_up m = made_up_from(seed);
	struct buf frames = { 0 }, out = { 0 };
	FILE *f = fopen(file, "w");

	made_up_welcome(&m, 4711, &frames);
	made_up_answer(&m, WIRE_report, &frames);
	made_up_answer(&m, WIRE_tree, &frames);
	trace_file_begin(&out);
	trace_file_put(&out, TRACE_PROCESS, buf_slice(&frames));
	put_costs(&m, &out);
	trace_file_end(&out);
	if (!made_up_below(&m, 4) && out.n) /* damaged */
		out.p[made_up_below(&m, (uint32_t)out.n)] ^= 1;
	if (!f || out.err || fwrite(out.p, 1, out.n, f) != out.n || fclose(f) != 0)
		fail(file);
	buf_release(&frames);
	buf_release(&out);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fputs("usage: liar HOW SEED DIRECTORY\n", stderr);
		return 2;
	}
	how = argv[1];
	seed = strtoull(argv[2], NULL, 0);
	directory = argv[3];
	if (strcmp(how, "record") == 0)
		record(argv[3]);
	else
		run(argv[3]);
	return 0;
}
