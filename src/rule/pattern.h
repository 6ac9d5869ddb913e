/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - name patterns: `*` within one segment, `**` over segments, `?` one character.
 *
 * A pattern is compiled once and is then read-only; it lives in the arena it was compiled
 * into.  Matching allocates nothing and takes time proportional to name times pattern at
 * worst, whatever the name looks like. */
#ifndef RULE_PATTERN_H
#define RULE_PATTERN_H

#include "base/arena.h"
#include "base/err.h"

enum { PATTERN_MAX = 512 }; /* bytes of a pattern's text */

enum pattern_kind {
	PATTERN_CLASS,	/* segments end at '.' or '/'; matched against a/b/C */
	PATTERN_METHOD, /* one segment */
};

struct pattern {
	struct slice text;    /* as printed: classes with dots */
	struct slice literal; /* the bytes before the first wildcard, in internal form */
	struct slice tail;    /* the bytes behind the last one */
	bool exact;	      /* no wildcard: literal is all */
	bool open;	      /* literal and then one `*` or `**`, nothing else */
	bool deep;	      /* with open: it was `**` */
	const uint16_t *ops;  /* otherwise: a program, see pattern.c */
	size_t op_count;
};

struct pattern_trouble {
	const char *text, *hint; /* hint may be NULL */
	size_t offset;		 /* in the pattern's text */
};

/* 0, E_SYNTAX with *trouble, or E_NO_MEMORY. */
int pattern_compile(struct arena *mem, struct slice text, enum pattern_kind kind,
		    struct pattern *out, struct pattern_trouble *trouble);

bool pattern_match(const struct pattern *p, struct slice name);

/* How much of `literal` every matching name shares up to and with its last '/'; all of it
 * when the pattern is exact.  The key of the index over rules. */
struct slice pattern_key(const struct pattern *p);

#endif
