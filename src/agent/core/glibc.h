/* SPDX-License-Identifier: Apache-2.0 */
/* glibc.h - lets the library load on systems that are older than the one it was built on.
 *
 * Functions that moved from libpthread and libdl into libc got a new version there, and the linker
 * takes the newest; the old one does the same and is everywhere.  Include it behind the system's
 * headers, in every file of the agent that uses one of them; tools/check-agent sees to that. */
#ifndef AGENT_CORE_GLIBC_H
#define AGENT_CORE_GLIBC_H

#include "glibc_arch.h"

#define GLIBC_OLD(name) __asm__(".symver " #name "," #name "@" GLIBC_OLDEST)

GLIBC_OLD(dlopen);
GLIBC_OLD(dlsym);
GLIBC_OLD(pthread_create);
GLIBC_OLD(pthread_attr_setstacksize);
GLIBC_OLD(pthread_sigmask);

#endif
