/* SPDX-License-Identifier: Apache-2.0 */
/* classwalk.h - goes through the loaded classes, and says whether one is meant by a name.
 *
 * The agent's thread alone. */
#ifndef AGENT_SERVE_CLASSWALK_H
#define AGENT_SERVE_CLASSWALK_H

#include <jvmti.h>

#include "base/slice.h"
#include "rule/text.h"

enum { CLASSWALK_NAME = 512 }; /* bytes of a name, with a NUL */

struct classwalk {
	JNIEnv *jni;
	void *ctx;
	/* false: enough */
	bool (*class)(void *ctx, jclass klass, struct slice name);
};

/* All loaded classes but arrays, each a local reference for as long as it is visited.  How many there
 * are. */
uint64_t classwalk(const struct classwalk *w);

/* Calls visit for each method; true: it has said so of one. */
typedef bool classwalk_visit(void *ctx, jmethodID id, const char *name, const char *desc);
bool classwalk_method(jclass klass, classwalk_visit *visit, void *ctx);

/* How well a class a/b/C is meant by `wanted`, of which the packages may be left out: a class of just
 * that name goes before all whose names only end so, and Outer before Other$Outer.  A nested class
 * may be written with a slash. */
enum classwalk_fit { FIT_NOT, FIT_NESTED, FIT_TAIL, FIT_WHOLE };
enum classwalk_fit classwalk_fits(struct slice wanted, struct slice name);

struct slice classwalk_simple(struct slice name); /* without packages and outer classes */

/* The class that somebody probably meant by a/b/C, or by C. */
struct classwalk_guess {
	struct text_guess of;
	char near[CLASSWALK_NAME]; /* a/b/C; "": none is near enough */
};
void classwalk_guess_init(struct classwalk_guess *g,
			  const char *wanted); /* which must outlive it */
void classwalk_guess_try(struct classwalk_guess *g, struct slice name);

/* What its loader is called: a class name, "boot" for that of the JVM itself. */
void classwalk_loader(JNIEnv *jni, jclass klass, char out[CLASSWALK_NAME]);

#endif
