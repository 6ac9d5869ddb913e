/* SPDX-License-Identifier: Apache-2.0 */
/* woven.h - which classes have been woven, which methods of them, under which numbers.
 *
 * A class is known by its name and its loader.  A method keeps its number when it is woven again
 * after a change of rules.
 *
 * When a class has been unloaded, its entry stays, with the figures of its methods, and waits for the
 * next class of that name: that one continues the figures under the same numbers.  So a program that
 * loads the same classes into ever new loaders needs no more entries than it has classes at a time.
 * Of classes that do not come again only the last ones are kept (idle.h).
 *
 * All is guarded by agent.lock, which the caller holds unless a function says otherwise, and nothing
 * here calls the JVM: apply_tell passes gates to it, without the lock.  Entries do not
 * move.  A pointer to one may be kept while its class is loaded, and on the agent's thread until
 * idle_trim. */
#ifndef AGENT_CLASSES_WOVEN_H
#define AGENT_CLASSES_WOVEN_H

#include "agent/classes/loaders.h"
#include "base/chains.h"
#include "base/slice.h"
#include "weave/weave.h"

enum left_kind {
#define X(code, reason) LEFT_##code,
#include "agent/classes/reasons.def"
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
	bool earlier;  /* its figures are those of a class of that name that was unloaded */
	uint8_t code;  /* ... enum apply_code */
	uint16_t code_was, code_now; /* ... bytes of code without and with it */
	void *java;  /* the jmethodID under which it was last seen on a stack, or NULL */
	void *other; /* ... of another method that was there in its place, and is no bridge */
	uint32_t one_in;
	uint64_t peak;	     /* most calls seen running at once */
	uint64_t calls;	     /* at the last look: for rates and 1/N */
	uint64_t outside;    /* ... and calls outside its sequences */
	uint64_t forgotten;  /* calls that were counted and reset */
	uint64_t jni_calls;  /* calls counted before the cheaper way to C was taken */
	uint64_t before;     /* calls counted before its rule became responsible */
	uint64_t since;	     /* tick at which it was hooked */
	struct hooked *next; /* of the same class */
	struct hooked *same; /* see woven_link_same */
	bool is_same;	     /* it is in the list of another one */
};

struct woven_name { /* of classes, by whichever loader */
	struct chains_link link;
	uint32_t n;			  /* bytes */
	uint32_t refs;			  /* entries of that name */
	struct woven *idle;		  /* those whose classes were unloaded, by ->sibling */
	struct woven_name *older, *newer; /* of the names that have some */
	char text[];			  /* a/b/C */
};

struct woven {			 /* a class */
	struct chains_link link; /* by name and loader */
	struct woven_name *of;
	const char *name;      /* its text */
	struct loader *loader; /* NULL: it was unloaded */
	struct woven *sibling; /* the next of the same loader, or of the same name when unloaded */
	struct hooked *methods, *last;
	struct hooked *hint; /* where the next method is looked for first */
	uint32_t n_hooked;   /* methods hooked now */
	uint64_t digest;     /* of the rules under which it was woven; 0: unknown */
	uint64_t wanted;     /* ... and under which it will be, when it is retransformed next */
	uint64_t edition;    /* serial of the one under which it was last found right; 0: none */
	bool at_load;	     /* woven as it was loaded: its ancestors were not all known */
	uint64_t woven;	     /* tick at which hooks were last woven into it */
	uint64_t rests;	    /* tick until which it stays woven for no rule; 0: some rule wants it */
	uint32_t rested;    /* how often it has got its original code after a rest */
	uint32_t redefined; /* how often its code was changed since it was loaded */
	uint8_t whole;	    /* enum weave_whole: how it is woven now */
	bool partly;	    /* ... but for some methods that could be, were there more room */
	uint8_t whole_next; /* how it is to be when it is retransformed next */
	bool never_whole;   /* the JVM would not have it so */
	bool had_full;	    /* some rule wanted level full */
	bool fresh;	    /* between woven_begin and woven_end: it had no methods before */
	bool counted;	    /* among those that ever had hooks */
	uint16_t left[LEFT_KINDS];  /* methods left alone, by reason */
	struct woven *all, *before; /* the next and the previous of all */
};

/* The class, by a loader that the caller has taken (NULL: there is none); when it is not there, made
 * or NULL; also NULL when memory is out. */
struct woven *woven_find(struct loader *by, const char *name, size_t n, bool make);

/* The loader and all its classes are gone. */
void woven_unload(struct loader *l);

/* Takes out an entry of which nothing is left but what idle.c wants of it: the longest unloaded of
 * all.  NULL: there is none. */
struct woven *woven_take_oldest(void);
/* Its method's figures are added to this one's: the same method in another unloaded class of that
 * name.  0: there is none. */
uint32_t woven_heir(const struct woven *w, const struct hooked *h);
uint32_t woven_unloaded(void); /* methods of entries whose classes were unloaded */
/* Its methods' numbers may be given to others; the entry can be freed unless it is kept. */
void woven_forget(struct woven *w);
void woven_free(struct woven *w);

/* Links methods of the same name in classes of the same name that were unloaded (->same), for
 * whoever tells of them as of one.  Takes the lock. */
void woven_link_same(void);

bool woven_has(struct slice name); /* some class of that name, loaded or not.  Takes the lock */

/* The number of a method, a new one when it has none; negative: no more numbers, or memory. */
int32_t woven_id(struct woven *w, struct slice name, struct slice desc);

/* Closes a hook that stays in the code. */
void woven_close(struct hooked *h);

/* The method, if it was ever woven; NULL: it was not. */
struct hooked *woven_named(const struct woven *w, const char *name, const char *desc);

/* Is anything of ours in it? */
static inline bool woven_is_in(const struct hooked *h)
{
	return h->class->loader && (h->rule || h->anchor);
}

/* A new weaving of a class begins / has ended: methods that were not hooked in between are not
 * hooked any more. */
void woven_begin(struct woven *w);
void woven_end(struct woven *w);
void woven_recount(struct woven *w); /* its methods came or went otherwise */

bool woven_has_code(const struct woven *w); /* any hook, be it closed */

/* Classes with any hook in their code, be it closed, that were woven at that tick or later.  They may
 * not be there yet, or have failed to come.  Takes the lock. */
uint64_t woven_count_in_code(uint64_t since);

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
void woven_rest(struct woven *w);
uint64_t woven_count_resting(void); /* takes the lock */
uint64_t woven_resting(void); /* first tick at which a rest ends; 0: none.  Without the lock */
/* Those whose rest has ended by then are gone.  Takes the lock. */
void woven_rested(uint64_t by);

/* Without the lock. */
struct hooked *woven_method(uint32_t id); /* NULL: no such number */
uint32_t woven_ids(void);		  /* numbers given so far; 0 is none */
uint32_t woven_hooked(void);		  /* methods hooked now */

struct woven *woven_first(void); /* walk with ->all */

/* Counts of what is hooked now, and how many classes ever were.  They take the lock. */
void woven_count(uint64_t *classes, uint64_t *methods);
uint64_t woven_count_ever(void);

#endif
