/* SPDX-License-Identifier: Apache-2.0 */
/* instrument.c - weaves a class when the JVM shows its bytes.
 *
 * The JVM shows a class twice: when it is loaded (klass is NULL; of its ancestors only the names
 * in the file are known), and when it is retransformed (klass is known, and all ancestors with
 * it).  A rule that asks for an ancestor further up cannot be decided at load; so such classes
 * are looked at again when they are prepared, before any of their code runs, and retransformed
 * there and then if the answer is another one. */
#include "agent/instrument.h"

#include <stdio.h>

#include "agent/agent.h"
#include "agent/cached.h"
#include "agent/context.h"
#include "agent/data.h"
#include "agent/kin.h"
#include "agent/left.h"
#include "agent/meter.h"
#include "agent/params.h"
#include "agent/probes.h"
#include "agent/reading.h"
#include "agent/room.h"
#include "agent/rulebook.h"
#include "agent/woven.h"
#include "cache/ids.h"
#include "cache/numbers.h"
#include "classfile/digest.h"
#include "probe/probe.h"
#include "probe/trace.h"

/* ---- classes that the agent itself needs -------------------------------------------------- */

static bool starts(const char *name, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(name, with, strlen(with)) == 0;
}

enum left_kind instrument_kind(const char *name, size_t n)
{
	/* What a foreign call runs through must not be hooked by one: it would call itself. */
	if (agent.jdk >= 22 &&
	    (starts(name, n, "java/lang/invoke/") || starts(name, n, "jdk/internal/foreign/") ||
	     starts(name, n, "java/lang/foreign/") || starts(name, n, "sun/invoke/") ||
	     (n == 17 && starts(name, n, "java/util/Objects"))))
		return LEFT_PROBE;
	/* The JVM's flight recorder changes its events itself, behind us. */
	if (starts(name, n, "jdk/jfr/") || starts(name, n, "jdk/internal/event/"))
		return LEFT_RECORDER;
	/* Begins on one stack and ends on another. */
	if (agent.jdk >= 19 && (starts(name, n, "java/lang/VirtualThread") ||
				starts(name, n, "java/lang/BaseVirtual") ||
				starts(name, n, "jdk/internal/vm/Continuation")))
		return LEFT_SWITCH;
	return LEFT_KINDS;
}

static enum left_kind kind_of_error(int rc, uint16_t access)
{
	switch (rc) {
	case E_NO_CODE:
		return access & ACC_NATIVE ? LEFT_NATIVE : LEFT_ABSTRACT;
	case E_EMPTY_FINALIZER:
		return LEFT_EMPTY_FINALIZER;
	case E_TOO_LARGE:
	case E_CODE_LENGTH:
		return LEFT_TOO_LARGE;
	case E_POOL_FULL:
		return LEFT_POOL_FULL;
	case E_UNSUPPORTED:
		return LEFT_CONDITION;
	case E_CONDITION:
		return LEFT_DATA;
	case E_NO_MEMORY:
		return LEFT_MEMORY;
	case E_LIMIT:
		return LEFT_NUMBERS;
	default:
		return LEFT_OLD_CODE;
	}
}

/* ---- one class ---------------------------------------------------------------------------- */

struct showing { /* of a class by the JVM */
	JNIEnv *jni;
	jclass klass; /* NULL: it is being loaded */
	jobject loader;
	struct edition *edition;
	struct woven *woven;
	struct room *room;
	struct weave_job job;
	bool had;	     /* there was a hook in it before */
	struct slice result; /* the class to be used; empty: as it is */
};

/* Numbers are given while the class is woven; agent.lock is not held. */
static int32_t id_of(void *ctx, const struct class *cls, const struct member *m)
{
	struct showing *s = ctx;
	struct slice name = class_name(cls);
	int32_t id = E_NO_MEMORY;

	pthread_mutex_lock(&agent.lock);
	if (!s->woven)
		s->woven = woven_find(s->jni, (const char *)name.p, name.n, s->loader, true);
	if (s->woven)
		id = woven_id(s->woven, member_name(cls, m), member_desc(cls, m));
	pthread_mutex_unlock(&agent.lock);
	return id;
}

