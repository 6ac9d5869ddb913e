/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - names of methods by jmethodID. */
#include "agent/classes/sites.h"

#include "agent/core/agent.h"

static const char aqs[] = "Ljava/util/concurrent/locks/AbstractQueued";

void sites_init(struct sites *s)
{
	arena_init(&s->mem);
	map_init(&s->map);
}

void sites_release(struct sites *s)
{
	map_release(&s->map);
	arena_release(&s->mem);
}

/* Appends "a.b.C" of "La/b/C;", or the signature itself of an array. */
static void put_class(struct buf *out, const char *signature)
{
	size_t n = strlen(signature);

	if (signature[0] == 'L' && n > 2)
		signature++, n -= 2;
	buf_dotted(out, (struct slice){ (const uint8_t *)signature, n });
}

static void drop(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

static unsigned flags_of(jmethodID method, jclass klass, const char *sig, const char *name)
{
	jboolean native = JNI_FALSE, modifiable = JNI_TRUE;
	unsigned flags = 0;
	jint access = 0;

	(*agent.jvmti)->IsMethodNative(agent.jvmti, method, &native);
	(*agent.jvmti)->IsModifiableClass(agent.jvmti, klass, &modifiable);
	(*agent.jvmti)->GetMethodModifiers(agent.jvmti, method, &access);
	flags |= native ? SITE_NATIVE : 0;
	flags |= modifiable ? 0 : SITE_FIXED;
	flags |= access & 0x1000 ? SITE_SYNTHETIC : 0;
	if (strncmp(sig, aqs, sizeof(aqs) - 1) == 0 && strstr(name, "cquire"))
		flags |= SITE_ACQUIRE;
	return flags;
}

/* Fills in name and flags; false when the method is not there any more. */
static bool describe(struct sites *s, JNIEnv *jni, struct site *site)
{
	char *name = NULL, *desc = NULL, *sig = NULL;
	struct buf text = { 0 };
	jclass klass = NULL;

	if ((*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, site->method, &klass) !=
		    JVMTI_ERROR_NONE ||
	    !klass)
		return false;
	if ((*agent.jvmti)->GetMethodName(agent.jvmti, site->method, &name, &desc, NULL) ==
		    JVMTI_ERROR_NONE &&
	    (*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &sig, NULL) == JVMTI_ERROR_NONE) {
		put_class(&text, sig);
		buf_u8(&text, '.');
		buf_text(&text, name);
		buf_text(&text, desc);
		site->flags = flags_of(site->method, klass, sig, name);
		site->name = text.err ? NULL : arena_str(&s->mem, buf_slice(&text));
	}
	drop(name);
	drop(desc);
	drop(sig);
	buf_release(&text);
	(*jni)->DeleteLocalRef(jni, klass);
	return site->name != NULL;
}

struct site *sites_get(struct sites *s, JNIEnv *jni, jmethodID method)
{
	struct site *site;
	uintptr_t *at;
	bool fresh;

	at = map_get(&s->map, (struct slice){ (const uint8_t *)&method, sizeof(method) });
	if (at)
		return (struct site *)*at;
	site = arena_zero(&s->mem, sizeof(*site));
	if (!site)
		return NULL;
	site->method = method;
	at = map_put(&s->map, (struct slice){ (const uint8_t *)&site->method, sizeof(method) },
		     &fresh);
	if (!at)
		return NULL;
	*at = (uintptr_t)(describe(s, jni, site) ? site : NULL);
	return (struct site *)*at;
}
