/* SPDX-License-Identifier: Apache-2.0 */
/* A directory beside the test program, since /tmp is what nobody trusts. */
#define _GNU_SOURCE
#include "cli/screen/trusted.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

struct place {
	char dir[PATH_MAX], outside[64];
};

static void make(const struct place *p, const char *name, mode_t mode)
{
	char path[PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	if (name[strlen(name) - 1] == '/') {
		CHECK_INT(mkdir(path, 0700), 0, name);
		CHECK_INT(chmod(path, mode), 0, name);
		return;
	}
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	CHECK(fd >= 0);
	CHECK_INT(fchmod(fd, mode), 0, name);
	close(fd);
}

static void link_to(const struct place *p, const char *name, const char *to)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	CHECK_INT(symlink(to, path), 0, name);
}

/* False: the test is over. */
static bool make_place(struct place *p)
{
	char real[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", p->dir, sizeof(p->dir) - 32);
	struct fault f = { 0 };
	bool trusted;

	if (!CHECK(n > 0))
		return false;
	p->dir[n] = '\0';
	snprintf(strrchr(p->dir, '/'), 32, "/trusted-XXXXXX");
	snprintf(p->outside, sizeof(p->outside), "/tmp/sonde-unit-XXXXXX");
	if (!CHECK(mkdtemp(p->dir) && mkdtemp(p->outside)))
		return false;
	trusted = trusted_tree(p->dir, real, &f) == 0;
	if (!trusted) { /* others can write where the tests lie */
		rmdir(p->dir);
		rmdir(p->outside);
		test_skip(f.text);
		return false;
	}
	make(p, "bin/", 0755);
	make(p, "bin/java", 0755);
	make(p, "lib/", 0755);
	make(p, "lib/modules", 0644);
	return true;
}

static void remove_place(struct place *p)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command), "rm -rf '%s' '%s'", p->dir, p->outside);
	CHECK_INT(system(command), 0, NULL);
}

static int look(const struct place *p, char *text)
{
	char real[PATH_MAX] = "";
	struct fault f = { 0 };
	int rc = trusted_tree(p->dir, real, &f);

	snprintf(text, sizeof(f.text), "%s", f.text);
	CHECK_INT(real[0] != '\0', rc == 0, "written on success only");
	return rc;
}

TEST(trusted_tree_is_one_that_nobody_else_can_write)
{
	static const struct {
		const char *name;
		mode_t mode;
		int want;
	} cases[] = {
		{ "lib/a", 0444, 0 },	   { "lib/b", 0755, 0 },    { "lib/c/", 0700, 0 },
		{ "lib/d", 0664, E_IO },   { "lib/e", 0646, E_IO }, { "lib/f/", 0775, E_IO },
		{ "lib/g/", 01777, E_IO }, { "lib/h", 04755, 0 },
	};
	char text[200];
	struct place p;

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (!make_place(&p))
			return;
		CHECK_INT(look(&p, text), 0, text);
		make(&p, cases[i].name, cases[i].mode);
		CHECK_INT(look(&p, text), cases[i].want, cases[i].name);
		CHECK(cases[i].want == 0 || strstr(text, "may write it"));
		remove_place(&p);
	}
}

TEST(trusted_tree_looks_where_links_lead_to)
{
	static const struct {
		const char *to;
		int want;
	} cases[] = {
		{ "../bin/java", 0 },
		{ "/etc/passwd", 0 },
		{ "/nothing/like/that", 0 }, /* only root could make it */
		{ "nothing", 0 },
		{ "OUTSIDE", E_IO },
		{ "OUTSIDE/nothing/like/that", E_IO }, /* but that anybody could */
		{ "/dev/null", E_IO },
	};
	char text[200], to[128];
	struct place p;

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (!make_place(&p))
			return;
		snprintf(to, sizeof(to), "%s%s", strncmp(cases[i].to, "OUT", 3) ? "" : p.outside,
			 cases[i].to + (strncmp(cases[i].to, "OUT", 3) ? 0 : 7));
		link_to(&p, "lib/link", to);
		CHECK_INT(look(&p, text), cases[i].want, cases[i].to);
		remove_place(&p);
	}
}

