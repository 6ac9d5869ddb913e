/* SPDX-License-Identifier: Apache-2.0 */
/* proof.c - compares every method that was ever woven with what it was. */
#include "agent/weaving/proof.h"

#include <stdio.h>

#include "agent/classes/loaded_pool.h"
#include "agent/classes/woven.h"
#include "agent/core/agent.h"
#include "base/plural.h"
#include "base/reader.h"
#include "classfile/digest.h"
#include "wire/wire.h"

enum proof_verdict {		  /* of one method */
		     NEVER_WOVEN, /* or it cannot be asked */
		     ORIGINAL,
		     FOREIGN, /* another agent has changed it; nothing of ours is in it */
		     DIFFERENT,
};

/* *found is the method, if there is one. */
static enum proof_verdict compare(const struct woven *w, const struct pool *pool, jmethodID method,
				  const struct hooked **found)
{
	char *name = NULL, *desc = NULL;
	unsigned char *code = NULL;
	const struct hooked *h;
	jint n = 0;
	enum proof_verdict verdict = NEVER_WOVEN;

	if ((*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &desc, NULL) !=
	    JVMTI_ERROR_NONE)
		return NEVER_WOVEN;
	pthread_mutex_lock(&agent.lock); /* threads that load it elsewhere may add methods */
	h = woven_named(w, name, desc);
	pthread_mutex_unlock(&agent.lock);
	*found = h;
	if (h && h->original &&
	    (*agent.jvmti)->GetBytecodes(agent.jvmti, method, &n, &code) == JVMTI_ERROR_NONE) {
		struct slice bytes = { code, (size_t)n };

		if (code_digest(pool, bytes) == h->original)
			verdict = ORIGINAL;
		else if (code_uses_class(pool, bytes, slice_str("java/util/SondeProbe")) ||
			 code_uses_class(pool, bytes, slice_str(DATA_CLASS)))
			verdict = DIFFERENT;
		else
			verdict = FOREIGN;
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
	(*agent.jvmti)->Deallocate(agent.jvmti, code);
	return verdict;
}

static void prove_class(const struct woven *w, jclass klass, struct buf *out, struct proof *p)
{
	struct wire_proof m = { .class = slice_str(w->name), .same = 1 };
	jmethodID *methods = NULL;
	struct pool pool = { 0 };
	struct arena mem;
	jint n = 0;
	uint64_t count[DIFFERENT + 1] = { 0 };
	const struct hooked *h, *first = NULL;
	char why[256];

	arena_init(&mem);
	if (!loaded_pool(klass, &mem, &pool) ||
	    (*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &methods) != JVMTI_ERROR_NONE) {
		arena_release(&mem);
		return;
	}
	for (jint i = 0; i < n; i++) {
		enum proof_verdict v = compare(w, &pool, methods[i], &h);

		m.methods += v != NEVER_WOVEN;
		count[v]++;
		first = v == DIFFERENT && !first ? h : first;
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	pool_release(&pool);
	arena_release(&mem);
	p->classes++;
	p->methods += m.methods;
	if (count[DIFFERENT]) {
		snprintf(why, sizeof(why), "%llu method%s still %s hooks, such as %.200s",
			 (unsigned long long)count[DIFFERENT], plural(count[DIFFERENT]),
			 count[DIFFERENT] == 1 ? "has" : "have", first->name);
		m.same = 0;
		m.why = slice_str(why);
		p->differ++;
	} else if (count[FOREIGN]) {
		snprintf(why, sizeof(why), "but for %llu method%s with changes of another agent",
			 (unsigned long long)count[FOREIGN], plural(count[FOREIGN]));
		m.why = slice_str(why);
		p->foreign++;
	}
	wire_put_proof(out, &m);
}

/* The class's entry, if it was ever woven; NULL: it was not. */
static const struct woven *entry_of(struct loader *by, const char *name, size_t n)
{
	const struct woven *w;
	bool was = false;

	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, name, n, false);
	for (const struct hooked *h = w ? w->methods : NULL; h; h = h->next)
		was |= h->original != 0;
	pthread_mutex_unlock(&agent.lock);
	return was ? w : NULL;
}

void proof_take(JNIEnv *jni, struct buf *out, struct proof *p)
{
	jclass *all = NULL;
	jint n = 0;

	p->ever = woven_count_ever();
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		const struct woven *w = NULL;
		struct loader *by = NULL;
		char *sig = NULL;

		if ((*agent.jvmti)->GetClassSignature(agent.jvmti, all[i], &sig, NULL) ==
			    JVMTI_ERROR_NONE &&
		    sig[0] == 'L') {
			by = loaders_of(jni, all[i], false);
			w = entry_of(by, sig + 1, strlen(sig) - 2);
		}
		if (w)
			prove_class(w, all[i], out, p);
		loaders_give(by);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
		(*jni)->DeleteLocalRef(jni, all[i]);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
}
