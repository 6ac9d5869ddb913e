/* SPDX-License-Identifier: Apache-2.0 */
/* weave.h - a class and rules become a class.
 *
 * Pure: no JVM, no files, no clock; the same bytes under the same rules and ids give the same
 * result.  A weaver is made once from a set of rules and may then be used by any number of
 * threads, each with arenas of its own.  A method that cannot be woven is left as it was and reported
 * with its reason; so is a class. */
#ifndef WEAVE_WEAVE_H
#define WEAVE_WEAVE_H

#include "rule/match.h"
#include "weave/builtin.h"
#include "weave/cond_code.h"

/* HotSpot never compiles a method of more bytes (HugeMethodLimit): a hook that takes one past it
 * would make it many times slower for good. */
enum { WEAVE_HUGE = 8000 };

struct weaver {
	const struct rules *rules;
	struct template *builtin[BUILTIN_MAX]; /* in the order of builtins[] */
	struct template **own;		       /* of the rules' own, by rule->index, or NULL */
	bool captures;			       /* some rule captures values */
	bool has_steps;			       /* some rule has a sequence of callers */
	/* A method that has more bytes than this with a hook, and had not before, gets a smaller
	 * one or stays as it was (E_HUGE); 0: any size will do.  WEAVE_HUGE, until the caller of
	 * weaver_init sets another. */
	uint32_t huge;
};

/* Gives the bytes of a template's class file, which must live as long as the weaver. */
typedef int weave_load(void *ctx, struct slice path, struct slice *bytes, struct fault *f);

/* Prepares all templates; a bad one is refused here, before any class is touched.  load may be
 * NULL when no rule names a template of its own. */
int weaver_init(struct weaver *w, struct arena *mem, const struct rules *rules, weave_load *load,
		void *ctx, struct fault *f);
void weaver_release(struct weaver *w);

/* Methods that no rule wants may be woven as well, to be closed until one does: rules then come and
 * go without the class being changed.  They have the template of level timed, and so have those
 * that are to be counted only; or one that serves level full, too, where there is none for what
 * the method is about.  Not in classes at which values are captured. */
enum weave_whole { WHOLE_NO, WHOLE_TIMED, WHOLE_FULL };

/* What became of one method that a rule wants hooked, has in a sequence of callers, or (rule->kind
 * RULE_CAPTURE) captures at without hooking it. */
struct weave_outcome {
	uint32_t method; /* index into the class's methods */
	int rc;		 /* 0: woven; else E_*, and it was left alone */
	int32_t id;
	uint16_t own_id; /* with own_ids: the constant that holds the id, 0: none does */
	uint16_t id_pc;	 /* ... or the offset of a sipush's operand that does; 0: none */
	/* ... and where those four or two bytes lie in the woven class; 0: nowhere. */
	uint32_t id_at;
	uint32_t code_was, code_now; /* bytes of code, before and (of a woven one) with the hook */
	struct slice map; /* with own_ids: from old offsets to new ones, see code_offset_map */
	/* NULL: it is only a step of others' sequences; or, without anchors, woven for no rule. */
	const struct rule *rule;
	const struct rule_anchor *anchors; /* the steps it is, in the order of the rules */
	size_t n_anchors;
	const char *category;		 /* of rule_templates, from the rule or by fit.h; or NULL */
	const struct template *template; /* NULL unless woven */
	const char *got;		 /* its category; NULL: the rules' own */
	char *why;			 /* one sentence, when rc < 0; else NULL */
};

/* The number of a method that is going to be woven; negative: E_*, and it is left alone. */
typedef int32_t weave_id(void *ctx, const struct class *cls, const struct member *m);

struct weave_job {
	struct arena *mem;		      /* for the class and the outcomes */
	struct arena *work;		      /* for one method; reset again and again */
	const struct rule_resolver *resolver; /* may be NULL */
	int32_t first_id;		      /* method k of the class gets first_id + k ... */
	weave_id *id_of;		      /* ... unless this is there to be asked */
	void *id_ctx;
	/* Each id is an Integer constant of its own, or stands in the code, to be changed
	 * afterwards; numbers->placed must be there then. */
	bool own_ids;
	enum weave_whole whole; /* becomes WHOLE_NO where that is not possible */
	bool ahead; /* no agent will decide contexts: hooks with them are E_UNSUPPORTED */
	const struct cond_numbers *numbers; /* NULL: the same of conditions and captures */
	/* results */
	struct class *cls; /* to be given back with class_release */
	/* One for each method that a rule wants; behind them those woven for none. */
	struct weave_outcome *outcomes;
	uint32_t n_outcomes, n_woven;
	bool partly; /* for some methods that no rule wants there were no constants or numbers */
};

/* Appends the woven class to out; nothing when no method was woven (job->n_woven is 0).  Negative:
 * the class itself could not be read or written, nothing was appended. */
int weave_class(const struct weaver *w, struct weave_job *job, struct slice bytes, struct buf *out,
		struct fault *f);

#endif
