/* SPDX-License-Identifier: Apache-2.0 */
/* classwalk.c - goes through the loaded classes and their methods, as JVMTI has them. */
#include "agent/serve/classwalk.h"

#include <stdio.h>

#include "agent/core/agent.h"

static void drop(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

uint64_t classwalk(const struct classwalk *w)
{
	jclass *all = NULL;
	uint64_t seen = 0;
	bool on = true;
	jint n = 0;

	(*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all);
	for (jint i = 0; i < n; i++) {
		char *sig = NULL;

		if (on)
			(*agent.jvmti)->GetClassSignature(agent.jvmti, all[i], &sig, NULL);
		if (sig && sig[0] == 'L') {
			seen++;
			on = w->class(w->ctx, all[i],
				      (struct slice){ (uint8_t *)sig + 1, strlen(sig) - 2 });
		}
		drop(sig);
		(*w->jni)->DeleteLocalRef(w->jni, all[i]);
	}
	drop(all);
	return seen;
}

bool classwalk_method(jclass klass, classwalk_visit *visit, void *ctx)
{
	jmethodID *ids = NULL;
	bool hit = false;
	jint n = 0;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &ids) != JVMTI_ERROR_NONE)
		return false;
	for (jint i = 0; i < n && !hit; i++) {
		char *name = NULL, *desc = NULL;

		if ((*agent.jvmti)->GetMethodName(agent.jvmti, ids[i], &name, &desc, NULL) !=
		    JVMTI_ERROR_NONE)
			continue;
		hit = visit(ctx, ids[i], name, desc);
		drop(name);
		drop(desc);
	}
	drop(ids);
	return hit;
}

/* A nested class may be written with a dot, as in Java. */
static bool is_same(struct slice name, struct slice wanted)
{
	for (size_t i = 0; i < wanted.n; i++)
		if (name.p[i] != wanted.p[i] && !(name.p[i] == '$' && wanted.p[i] == '/'))
			return false;
	return true;
}

enum classwalk_fit classwalk_fits(struct slice wanted, struct slice name)
{
	struct slice tail = { name.p + (name.n - wanted.n), wanted.n };

	if (name.n < wanted.n || !is_same(tail, wanted))
		return FIT_NOT;
	if (name.n == wanted.n)
		return FIT_WHOLE;
	return tail.p[-1] == '/' ? FIT_TAIL : tail.p[-1] == '$' ? FIT_NESTED : FIT_NOT;
}

struct slice classwalk_simple(struct slice name)
{
	for (size_t i = name.n; i > 0; i--)
		if (name.p[i - 1] == '/' || (name.p[i - 1] == '$' && i < name.n))
			return (struct slice){ name.p + i, name.n - i };
	return name;
}

void classwalk_guess_init(struct classwalk_guess *g, const char *wanted)
{
	g->of = text_guess(slice_str(wanted));
	g->near[0] = '\0';
}

void classwalk_guess_try(struct classwalk_guess *g, struct slice name)
{
	unsigned before = g->of.best.p ? g->of.distance : UINT32_MAX;
	bool packages = memchr(g->of.word.p, '/', g->of.word.n) != NULL;

	text_guess_try(&g->of, packages ? name : classwalk_simple(name));
	if (g->of.best.p && g->of.distance < before)
		snprintf(g->near, sizeof(g->near), "%.*s", SLICE_FMT(name));
}

void classwalk_loader(JNIEnv *jni, jclass klass, char out[CLASSWALK_NAME])
{
	jobject loader = NULL;
	char *sig = NULL;
	jclass of;

	snprintf(out, CLASSWALK_NAME, "boot");
	if ((*agent.jvmti)->GetClassLoader(agent.jvmti, klass, &loader) != JVMTI_ERROR_NONE ||
	    !loader)
		return;
	of = (*jni)->GetObjectClass(jni, loader);
	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, of, &sig, NULL) == JVMTI_ERROR_NONE)
		snprintf(out, CLASSWALK_NAME, "%.*s", (int)strlen(sig) - 2, sig + 1);
	drop(sig);
	text_replace(out, '/', '.');
	(*jni)->DeleteLocalRef(jni, of);
	(*jni)->DeleteLocalRef(jni, loader);
}
