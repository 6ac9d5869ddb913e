/* SPDX-License-Identifier: Apache-2.0 */
/* alerts.h - one alert: what broke, since when, and what a dig has found.  One thread at a time.
 *
 * All methods of an application that break in the same way are one alert, since callers of a slow
 * method are slow as well. */
#ifndef MANAGER_WATCH_ALERTS_H
#define MANAGER_WATCH_ALERTS_H

#include "base/json.h"
#include "manager/fleet/fleet.h"
#include "manager/watch/usual.h"

enum { ALERT_METHODS = 50 };

struct alert_figure {
	char *method;
	double usual, limit, value, lost; /* lost: share of a thread's time beyond what is usual */
	bool is_good;
};

struct alert {
	struct alert *next;
	char id[40], app[HUB_APP], instance[FLEET_ID];
	enum usual_kind kind;
	uint64_t began_ms, ended_ms; /* ended_ms 0: it is open */
	struct alert_figure figures[ALERT_METHODS];
	size_t n; /* the one that lost most comes first */
	char dig[40];
	bool digging, wants_dig;
	struct buf answer; /* of the dig, JSON */
	char finding[2000], why[256];
};

struct alert *alert_new(const char *app, enum usual_kind kind); /* NULL: out of memory */
void alert_free(struct alert *a);
bool alert_add(struct alert *a, const struct alert_figure *f); /* copies; updates one that is in */
struct alert_figure *alert_find(struct alert *a, const char *method);
bool alert_is_good(const struct alert *a); /* all of its methods are */
void alert_take_answer(struct alert *a, struct slice answer, const char *why);

const char *alert_kind_word(enum usual_kind kind);
void alert_text(const struct alert *a, struct buf *out); /* one line for people */
void alert_json(const struct alert *a, struct json *j);
struct alert *alert_read(struct slice doc); /* NULL: it cannot be read */

#endif
