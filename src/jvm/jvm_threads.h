/* SPDX-License-Identifier: Apache-2.0 */
/* jvm_threads.h - what the threads of a JVM have had of the processors, as seen from outside. */
#ifndef JVM_JVM_THREADS_H
#define JVM_JVM_THREADS_H

#include <stdint.h>
#include <sys/types.h>

struct jvm_threads {		   /* ns since they began; of threads that are alive */
	uint64_t run_ns, delay_ns; /* the program's: on a processor, and waiting for one */
	uint64_t own_ns;	   /* the agent's, on a processor */
	uint64_t jit_ns;	   /* the JVM's compilers, on a processor */
};

void jvm_threads_read(pid_t pid, struct jvm_threads *out); /* what cannot be read counts as 0 */

#endif
