/* SPDX-License-Identifier: Apache-2.0 */
/* change.c - rules come and go.
 *
 * A change of rules is always made in the same steps: the rulebook gets a new edition, the JVM's
 * events are set to what that needs, the loaded classes are surveyed, and those that do not look
 * right are retransformed.  When the client goes in the middle, what it asked for is undone. */
#include "agent/weaving/change.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/classes/left_alone.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/hotspot/compilers.h"
#include "agent/natives/data.h"
#include "agent/natives/usage.h"
#include "agent/natives/probes.h"
#include "agent/natives/vthread.h"
#include "agent/weaving/recompile.h"
#include "agent/weaving/carry.h"
#include "agent/weaving/instrument.h"
#include "agent/weaving/survey.h"
#include "base/plural.h"
#include "probe/probe.h"
#include "rule/print.h"
#include "wire/wire.h"

enum { PUT_OFF_S = 20 }; /* for which classes may rest longer */

/* ---- what all of them do ------------------------------------------------------------------ */

struct change {
	JNIEnv *jni;
	struct conn *c;	    /* NULL: no client waits for it */
	bool stopped;	    /* the client has gone */
	struct slice rules; /* the new ones, as they were written */
	const char *origin;
	struct survey survey;
};

static bool more(void *ctx, uint64_t at, uint64_t total)
{
	struct change *ch = ctx;

	if (!ch->c)
		return true;
	if (at)
		conn_progress(ch->c, "classes", at, total);
	ch->stopped = !conn_is_alive(ch->c);
	return !ch->stopped;
}

/* Makes the JVM's classes look as the rules in force say. */
static int follow_rules(struct change *ch)
{
	int rc;

	carry_follow(ch->jni);
	if (!rulebook.n)
		agent.many = agent.options.yes;
	if (rulebook.n) /* without rules, too, we want to see each class once more */
		instrument_events();
	vthread_events(rulebook.n != 0);
	usage_follow();
	if (!rulebook.n)
		probe_lanes_end();
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, rulebook.n ? JVMTI_ENABLE : JVMTI_DISABLE,
					   JVMTI_EVENT_THREAD_END, NULL);
	rc = survey_take(ch->jni, &ch->survey);
	if (rc >= 0)
		survey_retransform(ch->jni, &ch->survey, more, ch);
	survey_release(ch->jni, &ch->survey);
	probes_settle(ch->jni);
	if (!rulebook.n)
		instrument_events();
	return rc;
}

static int follow_at_once(struct change *ch)
{
	int rc;

	ch->survey.at_once = true;
	rc = follow_rules(ch);
	woven_rested(UINT64_MAX);
	instrument_events();
	return rc;
}

int change_to_rules(JNIEnv *jni)
{
	return follow_rules(&(struct change){ .jni = jni });
}

int change_to_rules_at_once(JNIEnv *jni)
{
	return follow_at_once(&(struct change){ .jni = jni });
}

static bool is_from(const struct rule_entry *e, void *ctx)
{
	return e->number >= *(uint32_t *)ctx;
}

/* Takes out what a command had just put in. */
static void undo(struct change *ch, uint32_t first)
{
	rulebook_remove(is_from, &first);
	change_to_rules(ch->jni);
}

int change_remove(bool (*meant)(const struct rule_entry *e, void *ctx), void *ctx)
{
	JNIEnv *jni;
	int n = rulebook_remove(meant, ctx);

	if (n <= 0)
		return n;
	jni = agent_enter_jvm();
	if (!jni)
		return E_UNSUPPORTED;
	change_to_rules(jni);
	agent_leave_jvm();
	return n;
}

void change_follow(void)
{
	JNIEnv *jni = agent_enter_jvm();

	if (!jni)
		return;
	change_to_rules(jni);
	agent_leave_jvm();
}

void change_end_rest(void)
{
	uint64_t first = woven_resting(), now = tick_now();

	if (!first || now < first)
		return;
	/* What a compiler is at while a class is replaced would be for nothing. */
	if (agent_ns(now - first) < (uint64_t)PUT_OFF_S * 1000000000u && !compilers_wait(0, 0))
		return;
	change_follow();
	woven_rested(now);
	instrument_events();
}

