/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.c - the store of calibrations: one small file for each machine, JVM and build.
 *
 * The file's name is a hash of what it is for; what it is for stands in it as text and is compared,
 * so neither a collision nor a copy from another machine is ever used. */
#include "cli/calibration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/version.h"
#include "cli/jdk.h"
#include "cli/jvms.h"
#include "cli/library.h"

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
	rc = library_open(&lib, &f);
	if (rc >= 0)
		snprintf(out->build, sizeof(out->build), "%s %016llx", SONDE_VERSION,
			 (unsigned long long)lib.hash);
	library_close(&lib);
	return rc < 0 ? rc : 0;
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	do
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	while (*text++);
	return h;
}

/* ${XDG_CACHE_HOME:-~/.cache}/sonde/calibration; makes it when asked. */
static int directory(char path[PATH_MAX], bool make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	static const char *const below[] = { "/sonde", "/calibration" };
	struct stat st;
	size_t n;

	if (cache && cache[0] == '/')
		n = (size_t)snprintf(path, PATH_MAX, "%s", cache);
	else if (home && home[0] == '/')
		n = (size_t)snprintf(path, PATH_MAX, "%s/.cache", home);
	else
		return errno = ENOENT, E_IO;
	if (n + 64 > PATH_MAX)
		return errno = ENAMETOOLONG, E_IO;
	if (make)
		(void)mkdir(path, 0700);
	for (size_t i = 0; i < 2; i++) {
		n += (size_t)snprintf(path + n, PATH_MAX - n, "%s", below[i]);
		if (make)
			(void)mkdir(path, 0700);
	}
	if (lstat(path, &st) != 0)
		return E_IO;
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return errno = EPERM, E_IO; /* others could put something there */
	return 0;
}

static int path_for(const struct calibration_key *key, char path[PATH_MAX], bool make)
{
	uint64_t h = 0xcbf29ce484222325u;
	int rc = directory(path, make);
	size_t n;

	if (rc < 0)
		return rc;
	h = hash_text(hash_text(hash_text(hash_text(h, key->cpu), key->kernel), key->jvm),
		      key->build);
	n = strlen(path);
	snprintf(path + n, PATH_MAX - n, "/%016llx", (unsigned long long)h);
	return 0;
}

int calibration_path(const struct calibration_key *key, char path[PATH_MAX])
{
	return path_for(key, path, false);
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
	char path[PATH_MAX];
	struct stat st;
	ssize_t got = 0;
	int fd, rc = calibration_path(key, path);
	uint8_t *to;

	if (rc < 0)
		return E_NOT_FOUND;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return E_NOT_FOUND;
	rc = E_IO;
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
	char path[PATH_MAX], made[PATH_MAX + 16];
	int fd, rc = path_for(key, path, true);
	ssize_t n;

	if (rc < 0)
		return rc;
	snprintf(made, sizeof(made), "%s.%d", path, (int)getpid());
	fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return E_IO;
	n = write(fd, text.p, text.n);
	if (close(fd) != 0 || n != (ssize_t)text.n || rename(made, path) != 0) {
		(void)unlink(made);
		return E_IO;
	}
	return 0;
}

/* ---- for a report ------------------------------------------------------------------------- */

/* A process of its own that nobody waits for, one at a time: two would disturb each other.  It
 * inherits the lock, which goes when it ends. */
static void start_background(const char *home)
{
	char self[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int lock = directory(path, true) < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY);
	pid_t child = -1;

	if (n > 0 && lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		child = fork();
	if (child > 0)
		waitpid(child, NULL, 0);
	if (child != 0) {
		if (lock >= 0)
			close(lock);
		return;
	}
	self[n] = '\0';
	if (fork() == 0) {
		char *argv[] = { self, "calibrate", "--quiet", "--jdk", (char *)home, NULL };
		int null = open("/dev/null", O_RDWR);

		(void)setsid();
		if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(null, 2) >= 0)
			execv(self, argv);
	}
	_exit(0);
}

/* Where the JVM is installed: as the process tells, or one of that version. */
static void find_home(struct slice jvm, pid_t pid, char home[PATH_MAX])
{
	struct fault f = { 0 };
	struct arena mem;
	struct jvm found;
	struct jdk jdk;
	char version[16];

	home[0] = '\0';
	arena_init(&mem);
	snprintf(version, sizeof(version), "%.*s", SLICE_FMT(jvm));
	if (pid && jvm_read(pid, &mem, &found) >= 0 && found.java_home)
		snprintf(home, PATH_MAX, "%s", found.java_home);
	else if (!pid && atoi(version) > 0 && jdk_find((unsigned)atoi(version), &jdk, &f) >= 0)
		snprintf(home, PATH_MAX, "%s", jdk.home);
	arena_release(&mem);
}

int calibration_for(struct slice jvm, pid_t pid, enum calibration_missing missing,
		    struct costs *out)
{
	struct calibration_key key, made;
	struct buf text = { 0 };
	char home[PATH_MAX], java[PATH_MAX + 16];
	int rc = calibration_key(jvm, &key);

	find_home(jvm, pid, home);
	snprintf(java, sizeof(java), "%s/bin/java", home);
	if (rc >= 0)
		rc = calibration_load(&key, &text, out);
	if (rc < 0 && access(java, X_OK) != 0) {
		fprintf(stderr,
			"sonde: figures are raw: what hooks cost with this JVM on this machine is not "
			"known, and its java was not found; try 'sonde calibrate --jdk PATH'\n");
	} else if (rc < 0 && missing == CALIBRATION_WAIT) {
		fputs("sonde: measuring once what hooks cost here with this JVM; takes about 15 s\n",
		      stderr);
		if (calibrate(home, false, &made, &text) == 0)
			rc = calibration_load(&key, &text, out);
		if (rc < 0)
			fputs("sonde: figures are raw\n", stderr);
	} else if (rc < 0 && missing == CALIBRATION_BACKGROUND) {
		start_background(home);
		fputs("sonde: what hooks cost here with this JVM is being measured in the background, which "
		      "takes about 15 s; until then figures are raw\n",
		      stderr);
	}
	buf_release(&text);
	return rc < 0 ? E_NOT_FOUND : 0;
}
