/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - all segments of a directory, newest last.
 *
 * A process opens the segments that are there, and those that others make later when it adds
 * something itself.  A segment that was opened stays so until the end, also when its file has been
 * removed meanwhile; so look-ups go over a list that only grows. */
#define _GNU_SOURCE
#include "cache/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/ours.h"
#include "cache/store_priv.h"

enum { SEGMENT_MIN = 1 << 20, SEGMENT_MAX = 32 << 20, PATH_SIZE = 4096 };

struct store {
	int dir, lock;
	bool read_only;
	uint64_t limit, segment_bytes;
	struct secret secret;
	struct segment segments[STORE_SEGMENTS_MAX]; /* by number, ascending */
	uint32_t n;		    /* atomic: segments below it may be read by any thread */
	uint32_t bad;		    /* the newest number that could not be opened; 0: none */
	struct store_counts counts; /* atomic, each */
};

/* ---- opening ------------------------------------------------------------------------------ */

static int refuse(struct fault *f, const char *dir, const char *why)
{
	return fault_set(f, E_IO, -1, "%.140s: %s", dir, why);
}

/* Makes the directory and those above it, for the owner only. */
static void make_dirs(const char *dir)
{
	char path[PATH_SIZE];

	if (strlen(dir) >= sizeof(path))
		return;
	memcpy(path, dir, strlen(dir) + 1);
	for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	mkdir(path, 0700);
}

static int open_dir(struct store *s, const char *dir, struct fault *f)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, rc;

	s->dir = open(dir, flags);
	if (s->dir < 0 && errno == ENOENT && !s->read_only) {
		make_dirs(dir);
		s->dir = open(dir, flags);
	}
	if (s->dir < 0 && (errno == ELOOP || errno == ENOTDIR))
		return refuse(f, dir, "not a directory, or a link to one");
	if (s->dir < 0)
		return fault_set(f, E_NOT_FOUND, -1, "%.140s: %s", dir, strerror(errno));
	if (!ours_is(s->dir, OURS_DIR))
		return refuse(f, dir, "must belong to the user and be closed to others (mode 700)");
	rc = secret_open(s->dir, !s->read_only, &s->secret);
	if (rc < 0 && !(rc == E_NOT_FOUND && s->read_only)) /* then nothing can be found */
		return refuse(f, dir, "its file \"key\" cannot be used");
	if (s->read_only)
		return 0;
	s->lock = openat(s->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			 0600);
	if (s->lock < 0 || !ours_is(s->lock, OURS_FILE))
		return refuse(f, dir, "its file \"lock\" cannot be used");
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The numbers of all segments that lie in the directory, ascending; the newest, if there are more
 * than we look at. */
static size_t list_segments(const struct store *s, uint32_t out[STORE_SEGMENTS_MAX])
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	size_t n = 0;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d))) {
		uint32_t number;

		if (!segment_number(e->d_name, &number))
			continue;
		if (n < STORE_SEGMENTS_MAX) {
			out[n++] = number;
		} else {
			qsort(out, n, sizeof(*out), by_number);
			if (number > out[0])
				out[0] = number;
		}
	}
	if (d)
		closedir(d);
	qsort(out, n, sizeof(*out), by_number);
	return n;
}

/* Opens what is newer than what we have. */
static void open_new(struct store *s)
{
	uint32_t numbers[STORE_SEGMENTS_MAX];
	size_t n = list_segments(s, numbers);
	int rc;

	for (size_t i = 0; i < n && s->n < STORE_SEGMENTS_MAX; i++) {
		uint32_t newest = s->n ? s->segments[s->n - 1].number : 0;

		if (numbers[i] <= newest)
			continue;
		rc = segment_open(s->dir, numbers[i], s->read_only, &s->segments[s->n]);
		if (rc < 0) {
			if (numbers[i] > s->bad && rc != E_UNSUPPORTED) {
				s->bad = numbers[i];
				__atomic_fetch_add(&s->counts.damaged, 1, __ATOMIC_RELAXED);
			}
			continue;
		}
		__atomic_store_n(&s->n, s->n + 1, __ATOMIC_RELEASE);
	}
}

int store_open(const struct store_options *o, struct store **out, struct fault *f)
{
	struct store *s = mem_alloc(sizeof(*s));
	int rc;

	if (!s)
		return fault_no_memory(f);
	memset(s, 0, sizeof(*s));
	s->dir = s->lock = -1;
	s->read_only = o->read_only;
	s->limit = o->limit ? o->limit : STORE_LIMIT;
	s->segment_bytes = o->segment_bytes;
	if (!s->segment_bytes) {
		s->segment_bytes = s->limit / 16;
		if (s->segment_bytes < SEGMENT_MIN)
			s->segment_bytes = SEGMENT_MIN;
		if (s->segment_bytes > SEGMENT_MAX)
			s->segment_bytes = SEGMENT_MAX;
	}
	s->segment_bytes &= ~(uint64_t)4095;
	rc = open_dir(s, o->dir, f);
	if (rc < 0) {
		store_close(s);
		return rc;
	}
	open_new(s);
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n; i++)
		segment_close(&s->segments[i]);
	if (s->lock >= 0)
		close(s->lock);
	if (s->dir >= 0)
		close(s->dir);
	mem_free(s);
}

const struct secret *store_secret(const struct store *s)
{
	return &s->secret;
}

/* ---- finding ------------------------------------------------------------------------------ */

static void count(uint64_t *what, uint64_t n)
{
	__atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}

