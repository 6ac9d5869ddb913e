/* SPDX-License-Identifier: Apache-2.0 */
/* jvms.c - looks through /proc for JVMs.
 *
 * The mapped files of a process say most: libjvm.so makes it a JVM, the file hsperfdata_USER/PID
 * is its own account of itself (also when somebody has removed it from /tmp since), libsonde our
 * agent.  A child of a JVM between fork() and exec() looks the same, but has its parent's account:
 * it is passed over. */
#define _GNU_SOURCE /* memmem(), memrchr() */
#include "cli/attach/jvms.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/elf_look.h"
#include "jvm/hsperf.h"
#include "jvm/inside.h"
#include "jvm/jvm_args.h"
#include "jvm/proc.h"

enum {
	MAPS_MAX = 32 << 20,
	CMDLINE_MAX = 1 << 18,
	HSPERF_MAX = 1 << 20, /* 32 KiB unless told otherwise */
	START_SECONDS = 5,
};

/* What is needed while one process is read. */
struct look {
	struct jvm *jvm;
	struct arena *mem;
	struct inside in;
	struct slice perf_file, perf_range; /* in maps */
	bool openj9;
	struct buf maps, perf, cmdline, environ, options;
};

static struct slice base_name(struct slice path)
{
	const uint8_t *slash = memrchr(path.p, '/', path.n);

	return slash ? (struct slice){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
}

/* "START-END perms offset device inode   /path", maybe with " (deleted)" behind. */
static void look_at_mapping(struct look *l, struct slice line)
{
	const uint8_t *slash = memchr(line.p, '/', line.n), *space = memchr(line.p, ' ', line.n);
	struct slice path, name;

	if (!slash || !space)
		return;
	path = (struct slice){ slash, line.n - (size_t)(slash - line.p) };
	if (slice_ends(path, " (deleted)"))
		path.n -= sizeof(" (deleted)") - 1;
	name = base_name(path);
	if (slice_is(name, "libjvm.so") && !l->jvm->libjvm)
		l->jvm->libjvm = arena_str(l->mem, path);
	else if (slice_starts(name, slice_str("libj9vm")))
		l->openj9 = true;
	else if (slice_starts(name, slice_str("ld-musl-")))
		l->jvm->musl = true;
	else if (slice_starts(name, slice_str("libsonde")) && slice_ends(name, ".so"))
		l->jvm->has_agent = true;
	else if (memmem(path.p, path.n, "/hsperfdata_", 12)) {
		l->perf_file = path;
		l->perf_range = (struct slice){ line.p, (size_t)(space - line.p) };
	}
}

static void read_file(int fd, uid_t owner, struct buf *out)
{
	struct stat st;
	uint8_t *to;
	ssize_t n;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != owner ||
	    st.st_size > HSPERF_MAX)
		return;
	to = buf_room(out, (size_t)st.st_size + 1);
	n = to ? pread(fd, to, (size_t)st.st_size, 0) : 0;
	out->n += n > 0 ? (size_t)n : 0;
}

/* The account is found where the process sees it; if that file is gone, through the mapping. */
static void read_account(struct look *l, struct hsperf *h)
{
	char path[512];
	int fd;

	if (!l->perf_file.n || l->perf_file.n >= sizeof(path))
		return;
	snprintf(path, sizeof(path), "%.*s", SLICE_FMT(l->perf_file));
	fd = inside_file(&l->in, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%.*s", l->jvm->target.pid,
			 SLICE_FMT(l->perf_range));
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return;
	read_file(fd, l->jvm->target.uid, &l->perf);
	close(fd);
	hsperf_parse(buf_slice(&l->perf), h);
}

/* Is the account that of another process, our parent's? */
static bool is_forked(const struct look *l)
{
	char text[16];

	if (!l->perf_file.n)
		return false;
	snprintf(text, sizeof(text), "%d", l->jvm->target.ns_pid);
	return !slice_is(base_name(l->perf_file), text);
}

/* HOME/lib/server/libjvm.so; HOME/lib/amd64/server/libjvm.so before 9. */
static void find_home(struct look *l, struct slice said)
{
	struct jvm *jvm = l->jvm;
	char *lib;

	if (said.n) {
		jvm->java_home = arena_str(l->mem, said);
		return;
	}
	if (!jvm->libjvm)
		return;
	jvm->java_home = arena_str(l->mem, slice_str(jvm->libjvm));
	lib = jvm->java_home ? strstr(jvm->java_home, "/lib/") : NULL;
	for (char *next = lib; next; next = strstr(next + 1, "/lib/"))
		lib = next;
	if (lib)
		*lib = '\0';
	else
		jvm->java_home = NULL;
}

/* JAVA_VERSION="17.0.15" in HOME/release. */
static void version_of_release(struct look *l)
{
	static const char key[] = "JAVA_VERSION=\"";
	char path[512], text[4096];
	ssize_t n;
	char *at;
	int fd;

	if (!l->jvm->java_home)
		return;
	snprintf(path, sizeof(path), "%s/release", l->jvm->java_home);
	fd = inside_file(&l->in, path, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, key);
	if (at) {
		at += sizeof(key) - 1;
		snprintf(l->jvm->target.java, sizeof(l->jvm->target.java), "%.*s",
			 (int)strcspn(at, "\"\n"), at);
	}
}

