/* SPDX-License-Identifier: Apache-2.0 */
/* prepare.c - compares what the rules say of a class with all its ancestors and without, and has it
 * retransformed there and then if that differs. */
#include "agent/weaving/prepare.h"

#include "agent/classes/ancestry.h"
#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "agent/weaving/instrument.h"
#include "agent/weaving/replace.h"
#include "agent/weaving/survey.h"
#include "weave/class_facts.h"
#include "weave/fit.h"

/* A class with all its ancestors, and as it is known from its own file. */
struct two_views {
	const struct rule_class *full, *alone;
	struct rule_lineage *full_room, *alone_room;
};

static bool differ(const struct two_views *v, const struct rule_target *t)
{
	return t->kin_count && rule_target_test(t, v->full, NULL, v->full_room).answer !=
				       rule_target_test(t, v->alone, NULL, v->alone_room).answer;
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

/* agent.lock is held. */
static struct woven *woven_of(struct loader *by, const struct kin_of *k)
{
	struct slice name = k->list[0].name;

	return woven_find(by, (const char *)name.p, name.n, false);
}

/* What the class is by ancestors that its own file does not name.  Nothing for most classes. */
static bool gains_above(const struct kin_of *k, struct arena *mem, struct fit_gain *out)
{
	struct rule_lineage *all = arena_alloc(mem, sizeof(*all)),
			    *own = arena_alloc(mem, sizeof(*own));
	struct rule_class alone = k->list[0];

	if (!all || !own)
		return false;
	all->ready = own->ready = false;
	alone.resolver = NULL;
	fit_gain(out, facts_lineage(&k->list[0], all), facts_lineage(&alone, own));
	return out->any;
}

/* At level full the template is chosen by what the class is: was it chosen, when the class was
 * loaded, without an ancestor that says otherwise? */
static bool is_full_below(JNIEnv *jni, const struct kin_of *k, struct arena *mem)
{
	const struct rule_class *c = &k->list[0];
	const struct woven *w;
	struct fit_gain gain;
	struct loader *by;
	bool full = false;

	if (k->n <= 1u + (c->super.n != 0) + c->interface_count || !gains_above(k, mem, &gain))
		return false;
	by = loaders_of(jni, k->klass, false);
	pthread_mutex_lock(&agent.lock);
	w = woven_of(by, k);
	for (const struct hooked *h = w && w->at_load ? w->methods : NULL; h; h = h->next) {
		const char *desc = strchr(h->name, '(');

		if (!h->rule || h->level != LEVEL_FULL || !desc)
			continue;
		full |= fit_gain_meets(
			&gain, (struct slice){ (const uint8_t *)h->name, (size_t)(desc - h->name) },
			slice_str(desc));
	}
	pthread_mutex_unlock(&agent.lock);
	loaders_give(by);
	return full;
}

/* Replacing a class stops the program for a moment.  A program may make such classes by the
 * dozen (proxies), so after the first of a second the rest wait for the agent's thread, which
 * replaces them together; until then their hooks tell what level timed does. */
static bool is_burst(void)
{
	enum { AT_ONCE = 4 };
	static uint64_t begun;
	static uint32_t n;
	uint64_t now = tick_now(), was = __atomic_load_n(&begun, __ATOMIC_RELAXED);

	if (now - was >= agent.scale.hz) {
		__atomic_store_n(&begun, now, __ATOMIC_RELAXED);
		__atomic_store_n(&n, 0, __ATOMIC_RELAXED);
	}
	return __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) > AT_ONCE;
}

/* The class is to be looked at by the next survey, with all its ancestors; unless it has been woven
 * with them by now. */
static void leave_to_survey(JNIEnv *jni, const struct kin_of *k)
{
	struct loader *by = loaders_of(jni, k->klass, false);
	struct woven *w;

	pthread_mutex_lock(&agent.lock);
	w = woven_of(by, k);
	if (w && w->at_load)
		w->digest = 0;
	if (!w || w->at_load)
		instrument_live_wait();
	pthread_mutex_unlock(&agent.lock);
	loaders_give(by);
}

/* ... or to be woven now, under the rules that touch it. */
static void weave_again(JNIEnv *jni, const struct edition *e, const struct kin_of *k)
{
	uint64_t digest = survey_digest(e, &k->list[0]);
	struct loader *by = loaders_of(jni, k->klass, false);
	struct woven *w;

	pthread_mutex_lock(&agent.lock);
	w = woven_of(by, k);
	if (w)
		w->wanted = digest;
	pthread_mutex_unlock(&agent.lock);
	loaders_give(by);
	replace_classes(jni, &k->klass, 1);
}

void JNICALL prepare_on_class(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass)
{
	struct edition *e = edition_get();
	struct kin_of kin;
	struct arena mem;
	jboolean modifiable = JNI_FALSE; /* a hidden class is not */
	bool above, full;

	(void)thread;
	if (!e)
		return;
	arena_init(&mem);
	(*jvmti)->IsModifiableClass(jvmti, klass, &modifiable);
	if (e->wants_kin && modifiable && !agent.dead &&
	    ancestry_of_class(&kin, jni, klass, &mem, true) >= 0) {
		above = is_decided_above(e, &kin, &mem);
		full = !above && is_full_below(jni, &kin, &mem);
		/* A class that is retransformed before it was linked is prepared in the midst of
		 * it.  Retransformed once more then, it would be woven twice. */
		if ((above || full) && (replace_is_on() || (full && is_burst())))
			leave_to_survey(jni, &kin);
		else if (above || full)
			weave_again(jni, e, &kin);
	}
	arena_release(&mem);
	edition_put(e);
}
