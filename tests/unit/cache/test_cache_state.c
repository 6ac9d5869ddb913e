/* SPDX-License-Identifier: Apache-2.0 */
/* Where it is kept what was found about applications. */
#define _GNU_SOURCE
#include "cache/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

TEST(state_of_an_application_has_a_file_name_of_its_own)
{
	static const struct {
		const char *app, *path;
	} cases[] = {
		{ "com.shop.Main", "/d/com.shop.Main.rules" },
		{ "shop-1.2_x.jar", "/d/shop-1.2_x.jar.rules" },
		{ "Outer$Main", "/d/Outer$Main.rules" },
	};
	char path[PATH_MAX], other[PATH_MAX], app[400];

	for (size_t i = 0; i < COUNT(cases); i++) {
		CHECK(state_path("/d", cases[i].app, "rules", path));
		CHECK_STR(path, cases[i].path, cases[i].app);
	}
	CHECK(!state_path("/d", "", "rules", path));
	CHECK(state_path("/d", "../../etc/passwd", "rules", path));
	CHECK(strncmp(path, "/d/_._.._etc_passwd+", 20) == 0);
	CHECK(state_path("/d", "a b", "rules", path) && state_path("/d", "a/b", "rules", other));
	CHECK(strcmp(path, other) != 0);
	CHECK(state_path("/d", path + 3, "rules", other)); /* a name like that of another's file */
	CHECK(strncmp(path, other, strlen(path) - strlen(".rules")) != 0);
	memset(app, 'a', sizeof(app) - 1);
	app[sizeof(app) - 1] = '\0';
	CHECK(state_path("/d", app, "rules", path));
	app[sizeof(app) - 2] = 'b';
	CHECK(state_path("/d", app, "rules", other));
	CHECK(strcmp(path, other) != 0);
	CHECK(strlen(path) < 200);
}

TEST(state_is_for_its_owner_and_read_only_when_nobody_else_can_write_it)
{
	char dir[] = "/tmp/sonde-unit-XXXXXX", place[100], path[PATH_MAX], link[PATH_MAX];
	struct buf text = { 0 };
	struct stat st;

	if (!CHECK(mkdtemp(dir) != NULL))
		return;
	snprintf(place, sizeof(place), "%s/a/b", dir);
	CHECK_INT(state_make_place(place), 0, NULL);
	CHECK(stat(place, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(state_path(place, "x", "known", path));
	CHECK_INT(state_read(path, &text), E_NOT_FOUND, NULL);
	CHECK_INT(state_write(path, slice_str("one")), 0, NULL);
	CHECK_INT(state_write(path, slice_str("two")), 0, NULL);
	CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK_INT(state_read(path, &text), 0, NULL);
	CHECK_MEM(text.p, text.n, "two", 3, NULL);
	chmod(path, 0620);
	CHECK_INT(state_read(path, &text), E_IO, "its group can write it");
	chmod(path, 0600);
	snprintf(link, sizeof(link), "%s/link", dir);
	CHECK_INT(symlink(path, link), 0, NULL);
	CHECK_INT(state_read(link, &text), E_IO, "a link may lead anywhere");
	chmod(place, 0770);
	CHECK_INT(state_make_place(place), E_IO, "its group could put something there");
	CHECK_INT(state_read(path, &text), E_IO, "and could have done so");
	unlink(link);
	unlink(path);
	rmdir(place);
	snprintf(place, sizeof(place), "%s/a", dir);
	rmdir(place);
	CHECK_INT(rmdir(dir), 0, "nothing else was left behind");
	buf_release(&text);
}

TEST(state_has_its_usual_place)
{
	char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME"), dir[PATH_MAX];

	state = state ? strdup(state) : NULL;
	home = home ? strdup(home) : NULL;
	setenv("HOME", "/home/me", 1);
	setenv("XDG_STATE_HOME", "/s", 1);
	CHECK(state_usual_place(dir));
	CHECK_STR(dir, "/s/sonde/apps", NULL);
	setenv("XDG_STATE_HOME", "relative", 1);
	CHECK(state_usual_place(dir));
	CHECK_STR(dir, "/home/me/.local/state/sonde/apps", NULL);
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	CHECK(!state_usual_place(dir));
	if (state)
		setenv("XDG_STATE_HOME", state, 1);
	if (home)
		setenv("HOME", home, 1);
	free(state);
	free(home);
}
