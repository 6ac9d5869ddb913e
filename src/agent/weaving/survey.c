/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c - which loaded classes do not look as the rules in force want them, and the
 * retransforming of those.
 *
 * A class needs it when it is woven and no rule wants it any more, or when a rule may want it and
 * the rules that touch it are other ones than those it was woven under (their text is remembered as
 * a digest).  One that no rule wants any more rests for some seconds with its hooks closed, since
 * whoever looks for a cause hooks the same methods again.  One that was redefined some times is
 * woven whole the next time, and from then on rules find what they want in it. */
#include "agent/weaving/survey.h"

#include <limits.h>
#include <stdio.h>

#include "agent/classes/ancestry.h"
#include "agent/classes/left_alone.h"
#include "agent/classes/rulebook.h"
#include "agent/core/agent.h"
#include "agent/natives/callers.h"
#include "agent/weaving/recompile.h"
#include "agent/weaving/apply.h"
#include "agent/weaving/instrument.h"
#include "agent/weaving/replace.h"
#include "base/map.h"
#include "base/mem.h"
#include "probe/probe.h"
#include "rule/text.h"

enum {
	BATCH = 64,	    /* classes, at least */
	BATCHES = 64,	    /* at most: for each the JVM walks over all classes there are */
	USUAL_METHODS = 10, /* of a class */
};

/* ---- survey ------------------------------------------------------------------------------- */

struct look { /* at all classes, one after another */
	JNIEnv *jni;
	struct survey *survey;
	struct edition *edition;     /* NULL: no rules */
	jclass klass;		     /* the one that is looked at */
	struct rule_method *methods; /* of that, if there are any to be looked at; in mem */
	size_t n_methods;
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
	struct context_how how = { l->edition, rules_match_method(rules, facts, m), list, 0 };

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
			woven_close(h);
		return;
	}
	if (h->class->rests || !woven_is_in(h) || h->code != CODE_OWN)
		apply_open(h, &how);
	else
		apply_set(h, &how);
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
		woven_rest(w);
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
	enum apply_code want = apply_code(rule, w->whole);
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
	return apply_serves(h->code, want);
}

/* Name and descriptor of a method, in the arena. */
static bool read_method(struct look *l, jmethodID method, struct rule_method *out)
{
	char *name = NULL, *desc = NULL, *own_name, *own_desc;
	jint access = 0;
	bool had = false;

	(*agent.jvmti)->GetMethodModifiers(agent.jvmti, method, &access);
	if ((*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &desc, NULL) ==
	    JVMTI_ERROR_NONE) {
		own_name = arena_str(&l->mem, slice_str(name));
		own_desc = arena_str(&l->mem, slice_str(desc));
		had = own_name && own_desc;
		if (had)
			*out = (struct rule_method){ .name = slice_str(own_name),
						     .desc = slice_str(own_desc),
						     .access = (uint16_t)access };
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
	return had;
}

/* The methods of the class that is looked at; none when they are not to be had.  agent.lock is not
 * held. */
static void read_methods(struct look *l)
{
	jmethodID *methods = NULL;
	jint n = 0;
	bool all = false;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, l->klass, &n, &methods) ==
	    JVMTI_ERROR_NONE) {
		l->methods = arena_alloc(&l->mem, ((size_t)n + 1) * sizeof(*l->methods));
		all = l->methods != NULL;
	}
	for (jint i = 0; i < n && all; i++)
		all = read_method(l, methods[i], &l->methods[i]);
	l->n_methods = (size_t)n;
	if (!all)
		l->methods = NULL;
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
}

/* Other rules than those under which the class was woven may want the same code: a hook of level
 * timed does not know in which contexts it is open, and one that is not wanted any more can be
 * closed; and where all methods are woven, any of them can be opened.  So that digging deeper does
 * not have the JVM recompile what it has just compiled. */
static bool fits(const struct look *l, const struct woven *w, const struct rule_class *facts)
{
	bool all = l->methods && w->digest != 0;

	for (const struct hooked *h = w->methods; h; h = h->next)
		all &= !h->in_code || (h->code != CODE_OWN && !h->bound);
	for (size_t i = 0; all && i < l->n_methods; i++)
		all = method_fits(l, w, facts, &l->methods[i]);
	return all;
}

/* A rule may want a class by all that the class says of itself, and yet none of its methods: they
 * have other names, or are constructors.  To retransform it would be for nothing.  agent.lock is
 * not held. */
static bool has_none(struct look *l, const struct rule_class *facts)
{
	const struct rules *rules = l->edition->rules;
	jmethodID *methods = NULL;
	bool none = true;
	jint n = 0;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, l->klass, &n, &methods) !=
	    JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < n && none; i++) {
		struct rule_method m;

		none = read_method(l, methods[i], &m) && !rules_match_method(rules, facts, &m) &&
		       !rules_match_anchors(rules, facts, &m, NULL, 0);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	return none;
}

