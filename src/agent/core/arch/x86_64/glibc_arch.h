/* SPDX-License-Identifier: Apache-2.0 */
/* glibc_arch.h - the version that glibc's oldest functions have on this architecture. */
#ifndef AGENT_GLIBC_ARCH_H
#define AGENT_GLIBC_ARCH_H

#define GLIBC_OLDEST "GLIBC_2.2.5"

#endif
