/* SPDX-License-Identifier: Apache-2.0 */
/* trusted.c - walks over a directory and the way to it.
 *
 * Links are resolved first, and then the way that came of it is looked at part by part, from the
 * root on.  Whoever could change one of its parts owns it or may write the one above, and would be
 * seen.  Users can mount file systems of their own (FUSE), which show whatever owner they like, so
 * these are not trusted at all. */
#define _GNU_SOURCE
#include "cli/screen/trusted.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

enum { ENTRIES_MAX = 50000, DEPTH_MAX = 32 };

struct walk {
	const char *top;
	unsigned left; /* entries that may still be looked at */
	unsigned depth;
	struct fault *fault;
};

/* The end of a path, for people: it may hold any bytes. */
static int fail(struct fault *f, int code, const char *path, const char *why)
{
	char shown[120];
	size_t n = strlen(path), skip = n >= sizeof(shown) ? n - sizeof(shown) + 1 : 0;

	for (size_t i = 0; i <= n - skip; i++) {
		unsigned char c = (unsigned char)path[skip + i];

		shown[i] = (char)((c && c < ' ') || c >= 127 ? '?' : c);
	}
	return fault_set(f, code, -1, "%s%s: %s", skip ? "..." : "", shown, why);
}

static int refuse(struct fault *f, const char *path, const char *why)
{
	return fail(f, E_IO, path, why);
}

static int check_entry(const char *path, const struct stat *st, struct fault *f)
{
	char why[64];

	if (st->st_uid != 0 && st->st_uid != geteuid()) {
		snprintf(why, sizeof(why), "belongs to user %u", (unsigned)st->st_uid);
		return refuse(f, path, why);
	}
	if (S_ISLNK(st->st_mode)) /* its mode means nothing */
		return 0;
	if (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode))
		return refuse(f, path, "neither a file nor a directory");
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return refuse(f, path, "others than its owner may write it");
	return 0;
}

/* One part of the way; none is a link. */
static int check_part(const char *path, struct fault *f)
{
	struct statfs fs;
	struct stat st;

	if (lstat(path, &st) != 0 || statfs(path, &fs) != 0)
		return refuse(f, path, strerror(errno));
	if (S_ISLNK(st.st_mode))
		return refuse(f, path, "changes while it is looked at");
	if ((unsigned long)fs.f_type == FUSE_SUPER_MAGIC)
		return refuse(f, path, "lies in a file system that a user may have made (FUSE)");
	return check_entry(path, &st, f);
}

/* `real` has no links in it. */
static int check_way(const char *real, struct fault *f)
{
	char part[PATH_MAX];
	int rc = check_part("/", f);

	for (size_t n = 1; rc == 0 && real[n - 1]; n++)
		if (n > 1 && (real[n] == '/' || !real[n])) {
			snprintf(part, sizeof(part), "%.*s", (int)n, real);
			rc = check_part(part, f);
		}
	return rc;
}

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 && (path[n] == '/' || !path[n]);
}

static int walk_dir(struct walk *w, const char *dir);
static int check_link(struct walk *w, const char *path);

/* Nothing is at `at`, which is changed, or a link on the way there leads to nothing: could somebody
 * put something there? */
static int check_nothing(struct walk *w, char *at)
{
	char real[PATH_MAX];
	struct stat st;
	char *slash;
	int rc = 0;

	do {
		if (lstat(at, &st) == 0) /* then it is a link */
			rc = check_link(w, at);
		slash = strrchr(at, '/');
		if (rc < 0 || slash == at)
			return rc < 0 ? rc : check_part("/", w->fault);
		*slash = '\0';
	} while (!realpath(at, real));
	return check_way(real, w->fault);
}

/* What a link in the tree leads to.  Where that is nothing, nobody may be able to put something
 * there. */
static int check_link(struct walk *w, const char *path)
{
	char to[PATH_MAX], real[PATH_MAX];
	struct stat st;
	ssize_t n = readlink(path, to, sizeof(to) - 1);
	int rc;

	if (realpath(path, real)) {
		if (is_below(real, w->top))
			return 0;
		rc = check_way(real, w->fault);
		if (rc == 0 && stat(real, &st) == 0 && S_ISDIR(st.st_mode))
			rc = walk_dir(w, real);
		return rc;
	}
	if (errno != ENOENT || n <= 0)
		return refuse(w->fault, path, strerror(errno));
	to[n] = '\0';
	if (to[0] == '/')
		snprintf(real, sizeof(real), "%s", to);
	else if (snprintf(real, sizeof(real), "%.*s/%s", (int)(strrchr(path, '/') - path), path,
			  to) >= PATH_MAX)
		return refuse(w->fault, path, "leads too far");
	return check_nothing(w, real);
}

static int walk_entry(struct walk *w, const char *path)
{
	struct stat st;
	int rc;

	if (!w->left--)
		return refuse(w->fault, w->top, "has too many files for a JDK");
	if (lstat(path, &st) != 0)
		return refuse(w->fault, path, strerror(errno));
	rc = check_entry(path, &st, w->fault);
	if (rc == 0 && S_ISLNK(st.st_mode))
		return check_link(w, path);
	if (rc == 0 && S_ISDIR(st.st_mode)) {
		rc = check_part(path, w->fault); /* it may be another file system */
		return rc == 0 ? walk_dir(w, path) : rc;
	}
	return rc;
}

static int walk_dir(struct walk *w, const char *dir)
{
	DIR *d = w->depth < DEPTH_MAX ? opendir(dir) : NULL;
	struct dirent *e;
	char path[PATH_MAX];
	int rc = 0;

	if (!d)
		return refuse(w->fault, dir,
			      w->depth < DEPTH_MAX ? strerror(errno) : "is too deep for a JDK");
	w->depth++;
	while (rc == 0 && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= PATH_MAX)
			rc = refuse(w->fault, dir, "has names that are too long");
		else
			rc = walk_entry(w, path);
	}
	w->depth--;
	closedir(d);
	return rc;
}

/* Without links, if the way there is trusted. */
static int find(const char *path, char found[PATH_MAX], struct fault *f)
{
	if (path[0] != '/' || !realpath(path, found))
		return fail(f, E_NOT_FOUND, path,
			    path[0] == '/' ? strerror(errno) : "not an absolute path");
	return check_way(found, f);
}

int trusted_file(const char *path, char real[PATH_MAX], struct fault *f)
{
	char found[PATH_MAX];
	struct stat st;
	int rc = find(path, found, f);

	if (rc == 0 && (stat(found, &st) != 0 || !S_ISREG(st.st_mode)))
		rc = refuse(f, found, "no plain file");
	if (rc == 0)
		snprintf(real, PATH_MAX, "%s", found);
	return rc;
}

int trusted_tree(const char *path, char real[PATH_MAX], struct fault *f)
{
	char found[PATH_MAX];
	struct walk w = { .top = found, .left = ENTRIES_MAX, .fault = f };
	int rc = find(path, found, f);

	if (rc == 0)
		rc = walk_dir(&w, found);
	if (rc == 0)
		snprintf(real, PATH_MAX, "%s", found);
	return rc;
}
