/* SPDX-License-Identifier: Apache-2.0 */
/* instrument.c - weaves a class when the JVM shows its bytes.
 *
 * The JVM shows a class twice: when it is loaded (klass is NULL; of its ancestors only the names
 * in the file are known), and when it is retransformed (klass is known, and all ancestors with
 * it).  A rule that asks for an ancestor further up cannot be decided at load; so such classes
 * are looked at again when they are prepared, before any of their code runs, and retransformed
 * there and then if the answer is another one. */
#include "agent/weaving/instrument.h"

#include <stdio.h>

#include "agent/classes/cached.h"
#include "agent/classes/ancestry.h"
#include "agent/classes/left_alone.h"
#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/core/scratch.h"
#include "agent/hotspot/params.h"
#include "agent/natives/callers.h"
#include "agent/natives/data.h"
#include "agent/natives/usage.h"
#include "agent/natives/probes.h"
#include "agent/weaving/apply.h"
#include "agent/weaving/replace.h"
#include "base/map.h"
#include "cache/ids.h"
#include "cache/numbers.h"
#include "classfile/digest.h"
#include "probe/probe.h"
#include "probe/trace.h"
#include "weave/class_facts.h"
#include "weave/fit.h"

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
	case E_HUGE:
		return LEFT_HUGE;
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
	struct loader *by; /* its entry; NULL: not taken yet, or there is none */
	struct edition *edition;
	struct woven *woven;
	struct scratch *room;
	struct weave_job job;
	bool had;	     /* there was a hook in it before */
	uint64_t digest;     /* while it is loaded: of the rules that touch it */
	struct slice result; /* the class to be used; empty: as it is */
};

/* The loader's entry.  agent.lock is not held. */
static struct loader *loader_of(struct showing *s, bool make)
{
	if (!s->by)
		s->by = loaders_take(s->jni, s->loader, make);
	return s->by;
}

