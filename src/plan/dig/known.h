/* SPDX-License-Identifier: Apache-2.0 */
/* known.h - what is known of one application from before: the findings of dig, and how long its
 * methods usually take.
 *
 * Kept as a text of lines; what a later version has added is passed over.  Findings and runs are
 * bounded, the oldest go first.  All memory is the arena's; out of memory is sticky, in known.err.
 * Knows no files and no clock.  One thread. */
#ifndef PLAN_KNOWN_H
#define PLAN_KNOWN_H

#include "base/arena.h"
#include "base/buf.h"

enum {
	KNOWN_FINDINGS = 8,
	KNOWN_RUNS = 8,	     /* of a method */
	KNOWN_METHODS = 200, /* with a past */
	KNOWN_LEAST = 3,     /* runs before they are something to go by */
	KNOWN_CALLS = 10,    /* a run of fewer calls is none */
	KNOWN_CALLS_NOW = 3, /* ... but so many can break with the past */
};

struct known_finding {
	uint64_t when;	    /* seconds since 1970 */
	struct slice text;  /* one line for people */
	struct slice rules; /* one a line */
	struct known_finding *next;
};

struct known_run { /* a method as it was once measured; times in ns */
	uint64_t when;
	double calls, mean, p50, p99;
};

struct known_past {
	struct slice method; /* pkg.Class.name(desc) */
	struct known_run runs[KNOWN_RUNS];
	unsigned n; /* oldest first */
	struct known_past *next;
};

struct known {
	struct arena mem;
	struct slice app;
	struct known_finding *findings; /* oldest first */
	struct known_past *past;	/* newest first */
	unsigned n_findings, n_past;
	int err;
};

void known_init(struct known *k, struct slice app);
void known_release(struct known *k);

struct slice known_app_of(struct slice text); /* whom a text is about; empty: it is no such text */
/* Adds what a text says.  0, or E_SYNTAX: it is no such text, or about another application. */
int known_read(struct known *k, struct slice text);
void known_print(const struct known *k, struct buf *out);
/* The rules of all findings, each once; older findings first, so that newer ones decide. */
void known_print_rules(const struct known *k, struct buf *out);

/* In place of an earlier one with the same rules.  All is copied; rules that may not be kept
 * (rule/kept.h) are left out. */
void known_add_finding(struct known *k, const struct known_finding *f);
/* In place of the last one when that is not older than `span` seconds before it. */
void known_set_run(struct known *k, struct slice method, const struct known_run *run,
		   uint64_t span);

const struct known_past *known_past_of(const struct known *k, struct slice method);

/* What a call usually took, ns; 0 when there are too few runs to go by. */
double known_usual(const struct known_past *p);
/* It takes much longer than ever before: a method that breaks with its own past.  p may be NULL. */
bool known_is_broken(const struct known_past *p, const struct known_run *now);

#endif
