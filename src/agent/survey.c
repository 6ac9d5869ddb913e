/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c - which loaded classes do not look as the rules in force want them, and the
 * retransforming of those.
 *
 * A class needs it when it is woven and no rule wants it any more, or when a rule may want it and
 * the rules that touch it are other ones than those it was woven under (their text is remembered as
 * a digest).  One that no rule wants any more rests for some seconds with its hooks closed, since
 * whoever looks for a cause hooks the same methods again.  One that was redefined some times is
 * woven whole the next time, and from then on rules find what they want in it.  The JVM redefines
 * a whole batch or nothing, so a batch that it refuses is halved until the bad class stands
 * alone. */
#include "agent/instrument.h"

#include <limits.h>
#include <stdio.h>

#include "agent/agent.h"
#include "agent/anew.h"
#include "agent/context.h"
#include "agent/kin.h"
#include "agent/left.h"
#include "agent/rulebook.h"
#include "base/map.h"
#include "base/mem.h"
#include "probe/probe.h"
#include "rule/text.h"

enum { BATCH = 64, USUAL_METHODS = 10 /* of a class */ };

/* ---- survey ------------------------------------------------------------------------------- */

struct look { /* at all classes, one after another */
	JNIEnv *jni;
	struct survey *survey;
	struct edition *edition; /* NULL: no rules */
	jclass klass;		 /* the one that is looked at */
	struct arena mem;
	struct buf text;
	unsigned distance; /* of survey->near from what was wanted; UINT_MAX: none is near */
};

static void refresh_method(struct look *l, struct hooked *h, const struct rule_class *facts,
			   const struct rule_method *m)
{
	const struct rules *rules = l->edition->rules;
	size_t n = rules_match_anchors(rules, facts, m, NULL, 0), kept = 0;
	struct rule_anchor *list = arena_alloc(&l->mem, (n + 1) * sizeof(*list));
	struct instrument_how how = { l->edition, rules_match_method(rules, facts, m), list, 0 };

	if (!list)
		return;
	rules_match_anchors(rules, facts, m, list, n);
	for (size_t i = 0; i < n; i++)
		if (list[i].rule->kind == RULE_HOOK)
			list[kept++] = list[i];
	how.n_anchors = kept;
	if (!how.rule && !kept) {
		/* But captures stay; and whether a method has an annotation only its class file
		 * says. */
		if (!n && !h->bound && !l->edition->wants_marks && woven_is_in(h))
			woven_close(l->jni, h);
		return;
	}
	if (h->class->rests || !woven_is_in(h) || h->code != CODE_OWN)
		instrument_open(l->jni, h, &how);
	else
		instrument_set(h, &how);
}

/* The woven code is right, but 1/N and the rule that is responsible may be others now, or its hooks
 * are closed. */
static void refresh(struct look *l, struct woven *w, const struct rule_class *facts)
{
	for (struct hooked *h = w->methods; h; h = h->next) {
		const char *desc = strchr(h->name, '(');
		struct rule_method m = { .access = h->access };

		if (!h->in_code || !desc)
			continue;
		m.name = (struct slice){ (const uint8_t *)h->name, (size_t)(desc - h->name) };
		m.desc = slice_str(desc);
		refresh_method(l, h, facts, &m);
	}
	w->rests = 0;
	woven_recount(w);
}

/* No rule wants this woven class any more: must it be original now? */
static bool must_go(struct look *l, struct woven *w)
{
	if (!w->rests && (l->survey->at_once || !woven_can_rest(w)))
		return true;
	if (!w->rests)
		woven_rest(l->jni, w);
	if (l->survey->at_once)
		return true;
	if (tick_now() < w->rests)
		return false;
	w->rested++;
	return true;
}

/* Is the hook that the rules want in this method there already, or none wanted? */
static bool method_fits(const struct look *l, const struct woven *w, const struct rule_class *facts,
			const struct rule_method *m)
{
	const struct rules *rules = l->edition->rules;
	const struct rule *rule = rules_match_method(rules, facts, m);
	struct rule_anchor anchors[16];
	size_t n = rules_match_anchors(rules, facts, m, anchors, COUNT(anchors));
	enum instrument_code want = instrument_code(rule, w->whole);
	const struct hooked *h;

	if (n > COUNT(anchors) || want == CODE_OWN)
		return false;
	for (size_t i = 0; i < n; i++)
		if (anchors[i].rule->kind != RULE_HOOK)
			return false;
	if ((!rule && !n) || m->access & (ACC_NATIVE | ACC_ABSTRACT))
		return true;
	h = woven_named(w, (const char *)m->name.p, (const char *)m->desc.p);
	if (!h || !h->in_code)
		return w->whole && !w->partly; /* then it cannot be woven */
	return instrument_serves(h->code, want);
}

