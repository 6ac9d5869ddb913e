/* SPDX-License-Identifier: Apache-2.0 */
/* ancestry.c - walks up from a class, breadth first, each ancestor once. */
#include "agent/classes/ancestry.h"

#include "agent/core/agent.h"

/* The internal name of a class, in mem; .p NULL: not to be had, or an array. */
static struct slice name_of(struct kin_of *k, jclass klass)
{
	struct slice name = { NULL, 0 };
	char *sig = NULL;
	size_t n;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, klass, &sig, NULL) != JVMTI_ERROR_NONE)
		return name;
	n = strlen(sig);
	if (n > 2 && sig[0] == 'L')
		name = arena_dup(k->mem, (struct slice){ (const uint8_t *)sig + 1, n - 2 });
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)sig);
	return name;
}

static struct rule_class *known(struct kin_of *k, struct slice name)
{
	for (size_t i = 0; i < k->n; i++)
		if (slice_eq(k->list[i].name, name))
			return &k->list[i];
	return NULL;
}

static struct rule_class *add(struct kin_of *k)
{
	if (k->n == k->cap) {
		size_t cap = k->cap ? 2 * k->cap : 8;
		struct rule_class *list = arena_alloc(k->mem, cap * sizeof(*list));

		if (!list)
			return NULL;
		if (k->n)
			memcpy(list, k->list, k->n * sizeof(*list));
		k->list = list;
		k->cap = cap;
	}
	k->list[k->n] = (struct rule_class){ 0 };
	return &k->list[k->n++];
}

static int visit(struct kin_of *k, jclass klass, struct slice name, bool deep);

static int visit_once(struct kin_of *k, jclass klass, struct slice *name, bool deep)
{
	*name = name_of(k, klass);
	if (!name->p || !deep || known(k, *name) || k->n >= LINEAGE_MAX)
		return 0;
	return visit(k, klass, *name, deep);
}

/* Adds one class and, when deep, what it descends from. */
static int visit(struct kin_of *k, jclass klass, struct slice name, bool deep)
{
	struct rule_class *c = add(k);
	size_t self = k->n - 1;
	struct slice *names = NULL;
	jclass *interfaces = NULL;
	struct slice super = { NULL, 0 };
	jclass up;
	jint n = 0, access = 0;
	int rc = 0;

	if (!c)
		return E_NO_MEMORY;
	c->name = name;
	(*agent.jvmti)->GetClassModifiers(agent.jvmti, klass, &access);
	c->access = (uint16_t)access;
	up = (*k->jni)->GetSuperclass(k->jni, klass);
	if (up) {
		rc = visit_once(k, up, &super, deep);
		(*k->jni)->DeleteLocalRef(k->jni, up);
	}
	if ((*agent.jvmti)->GetImplementedInterfaces(agent.jvmti, klass, &n, &interfaces) !=
	    JVMTI_ERROR_NONE)
		n = 0;
	if (n > 0 && !(names = arena_zero(k->mem, (size_t)n * sizeof(*names))))
		rc = E_NO_MEMORY;
	for (jint i = 0; i < n; i++) {
		if (rc >= 0)
			rc = visit_once(k, interfaces[i], &names[i], deep);
		(*k->jni)->DeleteLocalRef(k->jni, interfaces[i]);
	}
	if (interfaces)
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)interfaces);
	c = &k->list[self]; /* the list may have moved */
	c->super = super;
	c->interfaces = names;
	c->interface_count = names ? (size_t)n : 0;
	return rc;
}

static bool find(void *ctx, struct slice name, struct rule_class *out)
{
	struct rule_class *c = known(ctx, name);

	if (!c)
		return false;
	*out = *c;
	return true;
}

/* Descriptors of annotations are constants of the class. */
static bool mentions(void *ctx, struct slice descriptor)
{
	struct kin_of *k = ctx;
	unsigned char *bytes = NULL;
	jint count, n;
	bool found;

	if ((*agent.jvmti)->GetConstantPool(agent.jvmti, k->klass, &count, &n, &bytes) !=
	    JVMTI_ERROR_NONE)
		return true;
	found = memmem(bytes, (size_t)n, descriptor.p, descriptor.n) != NULL;
	(*agent.jvmti)->Deallocate(agent.jvmti, bytes);
	return found;
}

int ancestry_of_class(struct kin_of *k, JNIEnv *jni, jclass klass, struct arena *mem, bool deep)
{
	struct slice name;
	int rc;

	*k = (struct kin_of){ .klass = klass, .jni = jni, .mem = mem };
	name = name_of(k, klass);
	rc = name.p ? visit(k, klass, name, deep) : E_NO_MEMORY;
	if (rc < 0)
		return rc;
	k->resolver = (struct rule_resolver){ k, find, mentions };
	k->list[0].resolver = &k->resolver;
	return 0;
}
