/* SPDX-License-Identifier: Apache-2.0 */
/* menu.h - tables of commands: finds the one that is meant, and runs it. */
#ifndef CLI_SCREEN_MENU_H
#define CLI_SCREEN_MENU_H

#include "cli/screen/verb.h"

struct command_table;

struct command { /* one of the three below */
	const char *name;
	const char *help; /* one line */
	int (*run)(int argc, char **argv);
	const struct verb *verb;
	const struct command_table *group;
};

struct command_table {
	const char *name; /* "sonde class" */
	const char *head; /* the first lines of its help */
	const char *tail; /* the last ones, or "" */
	const struct command *commands;
	size_t n;
};

/* Runs the command that argv[1] names, or prints help, or suggests the nearest name. */
int menu_run(const struct command_table *table, int argc, char **argv);

#endif
