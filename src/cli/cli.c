/* SPDX-License-Identifier: Apache-2.0 */
/* cli.c - tables of commands, messages, numbers for people. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "classfile/show.h"

enum { NAME_MAX_LEN = 32 };

/* How many letters have to be put in, taken out or changed to get from a to b. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[NAME_MAX_LEN + 1];
	size_t n = strlen(b);

	if (n > NAME_MAX_LEN || strlen(a) > NAME_MAX_LEN)
		return 2 * NAME_MAX_LEN;
	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			unsigned best = corner + (*a != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

static const struct command *find(const struct command_table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->commands[i].name, name) == 0)
			return &table->commands[i];
	return NULL;
}

static const struct command *nearest(const struct command_table *table, const char *name)
{
	const struct command *best = NULL;
	unsigned least = (unsigned)strlen(name) / 2 + 1; /* else it is another word */

	for (size_t i = 0; i < table->n; i++) {
		unsigned d = distance(name, table->commands[i].name);

		if (d < least || (d == least && !best)) {
			least = d;
			best = &table->commands[i];
		}
	}
	return best;
}

static void print_help(const struct command_table *table, FILE *to)
{
	fputs(table->head, to);
	fputs("\nCommands:\n", to);
	for (size_t i = 0; i < table->n; i++)
		fprintf(to, "  %-10s %s\n", table->commands[i].name, table->commands[i].help);
	fputs(table->tail, to);
}

static int unknown(const struct command_table *table, const char *name)
{
	const struct command *near = nearest(table, name);

	if (near)
		return cli_usage(table->name, "no command '%s'; did you mean '%s'?", name,
				 near->name);
	return cli_usage(table->name, "no command '%s'", name);
}

int command_run(const struct command_table *table, int argc, char **argv)
{
	const struct command *command;
	char name[100], option[] = "--help";

	if (argc < 2) {
		print_help(table, stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    (strcmp(argv[1], "help") == 0 && argc == 2)) {
		print_help(table, stdout);
		return CLI_DONE;
	}
	if (strcmp(argv[1], "help") == 0) { /* "help CMD" is "CMD --help" */
		argv[1] = argv[2];
		argv[2] = option;
		argc = 3;
	}
	if (argv[1][0] == '-')
		return cli_usage(table->name, "no option '%s'", argv[1]);
	command = find(table, argv[1]);
	if (!command)
		return unknown(table, argv[1]);
	snprintf(name, sizeof(name), "%s %s", table->name, command->name);
	argv[1] = name;
	return command->run(argc - 1, argv + 1);
}

void cli_begin_options(void)
{
	optind = 0; /* glibc: forget the state of an earlier parse */
	opterr = 1;
}

int cli_json_option(int argc, char **argv, const char *help, bool *json)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt;

	cli_begin_options();
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(help, stdout), CLI_DONE;
		if (opt != 'j')
			return CLI_USAGE;
		*json = true;
	}
	return CLI_GO_ON;
}

int cli_usage(const char *name, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nsee '%s --help'\n", name);
	return CLI_USAGE;
}

int cli_cannot(const char *fmt, ...)
{
	va_list ap;

	fputs("sonde: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CLI_CANNOT;
}

bool cli_print(struct buf *out)
{
	bool good = !out->err;

	if (!good)
		cli_cannot("%s", err_text(out->err));
	else if (out->n && fwrite(out->p, 1, out->n, stdout) != out->n)
		good = false; /* main() says so, once */
	buf_clear(out);
	return good;
}

void cli_fault(struct buf *out, const struct fault *f)
{
	const char *section = err_section(f->code);
	bool at = f->at >= 0;

	show_name(out, slice_str(f->text)); /* may quote names out of the class */
	if (!at && !*section)
		return;
	buf_text(out, " (");
	if (at)
		buf_printf(out, "at byte %ld", f->at);
	if (at && *section)
		buf_text(out, ", ");
	if (*section)
		buf_printf(out, "JVMS %s", section);
	buf_text(out, ")");
}

void cli_fault_json(struct json *j, const struct fault *f)
{
	json_key(j, "error");
	json_text(j, err_name(f->code));
	json_key(j, "message");
	json_text(j, f->text);
	if (f->at >= 0) {
		json_key(j, "at");
		json_i64(j, f->at);
	}
	if (*err_section(f->code)) {
		json_key(j, "section");
		json_text(j, err_section(f->code));
	}
}

const char *cli_number(char text[32], uint64_t n)
{
	char plain[24];
	int len = snprintf(plain, sizeof(plain), "%llu", (unsigned long long)n);
	char *to = text;

	for (int i = 0; i < len; i++) {
		*to++ = plain[i];
		if ((len - i) % 3 == 1 && i + 1 < len)
			*to++ = ',';
	}
	*to = '\0';
	return text;
}

bool cli_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end || v < low || v > high)
		return false;
	*out = v;
	return true;
}

void cli_json_count(struct json *j, const char *key, uint64_t n)
{
	json_key(j, key);
	json_u64(j, n);
}

void cli_json_by_error(struct json *j, const char *key, const uint64_t *counts)
{
	json_key(j, key);
	json_open(j, '{');
	for (int i = 0; i < ERR_COUNT; i++)
		if (counts[i])
			cli_json_count(j, err_name(ERR_FLOOR - i), counts[i]);
	json_close(j, '}');
}
