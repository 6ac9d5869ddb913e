/* SPDX-License-Identifier: Apache-2.0 */
/* woven.h - which classes have been woven, which methods of them, under which numbers.
 *
 * A class is known by its name and its loader (held weakly).  A method keeps its number for as
 * long as the agent lives, also when it is woven again after a change of rules.  All is guarded by
 * agent.lock, which the caller holds unless a function says otherwise; entries never move and are
 * never freed, so a pointer to one may be kept. */
#ifndef AGENT_WOVEN_H
#define AGENT_WOVEN_H

#include <jni.h>

#include "base/slice.h"
#include "weave/weave.h"

enum left_kind {
#define X(code, reason) LEFT_##code,
#include "agent/left.def"
#undef X
	LEFT_KINDS
};

struct hooked { /* a method */
	struct woven *class;
	char *name;	   /* "name(desc)", owned */
	uint32_t name_n;   /* its bytes */
	uint64_t original; /* hash of its code before it was woven */
	uint32_t id;
	uint32_t rule; /* number of the rule that decides; 0: not hooked now */
	uint16_t access;
	uint8_t level; /* enum rule_level */
	bool seen;     /* private to woven_begin/woven_end */
	bool anchor;   /* a step of some rule's sequence of callers, whether hooked or not */
	bool held;     /* the rule that decides, or did last, was held by a client */
	bool in_code;  /* the class as it is now has a hook in it, be it closed */
	bool bound;    /* ... with a condition or a capture, which go with their rule */
	uint8_t code;  /* ... enum instrument_code */
	void *java;    /* the jmethodID under which it was last seen on a stack, or NULL */
	void *other;   /* ... of another method that was there in its place, and is no bridge */
	uint32_t one_in;
	uint64_t peak;	     /* most calls seen running at once */
	uint64_t calls;	     /* at the last look: for rates and 1/N */
	uint64_t outside;    /* ... and calls outside its sequences */
	uint64_t forgotten;  /* calls that were counted and reset */
	uint64_t jni_calls;  /* calls counted before the cheaper way to C was taken */
	uint64_t before;     /* calls counted before its rule became responsible */
	uint64_t since;	     /* tick at which it was hooked */
	struct hooked *next; /* of the same class */
};

struct woven {	    /* a class */
	char *name; /* a/b/C, owned */
	uint32_t loader;
	struct hooked *methods;
	uint32_t n_hooked;  /* methods hooked now */
	uint64_t digest;    /* of the rules under which it was woven; 0: unknown */
	uint64_t wanted;    /* ... and under which it will be, when it is retransformed next */
	uint64_t rests;	    /* tick until which it stays woven for no rule; 0: some rule wants it */
	uint32_t rested;    /* how often it has got its original code after a rest */
	uint32_t redefined; /* how often its code was changed since it was loaded */
	uint8_t whole;	    /* enum weave_whole: how it is woven now */
	bool partly;	    /* ... but for some methods that could be, were there more room */
	uint8_t whole_next; /* how it is to be when it is retransformed next */
	bool never_whole;   /* the JVM would not have it so */
	bool had_full;	    /* some rule wanted level full */
	bool fresh;	    /* between woven_begin and woven_end: it had no methods before */
	uint16_t left[LEFT_KINDS]; /* methods left alone, by reason */
	struct woven *next;	   /* in its bucket */
	struct woven *all;	   /* the next of all */
};

/* The class; when it is not there, made or NULL; also NULL when memory is out. */
struct woven *woven_find(JNIEnv *jni, const char *name, size_t n, jobject loader, bool make);

bool woven_has(struct slice name); /* some class of that name, of whichever loader */

/* The number of a method, a new one when it has none; negative: no more numbers, or memory. */
int32_t woven_id(struct woven *w, struct slice name, struct slice desc);

/* Closes a hook that stays in the code. */
void woven_close(JNIEnv *jni, struct hooked *h);

/* The method, if it was ever woven; NULL: it was not. */
struct hooked *woven_named(const struct woven *w, const char *name, const char *desc);

/* Is anything of ours in it? */
static inline bool woven_is_in(const struct hooked *h)
{
	return h->rule || h->anchor;
}

/* A new weaving of a class begins / has ended: methods that were not hooked in between are not
 * hooked any more. */
void woven_begin(struct woven *w);
void woven_end(JNIEnv *jni, struct woven *w);
void woven_recount(struct woven *w); /* its methods came or went otherwise */

bool woven_has_code(const struct woven *w); /* any hook, be it closed */

/* The JVM has been given other code for it; `had`: there was a hook in it before. */
void woven_redefined(struct woven *w, bool had);
uint64_t woven_count_redefined(void); /* in all, of all classes.  Takes the lock */

/* Its code was changed so often already that all its methods are woven when it is changed next:
 * then rules come and go by gates alone.  JVMs keep memory for each version of a method. */
bool woven_is_restless(const struct woven *w);

/* Can the class stay as it is woven while no rule wants it?  Closed hooks cost next to nothing, a
 * rule that comes back finds them, and JVMs keep some memory for every method that is replaced. */
bool woven_can_rest(const struct woven *w);
/* Closes all its hooks, for ten seconds; for twice as long after each time that a rule came back
 * too late, up to ten minutes. */
void woven_rest(JNIEnv *jni, struct woven *w);
uint64_t woven_count_resting(void); /* takes the lock */
uint64_t woven_resting(void); /* first tick at which a rest ends; 0: none.  Without the lock */
/* Those whose rest has ended by then are gone.  Takes the lock. */
void woven_rested(uint64_t by);

/* Without the lock. */
struct hooked *woven_method(uint32_t id); /* NULL: no such number */
uint32_t woven_ids(void);		  /* numbers given so far; 0 is nobody's */
uint32_t woven_hooked(void);		  /* methods hooked now */

struct woven *woven_first(void); /* walk with ->all */

/* Counts of what is hooked now.  Takes the lock. */
void woven_count(uint64_t *classes, uint64_t *methods);

#endif