static uint64_t digest_of(const struct class *cls, const struct member *m)
{
	struct slice code = { m->code.p + 8, m->code.n >= 8 ? get_u32(m->code.p + 4) : 0 };

	return code_digest(&cls->pool, code);
}

static uint64_t calls_of(const struct hooked *h)
{
	struct probe_figures f;

	reading_method(h->id, &f, NULL);
	return f.calls;
}

/* A hook that serves others, too, knows more than this rule may want told. */
static enum probes_tell tell_of(const struct hooked *h, const struct rule_hook *hook)
{
	if (!h->class->whole || hook->condition || hook->template_rule)
		return PROBES_TELL_ALL;
	if (slice_is(hook->template, "arguments") && hook->level != LEVEL_LIGHT)
		return PROBES_TELL_ARGUMENTS;
	if (hook->template.n || hook->level == LEVEL_FULL)
		return PROBES_TELL_ALL;
	return hook->level == LEVEL_LIGHT ? PROBES_TELL_CALLS : PROBES_TELL_TIMES;
}

static void set_level(struct hooked *h, const struct edition_rule *er, const struct rule_hook *hook)
{
	uint32_t one_in = hook->one_in ? hook->one_in : 1;
	struct probe_how how = { .one_in = hook->level == LEVEL_LIGHT ? 0 : one_in,
				 .data = er->watched,
				 .meter = hook->metered,
				 .settle = hook->one_in != 1,
				 .at_least = er->at_least };

	if (h->rule != er->number)
		h->before = h->rule ? calls_of(h) : 0;
	h->rule = er->number;
	h->held = er->held;
	h->level = (uint8_t)hook->level;
	h->one_in = one_in;
	if (hook->metered)
		meter_start();
	probes_tell(h->id, tell_of(h, hook));
	probe_method_set(h->id, &how);
	probe_trace_root(h->id, er->root);
}

void instrument_set(struct hooked *h, const struct instrument_how *how)
{
	static const struct rule_hook capture = { .level = LEVEL_LIGHT };
	const struct rule *rule = how->rule;

	if (rule) {
		set_level(h, &how->edition->by_index[rule->index],
			  rule->kind == RULE_HOOK ? &rule->hook : &capture);
	} else {
		h->rule = 0;
		h->level = LEVEL_TIMED;
		h->one_in = 1;
		probes_tell(h->id, PROBES_TELL_ALL);
		probe_method_set(h->id, &(struct probe_how){ .one_in = 1 });
	}
	h->anchor = how->n_anchors != 0;
	context_set(h, how);
}

static bool is_of_platform(struct slice class)
{
	const char *name = (const char *)class.p;

	return starts(name, class.n, "java/") || starts(name, class.n, "jdk/") ||
	       starts(name, class.n, "sun/");
}

static const struct cond *condition_of(const struct rule *rule)
{
	return rule && rule->kind == RULE_HOOK ? rule->hook.condition : NULL;
}

/* Must C be asked before the condition is looked at?  It knows whether the call is inside what the
 * rule names.  And only it knows whether the probe itself runs just now: code of the program that a
 * condition calls, or code of the JDK that it needs, would come back here for ever. */
static bool asks(const struct rule *rule, struct slice class)
{
	const struct cond *c = condition_of(rule);

	return c && (rule->hook.context_count || cond_calls(c) || is_of_platform(class));
}

/* What became of a method: out of a weaving, or out of a recipe of the cache. */
struct taken {
	int rc;
	int32_t id;
	uint16_t access;
	const struct rule *rule; /* NULL: it is only a step of others' sequences */
	const struct rule_anchor *anchors;
	size_t n_anchors;
	const char *category, *got; /* as weave_outcome's; NULL out of a recipe */
	uint64_t digest;	    /* of its code before */
	struct slice why;
};

static bool is_catch_all(const struct rule *rule)
{
	return rule->hook.level == LEVEL_FULL && slice_is(rule->hook.template, "catch-all");
}

