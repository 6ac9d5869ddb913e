/* SPDX-License-Identifier: Apache-2.0 */
/* cli.c - messages, numbers for people. */
#include "cli/screen/cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "classfile/show/show.h"
#include "cli/screen/output.h"

void cli_begin_options(void)
{
	optind = 0; /* glibc: forget the state of an earlier parse */
	opterr = 1;
}

/* Before what is wrong. */
static void put_name(const char *name)
{
	output_colour(stderr, OUTPUT_WRONG);
	fprintf(stderr, "%s:", name);
	output_colour(stderr, OUTPUT_PLAIN);
	fputc(' ', stderr);
}

int cli_usage(const char *name, const char *fmt, ...)
{
	va_list ap;

	put_name(name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nsee '%s --help'\n", name);
	return CLI_USAGE;
}

int cli_cannot(const char *fmt, ...)
{
	va_list ap;

	put_name("sonde");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CLI_CANNOT;
}

int cli_no_memory(void)
{
	return cli_cannot("out of memory");
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
	json_put_text(j, "error", err_name(f->code));
	json_put_text(j, "message", f->text);
	if (f->at >= 0) {
		json_put_i64(j, "at", f->at);
	}
	if (*err_section(f->code)) {
		json_put_text(j, "section", err_section(f->code));
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

void cli_json_by_error(struct json *j, const char *key, const uint64_t *counts)
{
	json_put_open(j, key, '{');
	for (int i = 0; i < ERR_COUNT; i++)
		if (counts[i])
			json_put_u64(j, err_name(ERR_FLOOR - i), counts[i]);
	json_close(j, '}');
}
