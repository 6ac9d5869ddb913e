/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - which files there are, by their names; reading those of a span, writing one more. */
#define _GNU_SOURCE /* O_NOFOLLOW, timegm */
#include "cli/hot/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/plural.h"
#include "base/whole.h"
#include "cli/hot/when.h"
#include "cli/screen/cli.h"

enum { NAME = 40, FILES_MAX = 1 << 20, MS = 1000000 };
#define SECOND UINT64_C(1000000000)

static const char half[] = "next.part";

/* ---- names --------------------------------------------------------------------------------- */

struct entry {
	char name[NAME];
	uint64_t began_ns, bytes;
};

struct entries {
	struct entry *v;
	size_t n, cap;
};

static void put_name(char name[NAME], uint64_t ns)
{
	time_t seconds = (time_t)(ns / SECOND);
	struct tm t;
	char text[24] = "";

	if (gmtime_r(&seconds, &t))
		strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &t);
	snprintf(name, NAME, "%s.%03uZ.samples", text, (unsigned)(ns % SECOND / MS));
}

static bool read_name(const char *name, uint64_t *ns)
{
	struct tm t = { 0 };
	const char *end = strptime(name, "%Y%m%dT%H%M%S", &t);
	unsigned ms;
	char again[NAME];
	time_t seconds = end ? timegm(&t) : -1;

	if (seconds < 0 || sscanf(end, ".%3uZ", &ms) != 1)
		return false;
	*ns = (uint64_t)seconds * SECOND + (uint64_t)ms * MS;
	put_name(again, *ns);
	return strcmp(again, name) == 0;
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->began_ns > y->began_ns) - (x->began_ns < y->began_ns);
}

static bool add_entry(struct entries *all, int dir, const char *name)
{
	struct entry *more;
	struct stat st;
	uint64_t began;

	if (!read_name(name, &began) || all->n >= FILES_MAX ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
		return true;
	if (all->n == all->cap) {
		all->cap = all->cap ? 2 * all->cap : 256;
		more = mem_realloc(all->v, all->cap * sizeof(*more));
		if (!more)
			return false;
		all->v = more;
	}
	all->v[all->n] = (struct entry){ .began_ns = began, .bytes = (uint64_t)st.st_size };
	put_name(all->v[all->n++].name, began);
	return true;
}

/* The oldest first.  0, or an errno; the entries are to be given back in any case. */
static int list(int dir, struct entries *all)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int err = d ? 0 : errno;

	*all = (struct entries){ 0 };
	while (d && !err && (e = readdir(d)))
		err = add_entry(all, dir, e->d_name) ? 0 : ENOMEM;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_time);
	return err;
}