/* How much of the class is to be woven.  agent.lock is held. */
static enum weave_whole whole_next(struct look *l, struct woven *w, const struct rule_class *facts)
{
	const struct rules *rules = l->edition->rules;
	const struct rule **touching = arena_alloc(&l->mem, (rules->n + 1) * sizeof(*touching));
	size_t n = touching ? rules_touching(rules, facts, touching) : 0;

	for (size_t i = 0; i < n; i++)
		w->had_full |= apply_code(touching[i], true) >= CODE_FULL;
	if (l->survey->at_once || !woven_is_restless(w))
		return WHOLE_NO;
	return w->had_full ? WHOLE_FULL : WHOLE_TIMED;
}

static uint64_t digest_in(const struct edition *e, const struct rule_class *facts, struct buf *text)
{
	buf_clear(text);
	rules_weave_text(e->rules, facts, text);
	return text->err ? 0 : hash_bytes(text->p, text->n) | 1;
}

uint64_t survey_digest(const struct edition *e, const struct rule_class *facts)
{
	struct buf text = { 0 };
	uint64_t digest = digest_in(e, facts, &text);

	buf_release(&text);
	return digest;
}

/* Has it been woven under the rules in force, or been found right under them? */
static bool is_settled(const struct look *l, const struct woven *w)
{
	return w->digest && !w->rests && l->edition && w->edition == l->edition->serial;
}

/* A class that is never woven, and its name tells: it is entered as left alone. */
static bool is_never_woven(struct look *l, const struct rule_class *facts, struct loader *by)
{
	enum left_kind kind = instrument_kind((const char *)facts->name.p, facts->name.n);
	struct woven *w;
	bool never;

	if (kind == LEFT_KINDS || !l->edition || !rules_class_may_match(l->edition->rules, facts))
		return false;
	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, (const char *)facts->name.p, facts->name.n, true);
	never = w && !woven_has_code(w);
	if (never) {
		memset(w->left, 0, sizeof(w->left));
		w->left[kind] = 1;
	}
	pthread_mutex_unlock(&agent.lock);
	if (never)
		callers_unplaced_class(l->edition, facts);
	return never;
}

/* May it turn out that the rules want none of its methods?  agent.lock is held. */
static bool may_have_none(const struct look *l, const struct woven *w, uint64_t digest)
{
	return w && digest && !w->digest && !l->edition->wants_marks && !woven_has_code(w);
}

/* Is it woven under other rules than these, which may yet want the same of it? */
static bool may_fit(const struct look *l, const struct woven *w, uint64_t digest)
{
	return w && digest && w->digest && w->digest != digest && !l->edition->wants_marks &&
	       !l->survey->at_once;
}

/* Where the class's entry stands, and what the rules of that digest (0: none) would make of it.
 * agent.lock is held. */
static bool decide(struct look *l, struct woven *w, const struct rule_class *facts, uint64_t digest)
{
	bool goes = false;

	if (!w)
		return digest != 0;
	w->wanted = digest;
	if (may_fit(l, w, digest) && fits(l, w, facts))
		w->digest = digest;
	if (!digest) {
		goes = woven_has_code(w) && must_go(l, w);
		if (!w->rests)
			memset(w->left, 0, sizeof(w->left));
		return goes;
	}
	if (w->digest == digest) {
		refresh(l, w, facts);
		if (!l->edition->wants_marks)
			w->edition = l->edition->serial;
	} else {
		w->whole_next = (uint8_t)whole_next(l, w, facts);
	}
	return w->digest != digest || l->edition->wants_marks;
}

static bool needs_weaving(struct look *l, const struct rule_class *facts, struct loader *by)
{
	bool may = l->edition && rules_class_may_match(l->edition->rules, facts);
	bool settled, asks, none, needs;
	uint64_t digest = 0;
	struct woven *w;

	if (may)
		digest = digest_in(l->edition, facts, &l->text) | 1;
	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, (const char *)facts->name.p, facts->name.n, may);
	settled = w && may && is_settled(l, w);
	asks = may_fit(l, w, digest);
	none = may_have_none(l, w, digest);
	pthread_mutex_unlock(&agent.lock);
	if (settled)
		return false;
	l->methods = NULL;
	if (asks)
		read_methods(l);
	none = none && has_none(l, facts);
	pthread_mutex_lock(&agent.lock);
	if (none && !woven_has_code(w))
		w->digest = digest;
	needs = decide(l, w, facts, digest);
	pthread_mutex_unlock(&agent.lock);
	apply_tell(l->jni);
	return needs;
}

