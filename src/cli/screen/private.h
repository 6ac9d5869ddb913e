/* SPDX-License-Identifier: Apache-2.0 */
/* private.h - files that hold what was seen in a program: arguments, results, names of customers.
 *
 * They are for the user alone (0600), also when a file was there that others could read, and are
 * not written where somebody else has put a link or a file before. */
#ifndef CLI_SCREEN_PRIVATE_H
#define CLI_SCREEN_PRIVATE_H

#include <stdio.h>

/* An empty file to write to; also a pipe or a device, as it is.  -1, or NULL, and errno. */
int private_open(const char *path);
FILE *private_fopen(const char *path);

#endif
