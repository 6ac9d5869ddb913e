/* SPDX-License-Identifier: Apache-2.0 */
/* class_name.h - names of classes in the JVM's notation, as people write them. */
#ifndef EXPORT_CLASS_NAME_H
#define EXPORT_CLASS_NAME_H

#include "base/buf.h"

/* "[Ljava/lang/String;" is java.lang.String[], "I" is int. */
void class_name_put(struct buf *out, struct slice signature);

#endif
