/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h - which loaded classes do not look as the rules in force want them, and the replacing of
 * those. */
#ifndef AGENT_WEAVING_SURVEY_H
#define AGENT_WEAVING_SURVEY_H

#include <jvmti.h>

#include "agent/classes/rulebook.h"

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
	/* Set by the caller: the number of the first new rule; 0: none is new. */
	uint32_t first;
	uint64_t
		held; /* methods that new rules mean, and that a client holds by a rule of its own */
};

int survey_take(JNIEnv *jni, struct survey *s); /* 0 or E_NO_MEMORY */
struct kin_of;
bool survey_is_fragile(
	const struct kin_of *kin); /* the JVM would harm it when it is retransformed */
void survey_release(JNIEnv *jni, struct survey *s);
uint64_t survey_methods(const struct survey *s); /* about how many they have, from a sample */

/* Of the rules that touch the class, as woven->digest has it; 0: none does, or out of memory. */
uint64_t survey_digest(const struct edition *e, const struct rule_class *facts);

/* Retransforms them all.  `more` is asked between batches with how far it is; false stops.  Gives
 * the number of classes that the JVM refused. */
typedef bool survey_more(void *ctx, uint64_t at, uint64_t total);
uint64_t survey_retransform(JNIEnv *jni, const struct survey *s, survey_more *more, void *ctx);

#endif
