/* SPDX-License-Identifier: Apache-2.0 */
/* cache_place.c - where the cache lies unless somebody says otherwise. */
#include "cache/cache_place.h"

#include <stdio.h>
#include <stdlib.h>

bool cache_usual_place(char *out, size_t cap)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = -1;

	if (base && base[0] == '/')
		n = snprintf(out, cap, "%s/sonde/woven", base);
	else if (home && home[0] == '/')
		n = snprintf(out, cap, "%s/.cache/sonde/woven", home);
	return n > 0 && (size_t)n < cap;
}
