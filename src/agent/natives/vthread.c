/* SPDX-License-Identifier: Apache-2.0 */
/* vthread.c - HotSpot tells of mounting and unmounting by extension events, which are found by
 * name.
 *
 * What probe_unmount puts away is kept in the JVM's own thread-local storage of the virtual thread;
 * when nothing hooked was running, there is nothing to keep, and nothing is stored. */
#include "agent/natives/vthread.h"

#include <string.h>

#include "agent/core/agent.h"
#include "agent/core/guests.h"
#include "probe/probe.h"

static void JNICALL on_mount(jvmtiEnv *jvmti, ...)
{
	void *kept = NULL;

	if (!guests_come())
		return;
	if ((*jvmti)->GetThreadLocalStorage(jvmti, NULL, &kept) != JVMTI_ERROR_NONE)
		kept = NULL;
	if (kept)
		(*jvmti)->SetThreadLocalStorage(jvmti, NULL, NULL);
	probe_mount(kept);
	guests_go();
}

static void JNICALL on_unmount(jvmtiEnv *jvmti, ...)
{
	void *kept;

	if (!guests_come())
		return;
	kept = probe_unmount();
	if (kept && (*jvmti)->SetThreadLocalStorage(jvmti, NULL, kept) != JVMTI_ERROR_NONE)
		probe_drop(kept);
	guests_go();
}

/* The agent's thread. */
static struct {
	jint mount, unmount; /* event numbers; 0: the JVM has none */
	bool asked, on;
} events;

static void free_info(jvmtiExtensionEventInfo *info)
{
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info->id);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info->short_description);
	for (jint i = 0; i < info->param_count; i++)
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info->params[i].name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)info->params);
}

static void find_events(void)
{
	jvmtiExtensionEventInfo *list = NULL;
	jint n = 0;

	events.asked = true;
	if ((*agent.jvmti)->GetExtensionEvents(agent.jvmti, &n, &list) != JVMTI_ERROR_NONE)
		return;
	for (jint i = 0; i < n; i++) {
		if (strcmp(list[i].id, "com.sun.hotspot.events.VirtualThreadMount") == 0)
			events.mount = list[i].extension_event_index;
		if (strcmp(list[i].id, "com.sun.hotspot.events.VirtualThreadUnmount") == 0)
			events.unmount = list[i].extension_event_index;
		free_info(&list[i]);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)list);
}

void vthread_support(void)
{
	jvmtiCapabilities want;

	memset(&want, 0, sizeof(want));
#if defined(JVMTI_VERSION_21)
	want.can_support_virtual_threads = 1;
#else
	((unsigned char *)&want)[44 / 8] = (unsigned char)(1u << (44 % 8)); /* bit 44, JVMTI 21 */
#endif
	(*agent.jvmti)->AddCapabilities(agent.jvmti, &want);
}

void vthread_events(bool on)
{
	if (agent.jdk < 21 || on == events.on)
		return;
	if (!events.asked)
		find_events();
	if (!events.mount || !events.unmount)
		return;
	vthread_support();
	if ((*agent.jvmti)
			    ->SetExtensionEventCallback(agent.jvmti, events.mount,
							on ? on_mount : NULL) != JVMTI_ERROR_NONE ||
	    (*agent.jvmti)
			    ->SetExtensionEventCallback(agent.jvmti, events.unmount,
							on ? on_unmount : NULL) != JVMTI_ERROR_NONE)
		agent_note("the JVM does not tell when virtual threads come and go");
	/* unlike other extension events, these have to be switched on as well */
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
					   (jvmtiEvent)events.mount, NULL);
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, on ? JVMTI_ENABLE : JVMTI_DISABLE,
					   (jvmtiEvent)events.unmount, NULL);
	events.on = on;
}
