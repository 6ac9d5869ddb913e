/* SPDX-License-Identifier: Apache-2.0 */
/* guests.h - threads of the program that are in the agent's code, so that it leaves after them.
 *
 * Callbacks and natives that use the JVMTI environment run between guests_come and guests_go.  When
 * the agent leaves it lets no thread in any more, waits until all have left, and only then gives back
 * what they use.  One that does not come out, since a debugger has stopped it, keeps the agent from
 * leaving.  What touches nothing but static memory and the probe's, both of which stay, needs no
 * counting: that holds for almost all natives of java.util.SondeProbe.
 *
 * A thread that is in may come in again (a class that is retransformed in a callback is shown to
 * another one), and is always let in. */
#ifndef AGENT_CORE_GUESTS_H
#define AGENT_CORE_GUESTS_H

#include <stdbool.h>

/* False: the agent leaves, or has left.  The thread must not touch anything, and guests_go must not
 * follow.  Never waits. */
bool guests_come(void);
void guests_go(void);

/* Lets no thread in from now on, and waits up to ms until all have left.  False: some have not, and
 * everybody is let in as before. */
bool guests_close(int ms);
void guests_open(void);
unsigned guests_count(void); /* how many are in */

#endif