static bool is_held_by(const struct rule_entry *e, void *ctx)
{
	return e->holder == *(uint32_t *)ctx;
}

void change_client_gone(uint32_t number)
{
	if (agent.dead || !agent.jvmti)
		return;
	change_remove(is_held_by, &number);
	recompile_client_gone();
}

/* Methods and classes hooked by rules from `first` on. */
static void count_from(uint32_t first, uint64_t *classes, uint64_t *methods)
{
	*classes = *methods = 0;
	pthread_mutex_lock(&agent.lock);
	for (const struct woven *w = woven_first(); w; w = w->all) {
		uint64_t n = 0;

		for (const struct hooked *h = w->loader ? w->methods : NULL; h; h = h->next)
			n += h->rule >= first && h->rule;
		*classes += n != 0;
		*methods += n;
	}
	pthread_mutex_unlock(&agent.lock);
}

void change_put_left(struct buf *out)
{
	struct left_row rows[LEFT_KINDS];

	left_alone_rows(rows);
	for (int k = 0; k < LEFT_KINDS; k++)
		if (rows[k].count)
			wire_put_left(out,
				      &(struct wire_left){ .reason = slice_str(rows[k].reason),
							   .count = rows[k].count,
							   .example = slice_str(rows[k].example),
							   .why = slice_str(rows[k].why) });
}

/* The class and the method that the first new rule names, if they are plain names. */
static void set_wanted(struct survey *s, uint32_t first)
{
	for (size_t i = 0; i < rulebook.n; i++) {
		const struct rule *r = rulebook.entries[i].rule;

		if (rulebook.entries[i].number >= first && r->kind == RULE_HOOK &&
		    !r->target.any_class && r->target.class.exact) {
			s->wanted = r->target.class.literal;
			if (!r->target.any_method && r->target.method.exact)
				s->wanted_method = r->target.method.literal;
			return;
		}
	}
}

/* Says why rules were refused, which is in `why` with a line feed behind it, and empties that. */
static void done_refused(struct conn *c, unsigned status, struct buf *why)
{
	struct slice text = { why->p, why->n ? why->n - 1 : 0 };

	if (!text.n)
		text = slice_str("out of memory");
	conn_done(c, status, "%.*s", SLICE_FMT(text));
	buf_release(why);
}

static void done_none(struct change *ch, uint32_t first, bool stays)
{
	char hint[300] = "";

	if (ch->survey.near[0])
		snprintf(hint, sizeof(hint), "; the nearest name is %s", ch->survey.near);
	text_replace(hint, '/', '.');
	if (!stays) {
		undo(ch, first);
		conn_done(
			ch->c, NO,
			"nothing is hooked: of %llu loaded classes none has such a method%s.\n"
			"No rule is left behind; with --wait it waits for classes that are loaded "
			"later.",
			(unsigned long long)ch->survey.looked_at, hint);
		return;
	}
	conn_done(ch->c, NO,
		  "nothing is hooked yet: of %llu loaded classes none has such a method%s.\n"
		  "Rule #%u stays for classes that are loaded later; `sonde unhook` takes it out.",
		  (unsigned long long)ch->survey.looked_at, hint, first);
}

/* Do all rules from `first` on leave alone, capture or place, so that no method can become theirs? */
static bool none_hooks(uint32_t first)
{
	for (size_t i = 0; i < rulebook.n; i++)
		if (rulebook.entries[i].number >= first &&
		    rulebook.entries[i].rule->kind == RULE_HOOK)
			return false;
	return true;
}

enum { HELD_TEXT = 80 };

/* "; 2 methods are held by another client meanwhile", or "". */
static void held_text(const struct survey *s, char out[HELD_TEXT])
{
	out[0] = '\0';
	if (s->held)
		snprintf(out, HELD_TEXT, "; %llu method%s held by another client meanwhile",
			 (unsigned long long)s->held, s->held == 1 ? " is" : "s are");
}

/* What became of the new rules, by which so many classes were woven anew.  Before, so many methods were
 * hooked by all rules. */
