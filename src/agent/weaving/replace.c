/* SPDX-License-Identifier: Apache-2.0 */
/* replace.c - RetransformClasses. */
#include "agent/weaving/replace.h"

#include "agent/classes/ancestry.h"
#include "agent/classes/left_alone.h"
#include "agent/classes/rulebook.h"
#include "agent/core/agent.h"
#include "agent/weaving/apply.h"

/* ---- retransforming ----------------------------------------------------------------------- */

/* The JVM would not take this one: its methods are not hooked, and the reason is kept.  True: it is to
 * be tried once more, with fewer of them. */
static bool refuse(JNIEnv *jni, jclass klass, jvmtiError why)
{
	struct kin_of kin;
	struct arena mem;
	struct loader *by;
	struct woven *w;
	bool again = false;

	arena_init(&mem);
	if (ancestry_of_class(&kin, jni, klass, &mem, false) < 0)
		goto done;
	by = loaders_of(jni, klass, true);
	pthread_mutex_lock(&agent.lock);
	w = woven_find(by, (const char *)kin.list[0].name.p, kin.list[0].name.n, true);
	again = w && w->whole_next;
	if (again) {
		w->whole_next = WHOLE_NO;
		w->never_whole = true;
	} else if (w) {
		memset(w->left, 0, sizeof(w->left));
		w->left[LEFT_REFUSED] = 1;
		left_alone_refused(w->name, agent_jvmti_text(why));
		w->digest = w->wanted;
		woven_begin(w);
		woven_end(w);
	}
	pthread_mutex_unlock(&agent.lock);
	apply_tell(jni);
	loaders_give(by);
	if (!again)
		agent_note("%.*s: %s", SLICE_FMT(kin.list[0].name), agent_jvmti_text(why));
done:
	arena_release(&mem);
	return again;
}

/* Does this thread have the JVM show classes again? */
static __thread bool showing;

jvmtiError replace_show(const jclass *classes, size_t n)
{
	bool before = showing;
	jvmtiError e;

	showing = true;
	e = (*agent.jvmti)->RetransformClasses(agent.jvmti, (jint)n, classes);
	showing = before;
	if (e == JVMTI_ERROR_NONE)
		__atomic_store_n(&agent.recorded, true, __ATOMIC_RELAXED);
	return e;
}

bool replace_is_on(void)
{
	return showing;
}

uint64_t replace_classes(JNIEnv *jni, const jclass *classes, size_t n)
{
	jvmtiError e = replace_show(classes, n);

	if (e == JVMTI_ERROR_NONE || agent.dead)
		return 0;
	(*jni)->ExceptionClear(jni);
	if (n == 1)
		return refuse(jni, classes[0], e) ? replace_classes(jni, classes, 1) : 1;
	return replace_classes(jni, classes, n / 2) +
	       replace_classes(jni, classes + n / 2, n - n / 2);
}
