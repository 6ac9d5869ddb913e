/* SPDX-License-Identifier: Apache-2.0 */
/* menu.c - the nearest name is suggested for one that is not there. */
#include "cli/screen/menu.h"

#include <stdio.h>

enum { NAME_MAX_LEN = 32 };

/* How many letters have to be put in, taken out or changed to get from a to b. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LEN + 1];
	size_t n = strlen(b);

	if (n > NAME_MAX_LEN || strlen(a) > NAME_MAX_LEN)
		return 2 * NAME_MAX_LEN;
	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			unsigned best = corner + (*a != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

static const struct command *find(const struct command_table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->commands[i].name, name) == 0)
			return &table->commands[i];
	return NULL;
}

static const struct command *nearest(const struct command_table *table, const char *name)
{
	const struct command *best = NULL;
	unsigned least = (unsigned)strlen(name) / 2 + 1; /* else it is another word */

	for (size_t i = 0; i < table->n; i++) {
		unsigned d = distance(name, table->commands[i].name);

		if (d < least || (d == least && !best)) {
			least = d;
			best = &table->commands[i];
		}
	}
	return best;
}

static void print_help(const struct command_table *table, FILE *to)
{
	fputs(table->head, to);
	fputs("\nCommands:\n", to);
	for (size_t i = 0; i < table->n; i++)
		fprintf(to, "  %-10s %s\n", table->commands[i].name, table->commands[i].help);
	fputs(table->tail, to);
}

static int unknown(const struct command_table *table, const char *name)
{
	const struct command *near = nearest(table, name);

	if (near)
		return cli_usage(table->name, "no command '%s'; did you mean '%s'?", name,
				 near->name);
	return cli_usage(table->name, "no command '%s'", name);
}

int menu_run(const struct command_table *table, int argc, char **argv)
{
	const struct command *command;
	char name[100], option[] = "--help";

	if (argc < 2) {
		print_help(table, stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (strcmp(argv[1], "help") == 0 && argc == 2)) {
		print_help(table, stdout);
		return CLI_DONE;
	}
	if (strcmp(argv[1], "help") == 0) { /* "help CMD" is "CMD --help" */
		argv[1] = argv[2];
		argv[2] = option;
		argc = 3;
	}
	if (argv[1][0] == '-')
		return cli_usage(table->name, "no option '%s'", argv[1]);
	command = find(table, argv[1]);
	if (!command)
		return unknown(table, argv[1]);
	snprintf(name, sizeof(name), "%s %s", table->name, command->name);
	argv[1] = name;
	if (command->group)
		return menu_run(command->group, argc - 1, argv + 1);
	return (command->verb ? command->verb->run : command->run)(argc - 1, argv + 1);
}
