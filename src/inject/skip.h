/* SPDX-License-Identifier: Apache-2.0 */
/* skip.h - a traced thread that stands before a system call does not make it. */
#ifndef INJECT_SKIP_H
#define INJECT_SKIP_H

#include <sys/types.h>

#include "inject_arch.h"

/* Changes the thread, or the registers that are given to it next. */
void skip_syscall(pid_t tid, inject_regs *r);

#endif
