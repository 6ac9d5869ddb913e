/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - where the threads of the program are, looked at some times a second.
 *
 * One client at a time.  Samples are taken by the agent's thread between its other work, so
 * commands go on being served meanwhile.  The memory for frames is bounded; the rate goes down by
 * itself when one look costs too much.  Everything runs on the agent's thread unless it says
 * otherwise. */
#ifndef AGENT_SERVE_SAMPLE_H
#define AGENT_SERVE_SAMPLE_H

#include <jvmti.h>

#include "agent/core/conn.h"

void sample_run(struct conn *c, JNIEnv *jni, struct slice payload); /* the command */

int sample_patience(void); /* ms until sample_tick is due; -1: no client wants samples */
void sample_tick(void);
bool sample_is_for(const struct conn *c); /* does it wait for samples? */
void sample_client_gone(uint32_t number);
void sample_stop(void); /* the agent leaves */

void sample_gc_events(bool on); /* wanted, or no more; counted */

/* JVMTI callbacks, in the VM's threads. */
void JNICALL sample_on_gc_start(jvmtiEnv *jvmti);
void JNICALL sample_on_gc_end(jvmtiEnv *jvmti);

#endif
