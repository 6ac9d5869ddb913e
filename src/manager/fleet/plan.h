/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what should be hooked in an application: a document with versions, none of which goes.
 *
 * A change is on disk before it is in force.  Called by threads of the API, without the fleet's
 * lock. */
#ifndef MANAGER_FLEET_PLAN_H
#define MANAGER_FLEET_PLAN_H

#include "base/json.h"
#include "manager/fleet/fleet.h"
#include "rule/error.h"

/* A plan that is being made; all zero is an empty one. */
struct plan_draft {
	struct plan plan;
	struct rule_errors errors; /* what is wrong with its rules, by line = rule */
	size_t cap;
	bool replaces_damaged; /* also of a plan that could not be read */
	bool is_damaged;       /* it is one */
};

/* A copy of what is in force; E_NOT_FOUND: no such application. */
int plan_draft(struct fleet *f, struct slice app, struct plan_draft *d);
int plan_draft_add(struct plan_draft *d, struct slice text, const char *origin,
		   uint64_t expires_ms);
bool plan_draft_remove(struct plan_draft *d, struct slice text); /* false: it is not in it */
void plan_draft_clear(struct plan_draft *d);			 /* no rules */
void plan_draft_release(struct plan_draft *d);

/* Puts the rules into Sonde's own spelling.  0; E_SYNTAX: see d->errors; E_LIMIT: too many. */
int plan_draft_check(struct plan_draft *d);

/* Takes newer versions out of the store, of one application or (.n 0) of all.  0; E_IO. */
int plan_pull(struct fleet *f, struct slice app);
/* Puts one that came from elsewhere in force if it is newer. */
void plan_learn(struct fleet *f, const struct archive_plan *p);

/* In place of version `before` (UINT64_MAX: of any); one that says the same is no new version.  0; E_DUPLICATE: somebody was faster; E_IO: it
 * could not be written; as plan_draft_check. */
int plan_put(struct fleet *f, struct slice app, struct plan_draft *d, uint64_t before);

void plan_json(const struct plan *p, struct json *j); /* members of an open object */
int plan_read(struct slice doc,
	      struct plan_draft *d); /* the members `rules` and `traces` of JSON */

#endif
