/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the user's defaults for options: SONDE_CONFIG, or ~/.config/sonde/config.
 *
 *	[watch]
 *	n = 20            # as -n 20 before all that stands on the command line
 *	no-redact
 *	[all]             # verbs that have such an option
 *	wide
 *
 * The file is read once and kept, since options point into it. */
#ifndef CLI_SCREEN_CONFIG_H
#define CLI_SCREEN_CONFIG_H

#include "base/slice.h"

struct config_entry {
	const char *path;
	unsigned line;
	bool for_all;
	const char *key, *value; /* value NULL: a flag */
};

/* CLI_DONE to go on, or an exit status after a message. */
typedef int config_take(void *ctx, const struct config_entry *e);

/* Gives the entries of [all] and then those of the section.  CLI_DONE also when there is no file;
 * one that others can write is not used, and that is said. */
int config_read(const char *section, config_take *take, void *ctx);

#endif
