/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_serve.c - "sonde serve": runs sonded, the manager, which lies beside sonde. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/screen/cli.h"
#include "cli/screen/verb.h"

int cmd_serve(int argc, char **argv);

const struct verb verb_serve = {
	.usage = "[-- OPTION...]",
	.about =
		"Runs sonded, the manager: it finds the JVMs of this machine that have the agent, "
		"collects their figures and transactions, keeps plans of what is to be hooked, and "
		"serves pages and an API on http://127.0.0.1:7117. Behind -- stand options of sonded; "
		"'sonde serve -- --help' lists them.",
	.status = "that of sonded: 0 ended by a signal, 2 wrong usage, 3 could not.",
	.examples = "sonde serve\n"
		    "sonde serve -- --listen 127.0.0.1:8080 --store /tmp/sonde",
	.run = cmd_serve,
};

int cmd_serve(int argc, char **argv)
{
	char path[PATH_MAX];
	ssize_t n;
	int status = verb_parse(&verb_serve, argc, argv, NULL);

	if (status != CLI_GO_ON)
		return status;
	n = readlink("/proc/self/exe", path, sizeof(path) - 2);
	if (n <= 0)
		return cli_cannot("where this sonde lies cannot be found out: %s", strerror(errno));
	path[n] = '\0';
	strcat(path, "d"); /* sonde, sonded */
	argv[optind - 1] = path;
	execv(path, argv + optind - 1);
	return cli_cannot("%s: %s", path, strerror(errno));
}
