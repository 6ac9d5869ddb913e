/* SPDX-License-Identifier: Apache-2.0 */
/* skip.c - x86-64: no system call has the number -1. */
#include "inject/skip.h"

void skip_syscall(pid_t tid, inject_regs *r)
{
	(void)tid;
	r->orig_rax = (unsigned long long)-1;
}
