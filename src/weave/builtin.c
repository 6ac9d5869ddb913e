/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.c - the list of embedded templates; builtin_bytes.S holds their bytes. */
#include "weave/builtin.h"

#define EMBEDDED(name) extern const uint8_t builtin_##name[], builtin_##name##_end[]
EMBEDDED(light);
EMBEDDED(timed);
EMBEDDED(full);

#define BYTES(name) builtin_##name, builtin_##name##_end

const struct builtin builtins[] = {
	{ "light", "any", BYTES(light) },
	{ "timed", "any", BYTES(timed) },
	{ "full", "any", BYTES(full) },
};

const size_t builtin_count = COUNT(builtins);
