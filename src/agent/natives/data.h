/* SPDX-License-Identifier: Apache-2.0 */
/* data.h - what conditions and captures need of the JVM.
 *
 * Sites (the parts of conditions that woven code names by number) and slots (names of captured
 * values) get their numbers here, once and for ever; java.util.SondeSite learns what they mean.
 * Numbers are given in any thread; binding and checking are the agent's thread's. */
#ifndef AGENT_NATIVES_DATA_H
#define AGENT_NATIVES_DATA_H

#include <jvmti.h>

#include "rule/rules.h"
#include "weave/cond_code.h"

enum {
	DATA_SITES = 1 << 14,	   /* as SondeData.SITE_COUNT */
	DATA_SLOTS = 64,	   /* as SondeHeld.SLOTS */
	DATA_HOP = DATA_SLOTS - 4, /* as SondeHop.FIRST: from here on they are not for rules */
};

/* Why a test was not met, but for its outcome; as in SondeAccess. */
enum data_miss { MISS_NULL, MISS_THROWN, MISS_NO_MEMBER, MISS_REFUSED, MISS_KINDS };

/* Defines the classes; 0 or E_UNSUPPORTED.  Until then there are no numbers to be had: data_ready()
 * gives NULL. */
int data_init(JNIEnv *jni);
const struct cond_numbers *data_ready(void);

/* From now on nothing that conditions call is seen: some of them are in classes of the JDK that the
 * conditions need themselves. */
void data_guard(JNIEnv *jni);

/* Is this the name of what only looks like a captured value: work that changes threads (handover.h)? */
bool data_is_hop(struct slice name);

/* Tells SondeSite of all sites of these rules.  E_CONDITION and a message for a regular expression
 * that Java does not understand. */
int data_bind(JNIEnv *jni, const struct rules *rules, struct buf *why);

/* Looks at conditions and captures of new rules against the loaded classes.  E_CONDITION and a
 * message when a rule fits none of the methods that it names and that are loaded. */
int data_check(JNIEnv *jni, const struct rules *rules, struct buf *why);

/* The method that a site calls on objects of class c, as a java.lang.reflect.Method; a field, as an
 * Object[], when it only gives that; a String when it is not to be called; NULL: there is none. */
jobject data_find(JNIEnv *jni, jclass c, int32_t site);

/* What a site that is bound gives of x, without waiting for a lock: a value, or a SondeAccess that says
 * why not.  The agent's thread. */
jobject data_reach(JNIEnv *jni, jobject x, int32_t site);

/* The getter that was refused last, and what it does; "": none. */
void data_refused(char *out, size_t cap);

/* Of a method: tests that could not be made, by kind.  data_miss: one more, in an observed
 * thread. */
void data_miss(uint32_t id, int why);
void data_missed(uint32_t id, uint64_t out[MISS_KINDS]);
void data_forget(uint32_t id); /* it is another method from now on */
const char *data_miss_text(enum data_miss kind);

/* The site with that number; NULL: none. */
const struct cond_site *data_site(int32_t number);

/* ---- values seen -------------------------------------------------------------------------- */

enum { SEEN_VALUES = 64, SEEN_TEXT = 256 }; /* of one slot; bytes of one */

struct seen_value {
	char text[SEEN_TEXT];
	uint64_t count, error; /* at most so many too high */
};

struct data_seen {
	uint64_t total;	 /* values seen */
	uint64_t passed; /* ... that could not be counted one by one: another thread was at it */
	size_t n;
	struct seen_value v[SEEN_VALUES]; /* most frequent first */
};

const char *data_slot_name(uint32_t slot);		  /* NULL: no such slot */
void data_see(uint32_t slot, const char *text, size_t n); /* in an observed thread; n < SEEN_TEXT */
void data_seen(uint32_t slot, struct data_seen *out);
void data_seen_reset(void);

#endif
