/* SPDX-License-Identifier: Apache-2.0 */
/* plural.h - the end of a word that is counted: "1 method", "2 methods", "1 class", "0 classes".
 *
 * tools/check-output finds messages without it. */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *plural_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}

#endif
