/* SPDX-License-Identifier: Apache-2.0 */
/* tell.h - brings messages about alerts to web hooks (--alert-url) and to people (--alert-mail).
 *
 * A thread of its own tries each delivery again, later and later, for about an hour; none waits for
 * another target that is down.  Any thread may call tell_put. */
#ifndef MANAGER_WATCH_TELL_H
#define MANAGER_WATCH_TELL_H

#include "base/slice.h"
#include "manager/settings.h"

struct tell;

struct tell *tell_start(const struct settings *c); /* NULL: out of memory */
void tell_stop(struct tell *t);			   /* NULL is fine; what waits is given up */

/* subject, text: for people; json: for programs. */
struct tell_message {
	const char *subject;
	struct slice text, json;
};
void tell_put(struct tell *t, const struct tell_message *m);

struct tell_counts {
	uint64_t delivered, failed, waiting;
};
struct tell_counts tell_counts(struct tell *t);

#endif
