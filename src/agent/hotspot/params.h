/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - puts back what some JVMs lose when they show a loaded class: the names of parameters.
 *
 * Before JDK 17.0.20 and 21 (JDK-8240908) the class file that HotSpot makes of a loaded class has
 * no MethodParameters, and whoever returns such a class takes them from the program; frameworks
 * that look for parameters by name then fail. */
#ifndef AGENT_HOTSPOT_PARAMS_H
#define AGENT_HOTSPOT_PARAMS_H

#include <jvmti.h>

#include "base/buf.h"

bool params_are_lost(void); /* by this JVM */

/* Appends the class with its MethodParameters to out, when it has lost some.  1: done; 0: there was
 * nothing to put back; negative: not possible, and the class must be left alone. */
int params_restore(jclass klass, struct slice bytes, struct buf *out);

#endif
