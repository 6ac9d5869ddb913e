/* SPDX-License-Identifier: Apache-2.0 */
/* cache_place.h - the usual place of the cache: ${XDG_CACHE_HOME:-~/.cache}/sonde/woven. */
#ifndef CACHE_CACHE_PLACE_H
#define CACHE_CACHE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

bool cache_usual_place(char *out, size_t cap); /* false: the environment names no home */

#endif