bool history_is(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- reading ------------------------------------------------------------------------------- */

static bool read_file(int dir, const char *name, struct buf *out)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = 1;
	uint8_t *p;

	buf_clear(out);
	while (fd >= 0 && n > 0 && out->n <= STRETCH_MAX + 64 && (p = buf_room(out, 1 << 16))) {
		n = read(fd, p, 1 << 16);
		out->n += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0 && n == 0 && !out->err;
}

static bool is_in(const struct stretch_facts *f, const struct history_span *span)
{
	uint64_t from = f->began_ns, to = whole_add(from, f->wall_ns), both_from, both_to;

	both_from = from > span->from ? from : span->from;
	both_to = to < span->to ? to : span->to;
	if (both_from >= both_to)
		return false;
	return both_to - both_from >= (to - from) / 2 ||
	       both_to - both_from == span->to - span->from;
}

static void take_state(struct sampled *s, const struct stretch_facts *f)
{
	struct wire_stacks_state *m = &s->state;

	s->samples += f->samples;
	s->left_out += f->left_out;
	for (unsigned i = 0; i < WALK_ENDS && i < STRETCH_SUMS; i++)
		s->ends[i] += f->ends[i];
	for (unsigned i = 0; i < STACK_STATES && i < STRETCH_SUMS; i++)
		s->states[i] += f->states[i];
	m->wall_ns += f->wall_ns;
	m->cpu_ns += f->cpu_ns;
	m->own_ns += f->own_ns;
	m->lost += f->lost;
	m->period_ns = f->period_ns;
	m->threads = f->threads > m->threads ? f->threads : m->threads;
	if (!slice_eq(m->engine, f->engine))
		m->engine = arena_dup(&s->mem, f->engine);
}

struct reading {
	struct sampled *s;
	const char *dir;
	int fd;
	const struct history_span *span;
	struct history_span seen;
	unsigned files, damaged, others;
	struct buf bytes;
};

static void say_damaged(struct reading *r, const char *name)
{
	if (!r->damaged++)
		fprintf(stderr, "sonde: %s/%s: damaged or cut off, and left out\n", r->dir, name);
}

/* CLI_DONE, or an exit status after a message. */
static int take_file(struct reading *r, const char *name)
{
	struct stretch_facts f;
	int rc;

	if (!read_file(r->fd, name, &r->bytes) ||
	    stretch_read(buf_slice(&r->bytes), &f, NULL) < 0) {
		say_damaged(r, name);
		return CLI_DONE;
	}
	if (!is_in(&f, r->span))
		return CLI_DONE;
	if (r->files && f.mode != r->s->mode) {
		r->others++;
		return CLI_DONE;
	}
	rc = stretch_read(buf_slice(&r->bytes), &f, &r->s->profile);
	if (rc == E_NO_MEMORY)
		return cli_no_memory();
	if (rc < 0)
		say_damaged(r, name);
	if (!r->files++) {
		r->seen.from = f.began_ns;
		r->s->mode = f.mode <= STACKS_LOCK ? f.mode : STACKS_CPU;
	}
	r->seen.to = f.began_ns + f.wall_ns;
	r->s->pid = (pid_t)f.pid;
	snprintf(r->s->name, sizeof(r->s->name), "%.*s", SLICE_FMT(f.name));
	take_state(r->s, &f);
	return CLI_DONE;
}

static void say_what(const struct reading *r)
{
	char from[WHEN_TEXT], to[WHEN_TEXT];

	if (r->damaged > 1)
		fprintf(stderr, "sonde: %s: %u file%s are damaged in all\n", r->dir, r->damaged,
			plural(r->damaged));
	if (r->others)
		fprintf(stderr, "sonde: %s: %u file%s of another kind (%s or not), and left out\n",
			r->dir, r->others, r->others == 1 ? " is" : "s are", "--wall");
	if (r->files)
		snprintf(r->s->when, sizeof(r->s->when), "%s to %s", when_text(from, r->seen.from),
			 when_text(to, r->seen.to));
}

static int open_dir(const char *dir, struct entries *all, int *fd)
{
	int err;

	*fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = *fd < 0 ? errno : list(*fd, all);
	if (!err)
		return CLI_DONE;
	if (*fd >= 0) {
		close(*fd);
		mem_free(all->v);
	}
	errno = err;
	return cli_cannot("%s: %m", dir);
}

int history_extent(const char *dir, struct history_span *out)
{
	struct entries all = { 0 };
	struct stretch_facts last = { 0 };
	struct buf bytes = { 0 };
	int fd, status = open_dir(dir, &all, &fd);

	if (status != CLI_DONE)
		return status;
	if (!all.n)
		status = cli_cannot("%s: no samples in there: 'sonde record -o %s' writes them",
				    dir, dir);
	else
		*out = (struct history_span){ all.v[0].began_ns, 0 };
	for (size_t i = all.n; i-- > 0 && !out->to;)
		if (read_file(fd, all.v[i].name, &bytes) &&
		    stretch_read(buf_slice(&bytes), &last, NULL) == 0)
			out->to = whole_add(last.began_ns, last.wall_ns);
	if (status == CLI_DONE && !out->to)
		status = cli_cannot("%s: all files are damaged", dir);
	close(fd);
	buf_release(&bytes);
	mem_free(all.v);
	return status;
}

int history_read(struct sampled *s, const char *dir, const struct history_span *span)
{
	struct reading r = { .s = s, .dir = dir, .span = span };
	struct entries all = { 0 };
	int status = open_dir(dir, &all, &r.fd);

	if (status != CLI_DONE)
		return status;
	for (size_t i = 0; i < all.n && status == CLI_DONE; i++)
		/* a file ends about where the next begins */
		if (all.v[i].began_ns < span->to &&
		    (i + 1 == all.n || all.v[i + 1].began_ns > span->from))
			status = take_file(&r, all.v[i].name);
	say_what(&r);
	if (status == CLI_DONE && !r.files) {
		char from[WHEN_TEXT], to[WHEN_TEXT];

		fprintf(stderr, "sonde: %s: nothing is there of %s to %s\n", dir,
			when_text(from, span->from), when_text(to, span->to));
		status = CLI_NO;
	}
	close(r.fd);
	buf_release(&r.bytes);
	mem_free(all.v);
	return status;
}

/* ---- writing ------------------------------------------------------------------------------- */

int history_begin(struct history *h, const char *dir)
{
	*h = (struct history){ .dir = dir, .fd = -1 };
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return cli_cannot("%s: %m", dir);
	h->fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (h->fd < 0)
		return cli_cannot("%s: %m", dir);
	if (flock(h->fd, LOCK_EX | LOCK_NB) != 0)
		return cli_cannot("%s: another sonde writes in there", dir);
	(void)unlinkat(h->fd, half, 0);
	return CLI_DONE;
}

void history_end(struct history *h)
{
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
}

static int write_all(int fd, struct slice bytes)
{
	while (bytes.n) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0)
			bytes = (struct slice){ bytes.p + n, bytes.n - (size_t)n };
	}
	return fdatasync(fd) != 0 ? errno : 0;
}

/* The oldest go until `more` bytes fit as well. */
static int trim(struct history *h, uint64_t most, uint64_t more)
{
	struct entries all;
	int err = list(h->fd, &all);
	size_t i = 0;

	h->bytes = more;
	for (size_t k = 0; k < all.n; k++)
		h->bytes += all.v[k].bytes;
	for (; !err && i < all.n && h->bytes > most; i++) {
		if (unlinkat(h->fd, all.v[i].name, 0) != 0 && errno != ENOENT)
			break;
		h->bytes -= all.v[i].bytes;
		h->dropped++;
	}
	h->files = all.n - i;
	mem_free(all.v);
	return err;
}

static int write_bytes(struct history *h, uint64_t began_ns, struct slice bytes)
{
	int fd, err;
	char name[NAME];

	(void)unlinkat(h->fd, half, 0);
	fd = openat(h->fd, half, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	err = write_all(fd, bytes);
	if (close(fd) != 0 && !err)
		err = errno;
	put_name(name, began_ns);
	if (!err && renameat(h->fd, half, h->fd, name) != 0)
		err = errno;
	if (err)
		(void)unlinkat(h->fd, half, 0);
	else
		h->files++;
	return err;
}

int history_write(struct history *h, const struct stretch_facts *facts, const struct profile *p,
		  uint64_t most)
{
	struct buf bytes = { 0 };
	int err;

	stretch_put(&bytes, facts, p);
	err = bytes.err ? ENOMEM : trim(h, most, bytes.n);
	if (!err)
		err = write_bytes(h, facts->began_ns, buf_slice(&bytes));
	buf_release(&bytes);
	return err;
}
