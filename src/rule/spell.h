/* SPDX-License-Identifier: Apache-2.0 */
/* spell.h - names of an observed program, as they may stand in rules.
 *
 * Names come from class files or over the wire, and may hold any bytes: blanks in Kotlin, or a line
 * break and a whole rule from somebody who means harm.  This is the one place that writes them into
 * rules.  Each character that a word of the rule language cannot hold becomes `?`, which matches any
 * one; so what comes out is always one target, and it matches the method it was made from.  Pure. */
#ifndef RULE_SPELL_H
#define RULE_SPELL_H

#include "base/buf.h"

/* a.b.C::m(int, d.E); class with dots or slashes.  desc may be empty, and is left out when it is
 * malformed. */
void spell_target(struct buf *out, struct slice class, struct slice method, struct slice desc);
void spell_class(struct buf *out, struct slice class);

/* Any text as a part of one line: control characters become `?`. */
void spell_line(struct buf *out, struct slice text);
bool spell_is_line(struct slice text); /* it has none */

#endif
