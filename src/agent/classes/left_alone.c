/* SPDX-License-Identifier: Apache-2.0 */
/* left_alone.c - the account of what was left alone, and why: methods by the table of woven classes,
 * whole classes by the last survey. */
#include "agent/classes/left_alone.h"

#include <stdio.h>

#include "agent/core/agent.h"

const char *const left_reasons[] = {
#define X(code, reason) reason,
#include "agent/classes/reasons.def"
#undef X
};

/* Guarded by agent.lock. */
static char misfit[200];
static struct {
	char class[160], why[200];
} refused;

void left_alone_misfit(struct slice why)
{
	snprintf(misfit, sizeof(misfit), "%.*s", SLICE_FMT(why));
}

void left_alone_refused(const char *class, const char *why)
{
	snprintf(refused.class, sizeof(refused.class), "%s", class);
	snprintf(refused.why, sizeof(refused.why), "%s", why);
}

static uint64_t seen_left[LEFT_KINDS]; /* whole classes, by the last survey */
static char seen_example[LEFT_KINDS][160];

void left_alone_seen(enum left_kind kind, const char *example)
{
	if (!seen_left[kind]++)
		snprintf(seen_example[kind], sizeof(seen_example[kind]), "%s", example);
}

void left_alone_clear(void)
{
	memset(seen_left, 0, sizeof(seen_left));
}

void left_alone_rows(struct left_row rows[LEFT_KINDS])
{
	for (int k = 0; k < LEFT_KINDS; k++) {
		rows[k] = (struct left_row){ .reason = left_reasons[k], .count = seen_left[k] };
		if (seen_left[k])
			memcpy(rows[k].example, seen_example[k], sizeof(rows[k].example));
	}
	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = woven_first(); w; w = w->all) {
		for (int k = 0; k < LEFT_KINDS && !w->rests; k++) {
			if (w->left[k] && !rows[k].count)
				snprintf(rows[k].example, sizeof(rows[k].example), "%s", w->name);
			rows[k].count += w->left[k];
		}
	}
	if (rows[LEFT_DATA].count)
		memcpy(rows[LEFT_DATA].why, misfit, sizeof(misfit));
	if (rows[LEFT_REFUSED].count) { /* the example and the reason are of one class */
		memcpy(rows[LEFT_REFUSED].example, refused.class, sizeof(refused.class));
		memcpy(rows[LEFT_REFUSED].why, refused.why, sizeof(refused.why));
	}
	pthread_mutex_unlock(&agent.lock);
	for (int k = 0; k < LEFT_KINDS; k++)
		text_replace(rows[k].example, '/', '.');
}
