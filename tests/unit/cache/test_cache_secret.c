/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cache/secret.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "test.h"

struct place {
	char dir[64], file[100];
	int fd;
};

static bool make_place(struct place *p)
{
	snprintf(p->dir, sizeof(p->dir), "/tmp/sonde-unit-XXXXXX");
	if (!CHECK(mkdtemp(p->dir) != NULL))
		return false;
	snprintf(p->file, sizeof(p->file), "%s/key", p->dir);
	p->fd = open(p->dir, O_RDONLY | O_DIRECTORY);
	return CHECK(p->fd >= 0);
}

static void remove_place(struct place *p)
{
	close(p->fd);
	unlink(p->file);
	CHECK_INT(rmdir(p->dir), 0, "nothing else was left there");
}

static bool same(const struct secret *x, const struct secret *y)
{
	return x->key.a == y->key.a && x->key.b == y->key.b;
}

TEST(secret_is_made_once_and_for_its_owner_alone)
{
	struct secret x, y;
	struct place p, q;
	struct stat st;

	if (!make_place(&p) || !make_place(&q))
		return;
	CHECK_INT(secret_open(p.fd, false, &x), E_NOT_FOUND, "nobody has asked for one");
	CHECK_INT(secret_open(p.fd, true, &x), 0, NULL);
	CHECK(stat(p.file, &st) == 0 && (st.st_mode & 07777) == 0600 && st.st_nlink == 1);
	CHECK_INT(secret_open(p.fd, true, &y), 0, NULL);
	CHECK(same(&x, &y));
	CHECK_INT(secret_open(p.fd, false, &y), 0, NULL);
	CHECK(same(&x, &y));
	CHECK_INT(secret_open(q.fd, true, &y), 0, "of another directory");
	CHECK(!same(&x, &y));
	remove_place(&p);
	remove_place(&q);
}

TEST(secret_that_others_could_know_is_refused)
{
	struct secret x;
	struct place p;

	if (!make_place(&p))
		return;
	CHECK_INT(secret_open(p.fd, true, &x), 0, NULL);
	CHECK_INT(chmod(p.file, 0640), 0, NULL);
	CHECK_INT(secret_open(p.fd, true, &x), E_IO, NULL);
	CHECK_INT(unlink(p.file), 0, NULL);
	CHECK_INT(symlink("/dev/zero", p.file), 0, NULL);
	CHECK_INT(secret_open(p.fd, true, &x), E_IO, "a link");
	remove_place(&p);
}

TEST(secret_that_is_cut_short_is_replaced)
{
	struct secret x, y;
	struct place p;

	if (!make_place(&p))
		return;
	CHECK_INT(secret_open(p.fd, true, &x), 0, NULL);
	CHECK_INT(truncate(p.file, 7), 0, NULL);
	CHECK_INT(secret_open(p.fd, false, &y), E_IO, "not by one who only reads");
	CHECK_INT(secret_open(p.fd, true, &y), 0, NULL);
	CHECK(!same(&x, &y));
	remove_place(&p);
}

TEST(secret_is_the_same_for_processes_that_make_it_at_once)
{
	enum { PROCESSES = 8 };
	struct secret x, got;
	struct place p;
	int out[2];

	if (!make_place(&p) || !CHECK_INT(pipe(out), 0, NULL))
		return;
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			int rc = -1,
			    dir = open(p.dir, O_RDONLY | O_DIRECTORY); /* locks go with it */

			/* On a busy machine the lock may be held for longer than one waits. */
			for (int tries = 0; rc != 0 && tries < 50; tries++)
				rc = secret_open(dir, true, &got);
			_exit(rc != 0 || write(out[1], &got, sizeof(got)) != sizeof(got));
		}
	for (int i = 0; i < PROCESSES; i++) {
		int status = 1;

		wait(&status);
		CHECK_INT(status, 0, NULL);
	}
	close(out[1]); /* or who reads waits for ever for a process that has failed */
	CHECK_INT(secret_open(p.fd, false, &x), 0, NULL);
	for (int i = 0; i < PROCESSES; i++)
		CHECK(read(out[0], &got, sizeof(got)) == sizeof(got) && same(&x, &got));
	close(out[0]);
	remove_place(&p);
}

TEST(secret_decides_what_a_hash_is)
{
	struct secret x = { { 1, 2 } }, y = { { 1, 3 } };
	struct hash128 zero = { 0, 0 }, a = secret_hash(&x, zero, slice_str("a"));

	CHECK(!hash128_eq(a, secret_hash(&y, zero, slice_str("a"))));
	CHECK(!hash128_eq(secret_hash(&x, secret_hash(&x, zero, slice_str("ab")), slice_str("c")),
			  secret_hash(&x, a, slice_str("bc"))));
	CHECK(!hash128_eq(a, secret_hash(&x, a, slice_str(""))));
}
