/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the parts of "sonde run": only its own files include this. */
#ifndef CLI_RUN_RUN_H
#define CLI_RUN_RUN_H

#include <stdio.h>
#include <sys/types.h>

#include "cli/screen/cli.h"
#include "rule/rules.h"

/* Appends a whole file of at most max bytes.  0, or E_IO with errno set, E_LIMIT, E_NO_MEMORY. */
int run_read_file(const char *path, size_t max, struct buf *out);

/* --check-apps: tells on stdout what is wrong with a file of applications.  An exit status. */
int run_check_apps(const char *path, bool json);

/* What the agent and the started program need on disk, for nobody else to read. */
struct run_place {
	char dir[200];	  /* "": not made */
	char rules[240];  /* file of rules in it, "": none */
	char report[240]; /* agents add ".PID" to this */
};

int run_place_make(struct run_place *place); /* CLI_DONE or CLI_CANNOT */
/* Writes all rules into place->rules, as one text that can be read from any directory. */
int run_place_rules(struct run_place *place, struct rules *rules);
void run_place_remove(struct run_place *place);

/* Prints what the agents of the program left in place->report.*; CLI_DONE, or CLI_CANNOT. */
int run_report(const struct run_place *place, bool json, FILE *to);

/* Runs argv with our environment and streams until it ends; hands signals on to it that were
 * meant for it.  Gives its exit status, 128 + n when signal n ended it; CLI_CANNOT with a message
 * when it could not be started. */
int run_child(char **argv);

#endif