int store_find(struct store *s, struct hash128 key, struct buf *out)
{
	uint32_t n = __atomic_load_n(&s->n, __ATOMIC_ACQUIRE);
	size_t before = out->n;
	bool damaged = false;

	while (n--) {
		int rc = segment_find(&s->segments[n], key, out);

		if (rc > 0) {
			count(&s->counts.found, 1);
			count(&s->counts.bytes_found, out->n - before);
			return rc;
		}
		if (rc == E_NO_MEMORY)
			return rc;
		damaged |= rc == E_DAMAGED;
	}
	count(damaged ? &s->counts.damaged : &s->counts.missed, 1);
	return damaged ? E_DAMAGED : E_NOT_FOUND;
}

void store_counts(const struct store *s, struct store_counts *out)
{
	const uint64_t *from = (const uint64_t *)&s->counts;
	uint64_t *to = (uint64_t *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* ---- adding ------------------------------------------------------------------------------- */

int store_lock(struct store *s)
{
	if (s->read_only)
		return E_LIMIT;
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		return E_LIMIT;
	open_new(s);
	return 0;
}

void store_unlock(struct store *s)
{
	flock(s->lock, LOCK_UN);
}

/* Removes the oldest files until records and `more` fit into the limit. */
static int make_space(const struct store *s, uint64_t limit, uint64_t more)
{
	uint32_t numbers[STORE_SEGMENTS_MAX];
	uint64_t used[STORE_SEGMENTS_MAX], sum = more;
	size_t n = list_segments(s, numbers);
	char name[SEG_NAME];
	int gone = 0;

	for (size_t i = 0; i < n; i++) {
		struct segment g;

		used[i] = s->segment_bytes;
		if (segment_open(s->dir, numbers[i], true, &g) >= 0) {
			used[i] = segment_used(&g);
			segment_close(&g);
		}
		sum += used[i];
	}
	for (size_t i = 0; i < n && (sum > limit || n - i >= STORE_SEGMENTS_MAX); i++) {
		segment_name(numbers[i], name);
		if (unlinkat(s->dir, name, 0) == 0)
			gone++;
		sum -= used[i];
	}
	return gone;
}

static int add_segment(struct store *s)
{
	uint32_t numbers[STORE_SEGMENTS_MAX];
	size_t n;

	if (s->n == STORE_SEGMENTS_MAX)
		return E_LIMIT;
	make_space(s, s->limit, s->segment_bytes);
	n = list_segments(s, numbers);
	if (segment_make(s->dir, n ? numbers[n - 1] + 1 : 1, s->segment_bytes) < 0)
		return E_IO;
	n = s->n;
	open_new(s);
	return s->n > n ? 0 : E_IO;
}

int store_add(struct store *s, struct hash128 key, enum record_kind kind, struct slice contents)
{
	int rc = s->n ? segment_add(&s->segments[s->n - 1], key, kind, contents) : E_LIMIT;

	if ((rc == E_LIMIT || rc == E_DAMAGED) &&
	    contents.n < s->segment_bytes / 2) { /* it is full, or somebody has cut it short */
		rc = add_segment(s);
		if (rc >= 0)
			rc = segment_add(&s->segments[s->n - 1], key, kind, contents);
	}
	count(rc < 0 ? &s->counts.dropped : &s->counts.added, 1);
	if (rc >= 0)
		count(&s->counts.bytes_added, contents.n);
	return rc;
}

/* ---- the command line --------------------------------------------------------------------- */

static int walk_segment(const struct segment *g, store_each *f, void *ctx, uint64_t *damaged)
{
	uint64_t at = segment_data_at(g), end = segment_used(g);
	struct buf contents = { 0 };
	bool bad = false;
	int rc = 0;

	while (at < end && rc >= 0) {
		struct record_head head;
		struct store_record r = { .segment = g->number, .at = at };

		buf_clear(&contents);
		rc = segment_read(g, at, &head, &contents);
		if (rc ==
		    E_DAMAGED) { /* on to the next that is sound: each begins at a multiple of 8 */
			*damaged += !bad;
			bad = true;
			at += 8;
			rc = 0;
			continue;
		}
		if (rc < 0)
			break;
		bad = false;
		r.key = head.key;
		r.kind = (uint8_t)head.kind;
		r.live = segment_leads_to(g, head.key, at);
		r.contents = buf_slice(&contents);
		rc = f(ctx, &r);
		at += (head.n + 7) & ~7u;
	}
	buf_release(&contents);
	return rc;
}

int store_walk(struct store *s, store_each *f, void *ctx, uint64_t *damaged)
{
	int rc = 0;

	*damaged = s->counts.damaged; /* files that could not be opened */
	for (uint32_t i = 0; i < s->n && rc >= 0; i++)
		rc = walk_segment(&s->segments[i], f, ctx, damaged);
	return rc;
}

size_t store_segments(const struct store *s, struct store_segment *out, size_t cap)
{
	uint32_t numbers[STORE_SEGMENTS_MAX];
	size_t n = list_segments(s, numbers);

	for (size_t i = 0; i < n && i < cap; i++) {
		struct segment g;

		out[i] = (struct store_segment){ .number = numbers[i] };
		segment_name(numbers[i], out[i].name);
		if (segment_open(s->dir, numbers[i], true, &g) < 0)
			continue;
		out[i].sound = true;
		out[i].size = g.size;
		out[i].used = segment_used(&g) - segment_data_at(&g);
		out[i].slots = g.n_slots;
		out[i].slots_used = segment_slots_used(&g);
		segment_close(&g);
	}
	return n;
}

int store_prune(struct store *s, uint64_t to)
{
	int rc = store_lock(s);

	if (rc < 0)
		return rc;
	rc = make_space(s, to, 0);
	store_unlock(s);
	return rc;
}
