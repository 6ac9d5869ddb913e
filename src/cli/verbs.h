/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.h - all verbs of sonde, out of commands.def. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/screen/menu.h"

#define X(name, help) int cmd_##name(int argc, char **argv);
#define V(name, help)                          \
	int cmd_##name(int argc, char **argv); \
	extern const struct verb verb_##name;
#define G(name, help) extern const struct command_table group_##name;
#include "cli/commands.def"
#undef X
#undef V
#undef G

extern const struct command_table verbs;

#endif
