/* SPDX-License-Identifier: Apache-2.0 */
/* closing.h - keeps what hooks cost below a share of what the program uses, by closing some.
 *
 * plan/budget decides which; here it learns what the methods do, gates are held closed, and hooks
 * that stay closed are taken out of the code by `skip` rules of Sonde's own.  On the agent's
 * thread. */
#ifndef AGENT_SERVE_CLOSING_H
#define AGENT_SERVE_CLOSING_H

#include <jni.h>

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"
#include "agent/core/conn.h"
#include "wire/wire.h"

/* As in the message `hook`. */
void closing_set(double share);

/* The message `hook`: rules, a budget, or both. */
void closing_hook(struct conn *c, JNIEnv *jni, struct slice payload);

void closing_tick(void); /* every second */
bool closing_is_on(void);

bool closing_is_own(const struct rule_entry *e); /* a rule of Sonde's own */
uint32_t closing_rules(void);			 /* how many of these there are; in any thread */

uint32_t closing_flags(uint32_t id); /* METHOD_CLOSED, METHOD_FEWER */
void closing_status(struct wire_status *m);
void closing_explain(uint32_t id, struct buf *out); /* why it is closed; nothing when it is not */

void closing_forget(uint32_t id); /* it is another method from now on */
void closing_reset(void);	  /* figures count from now */

#endif
