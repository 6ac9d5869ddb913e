/* SPDX-License-Identifier: Apache-2.0 */
/* secret.c - the file "key" in a cache directory.
 *
 * It appears whole: it is written under another name and then renamed.  Whoever makes it holds a lock
 * on the directory and looks again first, so that all processes have one secret.  A file that is too
 * short (the disk was full) is replaced in the same way. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include "cache/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "cache/ours.h"

enum { SECRET_BYTES = 16, LOCK_TRIES = 100, LOCK_PAUSE_NS = 2000000 };

static const char name[] = "key";

static int read_file(int dir, uint8_t bytes[SECRET_BYTES])
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), rc = 0;

	if (fd < 0)
		return errno == ENOENT ? E_NOT_FOUND : E_IO;
	if (!ours_is(fd, OURS_FILE))
		rc = E_IO;
	else if (read(fd, bytes, SECRET_BYTES) != SECRET_BYTES)
		rc = E_DAMAGED;
	close(fd);
	return rc;
}

/* Not by getrandom, which a JVM under a system-call filter may not be allowed to call. */
static bool fill(uint8_t bytes[SECRET_BYTES])
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	bool good = fd >= 0 && read(fd, bytes, SECRET_BYTES) == SECRET_BYTES;

	if (fd >= 0)
		close(fd);
	return good;
}

/* The lock is held for as long as it takes to write 16 bytes; whoever is stopped meanwhile makes
 * others do without a cache, not wait. */
static bool lock(int dir)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(dir, LOCK_EX | LOCK_NB) == 0)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
	}
	return false;
}

static int make_file(int dir)
{
	uint8_t bytes[SECRET_BYTES];
	int fd, rc = E_IO;

	if (!fill(bytes))
		return E_IO;
	unlinkat(dir, "key.new", 0); /* of one that was killed */
	fd = openat(dir, "key.new", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return E_IO;
	if (write(fd, bytes, sizeof(bytes)) == SECRET_BYTES &&
	    renameat(dir, "key.new", dir, name) == 0)
		rc = 0;
	else
		unlinkat(dir, "key.new", 0);
	close(fd);
	return rc;
}

/* Unless somebody else has made one by now. */
static int make_once(int dir, uint8_t bytes[SECRET_BYTES])
{
	int rc;

	if (!lock(dir))
		return E_IO;
	rc = read_file(dir, bytes);
	if (rc == E_NOT_FOUND || rc == E_DAMAGED) {
		rc = make_file(dir);
		if (rc >= 0)
			rc = read_file(dir, bytes);
	}
	flock(dir, LOCK_UN);
	return rc;
}

int secret_open(int dir, bool make, struct secret *out)
{
	uint8_t bytes[SECRET_BYTES];
	int rc = read_file(dir, bytes);

	if (make && (rc == E_NOT_FOUND || rc == E_DAMAGED))
		rc = make_once(dir, bytes);
	if (rc < 0)
		return rc == E_NOT_FOUND ? rc : E_IO;
	out->key = sip_key(bytes);
	return 0;
}

struct hash128 secret_hash(const struct secret *s, struct hash128 seed, struct slice bytes)
{
	struct sip sip;

	sip_begin(&sip, s->key);
	sip_word(&sip, seed.a);
	sip_word(&sip, seed.b);
	sip_word(&sip, bytes.n); /* SipHash itself takes in its last eight bits alone */
	return sip_end(&sip, bytes);
}
