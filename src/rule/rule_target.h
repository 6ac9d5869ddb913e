/* SPDX-License-Identifier: Apache-2.0 */
/* rule_target.h - which methods a rule is about, and whether one of them is meant.
 *
 * All given tests must hold.  The verdict names the test that failed, so matching and
 * explaining are the same code. */
#ifndef RULE_RULE_TARGET_H
#define RULE_RULE_TARGET_H

#include "rule/facts.h"
#include "rule/signature.h"

enum kin_kind {
	KIN_IMPLEMENTS, /* an interface, direct or inherited */
	KIN_EXTENDS,	/* any ancestor, class or interface */
	KIN_ANNOTATED,	/* an annotation of the class or of the method */
};

struct kin {
	enum kin_kind kind;
	struct pattern name;
	struct slice descriptor; /* of an annotation named without wildcards; else .n 0 */
};

struct rule_target {
	bool any_class; /* no class pattern given */
	struct pattern class;
	struct kin *kin;
	size_t kin_count;
	bool any_method; /* no method given: all, constructors and initialisers too */
	struct pattern method;
	struct params params;
	bool has_returns;
	struct type_pattern returns;
	uint16_t access, access_not; /* flags that must be set, and that must not */
};

/* The modifiers a rule can ask for, JVMS table 4.6-A; ends with a NULL word. */
struct target_modifier {
	const char *word;
	uint16_t flag;
};
extern const struct target_modifier target_modifiers[];
enum { TARGET_STATIC = 0x0008 };

enum target_answer {
	TARGET_HIT,
	TARGET_MAYBE, /* of a class alone: an annotation of a method would decide */
	TARGET_NOT_CLASS,
	TARGET_NOT_KIN, /* verdict.kin says which */
	TARGET_NOT_METHOD,
	TARGET_NOT_PARAMS,
	TARGET_NOT_RETURNS,
	TARGET_NOT_ACCESS, /* verdict.flag says which */
};

struct target_verdict {
	enum target_answer answer;
	const struct kin *kin;
	uint16_t flag;
};

/* With method NULL only what the class decides is tested.  room is for the ancestors and
 * keeps them between calls about the same class; set room->ready to false before the first. */
struct target_verdict rule_target_test(const struct rule_target *t, const struct rule_class *cls,
				       const struct rule_method *method, struct rule_lineage *room);

/* What is asked of the method alone: name, parameters, result, modifiers. */
struct target_verdict rule_target_test_method(const struct rule_target *t,
					      const struct rule_method *m);

#endif