enum instrument_code instrument_code(const struct rule *rule, bool whole)
{
	if (!rule)
		return CODE_PLAIN;
	if (rule->kind != RULE_HOOK || rule->hook.template_rule || rule->hook.condition ||
	    rule->captures)
		return CODE_OWN;
	if (rule->hook.level >= LEVEL_TIMED && slice_is(rule->hook.template, "arguments"))
		return CODE_ARGUMENTS;
	if (rule->hook.template.n)
		return whole && is_catch_all(rule) ? CODE_FULL : CODE_OWN;
	if (rule->hook.level == LEVEL_TIMED)
		return CODE_PLAIN;
	if (!whole)
		return CODE_OWN;
	return rule->hook.level == LEVEL_FULL ? CODE_KIND : CODE_PLAIN;
}

bool instrument_serves(enum instrument_code has, enum instrument_code wanted)
{
	switch (wanted) {
	case CODE_PLAIN:
		return has != CODE_OWN;
	case CODE_ARGUMENTS:
		return has == CODE_ARGUMENTS || has == CODE_FULL;
	case CODE_FULL:
		return has == CODE_FULL;
	case CODE_KIND: /* all other methods are of none */
		return has == CODE_FULL || has == CODE_KIND;
	default:
		return false;
	}
}

/* The same of what was woven: no template with branches goes into a constructor. */
static enum instrument_code code_of(const struct hooked *h, const struct taken *t)
{
	bool whole = h->class->whole != WHOLE_NO;
	enum instrument_code code = instrument_code(t->rule, whole);

	if (code == CODE_ARGUMENTS && h->name[0] == '<')
		return CODE_OWN;
	if (!whole || code == CODE_OWN || code == CODE_ARGUMENTS || !t->got)
		return code;
	if (code == CODE_FULL && t->category)
		return CODE_OWN; /* of a kind, and yet not woven as such */
	if (strcmp(t->got, "timed") == 0)
		return CODE_PLAIN;
	return strcmp(t->got, "full") == 0 || strcmp(t->got, "whole") == 0 ? CODE_FULL : CODE_KIND;
}

void instrument_open(JNIEnv *jni, struct hooked *h, const struct instrument_how *how)
{
	const struct rule *rule = how->rule;
	struct slice class = slice_str(h->class->name);
	bool captures = rule && rule->kind == RULE_CAPTURE;

	if (!woven_is_in(h) || (rule && !h->rule)) {
		h->since = tick_now();
		h->calls = 0;
		if (h->original) /* hooked again: its figures begin anew */
			reading_reset(h->id);
	}
	h->bound = condition_of(rule) || captures;
	instrument_set(h, how);
	if ((condition_of(rule) || (captures && !data_is_hop(rule->capture.name))) &&
	    is_of_platform(class))
		data_guard(jni);
	probes_open(jni, h->id, asks(rule, class),
		    !how->n_anchors && rule && rule->kind == RULE_HOOK && rule->hook.context_count);
}

static void take_hooked(struct showing *s, const struct taken *t)
{
	struct instrument_how how = { s->edition, t->rule, t->anchors, t->n_anchors };
	struct hooked *h = woven_method((uint32_t)t->id);

	if (!h)
		return;
	h->access = t->access;
	h->seen = true;
	h->code = (uint8_t)code_of(h, t);
	if (t->rule || t->n_anchors) {
		instrument_open(s->jni, h, &how);
	} else {
		h->bound = false;
		if (woven_is_in(h))
			woven_close(s->jni, h);
	}
	h->original = t->digest;
}

static void take_left(struct showing *s, const struct taken *t)
{
	enum left_kind kind = kind_of_error(t->rc, t->access);

	if (s->woven->left[kind] < UINT16_MAX)
		s->woven->left[kind]++;
	if (kind == LEFT_DATA && t->why.n)
		left_misfit(t->why);
	if (kind != LEFT_ABSTRACT) /* which is on no stack */
		for (size_t i = 0; i < t->n_anchors; i++)
			context_unplaced(s->edition, &t->anchors[i]);
}

