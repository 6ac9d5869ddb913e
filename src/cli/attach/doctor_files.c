/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_files.c - /tmp as the JVM sees it, the sockets in it, and a place for the library.
 *
 * HotSpot's files are always in /tmp, whatever java.io.tmpdir says.  A service with a private /tmp,
 * or a container, has another one than we; it is reached through /proc. */
#include "cli/attach/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/attach/hotspot.h"
#include "jvm/proc.h"

static void check_namespace(struct patient *p)
{
	const struct jvm *j = p->jvm;
	bool files = !proc_same_ns(j->target.pid, "mnt");
	struct stat ours, theirs;
	bool tmp = p->in->tmp >= 0 && stat("/tmp", &ours) == 0 && fstat(p->in->tmp, &theirs) == 0 &&
		   (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino);

	if (j->pid_levels > 1)
		doctor_say(p, "container", DOCTOR_OK, NULL,
			   "it runs in a container, as process %d%s", j->target.ns_pid,
			   tmp ? ", with its own /tmp" : "");
	else if (files || tmp)
		doctor_say(p, "container", DOCTOR_OK, NULL, "it has %s of its own",
			   tmp ? "a /tmp" : "a view of the file system");
	else
		doctor_say(p, "container", DOCTOR_OK, NULL, "it sees the same files as we do");
}

/* With the rights of its user. */
static void check_tmp(struct patient *p)
{
	struct statvfs v;
	int fd;

	if (p->in->tmp < 0) {
		doctor_say(p, "tmp", DOCTOR_WRONG, "Give it a /tmp that its user may write to.",
			   "its /tmp cannot be reached: %s", strerror(p->in->tmp_errno));
		return;
	}
	if (inside_enter(p->in) < 0) {
		doctor_say(p, "tmp", DOCTOR_WRONG, "Do it as its user.",
			   "you are root, but may not act as its user");
		return;
	}
	fd = inside_file(p->in, "/tmp", O_RDONLY | O_DIRECTORY, 0);
	if (faccessat(p->in->tmp, ".", W_OK | X_OK, AT_EACCESS) != 0)
		doctor_say(p, "tmp", DOCTOR_WRONG, "Make it writable: mode 1777 is usual.",
			   "its user may not write to its /tmp: %s", strerror(errno));
	else if (fd >= 0 && fstatvfs(fd, &v) == 0 && v.f_files && !v.f_favail)
		doctor_say(p, "tmp", DOCTOR_WRONG, "Remove some files there.",
			   "its /tmp is full: no more files can be created");
	else if (fd >= 0 && fstatvfs(fd, &v) == 0 && !v.f_bavail)
		doctor_say(p, "tmp", DOCTOR_WARNING, "Remove some files there.",
			   "its /tmp is full; the JVM may not be able to make its socket");
	else
		doctor_say(p, "tmp", DOCTOR_OK, NULL, "its user may write to its /tmp");
	if (fd >= 0)
		close(fd);
	inside_leave(p->in);
}

/* What HotSpot's socket is like. */
static void check_socket(struct patient *p)
{
	const struct jvm *j = p->jvm;
	char name[32], path[64];
	struct stat st;
	int there, listens;

	hotspot_socket_name(j->target.ns_pid, name);
	snprintf(path, sizeof(path), "/tmp/%s", name);
	there = p->in->tmp >= 0 && fstatat(p->in->tmp, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	listens = proc_listens(j->target.pid, path);
	if (there && (!S_ISSOCK(st.st_mode) || st.st_uid != j->target.uid))
		doctor_say(p, "socket", DOCTOR_WRONG, "Remove that file.",
			   "%s is there, but it is not the JVM's", path);
	else if (there && listens == 0)
		doctor_say(p, "socket", DOCTOR_OK, NULL,
			   "%s is left over from another process; the JVM will replace it", path);
	else if (there)
		doctor_say(p, "socket", DOCTOR_OK, NULL, "%s is there", path);
	else if (listens == 1 && !j->catches_quit)
		doctor_say(p, "socket", DOCTOR_WRONG,
			   "Keep cleaners away from /tmp/.java_pid*, and restart it.",
			   "%s was removed, and with -Xrs the JVM cannot be asked for a new one",
			   path);
	else if (listens == 1 && j->major && j->major < 14)
		doctor_say(
			p, "socket", DOCTOR_WARNING,
			"If it does not work: keep cleaners away from /tmp/.java_pid*, and restart "
			"it.",
			"%s was removed; not every JVM before 14 makes a new one", path);
	else if (listens == 1)
		doctor_say(
			p, "socket", DOCTOR_OK, NULL,
			"%s was removed, by a cleaner of /tmp perhaps; the JVM will make it anew",
			path);
	else
		doctor_say(p, "socket", DOCTOR_OK, NULL, "%s will be made by the JVM", path);
}

static void check_place(struct patient *p)
{
	struct library_place place;

	if (!p->lib)
		return;
	if (library_place(p->lib, p->in, false, &place) < 0)
		doctor_say(p, "place", DOCTOR_WRONG,
			   "Put libsonde.so to where the JVM can load it from, and set SONDE_LIB.",
			   "the JVM cannot load the library: %s", place.why);
	else if (place.there)
		doctor_say(p, "place", DOCTOR_OK, NULL, "a copy of the library is there: %s",
			   place.path);
	else if (place.copied)
		doctor_say(p, "place", DOCTOR_OK, NULL, "the library will be copied to %s (%s)",
			   place.path, place.why);
	else
		doctor_say(p, "place", DOCTOR_OK, NULL, "the JVM can load the library as it is");
}

void doctor_files(struct patient *p)
{
	check_namespace(p);
	check_tmp(p);
	check_socket(p);
	check_place(p);
}