static unsigned major_of(const char *version)
{
	unsigned long v = strtoul(version, NULL, 10);

	return v == 1 && version[1] == '.' ? (unsigned)strtoul(version + 2, NULL, 10) : (unsigned)v;
}

/* Which argument is the main class?  The account has one line, in which a path with spaces cannot
 * be told from arguments; the command line has, unless java took its arguments from a file. */
static void find_main(struct look *l, struct slice account, struct slice main, struct slice rest)
{
	struct jvm *jvm = l->jvm;
	struct slice name;

	if (account.n && !(main.n && slice_starts(account, main))) {
		const uint8_t *space = memchr(account.p, ' ', account.n);

		main = (struct slice){ account.p, space ? (size_t)(space - account.p) : account.n };
		rest = (struct slice){ account.p + main.n, account.n - main.n };
		rest.p += rest.n > 0;
		rest.n -= rest.n > 0;
	}
	name = jvm_args_name(main, rest);
	if (!name.n)
		name = slice_str(jvm->comm); /* embedded in another program */
	snprintf(jvm->target.name, sizeof(jvm->target.name), "%.*s", SLICE_FMT(name));
	if (name.p == rest.p) { /* run from source: the file is the name, not an argument */
		rest.p += name.n;
		rest.n -= name.n;
		rest.p += rest.n > 0;
		rest.n -= rest.n > 0;
	}
	jvm->main = arena_dup(l->mem, main);
	jvm->args = arena_dup(l->mem, rest);
	for (size_t i = 0; i < jvm->args.n; i++)
		if (!jvm->args.p[i])
			((uint8_t *)(uintptr_t)jvm->args.p)[i] = ' ';
}

static void find_arguments(struct look *l, const struct hsperf *h)
{
	struct buf all = { 0 }, after = { 0 };
	struct slice main, rest;

	proc_read(l->jvm->target.pid, "cmdline", CMDLINE_MAX, &l->cmdline);
	proc_read(l->jvm->target.pid, "environ", CMDLINE_MAX, &l->environ);
	jvm_args_split(buf_slice(&l->cmdline), &l->options, &main, &rest);
	jvm_args_environ(buf_slice(&l->environ), &all, &after);
	buf_printf(&all, " %.*s %.*s ", SLICE_FMT(h->vm_flags), SLICE_FMT(h->vm_args));
	buf_put(&all, buf_slice(&l->options));
	buf_u8(&all, ' ');
	buf_put(&all, buf_slice(&after));
	l->jvm->vm_args = arena_dup(l->mem, buf_slice(&all));
	find_main(l, h->command, main, rest);
	buf_release(&all);
	buf_release(&after);
}

static bool is_java(const struct look *l)
{
	struct slice argv0 = { 0 }, list = buf_slice(&l->cmdline);

	if (!list.n)
		return false;
	proc_next_string(&list, &argv0);
	return slice_is(base_name(argv0), "java");
}

