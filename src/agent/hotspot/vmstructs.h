/* SPDX-License-Identifier: Apache-2.0 */
/* vmstructs.h - looks things up in the tables that HotSpot exports for debuggers.  Nothing is
 * guessed: where a table or an entry is missing, the answer is "not there". */
#ifndef AGENT_HOTSPOT_VMSTRUCTS_H
#define AGENT_HOTSPOT_VMSTRUCTS_H

#include <stdbool.h>
#include <stdint.h>

bool vmstructs_offset(const char *type, const char *field, uint64_t *out); /* of a field */
/* Of a static field: where it lies; its value, if it is a pointer or a size_t. */
bool vmstructs_static_at(const char *type, const char *field, uint64_t *out);
bool vmstructs_static(const char *type, const char *field, uint64_t *out);
uint64_t vmstructs_size(const char *type); /* bytes; 0: not known */
bool vmstructs_constant(const char *name, int32_t *out);
bool *vmstructs_flag(const char *name); /* a boolean flag of the JVM, NULL: none of that name */
bool vmstructs_number(const char *name, int32_t *out); /* ... a number below 2^31 */

void *vmstructs_function(const char *name); /* that libjvm.so exports; or NULL */

#endif
