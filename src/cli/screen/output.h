/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - the only way to stdout and stderr.
 *
 * Names of threads, methods and files come from programs that are not trusted, and reach nearly
 * every line that Sonde prints.  So not each of the places that print has to think of it: from
 * output_begin on the streams stdout and stderr themselves let nothing through that a terminal
 * would act on but line breaks and tabs (see base/visible.h), whoever prints it: Sonde, getopt or
 * libc.  Escape sequences of Sonde's own are written here and in term.c alone; tools/check-output
 * sees to it. */
#ifndef CLI_SCREEN_OUTPUT_H
#define CLI_SCREEN_OUTPUT_H

#include <stdio.h>

#include "base/buf.h"

/* Before anything is printed.  False: out of memory. */
bool output_begin(void);

/* Prints what is left.  False: it cannot be written; errno says why. */
bool output_end(void);

/* A file for people, through the same filter, for the user alone (private.h); NULL: errno says why.  fclose() as usual. */
FILE *output_file(const char *path);

/* One line on the terminal of stderr, over the one before; empty: only takes that away. */
void output_status(struct slice line);

/* What stands out on a terminal.  The escapes go past the filter; there are none where no terminal is,
 * where TERM is dumb, and where NO_COLOR is set (no-color.org). */
enum output_colour { OUTPUT_PLAIN, OUTPUT_WRONG, OUTPUT_STRONG };
void output_colour(FILE *f, enum output_colour which); /* stdout or stderr, from here on */

/* Writes text to stdout and empties it; words at the beginning of lines, as "Cause:", are strong.  Without
 * colours it is left as it is. */
void output_answer(struct buf *text);

#endif
