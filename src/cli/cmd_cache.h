/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cache.h - what the sub-commands of "sonde cache" share. */
#ifndef CLI_CMD_CACHE_H
#define CLI_CMD_CACHE_H

#include "cache/cache.h"
#include "cli/cli.h"

int cache_ls_main(int argc, char **argv);
int cache_show_main(int argc, char **argv);
int cache_diff_main(int argc, char **argv);
int cache_verify_main(int argc, char **argv);
int cache_prune_main(int argc, char **argv);
int cache_export_main(int argc, char **argv);

/* The options that all have, and the cache itself. */
struct cache_cmd {
	const char *name, *help, *dir;
	bool json, all;
	uint64_t size; /* of --to; UINT64_MAX: not given */
	char place[4096];
	struct store *store;
};

/* Reads the options and opens the cache.  CLI_DONE: go on, with the arguments from optind; -1: all
 * is done; else an exit status. */
int cache_cmd_begin(struct cache_cmd *c, int argc, char **argv, bool write);
int cache_cmd_end(struct cache_cmd *c, int status);

/* Is it the class (a.b.C, a/b/C, with * and ?) or the start of the key that was asked for?  NULL:
 * all. */
bool cache_cmd_means(const char *wanted, const struct recipe *r, struct hash128 key);

#endif
