/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c - the list of embedded templates; builtin_bytes.S holds their bytes. */
#include "weave/builtin.h"

#define X(category, variant, name, methods) \
	extern const uint8_t builtin_##name[], builtin_##name##_end[];
#include "weave/builtin.def"
#undef X

const struct builtin builtins[] = {
#define X(category, variant, name, methods) \
	{ category, #variant, methods, builtin_##name, builtin_##name##_end },
#include "weave/builtin.def"
#undef X
};

const size_t builtin_count = COUNT(builtins);

_Static_assert(COUNT(builtins) <= BUILTIN_MAX, "a weaver has room for BUILTIN_MAX templates");