static void take_outcome(struct showing *s, const struct weave_outcome *o)
{
	const struct class *cls = s->job.cls;
	const struct member *m = &cls->methods[o->method];
	struct taken t = { .rc = o->rc,
			   .id = o->id,
			   .access = m->access,
			   .rule = o->rule,
			   .anchors = o->anchors,
			   .n_anchors = o->n_anchors,
			   .category = o->category,
			   .got = o->got,
			   .why = slice_str(o->why ? o->why : "") };

	if (o->rc < 0) {
		take_left(s, &t);
		return;
	}
	t.digest = digest_of(cls, m);
	take_hooked(s, &t);
}

static void take_begin(struct showing *s)
{
	probes_hold();
	memset(s->woven->left, 0, sizeof(s->woven->left));
	s->had = woven_has_code(s->woven);
	woven_begin(s->woven);
	s->woven->whole = (uint8_t)(s->job.n_woven ? s->job.whole : WHOLE_NO);
	s->woven->partly = s->job.partly;
	if (s->woven->whole)
		probe_lanes_end(); /* counting takes the way of timing there */
}

static void take_end(struct showing *s)
{
	woven_end(s->jni, s->woven);
	probes_let(s->jni);
	/* Others may have it retransformed, too: then it becomes what it was. */
	if (s->klass &&
	    (s->had != woven_has_code(s->woven) || s->woven->digest != s->woven->wanted))
		woven_redefined(s->woven, s->had);
	s->woven->digest = s->klass ? s->woven->wanted : 0;
}

/* Enters what became of the class's methods into the table of woven classes. */
static void take_outcomes(struct showing *s, struct slice name)
{
	pthread_mutex_lock(&agent.lock);
	if (!s->woven)
		s->woven = woven_find(s->jni, (const char *)name.p, name.n, s->loader,
				      s->job.n_outcomes != 0);
	if (s->woven) {
		take_begin(s);
		for (uint32_t i = 0; i < s->job.n_outcomes; i++)
			take_outcome(s, &s->job.outcomes[i]);
		take_end(s);
	}
	pthread_mutex_unlock(&agent.lock);
}

/* ---- out of the cache --------------------------------------------------------------------- */

/* Which steps of sequences of callers the method is. */
static int take_anchors(struct showing *s, const struct cache_look *look,
			const struct recipe_method *m, struct taken *t)
{
	struct rule_anchor *list = arena_alloc(s->job.mem, (m->n_anchors + 1u) * sizeof(*list));

	if (!list)
		return E_NO_MEMORY;
	for (uint32_t i = 0; i < m->n_anchors; i++) {
		struct recipe_anchor a = recipe_anchor(m, i);
		const struct rule *rule = a.rule < look->n_touching ? look->touching[a.rule] : NULL;

		if (!rule || rule->kind != RULE_HOOK || a.context >= rule->hook.context_count ||
		    a.step >= rule->hook.contexts[a.context].n)
			return E_DAMAGED;
		list[i] = (struct rule_anchor){ rule, a.context, a.step };
	}
	t->anchors = list;
	t->n_anchors = m->n_anchors;
	return 0;
}

/* A method of a recipe gets its number, which goes into the class, too.  agent.lock is held. */
static int take_method(struct showing *s, const struct cache_look *look,
		       const struct recipe_method *m, struct ids *ids)
{
	struct taken t = { .rc = m->rc, .access = m->access, .digest = m->digest, .why = m->why };
	int rc = m->n_anchors ? take_anchors(s, look, m, &t) : 0;

	if (rc < 0)
		return rc;
	if (m->rc < 0) {
		take_left(s, &t);
		return 0;
	}
	if (m->rule >= look->n_touching && !m->n_anchors)
		return E_DAMAGED;
	t.rule = m->rule < look->n_touching ? look->touching[m->rule] : NULL;
	t.id = woven_id(s->woven, m->name, m->desc);
	if (t.id < 0)
		return t.id;
	rc = ids_put(ids, m, (uint32_t)t.id);
	if (rc >= 0)
		take_hooked(s, &t);
	return rc;
}