/* Other rules than those under which the class was woven may want the same code: a hook of level
 * timed does not know in which contexts it is open, and one that is not wanted any more can be
 * closed; and where all methods are woven, any of them can be opened.  So that digging deeper does
 * not have the JVM compile anew what it has just compiled. */
static bool fits(const struct look *l, const struct woven *w, const struct rule_class *facts)
{
	jmethodID *methods = NULL;
	bool all = w->digest != 0;
	jint n = 0;

	for (const struct hooked *h = w->methods; h; h = h->next)
		all &= !h->in_code || (h->code != CODE_OWN && !h->bound);
	if (!all || (*agent.jvmti)->GetClassMethods(agent.jvmti, l->klass, &n, &methods) !=
			    JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < n && all; i++) {
		char *name = NULL, *desc = NULL;
		jint access = 0;

		(*agent.jvmti)->GetMethodModifiers(agent.jvmti, methods[i], &access);
		all = (*agent.jvmti)->GetMethodName(agent.jvmti, methods[i], &name, &desc, NULL) ==
		      JVMTI_ERROR_NONE;
		if (!all)
			break;
		all = method_fits(l, w, facts,
				  &(struct rule_method){ .name = slice_str(name),
							 .desc = slice_str(desc),
							 .access = (uint16_t)access });
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	return all;
}

/* How much of the class is to be woven.  agent.lock is held. */
static enum weave_whole whole_next(struct look *l, struct woven *w, const struct rule_class *facts)
{
	const struct rules *rules = l->edition->rules;
	const struct rule **touching = arena_alloc(&l->mem, (rules->n + 1) * sizeof(*touching));
	size_t n = touching ? rules_touching(rules, facts, touching) : 0;

	for (size_t i = 0; i < n; i++)
		w->had_full |= instrument_code(touching[i], true) >= CODE_FULL;
	if (l->survey->at_once || !woven_is_restless(w))
		return WHOLE_NO;
	return w->had_full ? WHOLE_FULL : WHOLE_TIMED;
}

/* Where the class's entry stands, and what the rules would make of it. */
static bool needs_weaving(struct look *l, const struct rule_class *facts, jobject loader)
{
	struct woven *w;
	uint64_t digest = 0, was = 0;
	bool may, goes = false;

	may = l->edition && rules_class_may_match(l->edition->rules, facts);
	if (may) {
		buf_clear(&l->text);
		rules_weave_text(l->edition->rules, facts, &l->text);
		digest = hash_bytes(l->text.p, l->text.n) | 1;
	}
	pthread_mutex_lock(&agent.lock);
	w = woven_find(l->jni, (const char *)facts->name.p, facts->name.n, loader, may);
	if (w) {
		was = w->digest;
		w->wanted = digest;
	}
	if (w && may && was && digest != was && !l->edition->wants_marks && !l->survey->at_once &&
	    fits(l, w, facts))
		was = w->digest = digest;
	if (w && may && digest == was)
		refresh(l, w, facts);
	else if (w && may)
		w->whole_next = (uint8_t)whole_next(l, w, facts);
	if (w && !may && woven_has_code(w))
		goes = must_go(l, w);
	if (w && !may && !w->rests)
		memset(w->left, 0, sizeof(w->left));
	pthread_mutex_unlock(&agent.lock);
	return may ? digest != was || l->edition->wants_marks : goes;
}

static void look_at_kind(struct look *l, const struct rule_class *facts)
{
	enum left_kind kind = memchr(facts->name.p, '.', facts->name.n) ? LEFT_HIDDEN : LEFT_FIXED;
	char name[160];

	if (!l->edition || !rules_class_may_match(l->edition->rules, facts))
		return;
	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(facts->name));
	left_seen(kind, name);
	if (kind != LEFT_HIDDEN)
		context_unplaced_class(l->edition, facts);
}

static bool is_hooked(JNIEnv *jni, const struct rule_class *facts, jobject loader)
{
	const struct woven *w;
	bool hooked;

	pthread_mutex_lock(&agent.lock);
	w = woven_find(jni, (const char *)facts->name.p, facts->name.n, loader, false);
	hooked = w && woven_has_code(w);
	pthread_mutex_unlock(&agent.lock);
	return hooked;
}

static void leave_record(const struct edition *e, const struct rule_class *facts)
{
	char name[160];

	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(facts->name));
	left_seen(LEFT_RECORD, name);
	context_unplaced_class(e, facts);
}

/* Before 25.0.4 (JDK-8376185) HotSpot loses the type annotations of a record, or crashes, when it
 * makes a class file of one.  It does not when it has kept the bytes, which it does of classes that
 * were woven when they were loaded. */
