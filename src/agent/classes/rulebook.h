/* SPDX-License-Identifier: Apache-2.0 */
/* rulebook.h - the rules in force, numbered, and their compiled form.
 *
 * The book belongs to the agent's thread.  Each change makes a new edition: a sealed set of rules
 * with its weaver, which threads of the program read while they load classes.  An edition lives
 * until the last of them has given it back.
 *
 * The rules in an edition stand in the order in which they were added, those that clients hold behind
 * all others: the last that applies decides, so what a client holds is there as long as it is.  All
 * rules of one client stay together.  Of two clients the one that needs more comes last, so that it
 * loses nothing to the other; of two that need alike, the later one. */
#ifndef AGENT_CLASSES_RULEBOOK_H
#define AGENT_CLASSES_RULEBOOK_H

#include "cache/cache.h"
#include "weave/weave.h"

/* What a rule wants to know, of which the next one has all: counts, or nothing; times, values captured, sequences
 * of callers; calls one by one: level full, or watched, or as transactions. */
enum rule_need { NEED_COUNTS, NEED_TIMES, NEED_CALLS, NEEDS };

struct rule_entry {	 /* one rule */
	uint32_t number; /* from 1, never given twice */
	char *text;	 /* one line, as rule_print writes it */
	char *origin;
	uint32_t holder;    /* the connection that holds it; 0: stays */
	uint8_t need;	    /* enum rule_need */
	uint64_t added;	    /* tick */
	uint64_t last_slow; /* tick of the last slow call seen, for `good` */
	uint64_t unloaded;  /* calls of methods that were forgotten (idle.h) */
	uint64_t slow_seen; /* slow calls counted at the last look */
	bool watched;
	uint64_t at_least;
	bool root;		 /* its methods begin transactions */
	const struct rule *rule; /* in the edition in force */
};

struct edition_rule {
	uint32_t number;
	bool watched;	   /* facts about its calls are wanted */
	uint64_t at_least; /* ... of those that take so many ticks */
	bool root;	   /* its methods begin transactions */
	bool held;	   /* by a client, whose own business the figures are */
};

struct edition {
	struct arena mem;
	struct rules *rules;
	struct weaver weaver;
	struct cache_rules cache;
	struct edition_rule *by_index; /* by rule->index */
	size_t *entry_of;	       /* ... its place in the book when the edition was made */
	bool wants_kin;		       /* some rule asks for ancestors */
	bool wants_marks;	       /* ... for annotations */
	bool has_live;		       /* some classes are not to be touched when they are loaded */
	uint64_t serial;	       /* from 1, never given twice */
	int refs;		       /* atomic */
	struct edition *next;	       /* of those that are not used */
};

struct rulebook {
	struct rule_entry *entries;
	size_t n, cap;
	uint32_t next_number;
	struct edition *edition; /* in force; NULL: no rules.  Atomic */
};

extern struct rulebook rulebook;

/* Adds the rules of a text, as `as` says of all of them (holder, watched, at_least, root).  Nothing
 * changes unless all is well.  The number of the first rule added, or negative with the reason
 * appended to *why for people. */
int rulebook_add(struct slice text, const char *origin, const struct rule_entry *as,
		 struct buf *why);

/* The entry of that number, or NULL.  They are in the order of their numbers. */
const struct rule_entry *rulebook_entry(uint32_t number);
/* Methods of that rule were forgotten that had so many calls. */
void rulebook_unloaded(uint32_t number, uint64_t calls);

/* Takes out all that `meant` says, but for captures and templates that a rule that stays needs: nobody
 * holds these any more.  Gives how many went; E_SYNTAX: others need all of them; E_NO_MEMORY. */
typedef bool rulebook_meant(const struct rule_entry *e, void *ctx);
int rulebook_remove(rulebook_meant *meant, void *ctx);

/* In any thread; nothing is waited for.  NULL: no rules. */
struct edition *edition_get(void);
void edition_put(struct edition *e);
void edition_free_unused(void); /* in the agent's thread */

#endif
