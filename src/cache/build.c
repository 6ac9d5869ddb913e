/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - which build this is.  The Makefile gives SONDE_BUILD: a hash of all sources of the
 * folders that decide what weaving gives, so that the agent and the command line of one build have
 * the same, and a recipe of another build is never taken. */
#include "cache/cache.h"

#ifndef SONDE_BUILD
#error "SONDE_BUILD is given by the Makefile"
#endif

const char cache_build[] = SONDE_BUILD;