static void look_at_kind(struct look *l, const struct rule_class *facts)
{
	enum left_kind kind = memchr(facts->name.p, '.', facts->name.n) ? LEFT_HIDDEN : LEFT_FIXED;
	char name[160];

	if (!l->edition || !rules_class_may_match(l->edition->rules, facts))
		return;
	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(facts->name));
	left_alone_seen(kind, name);
	if (kind != LEFT_HIDDEN)
		callers_unplaced_class(l->edition, facts);
}

static bool is_hooked(const struct rule_class *facts, struct loader *by)
{
	const struct woven *w;
	bool hooked;

	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, (const char *)facts->name.p, facts->name.n, false);
	hooked = w && woven_has_code(w);
	pthread_mutex_unlock(&agent.lock);
	return hooked;
}

static void leave_record(const struct edition *e, const struct rule_class *facts)
{
	char name[160];

	snprintf(name, sizeof(name), "%.*s", SLICE_FMT(facts->name));
	left_alone_seen(LEFT_RECORD, name);
	callers_unplaced_class(e, facts);
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

/* May some client hold methods of this class by a rule that is not new? */
static bool may_be_held(const struct look *l, const struct rule_class *facts)
{
	const struct edition *e = l->edition;
	struct rule_lineage room;

	room.ready = false;
	for (size_t i = e->rules->n; i-- > 0 && e->by_index[i].held;) {
		const struct rule *r = e->rules->all[i];

		if (e->by_index[i].number < l->survey->first &&
		    (r->kind == RULE_HOOK || r->kind == RULE_SKIP) &&
		    rule_target_test(&r->target, facts, NULL, &room).answer <= TARGET_MAYBE)
			return true;
	}
	return false;
}

/* Does a client's rule decide about a method that a new rule means as well?  From the last rule on:
 * those that are held, and before them the new ones that are not. */
static bool is_held(const struct look *l, const struct rule_class *facts,
		    const struct rule_method *m)
{
	const struct edition *e = l->edition;
	struct rule_lineage room;
	bool decided = false;

	room.ready = false;
	for (size_t i = e->rules->n; i-- > 0;) {
		const struct rule *r = e->rules->all[i];
		bool new = e->by_index[i].number >= l->survey->first;

		if (!new && !e->by_index[i].held)
			return false;
		if ((r->kind != RULE_HOOK && r->kind != RULE_SKIP) || (decided && !new) ||
		    rule_target_test(&r->target, facts, m, &room).answer != TARGET_HIT)
			continue;
		if (new)
			return decided;
		decided = true;
	}
	return false;
}

static void look_for_held(struct look *l, const struct rule_class *facts)
{
	if (!l->survey->first || !l->edition || !may_be_held(l, facts))
		return;
	read_methods(l);
	for (size_t i = 0; l->methods && i < l->n_methods; i++)
		l->survey->held += is_held(l, facts, &l->methods[i]);
}

/* True: the class is to be retransformed. */
static bool look_at(struct look *l, jclass klass)
{
	struct rule_lineage *room;
	struct kin_of kin;
	struct loader *by;
	jboolean modifiable = JNI_FALSE;
	bool needs;

	if (is_out_of_question(l, klass))
		return false;
	arena_reset(&l->mem);
	if (ancestry_of_class(&kin, l->jni, klass, &l->mem, l->edition && l->edition->wants_kin) <
	    0)
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
	look_for_held(l, &kin.list[0]);
	by = loaders_of(l->jni, klass, l->edition != NULL);
	needs = !is_never_woven(l, &kin.list[0], by) && needs_weaving(l, &kin.list[0], by);
	if (needs && survey_is_fragile(&kin) && !is_hooked(&kin.list[0], by)) {
		leave_record(l->edition, &kin.list[0]);
		needs = false;
	}
	loaders_give(by);
	return needs;
}

int survey_take(JNIEnv *jni, struct survey *s)
{
	struct look l = { .jni = jni, .survey = s, .edition = edition_get(), .distance = UINT_MAX };
	jclass *all = NULL;
	jint n = 0;

	s->n = 0;
	s->held = 0;
	left_alone_clear();
	loaders_sweep(jni);
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
			continue; /* loaded, but not linked yet: not known */
		asked++;
		sum += (uint64_t)n;
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	}
	return asked ? sum * s->n / asked : s->n * USUAL_METHODS;
}

uint64_t survey_retransform(JNIEnv *jni, const struct survey *s, survey_more *more, void *ctx)
{
	size_t batch = s->n / BATCHES > BATCH ? s->n / BATCHES : BATCH;
	uint64_t begin = tick_now(), refused = 0;

	recompile_before(jni, s->classes, s->n);
	for (size_t at = 0; at < s->n && !agent.dead; at += batch) {
		size_t n = s->n - at < batch ? s->n - at : batch;

		if (more && !more(ctx, at, s->n))
			break;
		refused += replace_classes(jni, s->classes + at, n);
	}
	agent.spent.retransforming += tick_now() - begin;
	return refused;
}
