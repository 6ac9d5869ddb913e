/* SPDX-License-Identifier: Apache-2.0 */
/* cli.h - what all commands share: exit status, messages.
 *
 * A command gets its own arguments with argv[0] = its full name ("sonde class show"), which is
 * also what getopt_long() puts before its messages, and returns an exit status.  Only main()
 * exits.  Results go to stdout, everything else to stderr. */
#ifndef CLI_SCREEN_CLI_H
#define CLI_SCREEN_CLI_H

#include "base/buf.h"
#include "base/json.h"

#include "base/version.h"

/* Scripts rely on these. */
enum {
	CLI_DONE = 0,	/* done */
	CLI_NO = 1,	/* the answer is "no": verify failed, differences found */
	CLI_USAGE = 2,	/* called in a wrong way */
	CLI_CANNOT = 3, /* could not: the reason is on stderr */
};

/* For the options of one command: getopt_long() with a fresh start. */
void cli_begin_options(void);

/* What reading options gives when the command is to go on: no exit status. */
enum { CLI_GO_ON = -1 };

/* "NAME: message" and where to find help, on stderr.  Returns CLI_USAGE. */
int cli_usage(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "sonde: message" on stderr.  Returns CLI_CANNOT. */
int cli_cannot(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int cli_no_memory(void);

/* Writes out to stdout and empties it.  False, after a message, when either failed. */
bool cli_print(struct buf *out);

/* "message (at byte N, JVMS 4.9.1)", with what is known of it. */
void cli_fault(struct buf *out, const struct fault *f);
/* {"error": "E_...", "message": "...", "at": N, "section": "4.9.1"}, for an open object. */
void cli_fault_json(struct json *j, const struct fault *f);

/* 1234567 as "1,234,567" into text. */
const char *cli_number(char text[32], uint64_t n);

/* The whole of a decimal number; false when it is not one, or not from low to high. */
bool cli_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);

/* "key": n, and "key": { "E_TOO_LARGE": n, ... } of the errors that were counted, by
 * ERR_FLOOR - code. */
void cli_json_by_error(struct json *j, const char *key, const uint64_t *counts);

#endif
