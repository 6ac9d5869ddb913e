/* SPDX-License-Identifier: Apache-2.0 */
/* in_place.h - measures methods while all other hooks are closed, in windows that take turns.
 *
 * For a client, for so long; or, by an option, for as long as the JVM runs.  Blocks in which hooks
 * are open, and calls are counted and put into the tree, take turns with blocks in which they are
 * closed but for the few methods that are measured alone (probe/solo.h).  When it ends, or the
 * client goes, all gates are as they were.  Everything runs on the agent's thread unless it says
 * otherwise. */
#ifndef AGENT_SERVE_IN_PLACE_H
#define AGENT_SERVE_IN_PLACE_H

#include <jni.h>

#include "agent/core/conn.h"

void in_place_run(struct conn *c, JNIEnv *jni, struct slice payload); /* the command */
void in_place_at_start(void); /* by option: until the JVM ends */

int in_place_patience(void); /* ms until in_place_tick is due; -1: nothing to do */
void in_place_tick(void);
bool in_place_is_for(const struct conn *c); /* does it wait for the end? */
void in_place_client_gone(uint32_t number);
void in_place_stop(void); /* all gates are as they were */

/* The share of the time since the last call of this in which hooks were open. */
double in_place_open_share(void);

/* What was found, as messages; in any thread. */
void in_place_put(struct buf *out);
void in_place_reset(void);

#endif
