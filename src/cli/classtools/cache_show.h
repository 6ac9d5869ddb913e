/* SPDX-License-Identifier: Apache-2.0 */
/* cache_show.h - what the sub-commands of "sonde cache" share. */
#ifndef CLI_CLASSTOOLS_CACHE_SHOW_H
#define CLI_CLASSTOOLS_CACHE_SHOW_H

#include "cache/cache.h"
#include "cli/screen/cli.h"

int cache_ls_main(int argc, char **argv);
int cache_show_main(int argc, char **argv);
int cache_diff_main(int argc, char **argv);
int cache_verify_main(int argc, char **argv);
int cache_prune_main(int argc, char **argv);
int cache_export_main(int argc, char **argv);

extern const struct verb verb_cache_ls, verb_cache_show, verb_cache_diff, verb_cache_verify,
	verb_cache_prune, verb_cache_export;
extern const struct verb_option cache_option_dir; /* --cache DIR, into struct cache_cmd */

/* The options that all have, and the cache itself. */
struct cache_cmd {
	const char *name, *dir;
	const struct verb *verb;
	bool json, all;
	uint64_t size; /* of --to; UINT64_MAX: not given */
	char place[4096];
	struct store *store;
};

/* Reads the options and opens the cache.  CLI_DONE: go on, with the arguments from optind; -1: all
 * is done; else an exit status. */
int cmd_cache_begin(struct cache_cmd *c, int argc, char **argv, bool write);
int cmd_cache_end(struct cache_cmd *c, int status);

/* Is it the class (a.b.C, a/b/C, with * and ?) or the start of the key that was asked for?  NULL:
 * all. */
bool cmd_cache_means(const char *wanted, const struct recipe *r, struct hash128 key);

#endif
