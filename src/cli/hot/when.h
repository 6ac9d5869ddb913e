/* SPDX-License-Identifier: Apache-2.0 */
/* when.h - moments as people write them, in local time.
 *
 *	14:05  14:05:30		the last one before `now`
 *	2026-11-18  2026-11-18T14:05  "2026-11-18 14:05:30"
 *	yesterday  "yesterday 14:05"	the day before now's; alone: at the same time of day
 *	-2h			so long before now */
#ifndef CLI_HOT_WHEN_H
#define CLI_HOT_WHEN_H

#include <stdbool.h>
#include <stdint.h>

/* now, and *out: ns since 1970.  False: it is none of these. */
bool when_parse(const char *text, uint64_t now, uint64_t *out);

/* "2026-11-18 14:05:30" */
enum { WHEN_TEXT = 24 };
const char *when_text(char text[WHEN_TEXT], uint64_t ns);

#endif
