/* SPDX-License-Identifier: Apache-2.0 */
/* proc.c - reads /proc.  Files there have no size: they are read until they end. */
#define _GNU_SOURCE /* memmem(), memrchr() */
#include "jvm/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(const char *path, size_t max, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n = 1;

	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? E_NOT_FOUND : E_IO;
	while (n > 0 && max) {
		size_t chunk = max < 65536 ? max : 65536;
		uint8_t *to = buf_room(out, chunk);

		if (!to) {
			rc = out->err;
			break;
		}
		n = read(fd, to, chunk);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			rc = errno == ESRCH ? E_NOT_FOUND : E_IO;
		if (n > 0) {
			out->n += (size_t)n;
			max -= (size_t)n;
		}
	}
	close(fd);
	return rc;
}

int proc_read(pid_t pid, const char *name, size_t max, struct buf *out)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return read_all(path, max, out);
}

bool proc_line(struct slice *text, struct slice *line)
{
	const uint8_t *end;

	if (!text->n)
		return false;
	end = memchr(text->p, '\n', text->n);
	*line = (struct slice){ text->p, end ? (size_t)(end - text->p) : text->n };
	text->p += line->n + !!end;
	text->n -= line->n + !!end;
	return true;
}

bool proc_next_string(struct slice *list, struct slice *one)
{
	const uint8_t *end;

	if (!list->n)
		return false;
	end = memchr(list->p, '\0', list->n);
	*one = (struct slice){ list->p, end ? (size_t)(end - list->p) : list->n };
	list->p += one->n + !!end;
	list->n -= one->n + !!end;
	return true;
}

/* The words behind "Key:" in a line of status, as text; false: another key. */
static bool status_value(struct slice line, const char *key, char *to, size_t cap)
{
	size_t n = strlen(key);

	if (!slice_starts(line, slice_str(key)))
		return false;
	while (n < line.n && (line.p[n] == '\t' || line.p[n] == ' '))
		n++;
	snprintf(to, cap, "%.*s", (int)(line.n - n), (const char *)line.p + n);
	return true;
}

static void status_line(struct slice line, struct proc_status *s)
{
	char v[256], *at = v;

	if (status_value(line, "Name:", v, sizeof(v))) {
		snprintf(s->comm, sizeof(s->comm), "%.31s", v);
	} else if (status_value(line, "State:", v, sizeof(v))) {
		s->state = v[0];
	} else if (status_value(line, "Tgid:", v, sizeof(v))) {
		s->tgid = (pid_t)strtol(v, NULL, 10);
	} else if (status_value(line, "NSpid:", v, sizeof(v))) {
		s->levels = 0;
		for (long pid = strtol(at, &at, 10); pid; pid = strtol(at, &at, 10)) {
			s->ns_pid = (pid_t)pid; /* the last is the innermost */
			s->levels++;
		}
	} else if (status_value(line, "Uid:", v, sizeof(v))) {
		strtoul(v, &at, 10); /* real; then effective */
		s->uid = (uid_t)strtoul(at, NULL, 10);
	} else if (status_value(line, "Gid:", v, sizeof(v))) {
		strtoul(v, &at, 10);
		s->gid = (gid_t)strtoul(at, NULL, 10);
	} else if (status_value(line, "SigCgt:", v, sizeof(v))) {
		s->caught = strtoull(v, NULL, 16);
	} else if (status_value(line, "SigIgn:", v, sizeof(v))) {
		s->ignored = strtoull(v, NULL, 16);
	}
}

int proc_status(pid_t pid, struct proc_status *out)
{
	struct proc_status s = { .tgid = pid, .ns_pid = pid, .levels = 1 };
	struct slice text, line;
	struct buf file = { 0 };
	int rc = proc_read(pid, "status", 1 << 16, &file);

	text = buf_slice(&file);
	while (rc >= 0 && proc_line(&text, &line))
		status_line(line, &s);
	if (rc >= 0 && !s.state)
		rc = E_NOT_FOUND;
	if (rc >= 0)
		*out = s;
	buf_release(&file);
	return rc;
}

int proc_groups(pid_t pid, gid_t *out, size_t cap)
{
	struct slice text, line;
	struct buf file = { 0 };
	char v[8 << 10], *at = v, *end;
	int rc = proc_read(pid, "status", 1 << 20, &file);
	size_t n = 0;

	v[0] = '\0';
	text = buf_slice(&file);
	while (rc >= 0 && proc_line(&text, &line) && !status_value(line, "Groups:", v, sizeof(v)))
		;
	for (; n < cap; at = end) {
		unsigned long one = strtoul(at, &end, 10);

		if (end == at || !*end) /* a number that ends with the text may be cut off */
			break;
		out[n++] = (gid_t)one;
	}
	buf_release(&file);
	return rc < 0 ? rc : (int)n;
}

double proc_uptime(pid_t pid)
{
	struct buf file = { 0 };
	struct timespec now;
	double started = -1;
	const char *at = NULL;

	if (proc_read(pid, "stat", 4096, &file) >= 0) {
		buf_u8(&file, 0);
		at = file.err ? NULL : strrchr((const char *)file.p, ')'); /* ends the name */
	}
	for (int field = 2; at && field < 22; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (at)
		started = (double)strtoull(at, NULL, 10) / (double)sysconf(_SC_CLK_TCK);
	buf_release(&file);
	clock_gettime(CLOCK_BOOTTIME, &now);
	if (started < 0)
		return -1;
	started = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - started;
	return started < 0 ? 0 : started;
}

void proc_link(pid_t pid, const char *name, char *to, size_t cap)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	n = readlink(path, to, cap - 1);
	to[n > 0 ? n : 0] = '\0';
}

