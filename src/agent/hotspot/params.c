/* SPDX-License-Identifier: Apache-2.0 */
/* params.c - reads the table of parameters where HotSpot keeps it: at the end of the method's
 * ConstMethod, whose layout is
 *
 *	... | parameters (u2 name, u2 flags) | u2 count | [u2 generic signature] | pointers to annotations
 *
 * backwards from its end.  Its flags say which of the optional parts are there.  The names
 * are indices into the constant pool, which the class file shown to us has unchanged.  Where
 * anything is not as expected, nothing is taken from it. */
#include "agent/hotspot/params.h"

#include <stdlib.h>

#include "agent/core/agent.h"
#include "agent/hotspot/vmstructs.h"
#include "classfile/class.h"

/* Found out by the first thread that asks. */
static struct layout {
	bool asked, known;
	uint64_t const_method, flags, size; /* offsets */
	int32_t has_parameters, has_signature;
	int32_t has_annotations[4]; /* each is a pointer at the end */
} layout;

static bool read_layout(void)
{
	static const char *const annotations[] = { "ConstMethod::_has_method_annotations",
						   "ConstMethod::_has_parameter_annotations",
						   "ConstMethod::_has_default_annotations",
						   "ConstMethod::_has_type_annotations" };

	if (layout.asked)
		return layout.known;
	layout.asked = true;
	layout.known =
		vmstructs_offset("Method", "_constMethod", &layout.const_method) &&
		vmstructs_offset("ConstMethod", "_flags", &layout.flags) &&
		vmstructs_offset("ConstMethod", "_constMethod_size", &layout.size) &&
		vmstructs_constant("ConstMethod::_has_method_parameters", &layout.has_parameters) &&
		vmstructs_constant("ConstMethod::_has_generic_signature", &layout.has_signature);
	for (int i = 0; i < 4; i++)
		layout.known &= vmstructs_constant(annotations[i], &layout.has_annotations[i]);
	return layout.known;
}

bool params_are_lost(void)
{
	const char *dot = strchr(agent.jvm, '.');
	int update = 0;

	if (agent.jdk >= 21)
		return false;
	if (dot && (dot = strchr(dot + 1, '.')))
		update = atoi(dot + 1);
	return agent.jdk != 17 || update < 20;
}

/* The parameters of a method, as u2 name, u2 flags each in host order; their number. */
static unsigned parameters_of(jmethodID id, const uint8_t **out)
{
	const uint8_t *method, *cm, *end, *count_at;
	uint16_t flags, count;
	int32_t words;

	memcpy(&method, id, sizeof(method)); /* a jmethodID points at the Method's address */
	memcpy(&cm, method + layout.const_method, sizeof(cm));
	memcpy(&flags, cm + layout.flags, sizeof(flags));
	if (!(flags & layout.has_parameters))
		return 0;
	memcpy(&words, cm + layout.size, sizeof(words));
	end = cm + (size_t)words * sizeof(void *);
	for (int i = 0; i < 4; i++)
		if (flags & layout.has_annotations[i])
			end -= sizeof(void *);
	count_at = end - 2;
	if (flags & layout.has_signature)
		count_at -= 2;
	memcpy(&count, count_at, sizeof(count));
	if (count > 255 || count_at - 4 * (size_t)count < cm)
		return 0;
	*out = count_at - 4 * (size_t)count;
	return count;
}

static struct member *find(const struct class *cls, const char *name, const char *desc)
{
	for (uint32_t i = 0; i < cls->n_methods; i++)
		if (slice_is(member_name(cls, &cls->methods[i]), name) &&
		    slice_is(member_desc(cls, &cls->methods[i]), desc))
			return &cls->methods[i];
	return NULL;
}

static int add_attribute(struct class *cls, struct member *m, const uint8_t *params, unsigned n)
{
	int name = pool_add_utf8(&cls->pool, slice_str("MethodParameters"));
	uint8_t *p = arena_alloc(cls->mem, 7 + 4 * (size_t)n);

	if (name < 0 || !p)
		return name < 0 ? name : E_NO_MEMORY;
	put_u16(p, (uint16_t)name);
	put_u32(p + 2, 1 + 4 * n);
	p[6] = (uint8_t)n;
	for (unsigned i = 0; i < 2 * n; i++) {
		uint16_t v;

		memcpy(&v, params + 2 * (size_t)i, 2);
		if (i % 2 == 0 && v && !pool_is(&cls->pool, v, TAGS(CONST_UTF8)))
			return E_POOL_INDEX;
		put_u16(p + 7 + 2 * (size_t)i, v);
	}
	m->added = (struct slice){ p, 7 + 4 * (size_t)n };
	m->n_added = 1;
	return 1;
}

static int restore_one(struct class *cls, jmethodID id)
{
	const uint8_t *params;
	unsigned n = parameters_of(id, &params);
	char *name = NULL, *desc = NULL;
	struct member *m = NULL;
	struct attr a;
	int rc = 0;

	if (!n)
		return 0;
	if ((*agent.jvmti)->GetMethodName(agent.jvmti, id, &name, &desc, NULL) == JVMTI_ERROR_NONE)
		m = find(cls, name, desc);
	if (!m)
		rc = E_NOT_FOUND;
	else if (!attrs_find(&m->attrs, &cls->pool, ATTR_METHOD_PARAMETERS, &a))
		rc = add_attribute(cls, m, params, n);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
	return rc;
}

int params_restore(jclass klass, struct slice bytes, struct buf *out)
{
	jmethodID *methods = NULL;
	struct class *cls = NULL;
	struct arena mem;
	jint n = 0;
	int rc, any = 0;

	if (!read_layout())
		return 0;
	if ((*agent.jvmti)->GetClassMethods(agent.jvmti, klass, &n, &methods) != JVMTI_ERROR_NONE)
		return 0;
	arena_init(&mem);
	rc = class_read(&mem, bytes, &cls, NULL);
	for (jint i = 0; i < n && rc >= 0; i++) {
		rc = restore_one(cls, methods[i]);
		any |= rc > 0;
	}
	if (rc >= 0 && any)
		rc = class_write(cls, out);
	class_release(cls);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)methods);
	arena_release(&mem);
	return rc < 0 ? rc : any;
}
