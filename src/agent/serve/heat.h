/* SPDX-License-Identifier: Apache-2.0 */
/* heat.h - 1/N: which calls of a method are timed where its rule leaves that to Sonde. */
#ifndef AGENT_SERVE_HEAT_H
#define AGENT_SERVE_HEAT_H

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"

/* So many calls a second of one method are timed, or not many more. */
void heat_limit(double calls);

/* The method is called so many times a second. */
void heat_follow(struct hooked *h, const struct rule_entry *e, double rate);

#endif
