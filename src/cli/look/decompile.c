/* SPDX-License-Identifier: Apache-2.0 */
/* decompile.c - writes class files to a directory, and reads what Procyon prints of one of them.
 *
 * Procyon is asked for a file, and finds the others beside it.  It writes nothing: it may not. */
#define _GNU_SOURCE /* nftw, close_range, setgroups, pipe2 */
#include "cli/look/decompile.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/attach/jdk.h"
#include "cli/client/client.h"
#include "cli/look/decompiled.h"
#include "cli/screen/trusted.h"

#define JARS "/usr/share/java/"

enum {
	SECONDS = 60, /* of the clock, and of processor time */
	TEXT_MAX = 8 << 20,
	LOOK_MS = 100,
	FILES_OPEN = 16,
	PATH_MAX_BYTES = 2048,
};

static const char *const jars[] = { "procyon-decompiler",    "procyon-core",
				    "procyon-expressions",   "procyon-reflection",
				    "procyon-compilertools", "jcommander" };

struct run {
	const struct class_files *files;
	const char *class;
	uid_t uid;
	gid_t gid;
	bool drops; /* root's rights, before it starts */
	char dir[PATH_MAX_BYTES / 2], java[PATH_MAX + 16];
	struct buf jars; /* a class path */
	pid_t child;
	int from;
};

bool decompile_is_there(void)
{
	return access(JARS "procyon-decompiler.jar", R_OK) == 0;
}

/* ---- what is run ---- */

static bool find_jars(struct run *r, struct fault *f)
{
	char path[PATH_MAX], real[PATH_MAX];

	for (size_t i = 0; i < COUNT(jars); i++) {
		snprintf(path, sizeof(path), JARS "%s.jar", jars[i]);
		if (trusted_file(path, real, f) < 0)
			return false;
		buf_printf(&r->jars, "%s%s", i ? ":" : "", real);
	}
	buf_u8(&r->jars, 0);
	return !r->jars.err;
}

static bool find_java(struct run *r, struct fault *f)
{
	char real[PATH_MAX];
	struct jdk jdk;

	if (jdk_find(0, &jdk, f) < 0 || trusted_tree(jdk.home, real, f) < 0)
		return false;
	snprintf(r->java, sizeof(r->java), "%s/bin/java", real);
	if (access(r->java, X_OK) == 0)
		return true;
	fault_set(f, E_NOT_FOUND, -1, "%.150s: no java there", real);
	return false;
}

/* ---- the directory ---- */

static bool make_parents(char *path, size_t from)
{
	for (char *p = path + from; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return false;
		*p = '/';
	}
	return true;
}

static bool write_file(const struct run *r, const struct class_file *file)
{
	char path[PATH_MAX_BYTES];
	int n = snprintf(path, sizeof(path), "%s/%s.class", r->dir, file->name), fd;
	bool good;

	if (n < 0 || (size_t)n >= sizeof(path) || !make_parents(path, strlen(r->dir) + 1))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	good = write(fd, file->bytes.p, file->bytes.n) == (ssize_t)file->bytes.n;
	return close(fd) == 0 && good;
}

/* The directory alone keeps others out: of those the program's group may read it when root drops its
 * rights, and nobody but we write there. */
