/* SPDX-License-Identifier: Apache-2.0 */
/* name.h - which texts may be names and descriptors in a class file of a given version.
 *
 * From version 49 on the rules are those of JVMS 4.2 and 4.3; older classes obey the rules of the
 * Java language, as in HotSpot. */
#ifndef CLASSFILE_NAME_H
#define CLASSFILE_NAME_H

#include "base/slice.h"

/* Kinds of text; one bit each, so that a set of them fits into a byte. */
enum {
	NAME_CLASS = 1, /* with slashes; or the descriptor of an array */
	NAME_FIELD = 2,
	NAME_METHOD = 4, /* <init> and <clinit> too */
	NAME_FIELD_DESC = 8,
	NAME_METHOD_DESC = 16,
	NAME_MODULE = 32,
	NAME_PACKAGE = 64,
};

bool name_is(struct slice s, unsigned kind, uint16_t major);

/* Modified UTF-8 (JVMS 4.4.7). */
bool name_is_utf8(struct slice s, uint16_t major);

#endif