static bool has_data(const struct cache_look *look)
{
	for (size_t i = 0; i < look->n_touching; i++)
		if (condition_of(look->touching[i]) || look->touching[i]->kind == RULE_CAPTURE)
			return true;
	return false;
}

/* 1; 0: this JVM has no numbers for the conditions in it, or too large ones for its methods; or
 * negative: the class must not be used. */
static int take_recipe(struct showing *s, struct cache_look *look, struct slice name)
{
	struct recipe r = look->found;
	struct recipe_method m;
	int rc = look->nothing || look->has_recipe ? 0 : recipe_get(buf_slice(&look->kept), &r);
	struct slice class = { NULL, 0 };
	struct ids ids;
	uint8_t *woven;

	if (rc >= 0)
		rc = r.rc;
	if (rc < 0 || (!s->klass && !r.n_methods))
		return rc < 0 ? rc : 1;
	woven = r.woven.n ? look->kept.p + (r.woven.p - look->kept.p) : NULL;
	if (has_data(look) && (!s->job.numbers || numbers_put(&r, look->touching, look->n_touching,
							      s->job.numbers, woven) < 0))
		return 0;
	ids_begin(&ids, &r, woven, s->job.mem);
	pthread_mutex_lock(&agent.lock);
	s->woven = woven_find(s->jni, (const char *)name.p, name.n, s->loader, r.n_methods != 0);
	if (s->woven) {
		take_begin(s);
		for (size_t at = 0; rc >= 0 && recipe_next(&r, &at, &m);)
			rc = take_method(s, look, &m, &ids);
		take_end(s);
	}
	pthread_mutex_unlock(&agent.lock);
	if (rc >= 0 && r.woven.n)
		rc = ids_end(&ids, &class);
	if (rc == E_POOL_FULL)
		return 0;
	if (rc >= 0 && s->woven)
		s->result = class;
	return rc < 0 ? rc : 1;
}

/* Looks for the class in the cache, and weaves and stores it when it is not there.  1: that was
 * all; 0: it has to be woven for this JVM alone; negative: it cannot be woven. */
static int use_cache(struct showing *s, const struct cache_query *q, struct slice name)
{
	struct store *store = cached_get();
	struct cache_look look;
	int rc;

	if (!store)
		return 0;
	rc = cache_find(store, q, &look);
	if (rc == 0) {
		buf_clear(&look.kept);
		rc = cache_weave(q, &look, &s->room->work, &look.kept);
		cached_count(false);
	} else if (rc > 0) {
		cached_count(true);
	}
	if (rc >= 0) {
		cached_later(q->rules, &look, buf_slice(&look.kept));
		rc = take_recipe(s, &look, name);
	}
	s->room->kept = look.kept;
	cached_put();
	return rc;
}

/* A class as a whole is left as it is. */
static void leave_class(struct showing *s, struct slice name, enum left_kind kind)
{
	pthread_mutex_lock(&agent.lock);
	s->woven = woven_find(s->jni, (const char *)name.p, name.n, s->loader, true);
	if (s->woven) {
		s->had = woven_has_code(s->woven);
		memset(s->woven->left, 0, sizeof(s->woven->left));
		s->woven->left[kind] = 1;
		s->woven->digest = s->klass ? s->woven->wanted : 0;
		woven_begin(s->woven);
		woven_end(s->jni, s->woven);
		woven_redefined(s->woven, s->had);
	}
	pthread_mutex_unlock(&agent.lock);
}

static bool hand_over(jvmtiEnv *jvmti, struct slice class, jint *new_n, unsigned char **new_bytes)
{
	unsigned char *p;

	if ((*jvmti)->Allocate(jvmti, (jlong) class.n, &p) != JVMTI_ERROR_NONE)
		return false;
	memcpy(p, class.p, class.n);
	*new_bytes = p;
	*new_n = (jint) class.n;
	return true;
}

/* A class that the rules want redefined in the running program was loaded: the agent's thread sees
 * to it at its next look. */
static bool live_waits;

static bool is_live(const struct edition *e, const struct rule_class *facts)
{
	return e->has_live && rules_match_place(e->rules, facts, NULL) == PLACE_LIVE;
}

