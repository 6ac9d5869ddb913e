/* SPDX-License-Identifier: Apache-2.0 */
/* members.c - a class is entered by its name; its members are read when somebody asks. */
#include "agent/natives/members.h"

#include "agent/core/agent.h"
#include "classfile/class.h"

struct known_class {
	jclass klass;
	struct slice name;
	struct cond_class *read;  /* NULL: not yet */
	struct known_class *next; /* of the same name, by another loader */
};

static struct slice copy_text(struct arena *mem, const char *text)
{
	return arena_dup(mem, slice_str(text));
}

static void give_back(void *p)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, p);
}

static struct slice name_of(struct members *m, jclass c)
{
	struct slice name = { NULL, 0 };
	char *sig = NULL;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, c, &sig, NULL) == JVMTI_ERROR_NONE &&
	    sig[0] == 'L')
		name = arena_dup(m->mem, (struct slice){ (uint8_t *)sig + 1, strlen(sig) - 2 });
	give_back(sig);
	return name;
}

static struct known_class *enter(struct members *m, jclass c)
{
	struct known_class *k;
	uintptr_t *place;
	struct slice name = name_of(m, c);
	bool fresh;

	if (!name.p)
		return NULL;
	k = arena_zero(m->mem, sizeof(*k));
	place = k ? map_put(&m->by_name, name, &fresh) : NULL;
	if (!place)
		return NULL;
	k->klass = c;
	k->name = name;
	k->next = fresh ? NULL : (struct known_class *)*place;
	*place = (uintptr_t)k;
	return k;
}

/* ---- one class ---------------------------------------------------------------------------- */

static void read_fields(struct members *m, jclass c, struct cond_class *out)
{
	jfieldID *ids = NULL;
	struct cond_member *v;
	jint n = 0;

	if ((*agent.jvmti)->GetClassFields(agent.jvmti, c, &n, &ids) != JVMTI_ERROR_NONE)
		return;
	v = arena_zero(m->mem, ((size_t)n + 1) * sizeof(*v));
	for (jint i = 0; v && i < n; i++) {
		char *name = NULL, *desc = NULL;
		jint access = 0;

		(*agent.jvmti)->GetFieldModifiers(agent.jvmti, c, ids[i], &access);
		if ((*agent.jvmti)->GetFieldName(agent.jvmti, c, ids[i], &name, &desc, NULL) ==
		    JVMTI_ERROR_NONE)
			v[out->n_fields++] = (struct cond_member){ copy_text(m->mem, name),
								   copy_text(m->mem, desc),
								   (uint16_t)access, ids[i] };
		give_back(name);
		give_back(desc);
	}
	out->fields = v;
	give_back(ids);
}

static void read_methods(struct members *m, jclass c, struct cond_class *out)
{
	jmethodID *ids = NULL;
	struct cond_member *v;
	jint n = 0;

	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, c, &n, &ids) != JVMTI_ERROR_NONE)
		return;
	v = arena_zero(m->mem, ((size_t)n + 1) * sizeof(*v));
	for (jint i = 0; v && i < n; i++) {
		char *name = NULL, *desc = NULL;
		jint access = 0;

		(*agent.jvmti)->GetMethodModifiers(agent.jvmti, ids[i], &access);
		if ((*agent.jvmti)->GetMethodName(agent.jvmti, ids[i], &name, &desc, NULL) ==
		    JVMTI_ERROR_NONE)
			v[out->n_methods++] = (struct cond_member){ copy_text(m->mem, name),
								    copy_text(m->mem, desc),
								    (uint16_t)access, ids[i] };
		give_back(name);
		give_back(desc);
	}
	out->methods = v;
	give_back(ids);
}

static void read_ancestors(struct members *m, jclass c, struct cond_class *out)
{
	jclass up = (*m->jni)->GetSuperclass(m->jni, c), *interfaces = NULL;
	struct slice *names;
	jint n = 0;

	if (up) {
		out->super = name_of(m, up);
		(*m->jni)->DeleteLocalRef(m->jni, up);
	}
	if ((*agent.jvmti)->GetImplementedInterfaces(agent.jvmti, c, &n, &interfaces) !=
	    JVMTI_ERROR_NONE)
		return;
	names = arena_zero(m->mem, ((size_t)n + 1) * sizeof(*names));
	for (jint i = 0; i < n; i++) {
		if (names)
			names[out->n_interfaces++] = name_of(m, interfaces[i]);
		(*m->jni)->DeleteLocalRef(m->jni, interfaces[i]);
	}
	out->interfaces = names;
	give_back(interfaces);
}

