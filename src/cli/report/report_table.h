/* SPDX-License-Identifier: Apache-2.0 */
/* report_table.h - the figures of methods as a table for people: of a program that runs, of a
 * recording, and of one that has ended. */
#ifndef CLI_REPORT_REPORT_TABLE_H
#define CLI_REPORT_REPORT_TABLE_H

#include <sys/types.h>

#include "cli/report/report_rows.h"

struct bare;

struct report_table {
	uint64_t top;	/* so many methods; 0: all */
	bool all;	/* also those that were not called */
	bool wide;	/* all columns, all of each name */
	bool utf8;	/* the terminal shows it */
	bool sequences; /* of method types, too */
	bool has_costs; /* the report is compensated */
	bool exact;	/* figures were measured while hooks are closed: no use to propose it */
	pid_t pid;	/* of the program, if it runs: its vitals are shown */
	unsigned width; /* of the terminal */
	unsigned rows;	/* ... and its height; 0: there is no limit */
	const struct bare *bare; /* NULL: it was not asked for */
	bool all_by;		 /* there is --all, to show methods that were not called */
};

/* The report has been compensated and sorted. */
void report_table_print(const struct report_table *how, const struct report *r, struct buf *out);

#endif