bool instrument_live_waits(void)
{
	return __atomic_exchange_n(&live_waits, false, __ATOMIC_RELAXED);
}

/* Why the class is not even looked at; LEFT_KINDS: it is. */
static enum left_kind kind_of_class(struct slice name)
{
	enum left_kind kind = instrument_kind((const char *)name.p, name.n);

	if (kind == LEFT_KINDS && !agent.many && woven_hooked() >= MANY_METHODS)
		kind = LEFT_MANY;
	return kind;
}

/* Is all of it to be woven? */
static enum weave_whole whole_of(struct showing *s, struct slice name)
{
	enum weave_whole whole = WHOLE_NO;
	const struct woven *w;

	if (!s->klass)
		return whole;
	pthread_mutex_lock(&agent.lock);
	w = woven_find(s->jni, (const char *)name.p, name.n, s->loader, false);
	if (w)
		whole = w->whole_next;
	pthread_mutex_unlock(&agent.lock);
	return whole;
}

static void weave_shown(struct showing *s, struct slice bytes, struct slice name, struct buf *out)
{
	struct rule_class facts = { .name = name };
	struct cache_query q = { .rules = &s->edition->cache, .bytes = bytes };
	enum left_kind kind = kind_of_class(name);
	struct arena *mem = &s->room->mem;
	struct kin_of kin;
	struct fault f = { 0 };
	int rc;

	if (kind != LEFT_KINDS) {
		if (rules_class_may_match(s->edition->rules, &facts))
			leave_class(s, name, kind);
		context_unplaced_class(s->edition, &facts);
		return;
	}
	if (!s->klass && is_live(s->edition, &facts)) {
		__atomic_store_n(&live_waits, true, __ATOMIC_RELAXED);
		return;
	}
	/* Most classes are none of our business, and their names tell. */
	if (!s->klass && !s->edition->wants_kin &&
	    !rules_class_may_match(s->edition->rules, &facts))
		return;
	s->job = (struct weave_job){ .mem = mem,
				     .work = &s->room->work,
				     .id_of = id_of,
				     .id_ctx = s,
				     .whole = whole_of(s, name),
				     .numbers = data_ready() };
	if (s->klass && (s->edition->wants_kin || s->job.whole == WHOLE_FULL) &&
	    kin_of_class(&kin, s->jni, s->klass, mem, true) >= 0)
		s->job.resolver = q.resolver = &kin.resolver;
	q.mem = mem;
	q.room = &s->room->kept;
	rc = s->job.whole ? 0 : use_cache(s, &q, name); /* where none is woven for no rule */
	if (rc < 0)
		fault_set(&f, rc, -1, "%s", err_text(rc));
	if (rc == 0)
		rc = weave_class(&s->edition->weaver, &s->job, bytes, out, &f);
	if (rc < 0) {
		leave_class(s, name, rc == E_NO_MEMORY ? LEFT_MEMORY : LEFT_UNREADABLE);
		context_unplaced_class(s->edition, &facts);
		agent_note("%.*s: %s", SLICE_FMT(name), f.text);
		buf_clear(out);
	} else if (rc == 0) {
		take_outcomes(s, name);
	}
	if (s->job.cls)
		class_release(s->job.cls);
}

/* No rules any more: what was hooked in this class is not hooked now. */
static void forget(JNIEnv *jni, struct slice name, jobject loader)
{
	struct woven *w;
	bool had;

	pthread_mutex_lock(&agent.lock);
	w = woven_find(jni, (const char *)name.p, name.n, loader, false);
	if (w) {
		had = woven_has_code(w);
		memset(w->left, 0, sizeof(w->left));
		w->digest = 0;
		woven_begin(w);
		woven_end(jni, w);
		woven_redefined(w, had);
	}
	pthread_mutex_unlock(&agent.lock);
}

/* The name out of the class file, for classes that are defined without one. */
static struct slice name_in(struct slice bytes, struct arena *mem)
{
	struct class *cls = NULL;
	struct slice name = { NULL, 0 };

