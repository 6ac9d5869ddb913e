/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - looks after the program's threads: takes back what ended ones had, and finds the stacks
 * of those that run.  The agent's thread alone, once a second. */
#ifndef NATIVE_THREADS_H
#define NATIVE_THREADS_H

void threads_tend(void);

#endif
