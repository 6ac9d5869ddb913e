/* SPDX-License-Identifier: Apache-2.0 */
/* instrument.h - brings the classes of the JVM into line with the rules in force.
 *
 * Classes that are loaded from now on are woven as they come (in the thread that loads them).
 * Those already there are surveyed and retransformed in batches, by the agent's thread.  The JVM
 * always hands out a class as it was before anybody's hooks, so taking hooks out is the same
 * act under other rules. */
#ifndef AGENT_INSTRUMENT_H
#define AGENT_INSTRUMENT_H

#include <jvmti.h>

#include "agent/rulebook.h"
#include "agent/woven.h"

/* Loaded classes that do not look as the rules in force want them. */
struct survey {
	jclass *classes; /* to be retransformed; local references */
	size_t n;
	bool at_once;	    /* set by the caller: no class may rest */
	uint64_t looked_at; /* classes that can be changed */
	/* Set by the caller: names to find the nearest to, of a class (a/b/C) and a method; may be
	 * empty. */
	struct slice wanted, wanted_method;
	char near[200]; /* "a/b/C" or "a/b/C::m", or "" */
};

int survey_take(JNIEnv *jni, struct survey *s); /* 0 or E_NO_MEMORY */
struct kin_of;
bool survey_is_fragile(
	const struct kin_of *kin); /* the JVM would harm it when it is retransformed */
void survey_release(JNIEnv *jni, struct survey *s);
uint64_t survey_methods(const struct survey *s); /* about how many they have, from a sample */

/* Retransforms these, all at once or, when the JVM refuses that, in parts; gives how many it would
 * not take even alone. */
uint64_t survey_retransform(JNIEnv *jni, const jclass *classes, size_t n);

/* RetransformClasses, and whether the calling thread is in it. */
jvmtiError survey_show(const jclass *classes, size_t n);
bool survey_is_showing(void);

/* Retransforms them all.  `more` is asked between batches with how far it is; false stops.  Gives
 * the number of classes that the JVM refused. */
typedef bool instrument_more(void *ctx, uint64_t at, uint64_t total);
uint64_t instrument_retransform(JNIEnv *jni, const struct survey *s, instrument_more *more,
				void *ctx);

/* Switches the JVM's events to what the edition in force needs. */
void instrument_events(void);

/* The class file of a class as the JVM has it, without anybody's hooks; false: not to be had.  On
 * the agent's thread. */
bool instrument_bytes(JNIEnv *jni, jclass klass, struct buf *out);

/* What the rule (NULL: a step of others' sequences) wants in the method.  All rules that want the
 * same, but for CODE_OWN, have the same hook, which knows neither rule nor context. */
enum instrument_code {
	CODE_OWN,	/* its own: a condition, a capture, another template */
	CODE_PLAIN,	/* the hook of level timed */
	CODE_ARGUMENTS, /* ... that can tell arguments */
	CODE_FULL,	/* ... that can tell everything of any method */
	CODE_KIND,	/* ... or, if it is of a kind, what such methods have to tell */
};
/* whole: in a class of which all methods are woven, where level light has the hook of level
 * timed, too, and level full one that serves all. */
enum instrument_code instrument_code(const struct rule *rule, bool whole);
bool instrument_serves(enum instrument_code has, enum instrument_code wanted);

/* How a woven method is observed from now on: under the rule that hooks it (or NULL), as these
 * steps of sequences.  agent.lock is held. */
struct instrument_how {
	const struct edition *edition;
	const struct rule *rule;
	const struct rule_anchor *anchors;
	size_t n_anchors;
};
void instrument_set(struct hooked *h, const struct instrument_how *how);
void instrument_open(JNIEnv *jni, struct hooked *h,
		     const struct instrument_how *how); /* ... which it was not */

/* JVMTI callbacks. */
void JNICALL instrument_on_bytes(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, jobject loader,
				 const char *name, jobject domain, jint n,
				 const unsigned char *bytes, jint *new_n,
				 unsigned char **new_bytes);
void JNICALL instrument_on_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass);

/* Was a class loaded since the last call that is to be redefined live? */
bool instrument_live_waits(void);

/* Class names by whose code the probe or the thread switch itself runs; LEFT_KINDS: none. */
enum left_kind instrument_kind(const char *name, size_t n);

#endif