/* A container has another mount namespace; chroot() alone gives another root in the same one. */
bool proc_same_root(pid_t pid)
{
	char path[64], theirs[64], ours[64];
	struct stat st, own;

	proc_link(pid, "ns/mnt", theirs, sizeof(theirs));
	proc_link(getpid(), "ns/mnt", ours, sizeof(ours));
	if (!*theirs || strcmp(theirs, ours) != 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root/.", pid);
	return stat(path, &st) == 0 && stat("/", &own) == 0 && st.st_dev == own.st_dev &&
	       st.st_ino == own.st_ino;
}

bool proc_same_ns(pid_t pid, const char *name)
{
	char link[16], theirs[64], ours[64];

	snprintf(link, sizeof(link), "ns/%s", name);
	proc_link(pid, link, theirs, sizeof(theirs));
	proc_link(getpid(), link, ours, sizeof(ours));
	return !*theirs || strcmp(theirs, ours) == 0;
}

/* Does the file of a cgroup hold that line? */
static bool cgroup_says(const char *base, struct slice group, const char *file, const char *wanted)
{
	struct slice text, line;
	struct buf b = { 0 };
	char path[4096];
	bool found = false;

	snprintf(path, sizeof(path), "%s%.*s/%s", base, SLICE_FMT(group), file);
	if (read_all(path, 4096, &b) >= 0) {
		text = buf_slice(&b);
		while (!found && proc_line(&text, &line))
			found = slice_is(line, wanted);
	}
	buf_release(&b);
	return found;
}

/* A line of /proc/PID/cgroup is "0::/group" (version 2) or "7:freezer:/group". */
bool proc_frozen(pid_t pid)
{
	struct slice text, line;
	struct buf b = { 0 };
	bool frozen = false;

	if (proc_read(pid, "cgroup", 1 << 16, &b) >= 0) {
		text = buf_slice(&b);
		while (!frozen && proc_line(&text, &line)) {
			const uint8_t *slash = memchr(line.p, '/', line.n);
			struct slice group = { slash,
					       slash ? line.n - (size_t)(slash - line.p) : 0 };

			if (!slash)
				continue;
			if (slice_starts(line, slice_str("0::"))) /* alone, or beside version 1 */
				frozen = cgroup_says("/sys/fs/cgroup", group, "cgroup.events",
						     "frozen 1") ||
					 cgroup_says("/sys/fs/cgroup/unified", group,
						     "cgroup.events", "frozen 1");
			else if (memmem(line.p, line.n - group.n, ":freezer:", 9))
				frozen = cgroup_says("/sys/fs/cgroup/freezer", group,
						     "freezer.state", "FROZEN");
		}
	}
	buf_release(&b);
	return frozen;
}

DIR *proc_threads(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return opendir(path);
}

const char *proc_next_thread(DIR *dir)
{
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			return e->d_name;
	return NULL;
}

const char *proc_thread_line(pid_t pid, const char *tid, const char *name,
			     char text[PROC_THREAD_LINE])
{
	struct buf b = { 0 };
	struct slice all, line = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "task/%.20s/%s", tid, name);
	proc_read(pid, path, PROC_THREAD_LINE - 1, &b);
	all = buf_slice(&b);
	proc_line(&all, &line);
	snprintf(text, PROC_THREAD_LINE, "%.*s", (int)line.n, line.n ? (const char *)line.p : "");
	buf_release(&b);
	return text;
}

unsigned proc_count_threads(pid_t pid, const char *comm)
{
	DIR *dir = proc_threads(pid);
	char text[PROC_THREAD_LINE];
	const char *tid;
	unsigned n = 0;

	while ((tid = proc_next_thread(dir)))
		n += strcmp(proc_thread_line(pid, tid, "comm", text), comm) == 0;
	if (dir)
		closedir(dir);
	return n;
}

/* Has the process a descriptor of that socket? */
static bool owns_socket(pid_t pid, unsigned long inode)
{
	char path[64], wanted[64], link[64];
	struct dirent *e;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
	dir = opendir(path);
	while (dir && !found && (e = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);

		link[n > 0 ? n : 0] = '\0';
		found = strcmp(link, wanted) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Lines are "address: references protocol flags type state inode path"; flag 0x10000 is set when
 * somebody called listen().  Several containers may use the same path in one network, so the
 * inode decides. */
int proc_listens(pid_t pid, const char *path)
{
	struct slice text, line;
	struct buf b = { 0 };
	int found = 0;

	if (proc_read(pid, "net/unix", 16 << 20, &b) < 0)
		found = -1;
	text = buf_slice(&b);
	while (found == 0 && proc_line(&text, &line)) {
		char row[256], name[128] = "";
		unsigned long flags, inode;
		size_t n = strlen(path);

		snprintf(row, sizeof(row), "%.*s", SLICE_FMT(line));
		if (sscanf(row, "%*[^:]: %*x %*x %lx %*x %*x %lu %127s", &flags, &inode, name) != 3)
			continue;
		if (!(flags & 0x10000) || strncmp(name, path, n) != 0)
			continue;
		if (name[n] == '\0' || strcmp(name + n, ".tmp") == 0)
			found = owns_socket(pid, inode);
	}
	buf_release(&b);
	return found;
}
