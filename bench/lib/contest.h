/* SPDX-License-Identifier: Apache-2.0 */
/* contest.h - the C side of a contestant that bench/lib/drive.c drives.
 *
 *	contestant CORPUS MODE [MIN MAX]
 *
 * reads the corpus ([u4 length][bytes]...; with MIN and MAX only the classes of MIN <= length <
 * MAX) into memory, says "ready CLASSES BYTES", and then answers each line of its input:
 *
 *	round MS	-> "NS BYTES CLASSES": whole passes over the corpus until MS are over
 *	dump FILE	-> "done": the result of one pass, as a corpus
 *
 * Contestant.java is the same for Java. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "base/buf.h"
#include "base/mem.h"
#include "base/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct contest_mode {
	const char *name;
	int (*change)(void *self, struct slice in, struct buf *out); /* appends to out; < 0: E_* */
};

struct corpus {
	uint8_t *bytes;
	struct slice *classes;
	size_t n;
	uint64_t total; /* bytes of all classes */
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline bool corpus_add(struct corpus *c, struct slice s)
{
	if ((c->n & (c->n - 1)) == 0) {
		size_t cap = c->n ? 2 * c->n : 1;
		struct slice *v = mem_realloc(c->classes, cap * sizeof(*v));

		if (!v)
			return false;
		c->classes = v;
	}
	c->classes[c->n++] = s;
	c->total += s.n;
	return true;
}

/* Prints why not. */
static inline bool corpus_read(struct corpus *c, const char *path, size_t min, size_t max)
{
	FILE *f = fopen(path, "rb");
	struct reader r;
	long n;

	*c = (struct corpus){ 0 };
	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
		perror(path);
		return false;
	}
	c->bytes = mem_alloc((size_t)n + 1);
	if (!c->bytes || fread(c->bytes, 1, (size_t)n, f) != (size_t)n) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return false;
	}
	fclose(f);
	r = rd_init((struct slice){ c->bytes, (size_t)n });
	while (rd_left(&r) > 0) {
		struct slice s = rd_bytes(&r, rd_u32(&r));

		if (!r.err && s.n >= min && s.n < max && !corpus_add(c, s))
			return false;
	}
	if (r.err)
		fprintf(stderr, "%s: not a corpus\n", path);
	return !r.err;
}

static inline void corpus_release(struct corpus *c)
{
	mem_free(c->classes);
	mem_free(c->bytes);
}

struct contest {
	const struct contest_mode *mode;
	void *self;
	struct corpus corpus;
	struct buf out;
};

static inline bool contest_change(struct contest *c, struct slice in)
{
	int rc = c->mode->change(c->self, in, &c->out);

	if (rc >= 0)
		rc = c->out.err;
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", c->mode->name, err_text(rc));
	return rc >= 0;
}

static inline bool contest_round(struct contest *c, uint64_t ms)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), ns, passes = 0;

	do {
		for (size_t i = 0; i < c->corpus.n; i++) {
			buf_clear(&c->out);
			if (!contest_change(c, c->corpus.classes[i]))
				return false;
		}
		passes++;
		ns = clock_ns(CLOCK_MONOTONIC) - start;
	} while (ns < ms * 1000000);
	printf("%llu %llu %llu\n", (unsigned long long)ns,
	       (unsigned long long)(passes * c->corpus.total),
	       (unsigned long long)(passes * c->corpus.n));
	return true;
}

static inline bool contest_dump(struct contest *c, const char *path)
{
	FILE *f = fopen(path, "wb");
	uint8_t length[4];
	bool ok = f != NULL;

	for (size_t i = 0; ok && i < c->corpus.n; i++) {
		buf_clear(&c->out);
		ok = contest_change(c, c->corpus.classes[i]);
		put_u32(length, (uint32_t)c->out.n);
		ok = ok && fwrite(length, 1, 4, f) == 4 &&
		     fwrite(c->out.p, 1, c->out.n, f) == c->out.n;
	}
	if (!f || fclose(f))
		ok = false;
	if (ok)
		puts("done");
	return ok;
}

/* The whole of main: `self` is handed to the mode's function. */
static inline int contest_main(int argc, char **argv, const struct contest_mode *modes, void *self)
{
	struct contest c = { .mode = modes, .self = self };
	bool ok = true;
	char line[4096];

	while (argc > 2 && c.mode->name && strcmp(c.mode->name, argv[2]))
		c.mode++;
	if ((argc != 3 && argc != 5) || !c.mode->name) {
		fprintf(stderr, "usage: %s CORPUS MODE [MIN MAX]\n", argv[0]);
		return 2;
	}
	if (!corpus_read(&c.corpus, argv[1], argc > 3 ? strtoul(argv[3], NULL, 10) : 0,
			 argc > 3 ? strtoul(argv[4], NULL, 10) : SIZE_MAX))
		return 3;
	printf("ready %zu %llu\n", c.corpus.n, (unsigned long long)c.corpus.total);
	fflush(stdout);
	while (ok && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "round ", 6) == 0)
			ok = contest_round(&c, strtoull(line + 6, NULL, 10));
		else if (strncmp(line, "dump ", 5) == 0)
			ok = contest_dump(&c, line + 5);
		else
			ok = false;
		fflush(stdout);
	}
	buf_release(&c.out);
	corpus_release(&c.corpus);
	return ok ? 0 : 3;
}

#endif
