/* SPDX-License-Identifier: Apache-2.0 */
/* loaded_pool.h - the constant pool of a loaded class, as the JVM has it now. */
#ifndef AGENT_CLASSES_LOADED_POOL_H
#define AGENT_CLASSES_LOADED_POOL_H

#include <jvmti.h>
#include <stdbool.h>

#include "base/arena.h"
#include "classfile/pool.h"

/* Into mem.  False: not to be had, or out of memory. */
bool loaded_pool(jclass klass, struct arena *mem, struct pool *out);

#endif
