/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* mkdtemp() */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/screen/private.h"

static char dir[64], path[96], other[96];

static bool begin(void)
{
	snprintf(dir, sizeof(dir), "/tmp/sonde-private.XXXXXX");
	if (!mkdtemp(dir))
		return false;
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	return true;
}

static void end(void)
{
	unlink(path);
	unlink(other);
	rmdir(dir);
}

static int mode_of(const char *file)
{
	struct stat st;

	return stat(file, &st) == 0 ? (int)(st.st_mode & 0777) : -1;
}

static void make(const char *file, mode_t mode)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	CHECK(fd >= 0 && write(fd, "before", 6) == 6 && fchmod(fd, mode) == 0);
	close(fd);
}

TEST(new_files_are_for_their_user_alone)
{
	int fd;

	CHECK(begin());
	fd = private_open(path);
	CHECK(fd >= 0);
	CHECK_INT(mode_of(path), 0600, "mode");
	close(fd);
	end();
}

TEST(a_file_that_others_could_read_is_emptied_and_closed_to_them)
{
	struct stat st;
	int fd;

	CHECK(begin());
	make(path, 0644);
	fd = private_open(path);
	CHECK(fd >= 0 && fstat(fd, &st) == 0 && st.st_size == 0);
	CHECK_INT(mode_of(path), 0600, "mode");
	close(fd);
	end();
}

TEST(a_second_name_of_a_file_is_refused)
{
	CHECK(begin());
	make(other, 0600);
	CHECK_INT(link(other, path), 0, "link");
	CHECK_INT(private_open(path), -1, "open");
	CHECK_INT(errno, EPERM, "why");
	end();
}

TEST(links_of_others_are_not_followed)
{
	int fd;

	CHECK(begin());
	make(other, 0600);
	CHECK_INT(symlink(other, path), 0, "link");
	fd = private_open(path); /* our own link is */
	CHECK(fd >= 0);
	close(fd);
	if (geteuid() == 0) {
		CHECK_INT(lchown(path, 65533, 65533), 0, "of somebody else");
		CHECK_INT(private_open(path), -1, "open");
		CHECK_INT(errno, ELOOP, "why");
	}
	end();
}

TEST(devices_are_written_as_they_are)
{
	int mode = mode_of("/dev/null"), fd = private_open("/dev/null");

	CHECK(fd >= 0);
	CHECK_INT(mode_of("/dev/null"), mode, "mode");
	close(fd);
}
