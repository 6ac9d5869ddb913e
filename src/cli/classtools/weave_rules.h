/* SPDX-License-Identifier: Apache-2.0 */
/* weave_rules.h - rules and templates as the command line names them, and METHOD arguments. */
#ifndef CLI_CLASSTOOLS_WEAVE_RULES_H
#define CLI_CLASSTOOLS_WEAVE_RULES_H

#include "cli/screen/cli.h"
#include "rule/rules.h"
#include "weave/weave.h"

/* Adds the rules of a file, or of the text of a --hook (the word `hook` may be left out).  Trouble
 * is told on stderr.  CLI_DONE, CLI_USAGE or CLI_CANNOT. */
int weave_rules_add_file(struct rules *rules, const char *path);
int weave_rules_add_hook(struct rules *rules, const char *text);

/* Seals the set and prepares its templates; their files are looked for beside the rule file that
 * names them.  Same codes.  On CLI_DONE the weaver must be released. */
int weave_rules_make_weaver(struct rules *rules, struct weaver *out);

/* Reads a METHOD argument, written as in a rule: a.b.C::m(int, ..).  Same codes. */
int weave_rules_parse_method(struct arena *mem, const char *name, const char *text,
			     const struct rule_target **out);

#endif
