/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.c - the store of calibrations: one small file for each machine, JVM and build.
 *
 * The file's name is a hash of what it is for; what it is for stands in it as text and is compared,
 * so neither a collision nor a copy from another machine is ever used. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "cli/client/calibration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/version.h"
#include "cli/attach/jdk.h"
#include "cli/attach/library.h"

enum { TEXT_MAX = 64 << 10 };

/* "model name : Intel..." of the first processor; where there is none (aarch64), its part
 * numbers. */
static void read_cpu(char out[128])
{
	static const char *const names[] = { "model name", "CPU implementer", "CPU variant",
					     "CPU part", "CPU revision" };
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];
	size_t n = 0;

	out[0] = '\0';
	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		char *value = strchr(line, ':');

		for (size_t i = 0; value && i < sizeof(names) / sizeof(names[0]); i++)
			if (strncmp(line, names[i], strlen(names[i])) == 0 && n < 120) {
				value[strcspn(value, "\n")] = '\0';
				n += (size_t)snprintf(out + n, 128 - n, "%s%s", n ? " " : "",
						      value + 1 + (value[1] == ' '));
				n = n > 127 ? 127 : n;
			}
	}
	if (f)
		fclose(f);
	if (!n)
		snprintf(out, 128, "unknown");
}

int calibration_key(struct slice jvm, struct calibration_key *out)
{
	struct library lib;
	struct utsname u;
	struct fault f = { 0 };
	int rc;

	*out = (struct calibration_key){ 0 };
	read_cpu(out->cpu);
	if (uname(&u) == 0)
		snprintf(out->kernel, sizeof(out->kernel), "%s %s", u.release, u.machine);
	snprintf(out->jvm, sizeof(out->jvm), "%.*s", SLICE_FMT(jvm));
	for (char *p = out->jvm; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	rc = library_open(&lib, LIBRARY_JVM, &f);
	if (rc >= 0)
		snprintf(out->build, sizeof(out->build), "%s %016llx", SONDE_VERSION,
			 (unsigned long long)lib.hash);
	library_close(&lib);
	return rc < 0 ? rc : 0;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	return fnv_add(h, text, strlen(text) + 1);
}

/* ${XDG_CACHE_HOME:-~/.cache}/sonde/calibration */
static int find_directory(char path[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (cache && cache[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/sonde/calibration", cache);
	else if (home && home[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/.cache/sonde/calibration", home);
	if (n > 0 && n < PATH_MAX)
		return 0;
	return errno = n < 0 ? ENOENT : ENAMETOOLONG, E_IO;
}

/* A descriptor of the directory, which is made when asked; or E_IO with errno set.  Everything in
 * it is reached by the descriptor, so it is the one that was looked at. */
static int open_directory(bool make)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, rc = find_directory(path);

	if (rc < 0)
		return rc;
	for (char *p = strstr(path, "/sonde/"); make && p; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(path, 0700);
		*p = '/';
	}
	if (make)
		(void)mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return E_IO;
	if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || st.st_mode & 022) {
		close(fd);
		return errno = EPERM, E_IO; /* others could put something there */
	}
	return fd;
}

enum { NAME_SIZE = 17 };

static void name_for(const struct calibration_key *key, char name[NAME_SIZE])
{
	uint64_t h = FNV_START;

	h = hash_text(hash_text(hash_text(hash_text(h, key->cpu), key->kernel), key->jvm),
		      key->build);
	snprintf(name, NAME_SIZE, "%016llx", (unsigned long long)h);
}

bool calibration_fits(struct slice text, const struct calibration_key *key)
{
	return slice_is(cost_line(text, "cpu"), key->cpu) &&
	       slice_is(cost_line(text, "kernel"), key->kernel) &&
	       slice_is(cost_line(text, "jvm"), key->jvm) &&
	       slice_is(cost_line(text, "build"), key->build);
}

int calibration_load(const struct calibration_key *key, struct buf *text, struct costs *out)
{
	int dir = open_directory(false), fd, rc = E_IO;
	char name[NAME_SIZE];
	struct stat st;
	ssize_t got = 0;
	uint8_t *to;

	if (dir < 0)
		return E_NOT_FOUND;
	name_for(key, name);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	close(dir);
	if (fd < 0)
		return E_NOT_FOUND;
	buf_clear(text);
	to = buf_room(text, TEXT_MAX);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & 022) && to)
		got = read(fd, to, TEXT_MAX);
	close(fd);
	if (got > 0) {
		text->n = (size_t)got;
		rc = cost_read(buf_slice(text), out);
		if (rc >= 0 && !calibration_fits(buf_slice(text), key))
			rc = E_NOT_FOUND;
	}
	return rc;
}

int calibration_store(const struct calibration_key *key, struct slice text)
{
	char name[NAME_SIZE], made[NAME_SIZE + 16];
	int dir = open_directory(true), fd, rc = E_IO;
	ssize_t n;

	if (dir < 0)
		return dir;
	name_for(key, name);
	snprintf(made, sizeof(made), "%s.%d", name, (int)getpid());
	(void)unlinkat(dir, made, 0); /* of one that was killed */
	fd = openat(dir, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0) {
		n = write(fd, text.p, text.n);
		if (close(fd) == 0 && n == (ssize_t)text.n && renameat(dir, made, dir, name) == 0)
			rc = 0;
		else
			(void)unlinkat(dir, made, 0);
	}
	close(dir);
	return rc;
}

/* ---- for a report ------------------------------------------------------------------------- */

/* A process of its own that nobody waits for, one at a time: two would disturb each other.  It
 * inherits the lock, which goes when it ends.  It finds the JDK of a running process anew: whether
 * that may be run is decided by who runs it. */
static void start_background(const char *home, pid_t pid)
{
	char number[16];
	int lock = open_directory(true);
	pid_t child = -1;

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		child = fork();
	if (child > 0)
		waitpid(child, NULL, 0);
	if (child != 0) {
		if (lock >= 0)
			close(lock);
		return;
	}
	if (fork() == 0) {
		char *of_home[] = { "sonde", "calibrate", "--quiet", "--jdk", (char *)home, NULL };
		char *of_pid[] = { "sonde", "calibrate", "--quiet", number, NULL };
		int null = open("/dev/null", O_RDWR);

		snprintf(number, sizeof(number), "%d", (int)pid);
		(void)setsid();
		(void)fcntl(lock, F_SETFD, 0);
		if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(null, 2) >= 0)
			execv("/proc/self/exe", pid ? of_pid : of_home);
	}
	_exit(0);
}

/* Where the JVM is installed: as the process tells, or one of that version. */
static int find_home(struct slice jvm, pid_t pid, char home[PATH_MAX], struct fault *f)
{
	char version[16], java[PATH_MAX + 16];
	struct jdk jdk;
	int rc;

	if (pid)
		return jdk_of_process(pid, home, f);
	snprintf(version, sizeof(version), "%.*s", SLICE_FMT(jvm));
	if (atoi(version) <= 0)
		return fault_set(f, E_NOT_FOUND, -1, "its version is not known");
	rc = jdk_find((unsigned)atoi(version), &jdk, f);
	if (rc < 0)
		return rc;
	snprintf(java, sizeof(java), "%s/bin/java", jdk.home);
	if (access(java, X_OK) != 0)
		return fault_set(f, E_NOT_FOUND, -1, "%.150s: no java there", jdk.home);
	snprintf(home, PATH_MAX, "%s", jdk.home);
	return 0;
}

/* Measures what is missing, or has it measured.  0: it is known now. */
static int fill_in(struct slice jvm, pid_t pid, const struct calibration_key *key, bool wait,
		   struct costs *out)
{
	struct calibration_key made;
	struct buf text = { 0 };
	struct fault f = { 0 };
	char home[PATH_MAX];
	int rc = find_home(jvm, pid, home, &f);

	if (rc < 0) {
		fprintf(stderr,
			"sonde: figures are raw: what hooks cost with this JVM on this machine is not known, "
			"and its java is not run to find out: %s; try 'sonde calibrate --jdk PATH' with the "
			"same JDK\n",
			f.text);
		return rc;
	}
	if (!wait) {
		start_background(home, pid);
		fputs("sonde: what hooks cost here with this JVM is being measured in the background, which "
		      "takes about 15 s; until then figures are raw\n",
		      stderr);
		return E_NOT_FOUND;
	}
	fputs("sonde: measuring once what hooks cost here with this JVM; takes about 15 s\n",
	      stderr);
	rc = E_NOT_FOUND;
	if (calibrate(home, false, &made, &text) == 0)
		rc = calibration_load(key, &text, out);
	if (rc < 0)
		fputs("sonde: figures are raw\n", stderr);
	buf_release(&text);
	return rc;
}

int calibration_for(struct slice jvm, pid_t pid, enum calibration_missing missing,
		    struct costs *out)
{
	struct calibration_key key;
	struct buf text = { 0 };
	int rc = calibration_key(jvm, &key);

	if (rc >= 0)
		rc = calibration_load(&key, &text, out);
	buf_release(&text);
	if (rc < 0 && missing != CALIBRATION_LEAVE)
		rc = fill_in(jvm, pid, &key, missing == CALIBRATION_WAIT, out);
	return rc < 0 ? E_NOT_FOUND : 0;
}
