/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - which access flags may stand together (JVMS 4.1, 4.5, 4.6, 4.7.6).
 *
 * As HotSpot sees it: flags that mean nothing in a place are ignored there. */
#ifndef CLASSFILE_ACCESS_H
#define CLASSFILE_ACCESS_H

#include "classfile/class.h"

/* Of a class, and of a class in InnerClasses. */
bool access_class_ok(uint16_t major, unsigned flags);

/* Of a field or method of cls; init: of a constructor.  Not for <clinit>. */
bool access_field_ok(const struct class *cls, unsigned flags);
bool access_method_ok(const struct class *cls, unsigned flags, bool init);

#endif
