/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_man.c - "sonde man": the man pages, made of the same tables as --help. */
#include <getopt.h>
#include <stdio.h>

#include "base/version.h"
#include "cli/verbs.h"

struct man {
	bool list;
};

static const struct verb_option options[] = {
	{ "list", NULL, OPTION_FLAG, offsetof(struct man, list),
	  .help = "print the names of all pages, one a line" },
};

const struct verb verb_man = {
	.usage = "[COMMAND [COMMAND]]\n"
		 "--list",
	.about = "Prints the man page of a command, or of sonde itself, as groff reads it.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 2 there is no such command.",
	.examples = "sonde man watch | man -l -\n"
		    "sonde man class show >sonde-class-show.1",
	.run = cmd_man,
};

static void list(const struct command_table *table, struct buf *out)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct command *c = &table->commands[i];

		if (c->group)
			list(c->group, out);
		else if (c->verb)
			buf_printf(out, "%s %s\n", table->name, c->name);
	}
}

static void put_all(const struct command_table *table, struct buf *out)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct command *c = &table->commands[i];

		buf_printf(out, ".TP\n.B %s %s\n%s\n", table->name, c->name, c->help);
	}
}

static void put_overview(struct buf *out)
{
	buf_text(out, ".TH SONDE 1 \"\" \"sonde " SONDE_VERSION "\" \"Sonde\"\n"
		      ".SH NAME\nsonde \\- finds out why a running program is slow\n"
		      ".SH SYNOPSIS\n.B sonde\nCOMMAND [OPTION]... [ARGUMENT]...\n"
		      ".SH COMMANDS\n");
	put_all(&verbs, out);
	buf_text(out,
		 ".SH FILES\n.TP\n.I ~/.config/sonde/config\n"
		 "Defaults of options: lines such as \\(lqslower = 10ms\\(rq below a line with the "
		 "command in brackets, \\(lq[watch]\\(rq, or below \\(lq[all]\\(rq.  SONDE_CONFIG "
		 "names another file.\n"
		 ".SH EXIT STATUS\n0 done, 1 the answer is \\(lqno\\(rq, 2 wrong usage, 3 could "
		 "not.\n");
}

static int put_page(char **words, int n, const char *name, struct buf *out)
{
	const struct command_table *table = &verbs;

	for (int i = 0; i < n; i++) {
		const struct command *found = NULL;
		char full[100];

		for (size_t k = 0; k < table->n; k++)
			if (strcmp(table->commands[k].name, words[i]) == 0)
				found = &table->commands[k];
		if (!found || (!found->verb && !found->group) || (found->verb && i + 1 < n))
			return cli_usage(name, "no page for '%s'", words[i]);
		snprintf(full, sizeof(full), "%s %s", table->name, found->name);
		if (found->verb)
			verb_roff(found->verb, full, found->help, out);
		else if (i + 1 == n)
			return cli_usage(name, "which of 'sonde %s'? 'sonde man --list' lists them",
					 words[i]);
		else
			table = found->group;
	}
	return CLI_DONE;
}

int cmd_man(int argc, char **argv)
{
	struct buf out = { 0 };
	struct man m = { 0 };
	int status = verb_parse(&verb_man, argc, argv, &m);

	if (status != CLI_GO_ON)
		return status;
	status = CLI_DONE;
	if (m.list)
		list(&verbs, &out);
	else if (optind == argc)
		put_overview(&out);
	else
		status = put_page(argv + optind, argc - optind, argv[0], &out);
	if (status == CLI_DONE && !cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	return status;
}