/* lib/link leads to a link beside the tree, which is trusted, and that to where nothing is yet. */
TEST(trusted_tree_follows_links_that_lead_to_links)
{
	static const struct {
		const char *below, *to;
		int want;
	} cases[] = {
		{ "", "/nothing", E_IO },
		{ "/below", "/nothing", E_IO },
		{ "", NULL, 0 },
		{ "/below", NULL, 0 },
	};
	char text[200], beside[PATH_MAX + 64], to[2 * PATH_MAX];
	struct place p;

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (!make_place(&p))
			return;
		snprintf(beside, sizeof(beside), "%s.beside", p.dir);
		snprintf(to, sizeof(to), "%s%s", cases[i].to ? p.outside : "nothing",
			 cases[i].to ? cases[i].to : "");
		CHECK_INT(symlink(to, beside), 0, NULL);
		snprintf(to, sizeof(to), "%s%s", beside, cases[i].below);
		link_to(&p, "lib/link", to);
		CHECK_INT(look(&p, text), cases[i].want, text);
		unlink(beside);
		remove_place(&p);
	}
}

TEST(trusted_tree_looks_at_the_way_to_it)
{
	struct fault f = { 0 }, none = { 0 };
	char real[PATH_MAX], path[PATH_MAX], text[200];
	struct place p;

	if (!make_place(&p))
		return;
	make(&p, "open/", 0777);
	make(&p, "open/home/", 0755);
	snprintf(path, sizeof(path), "%.4000s/open/home", p.dir);
	CHECK_INT(trusted_tree(path, real, &f), E_IO, "its parent can be written");
	CHECK_INT(trusted_tree(p.outside, real, &none), E_IO, "as /tmp can");
	CHECK_INT(rmdir(path), 0, NULL);
	snprintf(path, sizeof(path), "%.4000s/open", p.dir);
	CHECK_INT(rmdir(path), 0, NULL);
	snprintf(path, sizeof(path), "%s/link", p.outside);
	CHECK_INT(symlink(p.dir, path), 0, NULL);
	CHECK_INT(trusted_tree(path, real, &f), 0, "a link that others own is only the way there");
	CHECK_STR(real, p.dir, NULL);
	CHECK_INT(look(&p, text), 0, NULL);
	CHECK_INT(trusted_tree("lib", real, NULL), E_NOT_FOUND, "not absolute");
	CHECK_INT(trusted_tree("/no\nthing", real, &(struct fault){ 0 }), E_NOT_FOUND, NULL);
	remove_place(&p);
}

TEST(trusted_tree_belongs_to_root_or_the_caller)
{
	char text[200], path[PATH_MAX + 16];
	struct place p;

	if (geteuid() != 0)
		SKIP("only root can give files away");
	if (!make_place(&p))
		return;
	snprintf(path, sizeof(path), "%s/bin/java", p.dir);
	CHECK_INT(chown(path, 65534, 65534), 0, NULL);
	CHECK_INT(look(&p, text), E_IO, NULL);
	CHECK(strstr(text, "belongs to user 65534"));
	remove_place(&p);
}

TEST(trusted_file_is_a_plain_file_that_nobody_else_can_write)
{
	char real[PATH_MAX];

	CHECK_INT(trusted_file("/etc/passwd", real, NULL), 0, NULL);
	CHECK(strcmp(real, "/etc/passwd") == 0);
	CHECK_INT(trusted_file("/etc", real, NULL), E_IO, NULL);
	CHECK_INT(trusted_file("/dev/null", real, NULL), E_IO, NULL);
	CHECK_INT(trusted_file("/etc/no-such-file", real, NULL), E_NOT_FOUND, NULL);
	CHECK_INT(trusted_file("etc/passwd", real, NULL), E_NOT_FOUND, NULL);
}
