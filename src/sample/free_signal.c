/* SPDX-License-Identifier: Apache-2.0 */
/* free_signal.c - the first signal with the default action.  The uppermost are left to the JDK.
 * Runtimes with small stacks of their own (Go) set an alternate one, and need SA_ONSTACK of every
 * handler. */
#include "sample/free_signal.h"

#include <string.h>

enum { FROM = 6, ABOVE = 4 }; /* after SIGRTMIN, before SIGRTMAX */

int free_signal_take(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction old, ours;

	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = handler;
	ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	for (int s = SIGRTMIN + FROM; s <= SIGRTMAX - ABOVE; s++)
		if (sigaction(s, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
		    old.sa_handler == SIG_DFL && sigaction(s, &ours, NULL) == 0)
			return s;
	return 0;
}