static bool make_dir(struct run *r)
{
	const char *tmp = getenv("TMPDIR");
	int n = snprintf(r->dir, sizeof(r->dir), "%s/sonde-source-XXXXXX",
			 tmp && *tmp == '/' ? tmp : "/tmp");
	mode_t mask = umask(022);
	bool good = n > 0 && (size_t)n < sizeof(r->dir) && mkdtemp(r->dir);

	if (!good)
		r->dir[0] = '\0';
	if (good && r->drops)
		good = chown(r->dir, (uid_t)-1, r->gid) == 0 && chmod(r->dir, 0750) == 0;
	for (size_t i = 0; good && i < r->files->n; i++)
		good = write_file(r, &r->files->files[i]);
	umask(mask);
	return good;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

/* ---- the process ---- */

static void limit(int what, rlim_t most)
{
	const struct rlimit r = { most, most };

	setrlimit((__rlimit_resource_t)what, &r);
}

static void become(const struct run *r, int out)
{
	char file[PATH_MAX_BYTES];
	char *argv[] = { (char *)r->java,
			 "-Xmx512m",
			 "-Xss16m",
			 "-XX:MaxMetaspaceSize=128m",
			 "-XX:+UseSerialGC",
			 "-XX:TieredStopAtLevel=1",
			 "-XX:-UsePerfData",
			 "-XX:+DisableAttachMechanism",
			 "-XX:ErrorFile=/dev/null",
			 "-cp",
			 (char *)r->jars.p,
			 "com.strobel.decompiler.DecompilerDriver",
			 "--debug-line-numbers",
			 "--text-block-line-min",
			 "0",
			 file,
			 NULL };
	char *environment[] = { "LC_ALL=C.UTF-8", NULL };
	int null = open("/dev/null", O_RDWR);

	snprintf(file, sizeof(file), "./%s.class", r->class);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit(RLIMIT_CPU, SECONDS);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CORE, 0);
	if (chdir(r->dir) < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
		_exit(127);
	if (r->drops && (setgroups(0, NULL) != 0 || setresgid(r->gid, r->gid, r->gid) != 0 ||
			 setresuid(r->uid, r->uid, r->uid) != 0))
		_exit(127);
	close_range(3, ~0u, 0);
	execve(r->java, argv, environment);
	_exit(127);
}

static bool start(struct run *r, struct buf *why)
{
	int to[2];

	if (pipe2(to, O_CLOEXEC) != 0) {
		buf_printf(why, "no pipe: %s", strerror(errno));
		return false;
	}
	fflush(NULL);
	r->child = fork();
	if (r->child == 0)
		become(r, to[1]);
	close(to[1]);
	r->from = to[0];
	if (r->child < 0)
		buf_printf(why, "no new process: %s", strerror(errno));
	return r->child > 0;
}

/* To the end of what it prints.  False: too much, too long, or Ctrl-C. */
static bool read_text(struct run *r, struct buf *text, struct buf *why)
{
	uint64_t end = clock_steady_ns() + SECONDS * (uint64_t)1000000000;
	struct pollfd p = { .fd = r->from, .events = POLLIN };
	uint8_t *to;
	ssize_t n;

	while (!client_interrupted() && clock_steady_ns() < end && text->n < TEXT_MAX) {
		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		to = buf_room(text, 65536);
		n = to ? read(r->from, to, 65536) : -1;
		if (n <= 0)
			return n == 0;
		text->n += (size_t)n;
	}
	if (client_interrupted())
		buf_text(why, "interrupted");
	else if (text->n >= TEXT_MAX)
		buf_printf(why, "Procyon printed more than %d MiB", TEXT_MAX >> 20);
	else
		buf_printf(why, "Procyon was not done after %d s", SECONDS);
	return false;
}

static bool finish(struct run *r, bool good)
{
	int status = 0;

	if (!good)
		kill(r->child, SIGKILL);
	close(r->from);
	while (waitpid(r->child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool decompile(const struct class_files *files, const char *class, uid_t uid, gid_t gid,
	       struct buf *text, struct buf *why)
{
	struct run r = { .files = files,
			 .class = class,
			 .uid = uid,
			 .gid = gid,
			 .drops = geteuid() == 0 && (uid != 0 || gid != getegid()) };
	struct fault f = { 0 };
	bool good = false;

	client_catch_interrupts();
	if (!find_jars(&r, &f) || !find_java(&r, &f))
		buf_printf(why, "%s", f.text);
	else if (!make_dir(&r))
		buf_printf(why, "its class file could not be written to a directory of its own: %s",
			   strerror(errno));
	else if (start(&r, why))
		good = finish(&r, read_text(&r, text, why)) && decompiled_is_class(buf_slice(text));
	if (!good && !why->n)
		buf_text(why, "Procyon made nothing of it");
	if (r.dir[0])
		nftw(r.dir, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
	buf_release(&r.jars);
	return good;
}
