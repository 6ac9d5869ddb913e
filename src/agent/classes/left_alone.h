/* SPDX-License-Identifier: Apache-2.0 */
/* left_alone.h - what was left alone, over all classes, and why.
 *
 * Methods are counted in the table of woven classes; classes that no weaving ever sees are reported
 * here by the survey.  The agent's thread, but for left_alone_misfit. */
#ifndef AGENT_CLASSES_LEFT_ALONE_H
#define AGENT_CLASSES_LEFT_ALONE_H

#include "agent/classes/woven.h"

extern const char *const left_reasons[]; /* by left_kind */

struct left_row {
	const char *reason;
	uint64_t count;
	char example[160];
	char why[200]; /* or "" */
};
void left_alone_rows(struct left_row rows[LEFT_KINDS]);

/* A whole class; forgotten by clear. */
void left_alone_seen(enum left_kind kind, const char *example);
void left_alone_clear(void);

/* Why it is so of the last one; agent.lock is held. */
void left_alone_misfit(struct slice why);		     /* of a condition */
void left_alone_refused(const char *class, const char *why); /* by the JVM */

#endif
