/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c - how the agent comes into the JVM and leaves with it.
 *
 * At start (Agent_OnLoad) only capabilities are taken and the event "the VM is ready" is waited
 * for: a class hook that early would switch the JVM's class-data sharing off.  Late
 * (Agent_OnAttach) the VM is ready already.  From there both go the same way: rules from the
 * options, if any, then the control socket. */
#include "agent/agent.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/anew.h"
#include "agent/earlier.h"
#include "agent/hops.h"
#include "agent/instrument.h"
#include "agent/locks.h"
#include "agent/meant.h"
#include "agent/sample.h"
#include "agent/server.h"
#include "agent/vthread.h"
#include "probe/probe.h"

struct agent agent = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define EXPORT __attribute__((visibility("default")))

/* ---- notes and small things --------------------------------------------------------------- */

void agent_note(const char *fmt, ...)
{
	char line[300];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	n = n < (int)sizeof(line) ? n : (int)sizeof(line) - 1;
	pthread_mutex_lock(&agent.lock);
	if (agent.notes_n + (size_t)n + 2 <= sizeof(agent.notes)) { /* the first ones tell most */
		memcpy(agent.notes + agent.notes_n, line, (size_t)n);
		agent.notes_n += (size_t)n;
		agent.notes[agent.notes_n++] = '\n';
	}
	pthread_mutex_unlock(&agent.lock);
}

const char *agent_jvmti_text(jvmtiError e)
{
	static __thread char number[32];

	switch (e) {
	case JVMTI_ERROR_FAILS_VERIFICATION:
		return "the JVM's verifier refuses the woven class";
	case JVMTI_ERROR_INVALID_CLASS_FORMAT:
		return "the JVM finds the woven class malformed";
	case JVMTI_ERROR_UNMODIFIABLE_CLASS:
		return "the JVM does not let this class be changed";
	case JVMTI_ERROR_OUT_OF_MEMORY:
		return "the JVM is out of memory";
	case JVMTI_ERROR_NAMES_DONT_MATCH:
		return "another agent has changed the class's name";
	case JVMTI_ERROR_INTERNAL:
		return "the JVM failed while it redefined the class";
	default:
		snprintf(number, sizeof(number), "JVMTI error %d", (int)e);
		return number;
	}
}

JNIEnv *agent_enter_jvm(bool *attached)
{
	JavaVMAttachArgs args = { JNI_VERSION_1_8, (char *)"sonde", NULL };
	void *jni = NULL;

	*attached = false;
	if (agent.dead)
		return NULL;
	if ((*agent.vm)->GetEnv(agent.vm, &jni, JNI_VERSION_1_8) == JNI_OK)
		return jni;
	if ((*agent.vm)->AttachCurrentThreadAsDaemon(agent.vm, &jni, &args) != JNI_OK)
		return NULL;
	*attached = true;
	return jni;
}

void agent_leave_jvm(bool attached)
{
	if (attached && !agent.dead)
		(*agent.vm)->DetachCurrentThread(agent.vm);
}

static uint64_t raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void agent_scale_begin(void)
{
	agent.started = tick_now();
	agent.started_ns = raw_ns();
}

void agent_scale_update(void)
{
	uint64_t ns = raw_ns() - agent.started_ns, ticks = tick_now() - agent.started;

	if (ns < 20 * 1000000u && agent.scale.mult)
		return;
	if (ns < 20 * 1000000u)
		agent.scale = tick_scale_measure(5);
	else
		agent.scale =
			tick_scale_of((uint64_t)((unsigned __int128)ticks * 1000000000u / ns));
}

/* ---- events ------------------------------------------------------------------------------- */

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
	.ThreadStart = hops_on_start,
	.ThreadEnd = on_thread_end,
	.ClassFileLoadHook = instrument_on_bytes,
	.ClassPrepare = instrument_on_prepare,
	.CompiledMethodLoad = anew_on_compiled,
	.MonitorContendedEnter = locks_on_contended,
	.MonitorContendedEntered = locks_on_entered,
	.GarbageCollectionStart = sample_on_gc_start,
	.GarbageCollectionFinish = sample_on_gc_end,
};

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
	server_wait_left();
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
