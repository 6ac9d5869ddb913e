/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sonde, the command line: finds the command and runs it.  The only place that exits. */
#include "cli/screen/cli.h"

#include <errno.h>
#include <stdio.h>

#include "cli/screen/output.h"
#include "cli/verbs.h"

int main(int argc, char **argv)
{
	int status;

	if (!output_begin())
		return CLI_CANNOT;
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("sonde " SONDE_VERSION);
		status = CLI_DONE;
	} else {
		status = menu_run(&verbs, argc, argv);
	}
	if (!output_end())
		status = cli_cannot("could not write the output: %s", strerror(errno));
	return status;
}
