/* SPDX-License-Identifier: Apache-2.0 */
/* transactions.h - transactions, sent to the one client that traces.  Runs on the agent's thread. */
#ifndef AGENT_SERVE_TRANSACTIONS_H
#define AGENT_SERVE_TRANSACTIONS_H

#include <jni.h>

#include "agent/core/conn.h"

void transactions_run(struct conn *c, JNIEnv *jni, struct slice payload); /* answers `trace` */
void transactions_send(void);			/* the transactions that were kept since */
bool transactions_is_for(const struct conn *c); /* does this client trace? */
void transactions_client_gone(uint32_t number); /* then it traces no more */
void transactions_stop(void);
void transactions_forget(
	uint32_t id); /* it is another method from now on: its name is sent again */

#endif
