/* SPDX-License-Identifier: Apache-2.0 */
/* verb.h - a verb of the command line as one table: parsing, --help, shell completion and the man
 * page are made of it, and defaults out of the config file go through it.
 *
 *	static const struct verb_option options[] = {
 *		{ "n", "N", OPTION_NUMBER, offsetof(struct watch, limit), .help = "end after N calls" },
 *		{ "verbose|v", NULL, OPTION_FLAG, offsetof(struct watch, verbose), .help = "say more" },
 *		VERB_JSON(struct watch, json, "print one JSON object"),
 *	};
 *	const struct verb verb_watch = { ... };
 *
 *	status = verb_parse(&verb_watch, argc, argv, &watch);
 *	if (status != CLI_GO_ON)
 *		return status;
 *
 * --help and -h are every verb's.  Texts are wrapped when they are shown: a blank line ends a
 * paragraph, and a line that begins with a blank is left as it is. */
#ifndef CLI_SCREEN_VERB_H
#define CLI_SCREEN_VERB_H

#include <stddef.h>

#include "cli/screen/cli.h"

/* What an option's value is, and the type of the field that takes it. */
enum option_kind {
	OPTION_FLAG,   /* bool: becomes true; without a value */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* uint64_t, from low to high; high 0: no limit */
	OPTION_TIME,   /* uint64_t, in ns: 30s; a bare number is seconds; low and high in ns */
	OPTION_SHARE,  /* double: 1% is 0.01 */
	OPTION_OWN,    /* verb->set is called */
};

struct verb_option {
	const char *name;  /* without dashes; one letter alone: a short option; "verbose|v": both */
	const char *value; /* as help shows it; "[TIME]": can be left out; NULL: a flag */
	enum option_kind kind;
	size_t at; /* of the field; with OPTION_OWN what verb->set gets */
	const char *help;
	uint64_t low, high;
};

#define VERB_JSON(type, field, help_)                                           \
	{                                                                       \
		"json", NULL, OPTION_FLAG, offsetof(type, field), .help = help_ \
	}
#define VERB_YES(type, field)                                         \
	{                                                             \
		"yes", NULL, OPTION_FLAG, offsetof(type, field),      \
			.help = "also when the methods are very many" \
	}
#define VERB_FOR(type, field, help_)                                                       \
	{                                                                                  \
		"for", "TIME", OPTION_TIME, offsetof(type, field), .help = help_, .low = 1 \
	}

struct verb {
	const char *usage; /* what stands behind the verb, one form a line; METHOD and TARGET are
			    * completed */
	const char *about;
	const struct verb_option *options;
	size_t n;
	const char *more; /* below the options, or NULL */
	const char *status;
	const char *
		examples; /* one a line, without "sonde VERB" before it but with all else; or NULL */
	bool first_only;  /* options end where the first argument stands */
	int (*run)(int argc, char **argv);
	/* An option with OPTION_OWN: CLI_DONE, or an exit status after a message.  value is NULL when
	 * it has none. */
	int (*set)(void *self, const char *name, int which, const char *value);
};

/* Fills self with the config file's defaults and the options of argv; optind is then the first of
 * the arguments, which stand together at the end.  CLI_GO_ON, or how the command ends. */
int verb_parse(const struct verb *v, int argc, char **argv, void *self);

/* The same for verbs with at most one word behind the options, [TARGET]: NULL if it is not given. */
int verb_parse_target(const struct verb *v, int argc, char **argv, void *self, const char **target);

/* The option of that name (a letter, or a long one), or NULL. */
const struct verb_option *verb_option_named(const struct verb *v, struct slice name);
/* Sets one option as if it stood on the command line.  CLI_DONE, or an exit status. */
int verb_set(const struct verb *v, const char *name, const struct verb_option *o, const char *value,
	     void *self);

struct slice verb_option_long(const struct verb_option *o);  /* .n 0: it has none */
char verb_option_letter(const struct verb_option *o);	     /* 0: it has none */
bool verb_option_may_lack(const struct verb_option *o);	     /* the value */
struct slice verb_option_value(const struct verb_option *o); /* without brackets */

void verb_help(const struct verb *v, const char *name, unsigned width, struct buf *out);
void verb_roff(const struct verb *v, const char *name, const char *line, struct buf *out);

#endif
