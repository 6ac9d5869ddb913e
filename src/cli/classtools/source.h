/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - class files, wherever they lie: one iterator over all places.
 *
 *	FILE			a class file, or an archive: jar, zip, war, ear, jmod; or lib/modules
 *	DIR			all class files and archives below it
 *	@jdk			the JDK of JAVA_HOME, of PATH, or the newest of /usr/lib/jvm
 *	@jdk17			a JDK of that version
 *	@/path/to/jdk		the JDK there
 *	@.../MODULE		one module of it
 *	ARCHIVE!/a/B.class	one class (or several, by * and ?) of an archive
 *	@.../MODULE/a/B.class	the same in a JDK
 *
 * Archives in archives are entered.  Links to archives inside a DIR are not followed, since they
 * are other names for the same.  Everything is read-only; sizes are limited.  One thread at a
 * time. */
#ifndef CLI_CLASSTOOLS_SOURCE_H
#define CLI_CLASSTOOLS_SOURCE_H

#include "base/err.h"
#include "base/slice.h"

enum { SOURCE_CLASS_MAX = 64 << 20 }; /* bytes of the largest class file taken */

struct source;

/* Valid until the next source_next. */
struct source_class {
	const char *shown;  /* for people: "a.jar!/p/C.class", "@jdk17/java.base/p/C.class" */
	const char *inside; /* the part of `shown` behind the place that was named; "" for a FILE */
	const char *group;  /* jar or module it is in: "a.jar", "java.base"; "" for others */
	const char *name;   /* its path in there: "p/C.class" */
	struct slice bytes;
};

/* The strings must outlive the source.  NULL: out of memory. */
struct source *source_open(char *const *specs, size_t n);
void source_close(struct source *s);

/* From now on only classes of this name: "a/B", "a.B", "B", with * and ? as in a shell. */
void source_want(struct source *s, const char *pattern);

enum { SOURCE_EMPTY = 2 };

/* 1: a class; 0: no more; E_*: something could not be read, SOURCE_EMPTY: a place held no class;
 * f tells what, and the next call goes on behind it. */
int source_next(struct source *s, struct source_class *out, struct fault *f);

double source_fraction(const struct source *s); /* how much is done, 0 to 1 */

#endif
