/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.c - the table of all verbs. */
#include "cli/verbs.h"

static const struct command commands[] = {
#define X(name, help) { #name, help, .run = cmd_##name },
#define V(name, help) { #name, help, .verb = &verb_##name },
#define G(name, help) { #name, help, .group = &group_##name },
#include "cli/commands.def"
#undef X
#undef V
#undef G
};

const struct command_table verbs = {
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
