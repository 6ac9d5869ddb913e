/* SPDX-License-Identifier: Apache-2.0 */
/* glibc_arch.h - the first glibc of x86-64. */
#ifndef AGENT_GLIBC_ARCH_H
#define AGENT_GLIBC_ARCH_H

#define GLIBC_OLDEST "GLIBC_2.2.5"

#endif
