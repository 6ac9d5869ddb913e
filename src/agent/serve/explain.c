/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - asks the rules in force about each loaded class of that name, and adds what the agent
 * knows: since when, by which way, at what price. */
#include "agent/serve/explain.h"

#include <stdio.h>

#include "agent/classes/ancestry.h"
#include "agent/classes/left_alone.h"
#include "agent/classes/rulebook.h"
#include "agent/core/agent.h"
#include "agent/core/reading.h"
#include "agent/hotspot/tiers.h"
#include "agent/natives/callers.h"
#include "agent/natives/data.h"
#include "agent/serve/rows.h"
#include "agent/serve/closing.h"
#include "agent/weaving/grown.h"
#include "agent/weaving/instrument.h"
#include "classfile/class.h"
#include "rule/rules_explain.h"
#include "rule/text.h"

struct question {
	JNIEnv *jni;
	struct edition *edition;
	char class[512]; /* a/b/C */
	char method[256];
	struct buf *out;
	struct arena mem;
	int found;
};

static bool take_apart(struct question *q, struct slice text)
{
	char copy[768], *split, *name;

	if (text.n >= sizeof(copy))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	copy[strcspn(copy, "(")] = '\0';
	split = strstr(copy, "::");
	if (!split)
		split = strrchr(copy, '.');
	if (!split || split == copy)
		return false;
	name = split + (split[0] == ':' ? 2 : 1);
	*split = '\0';
	if (!*name || strlen(copy) >= sizeof(q->class) || strlen(name) >= sizeof(q->method))
		return false;
	text_replace(copy, '.', '/');
	memcpy(q->class, copy, strlen(copy) + 1);
	if (strcmp(name, "new") == 0)
		name = (char *)"<init>";
	memcpy(q->method, name, strlen(name) + 1);
	return true;
}

static void tell_state(struct question *q, const struct woven *w, const char *name,
		       const char *desc)
{
	const struct hooked *h = w ? woven_named(w, name, desc) : NULL;
	uint64_t missed[MISS_KINDS];
	struct probe_figures f;

	if (h && h->anchor)
		buf_text(q->out,
			 "  an anchor: all its calls are timed, for the sequences it is in\n");
	if (h && h->rule && callers_is_by_stack(h->rule))
		buf_text(q->out,
			 "  a caller in its sequence cannot be woven: each call looks at the "
			 "stack\n");
	if (h)
		closing_explain(h->id, q->out);
	if (!h || !h->rule) {
		if (w)
			for (int k = 0; k < LEFT_KINDS; k++)
				if (w->left[k])
					buf_printf(q->out, "  left alone in this class: %u, %s\n",
						   w->left[k], left_reasons[k]);
		return;
	}
	reading_method(h->id, &f, NULL);
	buf_printf(q->out, "  hooked for %.1f s by rule #%u; calls so far: %llu, timed: %llu\n",
		   (double)agent_age_ns(h->since) / 1e9, h->rule, (unsigned long long)f.calls,
		   (unsigned long long)f.timed);
	grown_tell(h, q->out);
	data_missed(h->id, missed);
	for (int k = 0; k < MISS_KINDS; k++)
		if (missed[k])
			buf_printf(q->out, "  tests not met for want of a value: %llu, %s\n",
				   (unsigned long long)missed[k],
				   data_miss_text((enum data_miss)k));
}

/* What `hooks` calls the rules; NULL, and their positions: no memory. */
static const uint32_t *numbers_of(struct question *q)
{
	size_t n = q->edition->rules->n;
	uint32_t *out = arena_alloc(&q->mem, n * sizeof(*out));

	for (size_t i = 0; out && i < n; i++)
		out[i] = q->edition->by_index[i].number;
	return out;
}

static void explain_one(struct question *q, struct kin_of *kin, const struct woven *w,
			jmethodID method)
{
	char *name = NULL, *desc = NULL;
	jint access = 0;

	if ((*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &desc, NULL) !=
	    JVMTI_ERROR_NONE)
		return;
	(*agent.jvmti)->GetMethodModifiers(agent.jvmti, method, &access);
	if (strcmp(name, q->method) == 0) {
		struct rule_method facts = { .name = slice_str(name),
					     .desc = slice_str(desc),
					     .access = (uint16_t)access };

		q->found++;
		if (q->edition)
			rules_explain(q->edition->rules, numbers_of(q), &kin->list[0], &facts,
				      q->out);
		else
			buf_printf(q->out, "%s%s: no rules are in force\n", name, desc);
		tell_state(q, w, name, desc);
		buf_printf(q->out, "  now %s%s\n", tiers_text(tiers_of(method, access)),
			   access & ACC_STATIC ? ", static" : "");
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
}

static void explain_class(struct question *q, jclass klass)
{
	jmethodID *methods = NULL;
	struct loader *by;
	struct woven *w;
	struct kin_of kin;
	jint n = 0;

	arena_reset(&q->mem);
	if (ancestry_of_class(&kin, q->jni, klass, &q->mem, true) < 0)
		return;
	by = loaders_of(q->jni, klass, false);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, q->class, strlen(q->class), false);
	pthread_mutex_unlock(&agent.lock);
	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &methods) == JVMTI_ERROR_NONE)
		for (jint i = 0; i < n; i++)
			explain_one(q, &kin, w, methods[i]);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	loaders_give(by);
}

int explain_method(JNIEnv *jni, struct slice method, struct buf *out)
{
	struct question q = { .jni = jni, .out = out };
	struct text_guess guess;
	char near[512] = "";
	jclass *all = NULL;
	jint n = 0, classes = 0;

	if (!take_apart(&q, method)) {
		buf_printf(out, "a method is written as pkg.Class::name");
		return E_SYNTAX;
	}
	arena_init(&q.mem);
	guess = text_guess(slice_str(q.class));
	q.edition = edition_get();
	(*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all);
	for (jint i = 0; i < n; i++) {
		char *sig = NULL;

		(*agent.jvmti)->GetClassSignature(agent.jvmti, all[i], &sig, NULL);
		if (sig && sig[0] == 'L') {
			struct slice name = { (uint8_t *)sig + 1, strlen(sig) - 2 };
			unsigned before = guess.best.p ? guess.distance : UINT32_MAX;

			if (slice_is(name, q.class)) {
				classes++;
				explain_class(&q, all[i]);
			}
			text_guess_try(&guess, name);
			if (guess.best.p && guess.distance < before)
				snprintf(near, sizeof(near), "%.*s", SLICE_FMT(name));
		}
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
		(*jni)->DeleteLocalRef(jni, all[i]);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
	text_replace(q.class, '/', '.');
	text_replace(near, '/', '.');
	if (!q.found && classes)
		buf_printf(out, "%s has no method %s", q.class, q.method);
	else if (!q.found)
		buf_printf(out, "no class %s is loaded (of %d)%s%s", q.class, (int)n,
			   near[0] ? "; the nearest name is " : "", near);
	edition_put(q.edition);
	arena_release(&q.mem);
	return q.found;
}