bool survey_is_fragile(const struct kin_of *kin)
{
	int update = 0;

	if (!slice_is(kin->list[0].super, "java/lang/Record"))
		return false;
	if (agent.jdk > 25 ||
	    (agent.jdk == 25 && sscanf(agent.jvm, "25.%*d.%d", &update) == 1 && update >= 4))
		return false;
	return kin->resolver.mentions(kin->resolver.ctx,
				      slice_str("RuntimeVisibleTypeAnnotations"));
}

static void is_near(struct look *l, unsigned distance, struct slice class, struct slice method)
{
	if (distance >= l->distance)
		return;
	l->distance = distance;
	snprintf(l->survey->near, sizeof(l->survey->near), "%.*s%s%.*s", SLICE_FMT(class),
		 method.n ? "::" : "", SLICE_FMT(method));
}

/* The class is there: which of its methods can have been meant? */
static void look_for_method(struct look *l, jclass klass, struct slice class)
{
	struct text_guess g = text_guess(l->survey->wanted_method);
	jmethodID *methods = NULL;
	jint n = 0;

	(*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &methods);
	for (jint i = 0; i < n; i++) {
		char *name = NULL;

		if ((*agent.jvmti)->GetMethodName(agent.jvmti, methods[i], &name, NULL, NULL) ==
		    JVMTI_ERROR_NONE) {
			text_guess_try(&g, slice_str(name));
			if (g.best.p)
				is_near(l, g.distance, class, slice_str(name));
			g.best.p = NULL;
		}
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	l->distance = 0; /* no other class is nearer */
}

static struct slice simple_name(struct slice name)
{
	const uint8_t *slash = memrchr(name.p, '/', name.n);
	size_t skip = slash ? (size_t)(slash - name.p) + 1 : 0;

	return (struct slice){ name.p + skip, name.n - skip };
}

static void look_for_near(struct look *l, jclass klass, struct slice name)
{
	struct slice none = slice_str(""), wanted = l->survey->wanted;
	struct text_guess g = text_guess(wanted);

	if (slice_eq(name, wanted)) {
		look_for_method(l, klass, name);
		return;
	}
	text_guess_try(&g, name);
	if (g.best.p)
		is_near(l, g.distance + 1, name, none);
	if (slice_eq(simple_name(name), simple_name(wanted)))
		is_near(l, 1, name, none); /* of another package */
}

/* Most classes are none of our business, and their names tell.  Everything else about a class is
 * ten times as dear to ask, and programs have tens of thousands of them. */
static bool is_out_of_question(struct look *l, jclass klass)
{
	struct rule_class facts = { 0 };
	char *sig = NULL;
	bool out;

	if (l->survey->wanted.n || (l->edition && l->edition->wants_kin) ||
	    (*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &sig, NULL) != JVMTI_ERROR_NONE)
		return false;
	facts.name = slice_str(sig);
	out = facts.name.n < 3 || sig[0] != 'L';
	if (!out) {
		facts.name.p++;
		facts.name.n -= 2;
		out = !woven_has(facts.name) &&
		      !(l->edition && rules_class_may_match(l->edition->rules, &facts));
		l->survey->looked_at += out;
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
	return out;
}

/* True: the class is to be retransformed. */
static bool look_at(struct look *l, jclass klass)
{
	struct rule_lineage *room;
	struct kin_of kin;
	jobject loader = NULL;
	jboolean modifiable = JNI_FALSE;
	bool needs;

	if (is_out_of_question(l, klass))
		return false;
	arena_reset(&l->mem);
	if (kin_of_class(&kin, l->jni, klass, &l->mem, l->edition && l->edition->wants_kin) < 0)
		return false; /* an array, a primitive type */
	room = arena_alloc(&l->mem, sizeof(*room));
	if (!room)
		return false;
	room->ready = false;
	kin.list[0].lineage = room;
	(*agent.jvmti)->IsModifiableClass(agent.jvmti, klass, &modifiable);
	if (!modifiable) {
		look_at_kind(l, &kin.list[0]);
		return false;
	}
	l->survey->looked_at++;
	l->klass = klass;
	if (l->survey->wanted.n)
		look_for_near(l, klass, kin.list[0].name);
	(*agent.jvmti)->GetClassLoader(agent.jvmti, klass, &loader);
	needs = needs_weaving(l, &kin.list[0], loader);
	if (needs && survey_is_fragile(&kin) && !is_hooked(l->jni, &kin.list[0], loader)) {
		leave_record(l->edition, &kin.list[0]);
		needs = false;
	}
	if (loader)
		(*l->jni)->DeleteLocalRef(l->jni, loader);
	return needs;
}

int survey_take(JNIEnv *jni, struct survey *s)
{
	struct look l = { .jni = jni, .survey = s, .edition = edition_get(), .distance = UINT_MAX };
	jclass *all = NULL;
	jint n = 0;

	s->n = 0;
	left_clear();
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all) != JVMTI_ERROR_NONE) {
		edition_put(l.edition);
		return E_NO_MEMORY;
	}
	arena_init(&l.mem);
	for (jint i = 0; i < n; i++) {
		if (look_at(&l, all[i]))
			all[s->n++] = all[i];
		else
			(*jni)->DeleteLocalRef(jni, all[i]);
	}
	s->classes = all;
	arena_release(&l.mem);
	buf_release(&l.text);
	edition_put(l.edition);
	return 0;
}

