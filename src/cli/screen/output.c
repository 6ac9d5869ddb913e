/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - stdout and stderr as streams that filter what is written.
 *
 * They are streams of glibc's with a write function of our own.  A character whose bytes come in
 * two writes is held until the second. */
#define _GNU_SOURCE /* fopencookie */
#include "cli/screen/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/visible.h"
#include "cli/screen/private.h"
#include "cli/screen/term.h"

struct gate {
	int fd;
	unsigned how;
	uint8_t held[4]; /* the first bytes of a character */
	size_t n_held;
};

static struct gate gates[2]; /* of stdout and stderr */

static bool write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

/* Writes bytes in `all`, which are whole characters as far as they are any. */
static bool write_visible(struct gate *g, struct slice all)
{
	struct buf out = { 0 };
	bool good;

	visible_put(&out, all, g->how);
	if (out.err)
		errno = ENOMEM;
	good = !out.err && write_all(g->fd, out.p, out.n);
	buf_release(&out);
	return good;
}

/* All or nothing: 0 tells the stream that it failed. */
static ssize_t gate_write(void *cookie, const char *p, size_t n)
{
	struct gate *g = cookie;
	struct slice all = { (const uint8_t *)p, n };
	struct buf joined = { 0 };
	size_t rest;
	bool good = true;

	if (g->n_held) {
		buf_bytes(&joined, g->held, g->n_held);
		buf_put(&joined, all);
		good = !joined.err;
		all = buf_slice(&joined);
	}
	if (good) {
		rest = visible_unfinished(all);
		memcpy(g->held, all.p + all.n - rest, rest);
		g->n_held = rest;
		good = write_visible(g, (struct slice){ all.p, all.n - rest });
	} else {
		errno = ENOMEM;
	}
	buf_release(&joined);
	return good ? (ssize_t)n : 0;
}

/* What is held is no character after all. */
static bool gate_drain(struct gate *g)
{
	size_t n = g->n_held;

	g->n_held = 0;
	return write_visible(g, (struct slice){ g->held, n });
}

static int gate_close(void *cookie)
{
	struct gate *g = cookie;
	bool good = gate_drain(g);

	if (close(g->fd) != 0)
		good = false;
	mem_free(g);
	return good ? 0 : EOF;
}

static FILE *gated(struct gate *g, int fd, int buffering)
{
	const cookie_io_functions_t io = { .write = gate_write };
	FILE *f;

	*g = (struct gate){ .fd = fd, .how = VISIBLE_LINES };
	/* To an old terminal half of the bytes of UTF-8 are control characters. */
	if (isatty(fd) && !term_utf8())
		g->how |= VISIBLE_ASCII;
	f = fopencookie(g, "w", io);
	if (f)
		setvbuf(f, NULL, buffering, BUFSIZ);
	return f;
}

bool output_begin(void)
{
	FILE *out = gated(&gates[0], STDOUT_FILENO, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
	FILE *err = gated(&gates[1], STDERR_FILENO, _IONBF);

	if (!out || !err)
		return false;
	stdout = out;
	stderr = err;
	return true;
}

bool output_end(void)
{
	bool good = fflush(stdout) == 0 && !ferror(stdout);

	fflush(stderr);
	gate_drain(&gates[1]);
	return gate_drain(&gates[0]) && good;
}

FILE *output_file(const char *path)
{
	const cookie_io_functions_t io = { .write = gate_write, .close = gate_close };
	int fd = private_open(path);
	struct gate *g = fd >= 0 ? mem_alloc(sizeof(*g)) : NULL;
	FILE *f;

	if (!g)
		goto failed;
	*g = (struct gate){ .fd = fd, .how = VISIBLE_LINES };
	f = fopencookie(g, "w", io);
	if (f)
		return f;
failed:
	mem_free(g);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* ---- colours ---- */

static bool has_colours(int fd)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
	int why = errno; /* of what the line is going to say */
	bool is_terminal = isatty(fd);

	errno = why;
	return is_terminal && term && *term && strcmp(term, "dumb") != 0 && !(none && *none);
}

void output_colour(FILE *f, enum output_colour which)
{
	static const char *const codes[] = { "\033[0m", "\033[1;31m", "\033[1m" };
	int fd = f == stderr ? STDERR_FILENO : STDOUT_FILENO;

	if (!has_colours(fd))
		return;
	fflush(f);
	(void)write_all(fd, (const uint8_t *)codes[which], strlen(codes[which]));
}

/* Of "Cause: x" the bytes up to the colon, with it; 0: it begins otherwise. */
static size_t label(struct slice line)
{
	size_t at = 0;

	while (at < line.n && (line.p[at] | 32) >= 'a' && (line.p[at] | 32) <= 'z')
		at++;
	return at && at + 1 < line.n && line.p[at] == ':' && line.p[at + 1] == ' ' ? at + 1 : 0;
}

void output_answer(struct buf *text)
{
	struct slice rest = buf_slice(text);

	if (text->err || !has_colours(STDOUT_FILENO))
		return;
	while (rest.n) {
		const uint8_t *end = memchr(rest.p, '\n', rest.n);
		struct slice line = { rest.p, end ? (size_t)(end - rest.p) + 1 : rest.n };
		size_t strong = label(line);

		if (strong) {
			output_colour(stdout, OUTPUT_STRONG);
			fwrite(line.p, 1, strong, stdout);
			output_colour(stdout, OUTPUT_PLAIN);
		}
		fwrite(line.p + strong, 1, line.n - strong, stdout);
		rest = (struct slice){ rest.p + line.n, rest.n - line.n };
	}
	buf_clear(text);
}

/* ---- a line that is written over ---- */

void output_status(struct slice line)
{
	struct buf out = { 0 };

	buf_text(&out, "\r");
	visible_put(&out, line, gates[1].how & VISIBLE_ASCII);
	buf_text(&out, line.n ? " \033[K" : "\033[K");
	fflush(stderr);
	if (!out.err)
		(void)write_all(STDERR_FILENO, out.p, out.n);
	buf_release(&out);
}