static void done_hooked(struct change *ch, uint32_t first, size_t woven, uint64_t before,
			bool stays)
{
	uint64_t classes, methods, now;
	char held[HELD_TEXT];

	held_text(&ch->survey, held);
	woven_count(&classes, &now);
	count_from(first, &classes, &methods);
	change_put_left(&ch->c->out);
	if (methods)
		conn_done(ch->c, DONE, "#%u: %llu method%s in %llu class%s hooked%s", first,
			  (unsigned long long)methods, plural(methods), (unsigned long long)classes,
			  plural_es(classes), held);
	else if (held[0] && now == before) /* they are in force when that client ends */
		conn_done(ch->c, DONE, "#%u: nothing changes yet%s", first, held);
	else if (woven && none_hooks(first))
		conn_done(ch->c, DONE, "#%u: %zu class%s with hooks woven anew%s", first, woven,
			  plural_es(woven), held);
	else if (now < before && none_hooks(first))
		conn_done(ch->c, DONE, "#%u: %llu method%s hooked no more%s", first,
			  (unsigned long long)(before - now), before - now == 1 ? " is" : "s are",
			  held);
	else
		done_none(ch, first, stays);
}

bool change_is_about_data(const struct rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *r = rules->all[i];

		if (r->kind == RULE_CAPTURE || (r->kind == RULE_HOOK && r->hook.condition))
			return true;
	}
	return false;
}

/* Conditions and captures of the new rules: are they possible?  The rules are read once more, so
 * that messages show them as they were written. */
static int prepare_data(struct change *ch, struct buf *why)
{
	struct rule_errors errors = { 0 };
	struct rules *rules;
	struct arena mem;
	int rc;

	arena_init(&mem);
	rules = rules_new(&mem);
	rc = rules ? rules_add(rules, ch->rules, ch->origin, &errors) : E_NO_MEMORY;
	if (rc >= 0 && change_is_about_data(rules)) {
		rc = data_init(ch->jni);
		if (rc < 0)
			buf_printf(why, "conditions cannot be decided in this JVM\n");
		if (rc >= 0)
			rc = data_check(ch->jni, rules, why);
		if (rc >= 0)
			rc = data_bind(ch->jni, rules, why);
	}
	arena_release(&mem);
	return rc;
}

/* The new rules leave again, before any class was touched, and the client learns why. */
static void leave_out(struct change *ch, uint32_t first, uint32_t flags, int rc, uint64_t methods)
{
	uint64_t n = ch->survey.n;

	survey_release(ch->jni, &ch->survey);
	undo(ch, first);
	if (rc < 0)
		conn_done(ch->c, CANNOT, "out of memory");
	else if (flags & HOOK_DRY)
		conn_done(ch->c, n ? DONE : NO,
			  "would change %llu of %llu loaded class%s, with about %llu "
			  "method%s in all",
			  (unsigned long long)n, (unsigned long long)ch->survey.looked_at,
			  plural_es(ch->survey.looked_at), (unsigned long long)methods,
			  plural(methods));
	else
		conn_done(ch->c, USAGE,
			  "this would hook up to %llu method%s in %llu class%s; --yes if "
			  "that is meant",
			  (unsigned long long)methods, plural(methods), (unsigned long long)n,
			  plural_es(n));
}

/* Everything from the new rules in the book to the answer. */
static void put_in(struct change *ch, uint32_t first, uint32_t flags)
{
	uint64_t classes, before, methods;
	size_t woven;
	struct buf why = { 0 };
	int rc;

	agent.many |= (flags & HOOK_YES) != 0;
	if (probes_init(ch->jni) < 0) {
		undo(ch, first);
		conn_done(ch->c, CANNOT, "the probe could not be set up: %.*s", (int)agent.notes_n,
			  agent.notes);
		return;
	}
	if (prepare_data(ch, &why) < 0) {
		undo(ch, first);
		done_refused(ch->c, USAGE, &why);
		return;
	}
	carry_follow(ch->jni);
	instrument_events();
	vthread_events(true);
	usage_follow();
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, NULL);
	set_wanted(&ch->survey, first);
	ch->survey.first = first;
	woven_count(&classes, &before);
	rc = survey_take(ch->jni, &ch->survey);
	methods = rc < 0 ? 0 : survey_methods(&ch->survey);
	if (rc < 0 || (flags & HOOK_DRY) || (methods > MANY_METHODS && !(flags & HOOK_YES))) {
		leave_out(ch, first, flags, rc, methods);
		return;
	}
	survey_retransform(ch->jni, &ch->survey, more, ch);
	woven = ch->survey.n;
	survey_release(ch->jni, &ch->survey);
	probes_settle(ch->jni);
	if (ch->stopped)
		undo(ch, first);
	else
		done_hooked(ch, first, woven, before, !(flags & HOOK_LOADED));
}

