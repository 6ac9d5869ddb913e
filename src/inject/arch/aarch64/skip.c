/* SPDX-License-Identifier: Apache-2.0 */
/* skip.c - aarch64: the number of the system call is a set of registers of its own. */
#include "inject/skip.h"

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

void skip_syscall(pid_t tid, inject_regs *r)
{
	int none = -1;
	struct iovec v = { &none, sizeof(none) };

	(void)r;
	(void)ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_ARM_SYSTEM_CALL, &v);
}
