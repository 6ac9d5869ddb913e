/* SPDX-License-Identifier: Apache-2.0 */
/* thread_kind.c - the JVM's own threads are known by how their names begin (thread_kind.def). */
#include "jvm/thread_kind.h"

#include <stddef.h>
#include <string.h>

static const struct {
	enum thread_kind kind;
	const char *starts;
} names[] = {
#define X(kind, starts) { THREAD_##kind, starts },
#include "jvm/thread_kind.def"
#undef X
};

enum thread_kind thread_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i].starts, strlen(names[i].starts)) == 0)
			return names[i].kind;
	return THREAD_PROGRAM;
}