	if (class_read(mem, bytes, &cls, NULL) >= 0) {
		name = arena_dup(mem, class_name(cls));
		class_release(cls);
	}
	return name;
}

/* What this thread wants to see: a class that it shows itself, and then one of which it refuses the
 * bytes. */
static __thread struct {
	struct buf *bytes; /* NULL: it wants to weave */
	bool refuse;	   /* the next class that is shown */
} looking;

/* A class file of another name, with which the JVM replaces nothing. */
static const uint8_t nobody[] =
	"\xca\xfe\xba\xbe\0\0\0\x34\0\5\1\0\6Nobody\7\0\1\1\0\20java/lang/Object\7\0\3"
	"\6\0\0\2\0\4\0\0\0\0\0\0\0\0";

/* The JVM shows the classes of a retransformation one by one before it replaces any of them, and
 * replaces none when one of them is refused.  So a class can be looked into without the JVM having
 * to compile anew all that it has compiled of it.  What it keeps of the refused one's class file it
 * forgets to give back; hence a tiny one. */
bool instrument_bytes(JNIEnv *jni, jclass klass, struct buf *out)
{
	jclass tiny = (*jni)->FindClass(jni, "java/io/Serializable");
	jclass both[] = { klass, tiny };
	jvmtiError e;

	if (!tiny) {
		(*jni)->ExceptionClear(jni);
		return false;
	}
	looking.bytes = out;
	looking.refuse = false;
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
					   JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	e = survey_show(both, 2);
	looking.bytes = NULL;
	if (e == JVMTI_ERROR_NONE) /* it was replaced all the same, and without its hooks */
		survey_show(&klass, 1);
	(*jni)->ExceptionClear(jni);
	instrument_events();
	(*jni)->DeleteLocalRef(jni, tiny);
	return out->n && !out->err;
}

/* The part of instrument_on_bytes that is for instrument_bytes. */
static void look_at_shown(jclass klass, struct slice in, struct buf *out)
{
	struct buf restored = { 0 };

	if (looking.refuse) {
		buf_bytes(out, nobody, sizeof(nobody) - 1);
	} else {
		if (params_are_lost() && params_restore(klass, in, &restored) > 0)
			in = buf_slice(&restored);
		buf_put(looking.bytes, in);
		looking.refuse = true;
	}
	buf_release(&restored);
}

void JNICALL instrument_on_bytes(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, jobject loader,
				 const char *name, jobject domain, jint n,
				 const unsigned char *bytes, jint *new_n, unsigned char **new_bytes)
{
	struct showing s = { .jni = jni,
			     .klass = klass,
			     .loader = loader,
			     .edition = edition_get(),
			     .room = room_take() };
	struct slice in = { bytes, (size_t)n }, called = { NULL, 0 };
	uint64_t begin = tick_now();
	struct buf *out = s.room ? &s.room->out : NULL, restored = { 0 };
	int rc;

	(void)domain;
	if (agent.dead || !out)
		goto done;
	if (klass && looking.bytes) {
		look_at_shown(klass, in, out);
		if (out->n && !out->err)
			(void)hand_over(jvmti, buf_slice(out), new_n, new_bytes);
		goto done;
	}
	called = name ? slice_str(name) : name_in(in, &s.room->mem);
	if (!called.p)
		goto done;
	rc = klass && params_are_lost() ? params_restore(klass, in, &restored) : 0;
	if (rc > 0)
		in = buf_slice(&restored);
	if (!s.edition)
		forget(jni, called, loader);
	else if (rc < 0)
		leave_class(&s, called, LEFT_PARAMETERS);
	else
		weave_shown(&s, in, called, out);
	if (out->n)
		s.result = buf_slice(out);
	else if (!s.result.n && rc > 0)
		s.result = in; /* not woven, but whole */
	if (s.result.n && (out->err || !hand_over(jvmti, s.result, new_n, new_bytes)))
		leave_class(&s, called, LEFT_MEMORY);
	__atomic_fetch_add(&agent.spent.weaving, tick_now() - begin, __ATOMIC_RELAXED);
done:
	edition_put(s.edition);
	buf_release(&restored);
	room_give(s.room);
}

