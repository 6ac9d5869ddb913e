/* SPDX-License-Identifier: Apache-2.0 */
/* idle.h - bounds what is remembered of classes that were unloaded.
 *
 * Their entries wait for classes of the same name (woven.h).  Some programs make classes of ever new
 * names, or have very many of one name at a time; of theirs only the last IDLE_METHODS methods are
 * remembered one by one.  What older ones were measured to take is added to a class of the same name
 * or, when there is none, to one method, "(unloaded).methods()", and their numbers go to others.  Their contexts in the call tree are lost. */
#ifndef AGENT_SERVE_IDLE_H
#define AGENT_SERVE_IDLE_H

enum { IDLE_METHODS = 16384 };

/* Forgets what is too much.  On the agent's thread, while nothing there points to an entry. */
void idle_trim(void);

#endif
