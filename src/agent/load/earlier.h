/* SPDX-License-Identifier: Apache-2.0 */
/* earlier.h - what was found about this application before, for its start.
 *
 * The option known=DIR says where that is kept (cache/state.h); the application's name is its main
 * class or the file name of its jar, or what the option app= says. */
#ifndef AGENT_LOAD_EARLIER_H
#define AGENT_LOAD_EARLIER_H

#include "base/buf.h"

/* Finds agent.app; arguments as for launch_of_properties. */
void earlier_application(const char *command, const char *class_path);

/* Appends the rules of earlier findings.  False: there are none, or they are not to be used, which
 * is noted when it is odd. */
bool earlier_rules(struct buf *out);

#endif
