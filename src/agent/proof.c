/* SPDX-License-Identifier: Apache-2.0 */
/* proof.c - compares every method that was ever woven with what it was. */
#include "agent/proof.h"

#include <stdio.h>

#include "agent/agent.h"
#include "agent/woven.h"
#include "base/reader.h"
#include "classfile/digest.h"
#include "wire/wire.h"

enum verdict {		    /* of one method */
	       NEVER_WOVEN, /* or it cannot be asked */
	       ORIGINAL,
	       FOREIGN, /* another agent has changed it; nothing of ours is in it */
	       DIFFERENT,
};

/* *found is the method, if there is one. */
static enum verdict compare(const struct woven *w, const struct pool *pool, jmethodID method,
			    const struct hooked **found)
{
	char *name = NULL, *desc = NULL;
	unsigned char *code = NULL;
	const struct hooked *h;
	jint n = 0;
	enum verdict verdict = NEVER_WOVEN;

	if ((*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &desc, NULL) !=
	    JVMTI_ERROR_NONE)
		return NEVER_WOVEN;
	h = woven_named(w, name, desc);
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

/* The class's constant pool as it is now, with a count before it as in a class file. */
static bool read_pool(jclass klass, struct arena *mem, struct pool *out)
{
	unsigned char *bytes = NULL;
	jint count = 0, n = 0;
	struct reader r;
	uint8_t *copy;
	int rc = E_NO_MEMORY;

	if ((*agent.jvmti)->GetConstantPool(agent.jvmti, klass, &count, &n, &bytes) !=
	    JVMTI_ERROR_NONE)
		return false;
	copy = arena_alloc(mem, (size_t)n + 2);
	if (copy) {
		put_u16(copy, (uint16_t)count);
		memcpy(copy + 2, bytes, (size_t)n);
		r = rd_init((struct slice){ copy, (size_t)n + 2 });
		rc = pool_read(out, mem, &r, NULL);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, bytes);
	return rc >= 0;
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
	if (!read_pool(klass, &mem, &pool) ||
	    (*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &methods) != JVMTI_ERROR_NONE) {
		arena_release(&mem);
		return;
	}
	for (jint i = 0; i < n; i++) {
		enum verdict v = compare(w, &pool, methods[i], &h);

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
		snprintf(why, sizeof(why), "%llu methods still have hooks, such as %.200s",
			 (unsigned long long)count[DIFFERENT], first->name);
		m.same = 0;
		m.why = slice_str(why);
		p->differ++;
	} else if (count[FOREIGN]) {
		snprintf(why, sizeof(why), "but for %llu methods with changes of another agent",
			 (unsigned long long)count[FOREIGN]);
		m.why = slice_str(why);
		p->foreign++;
	}
	wire_put_proof(out, &m);
}

static bool was_woven(const struct woven *w)
{
	for (const struct hooked *h = w->methods; h; h = h->next)
		if (h->original)
			return true;
	return false;
}

void proof_take(JNIEnv *jni, struct buf *out, struct proof *p)
{
	jclass *all = NULL;
	jint n = 0;

	for (const struct woven *w = woven_first(); w; w = w->all)
		p->ever += was_woven(w);
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &all) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		char *sig = NULL;
		jobject loader = NULL;
		struct woven *w = NULL;

		if ((*agent.jvmti)->GetClassSignature(agent.jvmti, all[i], &sig, NULL) ==
			    JVMTI_ERROR_NONE &&
		    sig[0] == 'L') {
			(*agent.jvmti)->GetClassLoader(agent.jvmti, all[i], &loader);
			pthread_mutex_lock(&agent.lock);
			w = woven_find(jni, sig + 1, strlen(sig) - 2, loader, false);
			pthread_mutex_unlock(&agent.lock);
		}
		if (w && was_woven(w))
			prove_class(w, all[i], out, p);
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
		if (loader)
			(*jni)->DeleteLocalRef(jni, loader);
		(*jni)->DeleteLocalRef(jni, all[i]);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)all);
}
