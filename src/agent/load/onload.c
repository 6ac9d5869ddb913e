/* SPDX-License-Identifier: Apache-2.0 */
/* onload.c - how the agent comes into the JVM and leaves with it.
 *
 * At start (Agent_OnLoad) only capabilities are taken and the event "the VM is ready" is waited
 * for: a class hook that early would switch the JVM's class-data sharing off.  Late
 * (Agent_OnAttach) the VM is ready already.  From there both go the same way: rules from the
 * options, if any, then the control socket. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/core/agent.h"
#include "agent/core/guests.h"
#include "agent/load/earlier.h"
#include "agent/load/server.h"
#include "agent/natives/handover.h"
#include "agent/natives/locks.h"
#include "agent/natives/vthread.h"
#include "agent/sampling/events.h"
#include "agent/serve/sample.h"
#include "agent/weaving/recompile.h"
#include "agent/weaving/instrument.h"
#include "agent/weaving/prepare.h"
#include "probe/probe.h"
#include "start/meant.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- events ------------------------------------------------------------------------------- */

/* All that use more than static memory and the probe's are counted while they run (guests.h). */

static void JNICALL on_bytes(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, jobject loader,
			     const char *name, jobject domain, jint n, const unsigned char *bytes,
			     jint *new_n, unsigned char **new_bytes)
{
	if (!guests_come())
		return;
	instrument_on_bytes(jvmti, jni, klass, loader, name, domain, n, bytes, new_n, new_bytes);
	guests_go();
}

static void JNICALL on_prepare(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass)
{
	if (!guests_come())
		return;
	prepare_on_class(jvmti, jni, thread, klass);
	guests_go();
}

static void JNICALL on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
				jint n_map, const jvmtiAddrLocationMap *map, const void *info)
{
	if (!guests_come())
		return;
	recompile_on_compiled(jvmti, method, size, code, n_map, map, info);
	guests_go();
}

static void JNICALL on_contended(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object)
{
	if (!guests_come())
		return;
	locks_on_contended(jvmti, jni, thread, object);
	guests_go();
}

static void JNICALL on_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
			     jclass klass, jlong size)
{
	if (!guests_come())
		return;
	events_on_alloc(jvmti, jni, thread, object, klass, size);
	guests_go();
}

static void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	if (!guests_come())
		return;
	handover_on_start(jvmti, jni, thread);
	guests_go();
}

static void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti, (void)jni, (void)thread;
	probe_thread_end();
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread)
{
	(void)jvmti, (void)thread;
	server_start(jni);
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti;
	server_vm_death(jni);
	agent.dead = true;
}

static const jvmtiEventCallbacks callbacks = {
	.VMInit = on_vm_init,
	.VMDeath = on_vm_death,
	.ThreadStart = on_thread_start,
	.ThreadEnd = on_thread_end,
	.ClassFileLoadHook = on_bytes,
	.ClassPrepare = on_prepare,
	.CompiledMethodLoad = on_compiled,
	.MonitorContendedEnter = on_contended,
	.MonitorContendedEntered = locks_on_entered,
	.SampledObjectAlloc = on_alloc,
	.GarbageCollectionStart = sample_on_gc_start,
	.GarbageCollectionFinish = sample_on_gc_end,
};

static const jvmtiEventCallbacks last_callback = { .VMDeath = on_vm_death };

/* ---- into the JVM ------------------------------------------------------------------------- */

static void read_version(void)
{
	char *version = NULL, *name = NULL;

	if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.version", &version) ==
		    JVMTI_ERROR_NONE &&
	    version)
		agent.jdk = atoi(version);
	(*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.vm.name", &name);
	snprintf(agent.jvm, sizeof(agent.jvm), "%s, %s", version ? version : "?",
		 name ? name : "an unknown JVM");
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)version);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
}

static bool take_capabilities(void)
{
	jvmtiCapabilities want = { .can_retransform_classes = 1,
				   .can_redefine_any_class = 1,
				   .can_get_bytecodes = 1,
				   .can_get_constant_pool = 1 };
	jvmtiCapabilities have;

	memset(&have, 0, sizeof(have));
	(*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &have);
	if (!have.can_retransform_classes || !have.can_get_bytecodes)
		return false;
	want.can_redefine_any_class = have.can_redefine_any_class;
	want.can_get_constant_pool = have.can_get_constant_pool;
	return (*agent.jvmti)->AddCapabilities(agent.jvmti, &want) == JVMTI_ERROR_NONE;
}

/* An agent that JAVA_TOOL_OPTIONS brings into every JVM stays out of those that are not meant. */
static bool is_meant(const char *command, const char *path)
{
	char rules[MEANT_PATH];
	bool meant = meant_agent(command, path, rules);

	if (meant && rules[0])
		options_add_rules(&agent.options, rules);
	return meant;
}

/* False: the agent is to stay out of this one. */
static bool read_application(bool late)
{
	char *command = NULL, *path = NULL;
	bool meant;

	(*agent.jvmti)->GetSystemProperty(agent.jvmti, "sun.java.command", &command);
	(*agent.jvmti)->GetSystemProperty(agent.jvmti, "java.class.path", &path);
	meant = late || is_meant(command, path);
	earlier_application(command, path);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)command);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)path);
	return meant;
}

/* Everything that both ways in have in common.  False: the agent cannot work in this JVM, and
 * stays out of it. */
static bool come_in(JavaVM *vm, const char *options, bool late)
{
	agent.vm = vm;
	agent.callbacks = &callbacks;
	agent.last_callback = &last_callback;
	guests_open();
	agent.late = late;
	agent.dead = false;
	agent.notes_n = 0;
	options_release(&agent.options);
	options_parse(&agent.options, options);
	agent.many = agent.options.yes;
	if (agent.options.wrong[0])
		agent_note("%s", agent.options.wrong);
	if ((*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_11) != JNI_OK) {
		agent.jvmti = NULL;
		return false;
	}
	read_version();
	if (read_application(late) && take_capabilities() &&
	    (*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, sizeof(callbacks)) ==
		    JVMTI_ERROR_NONE)
		return true;
	(*agent.jvmti)->DisposeEnvironment(agent.jvmti);
	agent.jvmti = NULL;
	return false;
}

static void enable(jvmtiEvent event)
{
	(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, event, NULL);
}

EXPORT JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	if (!agent.jvmti && come_in(vm, options, false)) {
		agent.recorded = true;
		enable(JVMTI_EVENT_VM_INIT);
		enable(JVMTI_EVENT_VM_DEATH);
	}
	return JNI_OK; /* the program starts, whatever happens */
}

EXPORT JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	void *jni = NULL;

	(void)reserved;
	if (!server_wait_left())
		return JNI_ERR;
	if (agent.jvmti)
		return JNI_OK; /* it is in already */
	if (!come_in(vm, options, true))
		return JNI_ERR;
	(*vm)->GetEnv(vm, &jni, JNI_VERSION_1_8);
	enable(JVMTI_EVENT_VM_DEATH);
	if (server_start(jni))
		return JNI_OK;
	(*agent.jvmti)->DisposeEnvironment(agent.jvmti);
	agent.jvmti = NULL; /* so that it can be tried again */
	return JNI_ERR;
}

EXPORT JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
}
