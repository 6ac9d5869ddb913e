/* SPDX-License-Identifier: Apache-2.0 */
/* apps.h - the file of applications: which ones are meant (docs/run.md has the grammar).
 *
 *	attach main com.shop.Main   rules /etc/sonde/shop.rules
 *	attach jar shop*.jar  user shop  dir /srv/shop
 *	skip all
 *
 * The first line that fits decides; when none does, the application is not meant.  Wrong lines
 * are passed over: a program must start.  Pure; any thread. */
#ifndef JVM_APPS_H
#define JVM_APPS_H

#include "base/arena.h"
#include "jvm/launch.h"
#include "rule/pattern.h"

enum { APPS_TEXT_MAX = 1 << 20 };

struct apps_line {
	uint32_t number; /* from 1 */
	bool attach;	 /* else: skip */
	bool all;
	bool has_main, has_jar, has_user, has_dir;
	struct pattern main, jar, dir;
	bool dir_itself;    /* dir ends with two stars: the directory above them is meant, too */
	struct slice user;  /* a name or a number */
	struct slice rules; /* a file, or "" */
};

struct apps_trouble {
	const char *text, *hint; /* hint may be NULL */
	struct slice line;	 /* the whole line, without its end */
	struct slice word;	 /* the part of it that is wrong */
	bool unknown;		 /* word is none of apps_words */
};

/* What can stand in a line: words with NULs between them, and two at the end. */
extern const char apps_words[];

/* Reads a text line by line.  Lines live in mem until the caller resets it. */
struct apps_reader {
	struct slice left;
	uint32_t number;
	struct arena *mem;
};

/* 1: a line; 0: the end; E_SYNTAX: a wrong line, with *trouble (go on with the next);
 * E_NO_MEMORY. */
int apps_next(struct apps_reader *r, struct apps_line *out, struct apps_trouble *trouble);

/* Who asks. */
struct apps_program {
	const struct launch *launch;
	struct slice dir; /* its working directory, absolute */
	/* Does it run as this user (a name, or a number)?  Asked only when a line wants to know. */
	bool (*is_user)(void *ctx, struct slice user);
	void *ctx;
};

bool apps_fits(const struct apps_line *line, const struct apps_program *program);

/* Is the program meant?  *rules becomes the file that its line names, a view of text, or "". */
bool apps_mean(struct slice text, const struct apps_program *program, struct slice *rules);

#endif
