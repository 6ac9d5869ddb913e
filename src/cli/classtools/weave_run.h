/* SPDX-License-Identifier: Apache-2.0 */
/* weave_run.h - weaves a set of classes with several threads.
 *
 * Threads take one class after the other and write it to its place; what they have to tell is
 * kept by class, so that everything told comes in the order of the sources. */
#ifndef CLI_CLASSTOOLS_WEAVE_RUN_H
#define CLI_CLASSTOOLS_WEAVE_RUN_H

#include "cli/classtools/weave_cache.h"
#include "cli/classtools/weave_set.h"
#include "weave/weave.h"

enum { WEAVE_JOBS_MAX = 256 };

enum finding_kind {
	FIND_REFUSED, /* the class was left as it was */
	FIND_LEFT,    /* a method was */
	FIND_CHECK,   /* the woven class does not pass our own checker */
	FIND_WOVEN,   /* a method was woven */
};

struct weave_finding {
	struct weave_finding *next; /* of the same class */
	enum finding_kind kind;
	struct slice method; /* "name(desc)ret"; .n 0: the class */
	int32_t id;
	struct fault fault; /* why; FIND_WOVEN: .text is the name of the template */
};

struct weave_counts {
	uint64_t classes, classes_woven, classes_untouched;
	uint64_t methods, methods_woven;
	uint64_t refused[ERR_COUNT]; /* classes, by reason */
	uint64_t left[ERR_COUNT];    /* methods, by reason */
	uint64_t checked, disagreements;
	uint64_t bytes, bytes_woven; /* of the woven classes: before, after */
	uint64_t ns;		     /* of weaving, all threads together */
};

struct weave_run {
	const struct weave_set *set;
	const struct weaver *weaver;
	const char *out_dir;	   /* NULL: nothing is written */
	struct weave_cache *cache; /* not NULL: classes go into it, nothing else is written */
	bool check, only_woven;
	bool tell_left, tell_woven; /* keep FIND_LEFT and FIND_WOVEN */
	unsigned jobs;
	/* results */
	struct weave_counts n;
	uint64_t *by_rule;		 /* [rules->n] methods that each rule decided for */
	struct weave_finding **findings; /* [set->n] by class */
	struct fault failed;		 /* .code < 0: what ended the run early */
	/* private part */
	struct weave_worker *workers;
	size_t next; /* class to be taken; atomic */
	bool stop;   /* atomic */
};

int weave_run(struct weave_run *r);
void weave_run_release(struct weave_run *r);

#endif
