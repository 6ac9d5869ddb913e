/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - asks the JVM for a method's name and its class's ancestors, and the rules what they say
 * of it. */
#include "agent/classes/steps.h"

#include "agent/classes/ancestry.h"
#include "agent/core/agent.h"

static void test_steps(const struct steps_asked *a, const struct rule_class *cls,
		       const struct rule_method *m, uint16_t steps[CONTEXT_MAX])
{
	const struct rule_hook *hook = &a->rule->hook;
	struct rule_lineage room;

	room.ready = false;
	for (size_t c = 0; c < hook->context_count; c++)
		for (size_t i = 0; i < hook->contexts[c].n; i++)
			if (rule_target_test(&hook->contexts[c].steps[i].target, cls, m, &room)
				    .answer == TARGET_HIT)
				steps[c] |= (uint16_t)(1u << i);
}

void steps_find(const struct steps_asked *a, jmethodID method, uint16_t steps[CONTEXT_MAX])
{
	char *name = NULL, *desc = NULL;
	jclass klass = NULL;
	struct rule_method m = { 0 };
	struct kin_of kin;
	struct arena mem;
	jint access = 0;

	memset(steps, 0, CONTEXT_MAX * sizeof(*steps));
	arena_init(&mem);
	if ((*agent.jvmti)->GetMethodName(agent.jvmti, method, &name, &desc, NULL) !=
		    JVMTI_ERROR_NONE ||
	    (*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, method, &klass) !=
		    JVMTI_ERROR_NONE ||
	    ancestry_of_class(&kin, a->jni, klass, &mem, a->edition->wants_kin) < 0)
		goto done;
	(*agent.jvmti)->GetMethodModifiers(agent.jvmti, method, &access);
	m = (struct rule_method){ .name = slice_str(name),
				  .desc = slice_str(desc),
				  .access = (uint16_t)access };
	test_steps(a, &kin.list[0], &m, steps);
done:
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
	if (klass)
		(*a->jni)->DeleteLocalRef(a->jni, klass);
	arena_release(&mem);
}