/* Numbers are given while the class is woven; agent.lock is not held. */
static int32_t id_of(void *ctx, const struct class *cls, const struct member *m)
{
	struct showing *s = ctx;
	struct slice name = class_name(cls);
	struct loader *by = loader_of(s, true);
	int32_t id = E_NO_MEMORY;

	pthread_mutex_lock(&agent.lock);
	if (!s->woven)
		s->woven = woven_find(by, (const char *)name.p, name.n, true);
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

/* What became of a method: out of a weaving, or out of a recipe of the cache. */
struct instrumented {
	int rc;
	int32_t id;
	uint16_t access;
	const struct rule *rule; /* NULL: it is only a step of others' sequences */
	const struct rule_anchor *anchors;
	size_t n_anchors;
	const char *category, *got; /* as weave_outcome's; NULL out of a recipe */
	uint64_t digest;	    /* of its code before */
	uint32_t code_was, code_now;
	struct slice why;
};

/* The same of what was woven: no template with branches goes into a constructor. */
static enum apply_code code_of(const struct hooked *h, const struct instrumented *t)
{
	bool whole = h->class->whole != WHOLE_NO;
	enum apply_code code = apply_code(t->rule, whole);

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

static void take_hooked(struct showing *s, const struct instrumented *t)
{
	struct context_how how = { s->edition, t->rule, t->anchors, t->n_anchors };
	struct hooked *h = woven_method((uint32_t)t->id);

	if (!h)
		return;
	h->access = t->access;
	h->seen = true;
	h->code = (uint8_t)code_of(h, t);
	h->code_was = (uint16_t)t->code_was;
	h->code_now = (uint16_t)t->code_now;
	if (t->rule || t->n_anchors) {
		apply_open(h, &how);
	} else {
		h->bound = false;
		if (woven_is_in(h))
			woven_close(h);
	}
	h->original = t->digest;
}

static void take_left(struct showing *s, const struct instrumented *t)
{
	enum left_kind kind = kind_of_error(t->rc, t->access);

	if (s->woven->left[kind] < UINT16_MAX)
		s->woven->left[kind]++;
	if (kind == LEFT_DATA && t->why.n)
		left_alone_misfit(t->why);
	if (kind != LEFT_ABSTRACT) /* which is on no stack */
		for (size_t i = 0; i < t->n_anchors; i++)
			callers_unplaced(s->edition, &t->anchors[i]);
}

static void take_outcome(struct showing *s, const struct weave_outcome *o)
{
	const struct class *cls = s->job.cls;
	const struct member *m = &cls->methods[o->method];
	struct instrumented t = { .rc = o->rc,
				  .id = o->id,
				  .access = m->access,
				  .rule = o->rule,
				  .anchors = o->anchors,
				  .n_anchors = o->n_anchors,
				  .category = o->category,
				  .got = o->got,
				  .code_was = o->code_was,
				  .code_now = o->code_now,
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
	woven_end(s->woven);
	/* Others may have it retransformed, too: then it becomes what it was. */
	if (s->klass &&
	    (s->had != woven_has_code(s->woven) || s->woven->digest != s->woven->wanted))
		woven_redefined(s->woven, s->had);
	if (!s->klass)
		s->woven->wanted = s->digest;
	s->woven->digest = s->woven->wanted;
	s->woven->edition = s->edition->serial;
	s->woven->at_load = !s->klass;
}

static uint64_t digest_of_rules(const struct rule *const *touching, size_t n)
{
	struct buf text = { 0 };
	uint64_t digest;

	rules_touching_text(touching, n, &text);
	digest = text.err ? 0 : hash_bytes(text.p, text.n) | 1;
	buf_release(&text);
	return digest;
}

/* The rules under which a class that is being loaded was woven, so that the next survey does not
 * take it for one that must be woven again. */
static void take_digest(struct showing *s)
{
	const struct rules *rules = s->edition->rules;
	const struct rule **touching;
	struct rule_class facts = { 0 };

	if (s->klass || !s->job.n_outcomes)
		return;
	touching = arena_alloc(s->job.mem, (rules->n + 1) * sizeof(*touching));
	if (touching && class_facts_of_class(s->job.cls, s->job.mem, &facts) >= 0)
		s->digest = digest_of_rules(touching, rules_touching(rules, &facts, touching));
}

/* Enters what became of the class's methods into the table of woven classes. */
static void take_outcomes(struct showing *s, struct slice name)
{
	bool make = s->job.n_outcomes != 0;
	struct loader *by = loader_of(s, make);

	take_digest(s);
	pthread_mutex_lock(&agent.lock);
	if (!s->woven)
		s->woven = woven_find(by, (const char *)name.p, name.n, make);
	if (s->woven) {
		take_begin(s);
		for (uint32_t i = 0; i < s->job.n_outcomes; i++)
			take_outcome(s, &s->job.outcomes[i]);
		take_end(s);
	}
	pthread_mutex_unlock(&agent.lock);
	apply_tell(s->jni);
}

/* ---- out of the cache --------------------------------------------------------------------- */

/* Which steps of sequences of callers the method is. */
static int take_anchors(struct showing *s, const struct cache_look *look,
			const struct recipe_method *m, struct instrumented *t)
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
	struct instrumented t = { .rc = m->rc,
				  .access = m->access,
				  .digest = m->digest,
				  .code_was = m->code_n,
				  .code_now = m->woven_n,
				  .why = m->why };
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
		if (apply_condition(look->touching[i]) || look->touching[i]->kind == RULE_CAPTURE)
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
	struct loader *by;
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
	by = loader_of(s, r.n_methods != 0);
	if (!s->klass)
		s->digest = digest_of_rules(look->touching, look->n_touching);
	pthread_mutex_lock(&agent.lock);
	s->woven = woven_find(by, (const char *)name.p, name.n, r.n_methods != 0);
	if (s->woven) {
		take_begin(s);
		for (size_t at = 0; rc >= 0 && recipe_next(&r, &at, &m);)
			rc = take_method(s, look, &m, &ids);
		take_end(s);
	}
	pthread_mutex_unlock(&agent.lock);
	apply_tell(s->jni);
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
	if (rc >= 0)
		cached_later(q->rules, &look, buf_slice(&look.kept));
	cached_put(); /* before the JVM is called: whoever closes the cache waits for this */
	if (rc >= 0)
		rc = take_recipe(s, &look, name);
	s->room->kept = look.kept;
	return rc;
}

/* A class as a whole is left as it is. */
static void leave_class(struct showing *s, struct slice name, enum left_kind kind)
{
	struct loader *by = loader_of(s, true);

	pthread_mutex_lock(&agent.lock);
	s->woven = woven_find(by, (const char *)name.p, name.n, true);
	if (s->woven) {
		s->had = woven_has_code(s->woven);
		memset(s->woven->left, 0, sizeof(s->woven->left));
		s->woven->left[kind] = 1;
		s->woven->digest = s->klass ? s->woven->wanted : 0;
		woven_begin(s->woven);
		woven_end(s->woven);
		woven_redefined(s->woven, s->had);
	}
	pthread_mutex_unlock(&agent.lock);
	apply_tell(s->jni);
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

void instrument_live_wait(void)
{
	__atomic_store_n(&live_waits, true, __ATOMIC_RELAXED);
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
	struct loader *by;

	if (!s->klass)
		return whole;
	by = loader_of(s, false);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, (const char *)name.p, name.n, false);
	if (w)
		whole = w->whole_next;
	pthread_mutex_unlock(&agent.lock);
	return whole;
}

static void weave_shown(struct showing *s, struct slice bytes, struct slice name, struct buf *out)
{
	struct rule_class facts = { .name = name };
	struct cache_query q = { .rules = &s->edition->cache, .bytes = bytes, .name = name };
	enum left_kind kind = kind_of_class(name);
	struct arena *mem = &s->room->mem;
	struct kin_of kin;
	struct fault f = { 0 };
	int rc;

	if (kind != LEFT_KINDS) {
		if (rules_class_may_match(s->edition->rules, &facts))
			leave_class(s, name, kind);
		callers_unplaced_class(s->edition, &facts);
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
	    ancestry_of_class(&kin, s->jni, s->klass, mem, true) >= 0)
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
		callers_unplaced_class(s->edition, &facts);
		agent_note("%.*s: %s", SLICE_FMT(name), f.text);
		buf_clear(out);
	} else if (rc == 0) {
		take_outcomes(s, name);
	}
	if (s->job.cls)
		class_release(s->job.cls);
}

/* No rules any more: what was hooked in this class is not hooked now. */
static void forget(struct showing *s, struct slice name)
{
	struct loader *by = loader_of(s, false);
	struct woven *w;
	bool had;

	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, (const char *)name.p, name.n, false);
	if (w) {
		had = woven_has_code(w);
		memset(w->left, 0, sizeof(w->left));
		w->digest = 0;
		woven_begin(w);
		woven_end(w);
		woven_redefined(w, had);
	}
	pthread_mutex_unlock(&agent.lock);
	apply_tell(s->jni);
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
	e = replace_show(both, 2);
	looking.bytes = NULL;
	if (e == JVMTI_ERROR_NONE) /* it was replaced all the same, and without its hooks */
		replace_show(&klass, 1);
	(*jni)->ExceptionClear(jni);
	instrument_events();
	(*jni)->DeleteLocalRef(jni, tiny);
	return out->n && !out->err;
}

/* While the JVM shows a class again, it may load another one (java.lang.Module$ReflectionData, the first
 * time), and takes that for the class that is shown. */
static bool is_called(jclass klass, const char *name)
{
	char *sig = NULL;
	size_t n = strlen(name);
	bool same;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &sig, NULL) != JVMTI_ERROR_NONE)
		return true;
	same = strncmp(sig + 1, name, n) == 0 && sig[n + 1] == ';';
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
	return same;
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
			     .room = scratch_take() };
	struct slice in = { bytes, (size_t)n }, called = { NULL, 0 };
	uint64_t begin = tick_now();
	struct buf *out = s.room ? &s.room->out : NULL, restored = { 0 };
	int rc;

	(void)domain;
	if (agent.dead || !out)
		goto done;
	if (klass && name && !is_called(klass, name))
		klass = s.klass = NULL;
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
		forget(&s, called);
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
	loaders_give(s.by);
	edition_put(s.edition);
	buf_release(&restored);
	scratch_give(s.room);
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