static const struct cond_class *read_class(struct members *m, struct known_class *k)
{
	struct cond_class *c;
	jint access = 0, status = 0;

	if (k->read)
		return k->read;
	(*agent.jvmti)->GetClassStatus(agent.jvmti, k->klass, &status);
	c = arena_zero(m->mem, sizeof(*c));
	if (!c || !(status & JVMTI_CLASS_STATUS_PREPARED))
		return NULL; /* loaded, but its members are not known yet */
	(*agent.jvmti)->GetClassModifiers(agent.jvmti, k->klass, &access);
	c->name = k->name;
	c->access = (uint16_t)access;
	c->id = k->klass;
	read_ancestors(m, k->klass, c);
	read_fields(m, k->klass, c);
	read_methods(m, k->klass, c);
	k->read = c;
	return c;
}

/* ---- the book ----------------------------------------------------------------------------- */

/* Of several classes of that name, the one of the loader that asks; else a platform class; else
 * the only one. */
static const struct cond_class *find(void *ctx, struct slice name)
{
	struct members *m = ctx;
	uintptr_t *place = map_get(&m->by_name, name);
	struct known_class *k = place ? (struct known_class *)*place : NULL, *best = k;

	if (!k)
		return NULL;
	if (!k->next)
		return read_class(m, k);
	for (; k; k = k->next) {
		jobject loader = NULL;
		bool same;

		(*agent.jvmti)->GetClassLoader(agent.jvmti, k->klass, &loader);
		same = (*m->jni)->IsSameObject(m->jni, loader, m->loader);
		if (!loader && !same)
			best = k;
		(*m->jni)->DeleteLocalRef(m->jni, loader);
		if (same)
			return read_class(m, k);
	}
	return best ? read_class(m, best) : NULL;
}

static void book_init(struct members *m, JNIEnv *jni, struct arena *mem)
{
	*m = (struct members){ .jni = jni, .mem = mem };
	map_init(&m->by_name);
	m->classes = (struct cond_classes){ m, find, NULL };
}

int members_open(struct members *m, JNIEnv *jni, struct arena *mem)
{
	book_init(m, jni, mem);
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &m->n, &m->all) != JVMTI_ERROR_NONE) {
		members_close(m);
		return E_NO_MEMORY;
	}
	m->own = true;
	for (jint i = 0; i < m->n; i++)
		enter(m, m->all[i]);
	return 0;
}

static int add_line(struct members *m, jclass c)
{
	jclass *more = arena_alloc(m->mem, ((size_t)m->n + 1) * sizeof(*more));

	if (!more)
		return E_NO_MEMORY;
	if (m->n)
		memcpy(more, m->all, (size_t)m->n * sizeof(*more));
	more[m->n++] = c;
	m->all = more;
	return enter(m, c) ? 0 : E_NO_MEMORY;
}

static bool is_there(const struct members *m, jclass c)
{
	for (jint i = 0; i < m->n; i++)
		if ((*m->jni)->IsSameObject(m->jni, m->all[i], c))
			return true;
	return false;
}

int members_open_one(struct members *m, JNIEnv *jni, struct arena *mem, jclass c)
{
	int rc;

	book_init(m, jni, mem);
	rc = add_line(m, (*jni)->NewLocalRef(jni, c));
	for (jint i = 0; i < m->n && rc >= 0; i++) {
		jclass up = (*jni)->GetSuperclass(jni, m->all[i]), *interfaces = NULL;
		jint n = 0;

		if (up && !is_there(m, up))
			rc = add_line(m, up);
		if ((*agent.jvmti)
			    ->GetImplementedInterfaces(agent.jvmti, m->all[i], &n, &interfaces) !=
		    JVMTI_ERROR_NONE)
			continue;
		for (jint k = 0; k < n; k++) {
			if (rc >= 0 && !is_there(m, interfaces[k]))
				rc = add_line(m, interfaces[k]);
			else
				(*jni)->DeleteLocalRef(jni, interfaces[k]);
		}
		give_back(interfaces);
	}
	if (rc < 0)
		members_close(m);
	return rc;
}

const struct cond_class *members_class(struct members *m, jclass c)
{
	struct slice name = name_of(m, c);
	uintptr_t *place = name.p ? map_get(&m->by_name, name) : NULL;

	for (struct known_class *k = place ? (struct known_class *)*place : NULL; k; k = k->next)
		if ((*m->jni)->IsSameObject(m->jni, k->klass, c))
			return read_class(m, k);
	return NULL;
}

void members_close(struct members *m)
{
	for (jint i = 0; i < m->n; i++)
		(*m->jni)->DeleteLocalRef(m->jni, m->all[i]);
	if (m->own)
		give_back(m->all);
	map_release(&m->by_name);
	m->n = 0;
}
