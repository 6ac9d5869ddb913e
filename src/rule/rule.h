/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - one parsed rule.  Lives in the arena of its set; read-only. */
#ifndef RULE_RULE_H
#define RULE_RULE_H

#include "rule/condition.h"
#include "rule/rule_target.h"

enum { CONTEXT_MAX = 16, CONTEXT_STEPS_MAX = 16 };

enum rule_kind {
	RULE_HOOK,     /* weave these methods */
	RULE_SKIP,     /* leave these alone */
	RULE_TEMPLATE, /* a template of the user's own */
	RULE_CAPTURE,  /* keep a value for conditions further down */
	RULE_PLACE,    /* where these classes are woven */
};

enum rule_level { LEVEL_LIGHT, LEVEL_TIMED, LEVEL_FULL };
enum rule_place { PLACE_AHEAD, PLACE_LOAD, PLACE_LIVE };

/* One method of a sequence of callers. */
struct context_step {
	struct rule_target target;
	bool direct; /* calls the next step (or the hooked method) itself, not further down */
};

struct context {
	struct context_step *steps; /* outermost first */
	size_t n;
};

struct rule_hook {
	struct context *contexts; /* any one of them is enough; none: everywhere */
	size_t context_count;
	struct cond *condition;		  /* NULL: always */
	struct slice template;		  /* .n 0: chosen by analysis of the class */
	const struct rule *template_rule; /* the user's own, NULL: one of Sonde's */
	enum rule_level level;
	uint32_t one_in;  /* with LEVEL_TIMED: one call in so many is timed; 0: chosen by how hot
			   * the method is */
	bool across;	  /* its sequences go along with work that is given to other threads */
	bool metered;	  /* timed calls also tell what they used besides time */
	uint64_t slow_ns; /* a call that takes longer is slow; 0: learned */
	uint64_t for_ns;  /* the hook leaves after this time; 0: stays */
	uint64_t good_ns; /* ... after no slow call for this time; 0: stays */
	uint64_t calls;	  /* ... after so many calls; 0: stays */
};

struct rule_template {
	struct slice name, path;
	struct slice method; /* .n 0: the only one of the class */
};

struct rule_capture {
	struct slice name;
	struct value *value;	 /* a path */
	const struct rule *also; /* the next rule that captures under this name */
};

/* A captured value that a condition reads: `$user`. */
struct rule_use {
	struct slice name;
	struct rule_pos at;	    /* its first mention */
	const struct rule *capture; /* the first rule that captures it */
	struct rule_use *next;
};

struct rule {
	enum rule_kind kind;
	uint32_t index; /* place in the set, from 0; the later rule decides */
	bool repeated;	/* a later hook or skip has the same text, but for what does not change
			 * woven code: this one never decides */
	struct rule_pos at;
	const struct rule_source *source;
	struct rule_target target; /* not of RULE_TEMPLATE */
	union {
		struct rule_hook hook;
		struct rule_template template;
		struct rule_capture capture;
		enum rule_place place;
	};
	struct rule_use *captures; /* that the condition reads, each once */
	struct rule_pos template_at;
};

/* The templates that come with Sonde; ends with NULL. */
extern const char *const rule_templates[];

const char *rule_level_text(enum rule_level level); /* "light" */
const char *rule_place_text(enum rule_place place); /* "at-load" */

#endif