struct held_before {
	uint32_t holder, first;
};

static bool is_held_before(const struct rule_entry *e, void *ctx)
{
	const struct held_before *h = ctx;

	return e->holder == h->holder && e->number < h->first;
}

/* No rules in place of those that the client holds. */
static void let_go(struct conn *c, JNIEnv *jni, bool at_once)
{
	int n = rulebook_remove(is_held_before, &(struct held_before){ c->number, UINT32_MAX });

	at_once ? change_to_rules_at_once(jni) : change_to_rules(jni);
	conn_done(c, DONE, "%d rule%s taken out", n, plural((uint64_t)n));
}

void change_hook(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct change ch = { .jni = jni, .c = c };
	struct wire_hook m;
	struct rule_entry as = { 0 };
	struct buf why = { 0 };
	char origin[256];
	int first;

	if (wire_get_hook(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	snprintf(origin, sizeof(origin), "%.*s", SLICE_FMT(m.origin));
	as.holder = m.flags & HOOK_HELD ? c->number : 0;
	c->accounts |= (m.flags & HOOK_ACCOUNT) != 0;
	if (!m.rules.n && m.flags & HOOK_HELD && m.flags & HOOK_INSTEAD) {
		let_go(c, jni, (m.flags & HOOK_NOW) != 0);
		return;
	}
	first = rulebook_add(m.rules, origin[0] ? origin : "rule", &as, &why);
	if (first < 0)
		done_refused(c, first == E_NO_MEMORY ? CANNOT : USAGE, &why);
	if (first >= 0 && m.flags & HOOK_INSTEAD)
		rulebook_remove(is_held_before,
				&(struct held_before){ c->number, (uint32_t)first });
	if (first >= 0) {
		ch.rules = m.rules;
		ch.origin = origin[0] ? origin : "rule";
		ch.survey.at_once = (m.flags & HOOK_NOW) != 0;
		put_in(&ch, (uint32_t)first, m.flags);
	}
	buf_release(&why);
}

/* ---- unhook ------------------------------------------------------------------------------- */

struct pattern_of {
	struct slice text;
	uint32_t number; /* of "#3"; 0: another pattern */
	bool all;
};

static bool is_meant(const struct rule_entry *e, void *ctx)
{
	struct pattern_of *p = ctx;
	struct buf target = { 0 };
	bool same = false;

	if (p->all || (p->number && p->number == e->number))
		return true;
	if (p->number || e->rule->kind == RULE_TEMPLATE)
		return false;
	rule_target_print(&e->rule->target, &target);
	same = !target.err && slice_eq(buf_slice(&target), p->text);
	buf_release(&target);
	return same || slice_is(p->text, e->text);
}

static bool any_hook_left(void)
{
	for (size_t i = 0; i < rulebook.n; i++)
		if (rulebook.entries[i].rule->kind == RULE_HOOK)
			return true;
	return false;
}

bool change_any(const struct rule_entry *e, void *ctx)
{
	(void)e, (void)ctx;
	return true;
}

/* The target of a rule in the form in which the book prints it. */
static void normalise(struct pattern_of *p, struct buf *out)
{
	struct rule_errors errors = { 0 };
	struct buf text = { 0 };
	struct rules *rules;
	struct arena mem;

	arena_init(&mem);
	buf_printf(&text, "skip %.*s", SLICE_FMT(p->text));
	if (!text.err && rules_parse(&mem, buf_slice(&text), "pattern", &rules, &errors) >= 0 &&
	    rules->n == 1) {
		rule_target_print(&rules->all[0]->target, out);
		if (!out->err)
			p->text = buf_slice(out);
	}
	arena_release(&mem);
	buf_release(&text);
}

void change_unhook(struct conn *c, JNIEnv *jni, struct slice payload)
{
	struct wire_unhook m;
	struct pattern_of p = { 0 };
	struct buf normal = { 0 }, skip = { 0 }, why = { 0 };
	struct change ch = { .jni = jni };
	uint64_t classes, before, methods;
	char held[HELD_TEXT];
	bool at_once;
	char number[16] = "";
	int n;

	if (wire_get_unhook(payload, &m) < 0) {
		c->closing = true;
		return;
	}
	woven_count(&classes, &before);
	p.text = m.pattern;
	p.all = slice_is(m.pattern, "all");
	at_once = (m.flags & UNHOOK_NOW) != 0;
	if (m.pattern.n > 1 && m.pattern.n < sizeof(number) && m.pattern.p[0] == '#') {
		memcpy(number, m.pattern.p + 1, m.pattern.n - 1);
		p.number = (uint32_t)strtoul(number, NULL, 10);
	}
	if (!p.all && !p.number)
		normalise(&p, &normal);
	n = rulebook_remove(is_meant, &p);
	if (n == 0 && !p.all && !p.number && rulebook.n) {
		buf_printf(&skip, "skip %.*s", SLICE_FMT(p.text));
		n = rulebook_add(buf_slice(&skip), "unhook", &(struct rule_entry){ 0 }, &why);
		ch.survey.first = n > 0 ? (uint32_t)n : 0;
	}
	if (rulebook.n && !any_hook_left())
		rulebook_remove(change_any, NULL);
	if (n < 0) {
		buf_text(
			&why,
			why.n ? ""
			      : "it names what a rule that stays needs: unhook that one first, or `all`\n");
		conn_done(c, USAGE, "%.*s", (int)why.n - 1, (const char *)why.p);
	} else if (n == 0 && !(p.all && at_once && woven_resting())) {
		conn_done(c, NO, "no rule of that name or number is in force");
	} else {
		/* to the end, also when the client goes */
		at_once ? follow_at_once(&ch) : follow_rules(&ch);
		held_text(&ch.survey, held);
		woven_count(&classes, &methods);
		conn_done(c, DONE,
			  "%lld method%s unhooked; hooked now: %llu method%s in %llu class%s%s%s",
			  (long long)before - (long long)methods, plural(before - methods),
			  (unsigned long long)methods, plural(methods), (unsigned long long)classes,
			  plural_es(classes),
			  at_once ? "; all others have their original code" : "", held);
	}
	buf_release(&normal);
	buf_release(&skip);
	buf_release(&why);
}

/* ---- rules that a client holds ------------------------------------------------------------ */

int change_hold(struct conn *c, JNIEnv *jni, const struct change_rules *r)
{
	struct change ch = { .jni = jni, .c = c, .rules = r->rules, .origin = r->origin };
	struct wire_done done = { 0 };
	struct buf why = { 0 }, answer;
	struct slice rest, frame;
	unsigned type;
	long n;
	int first = rulebook_add(r->rules, r->origin, &r->as, &why);

	if (first < 0) {
		done_refused(c, USAGE, &why);
		return first;
	}
	buf_release(&why);
	if (r->flags & HOOK_INSTEAD)
		rulebook_remove(is_held_before,
				&(struct held_before){ c->number, (uint32_t)first });
	answer = c->out; /* the usual answer of a hook, as a warning: more comes behind it */
	c->out = (struct buf){ 0 };
	put_in(&ch, (uint32_t)first, r->flags);
	rest = buf_slice(&c->out);
	while (!c->closing && (n = wire_frame(rest, &type, &frame)) > 0) {
		if (type == WIRE_done)
			wire_get_done(frame, &done);
		else if (type == WIRE_left && !r->quiet)
			buf_bytes(&answer, rest.p, (size_t)n);
		rest.p += n, rest.n -= (size_t)n;
	}
	if (done.status == NO && r->flags & HOOK_LOADED)
		done.status = USAGE;
	if (done.status > NO)
		wire_put_done(&answer, &done);
	else if (!c->closing && !r->quiet)
		wire_put_warning(&answer, &(struct wire_warning){ done.text });
	buf_release(&c->out);
	c->out = answer;
	return c->closing || ch.stopped || done.status > NO ? E_UNSUPPORTED : first;
}