void survey_release(JNIEnv *jni, struct survey *s)
{
	for (size_t i = 0; i < s->n; i++)
		(*jni)->DeleteLocalRef(jni, s->classes[i]);
	if (s->classes)
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)s->classes);
	s->classes = NULL;
	s->n = 0;
}

uint64_t survey_methods(const struct survey *s)
{
	size_t step = s->n / 64 + 1, asked = 0;
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i += step) {
		jmethodID *methods = NULL;
		jint n = 0;

		if ((*agent.jvmti)->GetClassMethods(agent.jvmti, s->classes[i], &n, &methods) !=
		    JVMTI_ERROR_NONE)
			continue; /* loaded, but not linked yet: nobody knows */
		asked++;
		sum += (uint64_t)n;
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	}
	return asked ? sum * s->n / asked : s->n * USUAL_METHODS;
}

/* ---- retransforming ----------------------------------------------------------------------- */

/* The JVM would not take this one: its methods are not hooked, and it is told why.  True: it is to
 * be tried once more, with fewer of them. */
static bool refuse(JNIEnv *jni, jclass klass, jvmtiError why)
{
	struct kin_of kin;
	struct arena mem;
	jobject loader = NULL;
	struct woven *w;
	bool again = false;

	arena_init(&mem);
	if (kin_of_class(&kin, jni, klass, &mem, false) < 0)
		goto done;
	(*agent.jvmti)->GetClassLoader(agent.jvmti, klass, &loader);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(jni, (const char *)kin.list[0].name.p, kin.list[0].name.n, loader, true);
	again = w && w->whole_next;
	if (again) {
		w->whole_next = WHOLE_NO;
		w->never_whole = true;
	} else if (w) {
		memset(w->left, 0, sizeof(w->left));
		w->left[LEFT_REFUSED] = 1;
		w->digest = w->wanted;
		woven_begin(w);
		woven_end(jni, w);
	}
	pthread_mutex_unlock(&agent.lock);
	if (loader)
		(*jni)->DeleteLocalRef(jni, loader);
	if (!again)
		agent_note("%.*s: %s", SLICE_FMT(kin.list[0].name), agent_jvmti_text(why));
done:
	arena_release(&mem);
	return again;
}

static __thread bool showing;

jvmtiError survey_show(const jclass *classes, size_t n)
{
	bool before = showing;
	jvmtiError e;

	showing = true;
	e = (*agent.jvmti)->RetransformClasses(agent.jvmti, (jint)n, classes);
	showing = before;
	if (e == JVMTI_ERROR_NONE)
		__atomic_store_n(&agent.recorded, true, __ATOMIC_RELAXED);
	return e;
}

bool survey_is_showing(void)
{
	return showing;
}

uint64_t survey_retransform(JNIEnv *jni, const jclass *classes, size_t n)
{
	jvmtiError e = survey_show(classes, n);

	if (e == JVMTI_ERROR_NONE || agent.dead)
		return 0;
	(*jni)->ExceptionClear(jni);
	if (n == 1)
		return refuse(jni, classes[0], e) ? survey_retransform(jni, classes, 1) : 1;
	return survey_retransform(jni, classes, n / 2) +
	       survey_retransform(jni, classes + n / 2, n - n / 2);
}

uint64_t instrument_retransform(JNIEnv *jni, const struct survey *s, instrument_more *more,
				void *ctx)
{
	uint64_t begin = tick_now(), refused = 0;

	anew_before(jni, s->classes, s->n);
	for (size_t at = 0; at < s->n && !agent.dead; at += BATCH) {
		size_t n = s->n - at < BATCH ? s->n - at : BATCH;

		if (more && !more(ctx, at, s->n))
			break;
		refused += survey_retransform(jni, s->classes + at, n);
	}
	agent.spent.retransforming += tick_now() - begin;
	return refused;
}
