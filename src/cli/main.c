/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sonde, the command line: finds the command and runs it.  The only place that exits. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>

#define X(name, help) int cmd_##name(int argc, char **argv);
#include "cli/commands.def"
#undef X

static const struct command commands[] = {
#define X(name, help) { #name, help, cmd_##name },
#include "cli/commands.def"
#undef X
};

static const struct command_table table = {
	.name = "sonde",
	.head = "sonde - looks into running programs, and changes what it finds there\n"
		"\n"
		"usage: sonde COMMAND [OPTION]... [ARGUMENT]...\n"
		"       sonde COMMAND --help\n"
		"       sonde --version\n",
	.tail = "\n"
		"Exit status: 0 done, 1 the answer is \"no\", 2 wrong usage, 3 could not.\n",
	.commands = commands,
	.n = COUNT(commands),
};

int main(int argc, char **argv)
{
	int status;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("sonde " SONDE_VERSION);
		status = CLI_DONE;
	} else {
		status = command_run(&table, argc, argv);
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		status = cli_cannot("could not write the output: %s", strerror(errno));
	return status;
}
