/* SPDX-License-Identifier: Apache-2.0 */
/* mine.h - what of the agent's figures is dig's own; private to dig.
 *
 * Others may have hooks in the program, too, around the root, below it and of the root itself, and
 * the agent tells of all.  Methods that dig has not hooked are passed over, and calls that were made
 * before it looked are taken off. */
#ifndef PLAN_MINE_H
#define PLAN_MINE_H

#include "plan/dig/dig_state.h"

/* A rule for just this method is among d->rules. */
bool mine_has_rule(const struct dig *d, struct slice name);
/* Has dig hooked it, by the rules that are in? */
bool mine_is_hooked(const struct dig *d, struct slice name);

/* The first reading of candidates is where they begin; later ones become what was added since. */
void mine_begin(struct dig *d);
void mine_since(struct dig *d, struct dig_figures *f);

#endif
