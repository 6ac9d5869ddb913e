/* SPDX-License-Identifier: Apache-2.0 */
/* loaded_pool.c - JVMTI gives the entries without their number, which a class file has before them. */
#include "agent/classes/loaded_pool.h"

#include <string.h>

#include "agent/core/agent.h"
#include "base/err.h"

bool loaded_pool(jclass klass, struct arena *mem, struct pool *out)
{
	unsigned char *bytes = NULL;
	jint count = 0, n = 0;
	struct reader r;
	uint8_t *copy;
	int rc = E_NO_MEMORY;

	if ((*agent.jvmti)->GetConstantPool(agent.jvmti, klass, &count, &n, &bytes) !=
	    JVMTI_ERROR_NONE)
		return false;
	copy = arena_alloc(mem, (size_t)n + 2);
	if (copy) {
		put_u16(copy, (uint16_t)count);
		memcpy(copy + 2, bytes, (size_t)n);
		r = rd_init((struct slice){ copy, (size_t)n + 2 });
		rc = pool_read(out, mem, &r, NULL);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, bytes);
	return rc >= 0;
}
