/* SPDX-License-Identifier: Apache-2.0 */
/* vmstructs.c - gHotSpotVMStructs is an array of (type, field, offset, address of a static field),
 * gHotSpotVMIntConstants one of (name, value), gHotSpotVMTypes one of (type, size); each ends with
 * an entry without a name.  How long an entry is, and where its parts lie, is given by further
 * symbols.  The flags of the JVM are an array of JVMFlag, which those tables describe. */
#include "agent/hotspot/vmstructs.h"

#include <dlfcn.h>
#include <string.h>

#include "agent/core/glibc.h"

struct vm_table { /* the first entry, its length, where its name lies in it */
	uint64_t first, stride, name;
};

static void *jvm(void)
{
	static void *handle;

	if (!handle) /* the library is there for good, so the handle may stay */
		handle = dlopen("libjvm.so", RTLD_NOLOAD | RTLD_LAZY);
	return handle;
}

static bool symbol(const char *name, uint64_t *out)
{
	const uint64_t *p = jvm() ? dlsym(jvm(), name) : NULL;

	if (p)
		*out = *p;
	return p != NULL;
}

void *vmstructs_function(const char *name)
{
	return jvm() ? dlsym(jvm(), name) : NULL;
}

static uint64_t at(uint64_t address)
{
	uint64_t v;

	memcpy(&v, (const void *)(uintptr_t)address, sizeof(v));
	return v;
}

static bool is(uint64_t text, const char *wanted)
{
	return text && strcmp((const char *)(uintptr_t)text, wanted) == 0;
}

/* The entry of type::field; 0: none. */
static uint64_t find_field(const char *type, const char *field)
{
	struct vm_table t;
	uint64_t names;

	if (!symbol("gHotSpotVMStructs", &t.first) ||
	    !symbol("gHotSpotVMStructEntryArrayStride", &t.stride) ||
	    !symbol("gHotSpotVMStructEntryTypeNameOffset", &t.name) ||
	    !symbol("gHotSpotVMStructEntryFieldNameOffset", &names) || !t.stride)
		return 0;
	for (uint64_t e = t.first; at(e + t.name); e += t.stride)
		if (is(at(e + t.name), type) && is(at(e + names), field))
			return e;
	return 0;
}

bool vmstructs_offset(const char *type, const char *field, uint64_t *out)
{
	uint64_t entry = find_field(type, field), offset;

	if (!entry || !symbol("gHotSpotVMStructEntryOffsetOffset", &offset))
		return false;
	*out = at(entry + offset);
	return true;
}

bool vmstructs_static_at(const char *type, const char *field, uint64_t *out)
{
	uint64_t entry = find_field(type, field), address;

	if (!entry || !symbol("gHotSpotVMStructEntryAddressOffset", &address))
		return false;
	*out = at(entry + address);
	return true;
}

bool vmstructs_static(const char *type, const char *field, uint64_t *out)
{
	uint64_t address;

	if (!vmstructs_static_at(type, field, &address))
		return false;
	*out = at(address);
	return true;
}

bool vmstructs_constant(const char *name, int32_t *out)
{
	struct vm_table t;
	uint64_t value;

	if (!symbol("gHotSpotVMIntConstants", &t.first) ||
	    !symbol("gHotSpotVMIntConstantEntryArrayStride", &t.stride) ||
	    !symbol("gHotSpotVMIntConstantEntryNameOffset", &t.name) ||
	    !symbol("gHotSpotVMIntConstantEntryValueOffset", &value) || !t.stride)
		return false;
	for (uint64_t e = t.first; at(e + t.name); e += t.stride) {
		if (is(at(e + t.name), name)) {
			memcpy(out, (const void *)(uintptr_t)(e + value), sizeof(*out));
			return true;
		}
	}
	return false;
}

uint64_t vmstructs_size(const char *type)
{
	struct vm_table t;
	uint64_t size;

	if (!symbol("gHotSpotVMTypes", &t.first) ||
	    !symbol("gHotSpotVMTypeEntryArrayStride", &t.stride) ||
	    !symbol("gHotSpotVMTypeEntryTypeNameOffset", &t.name) ||
	    !symbol("gHotSpotVMTypeEntrySizeOffset", &size) || !t.stride)
		return 0;
	for (uint64_t e = t.first; at(e + t.name); e += t.stride)
		if (is(at(e + t.name), type))
			return at(e + size);
	return 0;
}

/* The address of a flag's value; 0: none of that name. */
static uint64_t find_flag(const char *wanted)
{
	uint64_t flags, count, name, address, size = vmstructs_size("JVMFlag");

	if (!size || !vmstructs_static("JVMFlag", "flags", &flags) ||
	    !vmstructs_static("JVMFlag", "numFlags", &count) ||
	    !vmstructs_offset("JVMFlag", "_name", &name) ||
	    !vmstructs_offset("JVMFlag", "_addr", &address))
		return 0;
	for (uint64_t i = 0; i < count && i < 10000; i++)
		if (is(at(flags + i * size + name), wanted))
			return at(flags + i * size + address);
	return 0;
}

bool *vmstructs_flag(const char *name)
{
	return (bool *)(uintptr_t)find_flag(name);
}

/* Such a flag has 4 or 8 bytes, by the JDK's version; on these machines the low ones come first. */
bool vmstructs_number(const char *name, int32_t *out)
{
	uint64_t address = find_flag(name);

	if (address)
		memcpy(out, (const void *)(uintptr_t)address, sizeof(*out));
	return address != 0;
}