/* ---- ancestors that were not known at load ------------------------------------------------ */

/* A class with all its ancestors, and as it is known from its own file. */
struct two_views {
	const struct rule_class *full, *alone;
	struct rule_lineage *full_room, *alone_room;
};

static bool differ(const struct two_views *v, const struct target *t)
{
	return t->kin_count && target_test(t, v->full, NULL, v->full_room).answer !=
				       target_test(t, v->alone, NULL, v->alone_room).answer;
}

static bool steps_differ(const struct two_views *v, const struct rule_hook *hook)
{
	for (size_t c = 0; c < hook->context_count; c++)
		for (size_t i = 0; i < hook->contexts[c].n; i++)
			if (differ(v, &hook->contexts[c].steps[i].target))
				return true;
	return false;
}

/* Does some rule's answer for the class depend on more than the names in its own file? */
static bool is_decided_above(const struct edition *e, const struct kin_of *k, struct arena *mem)
{
	struct rule_class alone = k->list[0];
	struct two_views v = { &k->list[0], &alone, arena_alloc(mem, sizeof(*v.full_room)),
			       arena_alloc(mem, sizeof(*v.alone_room)) };

	if (!v.full_room || !v.alone_room)
		return false;
	v.full_room->ready = v.alone_room->ready = false;
	alone.resolver = NULL;
	for (size_t i = 0; i < e->rules->n; i++) {
		const struct rule *rule = e->rules->all[i];

		if (rule->kind == RULE_TEMPLATE)
			continue;
		if (differ(&v, &rule->target) ||
		    (rule->kind == RULE_HOOK && steps_differ(&v, &rule->hook)))
			return true;
	}
	return false;
}

/* At level full the template is chosen by what the class is, and there are ancestors beyond those
 * that its own file names. */
static bool is_full_below(JNIEnv *jni, const struct kin_of *k)
{
	const struct rule_class *c = &k->list[0];
	bool full = false;
	jobject loader = NULL;
	const struct woven *w;

	if (k->n <= 1u + (c->super.n != 0) + c->interface_count)
		return false;
	(*agent.jvmti)->GetClassLoader(agent.jvmti, k->klass, &loader);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(jni, (const char *)c->name.p, c->name.n, loader, false);
	for (const struct hooked *h = w ? w->methods : NULL; h; h = h->next)
		full |= h->rule && h->level == LEVEL_FULL;
	pthread_mutex_unlock(&agent.lock);
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
	return full;
}

void JNICALL instrument_on_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass)
{
	struct edition *e = edition_get();
	struct kin_of kin;
	struct arena mem;
	jboolean modifiable = JNI_FALSE; /* a hidden class is not */
	bool again = false;

	(void)thread;
	if (!e)
		return;
	arena_init(&mem);
	(*jvmti)->IsModifiableClass(jvmti, klass, &modifiable);
	if (e->wants_kin && modifiable && !agent.dead &&
	    kin_of_class(&kin, jni, klass, &mem, true) >= 0)
		again = is_decided_above(e, &kin, &mem) || is_full_below(jni, &kin);
	arena_release(&mem);
	edition_put(e);
	/* A class that is retransformed before it was linked is prepared in the midst of it.
	 * Retransformed once more then, it would be woven twice; the next look finds whether it is
	 * as it should be. */
	if (again && survey_is_showing())
		__atomic_store_n(&live_waits, true, __ATOMIC_RELAXED);
	else if (again)
		survey_retransform(jni, &klass, 1);
}

void instrument_events(void)
{
	struct edition *e = edition_get();
	jvmtiEventMode bytes = e || woven_resting() ? JVMTI_ENABLE : JVMTI_DISABLE;
	jvmtiEventMode prepare = e && e->wants_kin ? JVMTI_ENABLE : JVMTI_DISABLE;

	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, bytes, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
					   NULL);
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, prepare, JVMTI_EVENT_CLASS_PREPARE, NULL);
	edition_put(e);
}
