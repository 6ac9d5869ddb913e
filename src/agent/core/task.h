/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - what the kernel reports of a thread of this process. */
#ifndef AGENT_CORE_TASK_H
#define AGENT_CORE_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The beginning of a file in /proc/self/task/TID, as a string; false: the thread has gone. */
bool task_text(pid_t tid, const char *file, char *text, size_t cap);

#endif
