/* SPDX-License-Identifier: Apache-2.0 */
/* thread_kind.h - whose a thread of a JVM is, by the name that the kernel shows. */
#ifndef JVM_THREAD_KIND_H
#define JVM_THREAD_KIND_H

enum thread_kind {
	THREAD_PROGRAM,
	THREAD_GC,
	THREAD_JIT,
	THREAD_OWN, /* the agent's */
};

enum thread_kind thread_kind(const char *name);

#endif