static void has_socket(struct look *l)
{
	char path[TARGET_SOCKET_MAX];
	struct stat st;

	target_socket(&l->jvm->target, path, sizeof(path));
	l->jvm->has_socket = lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* Before a JVM comes to its live phase, a request to attach makes it print a thread dump, or hands
 * the agent a half-made JVM (17), or is refused (25).  Its account says when it has; without one,
 * the thread that is made right after does, and after a few seconds nobody asks. */
static bool is_live(const struct look *l, const struct hsperf *h)
{
	if (l->perf.n)
		return h->live;
	return l->jvm->uptime > START_SECONDS ||
	       proc_count_threads(l->jvm->target.pid, "Notification Th") > 0;
}

/* After the kind is known, and it is worth knowing more. */
static void look_closer(struct look *l)
{
	struct jvm *jvm = l->jvm;
	struct hsperf h = { 0 };

	inside_open(&l->in, jvm->target.pid, jvm->target.uid, jvm->target.gid);
	read_account(l, &h);
	find_arguments(l, &h);
	find_home(l, h.java_home);
	snprintf(jvm->target.java, sizeof(jvm->target.java), "%.*s", SLICE_FMT(h.java_version));
	if (!jvm->target.java[0])
		version_of_release(l);
	jvm->major = major_of(jvm->target.java);
	jvm->can_attach = h.capabilities.n ? (char)h.capabilities.p[0] : '?';
	jvm->vm_version = arena_dup(l->mem, h.vm_version);
	jvm->vm_vendor = arena_dup(l->mem, h.vm_vendor);
	jvm->is_live = is_live(l, &h);
	jvm->counts = h.counts;
	has_socket(l);
	inside_close(&l->in);
}

/* Processes in which libjvm.so was not found. */
static void look_without_jvm(struct look *l, bool readable, bool deep)
{
	struct jvm *jvm = l->jvm;

	proc_read(jvm->target.pid, "cmdline", CMDLINE_MAX, &l->cmdline);
	if (is_java(l) && jvm->state != 'Z')
		jvm->kind = readable ? JVM_STARTING : JVM_HIDDEN;
	else if (deep && elf_has_section(jvm->target.pid, ".svm_heap"))
		jvm->kind = JVM_NATIVE_IMAGE;
	buf_clear(&l->cmdline);
}

static void look(struct look *l, bool deep)
{
	struct jvm *jvm = l->jvm;
	struct slice text, line;
	bool readable = proc_read(jvm->target.pid, "maps", MAPS_MAX, &l->maps) >= 0;

	text = buf_slice(&l->maps);
	while (proc_line(&text, &line))
		look_at_mapping(l, line);
	if (!jvm->libjvm || !readable)
		look_without_jvm(l, readable, deep);
	else if (l->openj9)
		jvm->kind = JVM_OPENJ9;
	else if (!is_forked(l))
		jvm->kind = JVM_HOTSPOT;
	if (jvm->kind != JVM_NOT)
		look_closer(l);
	else if (jvm->has_agent)
		has_socket(l);
	jvm->target.is_jvm = jvm->kind == JVM_HOTSPOT || jvm->kind == JVM_OPENJ9;
}

static int read_one(pid_t pid, struct arena *mem, bool deep, struct jvm *out)
{
	struct look l = { .jvm = out, .mem = mem };
	struct proc_status s;
	int rc = proc_status(pid, &s);

	*out = (struct jvm){ .target = { .pid = pid }, .can_attach = '?' };
	if (rc < 0)
		return rc;
	out->target.pid = s.tgid;
	out->target.ns_pid = s.ns_pid;
	out->target.uid = s.uid;
	out->target.gid = s.gid;
	memcpy(out->comm, s.comm, sizeof(out->comm));
	snprintf(out->target.name, sizeof(out->target.name), "%s", s.comm);
	out->state = s.state;
	out->pid_levels = s.levels;
	out->catches_quit = s.caught >> (SIGQUIT - 1) & 1;
	out->uptime = proc_uptime(s.tgid);
	look(&l, deep);
	buf_release(&l.maps);
	buf_release(&l.perf);
	buf_release(&l.cmdline);
	buf_release(&l.environ);
	buf_release(&l.options);
	return 0;
}

int jvm_read(pid_t pid, struct arena *mem, struct jvm *out)
{
	return read_one(pid, mem, true, out);
}

static int add(struct jvms *all, const struct jvm *one)
{
	if (all->n == all->cap) {
		size_t cap = all->cap ? 2 * all->cap : 16;
		struct jvm *v = mem_realloc(all->v, cap * sizeof(*v));

		if (!v)
			return E_NO_MEMORY;
		all->v = v;
		all->cap = cap;
	}
	all->v[all->n++] = *one;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct jvm *)a)->target.pid, y = ((const struct jvm *)b)->target.pid;

	return (x > y) - (x < y);
}

static bool is_listed(const struct jvm *jvm, bool native)
{
	return jvm->kind != JVM_NOT || (native && jvm->has_agent && jvm->has_socket);
}

static int read_all(struct jvms *all, bool native)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	struct jvm one;
	int rc = 0;

	*all = (struct jvms){ 0 };
	arena_init(&all->mem);
	if (!dir)
		return E_IO;
	while (rc >= 0 && (e = readdir(dir)) != NULL) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (read_one((pid_t)strtol(e->d_name, NULL, 10), &all->mem, false, &one) >= 0 &&
		    is_listed(&one, native))
			rc = add(all, &one);
	}
	closedir(dir);
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_pid);
	return rc;
}

int jvms_read(struct jvms *all)
{
	return read_all(all, false);
}

int jvms_read_observed(struct jvms *all)
{
	return read_all(all, true);
}

void jvms_release(struct jvms *all)
{
	arena_release(&all->mem);
	mem_free(all->v);
	*all = (struct jvms){ 0 };
}

bool jvm_has_switch(const struct jvm *jvm, const char *text)
{
	return jvm_args_has(jvm->vm_args, text);
}

bool jvm_is_ours(const struct jvm *jvm)
{
	return geteuid() == 0 || geteuid() == jvm->target.uid;
}

const char *jvm_user(uid_t uid, char text[64])
{
	const struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(text, 64, "%s", pw->pw_name);
	else
		snprintf(text, 64, "%u", uid);
	return text;
}

const char *jvm_age(double seconds, char text[32])
{
	unsigned long s = seconds > 0 ? (unsigned long)seconds : 0;

	if (seconds < 0)
		snprintf(text, 32, "?");
	else if (s < 60)
		snprintf(text, 32, "%lu s", s);
	else if (s < 3600)
		snprintf(text, 32, "%lu min", s / 60);
	else if (s < 48 * 3600)
		snprintf(text, 32, "%lu h %lu min", s / 3600, s % 3600 / 60);
	else
		snprintf(text, 32, "%lu d %lu h", s / 86400, s % 86400 / 3600);
	return text;
}
