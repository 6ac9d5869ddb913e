/* SPDX-License-Identifier: Apache-2.0 */
/* pair.c - the least that a probe in C can be: two functions that do nothing, and two that read
 * the counter.  Built as a library by ../run; Java reaches it as Sonde's own probes are reached: by
 * java.lang.foreign (pair_*), by JNI (Java_*), and, on JDK 17 with CriticalJNINatives, without a
 * change of the thread's state (JavaCritical_*). */
#include "base/tick.h"

#define EXPORT __attribute__((visibility("default")))

static __thread uint64_t last __attribute__((tls_model("initial-exec")));

EXPORT uint64_t pair_empty_enter(uint32_t id);
EXPORT void pair_empty_exit(uint32_t id, uint64_t token);
EXPORT uint64_t pair_enter(uint32_t id);
EXPORT void pair_exit(uint32_t id, uint64_t token);

uint64_t pair_empty_enter(uint32_t id)
{
	return id;
}

void pair_empty_exit(uint32_t id, uint64_t token)
{
	(void)id;
	(void)token;
}

uint64_t pair_enter(uint32_t id)
{
	(void)id;
	return tick_now();
}

void pair_exit(uint32_t id, uint64_t token)
{
	(void)id;
	last = tick_now() - token;
}

/* name: as Java has it, with the package; to: the function above. */
#define ENTER(name, to)                                                              \
	EXPORT uint64_t Java_bench_Native_##name(void *env, void *cls, uint32_t id); \
	EXPORT uint64_t JavaCritical_bench_Native_##name(uint32_t id);               \
	uint64_t Java_bench_Native_##name(void *env, void *cls, uint32_t id)         \
	{                                                                            \
		(void)env;                                                           \
		(void)cls;                                                           \
		return to(id);                                                       \
	}                                                                            \
	uint64_t JavaCritical_bench_Native_##name(uint32_t id)                       \
	{                                                                            \
		return to(id);                                                       \
	}

#define EXIT(name, to)                                                                           \
	EXPORT void Java_bench_Native_##name(void *env, void *cls, uint32_t id, uint64_t token); \
	EXPORT void JavaCritical_bench_Native_##name(uint32_t id, uint64_t token);               \
	void Java_bench_Native_##name(void *env, void *cls, uint32_t id, uint64_t token)         \
	{                                                                                        \
		(void)env;                                                                       \
		(void)cls;                                                                       \
		to(id, token);                                                                   \
	}                                                                                        \
	void JavaCritical_bench_Native_##name(uint32_t id, uint64_t token)                       \
	{                                                                                        \
		to(id, token);                                                                   \
	}

ENTER(emptyEnter, pair_empty_enter)
ENTER(enter, pair_enter)
EXIT(emptyExit, pair_empty_exit)
EXIT(exit, pair_exit)
