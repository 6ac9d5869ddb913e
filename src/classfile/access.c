/* SPDX-License-Identifier: Apache-2.0 */
/* access.c - for each kind of thing: the flags it must have, and those it must not. */
#include "classfile/access.h"

enum { JAVA_5 = 49, JAVA_6 = 50, JAVA_8 = 52, JAVA_17 = 61 };

/* At most one of public, private and protected. */
static bool one_visibility(unsigned flags)
{
	flags &= ACC_PUBLIC | ACC_PRIVATE | ACC_PROTECTED;
	return (flags & (flags - 1)) == 0;
}

bool access_class_ok(uint16_t major, unsigned flags)
{
	if ((flags & ACC_INTERFACE) && major < JAVA_6)
		flags |= ACC_ABSTRACT; /* was not always set */
	if ((flags & ACC_ABSTRACT) && (flags & ACC_FINAL))
		return false;
	if (!(flags & ACC_INTERFACE))
		return major < JAVA_5 || !(flags & ACC_ANNOTATION);
	return (flags & ACC_ABSTRACT) && (major < JAVA_5 || !(flags & (ACC_SUPER | ACC_ENUM)));
}

bool access_field_ok(const struct class *cls, unsigned flags)
{
	unsigned must = ACC_PUBLIC | ACC_STATIC | ACC_FINAL;
	unsigned never = ACC_PRIVATE | ACC_PROTECTED | ACC_VOLATILE | ACC_TRANSIENT;

	if (!(cls->access & ACC_INTERFACE))
		return one_visibility(flags) && !((flags & ACC_FINAL) && (flags & ACC_VOLATILE));
	if (cls->major >= JAVA_5)
		never |= ACC_ENUM;
	return (flags & must) == must && !(flags & never);
}

static bool interface_method_ok(uint16_t major, unsigned flags)
{
	unsigned must = ACC_PUBLIC | ACC_ABSTRACT, never = ACC_STATIC | ACC_FINAL | ACC_NATIVE;

	if (major < JAVA_8) {
		if (major >= JAVA_5)
			never |= ACC_PRIVATE | ACC_PROTECTED | ACC_SYNCHRONIZED | ACC_STRICT;
		return (flags & must) == must && !(flags & never);
	}
	if (!(flags & ACC_PUBLIC) == !(flags & ACC_PRIVATE))
		return false;
	never = ACC_NATIVE | ACC_PROTECTED | ACC_FINAL | ACC_SYNCHRONIZED;
	if (flags & ACC_ABSTRACT)
		never |= ACC_PRIVATE | ACC_STATIC | (major < JAVA_17 ? ACC_STRICT : 0);
	return !(flags & never);
}

bool access_method_ok(const struct class *cls, unsigned flags, bool init)
{
	unsigned never = 0;

	if (cls->access & ACC_INTERFACE)
		return interface_method_ok(cls->major, flags);
	if (init) {
		never = ACC_STATIC | ACC_FINAL | ACC_SYNCHRONIZED | ACC_NATIVE | ACC_ABSTRACT;
		if (cls->major >= JAVA_5)
			never |= ACC_BRIDGE;
	} else if (flags & ACC_ABSTRACT) {
		never = ACC_FINAL | ACC_NATIVE | ACC_PRIVATE | ACC_STATIC;
		if (cls->major >= JAVA_5)
			never |= ACC_SYNCHRONIZED | (cls->major < JAVA_17 ? ACC_STRICT : 0);
	}
	return one_visibility(flags) && !(flags & never);
}
