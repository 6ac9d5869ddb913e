/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what the programs of the benches have in common: settings from the environment, a plan
 * in lines of fields between tabs, and a result in a file. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static inline bool plan_is_quick(void)
{
	const char *quick = getenv("BENCH_QUICK");

	return quick && strcmp(quick, "0") != 0;
}

static inline unsigned plan_setting(const char *name, unsigned otherwise, unsigned quick)
{
	const char *value = getenv(name);

	if (value)
		return (unsigned)strtoul(value, NULL, 10);
	return plan_is_quick() ? quick : otherwise;
}

/* The fields of a line, at most `max`; how many. */
static inline int plan_split(char *line, char **field, int max)
{
	int n = 0;

	while (n < max && (field[n] = strsep(&line, "\t")))
		n++;
	return n;
}

static inline bool plan_write(const char *path, const struct buf *b)
{
	FILE *f = b->err ? NULL : fopen(path, "wb");
	bool ok = f && fwrite(b->p, 1, b->n, f) == b->n;

	if (!f || fclose(f) || !ok)
		perror(path);
	return ok;
}

#endif
